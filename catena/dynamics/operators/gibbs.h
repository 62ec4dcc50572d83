// SPDX-License-Identifier: BSD-3-Clause
// Gibbs' function of a state and a trial acceleration ([D'Eleuterio & Damaren 1991]; Gauss'
// principle for the particles of the bodies). Forward dynamics is its minimum over all
// accelerations: at v̇ + δ it is larger than at the motion by ½ δᵀ M δ.
//
// Three forms that differ by constants of the state:
//
//   reduced     ½ v̇ᵀ M v̇ − (effort − bias_effort)ᵀ v̇             zero at v̇ = 0; the cost of the
//               optimal-control problem whose Riccati sweep is forward dynamics. At the minimum
//               −½ (effort − bias_effort)ᵀ v̇ = −½ Σ εᵀ D⁻¹ ε.
//   components  Σ ½ Aᵀ I A − (loads + ad*(V, I V))ᵀ A − effortᵀ v̇
//               A: rates of the components of the twists V
//   particles   Σ ½ m |a|² − F·a − effortᵀ v̇
//               a: accelerations of the particles
//
// Gravity and external wrenches are loads F; damping, friction and springs are in effort and loads.
// Rotors are in all three, in the last without the terms that depend on the velocity alone; an
// external wrench counts as acting at the origin of its node (elsewhere: another constant).
// O(N), summed from the bodies' accelerations, without the mass matrix.
#pragma once

#include "catena/dynamics/loads.h"

namespace catena {

struct GibbsFunction {
  double reduced = 0.0;
  double components = 0.0;
  double particles = 0.0;
};

GibbsFunction gibbs_function(const Mechanism& mechanism, const State& state,
                             const Eigen::VectorXd& effort, const Eigen::VectorXd& acceleration,
                             Workspace& workspace, std::span<const ExternalWrench> external = {});
GibbsFunction gibbs_function(const Mechanism& mechanism, const State& state,
                             const Eigen::VectorXd& effort, const Eigen::VectorXd& acceleration,
                             std::span<const ExternalWrench> external = {});

}  // namespace catena
