// SPDX-License-Identifier: BSD-3-Clause
// Normalized coprime factors of a plant over stable systems, G = N M⁻¹ = M̃⁻¹ Ñ with
// N~N + M~M = 1 and ÑÑ~ + M̃M̃~ = 1 [Glover & McFarlane 1989]: two Riccati equations.
//
//   F = −(1 + DᵀD)⁻¹ (Bᵀ X + Dᵀ C),  H = −(Y Cᵀ + B Dᵀ)(1 + D Dᵀ)⁻¹
//   [N; M] = (A + B F, B S⁻¹ᐟ², [C + D F; F], [D; 1] S⁻¹ᐟ²),  S = 1 + Dᵀ D
//
//   const CoprimeFactors f = ncf(plant);
//   f.right(), f.left()                      // [N; M] and [Ñ M̃]
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

struct CoprimeFactors {
  // Right: states A_right, input B_right, outputs of N and M.
  Eigen::MatrixXd A_right{}, B_right{}, C_N_right{}, C_M_right{}, D_N_right{}, D_M_right{};
  // Left: states A_left, inputs of Ñ and M̃, output C_left.
  Eigen::MatrixXd A_left{}, B_N_left{}, B_M_left{}, C_left{}, D_N_left{}, D_M_left{};
  Eigen::MatrixXd X{}, Y{};  // Riccati solutions
  Eigen::MatrixXd F{}, H{};  // state feedback and output injection
  double residual = 0.0;     // the larger of the two
  StateSpace right() const;  // [N; M]
  StateSpace left() const;   // [Ñ M̃]
};
// Of a continuous system. Throws NumericalError naming the reason if the plant is not stabilizable
// or not detectable.
CoprimeFactors ncf(const StateSpace& plant);

}  // namespace catena
