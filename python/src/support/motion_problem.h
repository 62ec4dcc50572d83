// SPDX-License-Identifier: BSD-3-Clause
// A problem of an optimal motion as Python has it: for the search and for its transcription.
#pragma once

#include "costs.h"

#include "catena/optimal/problem.h"

namespace catena::python {

// `MotionProblem` in Python. Its start is an object of its own, so that Python can write into it.
struct PythonProblem {
  explicit PythonProblem(MechanismPointer of)
      : mechanism(std::move(of)),
        start{mechanism, mechanism->default_state()},
        problem(*mechanism) {}
  PythonProblem(MechanismPointer of, std::string path, MotionProblem read)
      : mechanism(std::move(of)),
        model_path(std::move(path)),
        start{mechanism, read.start},
        problem(std::move(read)) {}

  MechanismPointer mechanism;
  std::string model_path;
  NamedState start;
  MotionProblem problem;

  MotionProblem complete() const {
    MotionProblem p = problem;
    p.start = start.state;
    return p;
  }
};

// A cost of the user before a search makes it callable: the function, and nothing else.
struct UnboundCost {
  std::shared_ptr<py::object> function;
  double operator()(const CostPoint&, CostGradient*) const {
    throw Error("a cost by a Python function was called outside of a search");
  }
};

// The problem with functions of the user that tell `failure` what they raise.
inline MotionProblem callable(const PythonProblem& problem,
                              const std::shared_ptr<Failure>& failure) {
  MotionProblem p = problem.complete();
  const auto python_function = [](std::optional<SignalSettings>& signal) {
    TimeFunction* function = signal ? signal->time_function() : nullptr;
    return function != nullptr ? function->jet.target<PythonTimeFunction>() : nullptr;
  };
  for (ControlSettings& c : p.controls)
    if (auto* f = python_function(c.guess.signal)) f->failure = failure;
  for (RunningCost& c : p.running_costs) {
    auto* f = python_function(c.reference);
    if (f == nullptr) continue;
    if (p.duration.free() && !py::isinstance<py::tuple>((*f->function)(0.0)))
      throw Error("the reference of '" + c.freedom +
                  "' must return (value, rate): the duration is free, so that its rate is needed");
    f->failure = failure;
  }
  for (CustomCost& c : p.custom_costs)
    if (const auto* f = c.residual.target<UnboundCost>())
      c.residual = PythonCostFunction(problem.mechanism, f->function, failure);
  return p;
}

}  // namespace catena::python
