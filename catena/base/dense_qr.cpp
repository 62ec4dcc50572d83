// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/dense.h"

namespace catena {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Qr::Qr(const MatrixXd& a) : qr_(a) {}
VectorXd Qr::solve_vector(const VectorXd& b) const { return qr_.solve(b); }
MatrixXd Qr::solve_matrix(const MatrixXd& b) const { return qr_.solve(b); }
MatrixXd Qr::q_columns(Index count) const {
  return qr_.householderQ() * MatrixXd::Identity(qr_.rows(), count);
}

PivotedQr::PivotedQr(const MatrixXd& a) : qr_(a) {}
VectorXd PivotedQr::solve_vector(const VectorXd& b) const { return qr_.solve(b); }
MatrixXd PivotedQr::solve_matrix(const MatrixXd& b) const { return qr_.solve(b); }
int PivotedQr::rank() const { return static_cast<int>(qr_.rank()); }
int PivotedQr::rank(double threshold) const {
  const double least = std::abs(qr_.maxPivot()) * threshold;
  int count = 0;
  for (Index i = 0; i < qr_.nonzeroPivots(); ++i)
    count += std::abs(qr_.matrixQR()(i, i)) > least ? 1 : 0;
  return count;
}
VectorXd PivotedQr::pivots() const { return qr_.matrixQR().diagonal().cwiseAbs(); }
MatrixXd PivotedQr::q() const { return qr_.householderQ(); }
MatrixXd PivotedQr::q_columns(Index count) const {
  return qr_.householderQ() * MatrixXd::Identity(qr_.rows(), count);
}
MatrixXd PivotedQr::q_times(const MatrixXd& x) const { return qr_.householderQ() * x; }

CompleteOrthogonal::CompleteOrthogonal(std::optional<double> threshold) {
  if (threshold) cod_.setThreshold(*threshold);
}
CompleteOrthogonal::CompleteOrthogonal(const MatrixXd& a, std::optional<double> threshold)
    : CompleteOrthogonal(threshold) {
  compute(a);
}
void CompleteOrthogonal::compute(const MatrixXd& a) { cod_.compute(a); }
VectorXd CompleteOrthogonal::solve_vector(const VectorXd& b) const { return cod_.solve(b); }
MatrixXd CompleteOrthogonal::solve_matrix(const MatrixXd& b) const { return cod_.solve(b); }
int CompleteOrthogonal::rank() const { return static_cast<int>(cod_.rank()); }

}  // namespace catena
