// SPDX-License-Identifier: BSD-3-Clause
// Inverse dynamics (RNEA) of a closed mechanism with accelerations given at freedoms of the
// caller's choice, not of the chart's: each is met, or an error names the one that contradicts the
// loops. For a tree it is inverse_dynamics().
#pragma once

#include <cstdint>
#include <span>

#include "catena/dynamics/inverse.h"

namespace catena {

// Inverse dynamics for accelerations given at all freedoms, or at some of them and zero at the
// others; `given`: 1 by freedom, empty: none. In a closed mechanism the freedoms given
// become independent (unless the independent ones are among them already), so that none is
// ignored, and NumericalError names one whose acceleration contradicts the closures by more than
// kGivenTolerance · (1 + the largest acceleration).
inline constexpr double kGivenTolerance = 1e-6;  // rad/s² or m/s²
const Eigen::VectorXd& inverse_dynamics_given(const Mechanism& mechanism, const State& state,
                                              const Eigen::VectorXd& acceleration,
                                              std::span<const std::uint8_t> given,
                                              Workspace& workspace,
                                              std::span<const ExternalWrench> external = {});
// Its two parts, for other functions that read accelerations: before a call, and on its result.
void make_given_independent(const Mechanism& mechanism, const Eigen::VectorXd& q,
                            std::span<const std::uint8_t> given, Workspace& workspace);
void check_given(const Mechanism& mechanism, const Eigen::VectorXd& acceleration,
                 std::span<const std::uint8_t> given, std::span<const double> found);

}  // namespace catena
