// SPDX-License-Identifier: BSD-3-Clause
// The generalized plant of H2 and H-infinity design: exogenous inputs w and controls u, performance
// outputs z and measurements y,
//
//   [z; y] = P [w; u],   u = K y,   closed loop F(P, K) = P11 + P12 K (1 − P22 K)⁻¹ P21
//
// The controls are the last inputs, the measurements the last outputs.
//
//   const GeneralizedPlant p{system, .measurements = 1, .controls = 1};
//   const HinfResult r = hinfsyn(p);
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

struct GeneralizedPlant {
  StateSpace system{};
  int measurements = 1;
  int controls = 1;

  int disturbances() const { return system.input_count() - controls; }
  int performances() const { return system.output_count() - measurements; }
  // Throws Error naming what does not fit.
  void validate() const;

  Eigen::MatrixXd B1() const { return system.B.leftCols(disturbances()); }
  Eigen::MatrixXd B2() const { return system.B.rightCols(controls); }
  Eigen::MatrixXd C1() const { return system.C.topRows(performances()); }
  Eigen::MatrixXd C2() const { return system.C.bottomRows(measurements); }
  Eigen::MatrixXd D11() const { return system.D.topLeftCorner(performances(), disturbances()); }
  Eigen::MatrixXd D12() const { return system.D.topRightCorner(performances(), controls); }
  Eigen::MatrixXd D21() const { return system.D.bottomLeftCorner(measurements, disturbances()); }
  Eigen::MatrixXd D22() const { return system.D.bottomRightCorner(measurements, controls); }
};

// F(P, K), with the plant's names.
StateSpace closed_loop(const GeneralizedPlant& plant, const StateSpace& controller);

}  // namespace catena
