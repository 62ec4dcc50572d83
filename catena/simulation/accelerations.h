// SPDX-License-Identifier: BSD-3-Clause
// Accelerations from the applied forces: by hybrid dynamics of the tree and its embedded loops, or
// by the Lagrange multipliers of a set of constraints (constrained_accelerations.h).
//
// Freedoms that stick, rest at a stop or have a prescribed motion are motion-driven: their
// acceleration is given, and the efforts that hold or drive them are found.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "catena/dynamics/forward.h"
#include "catena/dynamics/impulses.h"
#include "catena/simulation/evaluation.h"
#include "catena/simulation/nonsmooth/freedom_mode.h"

namespace catena {

// The motion-driven freedoms, and the reason of each.
struct Held {
  std::span<const FreedomMode> modes;
  std::span<const std::uint8_t> prescribed;
};

class Accelerations {
 public:
  virtual ~Accelerations() = default;

  // Finds accelerations, efforts of prescribed motions (added to `effort`), and those that hold
  // freedoms (`reaction`, and `friction` of those that stick), from the efforts and accelerations
  // in `input`. `ahead`: the time of `at` after the wanted instant, where that is interpolated
  // (singular_passage.h).
  virtual void solve(const Instant& at, double ahead, const HybridInput& input, const Held& held,
                     std::span<const ExternalWrench> external, Evaluation& found) = 0;
  // Velocities after the impulse that brings the locked freedoms to their targets; all other
  // constraints hold.
  virtual ImpulseResult impulse(const State& state, const ImpulseInput& input) = 0;
  // The independent freedoms of the loops.
  virtual void set_chart(const Chart&) {}
};

// Forward or hybrid dynamics, with the maps of loops that the instant has. Nothing is allocated in
// solve() of a tree.
class HybridAccelerations final : public Accelerations {
 public:
  explicit HybridAccelerations(const Mechanism& mechanism);
  void solve(const Instant& at, double ahead, const HybridInput& input, const Held& held,
             std::span<const ExternalWrench> external, Evaluation& found) override;
  ImpulseResult impulse(const State& state, const ImpulseInput& input) override;
  void set_chart(const Chart& chart) override { workspace_.set_chart(chart); }

 private:
  const Mechanism& mechanism_;
  Workspace workspace_;
  HybridResult result_;
};

}  // namespace catena
