// SPDX-License-Identifier: BSD-3-Clause
// Simulation: inputs, controllers, motions and events from Python, the result, Ctrl-C.
//
// The GIL is released while a simulation runs and taken back for functions of the user; about ten
// times a second it is taken to look for Ctrl-C. An error in a function of the user ends the run in
// good order (what was recorded stays) and is then raised as it was.
#include <algorithm>

#include "support/callbacks.h"
#include "support/runs.h"

#include "catena/components/controller_file.h"
#include "catena/io/models/yaml.h"
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
               c.target = read_motion_signal(value, seen->failure, "target of the " + what);
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

// As in settings files (docs/simulation.md), or by its sign.
int read_direction(py::handle value, const std::string& what) {
  const std::vector<std::string> words{"down", "both", "up"};
  if (py::isinstance<py::str>(value)) {
    const auto at = std::find(words.begin(), words.end(), py::cast<std::string>(value));
    if (at != words.end()) return static_cast<int>(at - words.begin()) - 1;
  } else if (PyIndex_Check(value.ptr()) != 0) {
    const int sign = py::cast<int>(value);
    if (sign >= -1 && sign <= 1) return sign;
  }
  throw py::value_error("the direction of " + what +
                        " is \"up\" (1), \"down\" (-1) or \"both\" (0), not " +
                        py::cast<std::string>(py::repr(value)));
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
          event.direction = read_direction(value, what);
        else if (field == "action")
          event.action = choice_from<EventSettings::Action>(value);
        else if (field == "respond")
          event.respond = python_response(value, seen);
        else
          throw_unknown_field("the " + what, field, {"when", "direction", "action", "respond"});
      });
  return event;
}

// What code of the user does in a run: that is not in its file, and is given again to resume it.
void read_actions(const py::object& inputs, const py::object& controllers,
                  const py::object& motions, const py::object& events,
                  const py::object& extra_outputs, const std::shared_ptr<Seen>& seen,
                  SimulationSettings& s) {
  ActionSettings& a = s.actions;
  for_each(inputs, "inputs", [&](const std::string& name, py::handle value) {
    a.inputs.push_back({name, read_signal(value, seen, "input of '" + name + "'")});
  });
  for_each(controllers, "controllers", [&](const std::string& name, py::handle value) {
    a.controllers.push_back(read_controller(name, value, seen));
  });
  for_each(motions, "motions", [&](const std::string& name, py::handle value) {
    a.motions.push_back(
        {name, read_motion_signal(value, seen->failure, "motion of '" + name + "'")});
  });
  for_each(events, "events", [&](const std::string& name, py::handle value) {
    a.events.push_back(read_event(name, value, seen));
  });
  for_each(extra_outputs, "extra_outputs", [&](const std::string& name, py::handle value) {
    // A function, or (function, unit).
    const bool pair = py::isinstance<py::tuple>(value) && py::len(value) == 2;
    const auto parts = py::reinterpret_borrow<py::tuple>(value);
    const py::object f = pair ? py::object(parts[0]) : py::reinterpret_borrow<py::object>(value);
    if (PyCallable_Check(f.ptr()) == 0)
      throw py::type_error("the extra output '" + name +
                           "' must be a function of (t, state), or (function, unit)");
    RunColumn column;
    column.name = name;
    if (pair) column.unit = py::cast<std::string>(py::str(parts[1]));
    s.extra_outputs.push_back(
        {column, python_function(f, seen, "the extra output '" + name + "'")});
  });
}

// Sets what is given.
template <class T, class V>
void set(T& to, const std::optional<V>& from) {
  if (from) to = *from;
}

void bind_results(py::module_& m) {
  py::class_<ElementWork> element(m, "ElementWork", "The work of one element during a run.");
  element.def_readonly("element", &ElementWork::element, "In words.")
      .def_readonly("work", &ElementWork::work, "J, put into the mechanism.");
  picklable(element, &ElementWork::element, &ElementWork::work);
  using A = Audit;
  py::class_<A> audit(m, "Audit",
                      "Audit of a run: energy balance against the work of all elements, momentum, "
                      "loop closure (docs/simulation.md).");
  using C = Audit::Contact;
  py::class_<C> contact(m, "ContactAudit", "The quality of time-stepping, the largest of the run.");
  contact
      .def_readonly("residual", &C::residual,
                    "Of the laws of contact and friction, relative to the load.")
      .def_readonly("penetration", &C::penetration,
                    "m or rad, at the end of a step before it is corrected.")
      .def_readonly("creep", &C::creep, "m/s, slip of contacts that stick.")
      .def_readonly("restored", &C::restored,
                    "J, the energy that steps missed and that was restored, in all.");
  picklable(contact, &C::residual, &C::penetration, &C::creep, &C::restored);
  using D = FlexibleDomain;
  py::class_<D> domain(m, "FlexibleDomain",
                       "How far a flexible body was from the limits of its model, the worst of the "
                       "run.");
  domain.def_readonly("body", &D::body, "Its name.")
      .def_readonly("deflection", &D::deflection, "Over its length.")
      .def_readonly("rate", &D::rate,
                    "Angular velocity of its frame over its first natural frequency.")
      .def_readonly("pivot", &D::pivot, "The smallest of its inertia, over that at rest.");
  picklable(domain, &D::body, &D::deflection, &D::rate, &D::pivot);
  audit.def_readonly("energy_drift", &Audit::energy_drift, "Relative.")
      .def_readonly("energy_error", &Audit::energy_error, "J.")
      .def_readonly("energy_scale", &Audit::energy_scale, "J.")
      .def_readonly("linear_momentum_drift", &Audit::linear_momentum_drift,
                    "Relative; None: it is not conserved.")
      .def_readonly("angular_momentum_drift", &Audit::angular_momentum_drift,
                    "Relative; None: it is not conserved.")
      .def_readonly("closure_residual", &Audit::closure_residual,
                    "The largest of all loops, radians or fractions of a loop's size.")
      .def_readonly("contact", &Audit::contact, "ContactAudit; None: no time-stepping.")
      .def_readonly("flexible", &Audit::flexible, "list of FlexibleDomain, by flexible body.")
      .def_readonly("initial_energy", &Audit::initial_energy, "J.")
      .def_readonly("final_energy", &Audit::final_energy, "J.")
      .def_readonly("work", &Audit::work, "list of ElementWork.")
      .def("__repr__", [](const Audit& a) {
        return "Audit(energy_drift=" + number(a.energy_drift) +
               ", closure_residual=" + number(a.closure_residual) + ")";
      });
  picklable(audit, &A::energy_drift, &A::energy_error, &A::energy_scale, &A::linear_momentum_drift,
            &A::angular_momentum_drift, &A::closure_residual, &A::contact, &A::flexible,
            &A::initial_energy, &A::final_energy, &A::work);
  using S = StepStatistics;
  py::class_<S> steps(m, "StepStatistics", "How many steps an integrator took.");
  steps.def_readonly("steps", &StepStatistics::steps, "That were taken.")
      .def_readonly("rejected", &StepStatistics::rejected, "Steps that were too long.")
      .def_readonly("evaluations", &StepStatistics::evaluations, "Of the dynamics.")
      .def_readonly("restarts", &StepStatistics::restarts, "After events.")
      .def_readonly("smallest_step", &StepStatistics::smallest_step, "s.")
      .def_readonly("largest_step", &StepStatistics::largest_step, "s.")
      .def_readonly("stiff_since", &StepStatistics::stiff_since,
                    "s: when stability, not accuracy, first kept the steps of dop853 short, so "
                    "that bdf may be much faster; inf: never.");
  picklable(steps, &S::steps, &S::rejected, &S::evaluations, &S::restarts, &S::smallest_step,
            &S::largest_step, &S::stiff_since);
  using R = NamedResult;
  py::class_<R>(m, "SimulationResult", "How a simulation went.")
      .def_property_readonly(
          "audit", [](const R& r) { return r.result.audit; }, "Audit.")
      .def_property_readonly(
          "steps", [](const R& r) { return r.result.steps; }, "StepStatistics.")
      .def_property_readonly(
          "events", [](const R& r) { return r.result.events; }, "How many.")
      .def_property_readonly(
          "rows", [](const R& r) { return r.result.rows; }, "How many were recorded.")
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
      .def(
          "to_json", [](const R& r) { return to_json(r.result); },
          "str: the same for machines, as `catena simulate --json` prints it.")
      .def(py::pickle(
          [](const R& r) {
            const SimulationResult& x = r.result;
            return py::make_tuple(r.mechanism, x.audit, x.steps, x.events, x.rows, x.simulated_time,
                                  x.wall_time, x.processor_time, x.complete, x.end, x.state.q,
                                  x.state.v);
          },
          [](const py::tuple& t) {
            return R{py::cast<MechanismPointer>(t[0]),
                     {py::cast<Audit>(t[1]), py::cast<StepStatistics>(t[2]),
                      py::cast<std::int64_t>(t[3]), py::cast<std::int64_t>(t[4]),
                      py::cast<double>(t[5]), py::cast<double>(t[6]), py::cast<double>(t[7]),
                      py::cast<bool>(t[8]), py::cast<std::string>(t[9]),
                      State{py::cast<Eigen::VectorXd>(t[10]), py::cast<Eigen::VectorXd>(t[11])}}};
          }));
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
    for (std::string name : method_names()) {
      const Method method = method_from(name);
      std::replace(name.begin(), name.end(), '-', '_');
      all.emplace_back(std::move(name), method);
    }
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
         const py::object& events, const py::object& extra_outputs,
         const std::optional<bool>& stops, const std::optional<double>& restitution,
         const py::object& stop_settings, const std::optional<Choice<FrictionLaw>>& friction,
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
        read_actions(inputs, controllers, motions, events, extra_outputs, seen, s);
        ActionSettings& a = s.actions;
        set(a.stops, stops);
        set(a.restitution, restitution);
        set(a.friction, friction);
        set(a.limit_efforts, limit_efforts);
        for_each(stop_settings, "stop_settings", [&](const std::string& name, py::handle value) {
          a.stop_settings.push_back({name, py::cast<double>(value)});
        });
        for (const ExternalWrench& wrench : read_wrenches(external, *mechanism))
          a.external.push_back(wrench);
        if (state != nullptr) {
          start.state = state->of(*mechanism);
          start.given = given_by_state(*mechanism, start.state);
        }
        connect_controllers(a);
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
      py::arg("external"), py::arg("events"), py::arg("extra_outputs"), py::arg("stops"),
      py::arg("restitution"), py::arg("stop_settings"), py::arg("friction"),
      py::arg("limit_efforts"), py::arg("settings_file"), py::arg("settings_text"),
      py::arg("progress"), py::arg("output"), py::arg("overwrite"), py::arg("model_path"),
      py::arg("record"), "simulate() of the package, which fills in the defaults.");

  m.def(
      "_resume_simulation",
      [](const std::string& path, const std::string& settings_text,
         const std::optional<double>& duration, const py::object& inputs,
         const py::object& controllers, const py::object& motions, const py::object& events,
         const py::object& extra_outputs, const py::object& progress) {
        std::optional<RunCheckpoint> checkpoint;
        RunHeader header;
        {
          const RunFile run(path);
          header = run.header();
          if (run.being_written())
            throw Error(path + ": another program is still writing this run");
          std::string damage;
          const std::vector<RunCheckpoint> all = run.checkpoints(&damage);
          if (!damage.empty() &&
              PyErr_WarnEx(PyExc_UserWarning, (damage + ", from where it goes on").c_str(), 1) < 0)
            throw py::error_already_set();
          if (!all.empty()) checkpoint = all.back();
        }
        if (header.kind != "simulation")
          throw Error(path + ": is a run of another kind (" + header.kind +
                      "), which cannot be resumed");
        if (!checkpoint)
          throw Error(path + ": has no checkpoint yet to resume from; start it again");
        Reading reading = read_yaml_text(header.model_yaml, path);
        const auto mechanism = std::make_shared<Mechanism>(
            MechanismBuilder(std::move(reading.description)).finish({.strict = false}));
        SimulationSettings settings;
        StateInput input = default_input(*mechanism);
        read_settings_text(settings_text, path, *mechanism, input, settings);
        const auto seen = std::make_shared<Seen>(mechanism);
        read_actions(inputs, controllers, motions, events, extra_outputs, seen, settings);
        connect_controllers(settings.actions);
        add_actions(input, *mechanism, settings.actions);
        if (duration) settings.duration = *duration;
        if (checkpoint->time >= settings.duration)
          throw Error(path + ": its last checkpoint is at " + number(checkpoint->time) +
                      " s already; give a longer duration");
        RunRecorder recorder(path);
        const SimulationResult result = run_guarded(settings, seen->failure, progress, [&] {
          return resume_simulation(*mechanism, *checkpoint, settings, recorder);
        });
        return NamedResult{mechanism, result};
      },
      py::arg("path"), py::arg("settings_text"), py::arg("duration"), py::arg("inputs"),
      py::arg("controllers"), py::arg("motions"), py::arg("events"), py::arg("extra_outputs"),
      py::arg("progress"), "resume_simulation() of the package.");
}

}  // namespace catena::python
