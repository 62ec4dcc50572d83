// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/modal_step.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;

constexpr int kWindow = 2000;           // samples evaluated together
constexpr long kMostSamples = 2000000;  // of one search
constexpr double kPerPeriod = 20.0;     // samples in the period of the fastest mode that is left

// The response and its envelope at any time (samples for a sampled system).
class Sum {
 public:
  explicit Sum(const ModalStep& m) : m_(m) {}

  double at(double t) const {
    double y = m_.steady;
    for (std::size_t k = 0; k < m_.rate.size(); ++k)
      y += (m_.amplitude[k] * std::exp(m_.rate[k] * t)).real();
    return y;
  }
  double envelope(double t) const {
    double e = 0.0;
    for (std::size_t k = 0; k < m_.rate.size(); ++k)
      e += std::abs(m_.amplitude[k]) * std::exp(m_.rate[k].real() * t);
    return e;
  }
  // The spacing that resolves what is left at t to `floor`.
  double spacing(double t, double floor) const {
    if (m_.dt > 0.0) return 1.0;
    double fastest = 0.0;
    for (std::size_t k = 0; k < m_.rate.size(); ++k)
      if (std::abs(m_.amplitude[k]) * std::exp(m_.rate[k].real() * t) > floor)
        fastest = std::max(fastest, std::abs(m_.rate[k]));
    return fastest > 0.0 ? 2.0 * M_PI / (kPerPeriod * fastest) : 0.0;
  }
  bool sampled() const { return m_.dt > 0.0; }
  double seconds(double t) const { return (m_.dt > 0.0 ? t * m_.dt : t) + m_.delay; }

 private:
  const ModalStep& m_;
};

struct Extreme {
  double value = 0.0, time = 0.0;
};

// The largest direction · y between two times that enclose one maximum.
Extreme refined(const Sum& y, double from, double to, double direction) {
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  for (int i = 0; i < 80; ++i) {
    const double a = to - golden * (to - from), b = from + golden * (to - from);
    if (direction * y.at(a) < direction * y.at(b))
      from = a;
    else
      to = b;
  }
  const double t = 0.5 * (from + to);
  return {direction * y.at(t), t};
}

// The time between two at which y crosses the level.
double crossing(const Sum& y, double from, double to, double level) {
  if (y.sampled()) return to;
  const bool above = y.at(to) > level;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (from + to);
    ((y.at(middle) > level) == above ? to : from) = middle;
  }
  return 0.5 * (from + to);
}

// The largest and the least value of all times.
bool extremes(const Sum& y, double steady, double floor, Extreme& most, Extreme& least) {
  const double start = y.at(0.0);
  most = {start, 0.0};
  least = {-start, 0.0};
  double t = 0.0;
  for (long used = 0; used < kMostSamples; used += kWindow) {
    const double rest = y.envelope(t), h = y.spacing(t, floor);
    if ((steady + rest <= most.value && rest - steady <= least.value) || h == 0.0) return true;
    for (int i = 1; i <= kWindow; ++i) {
      const double value = y.at(t + i * h);
      // Refined only where a neighbouring maximum could be the largest: within a sample spacing a
      // sine of the fastest mode rises by less than 2 % of the envelope.
      for (Extreme* best : {&most, &least}) {
        const double direction = best == &most ? 1.0 : -1.0;
        if (direction * value + 0.02 * rest <= best->value) continue;
        if (y.sampled()) {
          if (direction * value > best->value) *best = {direction * value, t + i * h};
          continue;
        }
        const double from = t + (i - 1) * h, to = t + (i + 1) * h;
        if (direction * y.at(from) > direction * value || direction * y.at(to) > direction * value)
          continue;  // no maximum here
        const Extreme found = refined(y, from, to, direction);
        if (found.value > best->value) *best = found;
      }
    }
    t += kWindow * h;
  }
  return false;
}

// The first time at which direction · y reaches direction · level; NaN if it is not found.
double first_reach(const Sum& y, double level, double direction, double floor) {
  if (direction * (y.at(0.0) - level) >= 0.0) return 0.0;
  double t = 0.0;
  for (long used = 0; used < kMostSamples; used += kWindow) {
    const double h = y.spacing(t, floor);
    if (h == 0.0) break;
    for (int i = 1; i <= kWindow; ++i)
      if (direction * (y.at(t + i * h) - level) >= 0.0)
        return crossing(y, t + (i - 1) * h, t + i * h, level);
    t += kWindow * h;
  }
  return std::nan("");
}

// The last time at which |y − steady| exceeds the band; NaN if it is not found.
double settling(const Sum& y, double steady, double band, double floor) {
  if (!(band > 0.0)) return std::nan("");
  const auto outside = [&](double t) { return std::abs(y.at(t) - steady) > band; };
  if (y.envelope(0.0) <= band) return 0.0;
  double low = 0.0, high = std::max(y.spacing(0.0, floor), 1e-300);
  for (; y.envelope(high) > band && std::isfinite(high);) low = high, high *= 2.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (y.envelope(middle) > band ? low : high) = middle;
  }
  double end = y.sampled() ? std::ceil(high) : high;
  for (long used = 0; used < kMostSamples; used += kWindow) {
    const double h = y.spacing(end, 1e-3 * band);
    if (h == 0.0) break;
    for (int i = 1; i <= kWindow; ++i) {
      const double t = end - i * h;
      if (t <= 0.0)
        return outside(0.0)
                   ? crossing(y, 0.0, t + h, y.at(0.0) > steady ? steady + band : steady - band)
                   : 0.0;
      if (!outside(t)) {
        // Between samples the curve may leave the band at a crest.
        if (y.sampled()) continue;
        const double side = y.at(t) > steady ? 1.0 : -1.0;
        const double here = std::abs(y.at(t) - steady);
        if (here < 0.9 * band || here < side * (y.at(t - h) - steady) ||
            here < side * (y.at(t + h) - steady))
          continue;
        const Extreme crest = refined(y, t - h, t + h, side);
        if (crest.value - side * steady <= band) continue;
        return crossing(y, crest.time, t + h, steady + side * band);
      }
      return crossing(y, t, t + h, y.at(t) > steady ? steady + band : steady - band);
    }
    end -= kWindow * h;
  }
  return std::nan("");
}

}  // namespace

std::vector<ModalStep> modal_steps(const StateSpace& system) {
  const StateSpace g = explicit_form(system.is_discrete() ? absorb_delays(system) : system);
  const lapack::EigenSystem e = lapack::eig(g.A);
  if (e.values.size() == 0) return {};
  const Eigen::VectorXd spread = lapack::singular_values(e.right);
  constexpr double kWorstCondition = 1e8;
  if (!(spread[spread.size() - 1] * kWorstCondition > spread[0])) return {};
  const MatrixXcd b = lapack::solve(e.right, MatrixXcd(g.B.cast<Complex>()), "eigenvectors");
  const MatrixXcd c = g.C.cast<Complex>() * e.right;
  const Eigen::MatrixXd steady = dcgain(g), delays = g.delays();
  std::vector<ModalStep> all;
  for (int j = 0; j < g.input_count(); ++j)
    for (int i = 0; i < g.output_count(); ++i) {
      ModalStep m;
      m.steady = steady(i, j);
      m.dt = g.dt;
      if (g.is_continuous() && g.has_delay()) m.delay = delays(i, j);
      for (Eigen::Index k = 0; k < e.values.size(); ++k) {
        const Complex pole = e.values[k], residue = c(i, k) * b(k, j);
        if (residue == 0.0) continue;
        // A pole at z = 0 is over after one sample: exp(−800) is zero.
        const Complex fast(-800.0, 0.0);
        m.amplitude.push_back(g.is_continuous() ? residue / pole : residue / (pole - 1.0));
        m.rate.push_back(g.is_continuous() ? pole : std::abs(pole) > 0.0 ? std::log(pole) : fast);
      }
      all.push_back(std::move(m));
    }
  return all;
}

StepInfo modal_stepinfo(const ModalStep& response, const StepInfoSettings& settings) {
  const Sum y(response);
  const double steady = response.steady;
  StepInfo info;
  info.steady_state = steady;
  const double floor = 1e-9 * (std::abs(steady) + y.envelope(0.0));
  Extreme most, least;
  const bool found = extremes(y, steady, floor, most, least);
  const double size = std::abs(steady), nan = std::nan("");
  info.peak = found ? std::max(most.value, least.value) : nan;
  info.peak_time = found ? y.seconds(most.value >= least.value ? most.time : least.time) : nan;
  const double band = settings.settling_band * (size > 0.0 ? size : info.peak);
  info.settling_time = y.seconds(settling(y, steady, band, floor));
  if (size == 0.0) {
    info.rise_time = nan;
    return info;
  }
  const double direction = steady > 0.0 ? 1.0 : -1.0;
  info.rise_time = y.seconds(first_reach(y, settings.rise_to * steady, direction, floor)) -
                   y.seconds(first_reach(y, settings.rise_from * steady, direction, floor));
  const double beyond = direction > 0.0 ? most.value : least.value,
               opposite = direction > 0.0 ? least.value : most.value;
  // What rounding errors leave of zero is no overshoot.
  const auto percent = [&](double x) { return x < 1e-9 * size ? 0.0 : 100.0 * x / size; };
  info.overshoot = found ? percent(beyond - size) : nan;
  info.undershoot = found ? percent(opposite) : nan;
  return info;
}

}  // namespace catena
