// Component: something that acts on a mechanism and may have states of its own, integrated together
// with the motion: an actuator with a time constant, a controller with memory, a sensor's filter.
//
//   x        its own states, a part of the vector y that the integrator sees
//   effort   N or N m, one for each of the freedoms it acts at
//   ẋ        rates of its own states
//
// act() is a function of time, state and x: it keeps nothing between calls. Its work is booked
// under its name in the audit (`work.NAME`), its states are kept by checkpoints and watched by
// error control. Jumps of its signals are found as events.
//
//   struct Lag final : Component {                              // a motor that follows with a lag
//     Lag() : Component("motor elbow", {elbow}) {}
//     int states() const override { return 1; }
//     void act(const Instant& at, std::span<const double> x, std::span<double> effort,
//              std::span<double> rate) const override {
//       effort[0] = x[0];
//       rate[0] = (wanted(at.time) - x[0]) / time_constant;
//     }
//   };
//   settings.actions.components.push_back([](const Mechanism&) { return std::make_unique<Lag>();
//   });
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catena/simulation/coordinates/instant.h"
#include "catena/simulation/signals/signal.h"

namespace catena {

class Component {
 public:
  // `freedoms` at which it acts, v indices; the name must be its own.
  Component(std::string name, std::vector<int> freedoms)
      : name_(std::move(name)), freedoms_(std::move(freedoms)) {}
  virtual ~Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;

  const std::string& name() const { return name_; }
  std::span<const int> freedoms() const { return freedoms_; }

  // Its own states: how many, what they are called, and what they are at the start.
  virtual int states() const { return 0; }
  virtual std::string state_name(int i) const { return name_ + "." + std::to_string(i); }
  virtual void start(std::span<double> x) const { std::fill(x.begin(), x.end(), 0.0); }

  // Efforts, in the order of freedoms(), and rates of its states.
  virtual void act(const Instant& at, std::span<const double> x, std::span<double> effort,
                   std::span<double> rate) const = 0;

  // Functions of time and state that it uses: between two events they are smooth (signal.h).
  virtual std::span<Signal> signals() { return {}; }

 private:
  std::string name_;
  std::vector<int> freedoms_;
};

}  // namespace catena
