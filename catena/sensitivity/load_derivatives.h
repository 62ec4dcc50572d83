// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of loads that are not fixed in a body, as terms of the derivatives of inverse
// dynamics: damping, friction and stiffness of hinges, springs between points, and external
// wrenches along ground axes.
//
// The columns (columns.h) take every wrench on a node as fixed in it: moving the body by S_l moves
// the wrench w by S_l ×* w. Any other load adds −S_k · x_l to ∂τ_k/∂q_l for the freedoms k inboard
// of its body, x_l being the rest of its change about the reference point:
//
//   ground axes, force f at r and moment n:   x_l = (n × s + r × (f × s), f × s)
//   spring or damper, force f on point r:     x_l = (r × g, g),  g = ∂_l f − s × f
//                                             (without s × f if l does not move the point)
//
// with s the angular part of S_l.
//
// Cost: O(depth²) for each such load.
#pragma once

#include <span>

#include "catena/dynamics/loads.h"
#include "catena/sensitivity/workspace.h"

namespace catena {

// The freedoms that move a node, from the node inward.
template <class F>
void each_inboard(const Mechanism& mechanism, int node, F f) {
  for (int n = node; n >= 0; n = mechanism.nodes()[static_cast<std::size_t>(n)].parent) {
    const Node& own = mechanism.nodes()[static_cast<std::size_t>(n)];
    for (int k = own.v_index; k < own.v_index + own.freedoms; ++k) f(k);
  }
}

// Adds to ∂τ/∂q and ∂τ/∂v of the spanning tree (padded, of the workspace) at the state whose
// columns the workspace holds.
void add_load_derivatives(const State& state, std::span<const ExternalWrench> external,
                          SensitivityWorkspace& workspace);

// The same as products: efforts += (∂τ/∂q) q + (∂τ/∂v) v, and transposed, by_q += (∂τ/∂q)ᵀ x and
// by_v += (∂τ/∂v)ᵀ x.
void add_load_product(const State& state, std::span<const ExternalWrench> external,
                      const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                      SensitivityWorkspace& workspace, Eigen::VectorXd& effort);
void add_load_adjoint(const State& state, std::span<const ExternalWrench> external,
                      const Eigen::VectorXd& x, SensitivityWorkspace& workspace,
                      Eigen::VectorXd& by_q, Eigen::VectorXd& by_v);

}  // namespace catena
