// SPDX-License-Identifier: BSD-3-Clause
// Compares the closure equations (rows) that two charts use.
#pragma once

#include "catena/closure/chart.h"

namespace catena {

// True if both use the same rows, in any order of the pivots: an integrator need not restart when
// the chart changes from one to the other.
bool uses_the_same_rows(const Chart& a, const Chart& b);

}  // namespace catena
