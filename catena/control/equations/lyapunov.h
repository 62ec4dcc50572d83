// SPDX-License-Identifier: BSD-3-Clause
// Linear matrix equations of control: Lyapunov, Stein and Sylvester equations, and Gramians as
// factors.
//
//   lyap        A X + X Aᵀ + Q = 0            dlyap      A X Aᵀ − X + Q = 0
//   sylvester   A X + X B + C = 0             dsylvester A X B − X + C = 0
//
//   const MatrixXd P = lyap(A, B * B.transpose());
//   const MatrixXd S = lyap_factor(A, B);                    // P = S Sᵀ, never formed
//
// By real Schur forms [Bartels & Stewart 1972], the triangular equations by recursive halves so
// that products of matrices do the work: about 35 n³ for n×n, most of it the Schur form. The
// factored form [Hammarling 1982] keeps small Hankel values that squaring loses. All throw
// NumericalError when two eigenvalues make the equation singular, and name them.
#pragma once

#include <Eigen/Core>

namespace catena {

// The X of A X + X Aᵀ + Q = 0; symmetric if Q is.
Eigen::MatrixXd lyap(const Eigen::MatrixXd& A, const Eigen::MatrixXd& Q);
// The X of A X Aᵀ − X + Q = 0.
Eigen::MatrixXd dlyap(const Eigen::MatrixXd& A, const Eigen::MatrixXd& Q);
// The X of A X + X B + C = 0.
Eigen::MatrixXd sylvester(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                          const Eigen::MatrixXd& C);
// The X of A X B − X + C = 0.
Eigen::MatrixXd dsylvester(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                           const Eigen::MatrixXd& C);

// S, n×n, of the solution X = S Sᵀ of A X + X Aᵀ + B Bᵀ = 0. A must be stable.
Eigen::MatrixXd lyap_factor(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
// The same of A X Aᵀ − X + B Bᵀ = 0, all eigenvalues of A within the unit circle.
Eigen::MatrixXd dlyap_factor(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

}  // namespace catena
