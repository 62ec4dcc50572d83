// SPDX-License-Identifier: BSD-3-Clause
// Pushes between bounds, as a small dense linear complementarity problem (LCP with bounds, the form
// of joint limits and dry friction):
//
//   u = W p + b,    least ≤ p ≤ most,    u ≥ 0 where p = least, u ≤ 0 where p = most, else u = 0
//
// W is M⁻¹ seen by some freedoms, p what acts there and u how they move: impulses and velocities,
// or forces and accelerations. A stop pushes with p ≥ 0 and is left with u ≥ 0; dry friction at
// rest is within ± its level; a freedom that is held whatever it takes has no bounds. For a
// symmetric W this is the least of ½ pᵀ W p + bᵀ p between the bounds, so u is unique, also where
// pushes are redundant (W singular: hinges of one loop).
//
// Solved by driving one freedom after the other to its law while those between their bounds keep
// u = 0 (Dantzig's pivoting, an active set of the convex problem). The freedoms between their
// bounds are independent of each other.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct BoundedProblem {
  Eigen::MatrixXd w;
  Eigen::VectorXd b;
  Eigen::VectorXd least, most;  // may be infinite
};

struct BoundedSolution {
  Eigen::VectorXd push;               // p
  Eigen::VectorXd motion;             // u, exactly zero where `between`
  std::vector<std::uint8_t> between;  // 1: held to u = 0
  bool solved = false;                // false: contradictory bounds, or not found
};

BoundedSolution solve(const BoundedProblem& problem);

}  // namespace catena
