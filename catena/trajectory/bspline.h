// SPDX-License-Identifier: BSD-3-Clause
// Basis functions of a clamped uniform B-spline on [0, 1]: knots 0 and 1 repeated, the others
// evenly between them ([de Boor 1978]; as in [Sohl & Bobrow 2001], section 5).
//
// `coefficients` functions of a degree have coefficients − degree spans. Within a span degree + 1
// of them are not zero. A spline of degree 0 or 1 jumps or kinks at its knots; there the caller
// chooses the side by naming the span.
#pragma once

#include <algorithm>
#include <cmath>

namespace catena {

inline constexpr int kMaxSplineDegree = 7;

struct SplineBasis {
  int first = 0;  // index of the first nonzero function of degree + 1
  // [order][k]: derivatives of order 0 to 3 by the variable.
  double values[4][kMaxSplineDegree + 1] = {};
};

inline int spline_spans(int degree, int coefficients) { return coefficients - degree; }
// The span that u lies in; the later one at a knot.
inline int spline_span(int degree, int coefficients, double u) {
  const int spans = spline_spans(degree, coefficients);
  return std::clamp(static_cast<int>(std::floor(u * spans)), 0, spans - 1);
}
SplineBasis spline_basis(int degree, int coefficients, int span, double u);

}  // namespace catena
