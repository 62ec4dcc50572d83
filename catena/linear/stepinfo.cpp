// SPDX-License-Identifier: BSD-3-Clause
// Features of step responses and the root locus (timeresp.h).
#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/modal_step.h"
#include "catena/linear/timeresp.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

// Samples with slopes: a cubic between any two. Slopes empty: straight lines (`stairs`: none at
// all).
struct Curve {
  const VectorXd& t;
  const VectorXd& y;
  VectorXd slope;
  bool stairs = false;

  double value(Eigen::Index k, double s) const {
    const double h = t[k + 1] - t[k];
    if (slope.size() == 0) return y[k] + s * (y[k + 1] - y[k]);
    const double a = h * slope[k] - (y[k + 1] - y[k]), b = -h * slope[k + 1] + (y[k + 1] - y[k]);
    return (1.0 - s) * y[k] + s * y[k + 1] + s * (1.0 - s) * ((1.0 - s) * a + s * b);
  }
  // The time in interval k at which the curve passes `level`, which its ends enclose.
  double crossing(Eigen::Index k, double level) const {
    if (stairs) return t[k + 1];
    double low = 0.0, high = 1.0;
    const bool rising = y[k + 1] > y[k];
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      ((value(k, middle) < level) == rising ? low : high) = middle;
    }
    return t[k] + 0.5 * (low + high) * (t[k + 1] - t[k]);
  }
  // The first time at which the curve, read in the direction of its end, reaches the level.
  double first_reach(double level, double direction) const {
    if (direction * (y[0] - level) >= 0.0) return t[0];
    for (Eigen::Index k = 0; k + 1 < t.size(); ++k)
      if (direction * (y[k + 1] - level) >= 0.0) return crossing(k, level);
    return std::nan("");
  }
  // The largest value of direction · y and its time: of the samples and inside the intervals
  // beside.
  double extreme(double direction, double& time) const {
    Eigen::Index best = 0;
    double most = (direction * y).maxCoeff(&best);
    time = t[best];
    if (slope.size() == 0 || stairs) return most;
    for (const Eigen::Index k : {best - 1, best}) {
      if (k < 0 || k + 1 >= t.size()) continue;
      // Golden section on the cubic, which has one maximum beside the largest sample.
      double low = 0.0, high = 1.0;
      const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
      for (int i = 0; i < 80; ++i) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        (direction * value(k, a) < direction * value(k, b) ? low : high) =
            direction * value(k, a) < direction * value(k, b) ? a : b;
      }
      const double found = direction * value(k, 0.5 * (low + high));
      if (found > most) {
        most = found;
        time = t[k] + 0.5 * (low + high) * (t[k + 1] - t[k]);
      }
    }
    return most;
  }
};

// From when on the curve stays within the band; NaN if its last sample is outside.
double settling(const Curve& c, double target, double band) {
  const Eigen::Index n = c.t.size();
  const auto outside = [&](Eigen::Index k) { return std::abs(c.y[k] - target) > band; };
  if (outside(n - 1)) return std::nan("");
  Eigen::Index k = n - 1;
  while (k > 0 && !outside(k - 1)) --k;
  if (k == 0) return c.t[0];
  return c.crossing(k - 1, c.y[k - 1] > target ? target + band : target - band);
}

StepInfo features(const Curve& c, double steady, const StepInfoSettings& settings) {
  StepInfo info;
  info.steady_state = steady;
  double at_most = 0.0, at_least = 0.0;
  const double largest = c.extreme(1.0, at_most), least = c.extreme(-1.0, at_least);
  info.peak = std::max(largest, least);
  info.peak_time = largest >= least ? at_most : at_least;
  // Without a steady state to compare with, only the peak has a meaning.
  if (steady == 0.0 || !std::isfinite(steady)) {
    info.rise_time = info.settling_time = std::nan("");
    if (std::abs(c.y[c.y.size() - 1]) <= settings.settling_band * info.peak && steady == 0.0)
      info.settling_time = settling(c, 0.0, settings.settling_band * info.peak);
    return info;
  }
  const double direction = steady > 0.0 ? 1.0 : -1.0, size = std::abs(steady);
  const double begin = c.first_reach(settings.rise_from * steady, direction);
  const double end = c.first_reach(settings.rise_to * steady, direction);
  info.rise_time = end - begin;
  info.settling_time = settling(c, steady, settings.settling_band * size);
  const double beyond = direction > 0.0 ? largest : least,
               opposite = direction > 0.0 ? least : largest;
  info.overshoot = std::max(0.0, 100.0 * (beyond - size) / size);
  // What rounding errors leave of zero is no overshoot.
  if (info.overshoot < 1e-9) info.overshoot = 0.0;
  info.undershoot = std::max(0.0, 100.0 * opposite / size);
  if (info.undershoot < 1e-9) info.undershoot = 0.0;
  return info;
}

}  // namespace

StepInfo stepinfo(const VectorXd& t, const VectorXd& y, double steady_state,
                  const StepInfoSettings& settings) {
  if (t.size() != y.size() || t.size() < 2)
    throw Error("stepinfo: " + std::to_string(t.size()) + " times and " + std::to_string(y.size()) +
                " values; as many of each are needed, at least two");
  if (!t.allFinite() || !y.allFinite()) throw Error("stepinfo: a sample is not a finite number");
  return features({t, y, VectorXd()}, steady_state, settings);
}

namespace {

// Whether a uniform grid of this length and spacing shows the response: it reaches the end of the
// slowest mode and has at least fifteen samples in the period of each that lasts.
bool shows(const StateSpace& system, const VectorXd& t) {
  constexpr Eigen::Index kMany = 3000;  // samples: lightly damped, so that exponentials are as fast
  if (t.size() > kMany) return false;
  const double until = t[t.size() - 1], h = t[1] - t[0];
  for (const PoleInfo& p : damp(system)) {
    if (!std::isfinite(p.frequency) || !std::isfinite(p.time_constant)) continue;
    if (until < 5.0 * p.time_constant) return false;
    const bool lasts = until < 200.0 * p.time_constant;
    if (system.is_continuous() && lasts && p.frequency * h > 2.0 * M_PI / 15.0) return false;
  }
  return true;
}

}  // namespace

StepInfoTable stepinfo(const StateSpace& system, const StepInfoSettings& settings) {
  const MatrixXd steady = dcgain(system);
  const bool stable = is_stable(system);
  StepInfoTable table{system.output_count(), system.input_count(), {}};
  VectorXd t = time_grid(system);
  if (stable && system.order() > 0 && !shows(system, t)) {
    for (const ModalStep& response : modal_steps(system))
      table.entries.push_back(modal_stepinfo(response, settings));
    if (!table.entries.empty()) return table;
  }
  for (int attempt = 0;; ++attempt) {
    const TimeResponse y = step(system, t);
    TimeResponse slopes;
    if (system.is_continuous()) slopes = impulse(system, t);  // the slope of a step response
    table.entries.clear();
    bool settled = true;
    for (int j = 0; j < system.input_count(); ++j)
      for (int i = 0; i < system.output_count(); ++i) {
        const VectorXd values = y.entry(i, j);
        Curve curve{t, values, VectorXd(), system.is_discrete()};
        if (system.is_continuous()) curve.slope = slopes.entry(i, j);
        StepInfo info = features(curve, steady(i, j), settings);
        info.stable = stable;
        settled = settled && !(stable && std::isnan(info.settling_time) && steady(i, j) != 0.0);
        table.entries.push_back(info);
      }
    // Repeated slow poles settle later than one alone.
    if (settled || attempt == 4 || t.size() > 100000) return table;
    const double last = t[t.size() - 1];
    t = time_grid(system, 2.0 * last);
  }
}

// ---- root locus ---------------------------------------------------------------------------------

namespace {

VectorXcd loop_poles(const StateSpace& g, double k) {
  // u = k (r − y): A − B k (1 + D k)⁻¹ C.
  const double gain = k / (1.0 + k * g.D(0, 0));
  return lapack::eigenvalues(MatrixXd(g.A - gain * g.B * g.C));
}

// The values in the order of the curves that lead to them: closest pairs first.
VectorXcd continued(const VectorXcd& before, const VectorXcd& values) {
  const Eigen::Index n = before.size();
  struct Pair {
    double distance;
    Eigen::Index from, to;
  };
  std::vector<Pair> pairs;
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) pairs.push_back({std::abs(before[i] - values[j]), i, j});
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  std::vector<char> used_from(index(n), 0), used_to(index(n), 0);
  VectorXcd result(n);
  for (const Pair& p : pairs) {
    if (at(used_from, p.from) || at(used_to, p.to)) continue;
    at(used_from, p.from) = at(used_to, p.to) = 1;
    result[p.from] = values[p.to];
  }
  return result;
}

double largest_move(const VectorXcd& a, const VectorXcd& b, double size) {
  double most = 0.0;
  for (Eigen::Index i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i]) / (size + std::abs(a[i])));
  return most;
}

// A gain at which the loop matters: 1/|G| where its poles are.
double typical_gain(const StateSpace& g, const VectorXcd& p) {
  double log_sum = 0.0;
  int count = 0;
  for (const Complex s : p)
    if (std::abs(s) > 0.0) {
      log_sum += std::log(std::abs(s));
      ++count;
    }
  const double w = count > 0 ? std::exp(log_sum / count) : 1.0;
  const Complex s = g.is_continuous() ? Complex(0.3 * w, w) : std::polar(1.3, 1.0);
  const double gain = std::abs(evaluate(g, s)(0, 0));
  return gain > 0.0 ? 1.0 / gain : 1.0;
}

}  // namespace

RootLocus rlocus(const StateSpace& system, const VectorXd& gains) {
  if (!system.is_siso()) throw Error("rlocus: the system must have one input and one output");
  if (system.has_delay() && system.is_continuous())
    throw Error("rlocus: the system has a delay; approximate it by pade() first");
  const StateSpace g = explicit_form(system.is_discrete() ? absorb_delays(system) : system);
  RootLocus result;
  result.open_poles = poles(g);
  result.zeros = zeros(g);
  double size = 1e-3;
  if (result.open_poles.size() > 0) size = std::max(size, result.open_poles.cwiseAbs().mean());
  std::vector<double> k;
  if (gains.size() > 0) {
    k.assign(gains.begin(), gains.end());
  } else {
    const double typical = typical_gain(g, result.open_poles);
    k.push_back(0.0);
    for (int i = 0; i <= 60; ++i) k.push_back(typical * std::pow(10.0, -3.0 + 0.1 * i));
  }
  std::vector<VectorXcd> curve = {gains.size() > 0 ? loop_poles(g, k[0]) : result.open_poles};
  std::vector<double> used = {k[0]};
  // No pole moves farther than this part of its modulus from one gain to the next.
  constexpr double kMostMove = 0.05, kLeastStep = 1e-9;
  constexpr std::size_t kMostGains = 5000;
  std::vector<double> waiting(k.rbegin(), k.rend() - 1);  // the next gain is last
  while (!waiting.empty()) {
    const double next = waiting.back();
    const VectorXcd values = continued(curve.back(), loop_poles(g, next));
    const bool far = gains.size() == 0 && largest_move(curve.back(), values, size) > kMostMove &&
                     next - used.back() > kLeastStep * next &&
                     used.size() + waiting.size() < kMostGains;
    if (far) {
      waiting.push_back(0.5 * (used.back() + next));
      continue;
    }
    waiting.pop_back();
    used.push_back(next);
    curve.push_back(values);
  }
  result.gains = Eigen::Map<VectorXd>(used.data(), std::ssize(used));
  result.poles.resize(g.order(), std::ssize(curve));
  for (std::size_t i = 0; i < curve.size(); ++i)
    result.poles.col(static_cast<Eigen::Index>(i)) = curve[i];
  return result;
}

}  // namespace catena
