// SPDX-License-Identifier: BSD-3-Clause
// Dry friction at the freedoms of a mechanism: which law acts where, and its force.
//
// The set-valued law has modes (freedom_mode.h): a freedom sticks, held by what is needed up to the
// breakaway level, or slides against a level that depends on its speed (Stribeck). The regularized
// law (model/friction.h) is a function of the velocity alone. It acts where the user
// asks for it, at freedoms with a prescribed motion, and in loops with more frictional hinges than
// independent freedoms: what holds each of them at rest is not determined there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "catena/io/runs/run_file.h"
#include "catena/simulation/actions.h"
#include "catena/simulation/nonsmooth/freedom_mode.h"

namespace catena {

struct Chart;

class JointFriction {
 public:
  // `chart`: the independent freedoms of loops, null: not known (multipliers).
  JointFriction(const Mechanism& mechanism, FrictionLaw law,
                std::span<const std::uint8_t> prescribed, const Chart* chart);

  bool acts_at(int freedom) const { return rubs_[static_cast<std::size_t>(freedom)] != 0; }
  bool has_modes(int freedom) const { return has_modes_[static_cast<std::size_t>(freedom)] != 0; }
  // The force at a freedom that is not held.
  double force(int freedom, double v, const FreedomMode& mode) const;
  // Every freedom with modes sticks.
  std::vector<FreedomMode> first_modes() const;
  // What the user should know before the motion begins, as events at its start.
  const std::vector<RunEvent>& notes() const { return notes_; }

 private:
  void smooth_loops(const Chart* chart);

  const Mechanism* mechanism_;
  std::vector<std::uint8_t> rubs_;       // by freedom: has friction
  std::vector<std::uint8_t> has_modes_;  // and by the set-valued law
  std::vector<RunEvent> notes_;
};

}  // namespace catena
