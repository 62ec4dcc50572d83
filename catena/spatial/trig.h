// SPDX-License-Identifier: BSD-3-Clause
// Sines and cosines of all coordinates of a mechanism, for the sweeps: calls into the C library
// would cost as much as the rest of the kinematics.
//
// Reduction to |r| <= π/4 in three parts of π/2 (Cody & Waite), then the polynomials of the Cephes
// library (S. Moshier). Error below 3e-16 for |angle| < 1e5; larger angles go to the C library.
// There is no branch, so states of all quadrants cost the same.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "catena/spatial/scalar.h"

namespace catena {
inline namespace CATENA_ISA {

inline constexpr double kLargestFastAngle = 1e5;

// The bits of a double, and a scalar of the same type as the first argument with given bits, for
// all scalars that have them (packs: pack.h).
inline std::uint64_t to_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline double from_bits(double, std::uint64_t x) { return std::bit_cast<double>(x); }

// For |angle| < kLargestFastAngle only.
template <class Scalar>
inline SinCos<Scalar> reduced_sincos(const Scalar& angle) {
  const Scalar two_over_pi(0.63661977236758134308);
  // π/2 in three parts of 33 bits each: k times the first two is exact for k < 2^20.
  const Scalar part1(1.57079632673412561417e+00);
  const Scalar part2(6.07710050630396597660e-11);
  const Scalar part3(2.02226624879595063154e-21);
  const Scalar rounding(6755399441055744.0);  // 1.5 · 2^52: adding it rounds to an integer
  const Scalar rounded = angle * two_over_pi + rounding;
  const Scalar k = rounded - rounding;
  const Scalar r = ((angle - k * part1) - k * part2) - k * part3;
  const Scalar z = r * r;
  const Scalar sine = r + r * z *
                              (Scalar(-1.66666666666666307295e-1) +
                               z * (Scalar(8.33333333332211858878e-3) +
                                    z * (Scalar(-1.98412698295895385996e-4) +
                                         z * (Scalar(2.75573136213857245213e-6) +
                                              z * (Scalar(-2.50507477628578072866e-8) +
                                                   z * Scalar(1.58962301576546568060e-10))))));
  const Scalar cosine = Scalar(1.0) - Scalar(0.5) * z +
                        z * z *
                            (Scalar(4.16666666666665929218e-2) +
                             z * (Scalar(-1.38888888888730564116e-3) +
                                  z * (Scalar(2.48015872888517045348e-5) +
                                       z * (Scalar(-2.75573141792967388112e-7) +
                                            z * (Scalar(2.08757008419747316778e-9) +
                                                 z * Scalar(-1.13585365213876817300e-11))))));
  // Quadrants 1 and 3 swap the two; 2 and 3 flip the sine, 1 and 2 the cosine.
  const auto quadrant = to_bits(rounded);
  using Bits = std::remove_const_t<decltype(quadrant)>;
  const Bits zero(std::uint64_t{0}), one(std::uint64_t{1}), two(std::uint64_t{2});
  const Bits swap = zero - (quadrant & one);
  const Bits s = to_bits(sine);
  const Bits c = to_bits(cosine);
  const Bits exchange = (s ^ c) & swap;
  const Bits sine_sign = (quadrant & two) << 62;
  const Bits cosine_sign = ((quadrant + one) & two) << 62;
  return {from_bits(sine, (s ^ exchange) ^ sine_sign),
          from_bits(cosine, (c ^ exchange) ^ cosine_sign)};
}

// Sines and cosines of all coordinates at once: a plain loop that compilers vectorize.
inline void sincos_of_all(const double* __restrict angle, int count, double* __restrict sine,
                          double* __restrict cosine) {
  double largest = 0.0;
  for (int i = 0; i < count; ++i) {
    const double magnitude = std::abs(angle[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  if (!(largest < kLargestFastAngle)) {
    for (int i = 0; i < count; ++i) {
      sine[i] = std::sin(angle[i]);
      cosine[i] = std::cos(angle[i]);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    const SinCos<double> t = reduced_sincos(angle[i]);
    sine[i] = t.sin;
    cosine[i] = t.cos;
  }
}
template <class Scalar>
inline void sincos_of_all(const Scalar* angle, int count, Scalar* sine, Scalar* cosine) {
  for (int i = 0; i < count; ++i) {
    const SinCos<Scalar> t = sincos(angle[i]);
    sine[i] = t.sin;
    cosine[i] = t.cos;
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
