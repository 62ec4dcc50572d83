// SPDX-License-Identifier: BSD-3-Clause
// A page of mode shapes: the mechanism about a state, swinging in each of its modes,
//
//   q(φ) = q0 ⊕ a Re(shape e^{iφ}),   φ from 0 to 2π,
//
// closed mechanisms with their loops closed at every φ. The amplitude a is chosen for visibility:
// the fastest point moves kSwing of the mechanism's size, and no angle more than kMostAngle.
// Damping is printed, not shown: the swing neither grows nor decays.
#pragma once

#include <string>

#include "apps/catena/output.h"
#include "catena/sensitivity/modes.h"

namespace catena::app {

inline constexpr double kSwing = 0.12;
inline constexpr double kMostAngle = 0.6;  // rad
inline constexpr int kPhases = 32;         // frames of a period

// `model`: about its point; `analysis`: its modes.
Json modes_document(const Mechanism& mechanism, const std::string& path, const LinearModel& model,
                    const ModalAnalysis& analysis);

}  // namespace catena::app
