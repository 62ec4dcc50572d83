// SPDX-License-Identifier: BSD-3-Clause
// Simulations of a nonlinear loop. Not installed.
#pragma once

#include "catena/control/nonlinear/nonlinear_loop.h"

namespace catena {

// States of mechanism and controller (and the efforts held while it computes), the plant's outputs
// after the time T, and its outputs at the start; from a deviation of the states and with constant
// disturbances at the inputs.
Eigen::VectorXd loop_after(const NonlinearLoop& loop, const Eigen::VectorXd& deviation,
                           const Eigen::VectorXd& disturbance, double T);

// The outputs (rows) at the times t with a step at an input; t is evenly spaced.
Eigen::MatrixXd loop_step(const NonlinearLoop& loop, int input, double size,
                          const Eigen::VectorXd& t);

}  // namespace catena
