// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix, its inverse and its factors as operators: applied to a vector in O(N), never
// formed: the spatial operator algebra of [Rodriguez, Jain & Kreutz-Delgado 1991].
//
//   M   = (I + HφK) D (I + HφK)ᵀ               D: the hinge inertias, one block for each hinge
//   M⁻¹ = (I − HψK)ᵀ D⁻¹ (I − HψK)             (I + HφK)⁻¹ = I − HψK
//
// Each product is one sweep: the untransposed factors run inward (they filter efforts), the
// transposed ones outward (they map velocities).
//
//   (I − HψK) (effort − bias_effort)   the innovations ε of the inward sweep
//   (I + HφK)ᵀ v                       the diagonalizing velocities ν: kinetic energy ½ νᵀ D ν
//
// [Concurrent Dynamics 2017] writes L = (I + HφK)ᵀ, U = L⁻¹, R = D:
//    M = Lᵀ R L,  M⁻¹ = U R⁻¹ Uᵀ,  det M = ∏ det R.
//
// Drives with a rotor on the parent of their hinge are part of all of this: they add to D and
// couple the hinge with its parent, so the gain is the one in the parent's frame
// (kernels/rotor_node.h). A rotor on a distant body is outside the recursion: articulate() throws,
// and only apply_mass_matrix() serves it.
//
// Closed loops are blocks like hinges (aggregate_block.h). The vectors then have one entry for each
// independent freedom, in the order of workspace.independent(), as the mass matrix has rows; the
// dependent freedoms follow by X (workspace.expand()).
//
// Order of calls: articulate(), then any number of the others with the same workspace. They use
// `force` and `acceleration` of the workspace's nodes as their scratch, allocate nothing, and x
// and y may be the same vector. The recursive route of forward_dynamics() leaves the same factors
// behind, hybrid_dynamics() does not.
#pragma once

#include "catena/dynamics/loads.h"

namespace catena {

// Articulated inertias, hinge inertias and gains at position q, into the workspace.
void articulate(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& workspace);

// y = M x. Needs the positions only: any sweep at this q will do before it (with closed loops one
// that embedded them: forward, inverse or hybrid dynamics, or articulate()).
void apply_mass_matrix(Workspace& workspace, const Eigen::VectorXd& x, Eigen::VectorXd& y);
Eigen::VectorXd apply_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                  const Eigen::VectorXd& x);

// y = M⁻¹ x: one sweep inward, one outward.
void apply_inverse_mass_matrix(Workspace& workspace, const Eigen::VectorXd& x, Eigen::VectorXd& y);
Eigen::VectorXd apply_inverse_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                          const Eigen::VectorXd& x);
// Of all columns of X at once: Y = M⁻¹ X in O(N) for each column, many times as fast as one by one.
// The first call allocates.
void apply_inverse_mass_matrix(Workspace& workspace, const Eigen::MatrixXd& x, Eigen::MatrixXd& y);

// The whole inverse, symmetric to the bit; the first call allocates. A column is nonzero inward
// only on the way from its hinge to the ground, so it costs O(depth) inward and O(N) outward; with
// closed loops O(N) both ways.
void inverse_mass_matrix(Workspace& workspace, Eigen::MatrixXd& inverse);
Eigen::MatrixXd inverse_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q);

// ---- The factors. ----

void apply_factor(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y);  // (I + HφK) x
void apply_factor_transposed(Workspace& w, const Eigen::VectorXd& x,
                             Eigen::VectorXd& y);  // (I + HφK)ᵀ x
void apply_inverse_factor(Workspace& w, const Eigen::VectorXd& x,
                          Eigen::VectorXd& y);  // (I − HψK) x
void apply_inverse_factor_transposed(Workspace& w, const Eigen::VectorXd& x,
                                     Eigen::VectorXd& y);  // (I − HψK)ᵀ x
void apply_hinge_inertia(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y);  // D x
void apply_inverse_hinge_inertia(Workspace& w, const Eigen::VectorXd& x,
                                 Eigen::VectorXd& y);  // D⁻¹ x

// ν = (I + HφK)ᵀ v and back.
inline void diagonalizing_velocity(Workspace& w, const Eigen::VectorXd& v, Eigen::VectorXd& nu) {
  apply_factor_transposed(w, v, nu);
}
inline void velocity_from_diagonalizing(Workspace& w, const Eigen::VectorXd& nu,
                                        Eigen::VectorXd& v) {
  apply_inverse_factor_transposed(w, nu, v);
}

// The normalized form D^{1/2} (I + HφK)ᵀ v, so that the kinetic energy is ½ |ν|². D^{1/2} of a
// hinge with several freedoms is Cᵀ of D = C Cᵀ (Cholesky).
void normalized_velocity(Workspace& w, const Eigen::VectorXd& v, Eigen::VectorXd& nu);
void velocity_from_normalized(Workspace& w, const Eigen::VectorXd& nu, Eigen::VectorXd& v);

// ε = (I − HψK) x. For x = effort − bias_effort each freedom's ε alone drives its own diagonalizing
// acceleration: ν̇ = D⁻¹ ε up to terms in v (Rodriguez, innovations). Its norm gives the decrease
// of Gibbs' function: ½ εᵀ D⁻¹ ε.
inline void innovations(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& epsilon) {
  apply_inverse_factor(w, x, epsilon);
}

// det M = ∏ det D; its logarithm does not overflow.
double log_determinant_mass_matrix(const Workspace& workspace);
double determinant_mass_matrix(const Workspace& workspace);

}  // namespace catena
