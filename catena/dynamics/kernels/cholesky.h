// SPDX-License-Identifier: BSD-3-Clause
// Cholesky factors of the small matrices of hinges and loops, D = L Lᵀ, in place in the lower
// triangle, and what is solved with them. Cost: n³/6 and n² multiplications.
//
// A matrix is anything of which d[i][j] is an element: an array of arrays, or Rows of plain memory.
#pragma once

#include <cmath>
#include <type_traits>

#include "catena/spatial/scalar.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar>
struct Rows {
  Scalar* first;
  int stride;
  Scalar* operator[](int i) const { return first + i * stride; }
};

inline bool all_positive(double x) { return x > 0.0; }
template <class Scalar>
inline bool all_positive(const Scalar& x) {
  return !any(!(x > Scalar(0.0)));
}

// A pivot below this fraction of its original diagonal element is rounding: every digit is lost
// (gimbal lock).
inline constexpr double kLostPivot = 1e-14;

// False if a pivot is not positive, or lost.
template <class Matrix>
inline bool factor(Matrix&& d, int size) {
  using std::sqrt;
  using Scalar = std::remove_cvref_t<decltype(d[0][0])>;
  for (int j = 0; j < size; ++j) {
    const Scalar lost = Scalar(kLostPivot) * d[j][j];
    for (int k = 0; k < j; ++k) d[j][j] = d[j][j] - d[j][k] * d[j][k];
    if (!all_positive(d[j][j] - lost)) return false;
    d[j][j] = sqrt(d[j][j]);
    const Scalar inverse = Scalar(1.0) / d[j][j];
    for (int i = j + 1; i < size; ++i) {
      for (int k = 0; k < j; ++k) d[i][j] = d[i][j] - d[i][k] * d[j][k];
      d[i][j] = d[i][j] * inverse;
    }
  }
  return true;
}

// x := L⁻¹ x and x := L⁻ᵀ x; x of scalars or, the first, of wrenches.
template <class Matrix, class T>
inline void solve_lower(const Matrix& l, int size, T* x) {
  using Scalar = std::remove_cvref_t<decltype(l[0][0])>;
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < i; ++k) x[i] = x[i] - l[i][k] * x[k];
    x[i] = (Scalar(1.0) / l[i][i]) * x[i];
  }
}
template <class Matrix, class Scalar>
inline void solve_upper(const Matrix& l, int size, Scalar* x) {
  for (int i = size; i-- > 0;) {
    for (int k = i + 1; k < size; ++k) x[i] = x[i] - l[k][i] * x[k];
    x[i] = x[i] / l[i][i];
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
