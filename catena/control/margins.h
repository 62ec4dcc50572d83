// SPDX-License-Identifier: BSD-3-Clause
// Stability margins of a feedback loop 1 + L = 0 (negative feedback), all crossovers, by
// eigenvalues and not on a grid.
//
//   gain margins   at every ω where L(jω) is real and negative: zeros of L(s) − L(−s) on the axis
//   phase margins  at every ω where |L(jω)| = 1: zeros of 1 − L(−s) L(s) on the axis
//   delay margin   least phase margin (as a positive angle) over its frequency
//   disk margin    gain and phase changed together: α = 1/‖S + (skew − 1)/2‖∞ [Seiler, Packard &
//                  Gahinet 2020]
//   ncfmargin      b(P, C) = 1/‖[1; C](1 + P C)⁻¹[1 P]‖∞, tolerance of coprime-factor uncertainty
//
//   const Margins m = margin(series(controller, plant));
//   const DiskMargin d = diskmargin(loop);
#pragma once

#include <vector>

#include "catena/control/norms.h"
#include "catena/linear/state_space.h"

namespace catena {

struct GainCrossing {  // phase crossover
  double frequency = 0.0;
  double gain_margin = 0.0;  // factor on L that brings the loop to its limit, −1/L
};
struct PhaseCrossing {  // gain crossover
  double frequency = 0.0;
  double phase_margin = 0.0;  // rad in (−π, π]: lag (positive) or lead (negative) to the limit
  double delay_margin = 0.0;  // s; the lag in [0, 2π) over the frequency
};
struct Margins {
  bool stable = false;                 // the closed loop
  std::vector<GainCrossing> gain{};    // by frequency
  std::vector<PhaseCrossing> phase{};  // by frequency
  // The tightest: smallest factor above one, largest below one (0: none), least |phase|, least
  // delay.
  double gain_margin_up = 0.0, gain_margin_down = 0.0;
  double phase_margin = 0.0, delay_margin = 0.0;
};
// Of a loop with one input and one output.
Margins margin(const StateSpace& loop);
// Of a square loop with several channels: each opened alone, the others closed.
std::vector<Margins> margin_loop_at_a_time(const StateSpace& loop);

struct DiskMargin {
  double alpha = 0.0;                     // 0: unstable
  double frequency = 0.0;                 // where the loop is nearest to instability
  double gain_down = 0.0, gain_up = 0.0;  // guaranteed factors; up may be infinite
  double phase = 0.0;                     // guaranteed, rad
  PeakGain peak{};
};
// All channels changed at once by full-block uncertainty (for one channel: exact). skew 0 is
// balanced (S − T), 1 is S, −1 is T.
DiskMargin diskmargin(const StateSpace& loop, double skew = 0.0);
std::vector<DiskMargin> diskmargin_loop_at_a_time(const StateSpace& loop, double skew = 0.0);

struct NcfMargin {
  double value = 0.0;  // in [0, 1]; 0: unstable
  double frequency = 0.0;
  PeakGain peak{};
};
NcfMargin ncfmargin(const StateSpace& plant, const StateSpace& controller);

}  // namespace catena
