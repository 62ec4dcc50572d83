// SPDX-License-Identifier: BSD-3-Clause
// catena lyapunov: growth rates of small deviations along a motion.
#include "catena/trajectory/lyapunov.h"

#include <memory>

#include <fmt/core.h>

#include "apps/catena/closed_state.h"
#include "apps/catena/linear_output.h"
#include "apps/catena/model_options.h"
#include "apps/catena/progress.h"
#include "catena/simulation/state_file.h"

namespace catena::app {
namespace {

struct LyapunovOptions {
  ModelOptions model;
  std::string state;
  LyapunovSettings settings;
  bool json = false;
  bool quiet = false;
  std::string out;
};

void lyapunov_command(const LyapunovOptions& options) {
  LyapunovSettings settings = options.settings;
  if (!(settings.step <= settings.duration))
    throw UsageError(fmt::format("the step ({} s) is longer than the motion ({} s)", settings.step,
                                 settings.duration));
  const Mechanism m = options.model.load({.state_file = options.state});
  print_warnings(m);
  StateInput in = options.state.empty() ? default_input(m) : read_state_file(options.state, m);
  if (!in.external.empty())
    throw Error(
        "'" + options.state +
        "' has external wrenches; Lyapunov exponents are computed with constant efforts only");
  close_loops_and_say(m, in);
  Progress progress(settings.duration, !options.quiet);
  settings.progress = [&](double t) {
    progress.update(t);
    return !progress.interrupted();
  };
  const LyapunovExponents found = lyapunov_exponents(m, in.state, in.effort, settings);
  progress.clear();
  Json json;
  json["exponents"] = std::vector<double>(found.exponents.begin(), found.exponents.end());
  json["spread"] = std::vector<double>(found.spread.begin(), found.spread.end());
  json["sum"] = found.exponents.sum();
  json["duration"] = settings.duration;
  json["step"] = settings.step;
  json["settle"] = settings.settle;
  json["final_state"] = {{"q", by_name(m.position_names(), found.final_state.q)},
                         {"v", by_name(m.velocity_names(), found.final_state.v)}};
  if (!options.out.empty()) write_text(json.dump(2) + "\n", options.out);
  if (options.json) {
    write_text(json.dump(2) + "\n", "");
    return;
  }
  Table table({{"exponent", true}, {"1/s", true}, {"+-", true}});
  for (Eigen::Index i = 0; i < found.exponents.size(); ++i)
    table.add({std::to_string(i + 1), pretty(found.exponents[i]), pretty(found.spread[i])});
  const double first = found.exponents.size() > 0 ? found.exponents[0] : 0.0;
  const bool grows = first > 2.0 * (found.spread.size() > 0 ? found.spread[0] : 0.0);
  write_text(table.text() + fmt::format("sum {} 1/s, the rate at which volumes of states grow\n{}",
                                        pretty(found.exponents.sum()),
                                        grows ? fmt::format("deviations grow e-fold in {} s\n",
                                                            pretty(1.0 / first))
                                              : ""),
             "");
}

}  // namespace

void add_lyapunov(CommandLine& line) {
  Command command =
      line.subcommand("lyapunov", "Lyapunov exponents of a motion: how fast small deviations grow");
  const auto options = std::make_shared<LyapunovOptions>();
  options->model.add(command);
  command.file("--state", options->state,
               "Initial state and constant efforts (YAML; default: the model's, no efforts)");
  LyapunovSettings& settings = options->settings;
  command.option("--duration", settings.duration, "Length of the motion, s")
      .positive()
      .show_default();
  command.option("--step", settings.step, "Step of Runge-Kutta 4, s").positive().show_default();
  command.option("--settle", settings.settle, "Time to skip at the start, s")
      .non_negative()
      .show_default();
  command.option("--exponents", settings.exponents, "Number of exponents, largest first (0: all)")
      .non_negative()
      .show_default();
  command.flag("--quiet", options->quiet, "No progress bar");
  command.json(options->json, options->out);
  command.footer(
      "Examples:\n"
      "  catena lyapunov models/double_pendulum.yaml --state thrown.yaml --duration 50\n"
      "  catena lyapunov models/four_bar.yaml --exponents 1 --json");
  command.action([options] { lyapunov_command(*options); });
}

}  // namespace catena::app
