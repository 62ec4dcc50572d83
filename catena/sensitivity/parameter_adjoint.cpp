#include "catena/sensitivity/parameter_adjoint.h"

#include <algorithm>
#include <tuple>

#include "catena/sensitivity/columns.h"

namespace catena {
namespace {

using Eigen::VectorXd;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Twistd twist_of(const Transformd& frame, const Vec3d& turn, const Vec3d& slide) {
  return Ad(frame, Twistd{turn, slide});
}

// The wrench of a force at a place.
Wrenchd force_at(const Vec3d& place, const Vec3d& force) { return {cross(place, force), force}; }

// d/dI of X · I Y.
SpatialInertiad by_inertia(const Twistd& x, const Twistd& y) {
  SpatialInertiad g;
  g.mass = dot(x.linear, y.linear);
  g.mass_moment = cross(y.linear, x.angular) + cross(x.linear, y.angular);
  const Vec3d &a = x.angular, &b = y.angular;
  g.inertia = {a.x * b.x, a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x,
               a.y * b.y, a.y * b.z + a.z * b.y, a.z * b.z};
  return g;
}

double contract(const SpatialInertiad& g, const SpatialInertiad& change) {
  const SymMat3d &a = g.inertia, &b = change.inertia;
  return g.mass * change.mass + dot(g.mass_moment, change.mass_moment) + a.xx * b.xx + a.xy * b.xy +
         a.xz * b.xz + a.yy * b.yy + a.yz * b.yz + a.zz * b.zz;
}

// Whether the rotor of a hinge's drive rides on the body inboard of it and turns with the frame
// there (geometry_probe.cpp).
bool rides_on_the_frame(const Hinge& hinge) {
  return hinge.drive && !hinge.drive->armature_only && !hinge.drive->rotor_axis &&
         (hinge.drive->carrier.empty() || hinge.drive->carrier == hinge.parent);
}

}  // namespace

void ParameterAdjoint::add_inertial(int parameter, int body, const SpatialInertiad& change) {
  const auto place = std::upper_bound(inertial_.begin(), inertial_.end(), body,
                                      [](int b, const Inertial& i) { return b < i.body; });
  inertial_.insert(place, {parameter, body, change});
}

bool ParameterAdjoint::add_geometry(const GeometrySeed& seed) {
  const HingePlace& place = m_.hinges()[at(seed.hinge)];
  if (place.role != HingePlace::Role::tree || place.node < 0) return false;
  const Hinge& hinge = m_.description().hinges[at(seed.hinge)];
  const auto put = [&](bool on_parent, const Twistd& twist, int screw = -1) {
    // Against the author's direction the parent is outboard, and moves the other way.
    Geometry g{seed.parameter,
               place.node,
               on_parent == place.reversed,
               on_parent ? place.parent_body : place.child_body,
               place.reversed ? -1.0 * twist : twist,
               screw};
    const auto key = [](const Geometry& x) { return std::tuple(x.node, x.outer, x.body); };
    geometry_.insert(
        std::upper_bound(geometry_.begin(), geometry_.end(), g,
                         [&](const Geometry& a, const Geometry& b) { return key(a) < key(b); }),
        g);
  };
  Vec3d e = Vec3d::zero();
  e[seed.entry] = 1.0;
  const Vec3d zero = Vec3d::zero();
  const Vec3d axis = hinge.axes.empty() ? Vec3d::unit_z() : normalized(hinge.axes[0]);
  switch (seed.kind) {
    case GeometryKind::position:
      put(true, {zero, e});
      break;
    case GeometryKind::rotation:
      put(true, twist_of(hinge.frame_on_parent, e, zero));
      break;
    case GeometryKind::child_position:
      put(false, {zero, -e});
      break;
    case GeometryKind::axis:
      put(true, twist_of(hinge.frame_on_parent, cross(axis, e), zero));
      put(false, twist_of(hinge.frame_on_child, -cross(axis, e), zero));
      break;
    case GeometryKind::pitch:
      put(false, twist_of(hinge.frame_on_child, zero, axis), place.v_index);
      screws_ = true;
      break;
    case GeometryKind::coefficient:  // of loops
    case GeometryKind::constant:
      return false;
  }
  return true;
}

std::vector<Twistd> ParameterAdjoint::spread(const Mechanism& m, const VectorXd& x,
                                             const SensitivityWorkspace& w) {
  const DerivativeTable<double>& c = w.columns();
  std::vector<Twistd> lambda(m.nodes().size());
  for (std::size_t n = 0; n < lambda.size(); ++n) {
    const Node& node = m.nodes()[n];
    lambda[n] = node.parent < 0 ? Twistd::zero() : lambda[at(node.parent)];
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
      lambda[n] += x[k] * get_twist(c.twist, c.stride, k);
  }
  return lambda;
}

void ParameterAdjoint::add_springs(const std::vector<Twistd>& lambda, const SensitivityWorkspace& w,
                                   std::vector<Outboard>& sums) const {
  const DerivativeTable<double>& c = w.columns();
  struct End {
    int node = -1;
    Vec3d place, position, velocity, swept;  // from the reference point; swept: by Λ
  };
  const auto end_of = [&](const PointPlace& p) {
    if (p.node < 0) return End{-1, p.point, p.point, Vec3d::zero(), Vec3d::zero()};
    const ColumnNode<double>& node = c.nodes[p.node];
    const Vec3d r = node.pose * p.point;
    const auto of = [&](const Twistd& t) { return t.linear + cross(t.angular, r); };
    return End{p.node, r, r + node.reference, of(node.twist), of(lambda[at(p.node)])};
  };
  for (const SpringPlace& spring : m_.springs()) {
    const End a = end_of(spring.a), b = end_of(spring.b);
    const Vec3d gap = b.position - a.position;
    const double length = norm(gap);
    const bool plain = spring.rest_length == 0.0 && spring.damping == 0.0;
    if (!plain && !(length > 0.0)) continue;  // the dynamics has thrown
    const Vec3d z = a.swept - b.swept;
    // The change of the force on a, times z, by those of the gap and of its rate.
    Vec3d by_gap = spring.stiffness * z, by_rate = Vec3d::zero();
    Vec3d force = spring.stiffness * gap;
    if (!plain) {
      const Vec3d d = gap * (1.0 / length), u = b.velocity - a.velocity;
      const double tension =
          spring.stiffness * (length - spring.rest_length) + spring.damping * dot(d, u);
      const double along = dot(z, d);
      const Vec3d turned = (1.0 / length) * (spring.damping * along * u + tension * z);
      by_gap = spring.stiffness * along * d + turned - dot(turned, d) * d;
      by_rate = spring.damping * along * d;
      force = tension * d;
    }
    const auto put = [&](const End& end, double sign) {
      if (end.node < 0) return;
      const Twistd& motion = c.nodes[end.node].twist;
      const Wrenchd swing = force_at(end.place, by_rate);
      Wrenchd by_shift =
          force_at(end.place, by_gap + cross(by_rate, motion.angular)) + cross_star(motion, swing);
      by_shift.moment += cross(force, end.swept);
      sums[at(end.node)].by_shift += -sign * by_shift;
      sums[at(end.node)].by_speed += -sign * swing;
    };
    put(a, -1.0);
    put(b, 1.0);
  }
}

ParameterAdjoint::Side ParameterAdjoint::side_of(int n, bool outer, const State& state,
                                                 const VectorXd& x,
                                                 const std::vector<Twistd>& lambda,
                                                 const SensitivityWorkspace& w,
                                                 const std::vector<Outboard>& inner,
                                                 const std::vector<Outboard>& outer_sums) const {
  const DerivativeTable<double>& c = w.columns();
  const Node& node = m_.nodes()[at(n)];
  const ColumnNode<double>& own = c.nodes[n];
  const int carrier = outer ? n : node.parent;
  const Twistd v = carrier < 0 ? Twistd::zero() : c.nodes[carrier].twist;
  const Twistd a = carrier < 0 ? Twistd{Vec3d::zero(), -m_.description().gravity}
                               : c.nodes[carrier].acceleration;
  const Twistd l = carrier < 0 ? Twistd::zero() : lambda[at(carrier)];
  Outboard sums = (outer ? outer_sums : inner)[at(n)];
  Wrenchd momentum = own.momentum, force = own.force;
  // The rotor goes with the frame on the author's parent, in which the author's own parameters of
  // that side turn it: it stands outboard of them, or (reversed) inboard.
  const HingePlace& place = m_.hinges()[at(node.hinge_index)];
  if (outer == place.reversed && rides_on_the_frame(m_.description().hinges[at(node.hinge_index)]))
    for (int d = 0; d < c.drive_count; ++d) {
      const int freedom = c.drives[d].freedom;
      if (freedom != node.v_index || c.drives[d].carrier < 0) continue;
      const double sign = place.reversed ? -1.0 : 1.0;
      const Vec3d u = c.rotors[d].axis, turned = c.rotors[d].turned;
      momentum.moment += sign * state.v[freedom] * u;
      force.moment += sign * (w.acceleration[freedom] * u + state.v[freedom] * turned);
      sums.momentum.moment += sign * x[freedom] * u;
      sums.turning += sign * x[freedom] * turned;
    }
  const Wrenchd p = own.inertia * l + sums.momentum;
  const Vec3d pulled = cross(momentum.force, l.linear);
  const Wrenchd r{own.inertia_rate * l.angular + cross(momentum.moment, l.angular) + pulled +
                      pulled + sums.turning,
                  Vec3d::zero()};
  const Wrenchd vp = cross_star(v, p);
  Side side{Wrenchd::zero() - cross_star(a, p) - cross_star(v, r - vp) - cross_star(l, force),
            r - 2.0 * vp, p, force};
  if (!m_.springs().empty()) {
    side.q += sums.by_shift - cross_star(v, sums.by_speed);
    side.v += sums.by_speed;
  }
  return side;
}

void ParameterAdjoint::add(const State& state, const VectorXd& x, const std::vector<Twistd>& lambda,
                           const SensitivityWorkspace& w, VectorXd& gradient) const {
  const DerivativeTable<double>& c = w.columns();
  int body = -1;
  SpatialInertiad by = SpatialInertiad::zero();
  for (const Inertial& i : inertial_) {
    const BodyPlace& place = m_.bodies()[at(i.body)];
    if (place.node < 0) continue;
    if (i.body != body) {
      body = i.body;
      const ColumnNode<double>& node = c.nodes[place.node];
      const Transformd pose = node.pose * place.X_node_body;
      const Twistd v = Ad_inverse(pose, node.twist), l = Ad_inverse(pose, lambda[at(place.node)]);
      const SpatialInertiad minus = by_inertia(ad(v, l), v);
      by = by_inertia(l, Ad_inverse(pose, node.acceleration));
      by.mass -= minus.mass;
      by.mass_moment = by.mass_moment - minus.mass_moment;
      by.inertia = by.inertia - minus.inertia;
    }
    gradient[i.parameter] += contract(by, i.change);
  }
  if (!gravity_.empty()) {
    Vec3d weight = Vec3d::zero();
    for (int k = 0; k < m_.freedoms(); ++k)
      weight += x[k] * get_wrench(c.momentum, c.stride, k).force;
    for (const Gravity& g : gravity_) gradient[g.parameter] -= weight[g.component];
  }
  if (geometry_.empty()) return;
  std::vector<Outboard> outer(m_.nodes().size()), inner(m_.nodes().size());
  for (Outboard& o : outer) o = {Wrenchd::zero(), Vec3d::zero(), Wrenchd::zero(), Wrenchd::zero()};
  for (int d = 0; d < c.drive_count; ++d) {
    if (c.drives[d].carrier < 0) continue;
    Outboard& o = outer[at(c.drives[d].carrier)];
    o.momentum.moment += x[c.drives[d].freedom] * c.rotors[d].axis;
    o.turning += x[c.drives[d].freedom] * c.rotors[d].turned;
  }
  if (!m_.springs().empty()) add_springs(lambda, w, outer);
  for (std::size_t n = outer.size(); n-- > 0;) {
    const Node& node = m_.nodes()[n];
    inner[n] = outer[n];
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k) {
      inner[n].momentum += x[k] * get_wrench(c.momentum, c.stride, k);
      inner[n].turning += x[k] * get_vec3(c.turning, c.stride, k);
    }
    if (node.parent < 0) continue;
    Outboard& parent = outer[at(node.parent)];
    parent.momentum += inner[n].momentum;
    parent.turning += inner[n].turning;
    if (m_.springs().empty()) continue;
    parent.by_shift += inner[n].by_shift;
    parent.by_speed += inner[n].by_speed;
  }
  const Geometry* last = nullptr;
  Side side;
  for (const Geometry& g : geometry_) {
    if (last == nullptr || last->node != g.node || last->outer != g.outer || last->body != g.body) {
      side = side_of(g.node, g.outer, state, x, lambda, w, inner, outer);
      // Into the frame of the body, where the small twists are constant.
      const Vec3d& reference = c.nodes[g.node].reference;
      Transformd pose{Rotationd{}, -reference};
      if (g.body >= 0) {
        const BodyPlace& place = m_.bodies()[at(g.body)];
        pose = place.node < 0 ? Transformd{place.X_node_body.rotation,
                                           place.X_node_body.translation - reference}
                              : c.nodes[place.node].pose * place.X_node_body;
      }
      side.q = Ad_star(pose, side.q);
      if (screws_)
        for (Wrenchd* f : {&side.v, &side.a, &side.force}) *f = Ad_star(pose, *f);
      last = &g;
    }
    double& to = gradient[g.parameter];
    if (g.screw < 0) {
      to += dot(side.q, g.twist);
      continue;
    }
    const double q = state.q[m_.coordinate_of_freedom()[at(g.screw)]];
    to += q * dot(side.q, g.twist) + state.v[g.screw] * dot(side.v, g.twist) +
          w.acceleration[g.screw] * dot(side.a, g.twist) + x[g.screw] * dot(side.force, g.twist);
  }
}

}  // namespace catena
