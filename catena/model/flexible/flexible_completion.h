// SPDX-License-Identifier: BSD-3-Clause
// CompletedInertia: the inertia M̄(η) of a flexible body as a sum of squares, so that it is positive
// at any deformation.
//
// The consistent model keeps what forces of first order need: J to the second order in η, C_r to
// the first, M_e constant. Modes of a body clamped at its hinge nearly contain its rotation about
// the hinge, J − C_r M_e⁻¹ C_rᵀ is next to nothing, and what was left out can make it negative at
// deflections of a few percent. The kinetic energy ½ ∫ |A V̄|² of the velocity field A(η) cannot be
// negative. With P the projection on the fields that are linear in x (and of matter that turns: on
// those constant in the body),
//
//   M̄ = (P A)ᵀ (P A) + (A − P A)ᵀ (A − P A)
//
// the first square is kept whole and the second in the fields of first order, constant for the
// modes. Rotation and translation of the undeformed body are in P, so all that forces of first
// order need is the same as without completion; the difference is O(η²) in C_r and O(η) in the
// modal mass.
//
// P A has few rows: a point p(η) for each function 1, x, y, z that is orthonormal on the body's
// mass (two of a straight beam), moving with s v + ω × p + ṗ, and rows a(η) · ω + c(η) · η̇ of the
// turning sections. Cost: some 25 n² more than without. [docs/theory/flexible.md]
#pragma once

#include <vector>

#include "catena/model/flexible_body.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {

struct CompletedInertia {
  // Needs body.moments.
  explicit CompletedInertia(const FlexibleBody& body);

  struct Point {
    double scale = 0.0;        // s
    Eigen::Vector3d position;  // p = p0 + p1 η + ½ ηᵀ p2 η
    Eigen::MatrixXd first;     // 3×n
    std::array<Eigen::MatrixXd, 3> second;
  };
  struct Row {
    Eigen::Vector3d turn;   // a = a0 + a1 η + ½ ηᵀ a2 η
    Eigen::MatrixXd first;  // 3×n
    std::array<Eigen::MatrixXd, 3> second;
    Eigen::RowVectorXd slope;  // c = c0 + C η
    Eigen::MatrixXd slope_1;
  };
  std::vector<Point> points;
  std::vector<Row> rows;
  // The second square: the constants of the body less those of points and rows.
  FlexibleBody remainder;

  // Points and rows at η: (3 points + rows) × (6 + n), columns ω, v, η̇.
  Eigen::MatrixXd factor(const Eigen::VectorXd& eta) const;
};

// M̄(η) of a body: columns ω, v, η̇; completed if that is not null.
Eigen::MatrixXd inertia_at(const FlexibleBody& body, const CompletedInertia* completed,
                           const Eigen::VectorXd& eta);

// Whether to complete the inertia of a body whose frame moves with the freedoms `columns` (twists
// of the body frame) and carries `inertia` (by these freedoms) beside the body.
bool needs_completion(const FlexibleBody& body, const Eigen::MatrixXd& columns,
                      const Eigen::MatrixXd& inertia);

}  // namespace catena
