// SPDX-License-Identifier: BSD-3-Clause
// Time responses, exact at the samples: step, impulse, initial state, any input; features of a step
// response; root locus.
//
//   const TimeResponse r = step(closed);
//   const StepInfo info = stepinfo(closed)(0, 0);            // of output 0 to input 0
//   const TimeResponse y = lsim(plant, u, t, {.hold = InputHold::foh});
//
// Between samples the input is constant (zoh) or linear (foh), and the state is propagated by
// matrix exponentials, so that the samples carry no integration error. Delays are exact, whether
// multiples of the sample spacing or not.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "catena/linear/state_space.h"

namespace catena {

enum class InputHold { zoh, foh };

struct TimeResponse {
  Eigen::VectorXd t;               // s
  std::vector<Eigen::MatrixXd> y;  // for each input (lsim, initial: one) outputs × samples
  std::vector<std::string> inputs, outputs;
  // Of output i to input j.
  Eigen::VectorXd entry(int output, int input) const {
    return y[static_cast<std::size_t>(input)].row(output).transpose();
  }
};

// Times for a response: uniform, long enough for the slowest stable pole to settle, fine enough for
// the fastest that matters; of a sampled system its own samples. With `until` exactly that long.
// At most 20,000 intervals (200,000 with `until`): a lightly damped mode is shown for a part of its
// decay rather than with samples that miss its oscillation.
Eigen::VectorXd time_grid(const StateSpace& system, double until = 0.0);

// The times must be uniform and begin at 0; of a sampled system they are its samples. Empty:
// time_grid().
TimeResponse step(const StateSpace& system, const Eigen::VectorXd& t = {});
// The impulse of a direct feedthrough D δ(t) is not shown (of a sampled system it is).
TimeResponse impulse(const StateSpace& system, const Eigen::VectorXd& t = {});
TimeResponse initial(const StateSpace& system, const Eigen::VectorXd& x0,
                     const Eigen::VectorXd& t = {});

struct LsimSettings {
  InputHold hold = InputHold::foh;
  Eigen::VectorXd x0{};  // empty: zero
};
// u: inputs × samples. Before t = 0 the input is zero.
TimeResponse lsim(const StateSpace& system, const Eigen::MatrixXd& u, const Eigen::VectorXd& t,
                  const LsimSettings& settings = {});

// Features of a step response. Times are counted from the step; crossings are found between samples
// by cubic interpolation with exact slopes, or, where the grid would miss oscillations (damping
// below about 1e-3), from the sum of exponentials itself.
struct StepInfo {
  double steady_state = 0.0;
  double rise_time = 0.0;      // from 10 % to 90 % of the steady state; NaN if it is not reached
  double settling_time = 0.0;  // from then on within 2 % of the steady state; NaN if never
  double overshoot = 0.0;      // %, beyond the steady state
  double undershoot = 0.0;     // %, in the opposite direction
  double peak = 0.0;           // largest |y|
  double peak_time = 0.0;
  bool stable = true;  // false: features of a growing response have no meaning
};
struct StepInfoSettings {
  double settling_band = 0.02;
  double rise_from = 0.1, rise_to = 0.9;
};
// One entry for each output and input.
struct StepInfoTable {
  int outputs = 0, inputs = 0;
  std::vector<StepInfo> entries;  // by columns
  const StepInfo& operator()(int output, int input) const {
    return entries[static_cast<std::size_t>(output + input * outputs)];
  }
};
StepInfoTable stepinfo(const StateSpace& system, const StepInfoSettings& settings = {});
// Of samples (measured, or of a nonlinear simulation) with a known steady state; slopes by
// differences.
StepInfo stepinfo(const Eigen::VectorXd& t, const Eigen::VectorXd& y, double steady_state,
                  const StepInfoSettings& settings = {});

// Poles of the loop y = k G (r − y) of a SISO system as k grows: curves that are continuous in k.
struct RootLocus {
  Eigen::VectorXd gains;
  Eigen::MatrixXcd poles;  // one row for each curve, one column for each gain
  Eigen::VectorXcd open_poles, zeros;
};
// Gains empty: from 0 up, spaced so that no pole moves far between two.
RootLocus rlocus(const StateSpace& system, const Eigen::VectorXd& gains = {});

}  // namespace catena
