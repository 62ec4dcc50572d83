// SPDX-License-Identifier: BSD-3-Clause
// Decoupled control in innovations coordinates [Rodriguez, Jain & Kreutz-Delgado 1991]: one loop
// for each freedom.
//
// M = (I + K) D (I + K)ᵀ (dynamics/operators/operators.h). In the diagonalizing velocities
// ν = (I + K)ᵀ v the kinetic energy is ½ νᵀ D ν, and ν_k is driven by its own innovation ε_k alone,
// up to terms in v. Each loop is closed on its own variables,
//
//   ε_k = −D_k (2 ζ_k ω_k ν_k + ω_k² s_k),  s = (I + K)ᵀ δq,   effort = C(q, v) + (I + K) ε
//
// with δq the deviation from `target`. Around it the poles are exactly the roots of
// s² + 2 ζ_k ω_k s + ω_k², whatever the mechanism; far from it the loops stay coupled by the
// velocity of (I + K). C is gravity, velocity and passive efforts. O(N) for each evaluation.
//
//   settings.actions.components.push_back(innovations_controller({.target = pose, .frequency =
//   w}));
//
// Mechanisms without closed loops, every freedom driven.
#pragma once

#include <string>

#include <Eigen/Core>

#include "catena/simulation/actions.h"

namespace catena {

struct InnovationsSettings {
  State target{};               // its velocity is not used
  Eigen::VectorXd frequency{};  // ω_k, rad/s: one for all or one for each freedom
  Eigen::VectorXd damping = Eigen::VectorXd::Ones(1);  // ζ_k
  std::string name = "innovations";
};

// Throws Error for closed loops, flexible bodies and values that are not positive.
ComponentMaker innovations_controller(InnovationsSettings settings);

// The efforts of that controller at a state.
Eigen::VectorXd innovations_effort(const Mechanism& mechanism, const State& state,
                                   const InnovationsSettings& settings);

}  // namespace catena
