// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/flexible_derivatives.h"

#include <algorithm>
#include <vector>

#include "catena/base/index.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/kernels/hinge_kinds.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

constexpr int kFlexibleDirections = 4;
using FlexibleNumber = Dual<double, kFlexibleDirections>;

template <class T>
Vec3<FlexibleNumber> lifted(const T& v) {
  return {FlexibleNumber(v.x), FlexibleNumber(v.y), FlexibleNumber(v.z)};
}

}  // namespace

struct FlexibleDuals::Store {
  using Number = FlexibleNumber;

  explicit Store(const Workspace& workspace)
      : w(workspace),
        m(workspace.mechanism()),
        flexible(m.flexible_tables(), m.attachment_tables()) {
    const std::size_t count = m.nodes().size();
    nodes.resize(count);
    std::size_t generals = 0;
    for (std::size_t n = 0; n < count; ++n) generals += w.is_general(static_cast<int>(n)) ? 1 : 0;
    general.resize(generals);
    q.resize(to_size(m.coordinates()));
    sine.resize(q.size());
    cosine.resize(q.size());
    v.resize(to_size(m.freedoms()));
    acceleration.resize(v.size());
    effort.resize(v.size());
    external.resize(6 * count);
    scratch.nodes = nodes.data();
    scratch.general = general.data();
    scratch.sine = sine.data();
    scratch.cosine = cosine.data();
    scratch.flexible = flexible.bodies();
    scratch.attachments = flexible.attachments();
  }

  void set_state(const Eigen::VectorXd& position, const Eigen::VectorXd& velocity) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = Number(position[static_cast<int>(i)]);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = Number(velocity[static_cast<int>(i)]);
  }
  // Direction `slot` is that of freedom i; `value` 1 sets it and 0 takes it away.
  void seed_position(const Eigen::VectorXd& position, int i, int slot, double value) {
    const Node& node = m.nodes()[index(owner(i))];
    std::vector<double> speed(to_size(node.freedoms), 0.0), rate(to_size(node.coordinates), 0.0);
    speed[index(i - node.v_index)] = value;
    node_position_rate(node, position.data() + node.q_index, speed.data(), rate.data());
    for (int c = 0; c < node.coordinates; ++c)
      q[index(node.q_index + c)].derivative[slot] = rate[index(c)];
  }
  int owner(int freedom) {
    if (owners.empty()) {
      owners.resize(v.size());
      for (std::size_t n = 0; n < m.nodes().size(); ++n)
        for (int k = 0; k < m.nodes()[n].freedoms; ++k)
          owners[index(m.nodes()[n].v_index + k)] = static_cast<int>(n);
    }
    return owners[index(freedom)];
  }

  // Outward: positions, velocities and poses.
  void move(bool deformed) {
    SweepInputs<Number> in;
    in.q = q.data();
    in.v = v.data();
    in.deformed = deformed;
    const Sweep<Number> s{w.tree_model(), scratch, in};
    for (const Node& node : m.nodes()) {
      if (node.hinge != NodeHinge::revolute) continue;
      const SinCos<Number> angle = sincos(q[index(node.q_index)]);
      sine[index(node.q_index)] = angle.sin;
      cosine[index(node.q_index)] = angle.cos;
    }
    for (int n = 0; n < s.model.node_count; ++n) {
      with_hinge(s.hinge_kind(n), [&](auto hinge) { hinge.move(s, n); });
      const int parent = s.node(n).parent;
      nodes[index(n)].pose = parent < 0 ? nodes[index(n)].to_parent
                                        : nodes[index(parent)].pose * nodes[index(n)].to_parent;
    }
  }

  void add_load(int node, const Wrench<Number>& wrench) {
    if (node < 0) return;
    for (int i = 0; i < 6; ++i) external[index(6 * node + i)] += wrench[i];
  }
  void add_force(const PointPlace& place, const Vec3<Number>& ground_force) {
    if (place.node < 0) return;
    const Vec3<Number> own = nodes[index(place.node)].pose.rotation.inverse_times(ground_force);
    add_load(place.node, {cross(lifted(place.point), own), own});
  }
  Vec3<Number> position_of(const PointPlace& place) const {
    const Vec3<Number> point = lifted(place.point);
    return place.node < 0 ? point : nodes[index(place.node)].pose * point;
  }
  Vec3<Number> velocity_of(const PointPlace& place) const {
    if (place.node < 0) return Vec3<Number>::zero();
    const NodeScratch<Number>& n = nodes[index(place.node)];
    return n.pose.rotation * (n.twist.linear + cross(n.twist.angular, lifted(place.point)));
  }

  // External wrenches and springs as wrenches on nodes (dynamics/loads.cpp).
  void load(std::span<const ExternalWrench> wrenches) {
    using std::sqrt;
    std::fill(external.begin(), external.end(), Number(0.0));
    for (const ExternalWrench& e : wrenches) {
      if (e.body < 0) continue;
      const BodyPlace& body = m.bodies()[index(e.body)];
      if (body.node < 0) continue;
      const auto axes = [&](const Vec3d& x) {
        return e.axes == ExternalWrench::Axes::body
                   ? lifted(body.X_node_body.rotation * x)
                   : nodes[index(body.node)].pose.rotation.inverse_times(lifted(x));
      };
      const Vec3<Number> force = axes(e.wrench.force);
      add_load(body.node,
               {axes(e.wrench.moment) + cross(lifted(body.X_node_body * e.point), force), force});
    }
    for (const SpringPlace& spring : m.springs()) {
      const Vec3<Number> gap = position_of(spring.b) - position_of(spring.a);
      const Number length = sqrt(dot(gap, gap));
      if (!(length.value > 0.0)) continue;
      const Vec3<Number> direction = (Number(1.0) / length) * gap;
      const Number rate = dot(direction, velocity_of(spring.b) - velocity_of(spring.a));
      const Number tension = Number(spring.stiffness) * (length - Number(spring.rest_length)) +
                             Number(spring.damping) * rate;
      add_force(spring.a, tension * direction);
      add_force(spring.b, -(tension * direction));
    }
  }

  // Efforts with their derivatives (inverse_stretch of sweeps.h).
  void run(std::span<const ExternalWrench> wrenches) {
    const bool loaded = !wrenches.empty() || !m.springs().empty();
    if (loaded) {
      move(true);
      load(wrenches);
    }
    move(false);
    SweepInputs<Number> in;
    in.q = q.data();
    in.v = v.data();
    if (loaded) in.external = external.data();
    const Sweep<Number> s{w.tree_model(), scratch, in, nullptr, effort.data()};
    const Vec3d& g = m.gravity();
    const Twist<Number> ground{Vec3<Number>::zero(), lifted(-g)};
    for (int n = 0; n < s.model.node_count; ++n) {
      NodeScratch<Number>& own = s.at(n);
      const int p = s.node(n).parent;
      own.acceleration =
          Ad_inverse(own.to_parent, p < 0 ? ground : s.at(p).acceleration) + own.bias;
      with_hinge(s.hinge_kind(n), [&](auto hinge) { hinge.drive(s, n, acceleration.data()); });
      const SpatialInertia<Number> inertia = load_inertia<Number>(s.node(n));
      own.force = inertia * own.acceleration - ad_star(own.twist, inertia * own.twist);
      subtract_external(s, n);
    }
    for (int n = s.model.node_count; n-- > 0;) {
      const NodeScratch<Number>& own = s.at(n);
      const int p = s.node(n).parent;
      with_hinge(s.hinge_kind(n), [&](auto hinge) { hinge.project(s, n, acceleration.data()); });
      if (p >= 0) s.at(p).force += Ad_star_inverse(own.to_parent, own.force);
    }
  }

  const Workspace& w;
  const Mechanism& m;
  FlexibleStore<Number> flexible;
  std::vector<NodeScratch<Number>> nodes;
  std::vector<GeneralScratch<Number>> general;
  std::vector<Number> q, v, acceleration, effort, external, sine, cosine;
  std::vector<int> owners;
  Scratch<Number> scratch;
};

FlexibleDuals::FlexibleDuals(const Workspace& workspace)
    : store_(std::make_unique<Store>(workspace)) {}
FlexibleDuals::~FlexibleDuals() = default;

void FlexibleDuals::inverse(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                            const Eigen::VectorXd& acceleration,
                            std::span<const ExternalWrench> external, InverseDerivatives& out) {
  Store& s = *store_;
  if (!s.w.remote_drives().empty())
    refuse_flexible(s.m, "a drive that is carried by a body which is not its hinge's parent");
  const int n = s.m.freedoms();
  out.dq.resize(n, n);
  out.dv.resize(n, n);
  s.set_state(q, v);
  for (int i = 0; i < n; ++i) s.acceleration[index(i)] = FlexibleNumber(acceleration[i]);
  for (int first = 0; first < n; first += kFlexibleDirections) {
    const int count = std::min(kFlexibleDirections, n - first);
    for (int d = 0; d < count; ++d) s.seed_position(q, first + d, d, 1.0);
    s.run(external);
    for (int d = 0; d < count; ++d) {
      for (int i = 0; i < n; ++i) out.dq(i, first + d) = s.effort[index(i)].derivative[d];
      s.seed_position(q, first + d, d, 0.0);
    }
    for (int d = 0; d < count; ++d) s.v[index(first + d)].derivative[d] = 1.0;
    s.run(external);
    for (int d = 0; d < count; ++d) {
      for (int i = 0; i < n; ++i) out.dv(i, first + d) = s.effort[index(i)].derivative[d];
      s.v[index(first + d)].derivative[d] = 0.0;
    }
  }
  // What acts at hinges.
  for (int i = 0; i < n; ++i) {
    const FreedomSettings& f = s.m.freedom_settings()[index(i)];
    out.dv(i, i) += f.damping;
    if (f.friction.active()) out.dv(i, i) -= regularized_friction(f.friction, v[i]).slope;
    if (s.m.coordinate_of_freedom()[index(i)] >= 0) out.dq(i, i) += f.stiffness;
  }
}

void FlexibleDuals::spot(const Eigen::VectorXd& q, const Eigen::VectorXd& v, int node,
                         const Vec3d& point, Eigen::MatrixXd& position_dq,
                         Eigen::MatrixXd& velocity_dq) {
  Store& s = *store_;
  const int n = s.m.freedoms();
  position_dq.setZero(3, n);
  velocity_dq.setZero(3, n);
  if (node < 0) return;
  s.set_state(q, v);
  const PointPlace place{-1, node, point};
  for (int first = 0; first < n; first += kFlexibleDirections) {
    const int count = std::min(kFlexibleDirections, n - first);
    for (int d = 0; d < count; ++d) s.seed_position(q, first + d, d, 1.0);
    s.move(true);
    const Vec3<FlexibleNumber> x = s.position_of(place), u = s.velocity_of(place);
    for (int d = 0; d < count; ++d) {
      for (int c = 0; c < 3; ++c) {
        position_dq(c, first + d) = x[c].derivative[d];
        velocity_dq(c, first + d) = u[c].derivative[d];
      }
      s.seed_position(q, first + d, d, 0.0);
    }
  }
}

}  // namespace catena
