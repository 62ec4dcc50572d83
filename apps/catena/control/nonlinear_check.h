// SPDX-License-Identifier: BSD-3-Clause
// A linear controller on the nonlinear mechanism near its operating point: poles measured on the
// simulated motion, responses beside those of the linear loop.
//
// The poles are those of the transition matrix Φ(T) of the simulated loop, found by central
// differences in every state of mechanism and controller: λ = log(eigenvalue)/T. Nothing of the
// linear model enters, except the names of the states, the time T and the size of the deviations.
// Γ(T), the states after a constant disturbance, and the outputs at the end of all these runs,
// C Φ x and (C Γ + D) d, complete a measured linear loop, whose norm is beside the predicted one.
#pragma once

#include "apps/catena/control/plant.h"

namespace catena::app {

struct NonlinearLoop {
  const Plant* plant = nullptr;  // from a mechanism
  StateSpace controller;         // the plant's signals, in its order
  double deviation = 1e-4;       // of the states, for differences
  // How the controller runs; poles are measured without the delay and within the limits.
  double delay = 0.0;                // s, of a sampled controller
  Eigen::VectorXd lower{}, upper{};  // of the efforts, in the order of the plant's inputs
};

// By modulus. Continuous poles, also of a sampled controller.
Eigen::VectorXcd measured_poles(const NonlinearLoop& loop);
// The loop from disturbances at the plant's inputs to its outputs, from runs alone; continuous, or
// sampled as the controller is.
StateSpace measured_loop(const NonlinearLoop& loop);
// The largest real part of the measured poles.
double measured_abscissa(const NonlinearLoop& loop);
// The linear loop with u = K y.
StateSpace closed_by_positive(const StateSpace& plant, const StateSpace& controller);
// Poles of the linear loop, as continuous ones.
Eigen::VectorXcd predicted_poles(const StateSpace& plant, const StateSpace& controller);

struct ResponseComparison {
  Eigen::VectorXd t;
  Eigen::MatrixXd linear, nonlinear;  // outputs × times, deviations
  double difference = 0.0;            // largest, relative to the largest linear value
};
// A step of this size (N, N m) at an input, added to the controller's effort.
ResponseComparison compare_step(const NonlinearLoop& loop, int input, double size,
                                const Eigen::VectorXd& t);
// The loop from a state far from the operating point, with limits and delay.
struct LargeRun {
  double duration = 0.0;
  double start = 0.0, end = 0.0;  // largest deviation of an output at the start, at the end
  double largest = 0.0;           // and over the run
  Eigen::VectorXd effort{};       // largest modulus at each input, u0 included
  double limited = 0.0;           // part of the time in which an effort is at its limit
};
LargeRun run_from(const NonlinearLoop& loop, const State& start, double duration);

// The size of a step that moves the outputs by about this much (rad, m) in the linear loop.
double step_size(const NonlinearLoop& loop, int input, double motion, const Eigen::VectorXd& t);
// Times for the step responses of the loop.
Eigen::VectorXd comparison_times(const Plant& plant, const StateSpace& controller);

}  // namespace catena::app
