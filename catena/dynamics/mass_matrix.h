// SPDX-License-Identifier: BSD-3-Clause
// The joint-space mass matrix M(q) of  M v̇ + C = effort, by composite rigid bodies (CRBA): the
// inertia of everything outboard of a joint is summed inward, and M_ij = H_iᵀ I_composite H_j where
// j is on the way from i to the ground, else 0. Symmetric and positive definite. O(N · depth).
//
//   const Eigen::MatrixXd m = mass_matrix(robot, state.q);
//   const double kinetic_energy = 0.5 * state.v.dot(m * state.v);
//
// To solve with M or multiply by it, do not form it: dynamics/operators/operators.h does both in
// O(N).
//
// References: [Walker & Orin 1982]; [Featherstone 2008], chapter 6.
#pragma once

#include "catena/dynamics/workspace.h"

namespace catena {

// Both triangles; the rotors of drives included. O(N · depth). With closed loops: of the
// independent freedoms, in the order of workspace.independent().
const Eigen::MatrixXd& mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                   Workspace& workspace);
Eigen::MatrixXd mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q);

}  // namespace catena
