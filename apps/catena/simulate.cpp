// catena simulate: from a model file to a run.
#include "catena/simulation/simulate.h"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "apps/catena/progress.h"
#include "catena/base/text.h"
#include "catena/io/yaml.h"
#include "catena/verification/state_file.h"

namespace catena::app {
namespace {

struct Options {
  ModelOptions model;
  std::string state;
  std::string out;
  bool json = false;
  bool quiet = false;
  std::string method = "dop853";
  std::vector<std::string> inputs, pds, motions, events, stop_events;
  std::string friction = "events";
  bool no_stops = false;
  SimulationSettings settings;
};

// "elbow=2*sin(t)" at the first '='.
std::pair<std::string, std::string> split(const std::string& text, const std::string& option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError("catena simulate: error: " + option + " needs NAME=VALUE, not '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

// An expression, or @FILE[:COLUMN] for a table; @@ for one smoothed to a spline.
SignalSettings signal(const std::string& text) {
  if (!text.starts_with('@')) return {.expression = text};
  SignalSettings result;
  std::size_t first = 1;
  if (text.starts_with("@@")) {
    first = 2;
    result.interpolation = Interpolation::spline;
  }
  const std::size_t colon = text.rfind(':');
  const bool has_column = colon != std::string::npos && colon > first;
  result.table = text.substr(first, has_column ? colon - first : std::string::npos);
  if (has_column) result.column = text.substr(colon + 1);
  return result;
}

// kp,kd[,target] or kp,kd,ki,target.
ControllerSettings controller(const std::string& text) {
  const auto [name, value] = split(text, "--pd");
  std::vector<std::string> parts;
  std::size_t at = 0;
  int depth = 0;
  for (std::size_t k = 0; k <= value.size(); ++k) {
    if (k < value.size() && value[k] == '(') ++depth;
    if (k < value.size() && value[k] == ')') --depth;
    if (k == value.size() || (value[k] == ',' && depth == 0)) {
      parts.push_back(value.substr(at, k - at));
      at = k + 1;
    }
  }
  const auto gain = [&](std::size_t k) {
    const Expression expression(parts[k]);
    if (!expression.constant())
      throw UsageError("catena simulate: error: --pd: the gain '" + parts[k] + "' is not a number");
    return expression.jet(0.0).value;
  };
  if (parts.size() < 2 || parts.size() > 4)
    throw UsageError(
        "catena simulate: error: --pd needs HINGE=kp,kd[,target] or "
        "HINGE=kp,kd,ki,target, not '" +
        text + "'");
  ControllerSettings result{.freedom = name, .kp = gain(0), .kd = gain(1)};
  if (parts.size() == 4) result.ki = gain(2);
  if (parts.size() > 2) result.target = signal(parts.back());
  return result;
}

void fill_settings(const Options& options, const StateInput& input, const Mechanism& m,
                   SimulationSettings& settings) {
  settings.integrator.method = method_from(options.method);
  ActionSettings& actions = settings.actions;
  for (const std::string& text : options.inputs) {
    const auto [name, value] = split(text, "--input");
    actions.inputs.push_back({name, signal(value)});
  }
  for (const std::string& text : options.motions) {
    const auto [name, value] = split(text, "--motion");
    actions.motions.push_back({name, signal(value)});
  }
  for (const std::string& text : options.pds) actions.controllers.push_back(controller(text));
  const auto events = [&](const std::vector<std::string>& texts, const char* option,
                          EventSettings::Action action) {
    for (const std::string& text : texts) {
      const auto [name, value] = split(text, option);
      EventSettings& event = actions.events.emplace_back();
      event.name = name;
      event.signal = signal(value);
      event.action = action;
    }
  };
  events(options.events, "--event", EventSettings::Action::record);
  events(options.stop_events, "--stop-when", EventSettings::Action::stop);
  actions.friction = options.friction == "smooth" ? FrictionLaw::smooth : FrictionLaw::set_valued;
  if (options.no_stops) actions.stops = false;
  // What the state file says about efforts and wrenches acts all the time.
  for (Eigen::Index i = 0; i < input.effort.size(); ++i)
    if (input.effort[i] != 0.0)
      actions.inputs.push_back({m.velocity_names()[static_cast<std::size_t>(i)],
                                {.expression = fmt::format("{:.17g}", input.effort[i])}});
  actions.external = input.external;
}

std::string human(const SimulationResult& r, const std::string& out) {
  const auto drift = [](const std::optional<double>& x) {
    return x ? fmt::format("{:.2e}", *x) : std::string("not conserved here");
  };
  std::string text = fmt::format(
      "simulated         {:.6g} s in {:.3g} s ({:.3g} times real time)\n"
      "steps             {} accepted, {} rejected, {} evaluations\n"
      "step size         {:.3g} to {:.3g} s\n"
      "energy drift      {:.2e} (of {:.6g} J)\n"
      "linear momentum   {}\nangular momentum  {}\n",
      r.simulated_time, r.wall_time, r.simulated_time / r.wall_time, r.steps.steps,
      r.steps.rejected, r.steps.evaluations, r.steps.smallest_step, r.steps.largest_step,
      r.audit.energy_drift, r.audit.energy_scale, drift(r.audit.linear_momentum_drift),
      drift(r.audit.angular_momentum_drift));
  if (r.audit.closure_residual != 0.0)
    text += fmt::format("loops closed to   {:.2e}\n", r.audit.closure_residual);
  for (const ElementWork& work : r.audit.work)
    text += fmt::format("work              {:.6g} J by {}\n", work.work, work.element);
  text += fmt::format("events            {}\n", r.events);
  if (!r.end.empty()) text += fmt::format("ended by          {}\n", r.end);
  return text + fmt::format("output            {} ({} rows)\n", out, r.rows);
}

Json machine(const SimulationResult& r, const std::string& out) {
  const auto optional = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  Json json;
  json["audit"] = {{"energy_drift", r.audit.energy_drift},
                   {"linear_momentum_drift", optional(r.audit.linear_momentum_drift)},
                   {"angular_momentum_drift", optional(r.audit.angular_momentum_drift)},
                   {"closure_residual", r.audit.closure_residual}};
  json["steps"] = r.steps.steps;
  json["events"] = r.events;
  json["simulated_time"] = r.simulated_time;
  json["wall_time"] = r.wall_time;
  json["output"] = out;
  return json;
}

std::unique_ptr<Recorder> recorder_for(const std::string& out, const Options& options,
                                       const Mechanism& m) {
  if (out.ends_with(".csv")) return std::make_unique<CsvRecorder>(out);
  RunHeader header;
  header.model_yaml = write_yaml(m.description());
  header.model_path = options.model.file();
  header.settings_json = "{}";
  return std::make_unique<RunRecorder>(out, std::move(header), true);
}

void simulate_command(const Options& options) {
  const Mechanism m = options.model.load();
  print_warnings(m);
  StateInput input = options.state.empty() ? default_input(m) : read_state_file(options.state, m);
  close_loops(m, input);
  SimulationSettings settings = options.settings;
  fill_settings(options, input, m, settings);
  settings = completed(settings);
  std::string out = options.out;
  if (out.empty()) out = std::filesystem::path(options.model.file()).stem().string() + ".run.h5";
  Progress progress(settings.duration, !options.quiet);
  settings.progress = [&](double t) {
    progress.update(t);
    return !progress.interrupted();
  };
  const std::unique_ptr<Recorder> recorder = recorder_for(out, options, m);
  const SimulationResult result = simulate(m, input.state, settings, *recorder);
  write_text(options.json ? machine(result, out).dump(2) + "\n" : human(result, out), "");
  if (!result.complete) throw Failed();
}

}  // namespace

void add_simulate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("simulate", "Move a mechanism through time");
  const auto options = std::make_shared<Options>();
  options->model.add(*command);
  SimulationSettings& s = options->settings;
  command->add_option("-d,--duration", s.duration, "How long, in s")->capture_default_str();
  command->add_option("-o,--output", options->out, "The run to write")->type_name("RUN");
  command
      ->add_option("--state", options->state,
                   "YAML with the initial q and v, constant efforts and wrenches (default: the "
                   "model's initial state)")
      ->type_name("FILE");
  command->add_option("--method", options->method, "Integrator: " + listed(method_names()))
      ->capture_default_str();
  command->add_option("--rtol", s.integrator.relative_tolerance, "Relative tolerance")
      ->capture_default_str();
  command->add_option("--atol", s.integrator.absolute_tolerance, "Absolute tolerance")
      ->capture_default_str();
  command->add_option("--step", s.integrator.step, "Step of fixed-step methods, in s")
      ->capture_default_str();
  command->add_option("--max-step", s.integrator.maximum_step, "Longest step, in s");
  command->add_option("--interval", s.output_interval,
                      "Time between rows (default: about 1000 rows)");
  command->add_option("--outputs", s.outputs, "What to record, e.g. q.* v.* work.*")
      ->type_name("NAME");
  command->add_option("--input", options->inputs,
                      "An effort: HINGE=EXPRESSION or HINGE=@TABLE.csv");
  command->add_option("--pd", options->pds,
                      "A controller: HINGE=kp,kd[,target] or kp,kd,ki,target");
  command->add_option("--motion", options->motions, "A prescribed motion: HINGE=EXPRESSION of t");
  command->add_option("--event", options->events,
                      "Record when EXPRESSION is zero: NAME=EXPRESSION");
  command->add_option("--stop-when", options->stop_events, "Stop when EXPRESSION is zero");
  command->add_option("--restitution", s.actions.restitution, "At the limits of hinges, 0 to 1")
      ->capture_default_str();
  command->add_flag("--no-stops", options->no_stops, "Limits of hinges do not stop them");
  command
      ->add_option("--friction", options->friction,
                   "Dry friction: with stick-slip events or smooth")
      ->check(CLI::IsMember({"events", "smooth"}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--quiet", options->quiet, "No progress bar");
  command->callback([options] { simulate_command(*options); });
}

}  // namespace catena::app
