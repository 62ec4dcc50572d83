// SPDX-License-Identifier: BSD-3-Clause
// Tolerances of time-stepping (time_stepping.h), in m, m/s, rad and rad/s.
#pragma once

namespace catena {

// What is this close to its plane or limit takes part in a step; it may be passed by as much before
// a step is divided.
inline constexpr double kTouches = 1e-7;
// What pushed in the last step still takes part up to here, and is brought back.
inline constexpr double kHovers = 1e-5;
// An approach slower than this is no impact: the step ends it, and moves by 5e-8 m meanwhile.
inline constexpr double kImpactSpeed = 1e-4;
// A joint that is slower rests: its breakaway level counts.
inline constexpr double kRests = 1e-9;
// Positions that miss by more are corrected at the end of a step.
inline constexpr double kMissed = 1e-10;
// A position is corrected by at most this in a step: more is pushed apart bit by bit.
inline constexpr double kMostCorrected = 1e-3;
// A residual (of the load) above this is told.
inline constexpr double kResidualNoted = 1e-6;
inline constexpr int kMostDivisions = 8;

}  // namespace catena
