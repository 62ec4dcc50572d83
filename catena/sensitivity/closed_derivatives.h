// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of closed mechanisms in their independent freedoms.
//
// With X and γ of the loops (v = X v_i, v̇ = X v̇_i + γ) and r(q, v, v̇) the efforts that the spanning
// tree needs, inverse dynamics is h = Xᵀ r, and forward dynamics solves Xᵀ (r − τ) = 0. Along the
// tangent direction of the independent freedom k, with the changes of X and γ of tangent.h,
//
//   ∂_k h = ∂_k Xᵀ r + Xᵀ (r_q X_k + r_v ∂_k X v_i + M (∂_k X v̇_i + ∂_k γ))
//
// ([Lin & Yae 1989] mentions closed loops, but gives no equations.) Cost: that of the spanning
// tree, the products with X, and an O(m³) solve for m independent freedoms.
#pragma once

#include <span>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

const InverseDerivatives& closed_inverse_derivatives(const Mechanism& mechanism, const State& state,
                                                     const Eigen::VectorXd& acceleration,
                                                     SensitivityWorkspace& workspace,
                                                     std::span<const ExternalWrench> external);
// forward_dynamics() and hybrid_dynamics() have been called; their results are in the workspace.
const ForwardDerivatives& closed_forward_derivatives(const Mechanism& mechanism, const State& state,
                                                     const Eigen::VectorXd& effort,
                                                     SensitivityWorkspace& workspace,
                                                     std::span<const ExternalWrench> external);
const HybridDerivatives& closed_hybrid_derivatives(const Mechanism& mechanism, const State& state,
                                                   const HybridInput& input,
                                                   SensitivityWorkspace& workspace,
                                                   std::span<const ExternalWrench> external);

// Of a mechanism with flexible bodies: the efforts of its spanning tree at w.acceleration, less
// those of passive elements, in w.effort.
void flexible_tree_effort(const SweepInput& in, SensitivityWorkspace& w);

// turned(l, k) += Σ_i ∂_k X_il x_i over the loops that were differentiated last: how Xᵀ x changes.
void add_map_change(SensitivityWorkspace& workspace, const Eigen::VectorXd& x,
                    Eigen::MatrixXd& turned);

}  // namespace catena
