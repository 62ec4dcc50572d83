// SPDX-License-Identifier: BSD-3-Clause
// Rate of tangent directions of positions along a motion: ξ̇ = δv − [v, ξ].
#pragma once

#include <Eigen/Core>

#include "catena/model/mechanism.h"
#include "catena/spatial/transform.h"

namespace catena {

// −[v, ·] of the hinges whose coordinates are quaternions, zero elsewhere: all freedoms.
inline Eigen::MatrixXd kinematic_block(const Mechanism& m, const Eigen::VectorXd& v) {
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(m.freedoms(), m.freedoms());
  for (const Node& node : m.nodes()) {
    if (node.coordinates == node.freedoms) continue;
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

}  // namespace catena
