// SPDX-License-Identifier: BSD-3-Clause
#include <Eigen/Eigenvalues>

#include "catena/base/dense.h"

namespace catena {

using Eigen::MatrixXd;

SymmetricEigen symmetric_eigen(const MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::Vector3d symmetric_eigenvalues(const Eigen::Matrix3d& a) {
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

GeneralEigen general_eigen(const MatrixXd& a) {
  const Eigen::EigenSolver<MatrixXd> solver(a);
  if (solver.info() != Eigen::Success) return {{}, {}, false};
  return {solver.eigenvalues(), solver.eigenvectors(), true};
}

Eigen::VectorXcd eigenvalues(const MatrixXd& a) {
  return Eigen::EigenSolver<MatrixXd>(a, false).eigenvalues();
}

}  // namespace catena
