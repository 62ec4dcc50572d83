// SPDX-License-Identifier: BSD-3-Clause
// The derivatives that a ParameterSet writes down: efforts of the spanning tree by inertial
// parameters, gravity and the constants of elements; and the regressor.
#include "catena/base/index.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/sensitivity/kernels/columns.h"
#include "catena/sensitivity/load_derivatives.h"
#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/parameters/parameter_adjoint.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

SymMat3d unit_entry(int i) {
  SymMat3d s = SymMat3d::zero();
  double* const at[6] = {&s.xx, &s.xy, &s.xz, &s.yy, &s.yz, &s.zz};
  *at[i] = 1.0;
  return s;
}

// Adds to a column the efforts of a wrench (ground axes, about the reference point) that a node
// needs.
void spread(const Mechanism& m, const DerivativeTable<double>& c, int node, const Wrenchd& wrench,
            Eigen::Ref<VectorXd> column) {
  each_inboard(m, node, [&](int k) { column[k] += dot(wrench, get_twist(c.twist, c.stride, k)); });
}

// The wrench that a body of this inertia (own frame) needs for its motion, ground axes.
Wrenchd needed_by(const SpatialInertiad& inertia, const BodyPlace& body,
                  const DerivativeTable<double>& c) {
  const ColumnNode<double>& node = c.nodes[body.node];
  const SpatialInertiad i = shift_to_parent(node.pose * body.X_node_body, inertia);
  return i * node.acceleration + cross_star(node.twist, i * node.twist);
}

// Ten unit inertias about the body's origin.
SpatialInertiad unit_inertia(int i) {
  SpatialInertiad result = SpatialInertiad::zero();
  if (i == 0)
    result.mass = 1.0;
  else if (i < 4)
    result.mass_moment[i - 1] = 1.0;
  else
    result.inertia = unit_entry(i - 4);
  return result;
}

// d/dx of the spatial inertia of a body.
SpatialInertiad inertia_change(const Body& body, int kind, int entry) {
  SpatialInertiad d = SpatialInertiad::zero();
  const Vec3d& c = body.center_of_mass;
  if (kind == 0) {
    d.mass = 1.0;
    d.mass_moment = c;
    d.inertia = SpatialInertiad::steiner(c);
  } else if (kind == 1) {
    Vec3d e = Vec3d::zero();
    e[entry] = 1.0;
    d.mass_moment = body.mass * e;
    // steiner(c + εe) = steiner(c) + ε (steiner(c + e) − steiner(c) − steiner(e)) + ...
    d.inertia = body.mass * (SpatialInertiad::steiner(c + e) - SpatialInertiad::steiner(c) -
                             SpatialInertiad::steiner(e));
  } else {
    d.inertia = congruence(body.inertia_axes.matrix, unit_entry(entry));
  }
  return d;
}

}  // namespace

// Of the drive of a hinge: its rotor's inertia, or its gear ratio.
template <class Own, class Spread>
void ParameterSet::contribute_drive(const Parameter& p, const State& state,
                                    const SensitivityWorkspace& w, Own own,
                                    Spread spread_wrench) const {
  const DerivativeTable<double>& c = w.columns();
  for (const DrivePlace& drive : m_.drives()) {
    if (drive.hinge != p.index) continue;
    const bool by_inertia = p.kind == Kind::rotor_inertia;
    const int h = drive.v_index;
    own(h, (by_inertia ? drive.gear_ratio * drive.gear_ratio
                       : 2.0 * drive.gear_ratio * drive.rotor_inertia) *
               w.acceleration[h]);
    if (drive.armature_only || drive.carrier_node < 0) continue;
    const ColumnNode<double>& carrier = c.nodes[drive.carrier_node];
    const Vec3d u = carrier.pose.rotation *
                    ((by_inertia ? drive.gear_ratio : drive.rotor_inertia) * drive.rotor_axis);
    own(h, dot(u, carrier.acceleration.angular));
    spread_wrench(drive.carrier_node,
                  Wrenchd{w.acceleration[h] * u + cross(carrier.twist.angular, state.v[h] * u),
                          Vec3d::zero()});
  }
}

// Of a spring between two points.
template <class Spread>
void ParameterSet::contribute_spring(const Parameter& p, const SensitivityWorkspace& w,
                                     Spread spread_wrench) const {
  const DerivativeTable<double>& c = w.columns();
  const SpringPlace& spring = m_.springs()[index(p.index)];
  struct End {
    int node;
    Vec3d place, position, velocity;
    Vec3d moved, faster;  // by the parameter
  };
  const auto rotation_of = [&](int body) -> const Rotationd& {
    return m_.bodies()[index(body)].X_node_body.rotation;
  };
  const auto end_of = [&](const PointPlace& at, bool is_moved) {
    Vec3d e = Vec3d::zero();
    if (is_moved) e[p.entry] = 1.0;
    if (at.node < 0) {
      if (at.body >= 0) e = rotation_of(at.body) * e;
      return End{-1, at.point, at.point, Vec3d::zero(), e, Vec3d::zero()};
    }
    const ColumnNode<double>& node = c.nodes[at.node];
    const Vec3d place = node.pose * at.point;
    e = node.pose.rotation * (rotation_of(at.body) * e);
    return End{at.node,
               place,
               place + node.reference,
               node.twist.linear + cross(node.twist.angular, place),
               e,
               cross(node.twist.angular, e)};
  };
  const End a = end_of(spring.a, p.kind == Kind::spring_point_a);
  const End b = end_of(spring.b, p.kind == Kind::spring_point_b);
  const Vec3d gap = b.position - a.position, change = b.moved - a.moved;
  const double length = norm(gap);
  const bool plain = spring.rest_length == 0.0 && spring.damping == 0.0;
  Vec3d pull = Vec3d::zero();  // on a, by the parameter
  Vec3d force = spring.stiffness * gap;
  if (length > 0.0) {
    const Vec3d direction = gap * (1.0 / length), rate = b.velocity - a.velocity;
    const Vec3d turned = (change - dot(change, direction) * direction) * (1.0 / length);
    const double whole =
        spring.stiffness * (length - spring.rest_length) + spring.damping * dot(direction, rate);
    double tension = spring.stiffness * dot(change, direction) +
                     spring.damping * (dot(turned, rate) + dot(direction, b.faster - a.faster));
    if (p.kind == Kind::spring_stiffness) tension = length - spring.rest_length;
    if (p.kind == Kind::spring_rest) tension = -spring.stiffness;
    if (p.kind == Kind::spring_damping) tension = dot(direction, rate);
    pull = tension * direction + whole * turned;
    force = whole * direction;
  } else if (plain) {
    pull = spring.stiffness * change;
  }
  // The effort of the actuators is the opposite.
  if (a.node >= 0)
    spread_wrench(a.node, Wrenchd{-cross(a.place, pull) - cross(a.moved, force), -pull});
  if (b.node >= 0)
    spread_wrench(b.node, Wrenchd{cross(b.place, pull) + cross(b.moved, force), pull});
}

template <class Own, class Spread>
void ParameterSet::contribute(const Parameter& p, const State& state, const SensitivityWorkspace& w,
                              Own own, Spread spread_wrench) const {
  const DerivativeTable<double>& c = w.columns();
  const std::size_t i = to_size(p.index);
  switch (p.kind) {
    case Kind::mass:
    case Kind::com:
    case Kind::inertia: {
      const BodyPlace& body = m_.bodies()[i];
      if (body.node < 0) return;
      spread_wrench(body.node, needed_by(inertial_change(p), body, c));
      return;
    }
    case Kind::gravity: {
      // The acceleration of the ground is −g.
      Twistd fall = Twistd::zero();
      fall.linear[p.entry] = -1.0;
      for (std::size_t n = 0; n < m_.nodes().size(); ++n) {
        const Node& node = m_.nodes()[n];
        const Wrenchd weight = c.nodes[n].inertia * fall;  // of all that is outboard
        for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
          own(k, dot(weight, get_twist(c.twist, c.stride, k)));
      }
      return;
    }
    case Kind::damping:
    case Kind::stiffness:
    case Kind::rest:
    case Kind::friction: {
      const int k = m_.hinges()[i].v_index + p.entry;
      const FreedomSettings& f = m_.freedom_settings()[index(k)];
      const int coordinate = m_.coordinate_of_freedom()[index(k)];
      if (p.kind == Kind::damping) own(k, state.v[k]);
      if (p.kind == Kind::stiffness && coordinate >= 0) own(k, state.q[coordinate] - f.rest);
      if (p.kind == Kind::rest && coordinate >= 0) own(k, -f.stiffness);
      if (p.kind == Kind::friction) own(k, -friction_by_sliding(f.friction, state.v[k]));
      return;
    }
    case Kind::elastic: {
      const FlexiblePlace& body = m_.flexible_bodies()[i];
      const Node& modes = m_.nodes()[index(body.node)];
      const FlexibleBody::StiffnessPart& part = body.constants->stiffness_parts[index(p.entry)];
      const Eigen::VectorXd force =
          part.matrix * state.q.segment(modes.q_index, modes.coordinates) / part.value;
      for (int k = 0; k < modes.freedoms; ++k) own(modes.v_index + k, force[k]);
      return;
    }
    case Kind::rotor_inertia:
    case Kind::gear_ratio:
      contribute_drive(p, state, w, own, spread_wrench);
      return;
    case Kind::spring_stiffness:
    case Kind::spring_rest:
    case Kind::spring_damping:
    case Kind::spring_point_a:
    case Kind::spring_point_b:
      contribute_spring(p, w, spread_wrench);
      return;
    default:
      return;
  }
}

SpatialInertiad ParameterSet::inertial_change(const Parameter& p) const {
  const int kind = p.kind == Kind::mass ? 0 : p.kind == Kind::com ? 1 : 2;
  return inertia_change(m_.description().bodies[index(p.index)], kind, p.entry);
}

void ParameterSet::tree_column(const Parameter& p, const State& state,
                               const SensitivityWorkspace& w, Eigen::Ref<VectorXd> column) const {
  contribute(
      p, state, w, [&](int k, double effort) { column[k] += effort; },
      [&](int node, const Wrenchd& wrench) { spread(m_, w.columns(), node, wrench, column); });
}

double ParameterSet::tree_product(const Parameter& p, const State& state,
                                  const SensitivityWorkspace& w, const VectorXd& x,
                                  const std::vector<Twistd>& lambda) const {
  double sum = 0.0;
  contribute(
      p, state, w, [&](int k, double effort) { sum += x[k] * effort; },
      [&](int node, const Wrenchd& wrench) { sum += dot(wrench, lambda[index(node)]); });
  return sum;
}

MatrixXd regressor(const Mechanism& m, const State& state, const VectorXd& acceleration,
                   SensitivityWorkspace& w) {
  refuse_flexible(m, "the regressor");
  inverse_dynamics_derivatives(m, state, acceleration, w);
  const DerivativeTable<double>& c = w.columns();
  MatrixXd result = MatrixXd::Zero(m.freedoms(), kInertial * static_cast<Index>(m.bodies().size()));
  for (std::size_t b = 0; b < m.bodies().size(); ++b) {
    const BodyPlace& body = m.bodies()[b];
    if (body.node < 0) continue;
    for (int i = 0; i < kInertial; ++i)
      spread(m, c, body.node, needed_by(unit_inertia(i), body, c),
             result.col(kInertial * static_cast<Index>(b) + i));
  }
  if (m.loops().empty()) return result;
  return w.tangent.map.transpose() * result;
}

VectorXd inertial_parameters(const Mechanism& m) {
  VectorXd x(kInertial * static_cast<Index>(m.bodies().size()));
  for (std::size_t b = 0; b < m.bodies().size(); ++b) {
    const SpatialInertiad& i = m.bodies()[b].inertia;
    x.segment(kInertial * static_cast<Index>(b), kInertial) << i.mass, i.mass_moment.x,
        i.mass_moment.y, i.mass_moment.z, i.inertia.xx, i.inertia.xy, i.inertia.xz, i.inertia.yy,
        i.inertia.yz, i.inertia.zz;
  }
  return x;
}

}  // namespace catena
