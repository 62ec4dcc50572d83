// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/kinematics.h"

#include <cmath>
#include <limits>

#include "catena/base/index.h"

namespace catena {
namespace {

const Node& node_at(const Mechanism& mechanism, int n) { return mechanism.nodes()[index(n)]; }

// Node −1 and an identity for the ground.
struct Place {
  int node = -1;
  Transformd X_node_body;
};

Place place_of(const Mechanism& mechanism, int body) {
  if (body == -1) return {};
  const int count = static_cast<int>(mechanism.bodies().size());
  if (body < -1 || body >= count)
    throw NumericalError("body " + std::to_string(body) + " does not exist; '" + mechanism.name() +
                         "' has " + std::to_string(count) +
                         " bodies, counted from 0, and -1 is the ground");
  const BodyPlace& place = mechanism.bodies()[index(body)];
  return {place.node, place.X_node_body};
}

Transformd pose_of(const Workspace& w, int node, const Transformd& on_node) {
  return node < 0 ? on_node : w.node(node).pose * on_node;
}

// R_ground_node from the displacements at the hinges, which every sweep leaves.
Rotationd rotation_of(const Mechanism& mechanism, const Workspace& w, int node) {
  Rotationd r = Rotationd::identity();
  for (int n = node; n >= 0; n = node_at(mechanism, n).parent) r = w.node(n).to_parent.rotation * r;
  return r;
}

// Angular acceleration and the acceleration of a point of a node, in ground axes.
Twistd acceleration_at(const Mechanism& mechanism, const Workspace& w, int node, const Vec3d& r) {
  const Twistd& twist = checked_twist(w, node);
  const Twistd& a = w.node(node).acceleration;
  if (std::isnan(a.angular.x))
    throw NumericalError(
        "accelerations have not been computed: call update_accelerations or solve the dynamics");
  const Rotationd axes = rotation_of(mechanism, w, node);
  const Vec3d velocity = twist.linear + cross(twist.angular, r);
  return {axes * a.angular,
          axes * (a.linear + cross(a.angular, r) + cross(twist.angular, velocity)) +
              mechanism.gravity()};
}

Twistd along(const Rotationd& body_axes, Axes axes, const Twistd& in_ground_axes) {
  if (axes == Axes::ground) return in_ground_axes;
  return {body_axes.inverse_times(in_ground_axes.angular),
          body_axes.inverse_times(in_ground_axes.linear)};
}

void set_twist_unknown(Twistd& twist) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  twist = {{nan, nan, nan}, {nan, nan, nan}};
}

void sweep(const Mechanism& mechanism, const Eigen::VectorXd& q, const Eigen::VectorXd* v,
           Workspace& w) {
  if (v != nullptr) check_vector(mechanism.velocity_names(), *v, "velocity");
  PreparedInput in = prepare_position(mechanism, q, w);
  if (v != nullptr) in.v = v->data();
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.model(), in, &scratch);
  // What an earlier evaluation left must not pass for a result of this one.
  for (std::size_t n = 0; n < mechanism.nodes().size(); ++n) {
    set_twist_unknown(scratch.nodes[n].acceleration);
    if (v != nullptr) continue;
    set_twist_unknown(scratch.nodes[n].twist);
    set_twist_unknown(scratch.nodes[n].bias);
  }
}

}  // namespace

void update_kinematics(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& workspace) {
  sweep(mechanism, q, nullptr, workspace);
}

void update_kinematics(const Mechanism& mechanism, const Eigen::VectorXd& q,
                       const Eigen::VectorXd& v, Workspace& workspace) {
  sweep(mechanism, q, &v, workspace);
}

void update_accelerations(const Mechanism& mechanism, const State& state,
                          const Eigen::VectorXd& acceleration, Workspace& workspace) {
  check_vector(mechanism.velocity_names(), acceleration, "acceleration");
  sweep(mechanism, state.q, &state.v, workspace);
  const Scratch<double> scratch = workspace.scratch();
  const Twistd ground{Vec3d::zero(), -mechanism.gravity()};
  for (int n = 0; n < static_cast<int>(mechanism.nodes().size()); ++n) {
    const Node& node = node_at(mechanism, n);
    NodeScratch<double>& w = scratch.nodes[n];
    w.acceleration =
        Ad_inverse(w.to_parent,
                   node.parent < 0 ? ground : scratch.nodes[node.parent].acceleration) +
        w.bias;
    for_each_motion_column(mechanism, workspace, n, [&](int freedom, const Twistd& column) {
      w.acceleration += acceleration[freedom] * column;
    });
  }
}

void update_poses(const Mechanism& mechanism, Workspace& workspace) {
  const Scratch<double> scratch = workspace.scratch();
  for (int n = 0; n < static_cast<int>(mechanism.nodes().size()); ++n) {
    const int parent = node_at(mechanism, n).parent;
    NodeScratch<double>& w = scratch.nodes[n];
    w.pose = parent < 0 ? w.to_parent : scratch.nodes[parent].pose * w.to_parent;
  }
}

Transformd body_pose(const Mechanism& mechanism, const Workspace& workspace, int body) {
  const Place place = place_of(mechanism, body);
  return pose_of(workspace, place.node, place.X_node_body);
}

Transformd frame_pose(const Mechanism& mechanism, const Workspace& workspace, int frame) {
  const int count = static_cast<int>(mechanism.frames().size());
  if (frame < 0 || frame >= count)
    throw NumericalError("frame " + std::to_string(frame) + " does not exist; '" +
                         mechanism.name() + "' has " + std::to_string(count) +
                         " frames, counted from 0");
  const FramePlace& place = mechanism.frames()[index(frame)];
  return pose_of(workspace, place.node, place.X_node_frame);
}

Vec3d point_position(const Mechanism& mechanism, const Workspace& workspace, int body,
                     const Vec3d& point) {
  return body_pose(mechanism, workspace, body) * point;
}

Twistd body_twist(const Mechanism& mechanism, const Workspace& workspace, int body, Axes axes) {
  const Place place = place_of(mechanism, body);
  if (place.node < 0) return Twistd::zero();
  const Twistd own = Ad_inverse(place.X_node_body, checked_twist(workspace, place.node));
  if (axes == Axes::body) return own;
  const Rotationd r = workspace.node(place.node).pose.rotation * place.X_node_body.rotation;
  return {r * own.angular, r * own.linear};
}

Vec3d point_velocity(const Mechanism& mechanism, const Workspace& workspace, int body,
                     const Vec3d& point, Axes axes) {
  const Twistd twist = body_twist(mechanism, workspace, body, Axes::body);
  const Vec3d velocity = twist.linear + cross(twist.angular, point);
  return axes == Axes::body ? velocity : body_pose(mechanism, workspace, body).rotation * velocity;
}

Twistd body_acceleration(const Mechanism& mechanism, const Workspace& workspace, int body,
                         Axes axes) {
  const Place place = place_of(mechanism, body);
  if (place.node < 0) return Twistd::zero();
  const Twistd a = acceleration_at(mechanism, workspace, place.node, place.X_node_body.translation);
  if (axes == Axes::ground) return a;
  return along(rotation_of(mechanism, workspace, place.node) * place.X_node_body.rotation, axes, a);
}

Vec3d point_acceleration(const Mechanism& mechanism, const Workspace& workspace, int body,
                         const Vec3d& point, Axes axes) {
  const Place place = place_of(mechanism, body);
  if (place.node < 0) return Vec3d::zero();
  const Vec3d a =
      acceleration_at(mechanism, workspace, place.node, place.X_node_body * point).linear;
  if (axes == Axes::ground) return a;
  return (rotation_of(mechanism, workspace, place.node) * place.X_node_body.rotation)
      .inverse_times(a);
}

void body_jacobian(const Mechanism& mechanism, const Workspace& workspace, int body,
                   const Vec3d& point, Axes axes, Eigen::Ref<Eigen::MatrixXd> jacobian) {
  const Place place = place_of(mechanism, body);
  check_matrix(mechanism, jacobian, 6, "Jacobian");
  jacobian.setZero();
  if (place.node < 0) return;
  const Transformd pose = pose_of(workspace, place.node, place.X_node_body);
  const Vec3d at = pose * point;
  for (int n = place.node; n >= 0; n = node_at(mechanism, n).parent) {
    const Transformd& x = workspace.node(n).pose;
    for_each_motion_column(mechanism, workspace, n, [&](int freedom, const Twistd& h) {
      const Vec3d angular = x.rotation * h.angular;
      const Vec3d linear = x.rotation * h.linear + cross(angular, at - x.translation);
      const Twistd column = along(pose.rotation, axes, {angular, linear});
      for (int i = 0; i < 6; ++i) jacobian(i, freedom) = column[i];
    });
  }
}

Eigen::MatrixXd body_jacobian(const Mechanism& mechanism, const Workspace& workspace, int body,
                              const Vec3d& point, Axes axes) {
  Eigen::MatrixXd jacobian(6, mechanism.freedoms());
  body_jacobian(mechanism, workspace, body, point, axes, jacobian);
  return jacobian;
}

Twistd jacobian_rate_times_velocity(const Mechanism& mechanism, const Workspace& workspace,
                                    int body, const Vec3d& point, Axes axes) {
  const Place place = place_of(mechanism, body);
  if (place.node < 0) return Twistd::zero();
  checked_twist(workspace, place.node);
  const Transformd pose = pose_of(workspace, place.node, place.X_node_body);
  const Vec3d at = pose * point;
  // The bias accelerations of all hinges on the way, carried to the point: the rate of the
  // components of the twist in a body frame there, seen in ground axes.
  Twistd rate = Twistd::zero();
  for (int n = place.node; n >= 0; n = node_at(mechanism, n).parent) {
    const NodeScratch<double>& w = workspace.node(n);
    const Vec3d angular = w.pose.rotation * w.bias.angular;
    rate += {angular, w.pose.rotation * w.bias.linear + cross(angular, at - w.pose.translation)};
  }
  if (axes == Axes::body) return along(pose.rotation, axes, rate);
  const Twistd twist = body_twist(mechanism, workspace, body, Axes::ground);
  rate.linear += cross(twist.angular, twist.linear + cross(twist.angular, pose.rotation * point));
  return rate;
}

// ---- Without a workspace. ----

namespace {

Workspace placed(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace w(mechanism);
  update_kinematics(mechanism, q, w);
  return w;
}
Workspace moved(const Mechanism& mechanism, const State& state) {
  Workspace w(mechanism);
  update_kinematics(mechanism, state.q, state.v, w);
  return w;
}
Workspace accelerated(const Mechanism& mechanism, const State& state,
                      const Eigen::VectorXd& acceleration) {
  Workspace w(mechanism);
  update_accelerations(mechanism, state, acceleration, w);
  return w;
}

}  // namespace

Transformd body_pose(const Mechanism& mechanism, const Eigen::VectorXd& q, int body) {
  return body_pose(mechanism, placed(mechanism, q), body);
}
Transformd frame_pose(const Mechanism& mechanism, const Eigen::VectorXd& q, int frame) {
  return frame_pose(mechanism, placed(mechanism, q), frame);
}
Vec3d point_position(const Mechanism& mechanism, const Eigen::VectorXd& q, int body,
                     const Vec3d& point) {
  return point_position(mechanism, placed(mechanism, q), body, point);
}
Twistd body_twist(const Mechanism& mechanism, const State& state, int body, Axes axes) {
  return body_twist(mechanism, moved(mechanism, state), body, axes);
}
Vec3d point_velocity(const Mechanism& mechanism, const State& state, int body, const Vec3d& point,
                     Axes axes) {
  return point_velocity(mechanism, moved(mechanism, state), body, point, axes);
}
Twistd body_acceleration(const Mechanism& mechanism, const State& state,
                         const Eigen::VectorXd& acceleration, int body, Axes axes) {
  return body_acceleration(mechanism, accelerated(mechanism, state, acceleration), body, axes);
}
Vec3d point_acceleration(const Mechanism& mechanism, const State& state,
                         const Eigen::VectorXd& acceleration, int body, const Vec3d& point,
                         Axes axes) {
  return point_acceleration(mechanism, accelerated(mechanism, state, acceleration), body, point,
                            axes);
}
Eigen::MatrixXd body_jacobian(const Mechanism& mechanism, const Eigen::VectorXd& q, int body,
                              const Vec3d& point, Axes axes) {
  return body_jacobian(mechanism, placed(mechanism, q), body, point, axes);
}
Twistd jacobian_rate_times_velocity(const Mechanism& mechanism, const State& state, int body,
                                    const Vec3d& point, Axes axes) {
  return jacobian_rate_times_velocity(mechanism, moved(mechanism, state), body, point, axes);
}

// ---- For the algorithms of this room. ----

Twistd motion_map_column(const Mechanism& mechanism, const Workspace& workspace, int node, int k) {
  if (workspace.is_general(node)) return workspace.general(node).map[k];
  const Vec3d z = Vec3d::unit_z(), none = Vec3d::zero();
  return node_at(mechanism, node).hinge == NodeHinge::revolute ? Twistd{z, none} : Twistd{none, z};
}

const Twistd& checked_twist(const Workspace& workspace, int node) {
  const Twistd& twist = workspace.node(node).twist;
  if (std::isnan(twist.angular.x))
    throw NumericalError("velocities have not been computed: call update_kinematics with q and v");
  return twist;
}

void check_matrix(const Mechanism& mechanism, const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                  int rows, const char* what) {
  if (matrix.rows() == rows && matrix.cols() == mechanism.freedoms()) return;
  throw NumericalError(std::string(what) + " is " + std::to_string(matrix.rows()) + " x " +
                       std::to_string(matrix.cols()) + ", but must be " + std::to_string(rows) +
                       " x " + std::to_string(mechanism.freedoms()));
}

}  // namespace catena
