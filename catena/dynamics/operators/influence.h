// SPDX-License-Identifier: BSD-3-Clause
// Body sets and influence operators of a tree: which node is on the way to which, and what a sweep
// is as a matrix. [Concurrent Dynamics 2017: EOM with Newton-Euler equations; Rodriguez, Jain &
// Kreutz-Delgado 1991]
//
// With one block A_i for each node (A of a node on the ground does not matter),
//
//   [Φ_A]_ij = A_i if j is the parent of i, else 0,      Ψ_A = (1 − Φ_A)⁻¹ = 1 + Φ_A + Φ_A² + ...
//
// z = Ψ_A x is the outward sweep z_i = A_i z_parent + x_i, z = Ψ_Aᵀ x the inward one; Φ_A to the
// power nilpotency() is zero. The dense matrices are for study and tests of small mechanisms.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "catena/dynamics/workspace.h"

namespace catena {

// ---- Body sets. Trees are given by the parents of their nodes, parent first, −1: the ground. ----

std::vector<int> node_parents(const Mechanism& mechanism);
std::vector<int> path_to_ground(std::span<const int> parents, int node);  // node first
std::vector<int> branch(std::span<const int> parents, int node);  // node and all beyond it, sorted
std::vector<int> children(std::span<const int> parents, int node);  // of −1: the roots
int common_ancestor(std::span<const int> parents, int a, int b);    // −1: none
// Nodes on the longest way from the ground: the least m with Φ_Aᵐ = 0 for every A.
int nilpotency(std::span<const int> parents);

// ---- The operators. ----

class InfluenceOperator {
 public:
  // Blocks may be of any size as long as A_i maps the vector of the parent of i to that of i.
  InfluenceOperator(std::vector<int> parents, std::vector<Eigen::MatrixXd> blocks);

  Eigen::VectorXd apply(const Eigen::VectorXd& x) const;             // Ψ_A x, O(N)
  Eigen::VectorXd apply_transposed(const Eigen::VectorXd& x) const;  // Ψ_Aᵀ x, O(N)
  Eigen::MatrixXd dense_step() const;                                // Φ_A
  Eigen::MatrixXd dense() const;                                     // Ψ_A

 private:
  std::vector<int> parents_;
  std::vector<Eigen::MatrixXd> blocks_;
  std::vector<Eigen::Index> offset_;  // of a node's part in the vector; one more: the size
};

// Every operator of the factored mass matrix as a matrix, for N nodes and n freedoms, in the
// frames of the nodes. After articulate().
//
//   M = Gᵀ Ψ_Dᵀ I Ψ_D G = Lᵀ R L,   L = 1 + Kᵀ Ψ_D G,   U = L⁻¹ = 1 − Kᵀ Ψ_β G,
//   Φ_β = Φ_D − G Kᵀ,   M⁻¹ = U R⁻¹ Uᵀ
//
// K is the gain in the parent's frame: its block (parent of i, i) is Φ_Dᵀ times K of the
// reference, plus the coupling of a rotor. Rotors are in K, R and `articulated`, not in `inertia`.
//
// With closed loops n is the number of independent freedoms: G is H X, the block of K stands in the
// rows of the loop's base, and `articulated` of a member is its own inertia and what hangs on it
// outside the loop (own_gain is not defined there and zero).
struct DenseOperators {
  Eigen::MatrixXd shift;             // Φ_D, 6N x 6N: twists, parent to child
  Eigen::MatrixXd shift_sum;         // Ψ_D
  Eigen::MatrixXd articulated_step;  // Φ_β
  Eigen::MatrixXd articulated_sum;   // Ψ_β
  Eigen::MatrixXd hinge_map;         // G, 6N x n
  Eigen::MatrixXd gain;              // K, 6N x n
  Eigen::MatrixXd own_gain;       // 6N x n: P H D⁻¹ in the node's own frame (K of the reference)
  Eigen::MatrixXd inertia;        // I, 6N x 6N
  Eigen::MatrixXd articulated;    // P
  Eigen::MatrixXd hinge_inertia;  // R, n x n
  Eigen::MatrixXd factor;         // L, n x n
  Eigen::MatrixXd inverse_factor;  // U
};
DenseOperators dense_operators(const Workspace& workspace);

}  // namespace catena
