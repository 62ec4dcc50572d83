// SPDX-License-Identifier: BSD-3-Clause
// Servo constraints: a motion of a point or frame of a body that chosen actuators must enforce
// ([Ider 1989]; Kirgetov's program constraints). Inverse dynamics of an underactuated task, solved
// with the motion.
//
//   M v̇ + C = effort + Aᵀ μ,   B v̇ = h      B: rows of the motion, A: the actuators' directions
//   (B M⁻¹ Aᵀ) μ = h − B v̇_free
//
// in one step with the reactions of loops and contacts (constraint_set.h), which push along their
// own rows. The matrix is not symmetric. When it loses rank the chosen actuators cannot produce the
// motion, however hard they push: the monitor stops before that with the actuators' names. Full
// rank does not mean that the motion of what is left free stays bounded.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "catena/dynamics/multipliers/multiplier_dynamics.h"

namespace catena {

struct ServoSettings {
  struct Row {
    Vec3d direction{};     // ground axes
    bool angular = false;  // the body's angular velocity along it; else the point's position
  };
  std::string name;
  int body = -1;
  Vec3d point{};            // in the body's frame
  std::vector<Row> rows{};  // one to six
  // Freedoms whose efforts enforce the motion, one for each row; empty: ideal forces along the rows
  // (as if every freedom had a motor).
  std::vector<int> actuators{};
  // The monitor stops the motion where the reciprocal condition of B M⁻¹ Aᵀ, rows and directions
  // scaled to length one as the inertia measures it, falls below this.
  double least_condition = 1e-4;
};

// Where the motion shall be. Of angular rows the position is not used.
struct ServoTarget {
  std::array<double, 6> position{};
  std::array<double, 6> velocity{};
  std::array<double, 6> acceleration{};
};

// ---- For ConstraintSet. ----

// Throws Error for settings that make no sense.
void check(const ServoSettings& settings, const Mechanism& mechanism);

// Rows, biases and targets at the workspace's position and velocity.
void place_servo(const ServoSettings& settings, const ServoTarget& target,
                 const Mechanism& mechanism, int constraint, const Workspace& workspace,
                 TreeConstraints& constraints);
// Position less target, 0 for angular rows.
double servo_gap(const ServoSettings& settings, const ServoTarget& target,
                 const Mechanism& mechanism, const Workspace& workspace, int row);

}  // namespace catena
