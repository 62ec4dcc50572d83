// SPDX-License-Identifier: BSD-3-Clause
// Tolerances that several parts of the simulation share. A constant that only one file uses stands
// in that file.
#pragma once

#include <limits>

namespace catena {

// ---- Time and steps. ----

// Times this close, relative to the time (or to 1 s), are the same instant.
inline constexpr double kSameInstant = 1e-13;
// Events and ends of steps are resolved to a few units of rounding of the time.
inline constexpr double kTimeRounding = 4.0 * std::numeric_limits<double>::epsilon();
// A step shorter than this, relative to the time, does not move it: some stages fall together.
inline constexpr double kShortestStep = 16.0 * std::numeric_limits<double>::epsilon();
// A limit this close to the end of a fixed step, in steps, is its end.
inline constexpr double kSnapToLimit = 1e-6;
// Where a rate or the end of a step cannot be computed, the step shrinks by this: the way to where
// it can be is not known, so that less would take many attempts.
inline constexpr double kFailedStepFactor = 0.25;

// ---- Stops and contacts. ----

// What is this close to its limit or plane (rad, m), or beyond it, touches it: the errors of steps
// at usual tolerances are smaller.
inline constexpr double kTouching = 1e-10;
// Nothing gets this far beyond a limit or plane (rad, m): its passage was not found.
inline constexpr double kDeepest = 1e-6;
// What leaves its limit or plane is found again when it is this far behind it: a thousand units of
// rounding of a radian or metre.
inline constexpr double kJustLeft = 1e-13;
// The same for what others carry, as in loops: rounding moves it more.
inline constexpr double kCarried = 1e-10;
// A bounce shorter than this (s) is not followed any more: bounces that accumulate end there.
inline constexpr double kShortestBounce = 1e-6;
// Forces below this fraction of the largest one are rounding when modes are chosen.
inline constexpr double kForceRounding = 1e-10;
// And below this one where they are watched: less, so that what a choice of modes has just called
// held by rounding is not let go at once.
inline constexpr double kWatchedForceRounding = 1e-11;
// An impact creates energy if its works sum up to more than this fraction of their sizes.
inline constexpr double kCreatesEnergy = 1e-10;

}  // namespace catena
