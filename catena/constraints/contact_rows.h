// SPDX-License-Identifier: BSD-3-Clause
// Contacts of a set of constraints as rows of one problem, for impacts and for the choice of modes
// (constraint_set_contacts.cpp, constraint_set_modes.cpp).
#pragma once

#include <span>
#include <vector>

#include "catena/constraints/constraint_set.h"

namespace catena {

// The friction of a contact that others keep from slipping is at least so little short of its cone.
inline constexpr double kWithinCone = 1.0 - 1e-9;

// As long as it lives, these contacts have all three rows, and no other contact has any.
class ConstraintSet::AllRows {
 public:
  AllRows(ConstraintSet& set, std::span<const int> contacts) : set_(set) {
    for (const Thing& thing : set.things_)
      if (thing.kind == Kind::contact) use(thing, false, false);
    for (const int i : contacts) use(set.at(i), false, true);
  }
  ~AllRows() {
    for (const Thing& thing : set_.things_)
      if (thing.kind == Kind::contact)
        use(thing, thing.mode == ContactMode::sliding, thing.mode == ContactMode::sticking);
  }
  AllRows(const AllRows&) = delete;
  AllRows& operator=(const AllRows&) = delete;

 private:
  void use(const Thing& thing, bool normal, bool all) {
    set_.dynamics_.constraints().set_active(thing.constraint, normal);
    set_.dynamics_.constraints().set_active(thing.stick, all);
  }
  ConstraintSet& set_;
};

// The multipliers of the others follow from the contacts': λ_B = −(own + by_contacts λ_C).
struct ConstraintSet::Reduced {
  ContactProblem problem;
  std::vector<int> rows, others;
  Eigen::MatrixXd by_contacts;
  Eigen::VectorXd own;
  double miss = 0.0;  // of the others' rows: they contradict each other
};

}  // namespace catena
