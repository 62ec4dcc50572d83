// SPDX-License-Identifier: BSD-3-Clause
// The solution of J M⁻¹ Zᵀ λ = x: factorization, rank, and how redundant rows share their load.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/multipliers/tree_constraints.h"

namespace catena {

void TreeConstraints::factor(Workspace& w) {
  form(w);
  for (int i = 0; i < count(); ++i)
    if (at(i).active) sizes(i, w, {size_.data() + at(i).first_row, index(at(i).rows)});
  const double rounding =
      std::numeric_limits<double>::epsilon() * kPivotRoundings * (longest_ + rows_);
  if (ideal_) {
    solver_.compute(matrix_, rounding, size_, left_out_);
    return;
  }
  // Rows and forces at length one, as the inertia measures it.
  const auto lengths = [&](Constraint& c, const Columns& columns, Eigen::VectorXd& scale) {
    for (int r = 0; r < c.rows; ++r) {
      double sum = 0.0;
      for (std::size_t s = 0; s < columns.freedom.size(); ++s) {
        const double x = columns.found[s * index(columns.lanes) + index(r)];
        sum += x * x;
      }
      const double size = size_[c.first_row + r];
      if (sum <= rounding * rounding * size) sum = size;  // a row that says nothing
      scale[c.first_row + r] = sum > 0.0 ? 1.0 / std::sqrt(sum) : 1.0;
    }
  };
  for (Constraint& c : all_) {
    if (!c.active) continue;
    lengths(c, c.columns, row_scale_);
    lengths(c, pushing(c), push_scale_);
  }
  scaled_ = matrix_;
  for (int j = 0; j < rows_; ++j)
    for (int i = 0; i < rows_; ++i)
      scaled_(i, j) *= left_out(i) || left_out(j) ? 0.0 : row_scale_[i] * push_scale_[j];
  general_.compute(scaled_);
  find_shares();
}

// Redundant rows that push elsewhere than they measure, as contacts that slide: how they share
// their load changes the motion, and the shortest λ would depend on directions of slip. λ within
// D⁻¹ times the range of A = J M⁻¹ Zᵀ is the limit of (A + ε D) λ = x, a small compliance of every
// row (D: its weight). With Q an orthonormal basis of the range of the scaled matrix R A P,
// λ = D⁻¹ R⁻¹ Q z and (Qᵀ R A D⁻¹ R⁻¹ Q) z = Qᵀ R x. (In an ideal set this is the least norm.)
void TreeConstraints::find_shares() {
  shares_ = false;
  const int rank = general_.rank();
  const auto out = static_cast<int>(std::count(left_out_.begin(), left_out_.end(), 1));
  if (rank == 0 || rank == rows_ - out) return;
  range_ = PivotedQr(scaled_).q_columns(rank);
  const Eigen::VectorXd unscale =
      (row_scale_.array() * push_scale_.array() * weight_.array()).inverse();
  const Eigen::MatrixXd moved = unscale.asDiagonal() * range_;
  within_range_.compute(range_.transpose() * (scaled_ * moved));
  shares_ = within_range_.rank() == rank;
}

double TreeConstraints::reciprocal_condition() const {
  if (rows_ == 0) return 1.0;
  if (ideal_) return std::sqrt(solver_.smallest_pivot());
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  const auto out = std::count(left_out_.begin(), left_out_.end(), 1);  // their pivots are last
  for (int i = 0; i < rows_ - static_cast<int>(out); ++i) {
    const double x = general_.pivot(i);
    least = std::min(least, x);
    most = std::max(most, x);
  }
  return most > 0.0 ? least / most : 0.0;
}

void TreeConstraints::solve(Eigen::VectorXd& x) {
  if (ideal_) {
    solver_.solve(x);
    return;
  }
  work_ = row_scale_.cwiseProduct(x);
  if (shares_) {
    const Eigen::VectorXd part = range_.transpose() * work_;
    x = range_ * within_range_.solve(part);
    x.array() /= row_scale_.array() * weight_.array();
    return;
  }
  x = general_.solve(work_);
  x.array() *= push_scale_.array();
}

void TreeConstraints::take_least_norm(Eigen::VectorXd& x) const {
  if (!ideal_) return;
  if (weighted_)
    solver_.take_least_norm(x, weight_);
  else
    solver_.take_least_norm(x);
}

}  // namespace catena
