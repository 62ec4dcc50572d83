// SPDX-License-Identifier: BSD-3-Clause
// The multivariable stability margin K_m of a matrix M with scalar perturbations Δ = diag(δ1, ...),
// for det(1 − Δ M) ≠ 0 [Tekawy, Safonov & Chiang 1989]. Its inverse is bounded by
//
//   two-sided, complex  |δ| < K      min_D σ_max(D M D⁻¹)
//   one-sided           δ in the sector [0, K]      ½ min_D λ_max(D M D⁻¹ + (.)ᴴ), or 0
//   two-sided, real     -K < δ < K   the largest of these over M Φ, Φ = diag(±1, ..., ±1)
//   Jones               the same, D chosen for all Φ at once: not below the real one
//
//   const Margin k = km_one_sided(m);
//   1.0 / k.inverse                     // infinite if the inverse is 0
//
// With X = D² these are linear matrix inequalities, 2κ X − X M − Mᴴ X ≥ 0, solved by the method of
// centers; eigenvalues that meet at the optimum need no care there. Real margins visit 2ⁿ sign
// matrices: up to 12 channels. A saturation with inputs up to r times its limit is a gain in [1/r,
// 1]: a one-sided δ.
#pragma once

#include <Eigen/Core>

namespace catena {

struct Margin {
  double inverse = 0.0;       // 1/K_m: an upper bound of 1/margin
  Eigen::VectorXd scaling{};  // D, of geometric mean one
  Eigen::VectorXd signs{};    // Φ of the real margin
  bool exact = false;         // the bound is the margin itself (complex, up to three channels)
};

Margin km_two_sided(const Eigen::MatrixXcd& m);
Margin km_one_sided(const Eigen::MatrixXcd& m);
Margin km_real(const Eigen::MatrixXcd& m);
Margin km_jones(const Eigen::MatrixXcd& m);

}  // namespace catena
