// SPDX-License-Identifier: BSD-3-Clause
#include <Eigen/SVD>

#include "catena/base/dense.h"

namespace catena {

using Eigen::MatrixXd;

namespace {

Svd parts_of(const Eigen::JacobiSVD<MatrixXd>& svd) {
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

}  // namespace

Eigen::VectorXd singular_values(const MatrixXd& a) {
  return Eigen::JacobiSVD<MatrixXd>(a).singularValues();
}
Svd full_svd(const MatrixXd& a) {
  return parts_of(Eigen::JacobiSVD<MatrixXd>(a, Eigen::ComputeFullU | Eigen::ComputeFullV));
}
Svd thin_svd(const MatrixXd& a) {
  return parts_of(Eigen::JacobiSVD<MatrixXd>(a, Eigen::ComputeThinU | Eigen::ComputeThinV));
}

}  // namespace catena
