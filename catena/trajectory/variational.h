// The matrix of the variational equations: rates of small deviations (tangent directions and
// velocities of the independent freedoms) along a motion.
#pragma once

#include <Eigen/Core>

#include "catena/sensitivity/workspace.h"
#include "catena/trajectory/layout.h"

namespace catena {

// −[v, ·] of the hinges whose coordinates are quaternions.
inline Eigen::MatrixXd kinematic_block(const Mechanism& m, const Eigen::VectorXd& v) {
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(m.freedoms(), m.freedoms());
  for (const Node& node : m.nodes()) {
    if (!by_quaternion(node)) continue;
    Twistd speed = Twistd::zero();
    for (int i = 0; i < node.freedoms; ++i) speed[i] = v[node.v_index + i];
    for (int j = 0; j < node.freedoms; ++j) {
      Twistd unit = Twistd::zero();
      unit[j] = 1.0;
      const Twistd turned = ad(speed, unit);
      for (int i = 0; i < node.freedoms; ++i) k(node.v_index + i, node.v_index + j) = -turned[i];
    }
  }
  return k;
}

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
