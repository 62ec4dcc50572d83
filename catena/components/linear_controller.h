// SPDX-License-Identifier: BSD-3-Clause
// A linear system as a component: the controller that the control room designed, or any filter in
// state space, connected to a mechanism.
//
//   continuous   ẋ = A x + B δy,             u = u0 + sat(C x + D δy)
//   sampled      x[k+1] = A x[k] + B δy[k],  u[k] = u0 + sat(C x[k] + D δy[k]), held; `delay` later
//
// Its inputs are named after the measured signals (plant_signal.h), its outputs after the freedoms
// at which it acts ("elbow" or "effort.elbow"), or "signal.NAME" for signals that are only
// recorded. δy are deviations from the operating point of the system (SystemPoint: q and v of the
// mechanism; y0 is the effort u0 that holds it there).
//
//   settings.actions.components.push_back(
//       linear_controller({.system = K, .lower = -limits, .upper = limits}));
//
// Saturation clamps the effort u as a whole, between `lower` and `upper`.
#pragma once

#include <optional>
#include <string>

#include "catena/linear/state_space.h"
#include "catena/simulation/actions.h"

namespace catena {

struct LinearControllerSettings {
  StateSpace system;
  std::string name = "controller";
  // Computation time of a sampled controller, s. A continuous one has none.
  double delay = 0.0;
  double offset = 0.0;               // of the first sample, s
  Eigen::VectorXd lower{}, upper{};  // limits of u, N or N m; empty: none
  int order = 0;                     // among components with ticks at the same instant
  // Where δy is measured from; empty: the point of the system, or the mechanism's default state.
  std::optional<State> point{};
  Eigen::VectorXd initial{};  // of the controller's states; empty: zero
  // Output u − u0 of a sampled controller before its first sample is there. Empty means zero.
  Eigen::VectorXd held{};
};

// Throws Error if the system cannot run: names that do not fit the mechanism, limits of the wrong
// size, delays of a continuous system (discretize it, or replace them by pade()).
ComponentMaker linear_controller(LinearControllerSettings settings);

}  // namespace catena
