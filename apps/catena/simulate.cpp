// SPDX-License-Identifier: BSD-3-Clause
// catena simulate: from a model file to a run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "apps/catena/assignments.h"
#include "apps/catena/model_options.h"
#include "apps/catena/output.h"
#include "apps/catena/progress.h"
#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/constraints/absolute_form.h"
#include "catena/constraints/contact_shapes.h"
#include "catena/io/models/yaml.h"
#include "catena/simulation/freedom_index.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/used_hinges.h"

namespace catena::app {
namespace {

// Shapes that overlap by more (m) at the start are reported.
constexpr double kOverlapTold = 1e-6;

struct SimulateOptions {
  ModelOptions model;
  std::string state, settings, out, resume;
  bool json = false;
  bool quiet = false;
  std::optional<double> duration, interval, checkpoint, rtol, atol, step, max_step, restitution;
  std::optional<std::string> method, friction, loops, form, ground;
  std::optional<double> ground_friction;
  std::vector<std::string> outputs, inputs, pds, motions, events, stop_events;
  std::vector<std::string> controllers, controller_limits;
  std::optional<double> controller_period, controller_delay;
  bool collisions = false;
  bool no_stops = false;
  bool limit_efforts = false;
};

// An expression, or @FILE[:COLUMN] for a table; @@ for one smoothed to a spline.
SignalSettings signal(const std::string& text) {
  if (!text.starts_with('@')) return text;
  TableSignal result;
  std::size_t first = 1;
  if (text.starts_with("@@")) {
    first = 2;
    result.interpolation = Interpolation::spline;
  }
  const std::size_t colon = text.rfind(':');
  const bool has_column = colon != std::string::npos && colon > first;
  result.path = text.substr(first, has_column ? colon - first : std::string::npos);
  if (has_column) result.column = text.substr(colon + 1);
  return result;
}

// kp,kd[,target] or kp,kd,ki,target.
ControllerSettings controller(const std::string& text) {
  const auto [name, value] = split_assignment(text, "simulate", "--pd");
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
  const auto gain = [&](std::size_t k) { return constant(parts[k], "simulate", "--pd: the gain"); };
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

// Options of the command line, which override the settings file.
void apply(const SimulateOptions& options, SimulationSettings& settings) {
  const auto set = [](const std::optional<double>& from, auto& to) {
    if (from) to = *from;
  };
  set(options.duration, settings.duration);
  set(options.interval, settings.output_interval);
  set(options.checkpoint, settings.checkpoint_interval);
  set(options.rtol, settings.integrator.relative_tolerance);
  set(options.atol, settings.integrator.absolute_tolerance);
  // A tighter relative tolerance alone also tightens the absolute one.
  if (options.rtol && !options.atol)
    settings.integrator.absolute_tolerance =
        std::min(settings.integrator.absolute_tolerance, 0.01 * *options.rtol);
  set(options.step, settings.integrator.step);
  set(options.max_step, settings.integrator.maximum_step);
  if (options.method) {
    settings.integrator.method = method_from(*options.method);
    settings.integrator.keep_method = true;
  }
  if (options.form && *options.form != "ode") settings.integrator.method = Method::ida;
  if (!options.outputs.empty()) settings.outputs = options.outputs;
  ActionSettings& actions = settings.actions;
  for (const std::string& text : options.inputs) {
    const auto [name, value] = split_assignment(text, "simulate", "--input");
    actions.inputs.push_back({name, signal(value)});
  }
  for (const std::string& text : options.motions) {
    const auto [name, value] = split_assignment(text, "simulate", "--motion");
    actions.motions.push_back({name, signal(value)});
  }
  for (const std::string& text : options.pds) actions.controllers.push_back(controller(text));
  for (const std::string& text : options.controllers) {
    ControllerFile c{.file = text};
    if (const std::size_t at = text.find('='); at != std::string::npos) {
      c.name = text.substr(0, at);
      c.file = text.substr(at + 1);
    }
    c.period = options.controller_period;
    c.delay = options.controller_delay;
    c.limits = numbers_by_name(options.controller_limits, "simulate", "--controller-limit");
    actions.controller_files.push_back(std::move(c));
  }
  const auto events = [&](const std::vector<std::string>& texts, const char* option,
                          EventSettings::Action action) {
    for (const std::string& text : texts) {
      const auto [name, value] = split_assignment(text, "simulate", option);
      EventSettings& event = actions.events.emplace_back();
      event.name = name;
      event.signal = signal(value);
      event.action = action;
    }
  };
  events(options.events, "--event", EventSettings::Action::record);
  events(options.stop_events, "--stop-when", EventSettings::Action::stop);
  set(options.restitution, actions.restitution);
  if (options.friction)
    actions.friction =
        *options.friction == "smooth" ? FrictionLaw::smooth : FrictionLaw::set_valued;
  if (options.loops)
    actions.loops = *options.loops == "multipliers" ? LoopRoute::multipliers
                    : *options.loops == "embedded"  ? LoopRoute::embedded
                                                    : LoopRoute::automatic;
  if (options.no_stops) actions.stops = false;
  if (options.limit_efforts) actions.limit_efforts = true;
}

// `exact`: steps end on the closures, so that loops stay open only by the digits of the file.
std::string human(const SimulationResult& r, const std::string& out, bool exact) {
  constexpr double kOpen = 1e-9;
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
    text += fmt::format(
        "loops closed to   {:.2e}{}\n", r.audit.closure_residual,
        exact && r.audit.closure_residual > kOpen
            ? " (redundant constraints disagree by that much, as in a file with few digits, and "
              "results are no better; write parallel axes and equal lengths with all digits)"
            : "");
  if (r.audit.contact)
    text += fmt::format(
        "contact laws      met to {:.2e} of the load, penetration {:.2e} m, creep {:.2e} m/s\n"
        "energy restored   {:.2e} J in all, which the steps missed and the drift does not show\n",
        r.audit.contact->residual, r.audit.contact->penetration, r.audit.contact->creep,
        r.audit.contact->restored);
  for (const FlexibleDomain& d : r.audit.flexible)
    text += fmt::format(
        "{:<17} deflected by {:.2g} of its length, turning at {:.2g} of its first frequency\n",
        d.body, d.deflection, d.rate);
  for (const ElementWork& work : r.audit.work) {
    // Springs that rest, contacts that never touch.
    if (without_noise(work.work, r.audit.energy_scale) == 0.0) continue;
    text += fmt::format("work              {:.6g} J by {}\n", work.work, work.element);
  }
  if (std::isfinite(r.steps.stiff_since))
    text += fmt::format(
        "stiff             since {:.6g} s: stability, not accuracy, keeps the steps short; "
        "--method "
        "bdf may be faster\n",
        r.steps.stiff_since);
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
  if (r.audit.contact)
    json["audit"]["contact"] = {{"residual", r.audit.contact->residual},
                                {"penetration", r.audit.contact->penetration},
                                {"creep", r.audit.contact->creep},
                                {"restored", r.audit.contact->restored}};
  for (const FlexibleDomain& d : r.audit.flexible)
    json["audit"]["flexible"][d.body] = {
        {"deflection", d.deflection}, {"rate", d.rate}, {"pivot", d.pivot}};
  json["steps"] = r.steps.steps;
  json["events"] = r.events;
  json["simulated_time"] = r.simulated_time;
  json["wall_time"] = r.wall_time;
  json["output"] = out;
  return json;
}

std::unique_ptr<Recorder> recorder_for(const std::string& out, const SimulateOptions& options,
                                       const Mechanism& m, const SimulationSettings& settings) {
  check_named(out);
  if (out.ends_with(".csv")) return std::make_unique<CsvRecorder>(out);
  RunHeader header;
  header.model_yaml = write_yaml(m.description());
  header.model_path = options.model.file();
  header.settings_json = settings_json(settings, m);
  return std::make_unique<RunRecorder>(out, std::move(header), true);
}

void print(const SimulationResult& result, const std::string& out, bool json,
           const SimulationSettings& settings) {
  const bool exact =
      settings.integrator.method != Method::ida && settings.actions.constraints.empty();
  write_text(json ? machine(result, out).dump(2) + "\n" : human(result, out, exact), "");
  if (!result.complete) throw Failed();
}

// In absolute coordinates every body is free and every hinge a constraint; the state follows.
void make_absolute(const SimulateOptions& options, Mechanism& m, StateInput& input,
                   const SimulationSettings& settings) {
  if (!settings.actions.constraints.empty() || options.ground)
    throw UsageError(
        "catena simulate: error: --form absolute is for motions without constraints that are "
        "switched; use --form dae");
  close_loops_and_say(m, input);
  UsedHinges used(m);
  used.add(settings.actions);
  Mechanism absolute = absolute_form(m, used.names());
  const State state = absolute_state(m, input.state, absolute);
  m = std::move(absolute);
  input = default_input(m);
  input.state = state;
}

// Hinges at which a loop is cut have coordinates if options, settings or state name them.
Mechanism load(const SimulateOptions& options) {
  const Mechanism mechanism = options.model.load();
  UsedHinges used(mechanism);
  SimulationSettings from_options;
  apply(options, from_options);
  used.add(from_options);
  if (!options.settings.empty()) used.add_settings_file(options.settings);
  if (!options.state.empty()) used.add_state_file(options.state);
  return used.with_coordinates();
}

bool bare(const std::string& option) { return option.empty() || option == kBare; }

bool is_grid(const std::string& text) { return std::filesystem::is_regular_file(text); }

double height_of_ground(const std::string& text) {
  try {
    return constant(text, "simulate", "--ground");
  } catch (const Error&) {
    throw UsageError(
        "catena simulate: error: --ground needs a height in m, the file of a height field, or "
        "nothing, not '" +
        text + "', which is no number and no file; write the model FILE before it");
  }
}

// --ground: contacts of all collision shapes. Without a height it lies at 0, or under the lowest
// shape if that starts below.
void add_ground(const SimulateOptions& options, const Mechanism& m, const State& state,
                double duration, ActionSettings& actions) {
  if (!options.ground) {
    if (options.ground_friction && !options.collisions)
      throw UsageError("catena simulate: error: --ground-friction needs --ground or --collisions");
    return;
  }
  GroundSettings ground;
  if (options.ground_friction) ground.friction = *options.ground_friction;
  if (is_grid(*options.ground)) {
    if (!actions.collisions) actions.collisions.emplace().bodies = false;
    actions.collisions->height_field =
        std::make_shared<const HeightField>(read_height_field(*options.ground));
    actions.collisions->friction = ground.friction;
    return;
  }
  if (!bare(*options.ground)) ground.height = height_of_ground(*options.ground);
  std::vector<std::string> notes;
  std::vector<ContactSettings> contacts = ground_contacts(m, ground, &notes);
  for (const std::string& note : notes) std::fprintf(stderr, "warning: %s\n", note.c_str());
  if (contacts.empty()) return;
  const double gap = least_gap(m, contacts, state.q);
  if (bare(*options.ground) && gap < 0.0) {
    ground.height = gap;
    contacts = ground_contacts(m, ground);
    std::fprintf(stderr,
                 "note: the ground is at %.6g m, under the lowest shape (--ground HEIGHT puts it "
                 "elsewhere)\n",
                 gap);
  }
  const double falls =
      duration * state.v.lpNorm<Eigen::Infinity>() + 0.5 * norm(m.gravity()) * duration * duration;
  if (gap > falls)
    std::fprintf(stderr,
                 "note: the ground is %.6g m below the lowest shape, which falls by no more than "
                 "%.6g m in %.6g s\n",
                 gap, falls, duration);
  for (ContactSettings& contact : contacts)
    actions.constraints.emplace_back().constraint = std::move(contact);
}

// Of every body the contact that starts deepest below its plane.
void warn_of_depth(const Mechanism& m, const State& state, const ActionSettings& actions) {
  std::map<int, std::pair<double, std::string>> deepest;  // by body
  for (const ConstraintSettings& c : actions.constraints) {
    const auto* contact = std::get_if<ContactSettings>(&c.constraint);
    if (contact == nullptr) continue;
    const double depth = -least_gap(m, {contact, 1}, state.q);
    auto& [most, name] = deepest[contact->body];
    if (depth > std::max(most, kOverlapTold)) {
      most = depth;
      name = contact->name;
    }
  }
  for (const auto& [body, found] : deepest)
    if (!found.second.empty())
      std::fprintf(stderr,
                   "warning: contact '%s' starts %.3g m below its plane; it is pushed out\n",
                   found.second.c_str(), found.first);
}

// --collisions, and warnings about shapes.
void add_collisions(const SimulateOptions& options, const Mechanism& m, const State& state,
                    ActionSettings& actions) {
  if (options.collisions) {
    if (!actions.collisions) actions.collisions.emplace();
    actions.collisions->bodies = true;
    if (options.ground_friction) actions.collisions->friction = *options.ground_friction;
  }
  if (!actions.collisions) return;
  const CollisionModel model(m, *actions.collisions);
  for (const std::string& note : model.notes()) std::fprintf(stderr, "warning: %s\n", note.c_str());
  std::map<std::pair<std::string, std::string>, double> deepest;
  for (const ShapeContact& c : shape_contacts(model, state.q, 0.0)) {
    double& depth = deepest[{c.shape_a, c.shape_b}];
    depth = std::max(depth, -c.distance);
  }
  for (const auto& [pair, depth] : deepest)
    if (depth > kOverlapTold)
      std::fprintf(stderr,
                   "warning: '%s' and '%s' overlap by %.3g m at the start; they are pushed apart\n",
                   pair.first.c_str(), pair.second.c_str(), depth);
}

void start(const SimulateOptions& options) {
  Mechanism m = load(options);
  print_warnings(m);
  StateInput input = default_input(m);
  SimulationSettings settings;
  if (!options.settings.empty()) read_settings_file(options.settings, m, input, settings);
  if (!options.state.empty()) input = read_state_file(options.state, m);
  apply(options, settings);
  connect_controllers(settings.actions);
  add_actions(input, m, settings.actions);
  if (options.form == "absolute") {
    make_absolute(options, m, input, settings);
  } else {
    close_loops_and_say(m, input);
    print_loop_warnings(m, input.state.q);
  }
  add_ground(options, m, input.state, settings.duration, settings.actions);
  warn_of_depth(m, input.state, settings.actions);
  add_collisions(options, m, input.state, settings.actions);
  settings = completed(settings);
  std::string out = options.out;
  if (out.empty()) out = std::filesystem::path(options.model.file()).stem().string() + ".run.h5";
  Progress progress(settings.duration, !options.quiet);
  settings.progress = [&](double t) {
    progress.update(t);
    return !progress.interrupted();
  };
  const std::unique_ptr<Recorder> recorder = recorder_for(out, options, m, settings);
  const SimulationResult result = simulate(m, input.state, settings, *recorder);
  progress.clear();
  print(result, out, options.json, settings);
}

// Everything but the duration comes from the run.
void resume(const SimulateOptions& options) {
  std::optional<RunCheckpoint> checkpoint;
  RunHeader header;
  {
    const RunFile run(options.resume);
    header = run.header();
    if (run.being_written())
      throw Error(options.resume + ": another program is still writing this run");
    std::string damage;
    const std::vector<RunCheckpoint> all = run.checkpoints(&damage);
    if (!damage.empty()) fmt::print(stderr, "warning: {}, from where it goes on\n", damage);
    if (!all.empty()) checkpoint = all.back();
  }
  if (header.kind != "simulation")
    throw Error(options.resume + ": is a run of another kind (" + header.kind +
                "), which cannot be resumed");
  if (!checkpoint)
    throw Error(options.resume +
                ": has no checkpoint yet to resume from; start it again without --resume");
  const Reading reading = read_yaml_text(header.model_yaml, options.resume);
  const Mechanism m = MechanismBuilder(reading.description).finish({.strict = false});
  StateInput input = default_input(m);
  SimulationSettings settings;
  read_settings_text(header.settings_json, options.resume, m, input, settings);
  connect_controllers(settings.actions);
  add_actions(input, m, settings.actions);
  if (options.duration) settings.duration = *options.duration;
  if (checkpoint->time >= settings.duration)
    throw Error(options.resume + ": its last checkpoint is at " + number(checkpoint->time) +
                " s already; give a longer --duration");
  Progress progress(settings.duration, !options.quiet);
  settings.progress = [&](double t) {
    progress.update(t);
    return !progress.interrupted();
  };
  RunRecorder recorder(options.resume);
  const SimulationResult result = resume_simulation(m, *checkpoint, settings, recorder);
  progress.clear();
  print(result, options.resume, options.json, settings);
}

void simulate_command(const SimulateOptions& options) {
  if (options.ground && !bare(*options.ground) && !is_grid(*options.ground))
    height_of_ground(*options.ground);
  if (options.resume.empty() == options.model.file().empty())
    throw UsageError("catena simulate: error: give a model FILE, or --resume RUN (and no FILE)");
  if (options.resume.empty())
    start(options);
  else
    resume(options);
}

// Files, times, integrator and columns.
void add_run_options(Command& command, SimulateOptions& o) {
  const auto number_option = [&](const char* name, std::optional<double>& to, const char* what) {
    command.option(name, to, what).placeholder("S");
  };
  number_option("-d,--duration", o.duration, "Duration in s (default: 10)");
  command
      .option("-o,--output", o.out,
              "The run to write: HDF5, or a table if it ends in .csv (default: "
              "MODEL.run.h5 here)")
      .placeholder("RUN");
  command.option("--settings", o.settings, "YAML with any of these settings and more")
      .placeholder("FILE");
  command
      .option("--state", o.state,
              "YAML with the initial q and v, constant efforts and wrenches (default: the "
              "model's initial state)")
      .placeholder("FILE");
  command.option("--resume", o.resume, "Continue an interrupted run from its last checkpoint")
      .placeholder("RUN");
  command.option("--method", o.method,
                 "Integrator: " + listed(method_names()) + " (default: dop853)");
  const auto tolerance = [&](const char* name, std::optional<double>& to, const char* what) {
    command.option(name, to, what).placeholder("X");
  };
  tolerance("--rtol", o.rtol, "Relative tolerance (default: 1e-8)");
  tolerance("--atol", o.atol, "Absolute tolerance (default: 1e-10, and at most rtol/100)");
  number_option("--step", o.step, "Step of fixed-step methods, in s (default: 0.001)");
  number_option("--max-step", o.max_step, "Longest step, in s");
  number_option("--interval", o.interval, "Time between rows, in s (default: about 1000 rows)");
  number_option("--checkpoint", o.checkpoint,
                "Time between checkpoints, in s (default: a tenth of the duration)");
  command
      .option(
          "--outputs", o.outputs,
          "What to record: q.* v.* a.* effort.* friction.* reaction.* energy.* "
          "momentum.* work.* contact.* position.* velocity.* force.* moment.* (default: q v effort "
          "energy contact)")
      .placeholder("NAME")
      .separated_by(',');
}

// Inputs, controllers, events, contact and the form of the equations.
void add_action_options(Command& command, SimulateOptions& o) {
  const auto texts = [&](const char* name, std::vector<std::string>& to, const char* what) {
    command.option(name, to, what).placeholder("NAME=...").repeatable();
  };
  texts("--input", o.inputs, "An effort: HINGE=EXPRESSION, or HINGE=@TABLE.csv[:COLUMN]");
  texts("--pd", o.pds, "A controller: HINGE=kp,kd[,target] or HINGE=kp,kd,ki,target");
  command
      .option("--controller", o.controllers,
              "A linear controller from a system file: K.yaml, or NAME=K.yaml")
      .placeholder("FILE")
      .repeatable();
  command
      .option("--controller-period", o.controller_period,
              "Sample the controllers every so many seconds (default: as their files say)")
      .placeholder("S");
  command
      .option("--controller-delay", o.controller_delay,
              "Computation time of sampled controllers, in s (default: as their files say)")
      .placeholder("S");
  command
      .option("--controller-limit", o.controller_limits,
              "Greatest effort of the controllers: FREEDOM=X (default: as their files say)")
      .placeholder("NAME=X")
      .repeatable();
  texts("--motion", o.motions, "A prescribed motion: HINGE=EXPRESSION of t, or @@TABLE.csv");
  texts("--event", o.events, "Record the zero crossings of an expression: NAME=EXPRESSION");
  texts("--stop-when", o.stop_events,
        "End the run at the first zero crossing of an expression: NAME=EXPRESSION");
  command.option("--restitution", o.restitution, "Restitution at joint limits, 0 to 1 (default: 0)")
      .placeholder("X");
  command
      .option("--ground", o.ground,
              "A plane under all collision shapes of the model, at this height in m (default: 0, "
              "or under the lowest shape), or a height field from a file (grid of heights)")
      .placeholder("HEIGHT|FILE")
      .may_be_bare();
  command
      .option("--ground-friction", o.ground_friction,
              "Friction on the ground, and between bodies with --collisions, of shapes that have "
              "none in the model (default: 0.8)")
      .placeholder("X")
      .non_negative();
  command.flag("--collisions", o.collisions,
               "Shapes of bodies collide with each other, but those of neighbours, and with shapes "
               "of bodies that are fixed to the ground (method time-stepping)");
  command.flag("--no-stops", o.no_stops, "Ignore joint limits");
  command.flag("--limit-efforts", o.limit_efforts,
               "Clip inputs and controllers to the model's effort limits");
  command
      .option("--friction", o.friction,
              "Dry friction: with stick-slip events, or smooth "
              "(default: events)")
      .one_of({"events", "smooth"});
  command
      .option("--loops", o.loops,
              "Closed loops: embedded (independent coordinates), or by multipliers "
              "(default: embedded, unless a loop is large or constraints are switched)")
      .one_of({"automatic", "embedded", "multipliers"});
  command
      .option(
          "--form", o.form,
          "Form of the equations: ode, dae (all coordinates and multipliers, solved by IDA), or "
          "absolute (dae with every body free and every hinge a constraint) (default: ode)")
      .one_of({"ode", "dae", "absolute"});
}

}  // namespace

void add_simulate(CommandLine& line) {
  Command command = line.subcommand("simulate", "Simulate the motion of a mechanism");
  const auto options = std::make_shared<SimulateOptions>();
  SimulateOptions& o = *options;
  o.model.add(command, false);
  add_run_options(command, o);
  add_action_options(command, o);
  command.flag("--json", o.json, "Print JSON");
  command.flag("--quiet", o.quiet, "No progress bar");
  command.footer(
      "Examples:\n"
      "  catena simulate models/double_pendulum.yaml\n"
      "  catena simulate robot.urdf -d 5 --pd shoulder=200,20,0.5 --input elbow='2*sin(2*pi*t)'\n"
      "  catena simulate robot.urdf --motion elbow=0.3*t^2 --outputs effort.*\n"
      "  catena simulate models/four_bar.yaml --controller K.yaml --controller-limit A=20\n"
      "  catena simulate models/hand_over.yaml --settings examples/hand_over.yaml\n"
      "  catena simulate models/pile_of_boxes.yaml --ground --collisions -d 2\n"
      "  catena simulate --resume robot.run.h5\n\n"
      "Expressions may use t, pi, q.NAME, v.NAME, the usual functions, step, sign and pulse;\n"
      "@FILE.csv is a table (straight lines between its points), @@FILE.csv a smooth spline.\n"
      "Every run is audited: energy against the work of all elements, momentum where it is kept.\n"
      "docs/simulation.md describes all of it.");
  command.action([options] { simulate_command(*options); });
}

}  // namespace catena::app
