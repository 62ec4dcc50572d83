// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/shape_contacts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"

namespace catena {
namespace {

// Shapes are looked at within this distance (m), and what they move within a step and a bit.
constexpr double kLookAhead = 1e-4;
constexpr double kLookSteps = 1.2;
// A point takes over the force of one that was no farther than this part of the smaller shape.
constexpr double kSameContact = 0.1;

}  // namespace

ShapeContacts::ShapeContacts(const Mechanism& mechanism, const CollisionSettings& settings,
                             ConstraintSet& set)
    : set_(set), model_(mechanism, settings) {}

void ShapeContacts::restart() {
  pairs_.clear();
  free_.clear();
  for (int slot = set_.total() - 1; slot >= set_.count(); --slot) {
    set_.release(slot);
    free_.push_back(slot);
  }
}

int ShapeContacts::take_slot() {
  if (free_.empty()) return set_.add_slot();
  const int slot = free_.back();
  free_.pop_back();
  return slot;
}

// The point and the plane in the frames of their bodies.
ContactSettings ShapeContacts::settings_of(const ClosePair& pair, const PatchPoint& p,
                                           std::size_t k) const {
  const CollisionModel::Tables& t = model_.tables();
  const CollidingShape& a = t.shapes[index(pair.a)];
  const CollidingShape* b = pair.b < 0 ? nullptr : &t.shapes[index(pair.b)];
  const CollidingShape* point = p.on_a ? &a : b;
  const CollidingShape* plane = p.on_a ? b : &a;
  const auto frame = [](const CollidingShape* s) {
    return s == nullptr ? Transformd::identity() : s->at.pose * s->X_body_shape.inverse();
  };
  const Transformd of_point = frame(point).inverse(), of_plane = frame(plane).inverse();
  const PairLaw law = t.law(pair.a, pair.b);
  ContactSettings s;
  s.name = a.name + " - " + (b == nullptr ? "height field" : b->name) + "." + std::to_string(k);
  s.body = point == nullptr ? -1 : point->body;
  s.center = of_point * p.center;
  s.radius = p.radius;
  s.rim = p.rim;
  if (p.rim > 0.0) s.rim_axis = of_point.rotation * p.rim_axis;
  s.plane_body = plane == nullptr ? -1 : plane->body;
  s.plane_point = of_plane * p.plane_point;
  s.plane_normal = of_plane.rotation * p.normal;
  s.plane_radius = p.plane_radius;
  s.friction = law.friction;
  s.restitution = law.restitution;
  return s;
}

// Points that were nearest to the new ones keep their slots.
void ShapeContacts::assign(const ClosePair& found, Pair& pair, std::span<const Known> before,
                           std::vector<Known>& after) {
  const CollisionModel::Tables& t = model_.tables();
  const CollidingShape& a = t.shapes[index(found.a)];
  const CollidingShape* b = found.b < 0 ? nullptr : &t.shapes[index(found.b)];
  const Workspace& w = set_.workspace();
  const Transformd at_a = pose_of(w, a.node), at_b = pose_of(w, b == nullptr ? -1 : b->node);
  const double reach = b == nullptr ? a.shape->reach : std::min(a.shape->reach, b->shape->reach);
  struct Match {
    double distance;
    std::size_t fresh, old;
  };
  std::vector<Match> matches;
  for (std::size_t i = 0; i < found.points.size(); ++i)
    for (std::size_t k = 0; k < pair.points.size(); ++k) {
      const Point& old = pair.points[k];
      if (old.on_a != found.points[i].on_a) continue;
      const Vec3d& place = found.points[i].place;
      const double distance =
          std::min(norm(at_a * (old.on_a ? old.on_point : old.on_plane) - place),
                   norm(at_b * (old.on_a ? old.on_plane : old.on_point) - place));
      matches.push_back({distance, i, k});
    }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& x, const Match& y) { return x.distance < y.distance; });
  std::vector<Point> points(found.points.size());
  std::vector<std::uint8_t> used(pair.points.size(), 0);
  std::vector<Known> known(points.size());
  for (const Match& match : matches) {
    Point& point = points[match.fresh];
    const Point& old = pair.points[match.old];
    if (point.contact >= 0 || used[match.old] != 0) continue;
    used[match.old] = 1;
    point = old;
    if (match.distance <= kSameContact * reach && old.at >= 0)
      known[match.fresh] = before[index(old.at)];
  }
  for (std::size_t k = 0; k < pair.points.size(); ++k) {
    if (used[k] != 0) continue;
    set_.release(pair.points[k].contact);
    free_.push_back(pair.points[k].contact);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PatchPoint& p = found.points[i];
    Point& point = points[i];
    if (point.contact < 0) point.contact = take_slot();
    const ContactSettings settings = settings_of(found, p, i);
    set_.move_contact(point.contact, settings);
    // Forces are along the axes of the plane: from those of the old one.
    const Transformd& of_plane = p.on_a ? at_b : at_a;
    const Transformd& of_point = p.on_a ? at_a : at_b;
    const Rotationd axes = set_.contact_axes(point.contact);
    if (known[i].contact >= 0) {
      const Eigen::Vector3d f = known[i].force;
      const Vec3d turned = axes.inverse_times(point.axes * Vec3d{f[1], f[2], f[0]});
      known[i].force = {std::max(turned.z, 0.0), turned.x, turned.y};
    }
    known[i].contact = point.contact;
    point.on_a = p.on_a;
    point.on_point = of_point.inverse() * p.place;
    point.on_plane = of_plane.inverse() * p.place;
    point.axes = axes;
    after.push_back(known[i]);
  }
  pair.points = std::move(points);
}

void ShapeContacts::update(const State& state, double step, std::vector<Known>& known) {
  ++count_;
  set_.look(state);
  std::map<int, int> place;  // of a contact among those known
  for (std::size_t i = 0; i < known.size(); ++i) place[known[i].contact] = static_cast<int>(i);
  for (auto& [key, pair] : pairs_)
    for (Point& p : pair.points) {
      const auto at = place.find(p.contact);
      p.at = at == place.end() ? -1 : at->second;
    }
  const auto found = model_.tables().find(set_.workspace(), kLookAhead, kLookSteps * step);
  for (const ClosePair& pair : found) {
    Pair& known_pair = pairs_[{pair.a, pair.b}];
    known_pair.seen = count_;
    known_pair.distance = pair.distance;
  }
  for (auto it = pairs_.begin(); it != pairs_.end();) {
    if (it->second.seen == count_) {
      ++it;
      continue;
    }
    for (const Point& p : it->second.points) {
      set_.release(p.contact);
      free_.push_back(p.contact);
    }
    it = pairs_.erase(it);
  }
  std::vector<Known> after;
  for (const ClosePair& pair : found) assign(pair, pairs_[{pair.a, pair.b}], known, after);
  std::sort(after.begin(), after.end(),
            [](const Known& x, const Known& y) { return x.contact < y.contact; });
  known = std::move(after);
}

void ShapeContacts::begin_step(const State* moved) {
  for (auto& [key, pair] : pairs_)
    pair.depth = moved == nullptr ? std::max(-pair.distance, 0.0) : 0.0;
  if (moved == nullptr) return;
  set_.look(*moved);
  for (const ClosePair& pair : model_.tables().find(set_.workspace(), 0.0, 0.0))
    if (const auto own = pairs_.find({pair.a, pair.b}); own != pairs_.end())
      own->second.depth = std::max(-pair.distance, 0.0);
}

double ShapeContacts::overlap(const State& state) {
  set_.look(state);
  double deepest = 0.0;
  for (const ClosePair& pair : model_.tables().find(set_.workspace(), 0.0, 0.0)) {
    const auto before = pairs_.find({pair.a, pair.b});
    const double had = before == pairs_.end() ? 0.0 : before->second.depth;
    deepest = std::max(deepest, -pair.distance - had);
  }
  return deepest;
}

void ShapeContacts::note_start(double time, double deepest, double corrected,
                               std::vector<RunEvent>& log) const {
  const CollisionModel::Tables& t = model_.tables();
  for (const std::string& note : t.notes) log.push_back({time, "note", "collisions", note});
  for (std::size_t k = 0; k < t.pairs; ++k) {
    const ClosePair& pair = t.found[k];
    if (!(pair.distance < -deepest)) continue;
    const std::string a = t.shapes[index(pair.a)].name;
    const std::string b =
        pair.b < 0 ? "the height field" : "'" + t.shapes[index(pair.b)].name + "'";
    log.push_back({time, "penetration", a,
                   fmt::format("'{}' and {} overlap by {:.3g} m at the start; they are pushed "
                               "apart, by at most {:.3g} m in a step",
                               a, b, -pair.distance, corrected)});
  }
}

}  // namespace catena
