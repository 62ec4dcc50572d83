// SPDX-License-Identifier: BSD-3-Clause
// What the sources around lapack.h share: LAPACKE with std::complex, sizes, and checks of input and
// of LAPACK's return code.
#pragma once

#include <cmath>
#include <complex>
#include <string>

#include <Eigen/Core>

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "catena/base/error.h"

namespace catena::lapack {

inline lapack_int size(Eigen::Index n) { return static_cast<lapack_int>(n); }

// A leading dimension is at least 1, of an empty matrix too.
template <class Matrix>
lapack_int leading(const Matrix& a) {
  return size(std::max<Eigen::Index>(1, a.rows()));
}

template <class Matrix>
void require_finite(const Matrix& a, const char* routine) {
  if (a.allFinite()) return;
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      if (!std::isfinite(std::abs(a(i, j))))
        throw NumericalError(std::string(routine) + ": entry (" + std::to_string(i + 1) + ", " +
                             std::to_string(j + 1) + ") of a " + std::to_string(a.rows()) + " x " +
                             std::to_string(a.cols()) + " matrix is not a finite number");
}

template <class Matrix>
void require_square(const Matrix& a, const char* routine) {
  if (a.rows() != a.cols())
    throw NumericalError(std::string(routine) + ": the matrix is " + std::to_string(a.rows()) +
                         " x " + std::to_string(a.cols()) + ", not square");
}

template <class Matrix>
void require_square_and_finite(const Matrix& a, const char* routine) {
  require_square(a, routine);
  require_finite(a, routine);
}

// info < 0 is a mistake of ours, info > 0 a failure of the iteration.
inline void require_success(lapack_int info, const char* routine) {
  if (info == 0) return;
  throw NumericalError(
      std::string("LAPACK's ") + routine + " failed (info = " + std::to_string(info) +
      (info < 0 ? "): an argument is wrong" : "): the iteration did not converge"));
}

}  // namespace catena::lapack
