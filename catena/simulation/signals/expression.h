// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; time_table.h needs it.
//
// Expressions such as "2*sin(2*pi*t) - 0.1*v.elbow": a small language for inputs, motions and
// events.
//
//   numbers, pi, e    + - * / ^    ( )    t    q.NAME, v.NAME of the mechanism
//   sin cos tan asin acos atan sinh cosh tanh exp log sqrt abs   atan2 min max pow   clamp
//   step(x)           0 for x < 0, 1 from there on
//   sign(x)           -1 or 1
//   pulse(x, a, b)    1 for a <= x < b, else 0
//
// The jumps of step, sign and pulse are switches: they keep their side while a simulation steps,
// and it locates the instant at which they change (an event). So are the kinks of abs, min, max and
// clamp in expressions of t alone. Everything else is evaluated as it is. A mistake is an Error
// that shows the place in the text.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/model/mechanism.h"

namespace catena {

// A function of time with its first two derivatives.
struct Jet {
  double value;
  double rate;
  double acceleration;

  // A value with unknown rates: they are NaN.
  static Jet without_rates(double value) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    return {value, kUnknown, kUnknown};
  }
};

class Expression {
 public:
  // Without a mechanism only t is known.
  explicit Expression(std::string_view text, const Mechanism* mechanism = nullptr);
  // NAME of every q.NAME and v.NAME in the text.
  static std::vector<std::string> names(std::string_view text, const Mechanism& mechanism);

  const std::string& text() const { return text_; }
  bool uses_state() const { return uses_state_; }
  // Neither t nor the state occurs.
  bool constant() const { return constant_; }

  double value(double t, const State& state) const;
  // The value with every jump on the side of its present argument, for functions whose sign is
  // watched.
  double live(double t, const State& state) const;
  // live() and its rates between its jumps, with these rates of the coordinates, and velocities as
  // they are.
  Jet live_jet(double t, const State& state, std::span<const double> rates) const;
  // Of t alone; exact derivatives.
  Jet jet(double t) const;

  // Arguments of the jumps: each is 1 or 0 as the sign of its argument was when it was last set.
  int switches() const { return static_cast<int>(switch_on_.size()); }
  void switch_arguments(double t, const State& state, std::span<double> arguments) const;
  void set_switches(double t, const State& state);
  std::span<std::uint8_t> switch_sides() { return switch_on_; }

 private:
  friend class ExpressionParser;
  Expression() = default;
  enum class Code : std::uint8_t {
    constant,
    time,
    position,
    velocity,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    tanh,
    exp,
    log,
    sqrt,
    abs,
    atan2,
    min,
    max,
    step
  };
  static constexpr std::uint8_t kNotSet = 2;  // of a kink: its side is that of its argument
  struct Instruction {
    Code code;
    int index;     // of a coordinate, freedom or switch
    double value;  // of a constant
  };
  // Runs the program on a stack; `at_switch(index, argument)` gives the value of a jump.
  template <class Scalar, class AtSwitch>
  Scalar run(const Scalar& t, const State* state, AtSwitch at_switch,
             const double* rates = nullptr) const;

  std::string text_;
  std::vector<Instruction> program_;
  std::vector<std::uint8_t> switch_on_;
  bool uses_state_ = false;
  bool constant_ = true;
};

}  // namespace catena
