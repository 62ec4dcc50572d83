// SPDX-License-Identifier: BSD-3-Clause
// Inverse kinematics: joint positions in which points or frames of bodies are where they are
// wanted, and all loops are closed.
//
//   const InverseKinematics found = inverse_kinematics(
//       arm, guess, {.frames = {{.body = hand, .target = pose}}});  // X_ground_frame
//   if (found.reached) use(found.q);
//
// Goals and closures are one set of equations for the solver of assembly (Levenberg-Marquardt with
// bounded steps, then Newton; closure/position_solver.h): with as many freedoms as equations it
// finds the solution on the branch of the guess, with more one near the guess, with fewer (or out
// of reach) the closest that the loops allow. Freedoms can be fixed and hinge limits are kept.
// Cost: per iteration the cube of the freedoms that take part.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "catena/model/mechanism.h"

namespace catena {

// A point of a body at a place in the ground frame.
struct PointGoal {
  int body = -1;
  Vec3d point{};
  Vec3d target{};
};

// A frame on a body at a pose in the ground frame.
struct FrameGoal {
  int body = -1;
  Transformd frame{};
  Transformd target{};
};

struct InverseKinematicsGoals {
  std::vector<PointGoal> points{};
  std::vector<FrameGoal> frames{};
};

struct InverseKinematicsSettings {
  std::vector<std::uint8_t> fixed{};  // by freedom: 1 keeps it as given; empty: none
  bool keep_limits = true;
  int restarts =
      20;  // positions around the guess that are tried if the goal is not reached from it
  // Called before each of them. If it returns false, the search stops with a NumericalError.
  std::function<bool()> goes_on = {};
};

struct InverseKinematics {
  Eigen::VectorXd q;
  bool reached = false;   // goals and closures, to kReached
  double distance = 0.0;  // largest of all goals, m
  double angle = 0.0;     // largest of all frame goals, rad
  double closure_residual = 0.0;
};

inline constexpr double kReached = 1e-9;  // m, rad

InverseKinematics inverse_kinematics(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                                     const InverseKinematicsGoals& goals,
                                     const InverseKinematicsSettings& settings = {});

}  // namespace catena
