// SPDX-License-Identifier: BSD-3-Clause
// Sensitivities along a motion: inputs, costs, gradients by the adjoint, forward sensitivities,
// Lyapunov exponents.
#include "support/costs.h"
#include "support/interrupts.h"

#include "catena/simulation/freedom_index.h"
#include "catena/trajectory/lyapunov.h"
#include "catena/trajectory/sensitivity.h"

namespace catena::python {
namespace {

// A vector that Python reads and writes in place.
template <class T>
void add_view(py::class_<T>& type, const char* name, Eigen::VectorXd T::*member, const char* doc) {
  type.def_property(
      name, [member](const py::object& self) { return view_of(py::cast<T&>(self).*member, self); },
      [member](T& self, const Eigen::VectorXd& x) {
        if (x.size() != (self.*member).size())
          throw NumericalError(std::to_string(x.size()) + " numbers where " +
                               std::to_string((self.*member).size()) + " are needed");
        (self.*member).head(x.size()) = x;  // views stay valid
      },
      doc);
}

void bind_points(py::module_& m) {
  using P = PythonCostPoint;
  py::class_<P> point(m, "CostPoint",
                      "A point of a motion, argument of the user's cost; valid during the call.");
  point.def_readonly("time", &P::time, "s.").def_readonly("state", &P::state, "State.");
  add_view(point, "acceleration", &P::acceleration, "(freedoms,).");
  add_view(point, "effort", &P::effort, "(freedoms,): given, and found at motion-driven freedoms.");
  py::class_<CostGradient> gradient(
      m, "CostGradient",
      "The gradient of a cost by all freedoms: a cost of the user writes into it. Comes as zeros.");
  add_view(gradient, "q", &CostGradient::q, "(freedoms,), along tangent directions.");
  add_view(gradient, "v", &CostGradient::v, "(freedoms,).");
  add_view(gradient, "acceleration", &CostGradient::acceleration, "(freedoms,).");
  add_view(gradient, "effort", &CostGradient::effort, "(freedoms,).");
}

// ---- Inputs. ----

// A spline whose freedom may be named.
struct NamedSpline : SplineInput::Spline {
  std::string name;
};

SplineInput::Spline resolved(const NamedSpline& spline, const Mechanism& mechanism) {
  SplineInput::Spline result = spline;
  if (!spline.name.empty()) result.freedom = freedom_index(mechanism, spline.name);
  return result;
}

using InputPointer = std::shared_ptr<TrajectoryInput>;

// `SplineInput` in Python: knows its mechanism.
class NamedSplineInput final : public TrajectoryInput {
 public:
  NamedSplineInput(MechanismPointer mechanism, double duration,
                   std::vector<SplineInput::Spline> splines)
      : mechanism_(std::move(mechanism)), input_(*mechanism_, duration, std::move(splines)) {}
  int parameters() const override { return input_.parameters(); }
  const std::vector<std::uint8_t>& motion_driven() const override { return input_.motion_driven(); }
  void evaluate(double t, const Eigen::VectorXd& parameters, InputValues& values) const override {
    input_.evaluate(t, parameters, values);
  }
  void adjoint(double t, const Eigen::VectorXd& parameters, const InputValues& bar,
               Eigen::VectorXd& gradient) const override {
    input_.adjoint(t, parameters, bar, gradient);
  }
  const MechanismPointer& mechanism() const { return mechanism_; }

 private:
  MechanismPointer mechanism_;
  SplineInput input_;
};

// Splines and costs read as many numbers as they have; others are refused before.
void check_parameters(const TrajectoryInput& input, const Eigen::VectorXd& parameters) {
  if (parameters.size() != input.parameters())
    throw NumericalError(std::to_string(parameters.size()) + " parameters for an input of " +
                         std::to_string(input.parameters()));
}

void bind_inputs(py::module_& m) {
  py::class_<InputValues> at_one_time(m, "InputValues", "What an input gives at one time.");
  add_view(at_one_time, "effort", &InputValues::effort, "(freedoms,).");
  add_view(at_one_time, "position", &InputValues::position,
           "(freedoms,); of motion-driven freedoms.");
  add_view(at_one_time, "velocity", &InputValues::velocity,
           "(freedoms,); of motion-driven freedoms.");
  add_view(at_one_time, "acceleration", &InputValues::acceleration,
           "(freedoms,); of motion-driven freedoms.");
  py::class_<TrajectoryInput, InputPointer>(
      m, "TrajectoryInput",
      "Turns time and parameters into efforts, and into the motion of motion-driven freedoms: a "
      "SplineInput or a ConstantInput.")
      .def_property_readonly("parameters", &TrajectoryInput::parameters, "How many.");
  py::class_<NamedSplineInput, TrajectoryInput, std::shared_ptr<NamedSplineInput>> spline_input(
      m, "SplineInput",
      "Clamped uniform B-splines for efforts or motions of freedoms; the parameters are their free "
      "coefficients, spline after spline.\n\nsplines: SplineInput.Spline, or dictionaries of "
      "its fields.");
  using S = NamedSpline;
  Struct<S>(spline_input, "Spline", "One freedom of a SplineInput.")
      .field(
          "freedom",
          [](const S& s) -> py::object {
            return s.name.empty() ? py::object(py::int_(s.freedom)) : py::str(s.name);
          },
          [](S& s, py::handle value) {
            s.name.clear();
            if (py::isinstance<py::str>(value))
              s.name = py::cast<std::string>(value);
            else
              s.freedom = py::cast<int>(value);
          },
          "Name or index.")
      .field("motion", &S::motion, "Of position, else of effort.")
      .field("degree", &S::degree, "int: of the spline.")
      .field("coefficients", &S::coefficients, "How many.")
      .field("held_first", &S::held_first,
             "How many of the first are held (two of a motion: it starts at rest).")
      .field("held_last", &S::held_last, "How many of the last are held.")
      .field("first", &S::first, "What the first are held at.")
      .field("last", &S::last, "What the last are held at.")
      .done();
  spline_input
      .def(py::init(
               [](const MechanismPointer& mechanism, double duration, const py::iterable& splines) {
                 std::vector<SplineInput::Spline> all;
                 for (const py::handle s : splines)
                   all.push_back(resolved(Struct<S>::from(s), *mechanism));
                 return std::make_shared<NamedSplineInput>(mechanism, duration, std::move(all));
               }),
           py::arg("mechanism"), py::arg("duration"), py::arg("splines"))
      .def(
          "evaluate",
          [](const NamedSplineInput& input, double t, const Eigen::VectorXd& parameters) {
            check_parameters(input, parameters);
            InputValues values;
            values.set_zero(input.mechanism()->freedoms());
            input.evaluate(t, parameters, values);
            return values;
          },
          py::arg("t"), py::arg("parameters"), "The InputValues at a time.");
  py::class_<ConstantInput, TrajectoryInput, std::shared_ptr<ConstantInput>>(
      m, "ConstantInput", "Constant efforts, no parameters.")
      .def(py::init([](const Mechanism& mechanism, const FreedomVector& effort) {
             return std::make_shared<ConstantInput>(read_freedoms(effort, mechanism, "effort"));
           }),
           py::arg("mechanism"), py::arg("effort") = py::none());
}

// ---- Costs. ----

struct PythonQuadraticCost {
  MechanismPointer mechanism;
  std::shared_ptr<QuadraticCost> cost;
};

// An object with running(point, gradient), terminal(point, gradient), or both.
class PythonTrajectoryCost final : public TrajectoryCost {
 public:
  PythonTrajectoryCost(const MechanismPointer& mechanism, const py::object& object,
                       const std::shared_ptr<Failure>& failure) {
    if (py::hasattr(object, "running"))
      running_.emplace(mechanism, keep(object.attr("running")), failure);
    if (py::hasattr(object, "terminal"))
      terminal_.emplace(mechanism, keep(object.attr("terminal")), failure);
    if (!running_ && !terminal_)
      throw py::type_error(
          "a cost is a QuadraticCost, or an object with running(point, gradient), "
          "terminal(point, gradient), or both");
  }
  double running(const CostPoint& point, CostGradient* gradient) const override {
    return running_ ? (*running_)(point, gradient) : 0.0;
  }
  double terminal(const CostPoint& point, CostGradient* gradient) const override {
    return terminal_ ? (*terminal_)(point, gradient) : 0.0;
  }

 private:
  std::optional<PythonCostFunction> running_, terminal_;
};

void bind_costs(py::module_& m) {
  using Q = PythonQuadraticCost;
  py::class_<Q>(m, "QuadraticCost",
                "½ ∫ Σ effort_weight τ² dt + Σ position_weight (q(T) - position_target)² + "
                "Σ velocity_weight (v(T) - velocity_target)², by freedom.")
      .def(
          py::init([](const MechanismPointer& mechanism, const FreedomVector& effort_weight,
                      const FreedomVector& position_weight, const FreedomVector& position_target,
                      const FreedomVector& velocity_weight, const FreedomVector& velocity_target) {
            Q q{mechanism, std::make_shared<QuadraticCost>(*mechanism)};
            q.cost->effort_weight = read_freedoms(effort_weight, *mechanism, "effort_weight");
            q.cost->position_weight = read_freedoms(position_weight, *mechanism, "position_weight");
            q.cost->position_target = read_freedoms(position_target, *mechanism, "position_target");
            q.cost->velocity_weight = read_freedoms(velocity_weight, *mechanism, "velocity_weight");
            q.cost->velocity_target = read_freedoms(velocity_target, *mechanism, "velocity_target");
            return q;
          }),
          py::arg("mechanism"), py::kw_only(), py::arg("effort_weight") = py::none(),
          py::arg("position_weight") = py::none(), py::arg("position_target") = py::none(),
          py::arg("velocity_weight") = py::none(), py::arg("velocity_target") = py::none());
}

// ---- Sensitivities. ----

struct NamedGradient {
  MechanismPointer mechanism;
  TrajectoryGradient gradient;
};
struct NamedSensitivity {
  MechanismPointer mechanism;
  ForwardSensitivity forward;
};

class PythonTrajectory {
 public:
  PythonTrajectory(const MechanismPointer& mechanism, const InputPointer& input,
                   const py::object& cost, const TrajectorySettings& settings,
                   const std::vector<std::string>& parameters, const py::object& progress)
      : mechanism_(mechanism), input_(input), failure_(std::make_shared<Failure>()) {
    if (py::isinstance<PythonQuadraticCost>(cost)) {
      const auto& quadratic = py::cast<const PythonQuadraticCost&>(cost);
      if (quadratic.mechanism != mechanism)
        throw Error("this QuadraticCost was made for another mechanism");
      cost_ = quadratic.cost;
    } else {
      cost_ = std::make_shared<PythonTrajectoryCost>(mechanism, cost, failure_);
    }
    if (!parameters.empty()) parameters_.emplace(*mechanism, parameters);
    TrajectorySettings stoppable = settings;
    stoppable.progress = [interrupts = Interrupts(failure_), failure = failure_,
                          progress = keep(progress)](double t) mutable {
      return interrupts.look([&] { return goes_on_at(*progress, t, *failure); });
    };
    sensitivity_.emplace(*mechanism_, *input_, *cost_, stoppable,
                         parameters_ ? &*parameters_ : nullptr);
  }

  const MechanismPointer& mechanism() const { return mechanism_; }

  // Without the GIL; raises what a function of the user raised.
  template <class F>
  auto run(const Eigen::VectorXd& parameters, F f) {
    check_parameters(*input_, parameters);
    if (busy_.exchange(true, std::memory_order_acquire))
      throw Error(
          "this TrajectorySensitivity is in use by another thread; give every thread its own");
    const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> done(
        &busy_, [](std::atomic<bool>* flag) { flag->store(false, std::memory_order_release); });
    failure_->forget();
    try {
      const py::gil_scoped_release release;
      return f(*sensitivity_);
    } catch (const NumericalError&) {
      if (!failure_->first()) throw;
    }
    std::rethrow_exception(failure_->first());
  }

 private:
  MechanismPointer mechanism_;
  InputPointer input_;
  std::shared_ptr<TrajectoryCost> cost_;
  std::shared_ptr<Failure> failure_;
  std::optional<ParameterSet> parameters_;
  std::optional<TrajectorySensitivity> sensitivity_;
  std::atomic<bool> busy_{false};
};

void bind_results(py::module_& m) {
  using G = NamedGradient;
  py::class_<G>(m, "TrajectoryGradient", "The gradient of a cost by everything it depends on.")
      .def_property_readonly(
          "cost", [](const G& g) { return g.gradient.cost; }, "The cost itself.")
      .def_property_readonly(
          "input", [](const G& g) { return g.gradient.input; },
          "(parameters,): by those of the input.")
      .def_property_readonly(
          "mechanism", [](const G& g) { return g.gradient.mechanism; },
          "(p,): by the parameters of the mechanism.")
      .def_property_readonly(
          "initial_q", [](const G& g) { return g.gradient.initial_q; },
          "(n,): by independent tangent directions at the start.")
      .def_property_readonly(
          "initial_v", [](const G& g) { return g.gradient.initial_v; },
          "(n,): by independent velocities at the start.")
      .def_property_readonly(
          "independent", [](const G& g) { return g.gradient.independent; },
          "list of int: the freedoms that are independent at the start, which derivatives by "
          "parameters of the mechanism hold.")
      .def_property_readonly(
          "final_state",
          [](const G& g) {
            return NamedState{g.mechanism, g.gradient.final_state};
          },
          "The State at the end of the motion.")
      .def_property_readonly(
          "steps", [](const G& g) { return g.gradient.steps; }, "Of the integrator, forward.");
  using F = NamedSensitivity;
  py::class_<F>(m, "ForwardSensitivity", "How the final state changes (independent freedoms).")
      .def_property_readonly(
          "cost", [](const F& f) { return f.forward.cost; }, "The cost itself.")
      .def_property_readonly(
          "final_state",
          [](const F& f) {
            return NamedState{f.mechanism, f.forward.final_state};
          },
          "The State at the end of the motion.")
      .def_property_readonly(
          "q", [](const F& f) { return f.forward.q; }, "(n, parameters of the input).")
      .def_property_readonly(
          "v", [](const F& f) { return f.forward.v; }, "(n, parameters of the input).")
      .def_property_readonly(
          "q_by_mechanism", [](const F& f) { return f.forward.q_by_mechanism; },
          "(n, parameters of the mechanism).")
      .def_property_readonly(
          "v_by_mechanism", [](const F& f) { return f.forward.v_by_mechanism; },
          "(n, parameters of the mechanism).")
      .def_property_readonly(
          "independent", [](const F& f) { return f.forward.independent; },
          "list of int: the freedoms that are independent at the end.")
      .def_property_readonly(
          "q_by_initial", [](const F& f) { return f.forward.q_by_initial; },
          "(n, 2n): by initial positions and velocities.")
      .def_property_readonly(
          "v_by_initial", [](const F& f) { return f.forward.v_by_initial; }, "(n, 2n).");
}

void bind_sensitivities(py::module_& m) {
  using T = PythonTrajectory;
  py::class_<T>(
      m, "TrajectorySensitivity",
      "Sensitivities along a motion: the gradient of a cost by all parameters and the initial "
      "state by the adjoint of the integrator, and forward sensitivities.\n\ninput: a SplineInput "
      "or ConstantInput.\ncost: a QuadraticCost, or an object with running(point, gradient), "
      "terminal(point, gradient), or both: they return the cost at a CostPoint and write into the "
      "CostGradient, which is None where it is not wanted.\nmethod: \"rk4\" or \"euler\" (the "
      "gradient is that of the computed numbers, to rounding) with step, s; \"dop853\" with the "
      "tolerances; simulate() always takes fixed steps, and forward() needs \"rk4\".\nkept_states: "
      "at once in memory; those in between are computed again.\nparameters: names of parameters of "
      "the mechanism (ParameterSet).\nprogress: called some ten times a second with the time of "
      "the motion; False stops, with a NumericalError.")
      .def(py::init([](const MechanismPointer& mechanism, const InputPointer& input,
                       const py::object& cost, double duration, Choice<Method> method, double step,
                       double relative_tolerance, double absolute_tolerance, int kept_states,
                       const std::vector<std::string>& parameters, const py::object& progress) {
             if (!input) throw py::type_error("the input is a SplineInput or a ConstantInput");
             TrajectorySettings s;
             s.duration = duration;
             s.integrator.method = method;
             s.integrator.step = step;
             s.integrator.relative_tolerance = relative_tolerance;
             s.integrator.absolute_tolerance = absolute_tolerance;
             s.kept_states = kept_states;
             return std::make_unique<T>(mechanism, input, cost, s, parameters, progress);
           }),
           py::arg("mechanism"), py::arg("input"), py::arg("cost"), py::kw_only(),
           py::arg("duration") = TrajectorySettings{}.duration,
           py::arg("method") = Choice<Method>{Method::rk4},
           py::arg("step") = IntegratorSettings{}.step,
           py::arg("relative_tolerance") = IntegratorSettings{}.relative_tolerance,
           py::arg("absolute_tolerance") = IntegratorSettings{}.absolute_tolerance,
           py::arg("kept_states") = TrajectorySettings{}.kept_states,
           py::arg("parameters") = std::vector<std::string>{}, py::arg("progress") = py::none())
      .def(
          "simulate",
          [](T& t, const NamedState& initial, const Eigen::VectorXd& parameters) {
            State end;
            const double cost = t.run(parameters, [&](TrajectorySensitivity& s) {
              return s.simulate(initial.of(*t.mechanism()), parameters, &end);
            });
            return std::make_pair(cost, NamedState{t.mechanism(), end});
          },
          py::arg("initial"), py::arg("parameters"), "(cost, final State).")
      .def(
          "gradient",
          [](T& t, const NamedState& initial, const Eigen::VectorXd& parameters) {
            return NamedGradient{t.mechanism(), t.run(parameters, [&](TrajectorySensitivity& s) {
                                   return s.gradient(initial.of(*t.mechanism()), parameters);
                                 })};
          },
          py::arg("initial"), py::arg("parameters"),
          "The TrajectoryGradient: one backward pass (adjoint), for any number of parameters.")
      .def(
          "forward",
          [](T& t, const NamedState& initial, const Eigen::VectorXd& parameters) {
            return NamedSensitivity{t.mechanism(), t.run(parameters, [&](TrajectorySensitivity& s) {
                                      return s.forward(initial.of(*t.mechanism()), parameters);
                                    })};
          },
          py::arg("initial"), py::arg("parameters"),
          "The ForwardSensitivity: one column for each parameter of the input, and of the "
          "mechanism.");
}

struct NamedLyapunov {
  MechanismPointer mechanism;
  LyapunovExponents found;
};

void bind_lyapunov(py::module_& m) {
  using L = NamedLyapunov;
  py::class_<L>(m, "LyapunovExponents", "What lyapunov_exponents() found.")
      .def_property_readonly(
          "exponents", [](const L& l) { return l.found.exponents; },
          "(exponents,), 1/s, largest first.")
      .def_property_readonly(
          "spread", [](const L& l) { return l.found.spread; },
          "(exponents,), 1/s: half the difference between those of the two halves of the motion: "
          "how far they have "
          "settled.")
      .def_property_readonly(
          "final_state",
          [](const L& l) {
            return NamedState{l.mechanism, l.found.final_state};
          },
          "The State at the end of the motion.");
  const LyapunovSettings usual;
  m.def(
      "lyapunov_exponents",
      [](const MechanismPointer& mechanism, const NamedState& initial, const FreedomVector& effort,
         double duration, double step, double settle, int orthogonalize, int exponents,
         const py::object& progress) {
        const Eigen::VectorXd e = read_freedoms(effort, *mechanism, "effort");
        return unless_interrupted(
            [&](const auto& goes_on) {
              return L{mechanism, lyapunov_exponents(
                                      *mechanism, initial.of(*mechanism), e,
                                      {duration, step, settle, orthogonalize, exponents, goes_on})};
            },
            progress);
      },
      py::arg("mechanism"), py::arg("initial"), py::arg("effort") = py::none(), py::kw_only(),
      py::arg("duration") = usual.duration, py::arg("step") = usual.step,
      py::arg("settle") = usual.settle, py::arg("orthogonalize") = usual.orthogonalize,
      py::arg("exponents") = usual.exponents, py::arg("progress") = py::none(),
      "Growth rates of small deviations from a motion with constant efforts, 1/s.\n\n"
      "duration, step, settle: s; settle passes before anything is counted.\n"
      "orthogonalize: steps between factorizations. exponents: how many; 0: all.\n"
      "progress: called some ten times a second with the time reached; False stops, with a "
      "NumericalError.");
}

}  // namespace

void bind_trajectory(py::module_& m) {
  bind_points(m);
  bind_inputs(m);
  bind_costs(m);
  bind_results(m);
  bind_sensitivities(m);
  bind_lyapunov(m);
}

}  // namespace catena::python
