// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/bspline.h"

namespace catena {

SplineBasis spline_basis(int degree, int coefficients, int span, double u) {
  const int p = degree, spans = spline_spans(degree, coefficients);
  const double width = 1.0 / spans;
  const auto knot = [&](int i) { return width * std::clamp(i - p, 0, spans); };
  const int i = span + p;
  // Functions of every degree up to p (Cox and de Boor); d + 1 of degree d.
  double n[kMaxSplineDegree + 1][kMaxSplineDegree + 1] = {};
  n[0][0] = 1.0;
  for (int d = 1; d <= p; ++d)
    for (int k = 0; k < d; ++k) {
      const double left = knot(i - d + 1 + k), right = knot(i + 1 + k);
      const double share = n[d - 1][k] / (right - left);
      n[d][k] += (right - u) * share;
      n[d][k + 1] += (u - left) * share;
    }
  // Derivatives of functions of degree d from those of degree d − 1: d (N_left / Δ − N_right / Δ).
  const auto differentiate = [&](const double* lower, int d, double* result) {
    for (int k = 0; k < d; ++k) {
      const double share = d * lower[k] / (knot(i + 1 + k) - knot(i - d + 1 + k));
      result[k] -= share;
      result[k + 1] += share;
    }
  };
  SplineBasis b;
  b.first = span;
  for (int k = 0; k <= p; ++k) b.values[0][k] = n[p][k];
  for (int order = 1; order <= std::min(p, 3); ++order) {
    double now[kMaxSplineDegree + 1] = {}, next[kMaxSplineDegree + 1] = {};
    std::copy_n(n[p - order], p - order + 1, now);
    for (int d = p - order + 1; d <= p; ++d) {
      std::fill_n(next, d + 1, 0.0);
      differentiate(now, d, next);
      std::copy_n(next, d + 1, now);
    }
    std::copy_n(now, p + 1, b.values[order]);
  }
  return b;
}

}  // namespace catena
