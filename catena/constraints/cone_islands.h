// SPDX-License-Identifier: BSD-3-Clause
// Islands of a cone problem (cone_problem.h): blocks of rows that no entry of W connects, as the
// contacts of bodies that do not touch each other. Each is a problem of its own, and the cost of
// all is the sum of the cubes of their rows instead of the cube of the sum. The ground connects
// nothing, for it does not move.
#pragma once

#include <vector>

#include "catena/constraints/cone_problem.h"

namespace catena {

struct ConeIsland {
  ConeProblem problem;
  std::vector<int> blocks, rows;  // of the whole problem
};

// In the order of their first blocks. Empty: the problem is a single island.
std::vector<ConeIsland> divide_into_islands(const ConeProblem& problem);

}  // namespace catena
