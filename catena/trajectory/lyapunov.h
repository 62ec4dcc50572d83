// SPDX-License-Identifier: BSD-3-Clause
// Lyapunov exponents of a motion with constant efforts: growth rates of small deviations, largest
// first, by Gram-Schmidt (QR) along the variational equations, Runge-Kutta 4 on both ([Benettin
// et al. 1980]). A positive one means chaos.
//
//   const LyapunovExponents l = lyapunov_exponents(robot, state, effort, {.duration = 100.0});
//   l.exponents[0]                                                // 1/s, the largest
#pragma once

#include <functional>

#include <Eigen/Core>

#include "catena/model/mechanism.h"

namespace catena {

struct LyapunovSettings {
  double duration = 100.0;
  double step = 1e-3;
  double settle = 0.0;     // time before the averages begin
  int orthogonalize = 10;  // steps between factorizations
  int exponents = 0;       // how many; 0: all. More than there are states: NumericalError
  // Called after each step with the time; false: stop, with a NumericalError.
  std::function<bool(double t)> progress = {};
};
struct LyapunovExponents {
  Eigen::VectorXd exponents;  // 1/s, largest first
  // Half the difference between those of the two halves of the motion: a measure of convergence.
  Eigen::VectorXd spread;
  State final_state;
};
LyapunovExponents lyapunov_exponents(const Mechanism& mechanism, const State& initial,
                                     const Eigen::VectorXd& effort,
                                     const LyapunovSettings& settings = {});

}  // namespace catena
