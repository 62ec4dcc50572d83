// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; tree_constraints.h needs it.
//
// A x = b for a symmetric, positive semidefinite A that may be singular: rank, dependent rows and
// the solution of least norm, by Cholesky's factorization with diagonal pivots.
//
// Rows are scaled to a unit diagonal first, so that what is left of a pivot is the squared sine of
// the angle between a row and those before it. Rows I that are kept and rows D that depend on them,
//
//   A_DI = K A_II,     x_I = A_II⁻¹ b_I, x_D = 0     less its part in the null space (−Kᵀ; 1),
//
// so independent rows cost nothing extra, and redundant ones disturb no digit of the others. b is
// in the range if b_D = K b_I. O(n³ / 3); nothing is allocated after resize().
//
// Rows may be left out by decision: they are dependent, whatever the numbers say. Then A_DI = K
// A_II and the null space hold only as well as that decision does, and the solution with x_D = 0 is
// the exact one of the rows that are kept.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

namespace catena {

class SemidefiniteSolver {
 public:
  void resize(int size);
  // A pivot below `tolerance` (a squared sine) is rounding, as is a diagonal element below
  // tolerance² times the largest, or times its entry of `sizes`, if that is given. Rows that
  // `left_out` marks (by row; empty: none) are dependent.
  void compute(const Eigen::MatrixXd& a, double tolerance, const Eigen::VectorXd& sizes = {},
               std::span<const char> left_out = {});

  int size() const { return static_cast<int>(scale_.size()); }
  int rank() const { return rank_; }
  // In the order of the pivots.
  std::span<const int> independent() const {
    return {order_.data(), static_cast<std::size_t>(rank_)};
  }
  std::span<const int> dependent() const {
    return std::span<const int>(order_).subspan(static_cast<std::size_t>(rank_));
  }
  // Of independent row number k.
  double pivot(int k) const { return factor_(k, k) * factor_(k, k); }
  // The smallest pivot that was kept.
  double smallest_pivot() const { return smallest_pivot_; }

  // x := the solution with x_D = 0, in place.
  void solve(Eigen::VectorXd& x);
  // Takes the part in the null space off: of a solution makes the one of least norm, or of least
  // Σ weight x², if there are weights.
  void take_least_norm(Eigen::VectorXd& x) const;
  void take_least_norm(Eigen::VectorXd& x, const Eigen::VectorXd& weights) const;
  // b_D − K b_I of dependent row number k.
  double mismatch(const Eigen::VectorXd& b, int k) const;
  // The entry of K for dependent row number k and independent row number i.
  double dependence(int k, int i) const {
    return factor_(rank_ + k, i) * scale_[order_[static_cast<std::size_t>(rank_ + k)]] /
           scale_[order_[static_cast<std::size_t>(i)]];
  }
  // What is left of dependent rows without the others, over the longest row (a sine). Rounding,
  // unless rows were left out by decision.
  double leftover() const { return leftover_; }
  // Orthonormal columns, as many as dependent rows.
  Eigen::Ref<const Eigen::MatrixXd> null_space() const { return null_.leftCols(size() - rank_); }

 private:
  void find_null_space();

  int rank_ = 0;
  double smallest_pivot_ = 1.0;
  double leftover_ = 0.0;
  std::vector<int> order_;
  Eigen::VectorXd scale_;   // √A_ii, 1 where that is rounding
  Eigen::MatrixXd factor_;  // L_I, below it K (both of the scaled matrix)
  Eigen::MatrixXd null_;
  Eigen::VectorXd work_;
};

}  // namespace catena
