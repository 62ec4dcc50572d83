// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/loads.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

void add_to_node(Workspace& w, int node, const Wrenchd& at_node_origin) {
  if (node < 0) return;  // the ground does not move
  for (int i = 0; i < 6; ++i) w.external[6 * node + i] += at_node_origin[i];
}

// The force `f` (ground axes) at a point given in the node's frame.
void add_force(Workspace& w, const PointPlace& at, const Vec3d& f) {
  if (at.node < 0) return;
  const Vec3d own = w.node(at.node).pose.rotation.inverse_times(f);
  add_to_node(w, at.node, {cross(at.point, own), own});
}

Vec3d position_of(const Workspace& w, const PointPlace& at) {
  return at.node < 0 ? at.point : w.node(at.node).pose * at.point;
}

Vec3d velocity_of(const Workspace& w, const PointPlace& at) {
  if (at.node < 0) return Vec3d::zero();
  const NodeScratch<double>& n = w.node(at.node);
  return n.pose.rotation * (n.twist.linear + cross(n.twist.angular, at.point));
}

void add_springs(const Mechanism& mechanism, Workspace& w) {
  for (const SpringPlace& spring : mechanism.springs()) {
    const Vec3d gap = position_of(w, spring.b) - position_of(w, spring.a);
    const double length = norm(gap);
    if (!(length > 0.0)) {
      if (spring.rest_length == 0.0 && spring.damping == 0.0) continue;  // no force at zero length
      throw NumericalError("spring '" + spring.name +
                           "': its ends coincide, so its direction is undefined");
    }
    const Vec3d direction = gap * (1.0 / length);
    const double rate = dot(direction, velocity_of(w, spring.b) - velocity_of(w, spring.a));
    const double tension = spring.stiffness * (length - spring.rest_length) + spring.damping * rate;
    add_force(w, spring.a, tension * direction);
    add_force(w, spring.b, -tension * direction);
  }
}

[[noreturn]] void throw_unnormalized(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  double worst = 0.0;
  int worst_hinge = 0;
  for (const Node& node : mechanism.nodes()) {
    if (node.coordinates == node.freedoms) continue;
    const double off = std::abs(q.segment(node.q_index, 4).norm() - 1.0);
    if (off > worst) {
      worst = off;
      worst_hinge = node.hinge_index;
    }
  }
  throw NumericalError("hinge '" + mechanism.hinges()[index(worst_hinge)].name +
                       "': the length of its quaternion is off by " + number(worst) + " (at most " +
                       number(kQuaternionTolerance) + " is renormalized); normalize it");
}

void check_finite(const ExternalWrench& e, const std::string& body) {
  for (const Vec3d& x : {e.wrench.moment, e.wrench.force, e.point})
    for (int i = 0; i < 3; ++i)
      if (!std::isfinite(x[i]))
        throw NumericalError("external wrench on body '" + body + "': " + number(x[i]) +
                             " in its moment, force or point; all must be finite");
}

}  // namespace

void add_hinge_element_efforts(const Mechanism& mechanism, const Eigen::VectorXd& q,
                               const Eigen::VectorXd& v, Eigen::VectorXd& effort) {
  const auto settings = mechanism.freedom_settings();
  const auto coordinates = mechanism.coordinate_of_freedom();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const FreedomSettings& f = settings[i];
    const Eigen::Index k = static_cast<Eigen::Index>(i);
    effort[k] -= f.damping * v[k];
    if (f.friction.active()) effort[k] += friction_force(f.friction, v[k]);
    if (f.stiffness != 0.0 && coordinates[i] >= 0)
      effort[k] -= f.stiffness * (q[coordinates[i]] - f.rest);
  }
}

void check_vector(std::span<const std::string> names, const Eigen::VectorXd& x, const char* what) {
  if (x.size() != static_cast<Eigen::Index>(names.size()))
    throw NumericalError(std::string(what) + " has " + std::to_string(x.size()) +
                         " entries, but this mechanism needs " + std::to_string(names.size()));
  // x·0 is 0 for a finite x and NaN otherwise; two sums hide the latency of the additions.
  double even = 0.0, odd = 0.0;
  const Eigen::Index pairs = x.size() & ~Eigen::Index{1};
  for (Eigen::Index i = 0; i < pairs; i += 2) {
    even += x[i] * 0.0;
    odd += x[i + 1] * 0.0;
  }
  if (pairs < x.size()) even += x[pairs] * 0.0;
  if (even + odd == 0.0) return;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw NumericalError(std::string(what) + " of '" + names[index(i)] + "' is " + number(x[i]) +
                           "; it must be finite");
}

PreparedInput prepare_position(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& w) {
  check_vector(mechanism.position_names(), q, "position");
  PreparedInput in;
  in.q = q.data();
  if (w.has_quaternion) {
    w.position = q;
    const double off = normalize_quaternions(mechanism, w.position);
    if (off > kQuaternionTolerance) throw_unnormalized(mechanism, q);
    in.q = w.position.data();
  }
  return in;
}

PreparedInput prepare(const Mechanism& mechanism, const State& state, const Eigen::VectorXd* effort,
                      std::span<const ExternalWrench> external, Workspace& w) {
  check_vector(mechanism.velocity_names(), state.v, "velocity");
  if (effort != nullptr) check_vector(mechanism.velocity_names(), *effort, "effort");
  PreparedInput in = prepare_position(mechanism, state.q, w);
  in.v = state.v.data();
  if (effort != nullptr) in.effort = effort->data();
  const bool sprung = !mechanism.springs().empty();
  const bool ground_axes =
      std::any_of(external.begin(), external.end(),
                  [](const ExternalWrench& e) { return e.axes == ExternalWrench::Axes::ground; });
  if (sprung || ground_axes) {
    Scratch<double> scratch = w.scratch();
    kernel_table().kinematics(w.model(), in, &scratch);
  }
  if (sprung || !external.empty()) {
    w.external.setZero();
    in.external = w.external.data();
    for (const ExternalWrench& e : external) {
      if (e.body < -1 || e.body >= static_cast<int>(mechanism.bodies().size()))
        throw NumericalError("external wrench on body " + std::to_string(e.body) +
                             ", which does not exist");
      if (e.body < 0) continue;
      const BodyPlace& body = mechanism.bodies()[index(e.body)];
      check_finite(e, body.name);
      if (body.node < 0) continue;
      const bool in_body_axes = e.axes == ExternalWrench::Axes::body;
      const auto to_node_axes = [&](const Vec3d& x) {
        return in_body_axes ? body.X_node_body.rotation * x
                            : w.node(body.node).pose.rotation.inverse_times(x);
      };
      const Vec3d force = to_node_axes(e.wrench.force);
      const Vec3d at = body.X_node_body * e.point;
      add_to_node(w, body.node, {to_node_axes(e.wrench.moment) + cross(at, force), force});
    }
    if (sprung) add_springs(mechanism, w);
  }
  if (w.has_passive_elements()) {
    if (effort != nullptr)
      w.total_effort = *effort;
    else
      w.total_effort.setZero();
    add_hinge_element_efforts(mechanism, state.q, state.v, w.total_effort);
    in.effort = w.total_effort.data();
  }
  return in;
}

}  // namespace catena
