// SPDX-License-Identifier: BSD-3-Clause
// Accelerations by multipliers: loops that are not embedded, constraints that are switched
// (constraints/constraint_set.h), and freedoms that are held or driven as locks among them.
#pragma once

#include <vector>

#include "catena/constraints/constraint_set.h"
#include "catena/simulation/accelerations.h"

namespace catena {

class ConstrainedAccelerations final : public Accelerations {
 public:
  ConstrainedAccelerations(const Mechanism& mechanism, const ActionSettings& actions,
                           const AppliedForces& forces);

  ConstraintSet& set() { return set_; }
  const ConstraintSet& set() const { return set_; }
  void add_signals(SignalSet& signals);
  // Sets servos and locks of prescribed motions to their targets at t. A lock that is not active
  // yet is activated at this state.
  void set_targets(double t, const State& state);

  void solve(const Instant& at, double ahead, const HybridInput& input, const Held& held,
             std::span<const ExternalWrench> external, Evaluation& found) override;
  ImpulseResult impulse(const State& state, const ImpulseInput& input) override;

  // The lock of a freedom that may be held, driven or damped; −1: there is none.
  int lock_of_freedom(int freedom) const {
    return lock_of_freedom_[static_cast<std::size_t>(freedom)];
  }
  // Locks of freedoms that stick, rest against a stop or have a prescribed motion.
  void hold_freedoms(const State& state, const Held& held);
  // Actions of contacts, and powers of contacts and servos. Directly after solve(), or after
  // multipliers were interpolated.
  void measure(Evaluation& found);

 private:
  struct Servo {
    int constraint;
    std::string name;
    std::vector<Signal> motions;
  };

  const Mechanism& mechanism_;
  const AppliedForces& forces_;
  ConstraintSet set_;
  std::vector<Servo> servos_;
  std::vector<int> lock_of_freedom_;  // in set_, −1: none
};

// Whether a simulation with these actions integrates all coordinates and uses multipliers.
bool uses_multipliers(const Mechanism& mechanism, const ActionSettings& actions);

}  // namespace catena
