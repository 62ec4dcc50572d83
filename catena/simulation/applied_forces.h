// What acts on a mechanism besides its own passive elements: efforts of components (inputs,
// controllers, and those that users add), prescribed motions, and wrenches on bodies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/simulation/actions.h"
#include "catena/simulation/component.h"
#include "catena/simulation/freedom_index.h"
#include "catena/simulation/signals/signal_set.h"

namespace catena {

// What the components do at an instant.
struct ComponentEfforts {
  Eigen::VectorXd total{};     // by freedom, after limits
  std::vector<double> own{};   // of each component at each of its freedoms, after limits
  std::vector<double> rate{};  // of their states
};

class AppliedForces {
 public:
  // The mechanism must outlive it.
  AppliedForces(const Mechanism& mechanism, const ActionSettings& actions);

  // ---- Components. ----
  int components() const { return static_cast<int>(components_.size()); }
  const Component& component(int k) const { return *components_[static_cast<std::size_t>(k)]; }
  // States of all components, one after the other, and what they are at the start.
  int states() const { return states_; }
  void start(std::span<double> x) const;
  void at(const Instant& instant, std::span<const double> x, ComponentEfforts& efforts) const;
  // Of a component at an instant with these efforts, W.
  double power(int component, const ComponentEfforts& efforts, const Eigen::VectorXd& v) const;

  // ---- Prescribed motions: the coordinate, or the velocity, of a freedom as a function of time.
  // ----
  struct Motion {
    int freedom;
    bool has_coordinate;  // if not, the signal is the velocity
    std::string name;
    Signal signal;
    struct Value {
      double position = 0.0, velocity = 0.0, acceleration = 0.0;
    };
    Value at(double t) const;
  };
  const std::vector<Motion>& motions() const { return motions_; }
  const std::vector<std::uint8_t>& prescribed() const { return prescribed_; }  // by freedom
  bool is_prescribed(int freedom) const {
    return prescribed_[static_cast<std::size_t>(freedom)] != 0;
  }

  const std::vector<ExternalWrench>& external() const { return external_; }

  // Adds all signals.
  void add_signals(SignalSet& signals);

 private:
  void limit(ComponentEfforts& efforts) const;
  void refuse_both() const;

  const Mechanism* mechanism_;
  std::vector<std::unique_ptr<Component>> components_;
  std::vector<std::size_t> first_effort_;  // of each component, in ComponentEfforts::own
  std::vector<std::size_t> first_state_;
  std::size_t efforts_ = 0;
  int states_ = 0;
  std::vector<Motion> motions_;
  std::vector<std::uint8_t> prescribed_;
  std::vector<ExternalWrench> external_;
  bool limit_efforts_ = false;
};

}  // namespace catena
