// SPDX-License-Identifier: BSD-3-Clause
// Optimal motions: problems by code and from files, the search, the motion as a run.
//
// The search runs without the GIL. A function of the user that raises ends it, and what it raised
// is raised again; Ctrl-C ends it with the best motion so far.
#include "support/motion_problem.h"
#include "support/pickles.h"
#include "support/runs.h"

#include "catena/optimal/optimal_run.h"
#include "catena/optimal/problem_file.h"

namespace catena::python {
namespace {

struct NamedMotion {
  MechanismPointer mechanism;
  OptimalMotion motion;
};

DurationSettings read_duration(py::handle source) {
  if (py::isinstance<DurationSettings>(source)) return py::cast<DurationSettings>(source);
  if (PyNumber_Check(source.ptr()) != 0 && !py::isinstance<py::array>(source))
    return {py::cast<double>(source)};
  const Array a = numbers(source);
  if (!has_shape(a, 3)) throw_shape(a, "(3,): guess, least and greatest,");
  return {a.data()[0], a.data()[1], a.data()[2]};
}

// ---- What a problem is made of. ----

py::object read_back(const GuessSettings& guess) {
  if (guess.coefficients.empty()) return time_signal(guess.signal);
  return new_vector(guess.coefficients.data(), static_cast<py::ssize_t>(guess.coefficients.size()));
}

GuessSettings read_guess(py::handle source) {
  if (!source.is_none() && (py::isinstance<py::array>(source) || py::isinstance<py::list>(source) ||
                            py::isinstance<py::tuple>(source))) {
    const Eigen::VectorXd x = to_vector(source);
    return {.signal = {}, .coefficients = {x.begin(), x.end()}};
  }
  return {.signal = read_time_signal(source, "the guess"), .coefficients = {}};
}

// Three numbers; None: this coordinate does not matter.
void read_point(FinalPoint& point, py::handle source) {
  if (!py::isinstance<py::sequence>(source) && !py::isinstance<py::array>(source))
    throw py::type_error("three numbers are expected");
  int axis = 0;
  for (const py::handle x : py::iter(source)) {
    if (axis == 3) throw py::value_error("three numbers are expected, not more");
    point.coordinate[axis] = !x.is_none();
    point.position[axis++] = x.is_none() ? 0.0 : py::cast<double>(x);
  }
  if (axis != 3) throw py::value_error("three numbers are expected, not " + std::to_string(axis));
}

void bind_settings(py::module_& m) {
  bind_enum<MotionQuantity>(m, "MotionQuantity", "Of a freedom.",
                            {{"position", MotionQuantity::position},
                             {"velocity", MotionQuantity::velocity},
                             {"effort", MotionQuantity::effort},
                             {"acceleration", MotionQuantity::acceleration}});
  using D = DurationSettings;
  py::class_<D>(m, "DurationSettings", "How long a motion takes; fixed if lower == upper.")
      .def(py::init([](double guess, std::optional<double> lower, std::optional<double> upper) {
             return D(guess, lower.value_or(guess), upper.value_or(guess));
           }),
           py::arg("guess") = 1.0, py::arg("lower") = py::none(), py::arg("upper") = py::none())
      .def_readonly("guess", &D::guess, "s.")
      .def_readonly("lower", &D::lower, "s.")
      .def_readonly("upper", &D::upper, "s.")
      .def_property_readonly("free", &D::free, "Whether it is to be found.")
      .def("__repr__", [](const D& d) {
        return "DurationSettings(guess=" + number(d.guess) + ", lower=" + number(d.lower) +
               ", upper=" + number(d.upper) + ")";
      });
  Struct<MotionGrid>(
      m, "MotionGrid",
      "Grid of a motion: integration steps and quadrature points (docs/optimize.md).")
      .field("steps", &MotionGrid::steps, "Of Runge-Kutta between two knots, even.")
      .field("points", &MotionGrid::points, "Of Gauss in each part.")
      .field("parts", &MotionGrid::parts, "Of the distance between two knots.")
      .done();
  Struct<ControlSettings>(m, "ControlSettings",
                          "A freedom whose motion, or the effort at it, is a B-spline.")
      .field("freedom", &ControlSettings::freedom, "str.")
      .field("motion", &ControlSettings::motion, "Else the effort is the spline.")
      .field("degree", &ControlSettings::degree, "int: of the spline.")
      .field("coefficients", &ControlSettings::coefficients, "How many.")
      .field(
          "guess", [](const ControlSettings& c) { return read_back(c.guess); },
          [](ControlSettings& c, py::handle value) { c.guess = read_guess(value); },
          "Where the search begins: an expression of t, a number, a function of t, a dictionary of "
          "a table, or the free coefficients. None: a straight line between the ends of a motion, "
          "no effort.")
      .done();
  Struct<FinalBound>(m, "FinalBound", "A condition at the end: between lower and upper.")
      .field("freedom", &FinalBound::freedom, "str.")
      .field("quantity", &FinalBound::quantity, "MotionQuantity.")
      .field("lower", &FinalBound::lower, "In the unit of the quantity; -inf: none.")
      .field("upper", &FinalBound::upper, "In the unit of the quantity; inf: none.")
      .done();
  Struct<FinalCost>(m, "FinalCost", "weight (x(T) - target)².")
      .field("freedom", &FinalCost::freedom, "str.")
      .field("quantity", &FinalCost::quantity, "MotionQuantity.")
      .field("target", &FinalCost::target, "In the unit of the quantity.")
      .field("weight", &FinalCost::weight, "Of (x(T) - target)².")
      .done();
  Struct<FinalPoint>(m, "FinalPoint", "Where the point of a frame or body is at the end.")
      .field("frame", &FinalPoint::frame, "Frame of interest, or body.")
      .field(
          "position", [](const FinalPoint& p) { return p.position; }, read_point,
          "(3,), m; given with None for a coordinate that does not matter.")
      .field("weight", &FinalPoint::weight, "0: exactly there; else a cost weight |p - position|².")
      .field(
          "coordinate",
          [](const FinalPoint& p) {
            return std::vector<bool>(std::begin(p.coordinate), std::end(p.coordinate));
          },
          [](FinalPoint& p, py::handle value) {
            const auto given = py::cast<std::array<bool, 3>>(value);
            std::copy(given.begin(), given.end(), std::begin(p.coordinate));
          },
          "list of bool: which of x, y, z are meant.")
      .done();
  Struct<RunningCost>(m, "RunningCost", "½ weight ∫ (x - reference)² dt.")
      .field("freedom", &RunningCost::freedom, "str.")
      .field("quantity", &RunningCost::quantity, "MotionQuantity.")
      .field("weight", &RunningCost::weight, "Of ½ ∫ (x - reference)² dt.")
      .field(
          "reference", [](const RunningCost& c) { return time_signal(c.reference); },
          [](RunningCost& c, py::handle value) {
            c.reference = read_time_signal(value, "the reference");
          },
          "An expression of t, a number, a function of t -> value or (value, rate), or a "
          "dictionary of a table. None: zero.")
      .done();
  Struct<RateCost>(m, "RateCost",
                   "½ weight ∫ (du/dt)² dt of a control: rate of an effort, jerk of a motion.")
      .field("freedom", &RateCost::freedom, "str.")
      .field("weight", &RateCost::weight, "Of ½ ∫ (du/dt)² dt, u being the control.")
      .done();
  Struct<CustomCost>(m, "CustomCost", "½ ∫ r² dt.")
      .field("name", &CustomCost::name, "str: of this part of the cost.")
      .field(
          "residual",
          [](const CustomCost& c) -> py::object {
            const auto* f = c.residual.target<UnboundCost>();
            return f != nullptr ? *f->function : py::object(py::none());
          },
          [](CustomCost& c, py::handle value) {
            if (PyCallable_Check(value.ptr()) == 0)
              throw py::type_error("a function of (point, gradient) is needed");
            c.residual = UnboundCost{keep(value)};
          },
          "A function of (CostPoint, CostGradient or None) -> r, which writes the gradient of r.")
      .done();
  Struct<PathBound>(m, "PathBound", "Between lower and upper at all times.")
      .field("freedom", &PathBound::freedom, "str.")
      .field("quantity", &PathBound::quantity, "MotionQuantity.")
      .field("lower", &PathBound::lower, "In the unit of the quantity; -inf: none.")
      .field("upper", &PathBound::upper, "In the unit of the quantity; inf: none.")
      .done();
}

// A list of settings: read as a tuple (a list would swallow what is appended to it), written whole,
// and added to by keywords.
template <class T>
void add_list(py::class_<PythonProblem>& type, const char* name,
              std::vector<T> MotionProblem::*list, const char* doc) {
  type.def_property(
      name, [list](const PythonProblem& p) { return py::tuple(py::cast(p.problem.*list)); },
      [list](PythonProblem& p, const py::iterable& values) {
        std::vector<T> all;
        for (const py::handle value : values) all.push_back(Struct<T>::from(value));
        p.problem.*list = std::move(all);
      },
      doc);
}
template <class T>
void add_adder(py::class_<PythonProblem>& type, const char* name,
               std::vector<T> MotionProblem::*list, std::string T::*named, const char* argument,
               const char* doc) {
  type.def(
      name,
      [list, named](PythonProblem& p, const std::string& what, const py::kwargs& fields) {
        T entry = Struct<T>::make(fields);
        entry.*named = what;
        (p.problem.*list).push_back(std::move(entry));
      },
      py::arg(argument), doc);
}

void bind_problem(py::module_& m) {
  using P = PythonProblem;
  using M = MotionProblem;
  py::class_<P> type(
      m, "MotionProblem",
      "Trajectory optimization: the motion of a mechanism of least cost, J = ∫ ½ Σ w r² dt + Σ w "
      "(x(T) - x*)² + w T (docs/optimize.md).\n\n    problem = catena.MotionProblem(acrobot, "
      "duration=3.0)\n    problem.start[\"shoulder\"] = -1.0\n    problem.add_control(\"elbow\", "
      "motion=True, coefficients=12)\n    problem.final_position(\"shoulder\", np.pi / 2)\n    "
      "problem.effort_cost(\"elbow\")\n    best = catena.solve(problem)\n\nstart: a State; the "
      "mechanism's default state unless given.\nduration: s; (guess, least, greatest) if it is "
      "free.");
  type.def(py::init([](const MechanismPointer& mechanism, const NamedState* start,
                       const py::object& duration) {
             P p(mechanism);
             if (start != nullptr) p.start.state = start->of(*mechanism);
             p.problem.duration = read_duration(duration);
             return p;
           }),
           py::arg("mechanism"), py::arg("start") = py::none(), py::arg("duration") = 1.0)
      .def(
          "copy", [](const P& p) { return p; }, "Another one like it.")
      .def_readonly("mechanism", &P::mechanism, "Mechanism.")
      .def_readwrite("model_path", &P::model_path,
                     "The file of the model, if it was read from one.")
      .def_property(
          "start", [](P& p) -> NamedState& { return p.start; },
          [](P& p, const NamedState& state) { p.start.state = state.of(*p.mechanism); },
          "State: where and how fast the motion begins; closed. May be written into.")
      .def_property(
          "duration", [](const P& p) { return p.problem.duration; },
          [](P& p, const py::object& d) { p.problem.duration = read_duration(d); },
          "DurationSettings; given as s, or (guess, least, greatest).")
      .def_property(
          "time_weight", [](const P& p) { return p.problem.time_weight; },
          [](P& p, double x) { p.problem.time_weight = x; }, "w of w T.")
      .def_property(
          "model_limits", [](const P& p) { return p.problem.model_limits; },
          [](P& p, bool x) { p.problem.model_limits = x; },
          "Limits of position, velocity and effort in the model are bounds too.")
      .def_property(
          "grid", [](const P& p) { return p.problem.grid; },
          [](P& p, const py::object& grid) { p.problem.grid = Struct<MotionGrid>::from(grid); },
          "MotionGrid.");
  add_list(type, "controls", &M::controls, "tuple of ControlSettings.");
  add_list(type, "final_bounds", &M::final_bounds, "tuple of FinalBound.");
  add_list(type, "final_costs", &M::final_costs, "tuple of FinalCost.");
  add_list(type, "final_points", &M::final_points, "tuple of FinalPoint.");
  add_list(type, "running_costs", &M::running_costs, "tuple of RunningCost.");
  add_list(type, "rate_costs", &M::rate_costs, "tuple of RateCost.");
  add_list(type, "custom_costs", &M::custom_costs, "tuple of CustomCost.");
  add_list(type, "bounds", &M::bounds, "tuple of PathBound.");
  add_adder(type, "add_control", &M::controls, &ControlSettings::freedom, "freedom",
            "A control of a freedom; keywords are the fields of ControlSettings.");
  add_adder(type, "add_final_bound", &M::final_bounds, &FinalBound::freedom, "freedom",
            "A condition at the end; keywords are the fields of FinalBound.");
  add_adder(type, "add_final_cost", &M::final_costs, &FinalCost::freedom, "freedom",
            "A cost of the end; keywords are the fields of FinalCost.");
  add_adder(type, "add_final_point", &M::final_points, &FinalPoint::frame, "frame",
            "A point at the end; keywords are the fields of FinalPoint.");
  add_adder(type, "add_running_cost", &M::running_costs, &RunningCost::freedom, "freedom",
            "A cost along the motion; keywords are the fields of RunningCost.");
  add_adder(type, "add_rate_cost", &M::rate_costs, &RateCost::freedom, "freedom",
            "A cost of the rate of a control; keywords are the fields of RateCost.");
  add_adder(type, "add_bound", &M::bounds, &PathBound::freedom, "freedom",
            "A bound at all times; keywords are the fields of PathBound.");
  type.def(
          "add_custom_cost",
          [](P& p, const std::string& name, const py::function& residual) {
            p.problem.custom_costs.push_back({name, UnboundCost{keep(residual)}});
          },
          py::arg("name"), py::arg("residual"),
          "½ ∫ r² dt by a function residual(point, gradient) -> r of a CostPoint. gradient is a "
          "CostGradient to write into, or None where it is not wanted.")
      .def(
          "final_position",
          [](P& p, const std::string& freedom, double value) {
            p.problem.final_position(freedom, value);
          },
          py::arg("freedom"), py::arg("value"), "The position at the end, exactly.")
      .def(
          "final_velocity",
          [](P& p, const std::string& freedom, double value) {
            p.problem.final_velocity(freedom, value);
          },
          py::arg("freedom"), py::arg("value"), "The velocity at the end, exactly.")
      .def(
          "final_cost",
          [](P& p, const std::string& freedom, Choice<MotionQuantity> quantity, double target,
             double weight) { p.problem.final_cost(freedom, quantity, target, weight); },
          py::arg("freedom"), py::arg("quantity"), py::arg("target"), py::arg("weight"),
          "weight (x(T) - target)².")
      .def(
          "effort_cost",
          [](P& p, const std::string& freedom, double weight) {
            p.problem.effort_cost(freedom, weight);
          },
          py::arg("freedom"), py::arg("weight") = 1.0, "½ weight ∫ effort² dt.")
      .def("__repr__", [](const P& p) {
        return "<MotionProblem of '" + p.mechanism->name() +
               "': " + std::to_string(p.problem.controls.size()) + " controls, " +
               number(p.problem.duration.guess) + " s>";
      });
  m.def(
      "mistakes", [](const P& p) { return mistakes(callable(p, nullptr)); }, py::arg("problem"),
      "Everything that is wrong with a problem before any motion is computed, each in a sentence; "
      "empty: it can be tried.");
}

// ---- The search. ----

void bind_solver_settings(py::module_& m) {
  bind_enum<Solver>(m, "Solver", "Of motion problems.",
                    {{"automatic", Solver::automatic},
                     {"levenberg_marquardt", Solver::levenberg_marquardt},
                     {"ipopt", Solver::ipopt}});
  bind_enum<HessianModel>(m, "HessianModel", "Approximation of the Hessian matrix of the cost.",
                          {{"automatic", HessianModel::automatic},
                           {"gauss_newton", HessianModel::gauss_newton},
                           {"limited_memory", HessianModel::limited_memory}});
  bind_enum<SolverEnd>(m, "SolverEnd", "How a search ended.",
                       {{"converged", SolverEnd::converged},
                        {"iterations", SolverEnd::iterations},
                        {"time", SolverEnd::time},
                        {"stopped", SolverEnd::stopped},
                        {"stuck", SolverEnd::stuck},
                        {"infeasible", SolverEnd::infeasible},
                        {"failed", SolverEnd::failed}});
  using S = SolverSettings;
  Struct<S>(m, "SolverSettings", "How a motion problem is solved.")
      .field("solver", &S::solver, "Solver.")
      .field("hessian", &S::hessian, "HessianModel.")
      .field("tolerance", &S::tolerance, "Of the cost, relative.")
      .field("feasibility", &S::feasibility, "Of bounds and conditions, in their own units.")
      .field("accuracy", &S::accuracy, "Of the grid; 0: the grid as given.")
      .field("iterations", &S::iterations, "int: at most, of each start.")
      .field("time_limit", &S::time_limit, "s, of all starts together.")
      .field("starts", &S::starts, "int: the guess, and others about it.")
      .field("seed", &S::seed, "int: of the other starts.")
      .field("spread", &S::spread, "Of the starts: each coefficient moves by up to this much.")
      .done();
  using G = SolverProgress;
  py::class_<G>(m, "SolverProgress", "What progress of solve() is called with.")
      .def_readonly("start", &G::start, "Of several, from 0.")
      .def_readonly("iteration", &G::iteration, "How many were done.")
      .def_readonly("cost", &G::cost, "Of the motion so far.")
      .def_readonly("violation", &G::violation, "Of bounds and conditions.")
      .def_readonly("stationarity", &G::stationarity, "Largest entry of the gradient.")
      .def_readonly("step", &G::step, "Length of the last.")
      .def_readonly("evaluations", &G::evaluations, "Of cost and conditions.");
}

void bind_motion(py::module_& m) {
  py::class_<Minimum> minimum(m, "Minimum", "Where starts of a search ended.");
  minimum.def_readonly("cost", &Minimum::cost, "At this minimum.")
      .def_readonly("starts", &Minimum::starts, "That ended there.")
      .def_readonly("variables", &Minimum::variables,
                    "(variables,) of the search, for solve(variables=...).");
  picklable(minimum, &Minimum::cost, &Minimum::starts, &Minimum::variables);
  using N = NamedMotion;
  py::class_<N> type(m, "OptimalMotion", "What solve() found.");
  const auto add = [&type](const char* name, auto member, const char* doc = "") {
    type.def_property_readonly(
        name, [member](const N& n) { return n.motion.*member; }, doc);
  };
  using O = OptimalMotion;
  add("converged", &O::converged, "To the tolerance that was asked for.");
  add("feasible", &O::feasible, "Bounds and conditions are kept.");
  add("end", &O::end, "SolverEnd: why the search ended.");
  add("message", &O::message, "How it ended, in words.");
  add("solver", &O::solver, "The one that was used.");
  add("variables", &O::variables,
      "(variables,): the free coefficients, and the duration if it is free.");
  add("guess", &O::guess, "(variables,): where the search began.");
  add("duration", &O::duration, "s.");
  add("cost", &O::cost, "The least that was found.");
  add("guess_cost", &O::guess_cost, "NaN: no motion could be computed from the guess.");
  add("refined_cost", &O::refined_cost, "The same on a grid twice as fine; NaN: not computed.");
  add("grid", &O::grid, "MotionGrid of the result.");
  add("refined_change", &O::refined_change, "Of the final state, there.");
  add("parts", &O::parts, "(parts,) of the cost, as part_names says.");
  add("part_names", &O::part_names, "list of str.");
  add("violation", &O::violation, "Of bounds and conditions.");
  add("overshoot", &O::overshoot,
      "Of bounds on the path, between the points at which they are kept.");
  add("worst", &O::worst, "What is violated most.");
  add("stationarity", &O::stationarity, "Largest entry of the gradient.");
  add("iterations", &O::iterations, "Of the solver.");
  add("evaluations", &O::evaluations, "Of the motion, with derivatives and without.");
  add("wall_time", &O::wall_time, "s.");
  add("processor_time", &O::processor_time, "s, of all threads.");
  add("minima", &O::minima, "list of Minimum: of several starts, least first.");
  type.def_property_readonly(
          "final_state",
          [](const N& n) {
            return NamedState{n.mechanism, n.motion.final_state};
          },
          "The State at the end of the motion.")
      .def("__repr__", [](const N& n) {
        return "<OptimalMotion: cost " + number(n.motion.cost) + ", " + n.motion.message + ">";
      });
  picklable_of_mechanism(type, &N::motion, &O::converged, &O::feasible, &O::end, &O::message,
                         &O::solver, &O::variables, &O::guess, &O::duration, &O::cost,
                         &O::guess_cost, &O::refined_cost, &O::grid, &O::refined_change, &O::parts,
                         &O::part_names, &O::violation, &O::overshoot, &O::worst, &O::stationarity,
                         &O::iterations, &O::evaluations, &O::wall_time, &O::processor_time,
                         &O::minima, &O::final_state);
}

NamedMotion solve_guarded(const PythonProblem& problem, SolverSettings settings,
                          const Eigen::VectorXd& from, const py::object& progress) {
  const auto failure = std::make_shared<Failure>(true);
  const MotionProblem p = callable(problem, failure);
  Interrupts interrupts(failure);
  bool stopped = false;  // for good: the next stage of a search asks again
  settings.progress = [&](const SolverProgress& now) {
    stopped = stopped || failure->first() || failure->interrupted() ||
              !interrupts.look([] { return true; });
    if (stopped || progress.is_none()) return !stopped;
    const py::gil_scoped_acquire gil;
    try {
      stopped = !failure->guard([&] {
        const py::object answer = progress(now);
        return answer.is_none() || py::cast<bool>(answer);
      });
    } catch (const NumericalError&) {
      stopped = true;
    }
    return !stopped;
  };
  NamedMotion result{problem.mechanism, {}};
  try {
    const py::gil_scoped_release release;
    result.motion = solve(p, settings, from);
  } catch (const Error&) {
    if (!failure->first()) throw;
  }
  if (failure->first()) std::rethrow_exception(failure->first());
  return result;
}

void bind_solve(py::module_& m) {
  m.def(
      "solve",
      [](const PythonProblem& problem, const py::object& settings,
         const std::optional<Eigen::VectorXd>& variables, const py::object& progress,
         const py::kwargs& fields) {
        SolverSettings s;
        if (!settings.is_none()) s = Struct<SolverSettings>::from(settings);
        Struct<SolverSettings>::apply(s, fields);
        return solve_guarded(problem, s, variables.value_or(Eigen::VectorXd()), progress);
      },
      py::arg("problem"), py::arg("settings") = py::none(), py::arg("variables") = py::none(),
      py::arg("progress") = py::none(),
      "The motion of least cost: a local optimum, as an OptimalMotion. Keywords are the fields of "
      "SolverSettings.\n\nvariables: where to begin instead of the guess (those of an earlier "
      "motion: a warm start).\nprogress: called after each iteration with a SolverProgress; False "
      "ends the search.\n\nA search that ends without an optimum says why in `message` and returns "
      "its best motion; so does one that Ctrl-C ended (end is SolverEnd.stopped). Raises Error "
      "with all mistakes of the problem, and what a function of the user raised.");
  const auto pack = [](ProblemFile&& file) {
    MechanismPointer mechanism(std::move(file.mechanism));
    return std::make_pair(PythonProblem(mechanism, file.model_path, std::move(file.problem)),
                          file.solver);
  };
  m.def(
      "read_problem",
      [pack](const py::object& path) {
        return pack(read_problem_file(py::cast<std::string>(py::str(path))));
      },
      py::arg("path"),
      "(MotionProblem, SolverSettings) of a problem file (docs/optimize.md). Raises ModelError "
      "with "
      "every mistake of the file. (`read_problem_file` in C++.)");
  m.def(
      "read_problem_text",
      [pack](const std::string& text, const std::string& file_name) {
        return pack(read_problem_text(text, file_name));
      },
      py::arg("text"), py::arg("file_name") = "problem.yaml",
      "The same of text; the model is looked for from the folder of file_name.");
  m.def(
      "result_json",
      [](const PythonProblem& problem, const NamedMotion& motion) {
        return result_json(problem.complete(), motion.motion);
      },
      py::arg("problem"), py::arg("motion"),
      "A result as JSON, as `catena optimize --json` prints it.");
  m.def(
      "warm_start",
      [](const py::object& path, PythonProblem& problem) {
        MotionProblem p = problem.complete();
        warm_start(py::cast<std::string>(py::str(path)), p);
        problem.problem = std::move(p);
      },
      py::arg("path"), py::arg("problem"),
      "Begins the search where a result (a file of result_json(), or a run of record_motion() or "
      "`catena optimize`) ended; the problem may have other controls.");
  m.def(
      "_record_motion",
      [](const PythonProblem& problem, const NamedMotion& motion, const std::string& output,
         bool overwrite, const std::string& settings_json,
         const std::shared_ptr<MemoryRecorder>& record) {
        const MotionProblem p = problem.complete();
        RunHeader header;
        header.kind = "optimization";
        header.model_path = problem.model_path;
        header.settings_json = settings_json;
        const auto file = file_recorder(output, *problem.mechanism, std::move(header), overwrite);
        const py::gil_scoped_release release;
        const Replay replay = record_motion(p, motion.motion, file ? *file : *record);
        return std::make_pair(NamedResult{problem.mechanism, replay.result}, replay.difference);
      },
      py::arg("problem"), py::arg("motion"), py::arg("output"), py::arg("overwrite"),
      py::arg("settings_json"), py::arg("record"), "record_motion() of the package.");
}

}  // namespace

void bind_optimal(py::module_& m) {
  bind_settings(m);
  bind_problem(m);
  bind_solver_settings(m);
  bind_motion(m);
  bind_solve(m);
}

}  // namespace catena::python
