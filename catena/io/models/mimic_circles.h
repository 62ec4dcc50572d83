// SPDX-License-Identifier: BSD-3-Clause
// Finds mimic joints that follow each other in a circle: none of them could move, so it is an
// error.
#pragma once

#include <vector>

#include "catena/model/description.h"

namespace catena {

// One coupling of each circle among mimics, whose first term is the follower and second the leader.
std::vector<const Coupling*> mimic_circles(const std::vector<Coupling>& mimics);

}  // namespace catena
