// SPDX-License-Identifier: BSD-3-Clause
// A linear controller on the nonlinear mechanism near its operating point: poles and norms measured
// on the simulated motion, responses beside those of the linear loop.
//
// The poles are those of the transition matrix Φ(T) of the simulated loop, found by central
// differences in every state of mechanism and controller: λ = log(eigenvalue)/T. Nothing of the
// linear model enters, except the names of the states, the time T and the size of the deviations.
// Γ(T), the states after a constant disturbance, and the outputs at the end of all these runs,
// C Φ x and (C Γ + D) d, complete a measured linear loop, whose norm is beside the predicted one.
// A sampled controller with a computation delay up to its period has one more state for each
// output: the effort that is held until the first new one appears.
//
//   const NonlinearLoop loop = nonlinear_loop(robot, linearize(robot, point, ports),
//                                             load_controller("K.yaml"));
//   measured_poles(loop), predicted_poles(loop)
//
// Cost: two short simulations for every state and every input.
#pragma once

#include "catena/components/linear_controller.h"
#include "catena/sensitivity/linearize.h"

namespace catena {

struct NonlinearLoop {
  const Mechanism* mechanism = nullptr;  // must outlive the loop
  LinearModel model{};                   // about an equilibrium
  StateSpace plant{};                    // state_space(model)
  StateSpace controller{};               // u = K y: the plant's signals in its order
  double delay = 0.0;                    // s, computation time of a sampled controller
  Eigen::VectorXd lower{}, upper{};  // limits of the efforts, in the order of the plant's inputs
  double deviation = 1e-4;           // of the states, for differences (rad, m)
};

// Fits the controller to the plant by the names of its signals. Its operating effort becomes that
// of the model.
NonlinearLoop nonlinear_loop(const Mechanism& mechanism, const LinearModel& model,
                             const LinearControllerSettings& controller);

// The controller with the plant's outputs as inputs and its inputs as outputs, in their order;
// "effort.NAME" and "q.NAME" may be called NAME. Throws Error or NameError if they do not fit.
StateSpace fitted(const StateSpace& plant, const StateSpace& controller);

// The linear loop from disturbances at the plant's inputs to its outputs, u = K y + d; sampled as
// the controller is, the computation delay exactly.
StateSpace predicted_loop(const NonlinearLoop& loop);
// The plant as the controller sees it: sampled by a zero-order hold, with the computation delay.
StateSpace seen_plant(const NonlinearLoop& loop);
// Its poles as continuous ones.
Eigen::VectorXcd predicted_poles(const NonlinearLoop& loop);

// By modulus. Continuous poles, also of a sampled controller. A delay longer than the period is
// left out (delay_is_measured). `time`: T of a continuous one; 0: one over the fastest pole.
Eigen::VectorXcd measured_poles(const NonlinearLoop& loop, double time = 0.0);
StateSpace measured_loop(const NonlinearLoop& loop);
bool delay_is_measured(const NonlinearLoop& loop);

struct ResponseComparison {
  Eigen::VectorXd t;
  Eigen::MatrixXd linear, nonlinear;  // outputs × times, deviations
  double difference = 0.0;            // largest, relative to the largest linear value
};
// A step of this size (N, N m) at an input, added to the controller's effort.
ResponseComparison compare_step(const NonlinearLoop& loop, int input, double size,
                                const Eigen::VectorXd& t);
// The size of a step that moves the outputs by about this much (rad, m) in the linear loop.
double step_size(const NonlinearLoop& loop, int input, double motion, const Eigen::VectorXd& t);
// Times for the step responses of the loop: until the linear one has settled, but not so long that
// the fastest pole would cost millions of steps.
Eigen::VectorXd comparison_times(const NonlinearLoop& loop);
double settling_time(const NonlinearLoop& loop);  // s, of the linear loop

// The loop from a state far from the operating point, with limits and delay.
struct LargeRun {
  double duration = 0.0;
  double start = 0.0, end = 0.0;  // largest deviation of an output at the start, at the end
  double largest = 0.0;           // and over the run
  Eigen::VectorXd effort{};       // largest modulus at each input, u0 included
  double limited = 0.0;           // part of the time in which an effort is at its limit
};
LargeRun run_from(const NonlinearLoop& loop, const State& start, double duration);

}  // namespace catena
