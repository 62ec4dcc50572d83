// Simulation: inputs, controllers, motions and events from Python, the result, Ctrl-C.
//
// The GIL is released while a simulation runs and taken back for functions of the user; about ten
// times a second it is taken to look for Ctrl-C. An error in a function of the user ends the run in
// good order (what was recorded stays) and is then raised as it was.
#include "callbacks.h"
#include "runs.h"

#include "catena/io/yaml.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"

namespace catena::python {
namespace {

ControllerSettings read_controller(const std::string& freedom, py::handle source,
                                   const std::shared_ptr<Seen>& seen) {
  ControllerSettings c{.freedom = freedom};
  const std::string what = "controller of '" + freedom + "'";
  for_each(py::reinterpret_borrow<py::object>(source), what.c_str(),
           [&](const std::string& name, py::handle value) {
             if (name == "kp")
               c.kp = py::cast<double>(value);
             else if (name == "kd")
               c.kd = py::cast<double>(value);
             else if (name == "ki")
               c.ki = py::cast<double>(value);
             else if (name == "target")
               c.target = read_signal(value, seen, "target of the " + what);
             else
               throw_unknown_field("the " + what, name, {"kp", "kd", "ki", "target"});
           });
  return c;
}

// What a response of the user left of the state.
std::function<void(double, State&)> python_response(py::handle f,
                                                    const std::shared_ptr<Seen>& seen) {
  return [f = keep(f), seen](double t, State& state) {
    const py::gil_scoped_acquire gil;
    seen->failure->guard([&] {
      (*f)(t, seen->show(state));
      return true;
    });
    state = seen->state();
  };
}

EventSettings read_event(const std::string& name, py::handle source,
                         const std::shared_ptr<Seen>& seen) {
  EventSettings event;
  event.name = name;
  const std::string what = "event '" + name + "'";
  if (!py::isinstance<py::dict>(source)) {
    event.signal = read_signal(source, seen, what);
    return event;
  }
  for_each(
      py::reinterpret_borrow<py::object>(source), what.c_str(),
      [&](const std::string& field, py::handle value) {
        if (field == "when")
          event.signal = read_signal(value, seen, what);
        else if (field == "direction")
          event.direction = py::cast<int>(value);
        else if (field == "action")
          event.action = choice_from<EventSettings::Action>(value);
        else if (field == "respond")
          event.respond = python_response(value, seen);
        else
          throw_unknown_field("the " + what, field, {"when", "direction", "action", "respond"});
      });
  return event;
}

// Sets what is given.
template <class T, class V>
void set(T& to, const std::optional<V>& from) {
  if (from) to = *from;
}

void bind_results(py::module_& m) {
  py::class_<ElementWork>(m, "ElementWork")
      .def_readonly("element", &ElementWork::element)
      .def_readonly("work", &ElementWork::work, "J.");
  py::class_<Audit>(m, "Audit",
                    "Whether energy changed by the work of the elements alone, and momentum was "
                    "kept where nothing acts on it (docs/simulation.md).")
      .def_readonly("energy_drift", &Audit::energy_drift, "Relative.")
      .def_readonly("energy_error", &Audit::energy_error, "J.")
      .def_readonly("energy_scale", &Audit::energy_scale, "J.")
      .def_readonly("linear_momentum_drift", &Audit::linear_momentum_drift,
                    "Relative; None: it is not conserved.")
      .def_readonly("angular_momentum_drift", &Audit::angular_momentum_drift,
                    "Relative; None: it is not conserved.")
      .def_readonly("closure_residual", &Audit::closure_residual)
      .def_readonly("initial_energy", &Audit::initial_energy, "J.")
      .def_readonly("final_energy", &Audit::final_energy, "J.")
      .def_readonly("work", &Audit::work, "list of ElementWork.")
      .def("__repr__", [](const Audit& a) {
        return "Audit(energy_drift=" + number(a.energy_drift) +
               ", closure_residual=" + number(a.closure_residual) + ")";
      });
  py::class_<StepStatistics>(m, "StepStatistics")
      .def_readonly("steps", &StepStatistics::steps)
      .def_readonly("rejected", &StepStatistics::rejected)
      .def_readonly("evaluations", &StepStatistics::evaluations)
      .def_readonly("restarts", &StepStatistics::restarts)
      .def_readonly("smallest_step", &StepStatistics::smallest_step, "s.")
      .def_readonly("largest_step", &StepStatistics::largest_step, "s.")
      .def_readonly("stiff_since", &StepStatistics::stiff_since,
                    "s: when stability, not accuracy, first kept the steps of dop853 short, so "
                    "that bdf may be much faster; inf: never.");
  using R = NamedResult;
  py::class_<R>(m, "SimulationResult", "How a simulation went.")
      .def_property_readonly("audit", [](const R& r) { return r.result.audit; })
      .def_property_readonly("steps", [](const R& r) { return r.result.steps; })
      .def_property_readonly(
          "events", [](const R& r) { return r.result.events; }, "How many.")
      .def_property_readonly("rows", [](const R& r) { return r.result.rows; })
      .def_property_readonly(
          "simulated_time", [](const R& r) { return r.result.simulated_time; }, "s.")
      .def_property_readonly(
          "wall_time", [](const R& r) { return r.result.wall_time; }, "s.")
      .def_property_readonly(
          "processor_time", [](const R& r) { return r.result.processor_time; }, "s.")
      .def_property_readonly(
          "complete", [](const R& r) { return r.result.complete; },
          "The whole duration, or until an event that ends the run.")
      .def_property_readonly(
          "end", [](const R& r) { return r.result.end; }, "In words, if not the duration.")
      .def_property_readonly(
          "state",
          [](const R& r) {
            return NamedState{r.mechanism, r.result.state};
          },
          "The last State.")
      .def("to_json", [](const R& r) { return to_json(r.result); });
}

}  // namespace

void bind_simulation(py::module_& m) {
  bind_enum<Interpolation>(m, "Interpolation", "Between the points of a table.",
                           {{"hold", Interpolation::hold},
                            {"linear", Interpolation::linear},
                            {"spline", Interpolation::spline}});
  bind_enum<FrictionLaw>(
      m, "FrictionLaw", "Of dry friction.",
      {{"set_valued", FrictionLaw::set_valued}, {"smooth", FrictionLaw::smooth}});
  bind_enum<EventSettings::Action>(
      m, "EventAction", "What an event does.",
      {{"record", EventSettings::Action::record}, {"stop", EventSettings::Action::stop}});
  bind_enum<Method>(m, "Method", "The integrators (docs/simulation.md).", [] {
    std::vector<std::pair<std::string, Method>> all;
    for (const std::string& name : method_names()) all.emplace_back(name, method_from(name));
    return all;
  }());
  bind_results(m);

  m.def(
      "_simulate",
      [](const MechanismPointer& mechanism, const NamedState* state,
         const std::optional<double>& duration, const std::optional<double>& output_interval,
         const std::optional<double>& checkpoint_interval,
         const std::optional<std::vector<std::string>>& outputs,
         const std::optional<Choice<Method>>& method,
         const std::optional<double>& relative_tolerance,
         const std::optional<double>& absolute_tolerance, const std::optional<double>& step,
         const std::optional<double>& maximum_step, const py::object& inputs,
         const py::object& controllers, const py::object& motions, const Wrenches& external,
         const py::object& events, const std::optional<bool>& stops,
         const std::optional<double>& restitution, const py::object& stop_settings,
         const std::optional<Choice<FrictionLaw>>& friction,
         const std::optional<bool>& limit_efforts, const std::string& settings_file,
         const std::string& settings_text, const py::object& progress, const std::string& output,
         bool overwrite, const std::string& model_path,
         const std::shared_ptr<MemoryRecorder>& record) {
        const auto seen = std::make_shared<Seen>(mechanism);
        SimulationSettings s;
        StateInput start = default_input(*mechanism);
        if (!settings_file.empty()) read_settings_file(settings_file, *mechanism, start, s);
        if (!settings_text.empty())
          read_settings_text(settings_text, "settings", *mechanism, start, s);
        set(s.duration, duration);
        set(s.output_interval, output_interval);
        set(s.checkpoint_interval, checkpoint_interval);
        set(s.outputs, outputs);
        set(s.integrator.method, method);
        set(s.integrator.relative_tolerance, relative_tolerance);
        set(s.integrator.absolute_tolerance, absolute_tolerance);
        // A tighter relative tolerance alone brings the absolute one with it.
        if (relative_tolerance && !absolute_tolerance)
          s.integrator.absolute_tolerance =
              std::min(s.integrator.absolute_tolerance, 0.01 * *relative_tolerance);
        set(s.integrator.step, step);
        set(s.integrator.maximum_step, maximum_step);
        ActionSettings& a = s.actions;
        set(a.stops, stops);
        set(a.restitution, restitution);
        set(a.friction, friction);
        set(a.limit_efforts, limit_efforts);
        for_each(inputs, "inputs", [&](const std::string& name, py::handle value) {
          a.inputs.push_back({name, read_signal(value, seen, "input of '" + name + "'")});
        });
        for_each(controllers, "controllers", [&](const std::string& name, py::handle value) {
          a.controllers.push_back(read_controller(name, value, seen));
        });
        for_each(motions, "motions", [&](const std::string& name, py::handle value) {
          a.motions.push_back({name, read_signal(value, seen, "motion of '" + name + "'")});
        });
        for_each(events, "events", [&](const std::string& name, py::handle value) {
          a.events.push_back(read_event(name, value, seen));
        });
        for_each(stop_settings, "stop_settings", [&](const std::string& name, py::handle value) {
          a.stop_settings.push_back({name, py::cast<double>(value)});
        });
        for (const ExternalWrench& wrench : read_wrenches(external, *mechanism))
          a.external.push_back(wrench);
        if (state != nullptr) {
          start.state = state->state;
          start.given = given_by_state(*mechanism, state->state);
        }
        add_actions(start, *mechanism, a);
        s = completed(s);

        RunHeader header;
        header.model_path = model_path;
        header.settings_json = settings_json(s, *mechanism);
        const auto file = file_recorder(output, *mechanism, std::move(header), overwrite);
        const SimulationResult result = run_guarded(s, seen->failure, progress, [&] {
          close_loops(*mechanism, start);
          return simulate(*mechanism, start.state, s, file ? *file : *record);
        });
        return std::make_pair(NamedResult{mechanism, result}, settings_json(s, *mechanism));
      },
      py::arg("mechanism"), py::arg("state"), py::arg("duration"), py::arg("output_interval"),
      py::arg("checkpoint_interval"), py::arg("outputs"), py::arg("method"),
      py::arg("relative_tolerance"), py::arg("absolute_tolerance"), py::arg("step"),
      py::arg("maximum_step"), py::arg("inputs"), py::arg("controllers"), py::arg("motions"),
      py::arg("external"), py::arg("events"), py::arg("stops"), py::arg("restitution"),
      py::arg("stop_settings"), py::arg("friction"), py::arg("limit_efforts"),
      py::arg("settings_file"), py::arg("settings_text"), py::arg("progress"), py::arg("output"),
      py::arg("overwrite"), py::arg("model_path"), py::arg("record"),
      "simulate() of the package, which fills in the defaults.");

  m.def(
      "_resume_simulation",
      [](const std::string& path, const std::optional<double>& duration,
         const py::object& progress) {
        std::optional<RunCheckpoint> checkpoint;
        RunHeader header;
        {
          const RunFile run(path);
          header = run.header();
          if (run.being_written())
            throw Error(path + ": another program is still writing this run");
          const std::vector<RunCheckpoint> all = run.checkpoints();
          if (!all.empty()) checkpoint = all.back();
        }
        if (header.kind != "simulation")
          throw Error(path + ": is a run of another kind (" + header.kind +
                      "), which cannot be resumed");
        if (!checkpoint)
          throw Error(path + ": has no checkpoint yet to resume from; start it anew");
        Reading reading = read_yaml_text(header.model_yaml, path);
        const auto mechanism = std::make_shared<Mechanism>(
            MechanismBuilder(std::move(reading.description)).finish({.strict = false}));
        SimulationSettings settings;
        StateInput input = default_input(*mechanism);
        read_settings_text(header.settings_json, path, *mechanism, input, settings);
        add_actions(input, *mechanism, settings.actions);
        if (duration) settings.duration = *duration;
        if (checkpoint->time >= settings.duration)
          throw Error(path + ": its last checkpoint is at " + number(checkpoint->time) +
                      " s already; give a longer duration");
        RunRecorder recorder(path);
        const SimulationResult result = run_guarded(
            settings, std::make_shared<Failure>(), progress,
            [&] { return resume_simulation(*mechanism, *checkpoint, settings, recorder); });
        return NamedResult{mechanism, result};
      },
      py::arg("path"), py::arg("duration"), py::arg("progress"),
      "resume_simulation() of the package.");
}

}  // namespace catena::python
