// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/multipliers/semidefinite.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/base/dense.h"
#include "catena/base/index.h"

namespace catena {

void SemidefiniteSolver::resize(int size) {
  order_.resize(to_size(size));
  scale_.resize(size);
  factor_.resize(size, size);
  null_.resize(size, size);
  work_.resize(size);
  rank_ = 0;
}

void SemidefiniteSolver::compute(const Eigen::MatrixXd& a, double tolerance,
                                 const Eigen::VectorXd& sizes, std::span<const char> left_out) {
  const int n = size();
  std::iota(order_.begin(), order_.end(), 0);
  // A row is the length of a vector whose entries are sums: what is left after cancellation, this
  // far below the longest row, is rounding.
  const double largest = n == 0 ? 0.0 : a.diagonal().maxCoeff();
  for (int i = 0; i < n; ++i) {
    const double size = sizes.size() == 0 ? largest : std::max(largest, sizes[i]);
    scale_[i] = a(i, i) > tolerance * tolerance * size ? std::sqrt(a(i, i)) : 0.0;
  }
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      const double scale = scale_[i] * scale_[j];
      factor_(i, j) = scale > 0.0 ? a(i, j) / scale : 0.0;
    }
  for (int i = 0; i < n; ++i)
    if (scale_[i] == 0.0) scale_[i] = 1.0;
  smallest_pivot_ = 1.0;
  int k = 0;
  for (; k < n; ++k) {
    int best = -1;
    for (int i = k; i < n; ++i) {
      if (!left_out.empty() && left_out[index(order_[index(i)])]) continue;
      if (best < 0 || factor_(i, i) > factor_(best, best)) best = i;
    }
    const double pivot = best < 0 ? 0.0 : factor_(best, best);
    if (!(pivot > tolerance)) break;
    smallest_pivot_ = std::min(smallest_pivot_, pivot);
    if (best != k) {  // symmetric exchange in the lower triangle
      std::swap(order_[index(k)], order_[index(best)]);
      for (int j = 0; j < k; ++j) std::swap(factor_(k, j), factor_(best, j));
      for (int j = k + 1; j < best; ++j) std::swap(factor_(j, k), factor_(best, j));
      for (int i = best + 1; i < n; ++i) std::swap(factor_(i, k), factor_(i, best));
      std::swap(factor_(k, k), factor_(best, best));
    }
    const double root = std::sqrt(pivot);
    factor_(k, k) = root;
    const int rest = n - k - 1;
    if (rest == 0) continue;
    auto column = factor_.col(k).tail(rest);
    column /= root;
    for (int j = k + 1; j < n; ++j)
      factor_.col(j).tail(n - j).noalias() -= factor_(j, k) * factor_.col(k).tail(n - j);
  }
  rank_ = k;
  leftover_ = 0.0;
  for (int i = k; i < n; ++i) {
    const double scale = scale_[order_[index(i)]];
    leftover_ = std::max(leftover_, factor_(i, i) * scale * scale);
  }
  if (largest > 0.0) leftover_ = std::sqrt(leftover_ / largest);
  if (rank_ < n) find_null_space();
}

// K = L_D L_I⁻¹ in place of L_D; then (−Kᵀ; 1) in the rows' own scale, made orthonormal.
void SemidefiniteSolver::find_null_space() {
  const int n = size(), r = rank_, free = n - r;
  for (int d = r; d < n; ++d)
    for (int j = r; j-- > 0;) {
      double sum = factor_(d, j);
      for (int i = j + 1; i < r; ++i) sum -= factor_(d, i) * factor_(i, j);
      factor_(d, j) = sum / factor_(j, j);
    }
  null_.leftCols(free).setZero();
  for (int k = 0; k < free; ++k) {
    auto column = null_.col(k);
    const int own = order_[index(r + k)];
    column[own] = 1.0 / scale_[own];
    for (int i = 0; i < r; ++i) {
      const int row = order_[index(i)];
      column[row] = -factor_(r + k, i) / scale_[row];
    }
    for (int pass = 0; pass < 2; ++pass)  // Gram-Schmidt, twice so that it holds to rounding
      for (int j = 0; j < k; ++j) {
        const double part = null_.col(j).dot(column);
        column -= part * null_.col(j);
      }
    column /= column.norm();
  }
}

void SemidefiniteSolver::solve(Eigen::VectorXd& x) {
  const int r = rank_;
  for (int i = 0; i < r; ++i) {
    const int row = order_[index(i)];
    double sum = x[row] / scale_[row];
    for (int j = 0; j < i; ++j) sum -= factor_(i, j) * work_[j];
    work_[i] = sum / factor_(i, i);
  }
  for (int i = r; i-- > 0;) {
    double sum = work_[i];
    for (int j = i + 1; j < r; ++j) sum -= factor_(j, i) * work_[j];
    work_[i] = sum / factor_(i, i);
  }
  x.setZero();
  for (int i = 0; i < r; ++i) {
    const int row = order_[index(i)];
    x[row] = work_[i] / scale_[row];
  }
}

void SemidefiniteSolver::take_least_norm(Eigen::VectorXd& x) const {
  for (int k = 0; k < size() - rank_; ++k) {
    const double part = null_.col(k).dot(x);
    x -= part * null_.col(k);
  }
}

void SemidefiniteSolver::take_least_norm(Eigen::VectorXd& x, const Eigen::VectorXd& weights) const {
  const int free = size() - rank_;
  if (free == 0) return;
  const Eigen::MatrixXd weighted = weights.asDiagonal() * null_.leftCols(free);
  const Eigen::VectorXd part = weighted.transpose() * x;
  x -= null_.leftCols(free) * Cholesky(null_.leftCols(free).transpose() * weighted).solve(part);
}

double SemidefiniteSolver::mismatch(const Eigen::VectorXd& b, int k) const {
  double sum = b[order_[index(rank_ + k)]];
  for (int i = 0; i < rank_; ++i) sum -= dependence(k, i) * b[order_[index(i)]];
  return sum;
}

}  // namespace catena
