// SPDX-License-Identifier: BSD-3-Clause
// catena lqr: designs an LQR for the motion of a run, or for an equilibrium, and simulates it.
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "apps/catena/assignments.h"
#include "apps/catena/linear_output.h"
#include "apps/catena/model_options.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/models/yaml.h"
#include "catena/io/runs/csv.h"
#include "catena/optimal/regulated_run.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/used_hinges.h"

namespace catena::app {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct LqrOptions {
  ModelOptions model;
  std::string at, out, gains;
  std::vector<std::string> actuators, q, r, final, disturb, limits;
  double interval = 0.0, duration = 10.0;
  std::uint64_t seed = 1;
  bool limit_efforts = false;
  bool json = false;
};

// The motion to regulate, and the conditions of the simulation.
struct Task {
  std::unique_ptr<Mechanism> mechanism;
  std::optional<RecordedMotion> motion;
  SimulationSettings simulation;
  Regulator regulator;
};

// The conditions of a run: wrenches, friction, stops and treatment of loops. Inputs and controllers
// are in the recorded efforts.
SimulationSettings world_of(const RunFile& run, const Mechanism& m) {
  SimulationSettings world;
  const RunHeader& header = run.header();
  if (header.kind != "simulation" && header.kind != "regulation") return world;
  std::optional<Json> json = Json::parse(header.settings_json);
  if (!json) throw Error(run.path() + ": its settings cannot be read");
  json->erase("regulator");
  StateInput input = default_input(m);
  SimulationSettings all;
  read_settings_text(json->dump(), run.path(), m, input, all);
  add_actions(input, m, all.actions);
  if (!all.actions.motions.empty())
    throw Error(run.path() + ": the motion of '" + all.actions.motions[0].freedom +
                "' was prescribed; a regulator needs efforts: simulate it with those instead");
  if (!all.actions.constraints.empty())
    throw Error(run.path() +
                ": constraints were switched or in contact; a regulator is for smooth motions");
  world.actions.external = all.actions.external;
  world.actions.stops = all.actions.stops;
  world.actions.restitution = all.actions.restitution;
  world.actions.stop_settings = all.actions.stop_settings;
  world.actions.friction = all.actions.friction;
  world.actions.loops = all.actions.loops;
  return world;
}

void read_run(const LqrOptions& options, Task& task) {
  const std::string& path = options.model.file();
  static const std::vector<std::string> kModels{".yaml", ".yml", ".urdf", ".sdf", ".world"};
  for (const std::string& ending : kModels)
    if (path.ends_with(ending))
      throw UsageError("catena lqr: error: " + path +
                       " is a model; give a RUN, or with --at the equilibrium to hold");
  const RunFile run(path);
  const Reading reading = read_yaml_text(run.header().model_yaml, path);
  task.mechanism =
      std::make_unique<Mechanism>(MechanismBuilder(reading.description).finish({.strict = false}));
  task.simulation = world_of(run, *task.mechanism);
  task.motion = recorded_motion(run, *task.mechanism, Efforts::required);
  std::int64_t rough = 0;
  for (const RunEvent& event : run.events())
    if (event.kind == "limit" || event.kind == "stick" || event.kind == "slip" ||
        event.kind == "turn")
      ++rough;
  if (rough > 0)
    std::fprintf(
        stderr,
        "%s: warning: the motion has %lld impacts or changes of friction; the linear model "
        "leaves them out\n",
        path.c_str(), static_cast<long long>(rough));
}

// q.elbow=0.1 v.elbow=-1 (offsets), random=0.5, mass.BODY=1.1, elbow=EXPRESSION (an effort).
Disturbance disturbance_of(const LqrOptions& options) {
  Disturbance result;
  result.seed = options.seed;
  for (const std::string& text : options.disturb) {
    const auto [name, value] = split_assignment(text, "lqr", "--disturb");
    const auto amount = [&, &given = value] { return constant(given, "lqr", "--disturb"); };
    if (name.starts_with("q.") || name.starts_with("v."))
      result.offsets[name] = amount();
    else if (name == "random")
      result.random = amount();
    else if (name.starts_with("mass."))
      result.masses[name.substr(5)] = amount();
    else
      result.efforts.push_back({name, value});
  }
  return result;
}

// With --at: the mechanism, with coordinates at the hinges that options and state name.
Mechanism load(const LqrOptions& options, const RegulatorSettings& settings) {
  const Mechanism mechanism = options.model.load();
  UsedHinges used(mechanism);
  used.add(options.actuators);
  const auto names = [](const std::map<std::string, double>& numbers) {
    std::vector<std::string> result;
    for (const auto& [name, number] : numbers) result.push_back(name);
    return result;
  };
  used.add_signals(names(settings.state_weights));
  used.add(names(settings.input_weights));
  used.add(names(numbers_by_name(options.limits, "lqr", "--limit")));
  const Disturbance disturbance = disturbance_of(options);
  used.add_signals(names(disturbance.offsets));
  for (const InputSettings& effort : disturbance.efforts)
    used.add(effort.freedom), used.add(effort.signal);
  if (options.at != "initial") used.add_state_file(options.at);
  return used.with_coordinates();
}

void design(const LqrOptions& options, Task& task) {
  RegulatorSettings settings;
  settings.actuators = options.actuators;
  settings.interval = options.interval;
  settings.state_weights = numbers_by_name(options.q, "lqr", "--q");
  settings.final_weights = numbers_by_name(options.final, "lqr", "--final");
  settings.input_weights = numbers_by_name(options.r, "lqr", "--r");
  if (options.at.empty()) {
    read_run(options, task);
    settings.external = task.simulation.actions.external;
    task.regulator = track(*task.mechanism, *task.motion, settings);
  } else {
    task.mechanism = std::make_unique<Mechanism>(load(options, settings));
    const Mechanism& m = *task.mechanism;
    print_warnings(m);
    StateInput in = options.at == "initial" ? default_input(m) : read_state_file(options.at, m);
    close_loops_and_say(m, in);
    if (!(options.duration > 0.0))
      throw UsageError("catena lqr: error: --duration must be positive");
    if (!options.final.empty())
      throw UsageError("catena lqr: error: --final has no meaning with --at: there is no end");
    task.simulation.actions.external = in.external;
    task.regulator = hold(m, {in.state, in.effort, in.acceleration, in.external}, settings);
    task.motion.emplace(m, std::vector<double>{0.0, options.duration},
                        std::vector<State>(2, in.state), std::vector<VectorXd>(2, in.effort));
  }
  if (!task.regulator.unreachable.empty())
    std::fprintf(stderr,
                 "catena lqr: warning: the actuators (%s) cannot change %s (not controllable)\n",
                 listed(task.regulator.inputs).c_str(), listed(task.regulator.unreachable).c_str());
}

Json eigenvalues_json(const Eigen::VectorXcd& values) {
  Json list = Json::array();
  for (const std::complex<double>& x : values) list.push_back({x.real(), x.imag()});
  return list;
}

// Of a stationary regulator also as rates in time: log(λ) / interval.
Json transition_json(const Regulator& r, const Eigen::MatrixXd& transition) {
  const Eigen::VectorXcd values = eigenvalues_of(transition);
  Json json{{"norm", r.norm(transition)}, {"eigenvalues", eigenvalues_json(values)}};
  if (r.stationary) {
    const Eigen::VectorXcd poles = values.array().log() / r.interval;
    json["poles"] = eigenvalues_json(poles);
  }
  return json;
}

Json result_json(const Regulator& r, const std::optional<RegulatedResult>& result,
                 const std::string& failure) {
  if (!result) return {{"failed", failure}};
  return {{"start", by_name(r.states, result->first_deviation)},
          {"end", by_name(r.states, result->final_deviation)},
          {"largest", by_name(r.states, result->largest_deviation)},
          {"start_distance", result->first_distance},
          {"end_distance", result->final_distance},
          {"largest_distance", result->largest_distance},
          {"largest_effort", by_name(r.inputs, result->largest_effort)},
          {"rms_effort", by_name(r.inputs, result->rms_effort)},
          {"rms_feedback", by_name(r.inputs, result->rms_feedback)},
          {"saturated", by_name(r.inputs, result->saturated)},
          {"departed", result->departed},
          {"energy_drift", result->run.audit.energy_drift}};
}

Json regulator_json(const Regulator& r) {
  Json json;
  json["states"] = r.states;
  json["actuators"] = r.inputs;
  json["stationary"] = r.stationary;
  json["interval"] = r.interval;
  json["intervals"] = r.stages.size();
  json["weights"] = {{"state", by_name(r.states, r.state_weights)},
                     {"final", by_name(r.states, r.final_weights)},
                     {"input", by_name(r.inputs, r.input_weights)}};
  json["unreachable"] = r.unreachable;
  json["open_transition"] = transition_json(r, r.open_transition);
  json["closed_transition"] = transition_json(r, r.closed_transition);
  json["contracting"] = r.stationary ? std::abs(eigenvalues_of(r.closed_transition)[0]) < 1.0
                                     : r.norm(r.closed_transition) < 1.0;
  return json;
}

// Rows of K at each sample, as JSON or as a table.
void write_gains(const Regulator& r, const std::string& file) {
  if (file.ends_with(".csv")) {
    std::vector<std::string> names{"time"};
    for (const std::string& input : r.inputs)
      for (const std::string& state : r.states)
        names.push_back(fmt::format("K.{}.{}", input, state));
    CsvWriter writer(file, names);
    for (std::size_t k = 0; k < r.gains.size(); ++k) {
      std::vector<double> row{r.times[k]};
      for (Index i = 0; i < r.gains[k].rows(); ++i)
        for (Index j = 0; j < r.gains[k].cols(); ++j) row.push_back(r.gains[k](i, j));
      writer.append(row);
    }
    writer.close();
    return;
  }
  Json json{{"states", r.states}, {"actuators", r.inputs}, {"interval", r.interval}};
  json["times"] = std::vector<double>(r.times.begin(), r.times.end() - 1);
  Json gains = Json::array();
  for (const Eigen::MatrixXd& gain : r.gains) gains.push_back(rows_json(gain));
  json["gains"] = std::move(gains);
  write_text(json.dump() + "\n", file);
}

std::string transition_text(const Regulator& r, const char* title,
                            const Eigen::MatrixXd& transition) {
  const Eigen::VectorXcd values = eigenvalues_of(transition);
  std::string text;
  for (Index k = 0; k < values.size(); ++k) {
    if (k > 0 && values[k].imag() < 0.0 && values[k] == std::conj(values[k - 1])) continue;
    const std::complex<double> x = r.stationary ? std::log(values[k]) / r.interval : values[k];
    text += (text.empty() ? "" : ", ") + pretty(x.real());
    if (values[k].imag() != 0.0) text += fmt::format(" ± {}i", pretty(std::abs(x.imag())));
  }
  return r.stationary ? fmt::format("{}{} 1/s\n", title, text)
                      : fmt::format("{}deviations grow by {} at most; eigenvalues {}\n", title,
                                    pretty(r.norm(transition)), text);
}

std::string human(const Task& task, const std::optional<RegulatedResult>& open,
                  const RegulatedResult& closed, const std::string& failure) {
  const Regulator& r = task.regulator;
  std::string text = fmt::format("regulator         {} by {}, {} interval{} of {} s\n",
                                 listed(r.states), listed(r.inputs), r.stages.size(),
                                 r.stages.size() > 1 ? "s" : "", pretty(r.interval));
  text += transition_text(r, "without it        ", r.open_transition);
  text += transition_text(r, "with it           ", r.closed_transition);
  if (!r.stationary)
    text += fmt::format("contracting       {}\n",
                        r.norm(r.closed_transition) < 1.0
                            ? "yes: every deviation is smaller at the end than at the start"
                            : "no: some deviation is larger at the end than at the start");
  const auto departed = [&](const char* title, const RegulatedResult& result) {
    if (result.departed)
      text += fmt::format("{}diverged at {} s\n", title, pretty(result.run.simulated_time));
  };
  if (open) departed("without it        ", *open);
  departed("with it           ", closed);
  if (!failure.empty()) text += "without it        failed: " + failure + "\n";
  Table states({{"deviation"},
                {"allowed", true},
                {"start", true},
                {"end without", true},
                {"with", true},
                {"largest without", true},
                {"with", true}});
  const auto value = [](const VectorXd& x, Index k) { return pretty(x[k]); };
  for (Index k = 0; k < static_cast<Index>(r.states.size()); ++k) {
    const double weight = r.state_weights[k];
    states.add({r.states[index(k)], weight > 0.0 ? pretty(1.0 / std::sqrt(weight)) : "any",
                value(closed.first_deviation, k), open ? value(open->final_deviation, k) : "-",
                value(closed.final_deviation, k), open ? value(open->largest_deviation, k) : "-",
                value(closed.largest_deviation, k)});
  }
  states.add({"all, relative to allowed", "", pretty(closed.first_distance),
              open ? pretty(open->final_distance) : "-", pretty(closed.final_distance),
              open ? pretty(open->largest_distance) : "-", pretty(closed.largest_distance)});
  Table efforts({{"actuator"},
                 {"largest without", true},
                 {"with", true},
                 {"rms with", true},
                 {"rms of the feedback", true},
                 {"at its limit", true}});
  for (Index j = 0; j < static_cast<Index>(r.inputs.size()); ++j)
    efforts.add({r.inputs[index(j)], open ? value(open->largest_effort, j) : "-",
                 value(closed.largest_effort, j), value(closed.rms_effort, j),
                 value(closed.rms_feedback, j),
                 fmt::format("{:.3g} %", 100.0 * closed.saturated[j])});
  return text + "\n" + states.text() + "\n" + efforts.text();
}

// The run of the closed loop: its settings, with the regulator among them.
std::unique_ptr<Recorder> recorder_for(const LqrOptions& options, const Task& task,
                                       const RegulatedSettings& settings) {
  if (options.out.empty()) return std::make_unique<MemoryRecorder>();
  check_named(options.out);
  if (options.out.ends_with(".csv")) return std::make_unique<CsvRecorder>(options.out);
  RunHeader header;
  header.kind = "regulation";
  header.model_yaml =
      write_yaml(disturbed(*task.mechanism, settings.disturbance.masses).description());
  header.model_path = options.model.file();
  SimulationSettings simulation = settings.simulation;
  simulation.duration = task.motion->duration();
  Json json = Json::parse(settings_json(completed(simulation), *task.mechanism)).value();
  json["regulator"] = regulator_json(task.regulator);
  json["regulator"]["disturbance"] = options.disturb;
  json["regulator"]["seed"] = options.seed;
  Json& limits = json["regulator"]["limits"] = Json::object();
  for (const auto& [name, limit] : settings.effort_limits) limits[name] = limit;
  header.settings_json = json.dump();
  return std::make_unique<RunRecorder>(options.out, std::move(header), true);
}

void lqr_command(const LqrOptions& options) {
  RegulatedSettings settings;
  settings.disturbance = disturbance_of(options);
  Task task;
  design(options, task);
  const Regulator& r = task.regulator;
  settings.simulation = task.simulation;
  if (options.limit_efforts)
    for (std::size_t j = 0; j < r.actuators.size(); ++j)
      settings.effort_limits[r.inputs[j]] =
          task.mechanism->freedom_settings()[index(r.actuators[j])].effort_limit;
  for (const auto& [name, limit] : numbers_by_name(options.limits, "lqr", "--limit"))
    settings.effort_limits[name] = limit;
  if (!options.gains.empty()) write_gains(r, options.gains);

  std::optional<RegulatedResult> open;
  std::string failure;
  settings.feedback = false;
  try {
    MemoryRecorder unused;
    open = simulate_regulated(*task.mechanism, *task.motion, r, settings, unused);
  } catch (const NumericalError& e) {  // without feedback it may fail
    failure = e.what();
  }
  settings.feedback = true;
  const std::unique_ptr<Recorder> recorder = recorder_for(options, task, settings);
  const RegulatedResult closed =
      simulate_regulated(*task.mechanism, *task.motion, r, settings, *recorder);
  if (options.json) {
    Json json = regulator_json(r);
    json["open"] = result_json(r, open, failure);
    json["closed"] = result_json(r, closed, "");
    json["gains"] = options.gains.empty() ? Json(nullptr) : Json(options.gains);
    json["output"] = options.out.empty() ? Json(nullptr) : Json(options.out);
    write_text(json.dump(2) + "\n", "");
    return;
  }
  std::string text = human(task, open, closed, failure);
  if (!options.out.empty()) text += "\noutput            " + options.out + "\n";
  if (!options.gains.empty()) text += "gains             " + options.gains + "\n";
  write_text(text, "");
}

}  // namespace

void add_lqr(CommandLine& line) {
  Command command = line.subcommand(
      "lqr", "Design a regulator (LQR) for the motion of a run or for an equilibrium");
  const auto options = std::make_shared<LqrOptions>();
  LqrOptions& o = *options;
  o.model.add(command).help("A run (any, with efforts); with --at a mechanism");
  command
      .option("--at", o.at,
              "Hold this equilibrium of the mechanism FILE: state and efforts (YAML), or "
              "'initial' for the model's initial state")
      .placeholder("STATE");
  command.option("--duration", o.duration, "With --at: duration of the simulation, in s")
      .placeholder("S")
      .show_default();
  command.names("--actuators", o.actuators,
                "Freedoms with an actuator (default: those with an effort in the run)");
  const auto texts = [&](const char* name, std::vector<std::string>& to, const char* what) {
    command.option(name, to, what).placeholder("NAME=X").repeatable();
  };
  texts("--q", o.q,
        "Weight of a deviation, q.NAME=X or v.NAME=X (default: 1 over the square of the allowed "
        "deviation, a tenth of its range in the motion)");
  texts("--final", o.final,
        "Weight of a deviation at the end (default: that of --q times the duration)");
  texts("--r", o.r, "Weight of an actuator (default: 1 over the square of its largest effort)");
  command
      .option("--interval", o.interval,
              "Sampling interval, in s (default: 400 intervals; with --at a fiftieth of the "
              "fastest mode)")
      .placeholder("S");
  texts("--disturb", o.disturb,
        "An offset at the start (q.NAME=X, v.NAME=X, random=X times the allowed deviation), an "
        "effort "
        "(NAME=EXPRESSION), a mass that is not known (mass.BODY=FACTOR)");
  command.option("--seed", o.seed, "Seed of the random offset").show_default();
  texts("--limit", o.limits, "Largest effort of an actuator");
  command.flag("--limit-efforts", o.limit_efforts, "Clip actuators to the model's effort limits");
  command.option("-o,--output", o.out, "Write the regulated motion: a run, or a table (.csv)")
      .placeholder("RUN");
  command.file("--gains", o.gains, "Write the gains: JSON, or a table (.csv)");
  command.flag("--json", o.json, "Print JSON");
  command.footer(
      "Examples:\n"
      "  catena simulate models/acrobot.yaml -d 2 --input elbow='3*sin(4*t)' -o swing.h5\n"
      "  catena lqr swing.h5 --disturb q.shoulder=0.05 --disturb 'elbow=pulse(t,0.5,0.6)' -o "
      "held.h5\n"
      "  catena plot held.h5 q.elbow nominal.q.elbow -o held.svg\n"
      "  catena lqr models/acrobot.yaml --at upright.yaml --actuators elbow "
      "--disturb q.shoulder=0.02\n\n"
      "The motion is simulated twice with the disturbances: without and with the regulator.\n"
      "docs/regulator.md describes it.");
  command.action([options] { lqr_command(*options); });
}

}  // namespace catena::app
