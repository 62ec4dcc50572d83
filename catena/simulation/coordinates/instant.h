// SPDX-License-Identifier: BSD-3-Clause
// One instant of a motion (time, state, loop maps, distance from a singular position), and a step
// between two instants. Both are values that the coordinates fill in place, without allocation.
// Nothing in them depends on earlier calls.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/closure/singular_passage.h"
#include "catena/dynamics/embedding.h"
#include "catena/model/mechanism.h"

namespace catena {

struct Instant {
  double time = 0.0;  // s
  State state = {};   // on its manifold: quaternions of length one, loops closed
  // Distance of the loops from a singular position, as a ratio of pivots (singular_passage.h); 1
  // for a tree. With sides: their least one.
  double clearance = 1.0;
  double interpolation_error = 0.0;  // as a fraction of velocities and accelerations
  // Not empty if the instant is so close to a singular position that nothing can be evaluated
  // there: states before and behind it, with the weights by which the state was interpolated
  // between them and by which accelerations and forces are to be.
  std::vector<PassageSide> sides = {};
  // X of the loops at state.q, for the accelerations; none of a tree and of an interpolated state.
  LoopMaps maps = {};

  bool is_interpolated() const { return !sides.empty(); }
};

// A step of an integrator, from the anchor of the coordinates on. Inside it loops are closed
// starting from the cubic that has the positions and velocities of both ends. That cubic is near
// enough also in a long step, where the tangent at the start leads to another branch.
struct StepSpan {
  // A closed position of a loop, at the part s of the step.
  struct Waypoint {
    double s = 0.0;
    Eigen::VectorXd x{};  // of the loop's columns: dependent, independent (loop_positions.h)
    Eigen::VectorXd rate{};
    Eigen::MatrixXd map{};  // of the independent entries of x: dependent by independent
  };

  double start = 0.0, end = 0.0;  // s
  Instant last;                   // at the end
  // By loop: the ends of the step, and waypoints between them where they were needed.
  std::vector<std::vector<Waypoint>> ways;

  double duration() const { return end - start; }
  // Strictly: at its ends the step is not needed.
  bool contains(double t) const { return start < t && t < end; }
};

}  // namespace catena
