// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/parameters/parameter_adjoint.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/sensitivity/kernels/columns.h"

namespace catena {
namespace {

using Eigen::VectorXd;

Twistd twist_of(const Transformd& frame, const Vec3d& turn, const Vec3d& slide) {
  return Ad(frame, Twistd{turn, slide});
}

// The wrench of a force at a place.
Wrenchd force_at(const Vec3d& place, const Vec3d& force) { return {cross(place, force), force}; }

// Adds factor · d/dI of X · I Y: by mass, mass · centre, and the inertia's xx, xy, xz, yy, yz, zz.
void add_by_inertia(const Twistd& x, const Twistd& y, double factor, double* to) {
  const Vec3d &a = x.angular, b = factor * y.angular, u = factor * y.linear;
  const Vec3d moment = cross(u, a) + cross(x.linear, b);
  to[0] += dot(x.linear, u);
  for (int i = 0; i < 3; ++i) to[1 + i] += moment[i];
  to[4] += a.x * b.x;
  to[5] += a.x * b.y + a.y * b.x;
  to[6] += a.x * b.z + a.z * b.x;
  to[7] += a.y * b.y;
  to[8] += a.y * b.z + a.z * b.y;
  to[9] += a.z * b.z;
}

double contract(const double* g, const SpatialInertiad& change) {
  const SymMat3d& j = change.inertia;
  const Vec3d& h = change.mass_moment;
  return g[0] * change.mass + g[1] * h.x + g[2] * h.y + g[3] * h.z + g[4] * j.xx + g[5] * j.xy +
         g[6] * j.xz + g[7] * j.yy + g[8] * j.yz + g[9] * j.zz;
}

// Change of an inertia when its body moves by a small twist.
SpatialInertiad moved_by(const Twistd& t, const SpatialInertiad& inertia) {
  const Vec3d &h = inertia.mass_moment, &u = t.linear;
  const SymMat3d& j = inertia.inertia;
  SpatialInertiad d = SpatialInertiad::zero();
  d.mass_moment = cross(t.angular, h) + inertia.mass * u;
  const Vec3d columns[3] = {cross(t.angular, Vec3d{j.xx, j.xy, j.xz}),
                            cross(t.angular, Vec3d{j.xy, j.yy, j.yz}),
                            cross(t.angular, Vec3d{j.xz, j.yz, j.zz})};
  const auto entry = [&](int r, int c) {
    return columns[c][r] + columns[r][c] - h[r] * u[c] - u[r] * h[c] +
           (r == c ? 2.0 * dot(h, u) : 0.0);
  };
  d.inertia = {entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)};
  return d;
}

// −(A ×* P + V ×* (R − V ×* P) + Λ ×* F).
Wrenchd by_shift(const Wrenchd& p, const Vec3d& r, const Wrenchd& force, const Twistd& v,
                 const Twistd& a, const Twistd& lambda) {
  const Wrenchd turned = cross_star(v, p);
  const Wrenchd rest{turned.moment - r, turned.force};
  return cross_star(v, rest) - cross_star(a, p) - cross_star(lambda, force);
}

// Whether the rotor of a hinge's drive rides on the body inboard of it and turns with the frame
// there (geometry_probe.cpp).
bool rides_on_the_frame(const Hinge& hinge) {
  return hinge.drive && !hinge.drive->armature_only && !hinge.drive->rotor_axis &&
         (hinge.drive->carrier.empty() || hinge.drive->carrier == hinge.parent);
}

}  // namespace

void ParameterAdjoint::add_inertial(int parameter, int body, const SpatialInertiad& change) {
  const BodyPlace& place = m_.bodies()[index(body)];
  if (place.node < 0) return;
  inertial_.push_back(
      {parameter, inertial_place(place.node), shift_to_parent(place.X_node_body, change)});
}

int ParameterAdjoint::inertial_place(int node) {
  for (const InertialNode& n : nodes_)
    if (n.node == node) return n.place;
  nodes_.push_back({node, static_cast<int>(size_)});
  size_ += kInertial;
  return nodes_.back().place;
}

void ParameterAdjoint::add_gravity(int parameter, int component) {
  if (gravity_.empty()) {
    gravity_place_ = static_cast<int>(size_);
    size_ += 3;
  }
  gravity_.push_back({parameter, component});
}

int ParameterAdjoint::carrier(const Side& side) const {
  return side.outer ? side.node : m_.nodes()[index(side.node)].parent;
}

void ParameterAdjoint::add_side(int parameter, int node, bool outer, const Twistd& twist,
                                int screw) {
  auto side = std::find_if(sides_.begin(), sides_.end(),
                           [&](const Side& s) { return s.node == node && s.outer == outer; });
  if (side == sides_.end()) {
    sides_.push_back({node, outer, static_cast<int>(size_)});
    size_ += 6;
    side = sides_.end() - 1;
  }
  (screw < 0 ? geometry_ : screws_)
      .push_back({parameter, static_cast<int>(side - sides_.begin()), twist, screw});
}

// Those that welds other than this one connect with body `from`; the last entry is the world.
std::vector<std::uint8_t> ParameterAdjoint::bodies_beyond(int weld, int from) const {
  std::vector<std::uint8_t> reached(m_.bodies().size() + 1, 0);
  const auto place = [&](int body) { return body < 0 ? reached.size() - 1 : index(body); };
  reached[place(from)] = 1;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t h = 0; h < m_.hinges().size(); ++h) {
      const HingePlace& hinge = m_.hinges()[h];
      if (hinge.role != HingePlace::Role::weld || static_cast<int>(h) == weld) continue;
      std::uint8_t &a = reached[place(hinge.parent_body)], &b = reached[place(hinge.child_body)];
      if (a == b) continue;
      a = b = 1;
      more = true;
    }
  }
  return reached;
}

bool ParameterAdjoint::add_weld(const GeometrySeed& seed) {
  const HingePlace& place = m_.hinges()[index(seed.hinge)];
  const Hinge& hinge = m_.description().hinges[index(seed.hinge)];
  const auto frame_of = [&](int body) {
    return body < 0 ? Transformd{} : m_.bodies()[index(body)].X_node_body;
  };
  const Transformd parent = frame_of(place.parent_body), child = frame_of(place.child_body);
  Vec3d e = Vec3d::zero();
  e[seed.entry] = 1.0;
  const Vec3d zero = Vec3d::zero();
  Twistd twist = Twistd::zero();  // of the child's side against the parent's
  if (seed.kind == GeometryKind::position) {
    twist = Ad(parent, Twistd{zero, e});
  } else if (seed.kind == GeometryKind::rotation) {
    twist = Ad(parent, twist_of(hinge.frame_on_parent, e, zero));
  } else if (seed.kind == GeometryKind::child_position) {
    twist = Ad(child, Twistd{zero, -e});
  } else if (seed.kind == GeometryKind::axis) {
    const Vec3d axis = hinge.axes.empty() ? Vec3d::unit_z() : normalized(hinge.axes[0]);
    twist = Ad(parent, twist_of(hinge.frame_on_parent, cross(axis, e), zero)) -
            Ad(child, twist_of(hinge.frame_on_child, cross(axis, e), zero));
  } else {
    return false;
  }
  // The bodies beyond it, seen from the hinge on which they hang.
  const int node = m_.bodies()[index(std::max(place.parent_body, place.child_body))].node;
  int root = -1;
  if (node >= 0) {
    const HingePlace& inboard = m_.hinges()[index(m_.nodes()[index(node)].hinge_index)];
    root = inboard.reversed ? inboard.parent_body : inboard.child_body;
  }
  const std::vector<std::uint8_t> held = bodies_beyond(seed.hinge, root);
  const auto is_held = [&](int body) { return (body < 0 ? held.back() : held[index(body)]) != 0; };
  if (is_held(place.parent_body) == is_held(place.child_body)) return false;
  const bool outward = is_held(place.parent_body);
  if (!outward) twist = -1.0 * twist;
  const std::vector<std::uint8_t> moved =
      bodies_beyond(seed.hinge, outward ? place.child_body : place.parent_body);
  const auto is_moved = [&](int body) { return body >= 0 && moved[index(body)] != 0; };
  for (const SpringPlace& spring : m_.springs())
    if (is_moved(spring.a.body) || is_moved(spring.b.body)) return false;
  for (const DrivePlace& drive : m_.drives()) {
    const Hinge& of = m_.description().hinges[index(drive.hinge)];
    const std::string& carrier = of.drive->carrier.empty() ? of.parent : of.drive->carrier;
    if (carrier != kWorld && is_moved(m_.body_index(carrier))) return false;
  }
  for (std::size_t b = 0; b < m_.bodies().size(); ++b)
    if (moved[b] != 0 && node >= 0)
      inertial_.push_back(
          {seed.parameter, inertial_place(node),
           moved_by(twist, shift_to_parent(m_.bodies()[b].X_node_body, m_.bodies()[b].inertia))});
  for (const HingePlace& other : m_.hinges())
    if (other.role == HingePlace::Role::tree && other.node >= 0 &&
        is_moved(other.reversed ? other.child_body : other.parent_body))
      add_side(seed.parameter, other.node, false, twist);
  return true;
}

bool ParameterAdjoint::add_geometry(const GeometrySeed& seed) {
  if (seed.kind == GeometryKind::coefficient || seed.kind == GeometryKind::constant)
    return false;  // of loops
  const HingePlace& place = m_.hinges()[index(seed.hinge)];
  if (place.role == HingePlace::Role::weld) return add_weld(seed);
  if (place.role != HingePlace::Role::tree || place.node < 0) return false;
  const Hinge& hinge = m_.description().hinges[index(seed.hinge)];
  const auto put = [&](bool on_parent, const Twistd& twist, int screw = -1) {
    // Against the author's direction the parent is outboard, and moves the other way.
    const bool outer = on_parent == place.reversed;
    const int body = on_parent ? place.parent_body : place.child_body;
    const Transformd frame = body < 0 ? Transformd{} : m_.bodies()[index(body)].X_node_body;
    add_side(seed.parameter, place.node, outer, (place.reversed ? -1.0 : 1.0) * Ad(frame, twist),
             screw);
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
      break;
    case GeometryKind::coefficient:
    case GeometryKind::constant:
      break;
  }
  return true;
}

std::vector<Twistd> ParameterAdjoint::spread(const Mechanism& m, const VectorXd& x,
                                             const SensitivityWorkspace& w) {
  const DerivativeTable<double>& c = w.columns();
  std::vector<Twistd> lambda(m.nodes().size());
  for (std::size_t n = 0; n < lambda.size(); ++n) {
    const Node& node = m.nodes()[n];
    lambda[n] = node.parent < 0 ? Twistd::zero() : lambda[index(node.parent)];
    for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
      lambda[n] += x[k] * get_twist(c.twist, c.stride, k);
  }
  return lambda;
}

std::vector<ParameterAdjoint::SpringEnds> ParameterAdjoint::spring_ends(
    const std::vector<Twistd>& lambda, const SensitivityWorkspace& w) const {
  std::vector<SpringEnds> sums(m_.nodes().size(), {Wrenchd::zero(), Wrenchd::zero()});
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
    return End{p.node, r, r + node.reference, of(node.twist), of(lambda[index(p.node)])};
  };
  for (const SpringPlace& spring : m_.springs()) {
    const End a = end_of(spring.a), b = end_of(spring.b);
    const Vec3d gap = b.position - a.position;
    const double length = norm(gap);
    const bool plain = spring.rest_length == 0.0 && spring.damping == 0.0;
    if (!plain && !(length > 0.0)) continue;  // the dynamics has thrown an error
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
      sums[index(end.node)].by_shift += -sign * by_shift;
      sums[index(end.node)].by_speed += -sign * swing;
    };
    put(a, -1.0);
    put(b, 1.0);
  }
  for (std::size_t n = sums.size(); n-- > 0;) {
    const int parent = m_.nodes()[n].parent;
    if (parent < 0) continue;
    sums[index(parent)].by_shift += sums[n].by_shift;
    sums[index(parent)].by_speed += sums[n].by_speed;
  }
  return sums;
}

ParameterAdjoint::SideMotion ParameterAdjoint::motion_of(
    const Side& side, const State& state, const VectorXd& x, const std::vector<Twistd>& lambda,
    const SensitivityWorkspace& w, const Transfer& transfer,
    const std::vector<SpringEnds>& springs) const {
  const DerivativeTable<double>& c = w.columns();
  const Node& node = m_.nodes()[index(side.node)];
  const int on = carrier(side);
  SideMotion motion;
  motion.transfer = transfer;
  motion.force = c.nodes[side.node].force;
  if (on >= 0) {
    motion.twist = c.nodes[on].twist;
    motion.acceleration = c.nodes[on].acceleration;
    motion.lambda = lambda[index(on)];
  } else {
    motion.acceleration.linear = -m_.description().gravity;
  }
  if (!springs.empty()) motion.springs = springs[index(side.node)];
  if (c.drive_count == 0) return motion;
  // The rotor goes with the frame on the author's parent, which the parameters of that side turn:
  // it stands outboard of them, or (reversed) inboard.
  const HingePlace& place = m_.hinges()[index(node.hinge_index)];
  if (side.outer != place.reversed ||
      !rides_on_the_frame(m_.description().hinges[index(node.hinge_index)]))
    return motion;
  for (int d = 0; d < c.drive_count; ++d) {
    const int freedom = c.drives[d].freedom;
    if (freedom != node.v_index || c.drives[d].carrier < 0) continue;
    const double sign = place.reversed ? -1.0 : 1.0;
    const Vec3d u = sign * c.rotors[d].axis, turned = sign * c.rotors[d].turned;
    motion.force.moment += w.acceleration[freedom] * u + state.v[freedom] * turned;
    motion.transfer.p.moment += x[freedom] * u;
    motion.transfer.r += x[freedom] * turned + cross(state.v[freedom] * u, motion.lambda.angular);
  }
  return motion;
}

// Sums of momentum and turning over the freedoms outboard, then P and R.
std::vector<ParameterAdjoint::Transfer> ParameterAdjoint::transfers(
    const VectorXd& x, const std::vector<Twistd>& lambda, const SensitivityWorkspace& w) const {
  const DerivativeTable<double>& c = w.columns();
  std::vector<Transfer> transfer(m_.nodes().size());
  for (int d = 0; d < c.drive_count; ++d) {
    if (c.drives[d].carrier < 0) continue;
    Transfer& to = transfer[index(c.drives[d].carrier)];
    to.p.moment += x[c.drives[d].freedom] * c.rotors[d].axis;
    to.r += x[c.drives[d].freedom] * c.rotors[d].turned;
  }
  for (std::size_t n = transfer.size(); n-- > 0;) {
    const Node& node = m_.nodes()[n];
    Transfer& own = transfer[n];
    if (node.parent >= 0) {
      Transfer& parent = transfer[index(node.parent)];
      parent.p += own.p;
      parent.r += own.r;
      for (int k = node.v_index; k < node.v_index + node.freedoms; ++k) {
        parent.p += x[k] * get_wrench(c.momentum, c.stride, k);
        parent.r += x[k] * get_vec3(c.turning, c.stride, k);
      }
    }
    const ColumnNode<double>& outboard = c.nodes[n];
    const Twistd& l = lambda[n];
    const Vec3d arm = cross(outboard.momentum.force, l.linear);
    own.p += outboard.inertia * l;
    own.r +=
        outboard.inertia_rate * l.angular + cross(outboard.momentum.moment, l.angular) + arm + arm;
  }
  return transfer;
}

void ParameterAdjoint::add(const State& state, const VectorXd& x, const std::vector<Twistd>& lambda,
                           const SensitivityWorkspace& w, VectorXd& sums) const {
  const DerivativeTable<double>& c = w.columns();
  for (const InertialNode& n : nodes_) {
    const ColumnNode<double>& node = c.nodes[n.node];
    const Twistd v = Ad_inverse(node.pose, node.twist);
    const Twistd l = Ad_inverse(node.pose, lambda[index(n.node)]);
    add_by_inertia(l, Ad_inverse(node.pose, node.acceleration), 1.0, sums.data() + n.place);
    add_by_inertia(ad(v, l), v, -1.0, sums.data() + n.place);
  }
  if (!gravity_.empty())
    for (int k = 0; k < m_.freedoms(); ++k) {
      const Vec3d weight = x[k] * get_wrench(c.momentum, c.stride, k).force;
      for (int i = 0; i < 3; ++i) sums[gravity_place_ + i] -= weight[i];
    }
  if (sides_.empty()) return;
  const std::vector<Transfer> transfer = transfers(x, lambda, w);
  std::vector<SpringEnds> springs;
  if (!m_.springs().empty()) springs = spring_ends(lambda, w);
  // Into the frame of the side's node, where small twists are constant.
  const auto frame_of = [&](const Side& side) {
    const int on = carrier(side);
    return on < 0 ? Transformd{Rotationd{}, -c.nodes[side.node].reference} : c.nodes[on].pose;
  };
  const auto shift_of = [&](const SideMotion& motion) {
    Wrenchd by = by_shift(motion.transfer.p, motion.transfer.r, motion.force, motion.twist,
                          motion.acceleration, motion.lambda);
    if (!springs.empty())
      by += motion.springs.by_shift - cross_star(motion.twist, motion.springs.by_speed);
    return by;
  };
  const bool plain = c.drive_count == 0 && springs.empty();
  for (const Side& side : sides_) {
    const int on = carrier(side);
    const Transfer& here = transfer[index(side.node)];
    Wrenchd own;
    if (plain && on >= 0)
      own = Ad_star(c.nodes[on].pose,
                    by_shift(here.p, here.r, c.nodes[side.node].force, c.nodes[on].twist,
                             c.nodes[on].acceleration, lambda[index(on)]));
    else
      own = Ad_star(frame_of(side), shift_of(motion_of(side, state, x, lambda, w, here, springs)));
    double* to = sums.data() + side.place;
    for (int i = 0; i < 3; ++i) {
      to[i] += own.moment[i];
      to[3 + i] += own.force[i];
    }
  }
  for (const Geometry& g : screws_) {
    const Side& side = sides_[index(g.side)];
    const SideMotion motion =
        motion_of(side, state, x, lambda, w, transfer[index(side.node)], springs);
    const Twistd twist = Ad(frame_of(side), g.twist);
    const Wrenchd& p = motion.transfer.p;
    const Wrenchd by_speed = Wrenchd{motion.transfer.r, Vec3d::zero()} -
                             2.0 * cross_star(motion.twist, p) + motion.springs.by_speed;
    const double q = state.q[m_.coordinate_of_freedom()[index(g.freedom)]];
    sums[g.parameter] +=
        q * dot(shift_of(motion), twist) + state.v[g.freedom] * dot(by_speed, twist) +
        w.acceleration[g.freedom] * dot(p, twist) + x[g.freedom] * dot(motion.force, twist);
  }
}

VectorXd ParameterAdjoint::gradient(const VectorXd& sums) const {
  VectorXd g = sums.head(parameters_);
  for (const Inertial& i : inertial_) g[i.parameter] += contract(sums.data() + i.place, i.change);
  for (const Gravity& i : gravity_) g[i.parameter] += sums[gravity_place_ + i.component];
  for (const Geometry& i : geometry_) {
    const double* f = sums.data() + sides_[index(i.side)].place;
    g[i.parameter] += dot(Wrenchd{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}, i.twist);
  }
  return g;
}

}  // namespace catena
