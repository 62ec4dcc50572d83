// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/derivative_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/inverse.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/central_difference.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/products.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Differences, and an error bound for each column.
struct Estimate {
  MatrixXd value;
  VectorXd error;
  explicit Estimate(Index rows, Index columns)
      : value(MatrixXd::Zero(rows, columns)), error(VectorXd::Zero(columns)) {}
  // Relative to the largest entry, as checks are.
  double uncertainty() const {
    if (value.size() == 0) return 0.0;
    return error.maxCoeff() / std::max(1.0, value.cwiseAbs().maxCoeff());
  }
};

// One column, from differences `at` steps of h, h/2, ...: the best of two that agree.
void refine(const std::function<VectorXd(double)>& at, double h, Estimate& estimate, Index column) {
  constexpr int kLevels = 8;
  constexpr double kGood = 1e-10;  // no more is needed
  VectorXd last;
  double least = kInfinity;
  for (int level = 0; level < kLevels; ++level, h *= 0.5) {
    VectorXd now;
    try {
      now = at(h);
    } catch (const NumericalError&) {  // the step leads where the loops do not close
      if (level + 1 == kLevels && least == kInfinity) throw;
      continue;
    }
    if (now.size() == 0) break;
    if (last.size() > 0) {
      const double change = (now - last).lpNorm<Eigen::Infinity>();
      if (change < least) {
        least = change;
        estimate.value.col(column) = now;
      }
      if (least <= kGood * std::max(1.0, now.lpNorm<Eigen::Infinity>())) break;
      if (change > 100.0 * least) break;  // rounding dominates
    }
    last = now;
  }
  estimate.error[column] = least;
}

// Of a mode of a flexible body, over its length, beside the step of a hinge.
constexpr double kModalStep = 0.03;

class Collector {
 public:
  explicit Collector(const Mechanism& m) : m_(m) {}

  void take(const char* quantity, const MatrixXd& found, const Estimate& differences,
            const std::vector<int>& rows, const std::vector<int>& columns) {
    take(quantity, found, differences, rows, [&](Index c) { return name(columns, c); });
  }
  void take(const char* quantity, const MatrixXd& found, const Estimate& differences,
            const std::vector<int>& rows, const std::function<std::string(Index)>& column_name) {
    DerivativeCheck& check = at(quantity);
    if (found.size() == 0) return;
    constexpr double kSafety = 10.0;  // an estimate is one of size
    const double entry = differences.value.cwiseAbs().maxCoeff();
    const double scale = std::max(entry, 1.0);
    for (Index c = 0; c < found.cols(); ++c) {
      Index r = 0;
      const double off = (found.col(c) - differences.value.col(c)).cwiseAbs().maxCoeff(&r);
      const double error = std::isfinite(off) ? off / scale : kInfinity;
      const double allowed = kDerivativeTolerance + kSafety * differences.error[c] / scale;
      // The worst is the one that exceeds its bound most.
      if (!check.where.empty() && !(error * check.allowed > check.error * allowed)) continue;
      check.error = error;
      check.allowed = allowed;
      check.entry = entry;
      check.where = name(rows, r) + " by " + column_name(c);
    }
  }
  std::vector<DerivativeCheck> checks;

 private:
  DerivativeCheck& at(const char* quantity) {
    for (DerivativeCheck& check : checks)
      if (check.quantity == quantity) return check;
    checks.push_back({quantity, 0.0, kDerivativeTolerance, 0.0, ""});
    return checks.back();
  }
  std::string name(const std::vector<int>& freedoms, Index i) const {
    return m_.velocity_names()[index(freedoms[index(i)])];
  }
  const Mechanism& m_;
};

// A few parameters, different ones at every state. Those that open a loop, or are at their lower
// bound, are left out.
void check_parameters(const Mechanism& m, const State& state, const VectorXd& effort,
                      const VectorXd& acceleration, SensitivityWorkspace& w, std::uint64_t seed,
                      const std::vector<std::string>& names, Collector& collector) {
  constexpr int kParameters = 6;
  const VectorXd random = random_vector(kParameters, seed);
  const std::vector<int> own = w.dynamics().independent();
  for (Index i = 0; i < kParameters; ++i) {
    const auto place =
        static_cast<std::size_t>((0.5 + 0.5 * random[i]) * static_cast<double>(names.size() - 1));
    const ParameterSet set(m, {names[std::min(place, names.size() - 1)]});
    try {
      // In steps of a part of the usual ones.
      const auto differences = [&](const VectorXd& given, bool forward) {
        Estimate e(static_cast<Index>(own.size()), 1);
        refine([&](double part) { return set.differenced(0, state, given, forward, w, {}, part); },
               1.0, e, 0);
        return e;
      };
      const Estimate efforts = differences(acceleration, false);
      const Estimate rates = differences(effort, true);
      if (!(std::max(efforts.uncertainty(), rates.uncertainty()) <= kUselessDifference)) continue;
      const auto column = [&](Index) { return set.names()[0]; };
      collector.take("∂effort/∂parameter", set.effort_derivatives(state, acceleration, w), efforts,
                     own, column);
      collector.take("∂acceleration/∂parameter", set.acceleration_derivatives(state, effort, w),
                     rates, own, column);
    } catch (const NumericalError&) {
      continue;
    } catch (const ModelError&) {  // an inertia that no body can have
      continue;
    }
  }
}

// All derivatives at one state against differences.
class StateCheck {
 public:
  StateCheck(const Mechanism& m, const State& state, const VectorXd& effort, double step,
             const std::function<bool()>& progress)
      : m_(m), state_(state), effort_(effort), step_(step), progress_(progress), w_(m), plain_(m) {
    forward_ = forward_dynamics_derivatives(m, state, effort, w_);
    inverse_ = inverse_dynamics_derivatives(m, state, forward_.acceleration, w_);
    own_ = w_.dynamics().independent();
    size_ = static_cast<Index>(own_.size());
    plain_.set_chart(w_.dynamics().chart(), true);
  }

  // Throws NumericalError where differences are inaccurate, and Stopped if `progress` asks for it.
  struct Stopped {};
  void run(std::uint64_t seed, const std::vector<std::string>& names, Collector& collector) {
    const int n = m_.freedoms();
    std::vector<int> all(to_size(n));
    std::iota(all.begin(), all.end(), 0);
    Estimate forward_q(size_, size_), forward_v(size_, size_), forward_effort(size_, n);
    Estimate inverse_q(size_, size_), inverse_v(size_, size_), inverse_a(size_, size_);
    const VectorXd& a = forward_.acceleration;
    for (Index k = 0; k < size_; ++k) {
      const double step = step_of(own_[index(k)]);
      differentiate([&](double e) { return accelerations(moved(k, e, 0.0), effort_); }, step,
                    forward_q, k);
      differentiate([&](double e) { return accelerations(moved(k, 0.0, e), effort_); }, step_,
                    forward_v, k);
      differentiate([&](double e) { return efforts(moved(k, e, 0.0), a); }, step, inverse_q, k);
      differentiate([&](double e) { return efforts(moved(k, 0.0, e), a); }, step_, inverse_v, k);
      const VectorXd unit = VectorXd::Unit(n, own_[index(k)]);
      // Linear: any step serves.
      differentiate([&](double e) { return efforts(state_, a + e * unit); }, 1.0, inverse_a, k);
    }
    for (int i = 0; i < n; ++i)
      differentiate(
          [&](double e) { return accelerations(state_, effort_ + e * VectorXd::Unit(n, i)); }, 1.0,
          forward_effort, i);
    for (const Estimate* e :
         {&forward_q, &forward_v, &forward_effort, &inverse_q, &inverse_v, &inverse_a})
      if (!(e->uncertainty() <= kUselessDifference))
        throw NumericalError("finite differences are not accurate in this state");
    collector.take("∂effort/∂q", inverse_.dq, inverse_q, own_, own_);
    collector.take("∂effort/∂v", inverse_.dv, inverse_v, own_, own_);
    collector.take("∂effort/∂a", inverse_.da, inverse_a, own_, own_);
    collector.take("∂acceleration/∂q", forward_.dq, forward_q, own_, own_);
    collector.take("∂acceleration/∂v", forward_.dv, forward_v, own_, own_);
    collector.take("∂acceleration/∂effort", forward_.deffort, forward_effort, own_, all);
    check_products(forward_q, collector);
    if (n > 0) check_parameters(m_, state_, effort_, a, w_, seed, names, collector);
  }

 private:
  // Modes of flexible bodies in steps that are as small as their deflections.
  double step_of(int freedom) const {
    for (const FlexiblePlace& body : m_.flexible_bodies()) {
      const Node& node = m_.nodes()[index(body.node)];
      if (freedom < node.v_index || freedom >= node.v_index + node.freedoms) continue;
      return step_ * kModalStep * (body.constants->size > 0.0 ? body.constants->size : 1.0);
    }
    return step_;
  }
  State moved(Index k, double q, double v) const {
    const VectorXd unit = VectorXd::Unit(size_, k);
    return displaced(m_, state_, own_, q * unit, v * unit);
  }
  VectorXd accelerations(const State& s, const VectorXd& tau) {
    return forward_dynamics(m_, s, tau, plain_)(own_);
  }
  VectorXd efforts(const State& s, const VectorXd& a) {
    return inverse_dynamics(m_, s, a, plain_)(own_);
  }

  // Column k of `to` is df/dε at zero.
  void differentiate(const std::function<VectorXd(double)>& f, double h, Estimate& to, Index k) {
    refine([&](double part) { return central_slope(f, part); }, h, to, k);
    if (progress_ && !progress_()) throw Stopped{};
  }

  // Products against the differences, column by column and row by row.
  void check_products(const Estimate& forward_q, Collector& collector) {
    DynamicsProducts products(m_);
    products.workspace().dynamics().set_chart(w_.dynamics().chart(), true);
    products.evaluate(state_, effort_);
    const VectorXd none = VectorXd::Zero(size_);
    MatrixXd along(size_, size_), across(size_, size_);
    for (Index k = 0; k < size_; ++k) {
      const VectorXd unit = VectorXd::Unit(size_, k);
      along.col(k) = products.forward_product(unit, none, VectorXd::Zero(m_.freedoms()));
      across.row(k) = products.forward_adjoint(unit).q.transpose();
    }
    collector.take("product with ∂acceleration/∂q", along, forward_q, own_, own_);
    collector.take("product with its transpose", across, forward_q, own_, own_);
  }

  const Mechanism& m_;
  const State& state_;
  const VectorXd& effort_;
  double step_;
  const std::function<bool()>& progress_;
  SensitivityWorkspace w_;
  Workspace plain_;  // with the same chart
  ForwardDerivatives forward_;
  InverseDerivatives inverse_;
  std::vector<int> own_;
  Index size_ = 0;
};

// A closed mechanism is mostly moved around its own initial state: random positions rarely close.
State random_state(const Mechanism& m, int attempt, std::uint64_t seed) {
  State state{random_position(m, seed), random_vector(m.freedoms(), seed + 1)};
  VectorXd step = 0.3 * random_vector(m.freedoms(), seed + 3);
  // Flexible bodies deflected a little, within the domain of their model.
  constexpr double kDeflection = 0.003;
  for (const FlexiblePlace& body : m.flexible_bodies()) {
    const Node& node = m.nodes()[index(body.node)];
    const double size = kDeflection * (body.constants->size > 0.0 ? body.constants->size : 1.0);
    state.q.segment(node.q_index, node.coordinates) *= size;
    state.v.segment(node.v_index, node.freedoms) *= size;
    step.segment(node.v_index, node.freedoms) *= size;
  }
  if (m.loops().empty()) return state;
  if (attempt % 5 != 0) state.q = integrate(m, m.default_state().q, step);
  return assemble(m, state, {.keep_limits = false});
}

}  // namespace

bool DerivativeReport::passes() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const DerivativeCheck& check) { return check.passes(); });
}

DerivativeReport check_derivatives(const Mechanism& m, int states, std::uint64_t seed, double step,
                                   const std::function<bool()>& progress) {
  DerivativeReport report;
  Collector collector(m);
  const std::vector<std::string> names = ParameterSet::all_names(m);
  const int most = m.loops().empty() ? states : 5 * states;
  for (int attempt = 0; attempt < most && report.states < states; ++attempt) {
    const std::uint64_t own_seed = seed * 1000 + 4 * static_cast<std::uint64_t>(attempt);
    try {
      const State state = random_state(m, attempt, own_seed);
      const VectorXd effort = random_vector(m.freedoms(), own_seed + 2);
      StateCheck(m, state, effort, step, progress).run(own_seed + 5, names, collector);
      ++report.states;
    } catch (const NumericalError&) {
      ++report.skipped;
    } catch (const StateCheck::Stopped&) {
      throw NumericalError("stopped");
    }
  }
  report.checks = std::move(collector.checks);
  for (const DerivativeCheck& check : report.checks)
    report.worst = std::max(report.worst, check.error);
  return report;
}

}  // namespace catena
