// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/nonlinear/verify_loop.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/margins.h"
#include "catena/control/norms.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"

namespace catena {
namespace {

using Complex = std::complex<double>;

constexpr double kTiny = 1e-6;  // factors below this are zero

std::string pole_name(Complex p) {
  std::string text = short_number(p.real(), 5);
  if (p.imag() != 0.0) text += " ± " + short_number(std::abs(p.imag()), 5) + "i";
  return "pole " + text + ", real part";
}

// Each predicted pole beside the measured one nearest to it, each used once.
void compare_poles(const NonlinearLoop& loop, double tolerance, std::vector<LoopClaim>& claims) {
  const Eigen::VectorXcd predicted = predicted_poles(loop), measured = measured_poles(loop);
  // A sampled loop forgets a pole within this of z = 0 in one sample: as fast as any.
  constexpr double kForgotten = 1e-4;
  const double fast = loop.controller.is_discrete() ? std::log(kForgotten) / loop.controller.dt
                                                    : -std::numeric_limits<double>::infinity();
  std::vector<char> used(to_size(measured.size()), 0);
  double largest = 0.0;
  for (const Complex& p : predicted)
    if (p.real() > fast) largest = std::max(largest, std::abs(p));
  for (const Complex& p : predicted) {
    if (p.real() <= fast) continue;
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < measured.size(); ++i)
      if (at(used, i) == 0 &&
          (best < 0 || std::abs(measured[i] - p) < std::abs(measured[best] - p)))
        best = i;
    if (best < 0) continue;
    at(used, best) = 1;
    if (p.imag() < 0.0) continue;
    // Poles at zero and multiple ones are only right to a root of the rounding errors.
    const double size = std::max(std::abs(p), 1e-3 * largest);
    LoopClaim claim{.name = pole_name(p), .unit = "1/s"};
    claim.linear = p.real();
    claim.nonlinear = measured[best].real();
    claim.difference = std::abs(measured[best] - p) / size;
    claim.passed = claim.difference <= tolerance;
    claims.push_back(claim);
  }
}

// Where f passes zero near x: two secants, the second over a tenth of the first.
double crossing(double x, const std::function<double(double)>& f) {
  constexpr double kBeside = 0.02;
  double a = x * (1.0 - kBeside), b = x * (1.0 + kBeside);
  double fa = f(a), fb = f(b);
  for (int step = 0; step < 2 && fa != fb; ++step) {
    const double c = std::clamp(a - fa * (b - a) / (fb - fa), 0.5 * x, 2.0 * x);
    const double fc = f(c);
    if (std::abs(fa) < std::abs(fb))
      b = c, fb = fc;
    else
      a = c, fa = fc;
  }
  return fa == fb ? 0.5 * (a + b) : a - fa * (b - a) / (fb - fa);
}

double measured_abscissa(const NonlinearLoop& loop) {
  return measured_poles(loop).real().maxCoeff();
}
double predicted_abscissa(const NonlinearLoop& loop) {
  return predicted_poles(loop).real().maxCoeff();
}

StateSpace with_names_of(StateSpace k, const StateSpace& controller) {
  k.inputs = controller.inputs;
  k.outputs = controller.outputs;
  k.states.clear();
  k.state_units.clear();
  k.fill_names();
  k.point = controller.point;
  return k;
}

// The loop with this delay at one output of a continuous controller, as a Padé line.
NonlinearLoop later(const NonlinearLoop& loop, int output, double delay) {
  constexpr int kOrder = 4;  // right to 1e-6 at the crossover of a delay margin up to 1 rad
  std::vector<StateSpace> lines(to_size(loop.controller.output_count()),
                                ss(Eigen::MatrixXd::Identity(1, 1)));
  lines[to_size(output)] = pade(delay, kOrder);
  NonlinearLoop changed = loop;
  changed.controller = with_names_of(series(loop.controller, append(lines)), loop.controller);
  return changed;
}

// The loop of a sampled controller with one output, this much later: whole samples as states of the
// controller, the rest as computation time.
NonlinearLoop later(const NonlinearLoop& loop, double delay) {
  NonlinearLoop changed = loop;
  StateSpace k = loop.controller;
  const double total = loop.delay + delay, whole = std::floor(total / k.dt);
  changed.delay = total - whole * k.dt;
  if (whole > 0.0) {
    k.output_delay = Eigen::VectorXd::Constant(1, whole * k.dt);
    changed.controller = with_names_of(absorb_delays(k), loop.controller);
  }
  return changed;
}

class MarginClaims {
 public:
  MarginClaims(const NonlinearLoop& loop, double tolerance, std::vector<LoopClaim>& claims)
      : loop_(loop), tolerance_(tolerance), claims_(claims), open_(open_loop(loop)) {
    all_ = open_.is_siso() ? std::vector<Margins>{margin(open_)} : margin_loop_at_a_time(open_);
  }

  // The tightest of the channels: gains up and down, delay.
  void compare() {
    const auto up = [](const Margins& m) { return m.gain_margin_up; };
    const auto down = [](const Margins& m) { return m.gain_margin_down; };
    const auto late = [](const Margins& m) { return m.phase.empty() ? 0.0 : m.delay_margin; };
    if (const int j = tightest(up, std::less<>()); j >= 0) gain("up", j, up(at(all_, j)));
    if (const int j = tightest(down, std::greater<>()); j >= 0) gain("down", j, down(at(all_, j)));
    if (const int j = tightest(late, std::less<>()); j >= 0) delay(j, late(at(all_, j)));
  }

 private:
  static StateSpace open_loop(const NonlinearLoop& loop) {
    StateSpace open = scale(series(seen_plant(loop), loop.controller), -1.0);
    open.inputs = open.outputs = loop.plant.inputs;
    return open;
  }
  template <class Value, class Better>
  int tightest(Value value, Better better) const {
    int best = -1;
    for (int j = 0; j < open_.input_count(); ++j) {
      const double x = value(at(all_, j));
      if (x > kTiny && std::isfinite(x) && (best < 0 || better(x, value(at(all_, best))))) best = j;
    }
    return best;
  }
  void claim(const std::string& name, const char* unit, double predicted, double measured) {
    LoopClaim result{.name = name, .unit = unit, .linear = predicted, .nonlinear = measured};
    result.difference = std::abs(measured - predicted) / predicted;
    result.passed = result.difference <= tolerance_;
    claims_.push_back(result);
  }
  void gain(const std::string& what, int channel, double predicted) {
    const double measured = crossing(predicted, [&](double factor) {
      NonlinearLoop changed = loop_;
      changed.controller.C.row(channel) *= factor;
      changed.controller.D.row(channel) *= factor;
      return measured_abscissa(changed);
    });
    claim("gain " + what + " at " + open_.input_name(channel), "-", predicted, measured);
  }
  void delay(int channel, double predicted) {
    const std::string name = "delay margin at " + open_.input_name(channel);
    if (loop_.controller.is_continuous()) {
      claim(name, "s", predicted, crossing(predicted, [&](double x) {
              return measured_abscissa(later(loop_, channel, x));
            }));
      return;
    }
    // Between the samples the delay acts on the held effort: from the phase margin to the delay at
    // which the linear loop reaches the boundary.
    constexpr double kMostSamples = 20.0;
    if (open_.input_count() > 1 || predicted > kMostSamples * loop_.controller.dt) return;
    const auto linear = [&](double x) { return predicted_abscissa(later(loop_, x)); };
    const double exact = crossing(crossing(predicted, linear), linear);
    claim(name, "s", exact,
          crossing(exact, [&](double x) { return measured_abscissa(later(loop_, x)); }));
  }

  const NonlinearLoop& loop_;
  double tolerance_;
  std::vector<LoopClaim>& claims_;
  StateSpace open_;
  std::vector<Margins> all_;
};

void compare_steps(const NonlinearLoop& loop, const VerifySettings& settings,
                   std::vector<LoopClaim>& claims) {
  const Eigen::VectorXd t = comparison_times(loop);
  for (int j = 0; j < loop.plant.input_count(); ++j) {
    const double size = step_size(loop, j, settings.motion, t);
    const ResponseComparison r = compare_step(loop, j, size, t);
    LoopClaim claim{.name = "step of " + short_number(size, 3) + " at " + loop.plant.input_name(j) +
                            (loop.delay > 0.0 ? ", with the delay" : "") + ": largest output"};
    claim.linear = r.linear.cwiseAbs().maxCoeff();
    claim.nonlinear = r.nonlinear.cwiseAbs().maxCoeff();
    claim.difference = r.difference;
    claim.passed = std::isfinite(r.difference) && r.difference <= settings.tolerance;
    claims.push_back(claim);
  }
}

// The largest gain from disturbances at the inputs to the outputs.
void compare_norms(const NonlinearLoop& loop, double tolerance, std::vector<LoopClaim>& claims) {
  const PeakGain predicted = hinfnorm(predicted_loop(loop));
  const PeakGain measured = hinfnorm(measured_loop(loop));
  LoopClaim claim{.name = "H-infinity norm, inputs to outputs, at " +
                          short_number(predicted.frequency, 4) + " rad/s"};
  claim.linear = predicted.value;
  claim.nonlinear = measured.value;
  claim.difference = std::abs(measured.value - predicted.value) / predicted.value;
  claim.passed = claim.difference <= tolerance;
  claims.push_back(claim);
}

}  // namespace

LoopVerification verify(const NonlinearLoop& given, const VerifySettings& settings) {
  LoopVerification result;
  NonlinearLoop loop = given;
  if (!delay_is_measured(given)) loop.delay = 0.0;
  compare_poles(loop, settings.tolerance, result.claims);
  result.stable = predicted_abscissa(loop) < 0.0 && predicted_abscissa(given) < 0.0;
  if (!result.stable) return result;
  compare_steps(given, settings, result.claims);
  compare_norms(loop, settings.tolerance, result.claims);
  if (settings.margins) MarginClaims(loop, settings.tolerance, result.claims).compare();
  result.passed = std::all_of(result.claims.begin(), result.claims.end(),
                              [](const LoopClaim& c) { return c.passed; });
  return result;
}

AlongMotion verify_along(const NonlinearLoop& loop, std::span<const LoopAt> points) {
  AlongMotion along;
  const Mechanism& m = *loop.mechanism;
  SensitivityWorkspace workspace(m);
  LinearizeSettings ports{.inputs = loop.plant.inputs, .outputs = loop.plant.outputs};
  for (std::string& name : ports.inputs)
    if (name.starts_with("effort.")) name = name.substr(7);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(m.freedoms());
  const NonlinearLoop* slowest = nullptr;
  NonlinearLoop worst;
  along.abscissa = -std::numeric_limits<double>::infinity();
  along.disk = std::numeric_limits<double>::infinity();
  for (const LoopAt& point : points) {
    NonlinearLoop here = loop;
    here.model = linearize(m, {point.state, point.effort, none, {}}, ports, workspace);
    here.plant = state_space(here.model, m);
    here.controller.point->y0 = here.plant.point->u0;
    if (!delay_is_measured(here)) here.delay = 0.0;
    ++along.points;
    const double abscissa = predicted_abscissa(here);
    if (abscissa > along.abscissa)
      along.abscissa = abscissa, along.abscissa_time = point.time, worst = here, slowest = &worst;
    if (!(abscissa < 0.0)) {
      ++along.unstable;
      along.norm = std::numeric_limits<double>::infinity(), along.norm_time = point.time;
      along.disk = 0.0, along.disk_time = point.time;
      continue;
    }
    if (const double norm = hinfnorm(predicted_loop(here)).value; norm > along.norm)
      along.norm = norm, along.norm_time = point.time;
    const StateSpace open = scale(series(seen_plant(here), here.controller), -1.0);
    if (const double disk = diskmargin(open).alpha; disk < along.disk)
      along.disk = disk, along.disk_time = point.time;
  }
  if (slowest == nullptr) return along;
  // So short that the motion hardly leaves the state.
  constexpr double kShort = 0.02;
  const double rate = predicted_poles(worst).cwiseAbs().maxCoeff();
  along.measured_abscissa = measured_poles(worst, kShort / rate).real().maxCoeff();
  return along;
}

}  // namespace catena
