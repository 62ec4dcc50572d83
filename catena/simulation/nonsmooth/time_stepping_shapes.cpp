// SPDX-License-Identifier: BSD-3-Clause
// Contacts of shapes with each other in a step (time_stepping.h, shape_contacts.h).
#include <algorithm>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/simulation/nonsmooth/time_stepping.h"

namespace catena {
namespace {

// Unknowns of a step whose cost is told.
constexpr Eigen::Index kManyRows = 900;
// Shapes overlap by so much more (m) at the end of a step than at its beginning, for what touches
// is not what was near: a part of it takes at most this share of what the parts before it have
// left, or kLeastShare of all. Otherwise it is divided, at most to kLeastPart of a step. After so
// many divisions in a step a part may take kLateShare.
constexpr double kOverlapAllowed = 4e-5;
constexpr double kShare = 1.0 / 3.0;
constexpr double kLeastShare = 1.0 / 20.0;
constexpr double kLateShare = 1.0 / 4.0;
constexpr double kLeastPart = 1.0 / 1024.0;
constexpr int kMostShapeDivisions = 60;

}  // namespace

// The contacts of shapes behind those of the settings, each with its force of the last step.
void TimeStepping::update_shapes() {
  if (!shapes_) return;
  std::vector<ShapeContacts::Known> known;
  for (std::size_t k = own_contacts_; k < contacts_.size(); ++k) {
    known.push_back({contacts_[k], contact_force_[k], touches_[k]});
    forces_.contacts[index(contacts_[k])] = {};
  }
  shapes_->update(state_, settings_.step, known);
  formed_ = false;  // rows are at other places
  contacts_.resize(own_contacts_);
  contact_force_.resize(own_contacts_);
  touches_.resize(own_contacts_);
  forces_.contacts.resize(index(set_.total()));
  for (const ShapeContacts::Known& k : known) {
    contacts_.push_back(k.contact);
    contact_force_.push_back(k.force);
    touches_.push_back(k.touches);
    forces_.contacts[index(k.contact)].force = {k.force[0], {k.force[1], k.force[2], 0.0}};
  }
}

// What touches may change within a step: another corner, or an edge. Then the first part of it is
// made, and shapes are looked at again. True: `part` has become shorter.
bool TimeStepping::shorten_for_shapes(double& part) {
  if (!shapes_) return false;
  const double least =
      (shape_divisions_ < kMostShapeDivisions ? kLeastShare : kLateShare) * kOverlapAllowed;
  const double allowed = overlap_ + std::max(kShare * (kOverlapAllowed - overlap_), least);
  bool shorter = false;
  for (;;) {
    const double here = shapes_->overlap(end_);
    if (!(here > allowed) || part <= kLeastPart * settings_.step) {
      overlap_at_end_ = here;
      return shorter;
    }
    ++shape_divisions_;
    halve(part);
    shorter = true;
  }
}

// Told once: the cost of a step grows with the cube of its rows.
void TimeStepping::note_cost() {
  if (cost_told_ || problem_.b.size() <= kManyRows) return;
  cost_told_ = true;
  const auto contacts = std::count(touches_.begin(), touches_.end(), 1);
  log_.push_back({t_, "note", "contacts",
                  fmt::format("{} contacts touch: a step is a problem of {} unknowns, whose cost "
                              "grows with their cube; fewer or simpler shapes, or parts that are "
                              "simulated on their own, are faster",
                              contacts, problem_.b.size())});
}

}  // namespace catena
