// Signal: a resolved function of time and state, with its jumps under control: between two calls of
// start() it is smooth (up to kinks of abs, min, max), whatever it does beyond.
#pragma once

#include <optional>

#include "catena/simulation/actions.h"

namespace catena {

class Signal {
 public:
  // `what` names the signal in messages.
  Signal(const SignalSettings& settings, const Mechanism& mechanism, const std::string& what,
         bool time_only);

  double value(double t, const State& state) const;
  // Of a function that is watched for its sign: expressions with every jump where it is now.
  double guard(double t, const State& state) const;
  // With its rates, from these rates of the coordinates; NaN if nothing is known of them.
  Jet guard_jet(double t, const State& state, std::span<const double> rates) const;
  // Of signals of time alone.
  Jet jet(double t) const;

  // Takes the side of every jump that holds at t and just after it.
  void start(double t, const State& state);
  // Where the table or function has its next corner after start(); `jumps()`: it is not continuous
  // there.
  double next_corner() const { return corner_; }
  bool jumps() const;

  int switches() const { return expression_ ? expression_->switches() : 0; }
  void switch_arguments(double t, const State& state, std::span<double> arguments) const;
  std::span<std::uint8_t> switch_sides();

 private:
  double inside(double t) const;

  std::optional<double> constant_;  // what the expression always is
  std::optional<Expression> expression_;
  std::optional<Table> table_;
  std::function<double(double, const State&)> function_;
  std::function<Jet(double)> jet_;
  std::vector<double> corners_;
  double corner_ = std::numeric_limits<double>::infinity();
  bool hold_ = false;
};

}  // namespace catena
