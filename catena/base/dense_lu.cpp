// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/dense.h"

namespace catena {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void Lu::compute(const MatrixXd& a) { lu_.compute(a); }
VectorXd Lu::solve_vector(const VectorXd& b) const { return lu_.solve(b); }
MatrixXd Lu::solve_matrix(const MatrixXd& b) const {
  if (b.size() == 0) return b;  // Eigen would read the first entry
  return lu_.solve(b);
}
double Lu::determinant() const { return lu_.determinant(); }
MatrixXd Lu::inverse() const { return lu_.inverse(); }
int Lu::sign_of_exchanges() const { return static_cast<int>(lu_.permutationP().determinant()); }

double determinant(const MatrixXd& a) { return a.determinant(); }
MatrixXd inverse(const MatrixXd& a) { return a.inverse(); }

FullLu::FullLu(const MatrixXd& a, std::optional<double> threshold) : lu_(a) {
  if (threshold) lu_.setThreshold(*threshold);
}
VectorXd FullLu::solve_vector(const VectorXd& b) const { return lu_.solve(b); }
MatrixXd FullLu::solve_matrix(const MatrixXd& b) const { return lu_.solve(b); }
int FullLu::rank() const { return static_cast<int>(lu_.rank()); }
bool FullLu::invertible() const { return lu_.isInvertible(); }
MatrixXd FullLu::kernel() const { return lu_.kernel(); }

}  // namespace catena
