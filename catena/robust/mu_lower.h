// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds of the structured singular value. Any Q of the structure with ‖Q‖ ≤ 1 and
// any real λ > 0 that is an eigenvalue of Q M gives the perturbation Δ = Q/λ, for which 1 − M Δ is
// singular: μ ≥ λ. The search is for large ones:
//
//   1. power iteration for mixed structures [Young & Doyle 1990] from several starts;
//   2. ascent: real scalars q in [-1, 1] and phases of complex blocks are moved so that Re λ grows
//      and Im λ vanishes, by sequential linear programs with the eigenvalue's gradient
//      dλ = yᴴ dQ M x / yᴴ x.
#pragma once

#include <vector>

#include "catena/robust/mu.h"

namespace catena {

struct LowerBound {
  double value = 0.0;
  std::vector<BlockValue> worst{};
  double singularity = 0.0;  // σ_min(1 − M Δ) over σ_max(1 − M Δ)
  int evaluations = 0;
};
// `scaling`: of the upper bound, for the first start.
LowerBound find_perturbation(const Eigen::MatrixXcd& m, const BlockStructure& structure, int starts,
                             const MuScaling& scaling, double enough);

}  // namespace catena
