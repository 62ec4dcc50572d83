// SPDX-License-Identifier: BSD-3-Clause
// Charts of the page of `catena control robust --report`.
#pragma once

#include <string>
#include <vector>

#include "catena/robust/robust_analysis.h"

namespace catena::app {

// Bounds of μ over frequency with the guaranteed level, the margin of each uncertainty alone as
// bars, and the map of stability over the two that matter most. HTML.
std::string robustness_figures(const UncertainSystem& loop, const RobustStability& margin,
                               const std::vector<RobustStability>& alone);

}  // namespace catena::app
