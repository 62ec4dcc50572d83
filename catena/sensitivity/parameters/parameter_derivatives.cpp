// SPDX-License-Identifier: BSD-3-Clause
// The derivatives of a ParameterSet: columns that parameters.cpp writes down, probes for geometry,
// and differences for the rest.
#include <algorithm>
#include <array>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/inverse.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/central_difference.h"
#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/parameters/geometry_probe.h"
#include "catena/sensitivity/parameters/parameter_adjoint.h"
#include "catena/sensitivity/products.h"

namespace catena {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Whether it changes how loops close; not so if only couplings close the loop of the hinge.
bool ParameterSet::shapes_loops(const Parameter& p) const {
  if (p.kind == Kind::rod_length || p.kind == Kind::coefficient || p.kind == Kind::ratio ||
      p.kind == Kind::constant)
    return true;
  const HingePlace& hinge = m_.hinges()[index(p.index)];
  if (hinge.role != HingePlace::Role::tree || hinge.node < 0) return true;
  const AggregateTables& tables = aggregate_tables(m_);
  for (const Aggregate& a : tables.aggregates)
    for (int i = 0; i < a.member_count; ++i)
      if (tables.members[index(a.first_member + i)].node == hinge.node)
        for (int c = a.first_closure; c < a.first_closure + a.closure_count; ++c)
          if (tables.closures[index(c)].kind != ClosureKind::coupling) return true;
  return false;
}

void ParameterSet::make_probes() {
  probed_.assign(parameters_.size(), 0);
  std::vector<GeometrySeed> seeds, left;
  swept_.assign(parameters_.size(), 0);
  auto adjoint = std::make_shared<ParameterAdjoint>(m_, size());
  if (m_.has_flexible_bodies()) {
    adjoint_ = std::move(adjoint);
    return;
  }
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const Parameter& p = parameters_[k];
    if (p.kind == Kind::mass || p.kind == Kind::com || p.kind == Kind::inertia) {
      adjoint->add_inertial(static_cast<int>(k), p.index, inertial_change(p));
      swept_[k] = 1;
    } else if (p.kind == Kind::gravity) {
      adjoint->add_gravity(static_cast<int>(k), p.entry);
      swept_[k] = 1;
    }
    if (!is_geometry(p.kind) || p.kind == Kind::rod_length || p.kind == Kind::further_axis)
      continue;
    const GeometryKind kind = p.kind == Kind::position         ? GeometryKind::position
                              : p.kind == Kind::rotation       ? GeometryKind::rotation
                              : p.kind == Kind::child_position ? GeometryKind::child_position
                              : p.kind == Kind::axis           ? GeometryKind::axis
                              : p.kind == Kind::pitch          ? GeometryKind::pitch
                              : p.kind == Kind::constant       ? GeometryKind::constant
                                                               : GeometryKind::coefficient;
    const GeometrySeed seed{
        kind, p.index, p.entry, static_cast<int>(k), names_[k], p.kind == Kind::ratio ? -1.0 : 1.0};
    if (!can_be_probed(m_, seed)) continue;
    probed_[k] = 1;
    if (m_.loops().empty()) {
      seeds.push_back(seed);
      swept_[k] = 1;
      if (!adjoint->add_geometry(seed)) left.push_back(seed);
    } else {
      probes_.push_back(std::make_shared<GeometryProbe>(m_, std::vector{seed}));
      if (!shapes_loops(p) && adjoint->add_geometry(seed)) swept_[k] = 1;
    }
  }
  adjoint_ = std::move(adjoint);
  if (!left.empty()) adjoint_probe_ = std::make_shared<GeometryProbe>(m_, std::move(left));
  if (!seeds.empty()) probes_.push_back(std::make_shared<GeometryProbe>(m_, std::move(seeds)));
}

bool ParameterSet::has_rods() const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [](const Parameter& p) { return p.kind == Kind::rod_length; });
}

template <class F>
void ParameterSet::each_differenced(F f) const {
  for (std::size_t k = 0; m_.has_flexible_bodies() && k < parameters_.size(); ++k)
    if (!is_exact_with_flexible(parameters_[k])) f(parameters_[k], static_cast<Index>(k));
  for (std::size_t k = 0; !m_.has_flexible_bodies() && k < parameters_.size(); ++k)
    if (is_geometry(parameters_[k].kind) && probed_[k] == 0 &&
        parameters_[k].kind != Kind::rod_length)
      f(parameters_[k], static_cast<Index>(k));
}

// The closure of a rod is ½ (|b − a|² / L − L), whose derivative by L is −1: the dependent columns
// follow with Y x = 1 in its row (over the length of the loop, as its rows), and rows and biases
// depend on L in no other way.
template <class F>
void ParameterSet::each_rod(const State& state, const VectorXd& acceleration,
                            const VectorXd& effort, std::span<const ExternalWrench> external,
                            DynamicsProducts& products, F f) const {
  bool ready = false;
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    if (parameters_[k].kind != Kind::rod_length) continue;
    if (!ready) products.evaluate_inverse(state, acceleration, external, &effort);
    ready = true;
    const Workspace& d = products.workspace().dynamics();
    const AggregateTables& tables = d.aggregate_tables();
    const Chart& chart = d.chart();
    bool found = false;
    for (int i = 0; i < static_cast<int>(chart.loops.size()) && !found; ++i) {
      const LoopChart& own = chart.loops[index(i)];
      const LoopClosure loop(m_, i);
      VectorXd right = VectorXd::Zero(own.rank);
      MatrixXd block(own.rank, own.rank);
      const MatrixXd rows = loop.velocity_rows(state.q);
      for (int r = 0; r < static_cast<int>(own.rows.size()); ++r) {
        const ChartRow& row = own.rows[index(r)];
        for (int a = 0; a < loop.rows(); ++a)
          if (loop.row(a).closure == row.closure && loop.row(a).row == row.row)
            for (int c = 0; c < own.rank; ++c) block(r, c) = rows(a, own.order[index(c)]);
        const Closure& closure = tables.closures[index(row.closure)];
        if (closure.kind != ClosureKind::rod || closure.place != parameters_[k].index) continue;
        right[r] = 1.0 / loop.length();  // velocity_rows() are in lengths of the loop
        found = true;
      }
      if (!found) continue;
      const VectorXd dependent = Lu(block).solve(right);
      VectorXd motion = VectorXd::Zero(loop.freedoms());
      for (int c = 0; c < own.rank; ++c) motion[own.order[index(c)]] = dependent[c];
      f(static_cast<Index>(k), products.along(i, motion));
    }
    if (!found)
      throw NumericalError("parameter '" + names_[k] +
                           "' has no derivative: to change it would open a loop of '" + m_.name() +
                           "'");
  }
}

VectorXd ParameterSet::differences(const Parameter& p, const State& state,
                                   const SensitivityWorkspace& w, const Value& value,
                                   double part) const {
  const std::vector<int>& own = w.dynamics().independent();
  const VectorXd values = this->values();
  double now = 0.0;
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    if (&parameters_[k] == &p) now = std::abs(values[static_cast<Index>(k)]);
  // Lengths and angles of a unit's size; constants in steps of their own size, so that they stay
  // positive.
  constexpr double kStep = 1e-2;
  double step = kStep;
  switch (p.kind) {
    case Kind::mass:
    case Kind::inertia:
    case Kind::damping:
    case Kind::stiffness:
    case Kind::friction:
    case Kind::rotor_inertia:
    case Kind::gear_ratio:
    case Kind::coefficient:
    case Kind::ratio:
    case Kind::spring_stiffness:
    case Kind::spring_rest:
    case Kind::spring_damping:
    case Kind::elastic:
      step = kStep * now;
      break;
    case Kind::rod_length:
      step = std::min(kStep, kStep * now);
      break;
    default:
      break;
  }
  if (step == 0.0) return {};
  step *= part;
  const auto at = [&](double by) {
    Description d = m_.description();
    change(p, by, d);
    const Mechanism other = MechanismBuilder(std::move(d)).finish({.strict = false});
    Workspace workspace(other);
    State there = state;
    if (!m_.loops().empty()) {
      AssemblySettings settings;
      settings.keep_limits = false;
      settings.fixed.assign(to_size(m_.freedoms()), 0);
      for (const int i : own) settings.fixed[index(i)] = 1;
      there = assemble(other, state, settings);
      ChartSettings chart;
      chart.pinned = settings.fixed;
      workspace.set_chart(choose_chart(other, there.q, chart), true);
    }
    return value(other, there, workspace);
  };
  return central_slope(at, step);
}

VectorXd ParameterSet::differenced(int parameter, const State& state, const VectorXd& given,
                                   bool forward, const SensitivityWorkspace& w,
                                   std::span<const ExternalWrench> external, double part) const {
  const std::vector<int> own = w.dynamics().independent();
  return differences(
      parameters_[index(parameter)], state, w,
      [&](const Mechanism& m, const State& s, Workspace& d) {
        const VectorXd all = forward ? forward_dynamics(m, s, given, d, external)
                                     : inverse_dynamics(m, s, given, d, external);
        return VectorXd(all(own));
      },
      part);
}

// With flexible bodies: elements that act as an effort at one freedom.
bool ParameterSet::is_exact_with_flexible(const Parameter& p) {
  return p.kind == Kind::elastic || p.kind == Kind::damping || p.kind == Kind::stiffness ||
         p.kind == Kind::rest || p.kind == Kind::friction;
}

MatrixXd ParameterSet::effort_derivatives(const State& state, const VectorXd& acceleration,
                                          SensitivityWorkspace& w,
                                          std::span<const ExternalWrench> external) const {
  inverse_dynamics_derivatives(m_, state, acceleration, w, external);
  const bool closed = !m_.loops().empty();
  if (!closed) w.acceleration = acceleration;
  const std::vector<int> own = w.dynamics().independent();
  MatrixXd result(static_cast<Index>(own.size()), size());
  VectorXd column(m_.freedoms());
  if (m_.has_flexible_bodies()) {
    for (Index k = 0; k < result.cols(); ++k) {
      if (!is_exact_with_flexible(parameters_[index(k)])) {
        result.col(k) = differenced(static_cast<int>(k), state, acceleration, false, w, external);
        continue;
      }
      column.setZero();
      tree_column(parameters_[index(k)], state, w, column);
      if (closed)
        result.col(k) = w.tangent.map.transpose() * column;
      else
        result.col(k) = column;
    }
    return result;
  }
  for (Index k = 0; k < result.cols(); ++k) {
    const Parameter& p = parameters_[index(k)];
    if (is_geometry(p.kind)) continue;
    column.setZero();
    tree_column(p, state, w, column);
    if (closed)
      result.col(k) = w.tangent.map.transpose() * column;
    else
      result.col(k) = column;
  }
  for (const auto& probe : probes_) {
    const MatrixXd found = probe->effort(state, acceleration, own, external);
    for (std::size_t i = 0; i < probe->seeds().size(); ++i)
      result.col(probe->seeds()[i].parameter) = found.col(static_cast<Index>(i));
  }
  if (has_rods()) {
    DynamicsProducts products(m_);
    products.workspace().dynamics().set_chart(w.dynamics().chart(), true);
    each_rod(state, acceleration, VectorXd::Zero(m_.freedoms()), external, products,
             [&](Index k, const LoopChange& change) { result.col(k) = change.needed; });
  }
  each_differenced([&](const Parameter&, Index k) {
    result.col(k) = differenced(static_cast<int>(k), state, acceleration, false, w, external);
  });
  return result;
}

MatrixXd ParameterSet::acceleration_derivatives(const State& state, const VectorXd& effort,
                                                SensitivityWorkspace& w,
                                                std::span<const ExternalWrench> external) const {
  const HybridInput input{std::vector<std::uint8_t>(to_size(m_.freedoms()), 0), effort,
                          VectorXd::Zero(m_.freedoms())};
  return hybrid_derivatives(state, input, w, external).acceleration;
}

HybridParameterDerivatives ParameterSet::hybrid_derivatives(
    const State& state, const HybridInput& input, SensitivityWorkspace& w,
    std::span<const ExternalWrench> external) const {
  HybridResult at;
  hybrid_dynamics(m_, state, input, w.dynamics(), at, external);
  const bool closed = !m_.loops().empty();
  HybridParameterDerivatives out;
  if (!closed) {
    const MatrixXd needed = effort_derivatives(state, at.acceleration, w, external);
    solve_hybrid(w.inverse.da, needed, w.dynamics().independent(), input.motion_driven,
                 out.acceleration, out.effort);
    return out;
  }
  // Where geometry changes X, the effect of the given efforts in the loops changes too.
  inverse_dynamics_derivatives(m_, state, at.acceleration, w, external);
  const std::vector<int> own = w.dynamics().independent();
  const auto is_differenced = [&](const Parameter& p) {
    return m_.has_flexible_bodies() ? !is_exact_with_flexible(p) : is_geometry(p.kind);
  };
  MatrixXd needed = MatrixXd::Zero(static_cast<Index>(own.size()), size());
  VectorXd column(m_.freedoms());
  for (Index k = 0; k < needed.cols(); ++k) {
    const Parameter& p = parameters_[index(k)];
    if (is_differenced(p)) continue;
    column.setZero();
    tree_column(p, state, w, column);
    needed.col(k) = w.tangent.map.transpose() * column;
  }
  out.position.setZero(m_.freedoms(), size());
  out.velocity.setZero(m_.freedoms(), size());
  if (has_rods() && !m_.has_flexible_bodies()) {
    DynamicsProducts products(m_);
    products.workspace().dynamics().set_chart(w.dynamics().chart(), true);
    VectorXd applied = input.effort;
    for (Index i = 0; i < applied.size(); ++i)
      if (input.motion_driven[index(i)] != 0) applied[i] = 0.0;
    each_rod(state, at.acceleration, applied, external, products,
             [&](Index k, const LoopChange& change) {
               needed.col(k) = change.needed;
               out.position.col(k) = change.q;
               out.velocity.col(k) = change.v;
             });
  }
  solve_hybrid(w.inverse.da, needed, own, input.motion_driven, out.acceleration, out.effort);
  for (const auto& probe : probes_) {
    const GeometryProbe::Hybrid found = probe->hybrid(state, input, own, external);
    for (std::size_t i = 0; i < probe->seeds().size(); ++i) {
      const Index from = static_cast<Index>(i), to = probe->seeds()[i].parameter;
      out.acceleration.col(to) = found.acceleration.col(from);
      out.effort.col(to) = found.effort.col(from);
      out.position.col(to) = found.position.col(from);
      out.velocity.col(to) = found.velocity.col(from);
    }
  }
  each_differenced([&](const Parameter& p, Index k) {
    const VectorXd both =
        differences(p, state, w, [&](const Mechanism& m, const State& s, Workspace& d) {
          HybridResult found;
          hybrid_dynamics(m, s, input, d, found, external);
          VectorXd stacked(2 * (static_cast<Index>(own.size()) + m_.freedoms()));
          stacked << found.acceleration(own), found.effort(own), difference(m_, state.q, s.q), s.v;
          return stacked;
        });
    const Index n = m_.freedoms(), size_of_own = static_cast<Index>(own.size());
    out.acceleration.col(k) = both.head(size_of_own);
    out.effort.col(k) = both.segment(size_of_own, size_of_own);
    out.position.col(k) = both.segment(2 * size_of_own, n);
    out.velocity.col(k) = both.tail(n);
  });
  return out;
}

Index ParameterSet::adjoint_size() const { return adjoint_->size(); }

VectorXd ParameterSet::gradient_of(const VectorXd& sums) const { return adjoint_->gradient(sums); }

void ParameterSet::add_adjoint(const State& state, const VectorXd& multiplier,
                               const SensitivityWorkspace& w, VectorXd& sums) const {
  if (m_.has_flexible_bodies()) {
    VectorXd column(m_.freedoms());
    for (Index k = 0; k < size(); ++k) {
      const Parameter& p = parameters_[index(k)];
      column.setZero();
      if (is_exact_with_flexible(p))
        tree_column(p, state, w, column);
      else if (m_.loops().empty())
        column = differenced(static_cast<int>(k), state, w.acceleration, false, w);
      sums[k] += multiplier.dot(column);
    }
    return;
  }
  const std::vector<Twistd> lambda = ParameterAdjoint::spread(m_, multiplier, w);
  for (Index k = 0; k < size(); ++k) {
    if (swept_[index(k)] != 0) continue;
    const Parameter& p = parameters_[index(k)];
    if (!is_geometry(p.kind))
      sums[k] += tree_product(p, state, w, multiplier, lambda);
    else if (m_.loops().empty())
      sums[k] += multiplier.dot(differenced(static_cast<int>(k), state, w.acceleration, false, w));
  }
  adjoint_->add(state, multiplier, lambda, w, sums);
  if (adjoint_probe_ != nullptr) {
    const VectorXd found = adjoint_probe_->adjoint(state, w.acceleration, multiplier);
    for (std::size_t i = 0; i < adjoint_probe_->seeds().size(); ++i)
      sums[adjoint_probe_->seeds()[i].parameter] += found[static_cast<Index>(i)];
  }
}

ParameterSet::LoopScratch::LoopScratch() = default;
ParameterSet::LoopScratch::~LoopScratch() = default;

void ParameterSet::add_loop_adjoint(const State& state, const VectorXd& effort,
                                    const LoopGradient& by, const VectorXd& multiplier,
                                    const SensitivityWorkspace& w, LoopScratch& scratch,
                                    VectorXd& sums) const {
  if (m_.loops().empty()) return;
  const std::vector<int> own = w.dynamics().independent();
  scratch.probes.resize(probes_.size());
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const int k = probes_[i]->seeds()[0].parameter;
    if (swept_[index(k)] == 0)
      sums[k] += probes_[i]->loop_adjoint(state, w.acceleration, effort, by, multiplier, own,
                                          scratch.probes[i])[0];
  }
  if (has_rods() && !m_.has_flexible_bodies()) {
    if (scratch.own == nullptr) scratch.own = std::make_unique<DynamicsProducts>(m_);
    scratch.own->workspace().dynamics().set_chart(w.dynamics().chart(), true);
    each_rod(
        state, w.acceleration, effort, {}, *scratch.own, [&](Index k, const LoopChange& change) {
          sums[k] += by.q.dot(change.q) + by.v.dot(change.v) +
                     by.acceleration.dot(change.acceleration) + multiplier(own).dot(change.needed);
        });
  }
  each_differenced([&](const Parameter& p, Index k) {
    if (swept_[index(k)] != 0) return;
    const Index n = m_.freedoms(), size_of_own = static_cast<Index>(own.size());
    const VectorXd found =
        differences(p, state, w, [&](const Mechanism& m, const State& s, Workspace& d) {
          const VectorXd needed = inverse_dynamics(m, s, w.acceleration, d);
          VectorXd given = effort, stacked(3 * n + size_of_own);
          d.reduce(given);
          stacked << difference(m_, state.q, s.q), s.v,
              Eigen::Map<const VectorXd>(d.all_accelerations().data(), n), needed(own) - given(own);
          return stacked;
        });
    sums[k] += by.q.dot(found.head(n)) + by.v.dot(found.segment(n, n)) +
               by.acceleration.dot(found.segment(2 * n, n)) +
               multiplier(own).dot(found.tail(size_of_own));
  });
}

}  // namespace catena
