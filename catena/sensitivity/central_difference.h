// SPDX-License-Identifier: BSD-3-Clause
// The slope of a function at zero by central differences of eighth order:
//
//   f'(0) ≈ Σ w_k (f(k h) − f(−k h)) / h,   w = (4/5, −1/5, 4/105, −1/280),   error: h⁸ f⁽⁹⁾ / 630
//
// For derivatives that have no closed form here, and to check those that have one.
#pragma once

#include <type_traits>

namespace catena {

inline constexpr double kCentralWeights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};

// f returns a vector or a matrix.
template <class F>
auto central_slope(F&& f, double h) {
  using Value = std::decay_t<decltype(f(h))>;
  Value sum = (kCentralWeights[0] / h) * (f(h) - f(-h));
  for (int k = 2; k <= 4; ++k) sum += (kCentralWeights[k - 1] / h) * (f(k * h) - f(-k * h));
  return sum;
}

}  // namespace catena
