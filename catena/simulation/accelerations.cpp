// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/accelerations.h"

#include <algorithm>

#include "catena/base/index.h"

namespace catena {

HybridAccelerations::HybridAccelerations(const Mechanism& mechanism)
    : mechanism_(mechanism), workspace_(mechanism) {}

void HybridAccelerations::solve(const Instant& at, double /*ahead*/, const HybridInput& input,
                                const Held& held, std::span<const ExternalWrench> external,
                                Evaluation& found) {
  const auto& driven = input.motion_driven;
  if (std::find(driven.begin(), driven.end(), 1) == driven.end()) {
    found.acceleration = forward_dynamics(mechanism_, at.state, input.effort, workspace_, external,
                                          Route::automatic, &at.maps);
    return;
  }
  hybrid_dynamics(mechanism_, at.state, input, workspace_, result_, external, &at.maps);
  found.acceleration = result_.acceleration;
  for (Eigen::Index i = 0; i < found.effort.size(); ++i) {
    const auto k = index(i);
    if (held.prescribed[k] != 0) found.effort[i] = result_.effort[i];
    if (!held.modes[k].held()) continue;
    found.reaction[i] = result_.effort[i] - found.effort[i];
    if (held.modes[k].stop == 0) found.friction[i] = found.reaction[i];
  }
}

ImpulseResult HybridAccelerations::impulse(const State& state, const ImpulseInput& input) {
  return apply_impulse(mechanism_, state, input);
}

}  // namespace catena
