// SPDX-License-Identifier: BSD-3-Clause
// Signals that a controller reads from a mechanism, by the names that linearize() gives its
// outputs:
//
//   q.NAME or NAME      position of a freedom (joint coordinate), rad or m
//   v.NAME              velocity
//   position.PLACE.x    of a frame or the origin of a body, ground axes; velocity.PLACE.x
//
// as deviations from an operating point, so that a controller designed for the linear model can be
// connected to the nonlinear one. Rotations by quaternion (free and spherical joints) are measured
// as the rotation vector that leads from the operating point to the state, one number for each
// freedom, which is what the linear model calls δq.
//
//   const SignalSettings elbow = plant_deviation(robot, "q.elbow", robot.default_state());
#pragma once

#include <string>

#include "catena/simulation/signals/signal_settings.h"

namespace catena {

// The mechanism must outlive the signal. Throws NameError for an unknown name, and Error for
// accelerations and efforts, which an evaluation finds only after the controllers have acted.
SignalSettings plant_deviation(const Mechanism& mechanism, const std::string& name,
                               const State& point);

}  // namespace catena
