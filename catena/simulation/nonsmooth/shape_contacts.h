// SPDX-License-Identifier: BSD-3-Clause
// Shapes against each other and against a height field in time-stepping (time_stepping.h). At the
// beginning of every step the pairs that may touch within it are found (collision_model.h); each
// point of their patches is a contact of the set (a slot of ConstraintSet), a point of one body
// above a plane of the other, for the length of the step. Points keep their slots, and the force
// of the last step to start from, as long as the same pair has a point nearby.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "catena/collision/collision_model.h"
#include "catena/constraints/constraint_set.h"
#include "catena/io/runs/run_file.h"

namespace catena {

class ShapeContacts {
 public:
  // Mechanism and set must outlive it.
  ShapeContacts(const Mechanism& mechanism, const CollisionSettings& settings, ConstraintSet& set);

  // Forgets all pairs: a run that is resumed numbers its contacts as one that goes on.
  void restart();

  // What is known of a contact from step to step.
  struct Known {
    int contact = -1;  // of the set
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    std::uint8_t touches = 0;
  };
  // Moves the slots to where shapes are at a state. `known`: the slots in use, with what the last
  // step left; afterwards those in use now, in the order of their numbers.
  void update(const State& state, double step, std::vector<Known>& known);

  // A step begins, at the positions of the last update, or at these.
  void begin_step(const State* moved);
  // By how much more (m) a pair overlaps at another state than at the beginning of the step, the
  // most of all.
  double overlap(const State& state);

  // At a start, after update(): pairs that overlap by more than `deepest`, and notes of the model.
  void note_start(double time, double deepest, double corrected, std::vector<RunEvent>& log) const;

 private:
  struct Point {
    int contact = -1;
    bool on_a = true;
    Vec3d on_point{}, on_plane{};  // its place, on the nodes of both
    Rotationd axes{};              // of the forces, in the ground's frame
    int at = -1;                   // among those that are known
  };
  struct Pair {
    std::vector<Point> points;
    std::int64_t seen = 0;
    double distance = 0.0;  // at the last update
    double depth = 0.0;     // at the beginning of the step
  };
  int take_slot();
  ContactSettings settings_of(const ClosePair& pair, const PatchPoint& point, std::size_t k) const;
  void assign(const ClosePair& found, Pair& pair, std::span<const Known> before,
              std::vector<Known>& after);

  ConstraintSet& set_;
  CollisionModel model_;
  std::map<std::pair<int, int>, Pair> pairs_;
  std::vector<int> free_;
  std::int64_t count_ = 0;
};

}  // namespace catena
