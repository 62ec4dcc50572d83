// SPDX-License-Identifier: BSD-3-Clause
// The two routes to a Riccati equation's solution, on the reduced problem. Not installed.
//
// Continuous: Âᵀ X + X Â − X G X + Q̂ = 0, with Â = A − B R⁻¹ Sᵀ, G = B R⁻¹ Bᵀ, Q̂ = Q − S R⁻¹ Sᵀ.
// Discrete:   X = Âᵀ X (1 + G X)⁻¹ Â + Q̂, the same letters.
#pragma once

#include <optional>

#include <Eigen/Core>

#include "catena/control/equations/riccati.h"

namespace catena {

struct ReducedRiccati {
  Eigen::MatrixXd A, G, Q;
};

// X before the Newton step, or why there is none; fills axis_distance and axis_frequency.
struct RawRiccati {
  RiccatiStatus status = RiccatiStatus::solved;
  Eigen::MatrixXd X;
  double axis_distance = 1.0, axis_frequency = 0.0;
};
RawRiccati care_by_schur(const ReducedRiccati& p);
RawRiccati care_by_doubling(const ReducedRiccati& p);
RawRiccati dare_by_schur(const ReducedRiccati& p);
RawRiccati dare_by_doubling(const ReducedRiccati& p);
// Where R is singular: the extended pencil of order 2n + m [Van Dooren 1981].
RawRiccati dare_by_extended_pencil(const RiccatiProblem& problem);

}  // namespace catena
