// The derivatives of a ParameterSet: columns that parameters.cpp writes down, probes for geometry,
// and differences for the rest.
#include <array>
#include <cmath>

#include <Eigen/Cholesky>

#include "catena/closure/assembly.h"
#include "catena/dynamics/inverse.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/geometry_probe.h"
#include "catena/sensitivity/parameter_adjoint.h"
#include "catena/sensitivity/parameters.h"

namespace catena {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void ParameterSet::make_probes() {
  probed_.assign(parameters_.size(), 0);
  std::vector<GeometrySeed> seeds, left;
  swept_.assign(parameters_.size(), 0);
  auto adjoint = std::make_shared<ParameterAdjoint>(m_, size());
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const Parameter& p = parameters_[k];
    if (p.kind == Kind::mass || p.kind == Kind::com || p.kind == Kind::inertia) {
      adjoint->add_inertial(static_cast<int>(k), p.index, inertial_change(p));
      swept_[k] = 1;
    } else if (p.kind == Kind::gravity) {
      adjoint->add_gravity(static_cast<int>(k), p.entry);
      swept_[k] = 1;
    }
    if (!is_geometry(p.kind) || p.kind == Kind::rod_length) continue;
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
    }
  }
  adjoint_ = std::move(adjoint);
  if (!left.empty()) adjoint_probe_ = std::make_shared<GeometryProbe>(m_, std::move(left));
  if (!seeds.empty()) probes_.push_back(std::make_shared<GeometryProbe>(m_, std::move(seeds)));
}

template <class F>
void ParameterSet::each_differenced(F f) const {
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    if (is_geometry(parameters_[k].kind) && probed_[k] == 0)
      f(parameters_[k], static_cast<Index>(k));
}

VectorXd ParameterSet::differences(const Parameter& p, const State& state,
                                   const SensitivityWorkspace& w, const Value& value,
                                   double part) const {
  constexpr double kWeights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  const std::vector<int>& own = w.dynamics().independent();
  const VectorXd values = this->values();
  double now = 0.0;
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    if (&parameters_[k] == &p) now = std::abs(values[static_cast<Index>(k)]);
  // Lengths and angles of a unit's size; constants in steps of their own size, so that they stay
  // what they are (positive).
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
      settings.fixed.assign(static_cast<std::size_t>(m_.freedoms()), 0);
      for (const int i : own) settings.fixed[static_cast<std::size_t>(i)] = 1;
      there = assemble(other, state, settings);
      ChartSettings chart;
      chart.pinned = settings.fixed;
      workspace.set_chart(choose_chart(other, there.q, chart), true);
    }
    return value(other, there, workspace);
  };
  VectorXd sum;
  for (int k = 1; k <= 4; ++k) {
    const VectorXd change_of = at(k * step) - at(-k * step);
    if (k == 1) sum = VectorXd::Zero(change_of.size());
    sum += kWeights[k - 1] / step * change_of;
  }
  return sum;
}

VectorXd ParameterSet::differenced(int parameter, const State& state, const VectorXd& given,
                                   bool forward, const SensitivityWorkspace& w,
                                   std::span<const ExternalWrench> external, double part) const {
  const std::vector<int> own = w.dynamics().independent();
  return differences(
      parameters_[static_cast<std::size_t>(parameter)], state, w,
      [&](const Mechanism& m, const State& s, Workspace& d) {
        const VectorXd all = forward ? forward_dynamics(m, s, given, d, external)
                                     : inverse_dynamics(m, s, given, d, external);
        return VectorXd(all(own));
      },
      part);
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
  for (Index k = 0; k < result.cols(); ++k) {
    const Parameter& p = parameters_[static_cast<std::size_t>(k)];
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
  each_differenced([&](const Parameter&, Index k) {
    result.col(k) = differenced(static_cast<int>(k), state, acceleration, false, w, external);
  });
  return result;
}

MatrixXd ParameterSet::acceleration_derivatives(const State& state, const VectorXd& effort,
                                                SensitivityWorkspace& w,
                                                std::span<const ExternalWrench> external) const {
  const HybridInput input{std::vector<std::uint8_t>(static_cast<std::size_t>(m_.freedoms()), 0),
                          effort, VectorXd::Zero(m_.freedoms())};
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
  // Where geometry changes X, what the given efforts do in the loops changes too.
  inverse_dynamics_derivatives(m_, state, at.acceleration, w, external);
  const std::vector<int> own = w.dynamics().independent();
  MatrixXd needed = MatrixXd::Zero(static_cast<Index>(own.size()), size());
  VectorXd column(m_.freedoms());
  for (Index k = 0; k < needed.cols(); ++k) {
    const Parameter& p = parameters_[static_cast<std::size_t>(k)];
    if (is_geometry(p.kind)) continue;
    column.setZero();
    tree_column(p, state, w, column);
    needed.col(k) = w.tangent.map.transpose() * column;
  }
  solve_hybrid(w.inverse.da, needed, own, input.motion_driven, out.acceleration, out.effort);
  for (const auto& probe : probes_) {
    MatrixXd acceleration, effort;
    probe->hybrid(state, input, own, external, acceleration, effort);
    for (std::size_t i = 0; i < probe->seeds().size(); ++i) {
      out.acceleration.col(probe->seeds()[i].parameter) = acceleration.col(static_cast<Index>(i));
      out.effort.col(probe->seeds()[i].parameter) = effort.col(static_cast<Index>(i));
    }
  }
  each_differenced([&](const Parameter& p, Index k) {
    const VectorXd both =
        differences(p, state, w, [&](const Mechanism& m, const State& s, Workspace& d) {
          HybridResult found;
          hybrid_dynamics(m, s, input, d, found, external);
          VectorXd stacked(2 * static_cast<Index>(own.size()));
          stacked << found.acceleration(own), found.effort(own);
          return stacked;
        });
    out.acceleration.col(k) = both.head(static_cast<Index>(own.size()));
    out.effort.col(k) = both.tail(static_cast<Index>(own.size()));
  });
  return out;
}

Index ParameterSet::adjoint_size() const { return adjoint_->size(); }

VectorXd ParameterSet::gradient_of(const VectorXd& sums) const { return adjoint_->gradient(sums); }

void ParameterSet::add_adjoint(const State& state, const VectorXd& multiplier,
                               const SensitivityWorkspace& w, VectorXd& sums) const {
  const std::vector<Twistd> lambda = ParameterAdjoint::spread(m_, multiplier, w);
  for (Index k = 0; k < size(); ++k) {
    if (swept_[static_cast<std::size_t>(k)] != 0) continue;
    const Parameter& p = parameters_[static_cast<std::size_t>(k)];
    if (!is_geometry(p.kind))
      sums[k] += tree_product(p, state, w, multiplier, lambda);
    else if (m_.loops().empty())
      sums[k] += multiplier.dot(differenced(static_cast<int>(k), state, w.acceleration, false, w));
    else
      throw NumericalError("parameter '" + names_[static_cast<std::size_t>(k)] +
                           "' changes how loops close, and has no gradient along a motion");
  }
  adjoint_->add(state, multiplier, lambda, w, sums);
  if (adjoint_probe_ != nullptr) {
    const VectorXd found = adjoint_probe_->adjoint(state, w.acceleration, multiplier);
    for (std::size_t i = 0; i < adjoint_probe_->seeds().size(); ++i)
      sums[adjoint_probe_->seeds()[i].parameter] += found[static_cast<Index>(i)];
  }
}

}  // namespace catena
