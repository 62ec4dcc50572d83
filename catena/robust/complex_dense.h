// SPDX-License-Identifier: BSD-3-Clause
// Products and triangular solves of complex matrices, compiled once (complex_dense.cpp).
#pragma once

#include <complex>

#include <Eigen/Core>

namespace catena::complex_dense {

using Matrix = Eigen::MatrixXcd;

Matrix product(const Matrix& a, const Matrix& b);
Matrix adjoint_product(const Matrix& a, const Matrix& b);  // aᴴ b
Matrix product_adjoint(const Matrix& a, const Matrix& b);  // a bᴴ
Matrix lower_solve(const Matrix& l, const Matrix& b);      // l⁻¹ b, l lower triangular
Matrix hermitian_part(const Matrix& a);                    // (a + aᴴ)/2

}  // namespace catena::complex_dense
