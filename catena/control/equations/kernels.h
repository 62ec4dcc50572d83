// SPDX-License-Identifier: BSD-3-Clause
// Kernels of this room on the LAPACK wrappers of catena/linear: short names for products of large
// matrices, triangular matrix equations by recursive halves, complex Schur forms. Not installed.
#pragma once

#include <complex>

#include <Eigen/Core>

#include "catena/linear/lapack/lapack.h"

namespace catena {

using Complex = std::complex<double>;

// a b, aᵀ b, a bᵀ by BLAS; Eigen's own products below some forty rows, where a call costs more.
Eigen::MatrixXd times(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::MatrixXd times_tn(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::MatrixXd times_nt(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

inline Eigen::MatrixXd symmetrized(const Eigen::MatrixXd& a) { return 0.5 * (a + a.transpose()); }

// Eigenvalues of any expression.
inline Eigen::VectorXcd spectrum(const Eigen::MatrixXd& a) { return lapack::eigenvalues(a); }

// A = U T Uᴴ with triangular T, from the real Schur form by one rotation for each 2×2 block: O(n²).
struct ComplexSchur {
  Eigen::MatrixXcd U, T;
};
ComplexSchur complex_schur(const lapack::Schur& real);

// f := x of t1 x + x t2ᵀ = f (transposed: t1ᵀ x + x t2 = f) for quasi-triangular t1, t2. Recursive
// halves down to LAPACK's dtrsyl, so that n³ of the work is products. False if eigenvalues of t1
// and −t2 are common to rounding.
bool solve_triangular_sylvester(const Eigen::MatrixXd& t1, const Eigen::MatrixXd& t2,
                                Eigen::MatrixXd& f, bool transposed = false);

// Blocks side by side and on top of each other.
Eigen::MatrixXd hstack(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::MatrixXd vstack(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::MatrixXd block_diagonal(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

// The square root of a symmetric positive semidefinite matrix (negative eigenvalues of rounding
// count as zero), and its inverse on the range.
Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& a);
Eigen::MatrixXd symmetric_inverse_root(const Eigen::MatrixXd& a);

}  // namespace catena
