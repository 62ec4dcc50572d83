// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/damped_step.h"

#include <cmath>

#include "catena/base/dense.h"

namespace catena {

Eigen::VectorXd damped_step(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residual,
                            double damping) {
  const Eigen::Index m = jacobian.rows(), n = jacobian.cols();
  Eigen::MatrixXd stacked = Eigen::MatrixXd::Zero(m + n, n);
  stacked.topRows(m) = jacobian;
  stacked.bottomRows(n).diagonal().setConstant(std::sqrt(damping));
  Eigen::VectorXd right = Eigen::VectorXd::Zero(m + n);
  right.head(m) = -residual;
  return Qr(stacked).solve(right);
}

}  // namespace catena
