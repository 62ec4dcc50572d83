// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

namespace catena {

// The impulse (normal, two tangents) with which one contact obeys its law while all others push as
// they do. w: the contact's own 3 x 3 block of the Delassus matrix; u: its motion without its own
// impulse. With friction at its limit, (W + α on the tangents) p = −u for the α ≥ 0 at which
// |p_t| = μ p_n.
Eigen::Vector3d contact_alone(const Eigen::Matrix3d& w, const Eigen::Vector3d& u, double friction);

}  // namespace catena
