// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of forward and hybrid dynamics by position, velocity and effort: the Jacobians of the
// equations of motion, for implicit integration, filters, optimal control and learning.
//
// With the accelerations v̇ of the state at hand (forward dynamics is called first), the derivatives
// of inverse dynamics at v̇ and the inverse of the mass matrix give
//
//   ∂v̇/∂q = −M⁻¹ ∂τ/∂q,   ∂v̇/∂v = −M⁻¹ ∂τ/∂v,   ∂v̇/∂τ = M⁻¹,
//
//   SensitivityWorkspace workspace(robot);
//   const ForwardDerivatives& d = forward_dynamics_derivatives(robot, state, effort, workspace);
//   d.dq, d.dv, d.deffort  // freedoms × freedoms (results.h)
//
// ([Carpentier & Mansard 2018]; the derivatives of articulated inertias of [Sohl & Bobrow 2001],
// section 4, are not needed.) M⁻¹ and the products keep to the zeros that branches leave in the
// matrices. Directions of q and the convention for external wrenches are those of
// inverse_derivatives.h. O(N · depth) for ∂τ, O(n³) at most for the products.
//
// Hybrid dynamics: a force-driven freedom has its effort for an input, a motion-driven one its
// acceleration; the output is the other one of the two.
#pragma once

#include <span>

#include "catena/dynamics/forward.h"
#include "catena/sensitivity/inverse_derivatives.h"

namespace catena {

const ForwardDerivatives& forward_dynamics_derivatives(
    const Mechanism& mechanism, const State& state, const Eigen::VectorXd& effort,
    SensitivityWorkspace& workspace, std::span<const ExternalWrench> external = {});
ForwardDerivatives forward_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                                const Eigen::VectorXd& effort,
                                                std::span<const ExternalWrench> external = {});

const HybridDerivatives& hybrid_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                                     const HybridInput& input,
                                                     SensitivityWorkspace& workspace,
                                                     std::span<const ExternalWrench> external = {});
HybridDerivatives hybrid_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                              const HybridInput& input,
                                              std::span<const ExternalWrench> external = {});

// Derivatives by an external wrench: the six columns are its moment and force. `where` gives the
// body, point and axes; its values are not read.
struct WrenchDerivatives {
  Eigen::MatrixXd effort;        // of inverse dynamics
  Eigen::MatrixXd acceleration;  // of forward dynamics
};
WrenchDerivatives external_wrench_derivatives(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                              const ExternalWrench& where,
                                              SensitivityWorkspace& workspace);

// ---- For the algorithms of this room. ----

// Derivatives from the results that the last dynamics call of this state left in the workspace.
SweepInput prepared_input(const Mechanism& mechanism, const State& state,
                          std::span<const ExternalWrench> external, Workspace& workspace);
// Change of the results of hybrid dynamics when the required efforts change by `right` (rows:
// independent freedoms): −M⁻¹ of the force-driven block, and from that the efforts of the others.
void solve_hybrid(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& right,
                  const std::vector<int>& independent,
                  const std::vector<std::uint8_t>& motion_driven, Eigen::MatrixXd& acceleration,
                  Eigen::MatrixXd& effort);
// Hybrid derivatives from those of inverse dynamics in the independent freedoms; `map` is X.
void solve_hybrid(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& dq, const Eigen::MatrixXd& dv,
                  const Eigen::MatrixXd& map, const std::vector<int>& independent,
                  const std::vector<std::uint8_t>& motion_driven, HybridDerivatives& out);

}  // namespace catena
