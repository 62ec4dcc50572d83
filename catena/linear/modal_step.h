// SPDX-License-Identifier: BSD-3-Clause
// Features of step responses with far more oscillations than a time grid can hold: y(t) is a sum of
// exponentials, evaluated where it is needed. Not installed.
#pragma once

#include <vector>

#include "catena/linear/timeresp.h"

namespace catena {

// y(t) = steady + Σ amplitude_k exp(rate_k t) of one output to a step at one input. Of a sampled
// system t counts samples and exp(rate_k) is the pole.
struct ModalStep {
  double steady = 0.0;
  std::vector<std::complex<double>> amplitude{}, rate{};
  double delay = 0.0;  // s, added to the times
  double dt = 0.0;     // s of a sampled system; 0: continuous
};

// The responses of a stable system, one entry for each output and input by columns; nothing if the
// eigenvectors are too ill-conditioned (1e8) for eight digits.
std::vector<ModalStep> modal_steps(const StateSpace& system);

// The peak, rise and settling times are exact. The search forward for the peak ends where the
// envelope Σ |amplitude_k| exp(Re rate_k t) can no longer exceed it; that for the settling time
// goes backward from where the envelope enters the band. If either needs more than 2e6 samples, its
// result is NaN.
StepInfo modal_stepinfo(const ModalStep& response, const StepInfoSettings& settings);

}  // namespace catena
