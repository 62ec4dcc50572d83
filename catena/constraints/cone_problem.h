// SPDX-License-Identifier: BSD-3-Clause
// Impulses with inequalities, all of one step or impact in one dense problem:
//
//   u = W p + b,   W = J M⁻¹ Jᵀ,   and for every block of rows one law:
//
//   equal     u + compliance p = 0                  loops, motions; with a compliance: dampers
//   bounded   least ≤ p ≤ most,  u ≥ 0 where p = least, u ≤ 0 where p = most, else u = 0
//             (a stop: 0 ≤ p; dry friction: |p| ≤ its level times the step)
//   cone      rows (n, t, t): 0 ≤ u_n ⊥ p_n ≥ 0, |p_t| ≤ μ p_n, p_t = −μ p_n u_t/|u_t| if u_t ≠ 0
//
// Islands are solved one by one (cone_islands.h). Equalities are eliminated first, with the rank
// (SemidefiniteSolver). The rest is solved by Newton's method on the projections onto the cones
// (Alart and Curnier's function) from the given impulses. Where it fails, a large compliance is
// added to all rows, and the solution is followed while the compliance falls to zero. Where that
// fails too, sweeps of block Gauss-Seidel, which solve every contact exactly, alternate with
// Newton's method. Contacts get a small compliance on the diagonal, kRegularized times the largest
// entry of W, so that redundant contacts share their load as if all were equally compliant.
//
// There is always an answer: the best impulses that were found, with what is left of the laws.
// O(n³) in the number of rows of an island that stick or slide. References: [Alart & Curnier 1991],
// [Jourdan, Alart & Jean 1998].
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct ConeProblem {
  enum class Law : std::uint8_t { equal, bounded, cone };
  struct Block {
    Law law = Law::equal;
    int row = 0;              // the first; a cone has three
    double compliance = 0.0;  // of equal
    double least = 0.0;       // of bounded
    double most = std::numeric_limits<double>::infinity();
    double friction = 0.0;  // of cone
  };
  std::vector<Block> blocks;  // every row is in one
  Eigen::MatrixXd w;
  Eigen::VectorXd b;
  bool symmetric = true;  // W is; false: servos push elsewhere than they measure
};

struct ConeSolution {
  Eigen::VectorXd impulse;  // p
  Eigen::VectorXd motion;   // u
  // What is left of the laws: the largest |p − projection of p − u/W| over the load, which is the
  // sum of the impulses that push, or what stopping the motion would take, whichever is larger.
  double residual = 0.0;
  int worst = -1;  // block with that residual
  int sweeps = 0;  // of Gauss-Seidel
  int steps = 0;   // of Newton's method
};

// Below this the laws hold.
inline constexpr double kConeSolved = 1e-10;
inline constexpr double kRegularized = 1e-10;

// `guess`: impulses to start from, as many as rows; empty: zero.
ConeSolution solve(const ConeProblem& problem, const Eigen::VectorXd& guess = {});

}  // namespace catena
