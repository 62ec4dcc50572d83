// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/forward_derivatives.h"

#include <algorithm>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/sensitivity/closed_derivatives.h"
#include "catena/sensitivity/kernels/columns.h"

namespace catena {
namespace {

// From this many freedoms on M⁻¹ is computed from the factors that forward dynamics left at the
// hinges, in O(N²), if the tree allows it (solve_rows.h); below, dense factors are as fast.
constexpr int kLongTree = 24;
// And from so many on the products with it are made the same way, O(N) for each column.
constexpr int kSolvedTree = 40;

[[noreturn]] void throw_lost(const Mechanism& mechanism, int freedom) {
  throw NumericalError(
      "the mass matrix of '" + mechanism.name() +
      "' is not positive definite in this position: freedom '" +
      mechanism.velocity_names()[index(freedom)] +
      "' adds no inertia of its own: the mass matrix is rank-deficient at this joint");
}

}  // namespace

SweepInput prepared_input(const Mechanism& mechanism, const State& state,
                          std::span<const ExternalWrench> external, Workspace& w) {
  SweepInput in;
  in.q = w.has_quaternion ? w.position.data() : state.q.data();
  in.v = state.v.data();
  if (!mechanism.springs().empty() || !external.empty()) in.external = w.external.data();
  return in;
}

const ForwardDerivatives& forward_dynamics_derivatives(const Mechanism& mechanism,
                                                       const State& state,
                                                       const Eigen::VectorXd& effort,
                                                       SensitivityWorkspace& w,
                                                       std::span<const ExternalWrench> external) {
  ForwardDerivatives& out = w.forward;
  out.acceleration = forward_dynamics(mechanism, state, effort, w.dynamics(), external);
  if (!mechanism.loops().empty())
    return closed_forward_derivatives(mechanism, state, effort, w, external);
  if (mechanism.has_flexible_bodies()) {
    flexible_inverse_derivatives(mechanism, state, out.acceleration, w, external);
    const Cholesky factor(w.inverse.da);
    out.deffort =
        factor.solve(Eigen::MatrixXd::Identity(mechanism.freedoms(), mechanism.freedoms()));
    out.dq = -factor.solve(w.inverse.dq);
    out.dv = -factor.solve(w.inverse.dv);
    return out;
  }
  const bool recursive = w.dynamics().remote_drives().empty();
  SweepInput in;
  if (recursive) {
    in = prepared_input(mechanism, state, external, w.dynamics());
  } else {  // rotors on distant carriers have been put among the external wrenches: take them out
    in = prepare(mechanism, state, nullptr, external, w.dynamics());
  }
  compute_columns(in, out.acceleration.data(), recursive, w);
  compute_tree_matrices(state, external, w);
  const ColumnKernels& kernels = column_kernels();
  bool by_rows = recursive && mechanism.freedoms() >= kLongTree;
  if (by_rows) {
    w.dynamics().prepare_rows();
    by_rows = w.dynamics().model().composite.stride > 0;
  }
  if (by_rows && mechanism.freedoms() >= kSolvedTree) {
    inverse_mass_matrix(w.dynamics(), out.deffort);
    const int n = mechanism.freedoms();
    out.dq.resize(n, n);
    out.dv.resize(n, n);
    Scratch<double> scratch = w.dynamics().scratch();
    const auto solve = [&](const double* right, Eigen::MatrixXd& left) {
      kernel_table().solve(w.dynamics().model(), &scratch, {right, w.stride(), n}, -1.0,
                           {left.data(), n});
    };
    solve(w.by_q(), out.dq);
    solve(w.by_v(), out.dv);
    return out;
  }
  if (by_rows) {
    inverse_mass_matrix(w.dynamics(), out.deffort);
    for (Eigen::Index k = 0; k < out.deffort.cols(); ++k)
      std::copy_n(out.deffort.col(k).data(), out.deffort.rows(), w.inverse_mass() + k * w.stride());
  } else {
    const LostPivot lost = kernels.invert(w.mass_pattern(), w.mass(), w.work(), w.inverse_mass());
    if (lost.found()) throw_lost(mechanism, lost.freedom);
    copy_matrix(w, w.inverse_mass(), out.deffort);
  }
  kernels.multiply(w.product_pattern(), w.inverse_mass(), w.by_q(), w.product());
  copy_matrix(w, w.product(), out.dq);
  kernels.multiply(w.product_pattern(), w.inverse_mass(), w.by_v(), w.product());
  copy_matrix(w, w.product(), out.dv);
  return out;
}

ForwardDerivatives forward_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                                const Eigen::VectorXd& effort,
                                                std::span<const ExternalWrench> external) {
  SensitivityWorkspace workspace(mechanism);
  return forward_dynamics_derivatives(mechanism, state, effort, workspace, external);
}

namespace {

struct HybridSolver {
  HybridSolver(const Eigen::MatrixXd& m, const std::vector<int>& independent,
               const std::vector<std::uint8_t>& motion_driven)
      : mass(m) {
    for (int i = 0; i < static_cast<int>(m.rows()); ++i)
      (motion_driven[index(independent[index(i)])] != 0 ? driven : free).push_back(i);
    factor.compute(mass(free, free));
  }
  void solve(const Eigen::MatrixXd& right, Eigen::MatrixXd& acceleration,
             Eigen::MatrixXd& effort) const {
    acceleration.setZero(mass.rows(), right.cols());
    effort.setZero(mass.rows(), right.cols());
    if (!free.empty()) {
      acceleration(free, Eigen::all) = factor.solve(-right(free, Eigen::all));
    }
    if (!driven.empty()) {
      const Eigen::MatrixXd rows = mass(driven, Eigen::all);
      effort(driven, Eigen::all) = right(driven, Eigen::all) + rows * acceleration;
    }
  }
  const Eigen::MatrixXd& mass;
  std::vector<int> free, driven;
  Cholesky factor;
};

}  // namespace

void solve_hybrid(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& right,
                  const std::vector<int>& independent,
                  const std::vector<std::uint8_t>& motion_driven, Eigen::MatrixXd& acceleration,
                  Eigen::MatrixXd& effort) {
  HybridSolver(mass, independent, motion_driven).solve(right, acceleration, effort);
}

void solve_hybrid(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& dq, const Eigen::MatrixXd& dv,
                  const Eigen::MatrixXd& map, const std::vector<int>& independent,
                  const std::vector<std::uint8_t>& motion_driven, HybridDerivatives& out) {
  const HybridSolver solver(mass, independent, motion_driven);
  solver.solve(dq, out.acceleration_dq, out.effort_dq);
  solver.solve(dv, out.acceleration_dv, out.effort_dv);
  Eigen::MatrixXd right = -map.transpose();
  for (const int k : solver.driven) right.col(independent[index(k)]) = mass.col(k);
  solver.solve(right, out.acceleration_dinput, out.effort_dinput);
  for (const int k : solver.driven) out.acceleration_dinput(k, independent[index(k)]) = 1.0;
  for (const int k : solver.free) out.effort_dinput(k, independent[index(k)]) = 1.0;
}

const HybridDerivatives& hybrid_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                                     const HybridInput& input,
                                                     SensitivityWorkspace& w,
                                                     std::span<const ExternalWrench> external) {
  HybridDerivatives& out = w.hybrid;
  hybrid_dynamics(mechanism, state, input, w.dynamics(), out.result, external);
  if (!mechanism.loops().empty())
    return closed_hybrid_derivatives(mechanism, state, input, w, external);
  inverse_dynamics_derivatives(mechanism, state, out.result.acceleration, w, external);
  const Eigen::Index n = mechanism.freedoms();
  solve_hybrid(w.inverse.da, w.inverse.dq, w.inverse.dv, Eigen::MatrixXd::Identity(n, n),
               w.dynamics().independent(), input.motion_driven, out);
  return out;
}

HybridDerivatives hybrid_dynamics_derivatives(const Mechanism& mechanism, const State& state,
                                              const HybridInput& input,
                                              std::span<const ExternalWrench> external) {
  SensitivityWorkspace workspace(mechanism);
  return hybrid_dynamics_derivatives(mechanism, state, input, workspace, external);
}

WrenchDerivatives external_wrench_derivatives(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                              const ExternalWrench& where,
                                              SensitivityWorkspace& w) {
  if (where.body < 0 || where.body >= static_cast<int>(mechanism.bodies().size()))
    throw NumericalError("derivatives by a wrench on body " + std::to_string(where.body) +
                         ", which does not exist");
  const Eigen::Index n = mechanism.freedoms();
  const State still{q, Eigen::VectorXd::Zero(n)};
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(n);
  inverse_dynamics_derivatives(mechanism, still, none, w);
  const BodyPlace& body = mechanism.bodies()[index(where.body)];
  const DerivativeTable<double>& c = w.columns();
  Eigen::MatrixXd effort = Eigen::MatrixXd::Zero(n, 6);
  if (mechanism.has_flexible_bodies()) {
    const Axes axes = where.axes == ExternalWrench::Axes::body ? Axes::body : Axes::ground;
    effort = -body_jacobian(mechanism, q, where.body, where.point, axes).transpose();
  } else if (body.node >= 0) {
    const ColumnNode<double>& node = c.nodes[body.node];
    const Vec3d point = node.pose * (body.X_node_body * where.point);
    const Rotationd axes = where.axes == ExternalWrench::Axes::body
                               ? node.pose.rotation * body.X_node_body.rotation
                               : Rotationd::identity();
    for (int i = body.node; i >= 0; i = mechanism.nodes()[index(i)].parent) {
      const Node& own = mechanism.nodes()[index(i)];
      for (int k = own.v_index; k < own.v_index + own.freedoms; ++k) {
        const Twistd s = get_twist(c.twist, c.stride, k);
        const Vec3d shift = s.linear + cross(s.angular, point);
        for (int x = 0; x < 3; ++x) {
          effort(k, x) = -dot(axes.axis(x), s.angular);
          effort(k, 3 + x) = -dot(axes.axis(x), shift);
        }
      }
    }
  }
  WrenchDerivatives out;
  out.effort = mechanism.loops().empty() ? effort : w.tangent.map.transpose() * effort;
  const Cholesky factor(w.inverse.da);
  out.acceleration = -factor.solve(out.effort);
  return out;
}

}  // namespace catena
