// SPDX-License-Identifier: BSD-3-Clause
// Second derivatives of inverse and forward dynamics, for full Newton methods.
//
// Dual numbers over the analytic first derivatives: the sweeps of the columns (columns.h) run once
// for every four directions, and the dot products carry the derivatives along. O(N · depth) for
// each direction, O(N² · depth) in all. If an element of the mechanism takes plain numbers only
// (springs, friction, a user's hinge, loads along ground axes, closed loops), the first derivatives
// are differenced instead, to order eight with steps of 3e-3: right to about eleven digits.
//
// ∂/∂q is along tangent directions, also the second time: entry [k] is the derivative of a matrix
// of first derivatives along direction k. With quaternions these do not commute: ∂_k∂_l − ∂_l∂_k is
// the derivative along the bracket of the two directions.
#pragma once

#include <span>
#include <vector>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

// Entry [k]: by position or velocity k (independent freedoms of a closed mechanism).
struct InverseSecondDerivatives {
  std::vector<Eigen::MatrixXd> qq;  // ∂(∂τ/∂q)/∂q_k
  std::vector<Eigen::MatrixXd> vq;  // ∂(∂τ/∂v)/∂q_k
  std::vector<Eigen::MatrixXd> vv;  // ∂(∂τ/∂v)/∂v_k
  std::vector<Eigen::MatrixXd> aq;  // ∂M/∂q_k
};
struct ForwardSecondDerivatives {
  std::vector<Eigen::MatrixXd> qq;  // ∂(∂v̇/∂q)/∂q_k
  std::vector<Eigen::MatrixXd> qv;  // ∂(∂v̇/∂q)/∂v_k
  std::vector<Eigen::MatrixXd> vq;  // ∂(∂v̇/∂v)/∂q_k
  std::vector<Eigen::MatrixXd> vv;  // ∂(∂v̇/∂v)/∂v_k
  std::vector<Eigen::MatrixXd> uq;  // ∂(∂v̇/∂τ)/∂q_k
};

InverseSecondDerivatives inverse_second_derivatives(const Mechanism& mechanism, const State& state,
                                                    const Eigen::VectorXd& acceleration,
                                                    SensitivityWorkspace& workspace,
                                                    std::span<const ExternalWrench> external = {});
ForwardSecondDerivatives forward_second_derivatives(const Mechanism& mechanism, const State& state,
                                                    const Eigen::VectorXd& effort,
                                                    SensitivityWorkspace& workspace,
                                                    std::span<const ExternalWrench> external = {});

// True if all elements of this mechanism take dual numbers.
bool serves_dual_numbers(const Mechanism& mechanism, std::span<const ExternalWrench> external = {});

}  // namespace catena
