// SPDX-License-Identifier: BSD-3-Clause
// Structures: second-order systems with sparse matrices, and their modes.
//
//   SecondOrder    M q̈ + D q̇ + K q = B u,   y = Cq q + Cv q̇ + feedthrough u
//   Modal          η̈_i + 2 ζ_i ω_i η̇_i + ω_i² η_i = b_i u,   y = Cq η + Cv η̇ + D u
//
//   SecondOrder boom{.M = mass, .D = damping, .K = stiffness, .B = forces, .Cq = sensors};
//   const StateSpace g = state_space(boom);
//   const Modal low = modal(boom, 20);           // the 20 lowest modes
//
// M is symmetric positive definite, K symmetric and positive semidefinite for modes; state_space()
// takes any K and D.
#pragma once

#include <string>
#include <vector>

#include <Eigen/SparseCore>

#include "catena/linear/state_space.h"

namespace catena {

struct SecondOrder {
  Eigen::SparseMatrix<double> M{}, D{}, K{};  // D empty: undamped
  Eigen::MatrixXd B{};                        // freedoms × inputs
  Eigen::MatrixXd Cq{}, Cv{};                 // outputs × freedoms; one may be empty
  Eigen::MatrixXd feedthrough{};              // outputs × inputs; empty: zero
  std::vector<std::string> freedoms{}, inputs{}, outputs{};  // names; empty: defaults

  int freedom_count() const { return static_cast<int>(M.rows()); }
  int input_count() const { return static_cast<int>(B.cols()); }
  int output_count() const { return static_cast<int>(std::max(Cq.rows(), Cv.rows())); }
  // Throws Error naming the matrix that does not fit.
  void validate() const;
};

// Dense, states (q, q̇). Up to a few thousand freedoms; `descriptor` keeps M as E instead of
// dividing by it.
StateSpace state_space(const SecondOrder& structure, bool descriptor = false);

struct Modal {
  Eigen::VectorXd frequency{};  // rad/s, ascending; 0 for a rigid-body mode
  Eigen::VectorXd damping{};    // ζ; of a rigid-body mode without meaning
  Eigen::MatrixXd B{};          // modes × inputs
  Eigen::MatrixXd Cq{}, Cv{};   // outputs × modes
  Eigen::MatrixXd D{};          // outputs × inputs
  Eigen::MatrixXd shapes{};     // freedoms × modes, Φᵀ M Φ = 1; empty: not known
  std::vector<std::string> inputs{}, outputs{};
  // The largest off-diagonal entry of Φᵀ D Φ by the diagonal ones: how far from modal the damping
  // is.
  double damping_coupling = 0.0;

  int mode_count() const { return static_cast<int>(frequency.size()); }
  void validate() const;
};

// States (η_i, η̇_i) one mode after the other.
StateSpace state_space(const Modal& modes);

// The lowest modes (0: all) of the undamped structure, dense: O(freedoms³). Damping ratios are the
// diagonal of Φᵀ D Φ; what that neglects is in damping_coupling.
Modal modal(const SecondOrder& structure, int count = 0);
// The same of modes that are known (sparse/sparse_modes.h finds those of large structures).
Modal modal(const SecondOrder& structure, const Eigen::VectorXd& frequency,
            const Eigen::MatrixXd& shapes);
// With the same damping ratio for every mode instead of D.
Modal modal(const SecondOrder& structure, int count, double damping);

// x = T z that makes A block diagonal: blocks of size one, or [re im; −im re] for pairs, by
// modulus. Throws NumericalError if the eigenvectors have a condition above `condition_limit`.
struct ModalForm {
  StateSpace system;
  Eigen::MatrixXd T;
  double condition = 1.0;
};
ModalForm modal_form(const StateSpace& system, double condition_limit = 1e8);

}  // namespace catena
