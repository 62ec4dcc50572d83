// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of inverse dynamics (RNEA): how the efforts change with position, velocity and
// acceleration, ∂τ/∂q, ∂τ/∂v and ∂τ/∂v̇ = M.
//
//   const InverseDerivatives d = inverse_dynamics_derivatives(robot, state, acceleration);
//   const Eigen::MatrixXd& stiffness = d.dq;  // of gravity and springs, at rest
//
// Analytic, by one outward and one inward sweep (kernels/columns.h) and a dot product for each
// entry that is not zero: O(N · depth) for a tree. There is no step size.
//
// Directions of q are tangent directions, as many as freedoms: column k is the derivative along
// integrate(q, ε e_k). For hinges whose coordinates are not a quaternion that is the derivative by
// the coordinate; for spherical and free hinges the body turns by exp(ε [e_k]) in its own frame. v
// and v̇ are held fixed, component by component.
//
// External wrenches with body axes turn with their body, those with ground axes keep their
// components; the point of either stays where it is in the body.
//
// References: [Carpentier & Mansard 2018]; [Lin & Yae 1989] for the same perturbations in ground
// axes.
#pragma once

#include <span>

#include "catena/dynamics/loads.h"
#include "catena/sensitivity/workspace.h"

namespace catena {

// `acceleration` has all freedoms; of a closed mechanism the independent ones are read. The result
// lives in the workspace until its next call.
const InverseDerivatives& inverse_dynamics_derivatives(
    const Mechanism& mechanism, const State& state, const Eigen::VectorXd& acceleration,
    SensitivityWorkspace& workspace, std::span<const ExternalWrench> external = {});
InverseDerivatives inverse_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                                const Eigen::VectorXd& acceleration,
                                                std::span<const ExternalWrench> external = {});

// ---- For the algorithms of this room. ----

// Of a mechanism with flexible bodies, by dual numbers.
const InverseDerivatives& flexible_inverse_derivatives(const Mechanism& mechanism,
                                                       const State& state,
                                                       const Eigen::VectorXd& acceleration,
                                                       SensitivityWorkspace& workspace,
                                                       std::span<const ExternalWrench> external);

// The columns of the spanning tree at this state and at `acceleration` of all its freedoms. `in` is
// the result of prepare(); `placed`: a recursive sweep has been done at this state.
void compute_columns(const SweepInput& in, const double* acceleration, bool placed,
                     SensitivityWorkspace& workspace);
// ∂τ/∂q, ∂τ/∂v and M of the spanning tree from them, loads included, padded, in the workspace.
void compute_tree_matrices(const State& state, std::span<const ExternalWrench> external,
                           SensitivityWorkspace& workspace);
// The efforts of the spanning tree that go with the columns, actuators' as in inverse_dynamics().
void tree_effort(const SweepInput& in, SensitivityWorkspace& workspace, Eigen::VectorXd& effort);
// Copies a matrix out of its padding.
void copy_matrix(const SensitivityWorkspace& workspace, const double* padded, Eigen::MatrixXd& to);

}  // namespace catena
