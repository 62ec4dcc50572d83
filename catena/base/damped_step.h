// SPDX-License-Identifier: BSD-3-Clause
// The step of Levenberg and Marquardt's method ([Nocedal & Wright 2006], section 10.3), for solvers
// of nonlinear least squares: the one home of its linear algebra.
#pragma once

#include <Eigen/Core>

namespace catena {

// The s that makes |jacobian s + residual|² + damping |s|² least, damping > 0. By QR of the stacked
// matrix: the normal equations would lose half of the digits. O(m n²).
Eigen::VectorXd damped_step(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residual,
                            double damping);

}  // namespace catena
