// SPDX-License-Identifier: BSD-3-Clause
// A motion problem as a nonlinear program, for solvers that Python has.
#include "catena/optimal/transcription.h"

#include "support/motion_problem.h"

namespace catena::python {
namespace {

// `Transcription` in Python.
struct PythonTranscription {
  explicit PythonTranscription(const PythonProblem& problem)
      : mechanism(problem.mechanism),
        failure(std::make_shared<Failure>()),
        transcription(made(problem, failure)) {}

  // The guess is asked for at once: what a function of the user raises there is raised again.
  static Transcription made(const PythonProblem& problem, const std::shared_ptr<Failure>& failure) {
    try {
      return Transcription(callable(problem, failure));
    } catch (const Error&) {
      if (!failure->first()) throw;
    }
    std::rethrow_exception(failure->first());
  }

  MechanismPointer mechanism;
  std::shared_ptr<Failure> failure;
  Transcription transcription;
  std::atomic<bool> busy{false};
};

const Eigen::VectorXd& checked(const PythonTranscription& t, const Eigen::VectorXd& x) {
  if (x.size() != t.transcription.variables())
    throw py::value_error("there are " + std::to_string(t.transcription.variables()) +
                          " variables, not " + std::to_string(x.size()));
  return x;
}

// f() without the GIL. What a function of the user raised is raised again.
template <class F>
auto evaluated(PythonTranscription& t, F f) {
  if (t.busy.exchange(true))
    throw Error("this Transcription is in use by another thread; give every thread its own");
  struct Done {
    PythonTranscription& t;
    ~Done() {
      t.failure->forget();
      t.busy = false;
    }
  } const done{t};
  try {
    const py::gil_scoped_release release;
    auto result = f();
    if (!t.failure->first()) return result;
  } catch (const Error&) {
    if (!t.failure->first()) throw;
  }
  std::rethrow_exception(t.failure->first());
}

// The points of a motion, one row for each.
struct MotionRows {
  std::vector<double> time;
  std::vector<Eigen::VectorXd> q, v, acceleration, effort;
};

py::array_t<double> rows_to_numpy(const std::vector<Eigen::VectorXd>& rows, int columns) {
  py::array_t<double> a({static_cast<py::ssize_t>(rows.size()), static_cast<py::ssize_t>(columns)});
  double* to = a.mutable_data();
  for (const Eigen::VectorXd& row : rows) to = std::copy(row.begin(), row.end(), to);
  return a;
}

py::tuple motion_of(PythonTranscription& t, const Eigen::VectorXd& x, int finer) {
  if (finer < 1) throw py::value_error("a grid can only be made finer: 1, 2, 3, ...");
  const MotionRows rows = evaluated(t, [&] {
    MotionRows r;
    t.transcription.visit(
        x,
        [&](const MotionPoint& p) {
          r.time.push_back(p.time);
          r.q.push_back(p.state.q);
          r.v.push_back(p.state.v);
          r.acceleration.push_back(p.acceleration);
          r.effort.push_back(p.effort);
        },
        finer);
    return r;
  });
  const int n = t.mechanism->freedoms();
  return py::make_tuple(new_vector(rows.time.data(), static_cast<py::ssize_t>(rows.time.size())),
                        rows_to_numpy(rows.q, t.mechanism->coordinates()), rows_to_numpy(rows.v, n),
                        rows_to_numpy(rows.acceleration, n), rows_to_numpy(rows.effort, n));
}

}  // namespace

void bind_transcription(py::module_& m) {
  py::class_<ProgramValues>(m, "ProgramValues", "What evaluate() of a Transcription found.")
      .def_readonly("cost", &ProgramValues::cost, "J.")
      .def_readonly("parts", &ProgramValues::parts, "(parts,) of the cost, as cost_names says.")
      .def_readonly("constraints", &ProgramValues::constraints, "(constraints,), c.")
      .def_readonly("gradient", &ProgramValues::gradient,
                    "(variables,) of the cost; empty where no derivatives were wanted.")
      .def_readonly("hessian", &ProgramValues::hessian,
                    "(variables, variables) of the cost, Gauss-Newton.")
      .def_readonly("jacobian", &ProgramValues::jacobian, "(constraints, variables) of c.");

  using P = PythonTranscription;
  py::class_<P> type(
      m, "Transcription",
      "A MotionProblem as a nonlinear program in finitely many numbers, for solvers "
      "of your own: minimize J(x) with lower <= x <= upper and constraint_lower <= "
      "c(x) <= constraint_upper. x are the free coefficients of the controls and, if "
      "it is free, the duration. All derivatives are exact for the computed "
      "numbers.\n\n"
      "    t = catena.Transcription(problem)\n"
      "    e = t.evaluate(t.guess)\n"
      "    e.cost, e.gradient, e.constraints, e.jacobian\n\n"
      "It is a copy: changes of the problem after it are not in it. Raises Error with "
      "all mistakes of the problem.");
  type.def(py::init<const PythonProblem&>(), py::arg("problem"));
  const auto number_of = [&type](const char* name, int (Transcription::*get)() const,
                                 const char* doc) {
    type.def_property_readonly(
        name, [get](const P& t) { return (t.transcription.*get)(); }, doc);
  };
  const auto vector = [&type](const char* name,
                              const Eigen::VectorXd& (Transcription::*get)() const,
                              const char* doc) {
    type.def_property_readonly(
        name, [get](const P& t) { return (t.transcription.*get)(); }, doc);
  };
  using T = Transcription;
  number_of("variables", &T::variables, "int: how many.");
  number_of("constraints", &T::constraints, "int: how many.");
  vector("guess", &T::guess, "(variables,): where a search begins.");
  vector("lower", &T::lower, "(variables,); -inf: none.");
  vector("upper", &T::upper, "(variables,); inf: none.");
  vector("constraint_lower", &T::constraint_lower, "(constraints,); -inf: none.");
  vector("constraint_upper", &T::constraint_upper,
         "(constraints,); inf: none. Where both are equal, c is a condition.");
  type.def_property_readonly(
          "cost_names", [](const P& t) { return t.transcription.cost_names(); },
          "list of str: of the parts of the cost.")
      .def(
          "constraint_name",
          [](const P& t, int i, double duration) {
            if (i < 0 || i >= t.transcription.constraints())
              throw py::index_error("there is no constraint " + std::to_string(i));
            return t.transcription.constraint_name(i, duration);
          },
          py::arg("i"), py::arg("duration"),
          "str: of a constraint, for a motion of this duration, s: \"velocity of 'elbow' at 0.35 "
          "s\".")
      .def(
          "duration",
          [](const P& t, const Eigen::VectorXd& x) {
            return t.transcription.duration(checked(t, x));
          },
          py::arg("x"), "float, s, of the motion with these variables (variables,).")
      .def(
          "evaluate",
          [](P& t, const Eigen::VectorXd& x, bool derivatives) {
            checked(t, x);
            return evaluated(t, [&] {
              ProgramValues e;
              if (!t.transcription.evaluate(x, derivatives ? T::Want::derivatives : T::Want::values,
                                            e))
                throw NumericalError(t.transcription.failure());
              return e;
            });
          },
          py::arg("x"), py::arg("derivatives") = true,
          "ProgramValues at x (variables,): cost and constraints, and their derivatives if wanted. "
          "NumericalError if no motion can be computed with these numbers.")
      .def(
          "violation",
          [](const P& t, const Eigen::VectorXd& x, const Eigen::VectorXd& c) {
            if (c.size() != t.transcription.constraints())
              throw py::value_error("there are " + std::to_string(t.transcription.constraints()) +
                                    " constraints, not " + std::to_string(c.size()));
            return t.transcription.violation(checked(t, x), c);
          },
          py::arg("x"), py::arg("c"),
          "float: how far x (variables,) and c (constraints,) leave their bounds, the most of all.")
      .def(
          "refined_cost",
          [](P& t, const Eigen::VectorXd& x) {
            checked(t, x);
            return evaluated(t, [&] { return t.transcription.refined_cost(x); });
          },
          py::arg("x"),
          "float: the cost at x (variables,) on a grid twice as fine; NaN if it cannot "
          "be computed.")
      .def(
          "motion",
          [](P& t, const Eigen::VectorXd& x, int finer) {
            return motion_of(t, checked(t, x), finer);
          },
          py::arg("x"), py::arg("finer") = 1,
          "(time, q, v, acceleration, effort) of the motion at x (variables,), one row for each "
          "point "
          "of a grid that is this many times as fine: (P,) s, (P, coordinates), and (P, freedoms). "
          "(`visit` in C++.)");
}

}  // namespace catena::python
