// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/closure/loop_closure.h"
#include "catena/closure/pair.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/multipliers/multiplier_dynamics.h"
#include "catena/dynamics/operators/operational_space.h"
#include "catena/model/configuration.h"
#include "catena/verification/quantity_tables.h"

namespace catena {
namespace {

using Request = const QuantityRequest&;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Newton's method has converged or diverged by then.
constexpr double kConverged = 1e-14;
constexpr int kMostSteps = 50;

// The matrix of an operator, column by column.
Matrix columns_of(Workspace& w, int n, void (*apply)(Workspace&, const Vector&, Vector&)) {
  Matrix result(n, n);
  Vector y(n);
  for (int i = 0; i < n; ++i) {
    apply(w, Vector::Unit(n, i), y);
    result.col(i) = y;
  }
  return result;
}

TaskFrame task_frame(const Mechanism& m, const std::string& name) {
  const FramePlace& place = m.frames()[index(m.frame_index(name))];
  const BodyPlace& body = m.bodies()[index(place.body)];
  return {.body = place.body, .pose = body.X_node_body.inverse() * place.X_node_frame};
}

// The point of a hinge on its child or on its parent, ground axes.
struct HingePoint {
  Vec3d position;
  Twistd twist;  // at that point
};
HingePoint point_of(const Mechanism& m, const State& state, const Hinge& hinge, bool on_child) {
  const HingePlace& place = m.hinges()[index(m.hinge_index(hinge.name))];
  const int body = on_child ? place.child_body : place.parent_body;
  const Vec3d local = (on_child ? hinge.frame_on_child : hinge.frame_on_parent).translation;
  if (body < 0) return {local, Twistd::zero()};
  const Transformd pose = body_pose(m, state.q, body);
  HingePoint result{pose * local, body_twist(m, state, body, Axes::ground)};
  result.twist.linear += cross(result.twist.angular, result.position - pose.translation);
  return result;
}

double relative(const Matrix& found, const Matrix& expected) {
  const double size = expected.norm();
  return (found - expected).norm() / (size > 0.0 ? size : 1.0);
}

// Newton's method with steps of least norm in all freedoms, from the guess, until the points of the
// cut hinges coincide: for planar loops, whose pins need nothing else.
Matrix newton_position(Request r) {
  const Mechanism& m = r.mechanism;
  std::vector<const Hinge*> cut;
  for (const Hinge& hinge : m.description().hinges)
    if (m.hinges()[index(m.hinge_index(hinge.name))].role == HingePlace::Role::cut)
      cut.push_back(&hinge);
  const Eigen::Index rows = 3 * static_cast<Eigen::Index>(cut.size());
  State state{r.input.state.q, Vector::Zero(m.freedoms())};
  Vector gap(rows);
  Matrix jacobian(rows, m.freedoms());
  for (int steps = 0;; ++steps) {
    for (std::size_t i = 0; i < cut.size(); ++i) {
      const Eigen::Index at = 3 * static_cast<Eigen::Index>(i);
      gap.segment<3>(at) = to_eigen(point_of(m, state, *cut[i], true).position -
                                    point_of(m, state, *cut[i], false).position);
      for (int k = 0; k < m.freedoms(); ++k) {
        state.v = Vector::Unit(m.freedoms(), k);
        jacobian.block<3, 1>(at, k) = to_eigen(point_of(m, state, *cut[i], true).twist.linear -
                                               point_of(m, state, *cut[i], false).twist.linear);
      }
    }
    if (gap.lpNorm<Eigen::Infinity>() < kConverged) break;
    if (steps == kMostSteps)
      throw NumericalError("Newton's method with steps of least norm does not close the loops");
    state.q = integrate(m, state.q, CompleteOrthogonal(jacobian).solve(-gap));
  }
  return coordinates_of_freedoms(r, state.q);
}

// The velocity nearest to the given one in the sense of kinetic energy.
Matrix weighted_velocity(Request r) {
  Workspace w(r.mechanism);
  MultiplierDynamics dynamics(r.mechanism);
  dynamics.set_check_closed(false);
  return r.input.state.v + dynamics.impulse(r.input.state, w);
}

// Velocity at which the state opens a hinge: the twist of its child's side less that of its
// parent's side, each at its own point, along the ground's axes.
Matrix hinge_opening(Request r) {
  const auto& hinges = r.mechanism.description().hinges;
  const auto hinge =
      std::find_if(hinges.begin(), hinges.end(), [&](const Hinge& h) { return h.name == r.of; });
  return to_eigen(point_of(r.mechanism, r.input.state, *hinge, true).twist -
                  point_of(r.mechanism, r.input.state, *hinge, false).twist);
}

// Of the rows of all loops' closures, with lengths in metres, in the columns of the freedoms that
// the check orders; the smallest first.
Matrix closure_singular_values(Request r) {
  const AggregateTables& tables = aggregate_tables(r.mechanism);
  int rows = 0;
  for (const Aggregate& a : tables.aggregates) rows += a.rows;
  Matrix all = Matrix::Zero(rows, r.mechanism.freedoms());
  rows = 0;
  for (std::size_t l = 0; l < tables.aggregates.size(); ++l) {
    const LoopClosure loop(r.mechanism, static_cast<int>(l));
    const Matrix part = loop.velocity_rows(r.input.state.q);
    for (int i = 0; i < part.rows(); ++i, ++rows) {
      const ChartRow row = loop.row(i);
      const double scale =
          measures_length(tables.closures[index(row.closure)], row.row) ? loop.length() : 1.0;
      for (int k = 0; k < part.cols(); ++k) all(rows, loop.freedom(k)) = scale * part(i, k);
    }
  }
  const Matrix chosen = all(Eigen::all, r.freedoms);
  return singular_values(chosen).reverse();
}

// Λ⁻¹ of two frames, ground axes: the norms of its blocks, the trace, and the diagonal of the block
// between the two.
Matrix inverse_inertia(Request r) {
  Workspace w(r.mechanism);
  articulate(r.mechanism, r.input.state.q, w);
  OperationalSpace space(r.mechanism,
                         {task_frame(r.mechanism, r.of), task_frame(r.mechanism, r.other)});
  space.update(w);
  const Matrix& found = space.inverse_inertia();
  Vector result(10);
  result << found.topLeftCorner<6, 6>().norm(), found.bottomRightCorner<6, 6>().norm(),
      found.topRightCorner<6, 6>().norm(), found.trace(), found.topRightCorner<6, 6>().diagonal();
  return result;
}

// Relative residuals of the identities of the spatial operator algebra against dense matrices.
Matrix operator_residuals(Request r) {
  const Mechanism& m = r.mechanism;
  const int n = m.freedoms();
  const Matrix mass = mass_matrix(m, r.input.state.q);
  const Cholesky dense(mass);
  const Matrix one = Matrix::Identity(n, n);
  Workspace w(m);
  articulate(m, r.input.state.q, w);
  const Matrix factor = columns_of(w, n, apply_factor);
  const Matrix inverse_factor = columns_of(w, n, apply_inverse_factor);
  const Matrix d = columns_of(w, n, apply_hinge_inertia);
  const Matrix inverse_d = columns_of(w, n, apply_inverse_hinge_inertia);
  // (I − HψK) Hφ = Hψ: unit forces at every body, carried by the propagators and by J.
  std::vector<TaskFrame> frames;
  frames.reserve(m.bodies().size());
  for (std::size_t i = 0; i < m.bodies().size(); ++i)
    frames.push_back({.body = static_cast<int>(i)});
  OperationalSpace space(m, frames);
  space.update(w);
  Matrix jacobian(n, space.rows());
  Vector column(n);
  for (int i = 0; i < space.rows(); ++i) {
    space.apply_jacobian_transposed(Vector::Unit(space.rows(), i), column);
    jacobian.col(i) = column;
  }
  const Matrix carried = inverse_factor * jacobian;
  const Vector effort = r.input.effort - bias_effort(m, r.input.state, r.input.external);
  const Vector swept = forward_dynamics(m, r.input.state, r.input.effort, w, r.input.external);
  Vector result(6);
  const auto congruent = [](const Matrix& a, const Matrix& inner) -> Matrix {  // aᵀ inner a
    const Matrix left = a.transpose() * inner;
    return left * a;
  };
  const Matrix by_dense = jacobian.transpose() * dense.solve(jacobian);
  result << relative(congruent(factor.transpose(), d), mass),
      relative(factor * inverse_factor, one),
      relative(congruent(inverse_factor, inverse_d), dense.solve(one)),
      relative(congruent(carried, inverse_d), space.inverse_inertia()),
      relative(by_dense, space.inverse_inertia()), relative(swept, dense.solve(effort));
  return result;
}

// Power of the efforts of inverse dynamics less the rate of kinetic and potential energy, relative
// to the largest part. The rate by differences of twelfth order along the motion.
Matrix power_residual(Request r) {
  const State& state = r.input.state;
  const Vector a = forward_dynamics(r.mechanism, state, r.input.effort, r.input.external);
  const auto total = [&](double t) {
    return energy(r.mechanism, {integrate(r.mechanism, state.q, t * state.v), state.v + t * a})
        .total();
  };
  constexpr double kStep = 2e-2;
  constexpr double kWeights[] = {6.0 / 7, -15.0 / 56, 5.0 / 63, -1.0 / 56, 1.0 / 385, -1.0 / 5544};
  double rate = 0.0;
  for (int k = 1; k <= 6; ++k)
    rate += kWeights[k - 1] * (total(k * kStep) - total(-k * kStep)) / kStep;
  const Vector powers = state.v.cwiseProduct(r.input.effort);
  return Matrix::Constant(1, 1, std::abs(powers.sum() - rate) / powers.lpNorm<Eigen::Infinity>());
}

}  // namespace

std::vector<Quantity> closure_quantities() {
  using Of = Quantity::Of;
  return {of_guess(freedom_row("newton_position",
                               "closed by Newton's steps of least norm from the state",
                               newton_position)),
          of_guess(freedom_row("weighted_velocity",
                               "that keeps loops closed and is nearest by kinetic energy",
                               weighted_velocity)),
          of_guess(vector_row("hinge_opening",
                              "twist of the child's side less the parent's, ground axes",
                              twist_parts(), hinge_opening, Of::hinge)),
          list_row("closure_singular_values",
                   "of the closures' rows, in metres, the smallest first", closure_singular_values),
          vector_row("inverse_inertia", "of two frames, ground axes",
                     {"norm_a", "norm_b", "norm_ab", "trace", "angular.x", "angular.y", "angular.z",
                      "linear.x", "linear.y", "linear.z"},
                     inverse_inertia, Of::frames),
          vector_row("operator_residuals", "of the factored mass matrix against dense algebra",
                     {"mass", "factors", "inverse", "propagators", "compliance", "forward"},
                     operator_residuals),
          scalar_row("power_residual", "power of the efforts against the rate of energy",
                     power_residual)};
}

}  // namespace catena
