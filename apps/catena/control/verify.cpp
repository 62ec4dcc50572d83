// SPDX-License-Identifier: BSD-3-Clause
// catena control verify: every claim of the linear design beside the nonlinear model.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/control_output.h"
#include "apps/catena/control/control_report.h"
#include "apps/catena/control/nonlinear_check.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/norms.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/simulation/recording/recorded_motion.h"

namespace catena::app {
namespace {

constexpr double kTiny = 1e-6;  // factors below this are zero

struct VerifyOptions {
  ControlOptions common;
  std::string controller, along, start;
  double motion = 1e-3, tolerance = 0.01, duration = 0.0;
  bool skip_margins = false;
};

// One claim: what the linear model says and what the nonlinear one does.
struct Claim {
  std::string name, unit;
  double linear = 0.0, nonlinear = 0.0, difference = 0.0;
  bool passed = true;
};

// Each predicted pole beside the measured one nearest to it, each used once.
void compare_poles(const Eigen::VectorXcd& predicted, const Eigen::VectorXcd& measured,
                   double tolerance, std::vector<Claim>& claims) {
  std::vector<char> used(index(measured.size()), 0);
  double largest = 0.0;
  for (const std::complex<double>& p : predicted) largest = std::max(largest, std::abs(p));
  for (const std::complex<double>& p : predicted) {
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
    Claim claim{.name = fmt::format("pole {}, real part", complex_text(p)), .unit = "1/s"};
    claim.linear = p.real();
    claim.nonlinear = measured[best].real();
    claim.difference = std::abs(measured[best] - p) / size;
    claim.passed = claim.difference <= tolerance;
    claims.push_back(claim);
  }
}

// Where f passes zero near x: two secants, the second over a tenth of the first.
template <class F>
double crossing(double x, F f) {
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

// The controller with a Padé line of this delay at one output.
StateSpace delayed(const StateSpace& controller, int output, double delay) {
  constexpr int kOrder = 4;  // right to 1e-6 at the crossover of a delay margin up to 1 rad
  std::vector<StateSpace> lines(to_size(controller.output_count()),
                                ss(Eigen::MatrixXd::Identity(1, 1)));
  lines[to_size(output)] = pade(delay, kOrder);
  StateSpace k = series(controller, append(lines));
  k.inputs = controller.inputs;
  k.outputs = controller.outputs;
  k.states.clear();
  k.state_units.clear();
  k.fill_names();
  k.point = controller.point;
  return k;
}

// The tightest gain margins up and down and the tightest delay margin, over the channels.
void compare_margins(const NonlinearLoop& loop, const StateSpace& plant, double tolerance,
                     std::vector<Claim>& claims) {
  const StateSpace g = loop.controller.is_discrete() ? c2d(plant, loop.controller.dt) : plant;
  const StateSpace open = loop_at_input(g, loop.controller);
  const std::vector<Margins> all =
      open.is_siso() ? std::vector<Margins>{margin(open)} : margin_loop_at_a_time(open);
  const auto claim = [&](const std::string& name, const char* unit, double predicted,
                         double measured) {
    Claim result{.name = name, .unit = unit, .linear = predicted, .nonlinear = measured};
    result.difference = std::abs(measured - predicted) / predicted;
    result.passed = result.difference <= tolerance;
    claims.push_back(result);
  };
  const auto tightest = [&](auto value, auto better) {
    int best = -1;
    for (int j = 0; j < open.input_count(); ++j) {
      const double x = value(at(all, j));
      if (x > kTiny && std::isfinite(x) && (best < 0 || better(x, value(at(all, best))))) best = j;
    }
    return best;
  };
  const auto up = [](const Margins& m) { return m.gain_margin_up; };
  const auto down = [](const Margins& m) { return m.gain_margin_down; };
  const auto late = [](const Margins& m) { return m.phase.empty() ? 0.0 : m.delay_margin; };
  const auto gain = [&](const char* what, int channel, double predicted) {
    claim(fmt::format("gain {} at {}", what, open.input_name(channel)), "-", predicted,
          crossing(predicted, [&](double factor) {
            NonlinearLoop changed = loop;
            changed.controller.C.row(channel) *= factor;
            changed.controller.D.row(channel) *= factor;
            return measured_abscissa(changed);
          }));
  };
  if (const int j = tightest(up, std::less<>()); j >= 0) gain("up", j, up(at(all, j)));
  if (const int j = tightest(down, std::greater<>()); j >= 0) gain("down", j, down(at(all, j)));
  if (loop.controller.is_discrete()) return;  // a delay of a sampled loop is not a Padé line
  if (const int j = tightest(late, std::less<>()); j >= 0)
    claim(fmt::format("delay margin at {}", open.input_name(j)), "s", late(at(all, j)),
          crossing(late(at(all, j)), [&](double delay) {
            NonlinearLoop changed = loop;
            changed.controller = delayed(loop.controller, j, delay);
            return measured_abscissa(changed);
          }));
}

void compare_steps(const NonlinearLoop& loop, const VerifyOptions& options,
                   std::vector<Claim>& claims) {
  const Plant& plant = *loop.plant;
  const Eigen::VectorXd t = comparison_times(plant, loop.controller);
  for (int j = 0; j < plant.system.input_count(); ++j) {
    const double size = step_size(loop, j, options.motion, t);
    const ResponseComparison r = compare_step(loop, j, size, t);
    Claim claim{
        .name = fmt::format("step of {} at {}{}: largest output", short_number(size, 3),
                            plant.system.input_name(j), loop.delay > 0.0 ? ", with the delay" : ""),
        .unit = ""};
    claim.linear = r.linear.cwiseAbs().maxCoeff();
    claim.nonlinear = r.nonlinear.cwiseAbs().maxCoeff();
    claim.difference = r.difference;
    claim.passed = std::isfinite(r.difference) && r.difference <= options.tolerance;
    claims.push_back(claim);
  }
}

// The largest gain from disturbances at the inputs to the outputs.
void compare_norms(const NonlinearLoop& loop, const StateSpace& plant, double tolerance,
                   std::vector<Claim>& claims) {
  const StateSpace g = loop.controller.is_discrete() ? c2d(plant, loop.controller.dt) : plant;
  const PeakGain predicted = hinfnorm(closed_by_positive(g, loop.controller));
  const PeakGain measured = hinfnorm(measured_loop(loop));
  Claim claim{.name = fmt::format("H-infinity norm, inputs to outputs, at {} rad/s",
                                  short_number(predicted.frequency, 4)),
              .unit = ""};
  claim.linear = predicted.value;
  claim.nonlinear = measured.value;
  claim.difference = std::abs(measured.value - predicted.value) / predicted.value;
  claim.passed = claim.difference <= tolerance;
  claims.push_back(claim);
}

std::string claims_text(const std::vector<Claim>& claims) {
  Table table(
      {{"claim"}, {"linear", true}, {"nonlinear", true}, {"unit"}, {"difference", true}, {""}});
  for (const Claim& c : claims)
    table.add({c.name, pretty(c.linear), pretty(c.nonlinear), c.unit, short_number(c.difference, 2),
               c.passed ? "ok" : "FAILED"});
  return table.text();
}

// The fixed controller with the linear models along a run.
std::string along_run(const VerifyOptions& options, const Plant& plant,
                      const StateSpace& controller, Json& json) {
  const RunFile run(options.along);
  const Mechanism& m = *plant.origin->mechanism;
  const RecordedMotion motion = recorded_motion(run, m, Efforts::optional);
  SensitivityWorkspace workspace(m);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(m.freedoms());
  LinearizeSettings settings{.inputs = plant.system.inputs, .outputs = plant.system.outputs};
  for (std::string& name : settings.inputs)
    if (name.starts_with("effort.")) name = name.substr(7);
  constexpr std::size_t kPoints = 50;
  const std::size_t every = std::max<std::size_t>(1, motion.rows() / kPoints);
  double worst = -1e300, when = 0.0;
  int unstable = 0, count = 0;
  for (std::size_t k = 0; k < motion.rows(); k += every, ++count) {
    const StateSpace g = state_space(
        linearize(m, {motion.state(k), motion.effort(k), none, {}}, settings, workspace));
    const double abscissa = predicted_poles(g, controller).real().maxCoeff();
    if (abscissa >= 0.0) ++unstable;
    if (abscissa > worst) {
      worst = abscissa;
      when = motion.time(k);
    }
  }
  json["along"] = {{"points", count}, {"unstable", unstable}, {"worst", worst}, {"time", when}};
  return fmt::format(
      "along {}: {} of {} points stable; the slowest pole has the real part {} 1/s "
      "at {} s\n",
      options.along, count - unstable, count, pretty(worst), pretty(when));
}

// Limits of the controller file in the order of the plant's inputs.
Eigen::VectorXd limits_for(const StateSpace& plant, const StateSpace& controller,
                           const Eigen::VectorXd& limits) {
  if (limits.size() == 0) return {};
  const auto plain = [](const std::string& name) {
    return name.starts_with("effort.") ? name.substr(7) : name;
  };
  Eigen::VectorXd result(plant.input_count());
  for (int j = 0; j < plant.input_count(); ++j)
    for (int i = 0; i < controller.output_count(); ++i)
      if (plain(plant.input_name(j)) == plain(controller.output_name(i))) result[j] = limits[i];
  return result;
}

// A run from a state of the user with limits and delay: does the loop come back?
std::string far_run(const VerifyOptions& options, const NonlinearLoop& loop, Json& json,
                    bool& good) {
  const Plant& plant = *loop.plant;
  const StateInput start = read_state_file(options.start, *plant.origin->mechanism);
  const Eigen::VectorXd t = comparison_times(plant, loop.controller);
  const double duration = options.duration > 0.0 ? options.duration : 3.0 * t[t.size() - 1];
  const LargeRun r = run_from(loop, start.state, duration);
  constexpr double kBack = 0.05;
  const bool back = std::isfinite(r.end) && r.end <= kBack * std::max(r.start, r.largest);
  good = good && back;
  std::string efforts;
  for (int j = 0; j < plant.system.input_count(); ++j)
    efforts += fmt::format("{}{} {}", j > 0 ? ", " : "", plant.system.input_name(j),
                           short_number(r.effort[j], 4));
  json["run"] = {{"start", r.start}, {"end", r.end},         {"largest", r.largest},
                 {"back", back},     {"limited", r.limited}, {"duration", r.duration}};
  return fmt::format(
      "run from {} with limits and delay: {}; the largest output falls from {} to {} in {} s, "
      "efforts up to {}, at a limit for {:.3g} % of the time\n",
      options.start, back ? "comes back" : "does NOT come back", pretty(r.start), pretty(r.end),
      pretty(r.duration), efforts, 100.0 * r.limited);
}

void control_verify(const VerifyOptions& options) {
  const auto file = load_controller_file(options.controller);
  const Plant plant = options.common.plant.load(&file->system, PointNeeded::equilibrium);
  if (!plant.origin)
    throw UsageError("catena control verify: error: " + plant.file +
                     " is a linear system; give the mechanism that it came from");
  const StateSpace k =
      explicit_form(file->system.has_delay() ? absorb_delays(file->system) : file->system);
  NonlinearLoop loop{.plant = &plant, .controller = fitted(plant.system, k)};
  loop.controller.point = file->system.point;
  if (!loop.controller.point) loop.controller.point = SystemPoint{};
  loop.delay = file->delay;
  loop.lower = limits_for(plant.system, file->system, file->lower);
  loop.upper = limits_for(plant.system, file->system, file->upper);
  std::vector<Claim> claims;
  const Eigen::VectorXcd predicted = predicted_poles(plant.system, loop.controller);
  compare_poles(predicted, measured_poles(loop), options.tolerance, claims);
  const bool stable = predicted.real().maxCoeff() < 0.0;
  if (stable) compare_steps(loop, options, claims);
  if (stable) compare_norms(loop, plant.system, options.tolerance, claims);
  if (stable && !options.skip_margins)
    compare_margins(loop, plant.system, options.tolerance, claims);
  bool good =
      stable && std::all_of(claims.begin(), claims.end(), [](const Claim& c) { return c.passed; });
  Json json;
  std::string far;
  if (!options.start.empty()) far = far_run(options, loop, json, good);
  std::string text = fmt::format(
      "{} with {}: linear loop {}, {} claims, {}\n", plant.file, options.controller,
      stable ? "stable" : "NOT stable", claims.size(),
      good ? "all hold for the nonlinear model" : "NOT all hold for the nonlinear model");
  text += claims_text(claims);
  if (file->delay > 0.0)
    text += fmt::format(
        "poles and margins are those without the computation delay of {} s; steps "
        "and runs have it\n",
        pretty(file->delay));
  text += far;
  if (!options.along.empty()) text += along_run(options, plant, loop.controller, json);
  Json list = Json::array();
  for (const Claim& c : claims)
    list.push_back({{"name", c.name},
                    {"unit", c.unit},
                    {"linear", c.linear},
                    {"nonlinear", c.nonlinear},
                    {"difference", c.difference},
                    {"passed", c.passed}});
  json["stable"] = stable;
  json["passed"] = good;
  json["claims"] = std::move(list);
  if (!options.common.report.empty()) {
    write_control_report(options.common.report, {.title = "Verification of " + options.controller,
                                                 .plant = &plant,
                                                 .controller = &k,
                                                 .text = text});
    text += "report            " + options.common.report + "\n";
  }
  write_text(options.common.json ? json.dump(2) + "\n" : text, "");
  if (!good) throw Failed();
}

}  // namespace

void add_control_verify(Command& control) {
  Command command = control.subcommand(
      "verify", "Compare poles, norms, responses and margins with the nonlinear model");
  const auto options = std::make_shared<VerifyOptions>();
  VerifyOptions& o = *options;
  o.common.add(command, false);
  command.option("--controller", o.controller, "u = K y: a system file")
      .placeholder("K.yaml")
      .required();
  command.option("--motion", o.motion, "How far the steps move the outputs, rad or m")
      .placeholder("X")
      .positive()
      .show_default();
  command.option("--tolerance", o.tolerance, "Greatest relative difference")
      .placeholder("X")
      .positive()
      .show_default();
  command.flag("--skip-margins", o.skip_margins, "Only poles, norms and responses");
  command.option("--along", o.along, "Also: poles of the loop at the states of this run")
      .placeholder("RUN.h5");
  command
      .option("--start", o.start,
              "Also: a run from this state (YAML) with limits and delay of the controller file")
      .placeholder("STATE");
  command.option("--duration", o.duration, "Of that run, s (default: by the slowest pole)")
      .placeholder("S")
      .positive();
  command.footer(
      "Examples:\n"
      "  catena control verify models/cart_pendulum.yaml --controller K.yaml --report page.html\n"
      "  catena control verify models/cart_pendulum.yaml --controller K.yaml --start away.yaml");
  command.action([options] { control_verify(*options); });
}

}  // namespace catena::app
