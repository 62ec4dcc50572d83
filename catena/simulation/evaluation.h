// SPDX-License-Identifier: BSD-3-Clause
// Result of the equations of motion at an instant: efforts, accelerations and forces. A value that
// is passed to events, outputs, the audit and the choice of modes.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/constraints/constraint_set.h"
#include "catena/simulation/applied_forces.h"
#include "catena/simulation/coordinates/instant.h"

namespace catena {

// Action of a contact; zero while it is apart.
struct ContactAction {
  ConstraintSet::ContactForce force{};
  double slide_margin = 1.0;  // distance of sliding from a jam (ConstraintSet::slide_margin)
};

struct Evaluation {
  // Time and state. With constraints by multipliers next to a singular position the state is the
  // interpolated one, with its sides.
  Instant instant{};
  ComponentEfforts efforts{};  // of the components
  // By freedom, N or N m:
  Eigen::VectorXd effort{};    // of the actuators: components, servos, prescribed motions
  Eigen::VectorXd applied{};   // without passive elements and the forces that hold freedoms
  Eigen::VectorXd friction{};  // at freedoms with dry friction
  Eigen::VectorXd reaction{};  // at those that stick or rest at a stop
  Eigen::VectorXd acceleration{};
  std::vector<double> constraint_power{};  // W, of sliding contacts and servos; by constraint
  std::vector<ContactAction> contacts{};   // by constraint, of those that are contacts

  const State& state() const { return instant.state; }
};

}  // namespace catena
