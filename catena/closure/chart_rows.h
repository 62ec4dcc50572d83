// SPDX-License-Identifier: BSD-3-Clause
// Which rows of its loops a chart closes them with.
#pragma once

#include "catena/closure/chart.h"

namespace catena {

// Whatever the order of the pivots: then a motion goes on as it was, though the chart is new.
bool uses_the_same_rows(const Chart& a, const Chart& b);

}  // namespace catena
