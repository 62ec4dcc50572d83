// SPDX-License-Identifier: BSD-3-Clause
// Signal: a function of time and state (signal_settings.h), ready to be evaluated in a simulation,
// with its jumps located: between two calls of start() it is smooth (up to kinks of abs, min, max).
// For components (component.h) that have inputs of their own.
//
//   Signal wanted("0.5*step(t - 1)", robot, "target of the motor", true);
//   wanted.start(0.0, state);
//   const Jet target = wanted.jet(0.2);                           // value and two derivatives
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "catena/simulation/signals/signal_settings.h"

namespace catena {

class Signal {
 public:
  // `what` names the signal in messages.
  Signal(const SignalSettings& settings, const Mechanism& mechanism, const std::string& what,
         bool time_only);

  double value(double t, const State& state) const;
  // Value of a function whose sign is watched (zero crossings): jumps of an expression are at their
  // present place.
  double guard(double t, const State& state) const;
  // The same with its time derivatives, from these rates of the coordinates; NaN if they are
  // unknown.
  Jet guard_jet(double t, const State& state, std::span<const double> rates) const;
  // Value and derivatives of a signal of time alone.
  Jet jet(double t) const;

  // Takes the side of every jump that holds at t and just after it.
  void start(double t, const State& state);
  // Where the table or function has its next corner after start(); `jumps()`: it is not continuous
  // there.
  double next_corner() const { return corner_; }
  bool jumps() const { return jumps_; }

  // False: it is a constant.
  bool varies() const { return !constant_; }

  int switches() const { return expression_ ? expression_->switches() : 0; }
  void switch_arguments(double t, const State& state, std::span<double> arguments) const;
  std::span<std::uint8_t> switch_sides();

 private:
  double inside(double t) const;

  std::optional<double> constant_;  // value of a constant expression
  std::optional<Expression> expression_;
  std::optional<Table> table_;
  StateFunction function_;
  TimeFunction time_function_;
  double corner_ = std::numeric_limits<double>::infinity();
  bool jumps_ = false;  // at its corners
};

}  // namespace catena
