// SPDX-License-Identifier: BSD-3-Clause
// Quad: four neighbouring numbers of an array at once (GCC and Clang vectors: one register with
// AVX2, two with SSE2). For one state; a pack (pack.h) holds many.
#pragma once

#include "catena/spatial/scalar.h"

namespace catena {

inline constexpr int kQuad = 4;

inline namespace CATENA_ISA {

typedef double Quad __attribute__((vector_size(32)));

// Where they stand, aligned like any double: quad_at(x).x is read and written. (A reference to a
// Quad would be taken for an aligned one.)
struct __attribute__((packed, may_alias)) QuadInMemory {
  Quad x;
};
inline const QuadInMemory& quad_at(const double* x) {
  return *reinterpret_cast<const QuadInMemory*>(x);
}
inline QuadInMemory& quad_at(double* x) { return *reinterpret_cast<QuadInMemory*>(x); }

// to := the lanes kA, kB, kC, kD of x (0 to 3) and y (4 to 7).
template <int kA, int kB, int kC, int kD>
inline void pick(const Quad& x, const Quad& y, Quad& to) {
#if defined(__clang__) || __GNUC__ >= 12
  to = __builtin_shufflevector(x, y, kA, kB, kC, kD);
#else
  typedef long long Places __attribute__((vector_size(32)));
  to = __builtin_shuffle(x, y, Places{kA, kB, kC, kD});
#endif
}

// Four rows of four, in place.
inline void transpose(Quad (&x)[4]) {
  Quad even01, odd01, even23, odd23;
  pick<0, 4, 2, 6>(x[0], x[1], even01);
  pick<1, 5, 3, 7>(x[0], x[1], odd01);
  pick<0, 4, 2, 6>(x[2], x[3], even23);
  pick<1, 5, 3, 7>(x[2], x[3], odd23);
  pick<0, 1, 4, 5>(even01, even23, x[0]);
  pick<0, 1, 4, 5>(odd01, odd23, x[1]);
  pick<2, 3, 6, 7>(even01, even23, x[2]);
  pick<2, 3, 6, 7>(odd01, odd23, x[3]);
}

}  // namespace CATENA_ISA
}  // namespace catena
