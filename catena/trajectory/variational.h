// SPDX-License-Identifier: BSD-3-Clause
// The matrix of the variational equations: rates of small deviations (tangent directions and
// velocities of the independent freedoms) along a motion.
#pragma once

#include <Eigen/Core>

#include "catena/sensitivity/kernels/kinematic_block.h"
#include "catena/sensitivity/workspace.h"
#include "catena/trajectory/layout.h"

namespace catena {

// A of the variational equations: rates of (ξ; δv) of the independent freedoms.
inline Eigen::MatrixXd system_matrix(const Mechanism& m, const State& state,
                                     const Eigen::MatrixXd& dq, const Eigen::MatrixXd& dv,
                                     const SensitivityWorkspace& w) {
  const Eigen::Index n = dq.rows();
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  const Eigen::MatrixXd k = kinematic_block(m, state.v);
  const std::vector<int>& own = w.dynamics().independent();
  if (m.loops().empty())
    a.topLeftCorner(n, n) = k;
  else
    a.topLeftCorner(n, n) = (k * w.tangent.map)(own, Eigen::all);
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = dq;
  a.bottomRightCorner(n, n) = dv;
  return a;
}

}  // namespace catena
