// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/closed_derivatives.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/inverse.h"
#include "catena/sensitivity/flexible_derivatives.h"

namespace catena {
namespace {

// Fills the tangent maps and ∂_k X of the loops.
void compute_tangent(const State& state, SensitivityWorkspace& w) {
  Workspace& d = w.dynamics();
  const Mechanism& m = w.mechanism();
  const std::vector<int>& independent = d.independent();
  const Eigen::Index n = m.freedoms(), size = static_cast<Eigen::Index>(independent.size());
  const PreparedInput position = prepare_position(m, state.q, d);
  SweepInput in = position;
  in.v = state.v.data();
  Scratch<double> scratch = d.scratch();
  run_embedded(m, d.has_quaternion ? d.position : state.q, {}, d,
               [&] { return kernel_table().embed(d.model(), in, &scratch); });
  w.closure_duals().differentiate(in.q, in.v, d);
  TangentMaps& t = w.tangent;
  t.map.setZero(n, size);
  t.velocity_dq.setZero(n, size);
  t.bias_dq.setZero(n, size);
  t.bias_dv.setZero(n, size);
  for (Eigen::Index k = 0; k < size; ++k) t.map(independent[index(k)], k) = 1.0;
}

// The place of a freedom among the independent ones, by freedom.
std::vector<int> places(const Workspace& d, int freedoms) {
  std::vector<int> result(to_size(freedoms), -1);
  for (std::size_t k = 0; k < d.independent().size(); ++k)
    result[index(d.independent()[k])] = static_cast<int>(k);
  return result;
}

// The derivatives of the spanning tree's efforts at w.acceleration in w.inverse, the efforts in
// w.effort, and its mass matrix: of a mechanism with flexible bodies, by dual numbers.
void flexible_tree_matrices(const Mechanism& mechanism, const State& state, const SweepInput& in,
                            SensitivityWorkspace& w, std::span<const ExternalWrench> external,
                            Eigen::MatrixXd& mass) {
  Workspace& d = w.dynamics();
  const Eigen::Index n = mechanism.freedoms();
  flexible_tree_effort(in, w);
  const Eigen::VectorXd& q = d.has_quaternion ? d.position : state.q;
  w.flexible_duals().inverse(q, state.v, w.acceleration, external, w.inverse);
  mass.resize(n, n);
  flexible_mass_matrix(mechanism, state.q, d, mass);
}

// The reduced matrices at accelerations `all` of the spanning tree: Xᵀ r, its derivatives and Xᵀ M
// X. `applied`: efforts that are given at all freedoms and are taken off r (null: none).
void reduce_matrices(const Mechanism& mechanism, const State& state, const Eigen::VectorXd& all,
                     const Eigen::VectorXd* applied, SensitivityWorkspace& w,
                     std::span<const ExternalWrench> external) {
  Workspace& d = w.dynamics();
  const Eigen::Index n = mechanism.freedoms();
  w.acceleration = all;
  compute_tangent(state, w);
  // The efforts of the spanning tree, in its own columns: r_k = S_k · F, plus rotors and passive.
  const PreparedInput in = prepare(mechanism, state, nullptr, external, d);
  const bool flexible = mechanism.has_flexible_bodies();
  Eigen::MatrixXd flexible_mass;
  if (flexible) {
    flexible_tree_matrices(mechanism, state, in, w, external, flexible_mass);
  } else {
    compute_columns(in, w.acceleration.data(), false, w);
    compute_tree_matrices(state, external, w);
    tree_effort(in, w, w.effort);
  }
  if (applied != nullptr) w.effort -= *applied;

  const std::vector<int> place = places(d, mechanism.freedoms());
  TangentMaps& t = w.tangent;
  const SweepModel& model = d.model();
  const std::vector<LoopVariation>& loops = w.closure_duals().loops();
  const Eigen::Index size = t.map.cols();
  Eigen::MatrixXd turned = Eigen::MatrixXd::Zero(size, size);
  add_map_change(w, w.effort, turned);
  for (int loop_index = 0; loop_index < model.aggregate_count; ++loop_index) {
    const Aggregate& a = model.aggregates[loop_index];
    const AggregateScratch<double>& g = d.aggregate(loop_index);
    const LoopVariation& loop = loops[index(loop_index)];
    const int* order = model.order + a.first_order;
    const int* freedom = model.freedom_of_column + a.first_order;
    const auto own = [&](int l) { return place[index(freedom[order[a.rank + l]])]; };
    for (int k = 0; k < a.independents; ++k)
      for (int i = 0; i < a.freedoms; ++i) {
        const Eigen::Index row = freedom[i];
        t.map(row, own(k)) = g.map[i * a.independents + k];
        t.bias_dq(row, own(k)) = loop.bias_by_q[index(k * a.freedoms + i)];
        t.bias_dv(row, own(k)) = loop.bias_by_v[index(k * a.freedoms + i)];
        for (int l = 0; l < a.independents; ++l) {
          const double x = loop.map_by_q[index((k * a.freedoms + i) * a.independents + l)];
          const Eigen::Index other = freedom[order[a.rank + l]];
          t.velocity_dq(row, own(k)) += x * state.v[other];
          t.bias_dq(row, own(k)) += x * w.acceleration[other];
        }
      }
  }
  using Padded = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  const auto padded = [&](const double* own, const Eigen::MatrixXd& dense) {
    return flexible ? Padded(dense.data(), n, n, Eigen::OuterStride<>(n))
                    : Padded(own, n, n, Eigen::OuterStride<>(w.stride()));
  };
  InverseDerivatives& out = w.inverse;
  const Padded by_q = padded(w.by_q(), out.dq);
  const Padded by_v = padded(w.by_v(), out.dv);
  const Padded mass = padded(w.mass(), flexible_mass);
  const Eigen::MatrixXd all_dq = by_q * t.map + by_v * t.velocity_dq + mass * t.bias_dq;
  const Eigen::MatrixXd all_dv = by_v * t.map + mass * t.bias_dv;
  const Eigen::MatrixXd left = t.map.transpose() * mass;
  out.dq = turned + t.map.transpose() * all_dq;  // not before all_dq and all_dv are known
  out.dv = t.map.transpose() * all_dv;
  out.da = left * t.map;
}

}  // namespace

void flexible_tree_effort(const SweepInput& in, SensitivityWorkspace& w) {
  Workspace& d = w.dynamics();
  SweepInput given = in;
  given.acceleration = w.acceleration.data();
  Scratch<double> scratch = d.scratch();
  w.effort.resize(w.mechanism().freedoms());
  kernel_table().inverse(d.tree_model(), given, &scratch, w.effort.data());
  if (d.has_passive_elements())
    w.effort -= Eigen::Map<const Eigen::VectorXd>(in.effort, w.effort.size());
}

void add_map_change(SensitivityWorkspace& w, const Eigen::VectorXd& x, Eigen::MatrixXd& turned) {
  const Workspace& d = w.dynamics();
  const SweepModel& model = d.model();
  const std::vector<int> place = places(d, w.mechanism().freedoms());
  for (int loop_index = 0; loop_index < model.aggregate_count; ++loop_index) {
    const Aggregate& a = model.aggregates[loop_index];
    const LoopVariation& loop = w.closure_duals().loops()[index(loop_index)];
    const int* order = model.order + a.first_order;
    const int* freedom = model.freedom_of_column + a.first_order;
    const auto own = [&](int l) { return place[index(freedom[order[a.rank + l]])]; };
    for (int k = 0; k < a.independents; ++k)
      for (int i = 0; i < a.freedoms; ++i)
        for (int l = 0; l < a.independents; ++l)
          turned(own(l), own(k)) +=
              x[freedom[i]] * loop.map_by_q[index((k * a.freedoms + i) * a.independents + l)];
  }
}

const InverseDerivatives& closed_inverse_derivatives(const Mechanism& mechanism, const State& state,
                                                     const Eigen::VectorXd& acceleration,
                                                     SensitivityWorkspace& w,
                                                     std::span<const ExternalWrench> external) {
  // Chooses the chart, checks the closure and finds the dependent accelerations.
  inverse_dynamics(mechanism, state, acceleration, w.dynamics(), external);
  const auto all = w.dynamics().all_accelerations();
  reduce_matrices(mechanism, state,
                  Eigen::Map<const Eigen::VectorXd>(all.data(), mechanism.freedoms()), nullptr, w,
                  external);
  return w.inverse;
}

const ForwardDerivatives& closed_forward_derivatives(const Mechanism& mechanism, const State& state,
                                                     const Eigen::VectorXd& effort,
                                                     SensitivityWorkspace& w,
                                                     std::span<const ExternalWrench> external) {
  ForwardDerivatives& out = w.forward;
  reduce_matrices(mechanism, state, out.acceleration, &effort, w, external);
  const Cholesky factor(w.inverse.da);
  out.dq = -factor.solve(w.inverse.dq);
  out.dv = -factor.solve(w.inverse.dv);
  out.deffort = factor.solve(w.tangent.map.transpose());
  return out;
}

const HybridDerivatives& closed_hybrid_derivatives(const Mechanism& mechanism, const State& state,
                                                   const HybridInput& input,
                                                   SensitivityWorkspace& w,
                                                   std::span<const ExternalWrench> external) {
  Eigen::VectorXd applied = input.effort;
  for (Eigen::Index i = 0; i < applied.size(); ++i)
    if (input.motion_driven[index(i)] != 0) applied[i] = 0.0;
  reduce_matrices(mechanism, state, w.hybrid.result.acceleration, &applied, w, external);
  solve_hybrid(w.inverse.da, w.inverse.dq, w.inverse.dv, w.tangent.map, w.dynamics().independent(),
               input.motion_driven, w.hybrid);
  return w.hybrid;
}

}  // namespace catena
