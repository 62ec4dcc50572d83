// SPDX-License-Identifier: BSD-3-Clause
// Component: a part of a controlled system that reads signals, may have states, and writes signals
// or efforts: an actuator with a time constant, a sensor, a digital controller. (A block with ports
// in Drake's or Simulink's words.)
//
//   u  inputs, each from a signal (expression, table, function) or from an output of another
//      component
//   x  continuous states, a part of the vector y that the integrator sees: ẋ = rate(t, u, x, m)
//   m  memory, constant between ticks: discrete states of a sampled component
//   y  outputs: signals for others, columns of the run, or efforts (N, N m) at freedoms
//
// Each function gets one Context and keeps nothing between calls, so steps can be repeated and runs
// resumed to the same bits. The work of its efforts is booked under its name in the audit
// (`work.NAME`); x is error-controlled; x and m are kept in checkpoints. ARCHITECTURE.md
// ("Controlled systems") lists the order of the calls.
//
//   struct Lag final : Component {                              // a motor that follows with a lag
//     Lag() : Component("motor", {{"wanted", "sin(t)"}}, {{"torque", "effort.elbow"}}) {}
//     int states() const override { return 1; }
//     bool feeds_through() const override { return false; }     // y depends on x alone
//     void output(const Context& c, std::span<double> y) const override { y[0] = c.x[0]; }
//     void rate(const Context& c, std::span<double> dx) const override {
//       dx[0] = (c.u[0] - c.x[0]) / time_constant;
//     }
//   };
//   settings.actions.components.push_back([](const Mechanism&) { return std::make_unique<Lag>();
//   });
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "catena/simulation/coordinates/instant.h"
#include "catena/simulation/signals/signal.h"

namespace catena {

// The output of another component.
struct PortName {
  std::string component;
  std::string port;
};

struct InputPort {
  std::string name;
  std::variant<SignalSettings, PortName> source = {};
  std::string unit = {};
};

struct OutputPort {
  std::string name;
  std::string target = {};  // "effort.FREEDOM"; empty: a signal only
  std::string unit = {};
};

// Sample times offset + k period, k = 0, 1, ... (s). The outputs of a tick appear `delay` later and
// are held until the next ones appear. Ticks at the same instant run by `order`, then in the order
// in which components were given.
struct Sampling {
  double period = 0.0;
  double offset = 0.0;
  double delay = 0.0;
  int order = 0;
};

// Arguments of the functions of a component.
struct Context {
  const Instant& at;  // time and state of the mechanism
  std::span<const double> u, x, m;
};

class Component {
 public:
  // The name must be its own.
  Component(std::string name, std::vector<InputPort> inputs, std::vector<OutputPort> outputs)
      : name_(std::move(name)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  virtual ~Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<InputPort>& inputs() const { return inputs_; }
  const std::vector<OutputPort>& outputs() const { return outputs_; }

  // Number and names of continuous states, number of memory entries, initial values of both.
  virtual int states() const { return 0; }
  virtual int memory() const { return 0; }
  virtual std::string state_name(int i) const { return name_ + "." + std::to_string(i); }
  virtual void start(std::span<double> x, std::span<double> m) const {
    std::fill(x.begin(), x.end(), 0.0);
    std::fill(m.begin(), m.end(), 0.0);
  }

  // Set: a sampled component, which has ticks and no continuous states.
  virtual std::optional<Sampling> sampling() const { return {}; }
  // Outputs of a sampled component until its first ones appear.
  virtual void start_outputs(std::span<double> y) const { std::fill(y.begin(), y.end(), 0.0); }
  // Whether output() reads u. If not, u is NaN there.
  virtual bool feeds_through() const { return true; }

  // Outputs of a continuous component, at every evaluation.
  virtual void output(const Context& context, std::span<double> y) const;
  // Rates of its continuous states, at every evaluation.
  virtual void rate(const Context& context, std::span<double> dx) const;
  // Memory after a tick, and the outputs that it gives. `m` is a copy of context.m on entry.
  virtual void tick(const Context& context, std::span<double> m, std::span<double> y) const;

  // Functions of time and state that it uses besides its inputs: between two events they are smooth
  // (signal.h).
  virtual std::span<Signal> signals() { return {}; }

 private:
  std::string name_;
  std::vector<InputPort> inputs_;
  std::vector<OutputPort> outputs_;
};

inline void Component::output(const Context&, std::span<double> y) const {
  std::fill(y.begin(), y.end(), 0.0);
}
inline void Component::rate(const Context&, std::span<double> dx) const {
  std::fill(dx.begin(), dx.end(), 0.0);
}
inline void Component::tick(const Context&, std::span<double>, std::span<double> y) const {
  std::fill(y.begin(), y.end(), 0.0);
}

}  // namespace catena
