// SPDX-License-Identifier: BSD-3-Clause
// Sums the applied forces of a simulation: efforts of components (inputs, controllers, and those
// that users add), prescribed motions, and wrenches on bodies. Passive elements of the mechanism
// (springs, damping) are part of its dynamics and not found here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "catena/simulation/actions.h"
#include "catena/simulation/freedom_index.h"
#include "catena/simulation/signals/signal_set.h"
#include "catena/simulation/system/sampling.h"
#include "catena/simulation/system/wiring.h"

namespace catena {

// Efforts and outputs of the components at an instant.
struct ComponentEfforts {
  Eigen::VectorXd total{};        // by freedom, after limits
  std::vector<double> own{};      // of each effort of the wiring, after limits
  std::vector<double> outputs{};  // of all components
  std::vector<double> rate{};     // of their continuous states
};

class AppliedForces {
 public:
  // The mechanism must outlive it.
  AppliedForces(const Mechanism& mechanism, const ActionSettings& actions);
  AppliedForces(const AppliedForces&) = delete;
  AppliedForces& operator=(const AppliedForces&) = delete;

  // ---- Components. ----
  const Wiring& wiring() const { return wiring_; }
  SampledComponents& sampled() { return sampled_; }
  const SampledComponents& sampled() const { return sampled_; }
  // Continuous states of all components, one after the other, and their initial values.
  int states() const { return static_cast<int>(wiring_.states()); }
  void start(std::span<double> x) { sampled_.start(x); }
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
  Wiring wiring_;
  SampledComponents sampled_;
  std::vector<Motion> motions_;
  std::vector<std::uint8_t> prescribed_;
  std::vector<ExternalWrench> external_;
  bool limit_efforts_ = false;
};

}  // namespace catena
