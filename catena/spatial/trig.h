// Sines and cosines of all coordinates of a mechanism, for the sweeps: calls into the C library
// would cost as much as the rest of the kinematics.
//
// Reduction to |r| <= π/4 in three parts of π/2 (Cody & Waite), then the polynomials of the Cephes
// library (S. Moshier). Error below 3e-16 for |angle| < 1e5; larger
// angles go to the C library. No branch in between, so states of all quadrants cost the
// same.
#pragma once

#include <bit>
#include <cstdint>

#include "catena/spatial/scalar.h"

namespace catena {
inline namespace CATENA_ISA {

inline constexpr double kLargestFastAngle = 1e5;

// For |angle| < kLargestFastAngle only.
inline SinCos<double> reduced_sincos(double angle) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  // π/2 in three parts of 33 bits each: k times the first two is exact for k < 2^20.
  constexpr double kPart1 = 1.57079632673412561417e+00;
  constexpr double kPart2 = 6.07710050630396597660e-11;
  constexpr double kPart3 = 2.02226624879595063154e-21;
  constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to an integer
  const double rounded = angle * kTwoOverPi + kRound;
  const std::uint64_t quadrant = std::bit_cast<std::uint64_t>(rounded);
  const double k = rounded - kRound;
  const double r = ((angle - k * kPart1) - k * kPart2) - k * kPart3;
  const double z = r * r;
  const double sine =
      r + r * z *
              (-1.66666666666666307295e-1 +
               z * (8.33333333332211858878e-3 +
                    z * (-1.98412698295895385996e-4 +
                         z * (2.75573136213857245213e-6 +
                              z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)))));
  const double cosine =
      1.0 - 0.5 * z +
      z * z *
          (4.16666666666665929218e-2 +
           z * (-1.38888888888730564116e-3 +
                z * (2.48015872888517045348e-5 +
                     z * (-2.75573141792967388112e-7 +
                          z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11)))));
  // Quadrants 1 and 3 swap the two; 2 and 3 flip the sine, 1 and 2 the cosine.
  const std::uint64_t swap = std::uint64_t{0} - (quadrant & 1U);
  const std::uint64_t s = std::bit_cast<std::uint64_t>(sine);
  const std::uint64_t c = std::bit_cast<std::uint64_t>(cosine);
  const std::uint64_t exchange = (s ^ c) & swap;
  const std::uint64_t sine_sign = (quadrant & 2U) << 62;
  const std::uint64_t cosine_sign = ((quadrant + 1U) & 2U) << 62;
  return {std::bit_cast<double>((s ^ exchange) ^ sine_sign),
          std::bit_cast<double>((c ^ exchange) ^ cosine_sign)};
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
