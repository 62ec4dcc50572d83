// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/complex_dense.h"

namespace catena::complex_dense {

Matrix product(const Matrix& a, const Matrix& b) { return a * b; }

Matrix adjoint_product(const Matrix& a, const Matrix& b) { return product(a.adjoint(), b); }

Matrix product_adjoint(const Matrix& a, const Matrix& b) { return product(a, b.adjoint()); }

Matrix lower_solve(const Matrix& l, const Matrix& b) {
  return l.triangularView<Eigen::Lower>().solve(b);
}

Matrix hermitian_part(const Matrix& a) { return 0.5 * (a + a.adjoint()); }

}  // namespace catena::complex_dense
