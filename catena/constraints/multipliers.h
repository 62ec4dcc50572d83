// SPDX-License-Identifier: BSD-3-Clause
// Forward dynamics of a closed mechanism by Lagrange multipliers, with a report on its constraints:
// which rows are redundant, which components of the constraint forces they leave undetermined, and
// whether rows contradict each other.
//
//   M v̇ + C = effort + Jᵀ λ,    J v̇ = −J̇ v
//
//   const MultiplierReport report = multiplier_dynamics(linkage, state, effort);
//   for (const ConstraintRow& row : report.rows) std::cout << row.constraint << row.force << "\n";
//
// The accelerations are unique as long as the constraints agree; the multipliers are those of least
// norm, rows counted in radians and fractions of the loop's length (multiplier_dynamics.h). The
// same as forward_dynamics(..., Route::multipliers), which only wants the accelerations. O(N) for
// the tree, the cube of the rows of a loop. Reference: [Rodriguez, Jain & Kreutz 1989].
#pragma once

#include <string>
#include <vector>

#include "catena/dynamics/multipliers/multiplier_dynamics.h"

namespace catena {

struct ConstraintRow {
  std::string constraint;     // "hinge 'C'", "rod 'tie'", "coupling 'gear'"
  std::string component;      // "moment x", "force along (0, 0, 1)", "tension", "multiplier"
  double force = 0.0;         // N or N m along the component, on the child's side; least norm
  bool redundant = false;     // the rows that are not redundant imply it
  bool undetermined = false;  // redundancy leaves its force open
};

struct MultiplierReport {
  Eigen::VectorXd acceleration;       // of all freedoms
  std::vector<ConstraintRow> rows;    // in the order of the loops' closures
  int rank = 0;                       // independent rows
  double reciprocal_condition = 1.0;  // of the independent rows, as the inertia measures them
  double residual = 0.0;              // what is left of the closure's acceleration, 1/s²
  // The same in redundant rows. More than rounding where they are redundant only within the digits
  // of the file's numbers.
  double redundant_residual = 0.0;
  int redundant() const { return static_cast<int>(rows.size()) - rank; }
};

// Throws NumericalError, naming the constraints, if rows contradict each other, and in a singular
// position.
MultiplierReport multiplier_dynamics(const Mechanism& mechanism, const State& state,
                                     const Eigen::VectorXd& effort,
                                     std::span<const ExternalWrench> external = {});

}  // namespace catena
