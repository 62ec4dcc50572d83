// SPDX-License-Identifier: BSD-3-Clause
// Stability of families of real polynomials, exactly.
//
//   independent coefficients in intervals        the four polynomials of [Kharitonov 1978]
//   coefficients affine in parameters of a box   its edges [Bartlett, Hollot & Huang 1988]
//
// An edge (1 − λ) p + λ q of polynomials of the same degree, p stable, is stable for all λ in
// [0, 1] exactly if H(p)⁻¹ H(q) has no eigenvalue in (−∞, 0], H the Hurwitz matrices [Białas 1985].
//
//   const IntervalPolynomial family{{1, 4, 6, 3}, {2, 5, 7, 4}};    // s³ last
//   kharitonov_stable(family); interval_margin(family)
//
// Coefficients are in ascending powers. Stable: all zeros have negative real parts.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct IntervalPolynomial {
  Eigen::VectorXd low{}, high{};
};

bool is_hurwitz(const Eigen::VectorXd& coefficients);
// low low high high, high high low low, low high high low, high low low high, repeated.
std::array<Eigen::VectorXd, 4> kharitonov_polynomials(const IntervalPolynomial& family);
bool kharitonov_stable(const IntervalPolynomial& family);
// The size t up to which middle ± t · half width is stable (bisection to rounding); the degree may
// not drop: t ends where the leading coefficient's interval reaches zero. Throws Error if the
// middle is not stable.
double interval_margin(const IntervalPolynomial& family);

// p(s) = base + Σ x_i · part_i, x_i in [−1, 1].
struct AffinePolynomial {
  Eigen::VectorXd base{};
  std::vector<Eigen::VectorXd> parts{};
};
bool edges_stable(const AffinePolynomial& family, double size = 1.0);
// The size of the box up to which it is stable. 2^(k−1) k edges of k parameters: up to 12.
double edge_margin(const AffinePolynomial& family);

}  // namespace catena
