// SPDX-License-Identifier: BSD-3-Clause
// Kinematics of bodies and points: poses, velocities, accelerations, Jacobians.
//
//   update_kinematics(robot, state.q, state.v, workspace);
//   const Transformd pose = body_pose(robot, workspace, hand);           // X_ground_body
//   const Eigen::MatrixXd j = body_jacobian(robot, workspace, hand);     // (ω, v) = J v
//
// First an update, which is one outward sweep over all nodes and leaves its results in the
// workspace, then any number of queries, which read them there. A query names one of the user's
// bodies by its index (−1: the ground) and, where it needs one, a point in that body's frame.
//
//   update                     the queries that may follow
//   update_kinematics(q)       poses, Jacobians
//   update_kinematics(q, v)    these, velocities and jacobian_rate_times_velocity
//   update_accelerations       all
//   forward_dynamics (by the recursive route), hybrid_dynamics, inverse_dynamics
//                              accelerations; and, after update_poses, poses, velocities, Jacobians
//
// A velocity or an acceleration that the last update did not compute is a NumericalError.
//
// Six-vectors are angular first: a twist is (ω, v of the origin of the frame it is given in). Each
// query says along whose axes its components are (Axes::body or Axes::ground).
//
// Costs: an update and update_poses O(N). A query O(1), but O(depth) for accelerations, for
// jacobian_rate_times_velocity and for the columns of a Jacobian. No heap is used, except by the
// overloads that take no workspace or return a matrix.
//
// Reference: [Featherstone 2008], chapters 2 and 3.
#pragma once

#include <Eigen/Core>

#include "catena/dynamics/loads.h"

namespace catena {

// Axes of the components of a result.
using Axes = ExternalWrench::Axes;

void update_kinematics(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& workspace);
void update_kinematics(const Mechanism& mechanism, const Eigen::VectorXd& q,
                       const Eigen::VectorXd& v, Workspace& workspace);
void update_accelerations(const Mechanism& mechanism, const State& state,
                          const Eigen::VectorXd& acceleration, Workspace& workspace);
// Poses in the ground frame from the displacements at the hinges that the last dynamics left.
void update_poses(const Mechanism& mechanism, Workspace& workspace);

// X_ground_body of the user's body frame, X_ground_frame of a frame of interest.
Transformd body_pose(const Mechanism& mechanism, const Workspace& workspace, int body);
Transformd frame_pose(const Mechanism& mechanism, const Workspace& workspace, int frame);
Vec3d point_position(const Mechanism& mechanism, const Workspace& workspace, int body,
                     const Vec3d& point);

// Angular velocity of the body and velocity of the origin of its frame.
Twistd body_twist(const Mechanism& mechanism, const Workspace& workspace, int body,
                  Axes axes = Axes::body);
Vec3d point_velocity(const Mechanism& mechanism, const Workspace& workspace, int body,
                     const Vec3d& point, Axes axes = Axes::ground);

// Angular acceleration of the body and the acceleration of the origin of its frame, or of a point:
// the second derivative of its position in the ground frame, not the rate of the components of a
// twist, gravity included.
//
// The sweeps leave A, the rate of the components of the node's twist (ω, v) less gravity, so that
// a body at rest has A = (0, −Rᵀ g). The rate itself is A + (0, Rᵀ g), and with ẋ = R v
//   ẍ = R (v̇ + ω × v) = R (A.linear + ω × v) + g,   and R ω̇ = R A.angular,
// for the origin; a point at r has the twist (ω, v + ω × r) and the rate (ω̇, v̇ + ω̇ × r).
Twistd body_acceleration(const Mechanism& mechanism, const Workspace& workspace, int body,
                         Axes axes = Axes::ground);
Vec3d point_acceleration(const Mechanism& mechanism, const Workspace& workspace, int body,
                         const Vec3d& point, Axes axes = Axes::ground);

// J (6 × freedoms, angular first): J v = (angular velocity of the body, velocity of the point).
void body_jacobian(const Mechanism& mechanism, const Workspace& workspace, int body,
                   const Vec3d& point, Axes axes, Eigen::Ref<Eigen::MatrixXd> jacobian);
Eigen::MatrixXd body_jacobian(const Mechanism& mechanism, const Workspace& workspace, int body,
                              const Vec3d& point = {}, Axes axes = Axes::ground);

// J̇ v of the Jacobian above, so that d/dt (J v) = J v̇ + J̇ v. In ground axes that is the
// acceleration of the point at v̇ = 0 (no gravity in it); in body axes the components' rate.
Twistd jacobian_rate_times_velocity(const Mechanism& mechanism, const Workspace& workspace,
                                    int body, const Vec3d& point = {}, Axes axes = Axes::ground);

// ---- The same without a workspace. ----

Transformd body_pose(const Mechanism& mechanism, const Eigen::VectorXd& q, int body);
Transformd frame_pose(const Mechanism& mechanism, const Eigen::VectorXd& q, int frame);
Vec3d point_position(const Mechanism& mechanism, const Eigen::VectorXd& q, int body,
                     const Vec3d& point);
Twistd body_twist(const Mechanism& mechanism, const State& state, int body, Axes axes = Axes::body);
Vec3d point_velocity(const Mechanism& mechanism, const State& state, int body, const Vec3d& point,
                     Axes axes = Axes::ground);
Twistd body_acceleration(const Mechanism& mechanism, const State& state,
                         const Eigen::VectorXd& acceleration, int body, Axes axes = Axes::ground);
Vec3d point_acceleration(const Mechanism& mechanism, const State& state,
                         const Eigen::VectorXd& acceleration, int body, const Vec3d& point,
                         Axes axes = Axes::ground);
Eigen::MatrixXd body_jacobian(const Mechanism& mechanism, const Eigen::VectorXd& q, int body,
                              const Vec3d& point = {}, Axes axes = Axes::ground);
Twistd jacobian_rate_times_velocity(const Mechanism& mechanism, const State& state, int body,
                                    const Vec3d& point = {}, Axes axes = Axes::ground);

// ---- For the algorithms of this room. ----

// Column k of the motion map of a node, in the node's frame.
Twistd motion_map_column(const Mechanism& mechanism, const Workspace& workspace, int node, int k);

// Calls f(freedom, column) for every freedom that moves a node relative to its parent, columns in
// the node's frame: those of its hinge, or those of the modes at an attachment of a flexible body.
template <class F>
void for_each_motion_column(const Mechanism& mechanism, const Workspace& workspace, int n, F f) {
  const Node& node = mechanism.nodes()[static_cast<std::size_t>(n)];
  if (node.hinge == NodeHinge::modes) return;
  if (node.hinge == NodeHinge::attachment) {
    const int modes = mechanism.nodes()[static_cast<std::size_t>(node.parent)].freedoms;
    const Twistd* map = workspace.attachment(n).map;
    for (int k = 0; k < modes; ++k) f(node.v_index + k, map[k]);
    return;
  }
  for (int k = 0; k < node.freedoms; ++k)
    f(node.v_index + k, motion_map_column(mechanism, workspace, n, k));
}

// The twist that an update left at a node; throws if it left none.
const Twistd& checked_twist(const Workspace& workspace, int node);

// Throws NumericalError unless `matrix` is rows × freedoms.
void check_matrix(const Mechanism& mechanism, const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                  int rows, const char* what);

}  // namespace catena
