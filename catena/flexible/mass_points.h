// SPDX-License-Identifier: BSD-3-Clause
// The constants of a flexible body (model/flexible_body.h) as sums over mass points: small rigid
// bodies of mass m and inertia J_s about their own point, carried by the deformation,
//
//   p = x + Φ η + ½ ηᵀ B_t η,   R = exp(Ψ η + ½ ηᵀ B_r η)
//   h = Σ m p,   J = Σ m (p·p 1 − p pᵀ) + R J_s Rᵀ,   C_r = Σ m p × ∂p + R J_s Rᵀ ω_∂
//
// expanded to the second order in η (C_r to the first). The terms with B_t are the 12 inertia loads
// of [Banerjee & Lemak 1991], those with B_r and J_s its 9 inertia couples. All in body axes.
#pragma once

#include <array>

#include "catena/model/flexible_body.h"

namespace catena {

struct MassPoint {
  double mass = 0.0;
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // J_s
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::MatrixXd shape, slope;                               // Φ, Ψ: 3×n
  std::array<Eigen::MatrixXd, 3> second_shape, second_slope;  // B_t, B_r: n×n
};

// Zero matrices for n modes; the moments for the completion of the inertia alone.
void start_constants(FlexibleBody& body, int modes);
void start_moments(FlexibleBody& body, int modes);
// Adds mass, h, J, C_r and M_e of one point. Cost: some 300 n² operations.
void add_mass_point(FlexibleBody& body, const MassPoint& point);

}  // namespace catena
