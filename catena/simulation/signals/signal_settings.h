// SPDX-License-Identifier: BSD-3-Clause
// SignalSettings: a function of time, or of time and state, as the user gives it: an input, the
// target of a controller, a prescribed motion, a function whose zeros are events.
//
//   SignalSettings a = "2*sin(t) - 0.1*v.elbow";                       // an expression
//   SignalSettings b = TableSignal{.path = "torque.csv", .interpolation = Interpolation::spline};
//   SignalSettings c = [](double t, const State& state) { return -0.1 * state.v[0]; };
//   SignalSettings d = TimeFunction{[](double t) { return Jet{t * t, 2.0 * t, 2.0}; }};
//
// Expressions (docs/simulation.md has the language) and tables know where they jump; the simulator
// locates these instants. A function must be smooth, but for the corners of a TimeFunction.
// Prescribed motions and targets need derivatives: there a StateFunction cannot be used.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "catena/simulation/signals/time_table.h"

namespace catena {

// A column of a CSV file over its first column, the time in s.
struct TableSignal {
  std::string path;
  std::string column = {};  // empty: the second
  Interpolation interpolation = Interpolation::linear;
  std::optional<double> cutoff = {};  // Hz, of a smoothed spline
};

using StateFunction = std::function<double(double t, const State& state)>;

// A function of time alone, with its first two derivatives.
struct TimeFunction {
  std::function<Jet(double t)> jet;
  // Times at which it or a derivative jumps, ascending. Up to a corner it is evaluated at earlier
  // times only.
  std::vector<double> corners = {};
  bool jumps = false;  // at corners the value itself
};

struct SignalSettings {
  using Source = std::variant<std::string, TableSignal, StateFunction, TimeFunction>;

  SignalSettings() = default;  // an empty expression, which is an error where it is used
  // NOLINTBEGIN(google-explicit-constructor): a text or a function is a signal.
  SignalSettings(const char* expression) : source(std::string(expression)) {}
  SignalSettings(std::string expression) : source(std::move(expression)) {}
  SignalSettings(TableSignal table) : source(std::move(table)) {}
  SignalSettings(TimeFunction function) : source(std::move(function)) {}
  template <class F>
  requires std::is_invocable_r_v<double, F, double, const State&> SignalSettings(F function)
      : source(StateFunction(std::move(function))) {}
  // NOLINTEND(google-explicit-constructor)

  Source source;

  // Null if it is something else.
  const std::string* expression() const { return std::get_if<std::string>(&source); }
  const TableSignal* table() const { return std::get_if<TableSignal>(&source); }
  const StateFunction* function() const { return std::get_if<StateFunction>(&source); }
  const TimeFunction* time_function() const { return std::get_if<TimeFunction>(&source); }
  TimeFunction* time_function() { return std::get_if<TimeFunction>(&source); }
  // Code of the calling program, which no settings file can hold.
  bool is_code() const { return function() != nullptr || time_function() != nullptr; }
};

}  // namespace catena
