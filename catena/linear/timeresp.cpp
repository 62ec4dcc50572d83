// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/timeresp.h"

#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/matrix_functions.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The spacing of uniform times that begin at 0.
double spacing_of(const VectorXd& t, const StateSpace& system) {
  if (t.size() < 2) throw Error("time response: at least two times are needed");
  const double h = (t[t.size() - 1] - t[0]) / static_cast<double>(t.size() - 1);
  if (t[0] != 0.0 || !(h > 0.0) || !std::isfinite(h))
    throw Error("time response: the times must begin at 0 and grow");
  for (Eigen::Index k = 0; k < t.size(); ++k)
    if (std::abs(t[k] - static_cast<double>(k) * h) > 1e-6 * h)
      throw Error("time response: the times are not uniform: sample " + std::to_string(k + 1) +
                  " is at " + number(t[k]) + " s, not " + number(static_cast<double>(k) * h) +
                  " s");
  if (system.is_discrete() && std::abs(h - system.dt) > 1e-6 * h)
    throw Error("time response: the times are " + number(h) +
                " s apart, the system is sampled with " + number(system.dt) + " s");
  return h;
}

// One part of a sampling interval: x(end) = Φ x + Γ₀ u(begin) + Γ₁ (u(end) − u(begin)).
struct Substep {
  double begin = 0.0, end = 0.0;  // in sampling intervals
  MatrixXd phi, gamma0, gamma1;
};

Substep substep(const StateSpace& g, double h, double begin, double end) {
  const Eigen::Index n = g.order(), m = g.input_count();
  const double length = (end - begin) * h;
  MatrixXd block = MatrixXd::Zero(n + 2 * m, n + 2 * m);
  block.topLeftCorner(n, n) = length * g.A;
  block.block(0, n, n, m) = length * g.B;
  block.block(n, n + m, m, m).setIdentity();
  const MatrixXd e = expm(block);
  return {begin, end, e.topLeftCorner(n, n), e.block(0, n, n, m), e.block(0, n + m, n, m)};
}

// A time in sampling intervals as whole ones and a fraction in [0, 1).
struct Split {
  Eigen::Index whole = 0;
  double fraction = 0.0;
};

Split split(double steps) {
  constexpr double kRounding = 1e-9;
  const double nearest = std::round(steps);
  if (std::abs(steps - nearest) <= kRounding * std::max(1.0, std::abs(steps)))
    return {static_cast<Eigen::Index>(nearest), 0.0};
  return {static_cast<Eigen::Index>(std::floor(steps)), steps - std::floor(steps)};
}

double delay_of(const VectorXd& delays, Eigen::Index i) {
  return delays.size() > 0 ? delays[i] : 0.0;
}

// Simulates with piecewise constant or linear inputs. Each sampling interval is cut where a delayed
// input has a corner and where a delayed output looks.
class Simulation {
 public:
  Simulation(const StateSpace& g, const MatrixXd& u, double h, InputHold hold)
      : g_(g), u_(u), h_(h), hold_(hold) {
    std::vector<double> cuts = {0.0, 1.0};
    for (int j = 0; j < g.input_count(); ++j) {
      in_.push_back(split(delay_of(g.input_delay, j) / h));
      cuts.push_back(in_.back().fraction);
    }
    for (int i = 0; i < g.output_count(); ++i) {
      out_.push_back(split(delay_of(g.output_delay, i) / h));
      if (out_.back().fraction > 0.0) cuts.push_back(1.0 - out_.back().fraction);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(
        std::unique(cuts.begin(), cuts.end(), [](double a, double b) { return b - a < 1e-9; }),
        cuts.end());
    cuts.back() = 1.0;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c)
      parts_.push_back(substep(g, h, cuts[c], cuts[c + 1]));
  }

  MatrixXd run(VectorXd x) const {
    const Eigen::Index samples = u_.cols();
    MatrixXd y = MatrixXd::Zero(g_.output_count(), samples);
    // Feedthrough and state at the beginning of each part; outputs pick theirs.
    for (Eigen::Index k = 0; k < samples; ++k)
      for (const Substep& part : parts_) {
        const VectorXd begin = input(k, part.begin, false);
        record(y, k, part.begin, x, begin);
        x = part.phi * x + part.gamma0 * begin;
        if (hold_ == InputHold::foh) x += part.gamma1 * (input(k, part.end, true) - begin);
      }
    return y;
  }

 private:
  // The delayed input at the time (k + part) h; from the left if asked.
  VectorXd input(Eigen::Index k, double part, bool from_left) const {
    VectorXd value(g_.input_count());
    for (int j = 0; j < g_.input_count(); ++j) {
      const Split& delay = at(in_, j);
      double offset = part - delay.fraction;
      Eigen::Index sample = k - delay.whole;
      if (std::abs(offset) < 1e-9) offset = 0.0;
      if (offset < 0.0) {
        offset += 1.0;
        --sample;
      }
      if (from_left && offset == 0.0) {
        offset = 1.0;
        --sample;
      }
      if (offset >= 1.0 && !from_left) {
        offset -= 1.0;
        ++sample;
      }
      const double now = sample_of(j, sample);
      // Before t = 0 the input is zero and jumps to its first value.
      value[j] = hold_ == InputHold::zoh || sample < 0
                     ? now
                     : now + offset * (sample_of(j, std::min(sample + 1, u_.cols() - 1)) - now);
    }
    return value;
  }

  double sample_of(int j, Eigen::Index k) const {
    return k < 0 ? 0.0 : u_(j, std::min(k, u_.cols() - 1));
  }

  void record(MatrixXd& y, Eigen::Index k, double part, const VectorXd& x,
              const VectorXd& u) const {
    for (int i = 0; i < g_.output_count(); ++i) {
      const Split& delay = at(out_, i);
      const double look = delay.fraction > 0.0 ? 1.0 - delay.fraction : 0.0;
      if (std::abs(part - look) > 1e-9) continue;
      const Eigen::Index seen = k + delay.whole + (delay.fraction > 0.0 ? 1 : 0);
      if (seen < y.cols()) y(i, seen) = g_.C.row(i).dot(x) + g_.D.row(i).dot(u);
    }
  }

  const StateSpace& g_;
  const MatrixXd& u_;
  double h_;
  InputHold hold_;
  std::vector<Split> in_, out_;
  std::vector<Substep> parts_;
};

MatrixXd run_sampled(const StateSpace& g, const MatrixXd& u, VectorXd x) {
  MatrixXd y(g.output_count(), u.cols());
  for (Eigen::Index k = 0; k < u.cols(); ++k) {
    y.col(k) = g.C * x + g.D * u.col(k);
    x = g.A * x + g.B * u.col(k);
  }
  return y;
}

VectorXd padded_state(const StateSpace& absorbed, const VectorXd& x0, const StateSpace& given) {
  VectorXd x = VectorXd::Zero(absorbed.order());
  if (x0.size() == 0) return x;
  if (x0.size() != given.order())
    throw Error("time response: x0 has " + std::to_string(x0.size()) + " entries, the system " +
                std::to_string(given.order()) + " states");
  // absorb_delays puts the states of the input delays first.
  Eigen::Index first = 0;
  while (first < absorbed.order() &&
         absorbed.state_name(static_cast<int>(first)).rfind("delay_in", 0) == 0)
    ++first;
  x.segment(absorbed.order() == given.order() ? 0 : first, given.order()) = x0;
  return x;
}

MatrixXd simulate_response(const StateSpace& g, const MatrixXd& u, double h, InputHold hold,
                           const VectorXd& x0) {
  if (g.is_discrete()) {
    const StateSpace absorbed = absorb_delays(g);
    return run_sampled(absorbed, u, padded_state(absorbed, x0, g));
  }
  return Simulation(g, u, h, hold).run(padded_state(g, x0, g));
}

void require_finite_response(const MatrixXd& y, const VectorXd& t) {
  for (Eigen::Index k = 0; k < y.cols(); ++k)
    if (!y.col(k).allFinite())
      throw NumericalError("time response: the response overflows at " + number(t[k]) +
                           " s; the system is unstable, choose a shorter time");
}

StateSpace prepared(const StateSpace& system) {
  StateSpace g = explicit_form(system);
  g.fill_names();
  return g;
}

}  // namespace

VectorXd time_grid(const StateSpace& system, double until) {
  // Intervals: by default, and for a length that was asked for.
  constexpr double kMost = 20000.0, kMostGiven = 200000.0;
  if (until < 0.0 || !std::isfinite(until))
    throw Error("time response: a length of " + number(until) + " s; it must be positive");
  double slow = 0.0, fast = 0.0;
  bool growing = false;
  const std::vector<PoleInfo> info = damp(system);
  for (const PoleInfo& p : info) {
    if (!std::isfinite(p.frequency)) continue;
    fast = std::max(fast, p.frequency);
    if (p.time_constant < 0.0) growing = true;
    const double decay = std::isfinite(p.time_constant) ? std::abs(p.time_constant) : 0.0;
    slow = std::max(slow, decay);
    if (p.frequency > 0.0 && decay == 0.0) slow = std::max(slow, 10.0 / p.frequency);
  }
  const bool given = until > 0.0;
  // ln(1000) time constants settle to a thousandth; of a growing one a few show it.
  if (!given) {
    until = slow > 0.0 ? (growing ? 3.0 : 7.0) * slow : 10.0;
    if (!std::isfinite(until)) until = 10.0;
    if (system.has_delay()) until += system.delays().maxCoeff();
  }
  if (system.is_discrete()) {
    double count = std::ceil(until / system.dt - 1e-9);
    if (given && count > kMostGiven)
      throw Error("time response: " + number(until) + " s are " + number(count) +
                  " samples; at most " + number(kMostGiven) + " are shown");
    if (!given) count = std::min(count, kMost);
    return VectorXd::LinSpaced(static_cast<Eigen::Index>(count) + 1, 0.0, count * system.dt);
  }
  // Twenty samples in the period of the fastest pole that is still there after a fiftieth of the
  // time.
  constexpr double kPerPeriod = 20.0 / (2.0 * M_PI);
  const auto fastest = [&](double decays) {
    double most = 0.0;
    for (const PoleInfo& p : info)
      if (std::isfinite(p.frequency) && std::abs(p.pole.real()) * until < decays)
        most = std::max(most, p.frequency);
    return most;
  };
  // Rather a part of the time than samples that miss the oscillation of a mode that lasts.
  if (const double lasting = fastest(20.0); !given && until * lasting * kPerPeriod > kMost)
    until = kMost / (lasting * kPerPeriod);
  const double wanted = std::ceil(until * fastest(200.0) * kPerPeriod);
  const double count = std::clamp(wanted, 500.0, given ? kMostGiven : kMost);
  return VectorXd::LinSpaced(static_cast<Eigen::Index>(count) + 1, 0.0, until);
}

TimeResponse step(const StateSpace& system, const VectorXd& times) {
  const StateSpace g = prepared(system);
  TimeResponse result{times.size() > 0 ? times : time_grid(g), {}, g.inputs, g.outputs};
  const double h = spacing_of(result.t, g);
  for (int j = 0; j < g.input_count(); ++j) {
    MatrixXd u = MatrixXd::Zero(g.input_count(), result.t.size());
    u.row(j).setOnes();
    result.y.push_back(simulate_response(g, u, h, InputHold::zoh, {}));
    require_finite_response(result.y.back(), result.t);
  }
  return result;
}

TimeResponse impulse(const StateSpace& system, const VectorXd& times) {
  const StateSpace g = prepared(system);
  TimeResponse result{times.size() > 0 ? times : time_grid(g), {}, g.inputs, g.outputs};
  const double h = spacing_of(result.t, g);
  if (g.is_discrete()) {
    for (int j = 0; j < g.input_count(); ++j) {
      MatrixXd u = MatrixXd::Zero(g.input_count(), result.t.size());
      u(j, 0) = 1.0;
      result.y.push_back(simulate_response(g, u, h, InputHold::zoh, {}));
      require_finite_response(result.y.back(), result.t);
    }
    return result;
  }
  // h(t) = C e^{A(t − d)} B from the delay d on: from the first sample at or after it.
  const MatrixXd phi = expm(g.A * h), delays = g.delays();
  for (int j = 0; j < g.input_count(); ++j) {
    MatrixXd y = MatrixXd::Zero(g.output_count(), result.t.size());
    for (int i = 0; i < g.output_count(); ++i) {
      const Split delay = split(delays(i, j) / h);
      Eigen::Index first = delay.whole;
      VectorXd x = g.B.col(j);
      if (delay.fraction > 0.0) {
        ++first;
        x = expm(g.A * ((1.0 - delay.fraction) * h)) * x;
      }
      for (Eigen::Index k = first; k < y.cols(); ++k) {
        y(i, k) = g.C.row(i).dot(x);
        x = phi * x;
      }
    }
    require_finite_response(y, result.t);
    result.y.push_back(y);
  }
  return result;
}

TimeResponse initial(const StateSpace& system, const VectorXd& x0, const VectorXd& times) {
  return lsim(system,
              MatrixXd::Zero(system.input_count(),
                             times.size() > 0 ? times.size() : time_grid(system).size()),
              times.size() > 0 ? times : time_grid(system), {.hold = InputHold::zoh, .x0 = x0});
}

TimeResponse lsim(const StateSpace& system, const MatrixXd& u, const VectorXd& t,
                  const LsimSettings& settings) {
  if (system.is_descriptor() && settings.x0.size() > 0)
    throw Error(
        "lsim: the states of a descriptor system change; bring it to explicit_form() first");
  const StateSpace g = prepared(system);
  if (u.rows() != g.input_count() || u.cols() != t.size())
    throw Error("lsim: u is " + std::to_string(u.rows()) + " x " + std::to_string(u.cols()) +
                "; it must have " + std::to_string(g.input_count()) + " rows (inputs) and " +
                std::to_string(t.size()) + " columns (samples)");
  if (!u.allFinite()) throw Error("lsim: u has an entry that is not a finite number");
  TimeResponse result{t, {}, g.inputs, g.outputs};
  const double h = spacing_of(t, g);
  result.y.push_back(simulate_response(g, u, h, settings.hold, settings.x0));
  require_finite_response(result.y[0], t);
  return result;
}

}  // namespace catena
