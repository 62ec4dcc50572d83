// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/multipliers.h"

#include <cmath>
#include <cstdio>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/pair.h"
#include "catena/constraints/constraint_set.h"

namespace catena {
namespace {

// An entry of the null space below this is rounding: its columns have length one. Below so many
// times what the redundant rows are off by, it is the rounding of the file's numbers.
constexpr double kUndetermined = 1e-9;
constexpr double kRounded = 100.0;
// Squares of sines are known to rounding.
constexpr double kSharp = 1e-7;

std::string direction(const double* d) {
  const char* axes = "xyz";
  for (int i = 0; i < 3; ++i)
    if (std::abs(std::abs(d[i]) - 1.0) < 1e-12) return std::string(1, axes[i]);
  char text[80];
  std::snprintf(text, sizeof text, "along (%.3g, %.3g, %.3g)", d[0] + 0.0, d[1] + 0.0, d[2] + 0.0);
  return text;
}

std::string component_of(const Closure& c, int row) {
  if (c.kind == ClosureKind::rod) return "tension";
  if (c.kind == ClosureKind::coupling) return "multiplier";
  if (c.kind == ClosureKind::universal && row == 0) return "moment across the axes";
  if (measures_length(c, row)) return "force " + direction(c.covector[row] + 3);
  return "moment " + direction(c.covector[row]);
}

}  // namespace

MultiplierReport multiplier_dynamics(const Mechanism& mechanism, const State& state,
                                     const Eigen::VectorXd& effort,
                                     std::span<const ExternalWrench> external) {
  ConstraintSet set(mechanism);
  MultiplierDynamics& dynamics = set.dynamics();
  dynamics.set_check_closed(true);
  MultiplierReport report;
  report.acceleration = set.forward(state, effort, external);
  dynamics.refuse_singular(state.q);
  const TreeConstraints& constraints = dynamics.constraints();
  const SemidefiniteSolver& solver = constraints.ideal_solver();
  report.rank = constraints.rows() == 0 ? 0 : solver.rank();
  report.reciprocal_condition = constraints.reciprocal_condition();
  report.residual = dynamics.residual();
  report.redundant_residual = dynamics.left_out_residual();
  const double undetermined =
      solver.leftover() > kSharp ? kRounded * solver.leftover() : kUndetermined;
  for (int r = 0; r < constraints.rows(); ++r) {
    const TreeConstraints::Place place = constraints.place_of_row(r);
    const Closure& c = dynamics.tables().closures[index(place.constraint)];
    ConstraintRow row;
    row.constraint = set.name_of_row(r);
    row.component = component_of(c, place.row);
    double scale = 1.0;
    if (c.kind == ClosureKind::coupling) {
      row.force = dynamics.coupling_multiplier(place.constraint);
      scale = 0.0;
    } else if (measures_length(c, place.row)) {
      for (const Aggregate& a : dynamics.tables().aggregates)
        if (a.first_closure <= place.constraint &&
            place.constraint < a.first_closure + a.closure_count)
          scale = 1.0 / a.length;
    }
    if (scale != 0.0) row.force = scale * dynamics.multipliers()[r];
    if (c.kind == ClosureKind::rod) row.force = -row.force;  // it pulls the child back
    if (report.rank < constraints.rows())
      row.undetermined = solver.null_space().row(r).cwiseAbs().maxCoeff() > undetermined;
    report.rows.push_back(std::move(row));
  }
  if (report.rank < constraints.rows())
    for (const int r : solver.dependent()) report.rows[index(r)].redundant = true;
  return report;
}

}  // namespace catena
