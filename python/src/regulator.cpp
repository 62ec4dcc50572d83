// SPDX-License-Identifier: BSD-3-Clause
// Regulators: linear feedback along a recorded motion or about an equilibrium, and the mechanism
// under disturbances with it.
#include "catena/optimal/regulator.h"

#include <algorithm>

#include "support/callbacks.h"
#include "support/pickles.h"
#include "support/runs.h"

#include "catena/base/index.h"
#include "catena/io/models/yaml.h"
#include "catena/optimal/regulated_run.h"
#include "catena/simulation/settings_file.h"

namespace catena::python {
namespace {

// `RecordedMotion` in Python.
struct NamedRecord {
  MechanismPointer mechanism;
  RecordedMotion motion;
};

// `Regulator` in Python.
struct NamedRegulator {
  MechanismPointer mechanism;
  Regulator regulator;
};

void require_same(const MechanismPointer& mechanism, const MechanismPointer& other,
                  const char* what) {
  // As for a State: an unpickled copy has the same names.
  if (mechanism != other &&
      (!std::ranges::equal(mechanism->position_names(), other->position_names()) ||
       !std::ranges::equal(mechanism->velocity_names(), other->velocity_names())))
    throw Error(std::string(what) + " is of another mechanism");
}

NamedRecord record_from_arrays(const MechanismPointer& mechanism, std::vector<double> times,
                               const py::object& states, const py::object& efforts) {
  std::vector<State> x;
  for (const py::handle state : states) {
    if (!py::isinstance<NamedState>(state))
      throw py::type_error("states of a motion are State, not " +
                           py::cast<std::string>(state.get_type().attr("__name__")));
    x.push_back(py::cast<const NamedState&>(state).of(*mechanism));
  }
  std::vector<Eigen::VectorXd> u;
  if (efforts.is_none())
    u.assign(x.size(), Eigen::VectorXd::Zero(mechanism->freedoms()));
  else
    for (const py::handle effort : efforts)
      u.push_back(read_freedoms({py::reinterpret_borrow<py::object>(effort)}, *mechanism,
                                "efforts of a row"));
  RecordedMotion motion(*mechanism, std::move(times), std::move(x), std::move(u));
  return {mechanism, std::move(motion)};
}

NamedRecord record_from_columns(const MechanismPointer& mechanism,
                                const std::vector<std::string>& names,
                                const Eigen::MatrixXd& values, bool efforts) {
  std::vector<RunColumn> columns;
  for (const std::string& name : names) {
    RunColumn column;
    column.name = name;
    columns.push_back(column);
  }
  return {mechanism, recorded_motion(columns, RunRows(values), *mechanism,
                                     efforts ? Efforts::required : Efforts::optional, "the run")};
}

// As in a list: negative ones count from the end.
std::size_t row_of(const NamedRecord& n, py::ssize_t row) {
  const auto rows = static_cast<py::ssize_t>(n.motion.rows());
  if (row < -rows || row >= rows)
    throw py::index_error("there is no row " + std::to_string(row) + " of " + std::to_string(rows));
  return to_size(row < 0 ? row + rows : row);
}

void bind_record(py::module_& m) {
  using N = NamedRecord;
  py::class_<N> record(
      m, "RecordedMotion",
      "A motion by states and efforts at times, and what lies between them: cubics on "
      "the manifold of positions.\n\n"
      "times: increasing, s.\n"
      "states: a State for each.\n"
      "efforts: numbers by freedom for each; None: zeros.\n\n"
      "recorded_motion(run) makes one of a Run.");
  record
      .def(py::init(&record_from_arrays), py::arg("mechanism"), py::arg("times"), py::arg("states"),
           py::arg("efforts") = py::none())
      .def_property_readonly(
          "mechanism", [](const N& n) { return n.mechanism; }, "The Mechanism that moves.")
      .def_property_readonly(
          "start", [](const N& n) { return n.motion.start(); }, "s, of the first row.")
      .def_property_readonly(
          "end", [](const N& n) { return n.motion.end(); }, "s, of the last row.")
      .def_property_readonly(
          "rows", [](const N& n) { return static_cast<std::int64_t>(n.motion.rows()); },
          "How many.")
      .def_property_readonly(
          "duration", [](const N& n) { return n.motion.duration(); }, "s, from start to end.")
      .def(
          "time", [](const N& n, py::ssize_t row) { return n.motion.time(row_of(n, row)); },
          py::arg("row"), "float, s, of a row; -1 is the last.")
      .def(
          "state",
          [](const N& n, py::ssize_t row) {
            return NamedState{n.mechanism, n.motion.state(row_of(n, row))};
          },
          py::arg("row"), "The State of a row.")
      .def(
          "effort", [](const N& n, py::ssize_t row) { return n.motion.effort(row_of(n, row)); },
          py::arg("row"), "(freedoms,), N m or N, of a row.")
      .def(
          "state_at",
          [](const N& n, double t) {
            return NamedState{n.mechanism, n.motion.state_at(t)};
          },
          py::arg("t"), "The State then; before the first row and behind the last: theirs.")
      .def(
          "effort_at", [](const N& n, double t) { return n.motion.effort_at(t); }, py::arg("t"),
          "(freedoms,), N m or N, then.")
      .def(py::pickle(
          [](const N& n) {
            py::list times, states, efforts;
            for (std::size_t i = 0; i < n.motion.rows(); ++i) {
              times.append(n.motion.time(i));
              states.append(py::cast(NamedState{n.mechanism, n.motion.state(i)}));
              efforts.append(n.motion.effort(i));
            }
            return py::make_tuple(n.mechanism, times, states, efforts);
          },
          [](const py::tuple& t) {
            return record_from_arrays(py::cast<MechanismPointer>(t[0]),
                                      py::cast<std::vector<double>>(t[1]), t[2], t[3]);
          }));
  m.def("_recorded_motion", &record_from_columns, py::arg("mechanism"), py::arg("columns"),
        py::arg("values"), py::arg("efforts"), "recorded_motion() of the package.");
}

void bind_regulators(py::module_& m) {
  Struct<RegulatorSettings>(
      m, "RegulatorSettings",
      "Actuators, weights and sampling interval of an LQR (docs/regulator.md).")
      .field("actuators", &RegulatorSettings::actuators,
             "list of str: freedoms; empty: those with an effort in the motion.")
      .field("interval", &RegulatorSettings::interval, "s; 0: chosen.")
      .field("state_weights", &RegulatorSettings::state_weights,
             "Weights that are not the default: {\"q.elbow\": 100.0}; \"elbow\" means q and v.")
      .field("final_weights", &RegulatorSettings::final_weights, "The same at the end.")
      .field("input_weights", &RegulatorSettings::input_weights, "{\"elbow\": 0.1}.")
      .done();
  using N = NamedRegulator;
  py::class_<N> type(m, "Regulator", "What track() and hold() found: w = −K x.");
  const auto add = [&type](const char* name, auto member, const char* doc = "") {
    type.def_property_readonly(
        name, [member](const N& n) { return n.regulator.*member; }, doc);
  };
  using R = Regulator;
  type.def_property_readonly(
      "mechanism", [](const N& n) { return n.mechanism; }, "The Mechanism it regulates.");
  add("freedoms", &R::freedoms, "list of int: independent, x are their directions and velocities.");
  add("actuators", &R::actuators, "list of int: freedoms.");
  add("states", &R::states, "list of str: \"q.shoulder\", ..., \"v.elbow\".");
  add("inputs", &R::inputs, "list of str.");
  add("state_weights", &R::state_weights, "(states,): the diagonal of Q.");
  add("final_weights", &R::final_weights, "(states,): the diagonal of Q at the end.");
  add("input_weights", &R::input_weights, "(inputs,): the diagonal of R.");
  add("interval", &R::interval, "s.");
  add("stationary", &R::stationary, "One gain for ever: of hold().");
  add("times", &R::times, "Of the samples, s.");
  add("gains", &R::gains, "list of (inputs, states): K of each interval.");
  add("values", &R::values, "list of (states, states): P of each sample.");
  add("open_transition", &R::open_transition,
      "(states, states): from the first sample to the last, without it.");
  add("closed_transition", &R::closed_transition, "(states, states): the same with it.");
  add("unreachable", &R::unreachable,
      "list of str: states that no actuator can change (not controllable).");
  type.def(
          "gain_at", [](const N& n, double t) { return n.regulator.gain_at(t); }, py::arg("t"),
          "(inputs, states): K at a time; straight lines between samples.")
      .def(
          "deviation",
          [](const N& n, const NamedState& nominal, const NamedState& state) {
            return n.regulator.deviation(*n.mechanism, nominal.of(*n.mechanism),
                                         state.of(*n.mechanism));
          },
          py::arg("nominal"), py::arg("state"),
          "(states,): x of a state against that of the motion.")
      .def(
          "distance",
          [](const N& n, const Eigen::VectorXd& x) {
            if (x.size() != static_cast<Eigen::Index>(n.regulator.states.size()))
              throw NumericalError("a deviation has " + std::to_string(n.regulator.states.size()) +
                                   " numbers, not " + std::to_string(x.size()));
            return n.regulator.distance(x);
          },
          py::arg("x"), "A deviation in units of the allowed one: √(xᵀ Q x).")
      .def("__repr__", [](const N& n) {
        return "<Regulator of " + std::to_string(n.regulator.states.size()) + " states by " +
               listed(n.regulator.inputs) + ">";
      });
  picklable_of_mechanism(type, &N::regulator, &R::freedoms, &R::actuators, &R::states, &R::inputs,
                         &R::state_weights, &R::final_weights, &R::input_weights, &R::interval,
                         &R::stationary, &R::times, &R::stages, &R::gains, &R::values,
                         &R::open_transition, &R::closed_transition, &R::unreachable);
  const auto settings_of = [](const py::object& settings, const py::kwargs& fields) {
    RegulatorSettings s;
    if (!settings.is_none()) s = Struct<RegulatorSettings>::from(settings);
    Struct<RegulatorSettings>::apply(s, fields);
    return s;
  };
  m.def(
      "_track",
      [settings_of](const MechanismPointer& mechanism, const NamedRecord& motion,
                    const py::object& settings, const Wrenches& external,
                    const py::kwargs& fields) {
        require_same(mechanism, motion.mechanism, "the motion");
        RegulatorSettings s = settings_of(settings, fields);
        s.external = read_wrenches(external, *mechanism);
        const py::gil_scoped_release release;
        return NamedRegulator{mechanism, track(*mechanism, motion.motion, s)};
      },
      py::arg("mechanism"), py::arg("motion"), py::arg("settings") = py::none(),
      py::arg("external") = py::none(), "track() of the package.");
  m.def(
      "hold",
      [settings_of](const MechanismPointer& mechanism, const NamedState& state,
                    const FreedomVector& effort, const py::object& settings,
                    const Wrenches& external, const py::kwargs& fields) {
        const Mechanism& x = *mechanism;
        const OperatingPoint point{state.of(x), read_freedoms(effort, x, "effort"),
                                   Eigen::VectorXd::Zero(x.freedoms()), read_wrenches(external, x)};
        const RegulatorSettings s = settings_of(settings, fields);
        const py::gil_scoped_release release;
        return NamedRegulator{mechanism, hold(x, point, s)};
      },
      py::arg("mechanism"), py::arg("state"), py::arg("effort") = py::none(),
      py::arg("settings") = py::none(), py::arg("external") = py::none(),
      "The feedback that keeps a mechanism in an equilibrium; `effort` is what holds it there. "
      "Actuators must be given; keywords are the fields of RegulatorSettings. Raises Error if the "
      "point is not an equilibrium, NumericalError if it is not stabilizable.");
}

void bind_regulated_runs(py::module_& m) {
  py::class_<RegulatedResult> type(
      m, "RegulatedResult",
      "Result of a regulated motion: deviations by state, efforts by actuator.");
  const auto add = [&type](const char* name, auto member, const char* doc = "") {
    type.def_property_readonly(
        name, [member](const RegulatedResult& r) { return r.*member; }, doc);
  };
  using R = RegulatedResult;
  add("departed", &R::departed,
      "The run ended early: a deviation was 10,000 times the allowed one.");
  add("first_deviation", &R::first_deviation, "(states,), at the start.");
  add("final_deviation", &R::final_deviation, "(states,), at the end.");
  add("largest_deviation", &R::largest_deviation, "(states,), of each during the run.");
  add("first_distance", &R::first_distance, "In units of the allowed deviation.");
  add("final_distance", &R::final_distance, "The same at the end.");
  add("largest_distance", &R::largest_distance, "The largest during the run.");
  add("largest_effort", &R::largest_effort, "(inputs,), N m or N, of each actuator.");
  add("rms_effort", &R::rms_effort, "(inputs,), N m or N, root mean square of each.");
  add("rms_feedback", &R::rms_feedback,
      "(inputs,), N m or N: of what was added to the motion's efforts.");
  add("saturated", &R::saturated, "(inputs,): part of the rows with the effort at its limit.");
  picklable(type, &R::departed, &R::first_deviation, &R::final_deviation, &R::largest_deviation,
            &R::first_distance, &R::final_distance, &R::largest_distance, &R::largest_effort,
            &R::rms_effort, &R::rms_feedback, &R::saturated);
  m.def(
      "_simulate_regulated",
      [](const MechanismPointer& mechanism, const NamedRecord& motion,
         const NamedRegulator& regulator, bool feedback,
         const std::map<std::string, double>& offsets, double random, std::uint64_t seed,
         const py::object& efforts, const std::map<std::string, double>& masses,
         const std::map<std::string, double>& effort_limits, const Wrenches& external,
         const std::optional<double>& output_interval, const std::optional<Choice<Method>>& method,
         const std::optional<double>& relative_tolerance, const std::optional<double>& step,
         const py::object& progress, const std::string& output, bool overwrite,
         const std::string& model_path, const std::shared_ptr<MemoryRecorder>& record) {
        require_same(mechanism, motion.mechanism, "the motion");
        require_same(mechanism, regulator.mechanism, "the regulator");
        const auto seen = std::make_shared<Seen>(mechanism);
        RegulatedSettings s;
        s.feedback = feedback;
        s.disturbance.offsets = offsets;
        s.disturbance.random = random;
        s.disturbance.seed = seed;
        s.disturbance.masses = masses;
        for_each(efforts, "efforts", [&](const std::string& name, py::handle value) {
          s.disturbance.efforts.push_back(
              {name, read_signal(value, seen, "effort at '" + name + "'")});
        });
        s.effort_limits = effort_limits;
        s.simulation.duration = motion.motion.duration();
        if (output_interval) s.simulation.output_interval = *output_interval;
        if (method) s.simulation.integrator.method = *method;
        if (relative_tolerance) {
          s.simulation.integrator.relative_tolerance = *relative_tolerance;
          s.simulation.integrator.absolute_tolerance =
              std::min(s.simulation.integrator.absolute_tolerance, 0.01 * *relative_tolerance);
        }
        if (step) s.simulation.integrator.step = *step;
        s.simulation.actions.external = read_wrenches(external, *mechanism);
        s.simulation = completed(s.simulation);
        const auto moved = std::make_shared<Mechanism>(disturbed(*mechanism, masses));
        RunHeader header;
        header.kind = "regulation";
        header.model_path = model_path;
        header.settings_json = settings_json(s.simulation, *mechanism);
        const std::string settings = header.settings_json;
        const auto file = file_recorder(output, *moved, std::move(header), overwrite);
        const auto result = run_guarded(s.simulation, seen->failure, progress, [&] {
          return simulate_regulated(*mechanism, motion.motion, regulator.regulator, s,
                                    file ? *file : *record);
        });
        return py::make_tuple(moved, NamedResult{moved, result.run}, result, settings);
      },
      py::arg("mechanism"), py::arg("motion"), py::arg("regulator"), py::arg("feedback"),
      py::arg("offsets"), py::arg("random"), py::arg("seed"), py::arg("efforts"), py::arg("masses"),
      py::arg("effort_limits"), py::arg("external"), py::arg("output_interval"), py::arg("method"),
      py::arg("relative_tolerance"), py::arg("step"), py::arg("progress"), py::arg("output"),
      py::arg("overwrite"), py::arg("model_path"), py::arg("record"),
      "simulate_regulated() of the package.");
}

}  // namespace

void bind_regulator(py::module_& m) {
  bind_record(m);
  bind_regulators(m);
  bind_regulated_runs(m);
}

}  // namespace catena::python
