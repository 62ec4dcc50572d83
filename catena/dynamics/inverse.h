// SPDX-License-Identifier: BSD-3-Clause
// Inverse dynamics: the joint efforts that produce given accelerations,
//
//   effort = M(q) v̇ + C(q, v) − passive − Jᵀ external,
//
// C: Coriolis, centrifugal and gravity terms; passive: damping, friction and springs. (RNEA of
// other libraries leaves `passive` out.)
//
// by the recursive Newton-Euler algorithm (RNEA): one sweep outward for velocities and
// accelerations, one inward for forces, O(N).
//
//   const Eigen::VectorXd hold = inverse_dynamics(robot, {q, zero}, zero);  // against gravity
//   const Eigen::VectorXd& tau = inverse_dynamics(robot, state, wanted, workspace);
//   const Eigen::VectorXd c = bias_effort(robot, state);          // C − passive
//
// References: [Luh, Walker & Paul 1980]; [Featherstone 2008], chapter 5.
#pragma once

#include "catena/dynamics/loads.h"

namespace catena {

// The actuators' effort at every freedom for acceleration v̇ in this state; the part of damping,
// friction, springs and external wrenches is subtracted. The result lives in the workspace until
// the next call. Afterwards workspace.node(n).force is the wrench that the parent exerts on node n
// through the hinge (drive included), in the node's frame.
//
// With closed loops the accelerations of the independent freedoms are read (workspace.chart()) and
// the others follow; the efforts found act at the independent freedoms, and are zero elsewhere. The
// wrenches are then those of the spanning tree, without the forces of the closures (forces.h).
const Eigen::VectorXd& inverse_dynamics(const Mechanism& mechanism, const State& state,
                                        const Eigen::VectorXd& acceleration, Workspace& workspace,
                                        std::span<const ExternalWrench> external = {});
Eigen::VectorXd inverse_dynamics(const Mechanism& mechanism, const State& state,
                                 const Eigen::VectorXd& acceleration,
                                 std::span<const ExternalWrench> external = {});

// The effort at v̇ = 0, C − passive − Jᵀ external: the nonlinear effects. Of a mechanism without
// damping, friction and springs it is C (nonLinearEffects of Pinocchio, qfrc_bias of MuJoCo). There
// is no Coriolis matrix: C is found in O(N) without one.
const Eigen::VectorXd& bias_effort(const Mechanism& mechanism, const State& state,
                                   Workspace& workspace,
                                   std::span<const ExternalWrench> external = {});
Eigen::VectorXd bias_effort(const Mechanism& mechanism, const State& state,
                            std::span<const ExternalWrench> external = {});

}  // namespace catena
