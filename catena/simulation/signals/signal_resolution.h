// SPDX-License-Identifier: BSD-3-Clause
// SignalResolution: the largest step in which an integrator does not miss a feature of a signal.
// Error control sees a signal only at the stages of a step, so a short pulse between two stages
// goes unnoticed. Here every signal is sampled ahead of a step on a fine grid. The step may be as
// long as a polynomial through nine of the samples predicts the others, and as no switch of an
// expression changes sides twice.
//
//   SignalResolution resolution(signals, 0.01, 1e-8);
//   const double limit = resolution.step_end(t, proposed_step, end, state);  // step to it at most
//
// The sampling interval is a quarter of `interval`: shorter features can still be missed. Signals
// are sampled with the state as it is now; changes by the state are left to error control. Cost:
// four evaluations of each signal in an interval, up to four times as many where steps are
// restricted.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "catena/simulation/signals/signal_set.h"

namespace catena {

class SignalResolution {
 public:
  // The signals must outlive it. Steps are never restricted to less than `interval` (s). A signal
  // is predicted if no sample is missed by more than `tolerance` of the largest.
  SignalResolution(const SignalSet& signals, double interval, double tolerance);

  // `limit`, or if a step from t of the proposed length would miss something the end of one that
  // does not.
  double step_end(double t, double proposed, double limit, const State& state);
  // Restart with the integrator: later limits do not depend on earlier steps.
  void restart() { allowed_ = std::numeric_limits<double>::infinity(); }

 private:
  bool resolved(const Signal& signal, double from, double to, int count, const State& state);
  bool switches_once(const Signal& signal, double from, double to, int count, const State& state);

  double interval_, tolerance_;
  double allowed_ = std::numeric_limits<double>::infinity();  // length of the last step
  std::vector<const Signal*> signals_;                        // those that vary
  std::vector<double> values_, arguments_, last_;
  std::vector<int> changes_;
};

// Whether the polynomial through five or nine of these equidistant values predicts the others.
bool is_resolved(std::span<const double> values, double tolerance);

}  // namespace catena
