// SPDX-License-Identifier: BSD-3-Clause
// The forward dynamics of a chain as a problem of optimal control [D'Eleuterio & Damaren 1991]:
// minimize Gibbs' function over the accelerations of the freedoms. State x of stage n: the
// acceleration of body n as far as it depends on them; input u: the accelerations of its hinge;
// cost: ½ aᵀ I a and the terms of the forces on the body.
//
//   a_n = Ad⁻¹ a_{n−1} + H v̇_n        cost  Σ ½ aᵀ I a + (I a° − ad*(V, I V) − load)ᵀ a − effortᵀ v̇
//
// a° is the acceleration at v̇ = 0, less gravity. Solved by lq/riccati.h, P, p, K and D are the
// articulated inertia, the residual force, the gain and the hinge inertia of the sweeps, u is the
// result of forward_dynamics(), the costates are the interbody forces (at the node's origin in its
// frame, exerted by the parent), and the cost is gibbs_function().reduced. A rotor adds a weight to
// the input and couples it with the state. O(N); for study and tests: forward_dynamics() is the
// fast way.
#pragma once

#include "catena/dynamics/loads.h"
#include "catena/lq/riccati.h"

namespace catena {

// Throws Error if the mechanism is not a chain: every node on the one before it, no closed loop, no
// rotor on a distant body.
LqProblem chain_as_lq(const Mechanism& mechanism, const State& state, const Eigen::VectorXd& effort,
                      Workspace& workspace, std::span<const ExternalWrench> external = {});
LqProblem chain_as_lq(const Mechanism& mechanism, const State& state, const Eigen::VectorXd& effort,
                      std::span<const ExternalWrench> external = {});

}  // namespace catena
