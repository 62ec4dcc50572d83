// SPDX-License-Identifier: BSD-3-Clause
// catena control verify: every claim of the linear design beside the nonlinear model.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/control/control_commands.h"
#include "apps/catena/control/control_output.h"
#include "apps/catena/control/control_report.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/nonlinear/verify_loop.h"
#include "catena/simulation/recording/recorded_motion.h"

namespace catena::app {
namespace {

struct VerifyOptions {
  ControlOptions common;
  std::string controller, along, start;
  double motion = 1e-3, tolerance = 0.01, duration = 0.0;
  bool skip_margins = false;
};

std::string claims_text(const std::vector<LoopClaim>& claims) {
  Table table(
      {{"claim"}, {"linear", true}, {"nonlinear", true}, {"unit"}, {"difference", true}, {""}});
  for (const LoopClaim& c : claims)
    table.add({c.name, pretty(c.linear), pretty(c.nonlinear), c.unit, short_number(c.difference, 2),
               c.passed ? "ok" : "FAILED"});
  return table.text();
}

// The fixed controller along a run.
std::string along_run(const VerifyOptions& options, const NonlinearLoop& loop, Json& json) {
  const RunFile run(options.along);
  const RecordedMotion motion = recorded_motion(run, *loop.mechanism, Efforts::optional);
  constexpr std::size_t kPoints = 50;
  const std::size_t every = std::max<std::size_t>(1, motion.rows() / kPoints);
  std::vector<LoopAt> points;
  for (std::size_t k = 0; k < motion.rows(); k += every)
    points.push_back({motion.time(k), motion.state(k), motion.effort(k)});
  const AlongMotion r = verify_along(loop, points);
  json["along"] = {{"points", r.points},
                   {"unstable", r.unstable},
                   {"worst", r.abscissa},
                   {"time", r.abscissa_time},
                   {"nonlinear", r.measured_abscissa},
                   {"norm", r.norm},
                   {"norm_time", r.norm_time},
                   {"disk_margin", r.disk},
                   {"disk_margin_time", r.disk_time}};
  std::string text = fmt::format("along {}: {} of {} points stable\n", options.along,
                                 r.points - r.unstable, r.points);
  Table table({{"worst along the run"}, {"linear", true}, {"nonlinear", true}, {"at [s]", true}});
  const auto finite = [](double x) { return std::isfinite(x) ? pretty(x) : std::string("∞"); };
  table.add({"real part of the slowest pole", pretty(r.abscissa), pretty(r.measured_abscissa),
             pretty(r.abscissa_time)});
  table.add({"H-infinity norm, inputs to outputs", finite(r.norm), "", pretty(r.norm_time)});
  table.add({"disk margin", pretty(r.disk), "", pretty(r.disk_time)});
  return text + table.text();
}

// A run from a state of the user with limits and delay: does the loop come back?
std::string far_run(const VerifyOptions& options, const NonlinearLoop& loop, Json& json,
                    bool& good) {
  const StateInput start = read_state_file(options.start, *loop.mechanism);
  const double duration = options.duration > 0.0 ? options.duration : 3.0 * settling_time(loop);
  const LargeRun r = run_from(loop, start.state, duration);
  constexpr double kBack = 0.05;
  const bool back = std::isfinite(r.end) && r.end <= kBack * std::max(r.start, r.largest);
  good = good && back;
  std::string efforts;
  for (int j = 0; j < loop.plant.input_count(); ++j)
    efforts += fmt::format("{}{} {}", j > 0 ? ", " : "", loop.plant.input_name(j),
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
  const NonlinearLoop loop = nonlinear_loop(*plant.origin->mechanism, plant.origin->model, *file);
  const LoopVerification r = verify(
      loop,
      {.motion = options.motion, .tolerance = options.tolerance, .margins = !options.skip_margins});
  bool good = r.passed;
  Json json;
  std::string far;
  if (!options.start.empty()) far = far_run(options, loop, json, good);
  std::string text = fmt::format(
      "{} with {}: linear loop {}, {} claims, {}\n", plant.file, options.controller,
      r.stable ? "stable" : "NOT stable", r.claims.size(),
      r.passed ? "all hold for the nonlinear model" : "NOT all hold for the nonlinear model");
  text += claims_text(r.claims);
  if (!delay_is_measured(loop))
    text += fmt::format(
        "poles, norm and margins are those without the computation delay of {} s, which is longer "
        "than the period; steps and runs have it\n",
        pretty(loop.delay));
  text += far;
  if (!options.along.empty()) text += along_run(options, loop, json);
  Json list = Json::array();
  for (const LoopClaim& c : r.claims)
    list.push_back({{"name", c.name},
                    {"unit", c.unit},
                    {"linear", c.linear},
                    {"nonlinear", c.nonlinear},
                    {"difference", c.difference},
                    {"passed", c.passed}});
  json["stable"] = r.stable;
  json["passed"] = good;
  json["claims"] = std::move(list);
  if (!options.common.report.empty()) {
    write_control_report(options.common.report, {.title = "Verification of " + options.controller,
                                                 .plant = &plant,
                                                 .controller = &file->system,
                                                 .text = text,
                                                 .running = *file});
    json["report"] = options.common.report;
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
  command
      .option("--along", o.along,
              "Also: poles, norm and disk margin of the loop at the states of this run")
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
