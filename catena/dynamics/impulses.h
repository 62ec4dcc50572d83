// SPDX-License-Identifier: BSD-3-Clause
// Impulses: velocity jumps when forces act for an instant (impacts), or freedoms are locked at
// once.
//
// Integrated over the instant, M v̇ + C = effort becomes M Δv = impulse: position, gravity and
// velocity terms drop out. That is hybrid dynamics at rest without gravity, so the same O(N)
// sweeps give, in one pass, the jump of the free freedoms and the impulse that locks the others.
//
//   const ImpulseResult hit = lock_freedom(robot, state, "elbow");     // the brake engages
//   hit.velocity, hit.impulse, hit.energy_change                      // after, N m s, J
//
// Energy: T⁺ − T⁻ = ½ (v⁺ + v⁻)ᵀ M Δv. Locking alone loses ½ Δvᵀ M Δv (Carnot).
#pragma once

#include <cstdint>
#include <vector>

#include "catena/dynamics/loads.h"

namespace catena {

struct ImpulseInput {
  Eigen::VectorXd impulse{};               // at the freedoms, N m s or N s; empty: none
  std::vector<ExternalWrench> external{};  // impulsive wrenches at points of bodies
  std::vector<std::uint8_t> locked{};  // by freedom: 1 if it is brought to `target`; empty: none
  Eigen::VectorXd target{};            // velocities of locked freedoms afterwards; empty: zero
};

struct ImpulseResult {
  Eigen::VectorXd velocity;    // after
  Eigen::VectorXd jump;        // after − before
  Eigen::VectorXd impulse;     // at every freedom: as given, or the one that locks it
  double energy_change = 0.0;  // kinetic, after − before; negative: lost
};

// Entries of `impulse` at locked freedoms are not read.
void apply_impulse(const Mechanism& mechanism, const State& state, const ImpulseInput& input,
                   Workspace& workspace, ImpulseResult& result);
ImpulseResult apply_impulse(const Mechanism& mechanism, const State& state,
                            const ImpulseInput& input);

// Short for an impulse at the freedoms, for one at a point of a body, and for locking by name
// (as in velocity_names()).
ImpulseResult apply_impulse(const Mechanism& mechanism, const State& state,
                            const Eigen::VectorXd& impulse);
ImpulseResult apply_impulse(const Mechanism& mechanism, const State& state,
                            const ExternalWrench& impulse);
ImpulseResult lock_freedom(const Mechanism& mechanism, const State& state, std::string_view freedom,
                           double velocity = 0.0);

}  // namespace catena
