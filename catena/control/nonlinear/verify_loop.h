// SPDX-License-Identifier: BSD-3-Clause
// Every claim of a linear design beside the nonlinear mechanism: poles, step responses, H-infinity
// norm, gain and delay margins. Margins are measured as the change of the controller at which a
// measured pole reaches the stability boundary.
//
//   const LoopVerification v = verify(nonlinear_loop(robot, model, controller));
//   v.passed, v.claims[0].name, v.claims[0].linear, v.claims[0].nonlinear
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/control/nonlinear/nonlinear_loop.h"

namespace catena {

struct LoopClaim {
  std::string name{}, unit{};
  double linear = 0.0, nonlinear = 0.0;
  double difference = 0.0;  // relative
  bool passed = true;
};

struct VerifySettings {
  double motion = 1e-3;     // how far the steps move the outputs, rad or m
  double tolerance = 0.01;  // greatest relative difference
  bool margins = true;
};

struct LoopVerification {
  bool stable = false;  // the linear loop; if not, only its poles are compared
  bool passed = false;  // stable, and all claims hold
  std::vector<LoopClaim> claims{};
};
LoopVerification verify(const NonlinearLoop& loop, const VerifySettings& settings = {});

// The fixed controller with the linear models at the states of a motion.
struct LoopAt {
  double time = 0.0;
  State state;
  Eigen::VectorXd effort;
};
struct AlongMotion {
  int points = 0, unstable = 0;
  // The slowest pole, the largest gain from efforts to outputs and the least disk margin of all
  // points, and when.
  double abscissa = 0.0, abscissa_time = 0.0;
  double norm = 0.0, norm_time = 0.0;
  double disk = 0.0, disk_time = 0.0;
  // The slowest pole on the nonlinear mechanism in the state of `abscissa_time`.
  double measured_abscissa = 0.0;
};
AlongMotion verify_along(const NonlinearLoop& loop, std::span<const LoopAt> points);

}  // namespace catena
