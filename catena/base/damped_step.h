// SPDX-License-Identifier: BSD-3-Clause
// The Levenberg-Marquardt step of nonlinear least squares ([Nocedal & Wright 2006], section 10.3),
// shared by all solvers.
#pragma once

#include <Eigen/Core>

namespace catena {

// The s that makes |jacobian s + residual|² + damping |s|² least, damping > 0. By QR of the stacked
// matrix: the normal equations would lose half of the digits. O(m n²).
Eigen::VectorXd damped_step(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residual,
                            double damping);

}  // namespace catena
