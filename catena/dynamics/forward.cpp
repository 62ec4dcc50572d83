// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/forward.h"

#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/loop_closure.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/multipliers/multiplier_dynamics.h"

namespace catena {
namespace {

[[noreturn]] void throw_singular_hinge(const Mechanism& mechanism, const Workspace& w, int n) {
  const Node& node = mechanism.nodes()[index(n)];
  const std::string& name = mechanism.hinges()[index(node.hinge_index)].name;
  std::string value;
  const int loop = w.aggregate_tables().aggregate_of_node[index(n)];
  if (loop >= 0)
    throw NumericalError(
        "the " + LoopClosure(mechanism, loop).name() +
        ": the inertia of its independent freedoms is not positive definite in "
        "this position: one of them moves no inertia, so the mass matrix is singular");
  const std::string beyond =
      mechanism.has_flexible_bodies()
          ? "; a flexible body may be deformed beyond the domain of its model, where 'completion: "
            "always' keeps its inertia positive"
          : "";
  if (node.hinge == NodeHinge::modes)
    throw NumericalError("the modal mass of flexible body '" +
                         mechanism.flexible_bodies()[index(node.flexible)].name +
                         "' is not positive definite in this position" + beyond +
                         ": check its deflection, or set 'completion: always'");
  if (!w.is_general(n) && node.flexible < 0) {
    const ArticulatedInertiad& p = w.node(n).articulated;
    value = " (" + number(node.hinge == NodeHinge::revolute ? p.angular.zz : p.linear.zz) + ")";
  }
  throw NumericalError(
      "hinge '" + name + "': its articulated inertia" + value +
      " is not positive in this position; " +
      (mechanism.hinges()[index(node.hinge_index)].type == HingeType::gimbal
           ? "its axes may be aligned (gimbal lock): use a spherical hinge"
           : "the bodies it moves have no inertia about it: give them mass and inertia, "
             "or lock the joint") +
      beyond);
}

// A pivot of the mass matrix below this fraction of its diagonal element is rounding.
constexpr double kLostPivot = 1e-14;

// The first freedom whose pivot is lost, by a plain Cholesky factorization of `m`.
Eigen::Index lost_freedom(Eigen::MatrixXd m) {
  for (Eigen::Index j = 0; j < m.rows(); ++j) {
    const double pivot = m(j, j) - m.row(j).head(j).squaredNorm();
    if (!(pivot > kLostPivot * m(j, j))) return j;
    m(j, j) = std::sqrt(pivot);
    for (Eigen::Index i = j + 1; i < m.rows(); ++i)
      m(i, j) = (m(i, j) - m.row(i).head(j).dot(m.row(j).head(j))) / m(j, j);
  }
  return m.rows() - 1;
}

// m := L in place (lower triangle); false if a pivot is not positive, or lost in rounding.
bool factor_in_place(Eigen::MatrixXd& m) {
  if (!cholesky_in_place(m)) return false;
  for (Eigen::Index j = 0; j < m.rows(); ++j) {
    const double pivot = m(j, j) * m(j, j);
    if (!(pivot > kLostPivot * (pivot + m.row(j).head(j).squaredNorm()))) return false;
  }
  return true;
}

[[noreturn]] void throw_indefinite(const Mechanism& mechanism, const Workspace& w,
                                   const Eigen::MatrixXd& m) {
  const int freedom = w.independent()[index(lost_freedom(m))];
  throw NumericalError(
      "the mass matrix of '" + mechanism.name() +
      "' is not positive definite in this position: freedom '" +
      mechanism.velocity_names()[index(freedom)] +
      "' adds no inertia of its own: the mass matrix is rank-deficient at this joint");
}

// The entries of the independent freedoms, and back. All of them in a tree.
Eigen::VectorXd independent_part(const Eigen::VectorXd& x, const Workspace& w) {
  return x(w.independent());
}

const Eigen::VectorXd& solve_dense(const Mechanism& mechanism, const State& state,
                                   const Eigen::VectorXd& effort, Workspace& w,
                                   std::span<const ExternalWrench> external) {
  check_vector(mechanism.velocity_names(), effort, "effort");
  w.vector = effort;  // before anything else: it may be a result that lives in this workspace
  w.acceleration = bias_effort(mechanism, state, w, external);
  const bool closed = !mechanism.loops().empty();
  if (closed) w.reduce(w.vector);
  w.vector -= w.acceleration;
  // The accelerations at v̇ = 0 of the independent freedoms.
  if (closed)
    w.acceleration =
        Eigen::Map<const Eigen::VectorXd>(w.all_accelerations().data(), mechanism.freedoms());
  mass_matrix(mechanism, state.q, w);
  if (!factor_in_place(w.mass_matrix))
    throw_indefinite(mechanism, w, mass_matrix(mechanism, state.q, w));
  if (!closed) {
    solve_by_cholesky(w.mass_matrix, w.vector);
    w.acceleration = w.vector;
    return w.acceleration;
  }
  Eigen::VectorXd own = independent_part(w.vector, w);
  solve_by_cholesky(w.mass_matrix, own);
  w.vector(w.independent()) = own;
  w.expand(w.vector);
  w.acceleration += w.vector;
  return w.acceleration;
}

const Eigen::VectorXd& by_multipliers(const State& state, const Eigen::VectorXd& effort,
                                      Workspace& w, std::span<const ExternalWrench> external) {
  MultiplierDynamics& loops = w.multiplier_dynamics();
  loops.forward(state, effort, w, external);
  loops.refuse_singular(state.q);
  return w.acceleration;
}

}  // namespace

bool prefers_multipliers(const Mechanism& mechanism) {
  for (const LoopPlace& loop : mechanism.loops()) {
    if (6 * static_cast<int>(loop.nodes.size()) < kLargeLoop)
      continue;  // most loops, at every call
    int freedoms = 0;
    for (const int n : loop.nodes) freedoms += mechanism.nodes()[index(n)].freedoms;
    if (freedoms >= kLargeLoop && freedoms >= 2 * loop.constraints) return true;
  }
  return false;
}

const Eigen::VectorXd& forward_dynamics(const Mechanism& mechanism, const State& state,
                                        const Eigen::VectorXd& effort, Workspace& w,
                                        std::span<const ExternalWrench> external, Route route,
                                        const LoopMaps* maps) {
  if (route == Route::dense || (route == Route::automatic && !w.remote_drives().empty()))
    return solve_dense(mechanism, state, effort, w, external);
  if (!w.remote_drives().empty())
    throw NumericalError("the drive of hinge '" +
                         mechanism.hinges()[index(w.remote_drives().front().hinge)].name +
                         "' is carried by a body that is not its parent; use Route::dense");
  if (!mechanism.loops().empty() && (route == Route::multipliers ||
                                     (route == Route::automatic && prefers_multipliers(mechanism))))
    return by_multipliers(state, effort, w, external);
  PreparedInput in = prepare(mechanism, state, &effort, external, w);
  Scratch<double> scratch = w.scratch();
  const SweepStatus status =
      run_embedded(mechanism, w.has_quaternion ? w.position : state.q, {}, w, [&] {
        in.embedded = maps != nullptr && restore_loop_maps(*maps, w);
        return kernel_table().forward(w.model(), in, &scratch, w.acceleration.data());
      });
  if (!status.done()) throw_singular_hinge(mechanism, w, status.place);
  check_closed(mechanism, state.q, state.v, w);
  return w.acceleration;
}

Eigen::VectorXd forward_dynamics(const Mechanism& mechanism, const State& state,
                                 const Eigen::VectorXd& effort,
                                 std::span<const ExternalWrench> external, Route route) {
  Workspace workspace(mechanism);
  return forward_dynamics(mechanism, state, effort, workspace, external, route);
}

namespace {

// The mass matrix with the rows and columns of motion-driven freedoms made those of the identity.
Eigen::MatrixXd& free_part(const HybridInput& input, Eigen::MatrixXd& m) {
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    if (input.motion_driven[index(i)] == 0) continue;
    m.row(i).setZero();
    m.col(i).setZero();
    m(i, i) = 1.0;
  }
  return m;
}

// The same in the independent freedoms of a closed mechanism, among which the motion-driven are.
void hybrid_dense_closed(const Mechanism& mechanism, const State& state, const HybridInput& input,
                         Workspace& w, HybridResult& result,
                         std::span<const ExternalWrench> external) {
  ensure_chart(mechanism, state.q, input.motion_driven, w);
  const Eigen::VectorXd bias = bias_effort(mechanism, state, w, external);
  result.acceleration =
      Eigen::Map<const Eigen::VectorXd>(w.all_accelerations().data(), mechanism.freedoms());
  const Eigen::MatrixXd m = mass_matrix(mechanism, state.q, w);
  result.effort = input.effort;
  Eigen::VectorXd given = Eigen::VectorXd::Zero(mechanism.freedoms());
  std::vector<int> free, driven;  // places among the independent freedoms
  for (int i = 0; i < mechanism.freedoms(); ++i)
    if (input.motion_driven[index(i)] != 0) {
      result.effort[i] = 0.0;
      given[i] = input.acceleration[i];
    }
  for (int k = 0; k < static_cast<int>(w.independent().size()); ++k)
    (input.motion_driven[index(w.independent()[index(k)])] ? driven : free).push_back(k);
  Eigen::VectorXd applied = result.effort;
  w.reduce(applied);
  const Eigen::VectorXd right = independent_part(applied - bias, w);
  Eigen::VectorXd own = independent_part(given, w);
  if (!free.empty()) {
    const PivotedCholesky factor(m(free, free));
    const Eigen::VectorXd open = right(free) - m(free, driven) * own(driven);
    const Eigen::VectorXd found = factor.solve(open);
    own(free) = found;
  }
  const Eigen::VectorXd needed = m * own - right;
  for (const int k : driven) result.effort[w.independent()[index(k)]] = needed[k];
  Eigen::VectorXd all = Eigen::VectorXd::Zero(mechanism.freedoms());
  all(w.independent()) = own;
  w.expand(all);
  result.acceleration += all;
}

// Through the mass matrix, for drives on distant carriers. The efforts of the motion-driven
// freedoms are those of inverse dynamics at the accelerations found.
void hybrid_dense(const Mechanism& mechanism, const State& state, const HybridInput& input,
                  Workspace& w, HybridResult& result, std::span<const ExternalWrench> external) {
  if (!mechanism.loops().empty()) {
    hybrid_dense_closed(mechanism, state, input, w, result, external);
    return;
  }
  const auto driven = [&](Eigen::Index i) { return input.motion_driven[index(i)] != 0; };
  result.acceleration.resize(input.effort.size());
  for (Eigen::Index i = 0; i < input.effort.size(); ++i)
    result.acceleration[i] = driven(i) ? input.acceleration[i] : 0.0;
  w.vector = inverse_dynamics(mechanism, state, result.acceleration, w, external);
  for (Eigen::Index i = 0; i < w.vector.size(); ++i)
    w.vector[i] = driven(i) ? 0.0 : input.effort[i] - w.vector[i];
  mass_matrix(mechanism, state.q, w);
  if (!factor_in_place(free_part(input, w.mass_matrix))) {
    mass_matrix(mechanism, state.q, w);
    throw_indefinite(mechanism, w, free_part(input, w.mass_matrix));
  }
  solve_by_cholesky(w.mass_matrix, w.vector);
  result.acceleration += w.vector;
  result.effort = inverse_dynamics(mechanism, state, result.acceleration, w, external);
  for (Eigen::Index i = 0; i < result.effort.size(); ++i)
    if (!driven(i)) result.effort[i] = input.effort[i];
}

}  // namespace

void hybrid_dynamics(const Mechanism& mechanism, const State& state, const HybridInput& input,
                     Workspace& w, HybridResult& result, std::span<const ExternalWrench> external,
                     const LoopMaps* maps) {
  const std::size_t n = to_size(mechanism.freedoms());
  if (input.motion_driven.size() != n)
    throw NumericalError("motion_driven has " + std::to_string(input.motion_driven.size()) +
                         " entries, but this mechanism has " + std::to_string(n) + " freedoms");
  if (input.effort.size() != static_cast<Eigen::Index>(n) ||
      input.acceleration.size() != static_cast<Eigen::Index>(n))
    throw NumericalError("hybrid dynamics needs effort and acceleration of " + std::to_string(n) +
                         " entries each");
  const auto names = mechanism.velocity_names();
  for (std::size_t i = 0; i < n; ++i) {
    const bool driven = input.motion_driven[i] != 0;
    const double given = (driven ? input.acceleration : input.effort)[static_cast<Eigen::Index>(i)];
    if (!std::isfinite(given))
      throw NumericalError(std::string(driven ? "acceleration" : "effort") + " of '" + names[i] +
                           "' is " + number(given) + "; it must be finite");
  }
  if (!w.remote_drives().empty()) {
    hybrid_dense(mechanism, state, input, w, result, external);
    return;
  }
  // Entries that are not read may be anything, NaN too: they stay out of the passive sums.
  for (std::size_t i = 0; i < n; ++i) {
    const Eigen::Index k = static_cast<Eigen::Index>(i);
    w.vector[k] = input.motion_driven[i] != 0 ? 0.0 : input.effort[k];
  }
  PreparedInput in = prepare(mechanism, state, &w.vector, external, w);
  in.acceleration = input.acceleration.data();
  in.driven = input.motion_driven.data();
  result.acceleration.resize(static_cast<Eigen::Index>(n));
  result.effort.resize(static_cast<Eigen::Index>(n));
  Scratch<double> scratch = w.scratch();
  const SweepStatus status =
      run_embedded(mechanism, w.has_quaternion ? w.position : state.q, input.motion_driven, w, [&] {
        in.embedded = maps != nullptr && restore_loop_maps(*maps, w);
        return kernel_table().hybrid(w.model(), in, &scratch, result.acceleration.data(),
                                     result.effort.data());
      });
  if (!status.done()) throw_singular_hinge(mechanism, w, status.place);
  check_closed(mechanism, state.q, state.v, w);
  // What the passive elements already give, the actuators need not.
  if (w.has_passive_elements()) result.effort -= w.total_effort - w.vector;
}

HybridResult hybrid_dynamics(const Mechanism& mechanism, const State& state,
                             const HybridInput& input, std::span<const ExternalWrench> external) {
  Workspace workspace(mechanism);
  HybridResult result;
  hybrid_dynamics(mechanism, state, input, workspace, result, external);
  return result;
}

}  // namespace catena
