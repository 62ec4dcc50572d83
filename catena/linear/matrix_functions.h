// SPDX-License-Identifier: BSD-3-Clause
// Exponential and logarithm of matrices.
#pragma once

#include <Eigen/Core>

namespace catena {

// e^A by scaling and squaring with the Padé approximant of order 13 [Higham 2005]; about 20 n³.
Eigen::MatrixXd expm(const Eigen::MatrixXd& a);

// The real principal logarithm, by inverse scaling and squaring of the complex Schur form and
// Gauss-Legendre quadrature of ∫ (A − 1)(t(A − 1) + 1)⁻¹ dt [Higham 2008, ch. 11]. Throws
// NumericalError if A has an eigenvalue that is zero or negative, and names it.
Eigen::MatrixXd logm(const Eigen::MatrixXd& a);

// ∫₀ʰ e^{As} ds.
Eigen::MatrixXd integral_of_expm(const Eigen::MatrixXd& a, double h);

}  // namespace catena
