// SPDX-License-Identifier: BSD-3-Clause
// What hybrid dynamics and its derivatives are given.
#pragma once

#include "arguments.h"

#include "catena/dynamics/forward.h"

namespace catena::python {

inline HybridInput read_hybrid(const Mechanism& mechanism, const Freedoms& motion_driven,
                               const FreedomVector& effort, const FreedomVector& acceleration) {
  HybridInput input;
  input.motion_driven = read_mask(motion_driven, mechanism);
  input.motion_driven.resize(static_cast<std::size_t>(mechanism.freedoms()), 0);
  input.effort = read_freedoms(effort, mechanism, "effort");
  input.acceleration = read_freedoms(acceleration, mechanism, "acceleration");
  return input;
}

}  // namespace catena::python
