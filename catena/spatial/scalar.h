// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; vec3.h needs it.
//
// The scalars that every spatial type and kernel is written for, and the few functions that
// let one source serve all of them: double, a dual number (dual.h), a SIMD pack (pack.h).
//
// Kernels never branch on a scalar's value; they choose with select(mask, a, b). For double the
// mask is bool, for a pack it is one bit per lane, for a dual number it is that of its value.
//
// CATENA_ISA is the inline namespace of everything whose machine code depends on the instruction
// set. A source file compiled for AVX2 defines it on its command line, so that none of its
// functions can replace the portable ones at link time.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#ifndef CATENA_ISA
#define CATENA_ISA portable
#endif

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar>
struct SinCos {
  Scalar sin;
  Scalar cos;
};

inline double select(bool mask, double if_true, double if_false) {
  return mask ? if_true : if_false;
}

inline SinCos<double> sincos(double angle) { return {std::sin(angle), std::cos(angle)}; }

// True if the mask holds for any lane.
inline bool any(bool mask) { return mask; }

// Evaluates c[0] + c[1] x + c[2] x² + ... (Horner).
template <class Scalar, std::size_t N>
inline Scalar polynomial(const double (&c)[N], const Scalar& x) {
  Scalar sum = Scalar(c[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + Scalar(c[k]);
  return sum;
}

}  // namespace CATENA_ISA
}  // namespace catena
