// SPDX-License-Identifier: BSD-3-Clause
// The signals of a simulation, for all their users, with their jumps: the present side of each, and
// the next corner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "catena/simulation/signals/signal.h"

namespace catena {

class SignalSet {
 public:
  // The signal must outlive the set.
  void add(Signal& signal, std::string name);

  // Signals that are not constant.
  std::vector<const Signal*> varying() const;

  // Jumps of all signals, one after the other.
  int switches() const { return switches_; }
  void switch_arguments(double t, const State& state, std::span<double> arguments) const;
  // The signal of a jump.
  const std::string& switch_name(int k) const;
  std::vector<std::uint8_t> switch_sides() const;
  void set_switch_sides(std::span<const std::uint8_t> sides);

  // Takes the sides that hold at t and just after it.
  void start(double t, const State& state);
  double next_corner() const;
  // Whether one of them is not continuous at that corner.
  bool jumps_at(double corner) const;

 private:
  struct Named {
    Signal* signal;
    std::string name;
  };
  std::vector<Named> signals_;
  int switches_ = 0;
};

}  // namespace catena
