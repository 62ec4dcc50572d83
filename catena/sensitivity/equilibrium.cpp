#include "catena/sensitivity/equilibrium.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/inverse.h"
#include "catena/sensitivity/closed_derivatives.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// How far a step may go: no freedom by more than this at once (radians, metres).
constexpr double kLongestStep = 0.5;

}  // namespace

Equilibrium find_equilibrium(const Mechanism& m, const OperatingPoint& guess,
                             const EquilibriumSettings& settings) {
  const Index n = m.freedoms();
  if (!settings.held.empty() && settings.held.size() != to_size(n))
    throw NumericalError("held has " + std::to_string(settings.held.size()) +
                         " entries, but this mechanism has " + std::to_string(n) + " freedoms");
  const auto held = [&](int i) { return !settings.held.empty() && settings.held[index(i)] != 0; };
  SensitivityWorkspace w(m);
  if (!m.loops().empty() && !settings.held.empty()) {
    ChartSettings chart;
    chart.pinned = settings.held;
    w.dynamics().set_chart(choose_chart(m, guess.state.q, chart));
  }
  Equilibrium out;
  out.state = guess.state;
  out.effort = guess.effort.size() == n ? guess.effort : VectorXd::Zero(n);
  const VectorXd rest = VectorXd::Zero(n);

  // What is missing at the independent freedoms.
  double scale = 0.0;
  const auto missing = [&](const State& state) {
    VectorXd applied = out.effort;
    for (int i = 0; i < static_cast<int>(n); ++i)
      if (held(i)) applied[i] = 0.0;
    VectorXd needed = inverse_dynamics(m, state, rest, w.dynamics(), guess.external);
    if (!m.loops().empty()) w.dynamics().reduce(applied);
    scale = std::max({1e-12, needed.lpNorm<Eigen::Infinity>(), applied.lpNorm<Eigen::Infinity>()});
    needed -= applied;
    return needed;
  };
  VectorXd open = missing(out.state);
  std::vector<int> free;  // places among the independent freedoms
  double damping = 1e-6;
  // The scale of efforts: the weights and springs that have to be balanced, at the guess or later.
  double largest_scale = scale;
  for (out.iterations = 0; out.iterations < settings.iterations; ++out.iterations) {
    const std::vector<int>& own = w.dynamics().independent();
    free.clear();
    for (int k = 0; k < static_cast<int>(own.size()); ++k)
      if (!held(own[index(k)])) free.push_back(k);
    VectorXd residual(static_cast<Index>(free.size()));
    for (std::size_t i = 0; i < free.size(); ++i)
      residual[static_cast<Index>(i)] = open[own[index(free[i])]];
    out.residual = residual.size() > 0 ? residual.lpNorm<Eigen::Infinity>() : 0.0;
    largest_scale = std::max(largest_scale, scale);
    if (out.residual <= settings.tolerance * largest_scale) {
      out.found = true;
      break;
    }
    inverse_dynamics_derivatives(m, out.state, rest, w, guess.external);
    Eigen::MatrixXd jacobian = w.inverse.dq(free, free);
    if (!m.loops().empty()) {
      // The efforts that are given act through X, which changes too.
      VectorXd applied = out.effort;
      for (int i = 0; i < static_cast<int>(n); ++i)
        if (held(i)) applied[i] = 0.0;
      Eigen::MatrixXd turned = Eigen::MatrixXd::Zero(w.tangent.map.cols(), w.tangent.map.cols());
      add_map_change(w, applied, turned);
      jacobian -= turned(free, free);
    }
    const VectorXd gradient = jacobian.transpose() * residual;
    const Eigen::MatrixXd square = jacobian.transpose() * jacobian;
    const double size = std::max(square.diagonal().maxCoeff(), 1e-300);
    bool moved = false;
    for (int attempt = 0; attempt < 30 && !moved; ++attempt) {
      Eigen::MatrixXd damped = square;
      damped.diagonal().array() += damping * size;
      VectorXd step = -PivotedCholesky(damped).solve(gradient);
      const double longest = step.lpNorm<Eigen::Infinity>();
      if (!std::isfinite(longest) || longest == 0.0) {
        damping = std::max(damping * 10.0, 1e-12);
        continue;
      }
      if (longest > kLongestStep) step *= kLongestStep / longest;
      VectorXd dq = VectorXd::Zero(static_cast<Index>(own.size()));
      for (std::size_t i = 0; i < free.size(); ++i) dq[free[i]] = step[static_cast<Index>(i)];
      // Within the limits.
      for (std::size_t k = 0; k < own.size(); ++k) {
        const std::size_t i = to_size(own[k]);
        const int coordinate = m.coordinate_of_freedom()[i];
        if (coordinate < 0) continue;
        const FreedomSettings& f = m.freedom_settings()[i];
        const double q = out.state.q[coordinate];
        double& d = dq[static_cast<Index>(k)];
        if (std::isfinite(f.upper)) d = std::min(d, std::max(0.0, f.upper - q));
        if (std::isfinite(f.lower)) d = std::max(d, std::min(0.0, f.lower - q));
      }
      try {
        const State next = displaced(m, out.state, own, dq, VectorXd::Zero(dq.size()));
        const std::vector<int> before = own;
        const VectorXd after = missing(next);
        double squares = 0.0;
        if (w.dynamics().independent() == before)
          for (const int k : free) squares += std::pow(after[before[index(k)]], 2);
        if (squares < residual.squaredNorm()) {
          out.state = next;
          open = after;
          damping = std::max(damping * 0.1, 1e-16);
          moved = true;
          continue;
        }
      } catch (const NumericalError&) {  // cannot be closed there
      }
      damping = std::max(damping * 10.0, 1e-12);
    }
    if (!moved) break;
  }
  open = missing(out.state);
  out.unbalanced = VectorXd::Zero(n);
  int worst = -1;
  for (const int i : w.dynamics().independent()) {
    if (held(i)) {
      out.effort[i] = open[i];
      continue;
    }
    out.unbalanced[i] = open[i];
    if (worst < 0 || std::abs(open[i]) > std::abs(open[worst])) worst = i;
  }
  // Held freedoms that are dependent get nothing: their loop holds them.
  for (int i = 0; i < static_cast<int>(n); ++i)
    if (held(i) && std::find(w.dynamics().independent().begin(), w.dynamics().independent().end(),
                             i) == w.dynamics().independent().end())
      out.effort[i] = 0.0;
  if (!out.found && worst >= 0)
    out.reason =
        "freedom '" + m.velocity_names()[index(worst)] + "' lacks " +
        number(out.unbalanced[worst]) + " (N or N m) in the best position found" +
        (m.has_free_base() ? "; a free base needs forces from outside, or must be held"
                           : "; start from another guess, hold a freedom or give an effort");
  OperatingPoint at{out.state, out.effort, rest, guess.external};
  LinearizeSettings wanted;
  wanted.motion_driven = settings.held;
  // A held freedom is driven at zero acceleration: it is no state that could be unstable.
  const LinearModel linear = linearize(m, at, wanted, w);
  out.acceleration = linear.residual;
  std::vector<Index> states;
  for (std::size_t k = 0; k < linear.freedoms.size(); ++k)
    if (!held(linear.freedoms[k])) states.push_back(static_cast<Index>(k));
  const Index half = static_cast<Index>(linear.freedoms.size());
  const std::size_t count = states.size();
  for (std::size_t k = 0; k < count; ++k) states.push_back(states[k] + half);
  out.modes = modes(Eigen::MatrixXd(linear.A(states, states)));
  return out;
}

}  // namespace catena
