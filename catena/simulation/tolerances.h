// SPDX-License-Identifier: BSD-3-Clause
// Tolerances that several parts of the simulation share. A constant of a single file is in that
// file.
#pragma once

#include <limits>

namespace catena {

// ---- Time and steps. ----

// Times this close, relative to the time (or to 1 s), are the same instant.
inline constexpr double kSameInstant = 1e-13;
// Events and ends of steps are resolved to a few units of rounding of the time.
inline constexpr double kTimeRounding = 4.0 * std::numeric_limits<double>::epsilon();
// A step shorter than this, relative to the time, is lost in rounding: some stages coincide.
inline constexpr double kShortestStep = 16.0 * std::numeric_limits<double>::epsilon();
// A limit this close to the end of a fixed step, in steps, is its end.
inline constexpr double kSnapToLimit = 1e-6;
// Step reduction factor where a rate or the end of a step cannot be computed. The distance to a
// valid point is unknown, so a factor nearer to one would take many attempts.
inline constexpr double kFailedStepFactor = 0.25;

// ---- Stops and contacts. ----

// A freedom or point this close to its limit or plane (rad, m), or beyond it, touches it: the
// errors of steps at usual tolerances are smaller.
inline constexpr double kTouching = 1e-10;
// Largest passage of a limit or plane (rad, m): beyond it the event was missed.
inline constexpr double kDeepest = 1e-6;
// A freedom or point that leaves its limit or plane is detected again when it is this far behind
// it: a thousand units of rounding of a radian or metre.
inline constexpr double kJustLeft = 1e-13;
// The same for freedoms that follow from others, as in loops: their rounding is larger.
inline constexpr double kCarried = 1e-10;
// Shorter bounces (s) are not followed: bounces that accumulate end there.
inline constexpr double kShortestBounce = 1e-6;
// Forces below this fraction of the largest one are rounding when modes are chosen.
inline constexpr double kForceRounding = 1e-10;
// The same where forces are watched: less, so that a contact held by a force of rounding is not
// released at once.
inline constexpr double kWatchedForceRounding = 1e-11;
// An impact creates energy if its works sum up to more than this fraction of their sizes.
inline constexpr double kCreatesEnergy = 1e-10;

}  // namespace catena
