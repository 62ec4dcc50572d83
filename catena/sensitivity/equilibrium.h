// SPDX-License-Identifier: BSD-3-Clause
// Equilibria (trim points): positions in which nothing accelerates, at rest or in a steady motion.
//
//   const Equilibrium rest = find_equilibrium(robot, {robot.default_state(), effort});
//   if (rest.found) std::cout << to_string(rest.modes.stability) << "\n";
//
// The unknowns are the positions of the independent freedoms that are not held. The velocities
// (zero: a static equilibrium; a spin about an axis: a steady motion) and the efforts are given.
// The efforts that inverse dynamics requires at v̇ = 0 must equal the given ones; at held freedoms
// the effort that is needed is found and reported. Levenberg-Marquardt with the analytic Jacobian
// of inverse dynamics; positions stay within the limits of the hinges by shortening the step.
#pragma once

#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/modes.h"

namespace catena {

struct EquilibriumSettings {
  std::vector<std::uint8_t> held{};  // by freedom: 1 keeps its position; empty: none
  double tolerance = 1e-10;  // on the unbalanced efforts, against the largest of their parts
  int iterations = 200;
};

struct Equilibrium {
  bool found = false;
  State state;
  Eigen::VectorXd effort;      // at all freedoms: the given ones, and those of held freedoms
  Eigen::VectorXd unbalanced;  // efforts that are missing, by freedom; zero when found
  double residual = 0.0;       // the largest of these
  double acceleration = 0.0;   // the largest, with these efforts
  int iterations = 0;
  ModalAnalysis modes;  // of the linear model there
  // If not found: what cannot be balanced, in words.
  std::string reason;
};

// `guess` is closed. Efforts of held freedoms are not read.
Equilibrium find_equilibrium(const Mechanism& mechanism, const OperatingPoint& guess,
                             const EquilibriumSettings& settings = {});

}  // namespace catena
