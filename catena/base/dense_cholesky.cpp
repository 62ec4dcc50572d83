// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/dense.h"

namespace catena {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void Cholesky::compute(const MatrixXd& a) { llt_.compute(a); }
VectorXd Cholesky::solve_vector(const VectorXd& b) const { return llt_.solve(b); }
MatrixXd Cholesky::solve_matrix(const MatrixXd& b) const { return llt_.solve(b); }
// Eigen forms a reference to the first entry, which an empty right side does not have.
void Cholesky::solve_in_place(VectorXd& x) const {
  if (x.size() != 0) llt_.solveInPlace(x);
}
void Cholesky::solve_in_place(MatrixXd& x) const {
  if (x.size() != 0) llt_.solveInPlace(x);
}

bool cholesky_in_place(MatrixXd& a) {
  return Eigen::LLT<Eigen::Ref<MatrixXd>>(a).info() == Eigen::Success;
}

void solve_by_cholesky(const MatrixXd& l, VectorXd& x) {
  l.triangularView<Eigen::Lower>().solveInPlace(x);
  l.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
}

SmallCholesky::SmallCholesky(const SmallSquare& a) : llt_(a) {}
void SmallCholesky::solve_in_place(SmallVector& x) const { llt_.solveInPlace(x); }
void SmallCholesky::solve_in_place(SmallSquare& x) const { llt_.solveInPlace(x); }

PivotedCholesky::PivotedCholesky(const MatrixXd& a) : ldlt_(a) {}
VectorXd PivotedCholesky::solve_vector(const VectorXd& b) const { return ldlt_.solve(b); }
MatrixXd PivotedCholesky::solve_matrix(const MatrixXd& b) const { return ldlt_.solve(b); }

}  // namespace catena
