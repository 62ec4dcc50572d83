// SPDX-License-Identifier: BSD-3-Clause
// External wrenches on bodies, and the passive forces of the model: damping, friction and stiffness
// of joints, springs and dampers between points.
//
//   const ExternalWrench push{.body = hand, .wrench = {{}, {0, 0, -10}},  // moment N m, force N
//                             .axes = ExternalWrench::Axes::ground};
//   forward_dynamics(robot, state, effort, workspace, {&push, 1});
//
// In this room `effort` is the part of the actuators; the model adds the passive elements:
//
//   M v̇ + C = effort + passive + external
#pragma once

#include <span>

#include <Eigen/Core>

#include "catena/dynamics/workspace.h"

namespace catena {

// A moment and a force on a body. The force acts at `point`, given in the body's frame; the
// components are along the axes of the body or of the ground.
struct ExternalWrench {
  enum class Axes { body, ground };
  int body = -1;
  Wrenchd wrench{};
  Vec3d point{};
  Axes axes = Axes::body;
};

// Effort of damping, regularized friction (model/friction.h) and stiffness at each freedom; added
// to `effort`. O(n).
void add_hinge_element_efforts(const Mechanism& mechanism, const Eigen::VectorXd& q,
                               const Eigen::VectorXd& v, Eigen::VectorXd& effort);

// ---- For the algorithms of this room. ----

// Throws NumericalError, naming the entry, if x has another size or a NaN or infinity in it.
void check_vector(std::span<const std::string> names, const Eigen::VectorXd& x, const char* what);

// Checks q, v and effort; normalizes quaternions off by at most kQuaternionTolerance (more is an
// error that names the hinge); puts external wrenches and point springs into workspace.external
// and applied plus passive efforts into workspace.total_effort. `effort` may be null.
inline constexpr double kQuaternionTolerance = 1e-6;
struct PreparedInput : SweepInput {};
PreparedInput prepare(const Mechanism& mechanism, const State& state, const Eigen::VectorXd* effort,
                      std::span<const ExternalWrench> external, Workspace& workspace);

// The same for a position alone.
PreparedInput prepare_position(const Mechanism& mechanism, const Eigen::VectorXd& q,
                               Workspace& workspace);

}  // namespace catena
