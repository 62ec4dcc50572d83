// SPDX-License-Identifier: BSD-3-Clause
// Functions of the user that C++ calls while the GIL is released, and Ctrl-C meanwhile: in
// simulations and in the search for an optimal motion.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arguments.h"

#include "catena/simulation/actions.h"

namespace catena::python {

// A Python object that C++ may copy, call and destroy without holding the GIL.
std::shared_ptr<py::object> keep(py::handle object);

// The first error that a function of the user, or a signal handler, raised. To the library it is a
// NumericalError, after which it closes its record; what was raised is raised again at the end.
class Failure {
 public:
  // `ends_well`: Ctrl-C is not a failure. It is stored, and the interrupted function is called
  // again, so that a search can end with its best result.
  explicit Failure(bool ends_well = false) : ends_well_(ends_well) {}
  // With the GIL. Never returns normally after an error, nor calls f after one.
  template <class F>
  auto guard(F f) {
    if (first_) throw NumericalError("a function of the user failed");
    try {
      try {
        return f();
      } catch (const py::error_already_set& e) {
        if (!forgiven(e)) throw;
      }
      return f();
    } catch (const py::builtin_exception&) {
      first_ = std::current_exception();
    } catch (const py::error_already_set&) {
      first_ = std::current_exception();
    }
    throw NumericalError("a function of the user failed");
  }
  // A signal handler has raised something.
  void interrupt() {
    const py::error_already_set raised;
    if (!forgiven(raised)) first_ = std::make_exception_ptr(raised);
  }
  const std::exception_ptr& first() const { return first_; }
  bool interrupted() const { return interrupted_; }
  void forget() { first_ = nullptr; }

 private:
  bool forgiven(const py::error_already_set& raised) {
    if (!ends_well_ || !raised.matches(PyExc_KeyboardInterrupt)) return false;
    return interrupted_ = true;
  }
  bool ends_well_, interrupted_ = false;
  std::exception_ptr first_;
};

// Looks for Ctrl-C about ten times a second.
class Interrupts {
 public:
  explicit Interrupts(std::shared_ptr<Failure> failure) : failure_(std::move(failure)) {}
  // False: a signal handler has raised something, which the Failure has. `then` is called with the
  // GIL, as often as signals are looked for.
  template <class F>
  bool look(F then) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return true;
    next_ = now + kBetween;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      failure_->interrupt();
      return false;
    }
    return then();
  }

 private:
  static constexpr std::chrono::milliseconds kBetween{100};
  std::chrono::steady_clock::time_point next_{};
  std::shared_ptr<Failure> failure_;
};

// The State that functions of the user see: its numbers are set before each call. It is the same
// object unless the user keeps a reference; a kept one is not changed.
class Seen {
 public:
  explicit Seen(const MechanismPointer& mechanism);
  const py::object& show(const State& state);
  const State& state() const { return state_->state; }
  const std::shared_ptr<Failure> failure;

 private:
  std::shared_ptr<py::object> object_;
  NamedState* state_;
};

// A function f(t, state) -> number of the user; `what` names it in messages.
std::function<double(double, const State&)> python_function(py::handle f,
                                                            const std::shared_ptr<Seen>& seen,
                                                            const std::string& what);

// An expression, a number, a function f(t, state), or a dictionary of a table (a file, or times and
// values).
SignalSettings read_signal(py::handle source, const std::shared_ptr<Seen>& seen,
                           const std::string& what);
// The same of what needs derivatives by time: functions f(t) -> (value, rate, acceleration).
SignalSettings read_motion_signal(py::handle source, const std::shared_ptr<Failure>& failure,
                                  const std::string& what);

// A signal of time alone by a Python function f(t) -> value, or (value, rate).
struct PythonTimeFunction {
  Jet operator()(double t) const;
  std::shared_ptr<py::object> function;
  std::shared_ptr<Failure> failure = {};  // none: what the function raises goes its way
};
std::optional<SignalSettings> read_time_signal(py::handle source, const std::string& what);
// What read_time_signal() was given; None: nothing.
py::object time_signal(const std::optional<SignalSettings>& signal);

}  // namespace catena::python
