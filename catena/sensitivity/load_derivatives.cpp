// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/load_derivatives.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/sensitivity/kernels/columns.h"

namespace catena {
namespace {

// A point of a body about the reference point of its tree.
struct PointMotion {
  int node = -1;
  Vec3d place;     // from the reference point; absolute on the ground
  Vec3d position;  // in the ground frame
  Vec3d velocity;
};

PointMotion motion_of(const DerivativeTable<double>& c, const PointPlace& at) {
  PointMotion p;
  p.node = at.node;
  if (at.node < 0) {
    p.place = p.position = at.point;
    return p;
  }
  const ColumnNode<double>& node = c.nodes[at.node];
  p.place = node.pose * at.point;
  p.position = p.place + node.reference;
  p.velocity = node.twist.linear + cross(node.twist.angular, p.place);
  return p;
}

// Change of position and velocity of a point along the tangent direction of freedom l, and of its
// velocity with the speed of l.
Vec3d shift_of(const Twistd& s, const PointMotion& p) {
  return s.linear + cross(s.angular, p.place);
}
Vec3d swing_of(const DerivativeTable<double>& c, int l, const Twistd& s, const PointMotion& p) {
  const ColumnNode<double>& node = c.nodes[p.node];
  const Twistd change = ad(s, node.twist) + get_twist(c.rate, c.stride, l);
  return change.linear + cross(change.angular, p.place) + cross(node.twist.angular, shift_of(s, p));
}

// Calls q_entry(k, l, value) and v_entry(k, l, value) for every entry that the loads other than
// those of hinges add.
template <class QEntry, class VEntry>
void spring_entries(const SensitivityWorkspace& w, const SpringPlace& spring, QEntry q_entry,
                    VEntry v_entry) {
  const Mechanism& m = w.mechanism();
  const DerivativeTable<double>& c = w.columns();
  const PointMotion a = motion_of(c, spring.a), b = motion_of(c, spring.b);
  const Vec3d gap = b.position - a.position;
  const double length = norm(gap);
  // A plain spring of no rest length pulls with k · gap, also where its ends meet.
  const bool plain = spring.rest_length == 0.0 && spring.damping == 0.0;
  if (!plain && !(length > 0.0)) return;  // loads.cpp has thrown an error
  const Vec3d d = plain ? Vec3d::zero() : gap * (1.0 / length);
  const Vec3d u = b.velocity - a.velocity;
  const double tension =
      plain ? 0.0 : spring.stiffness * (length - spring.rest_length) + spring.damping * dot(d, u);
  const Vec3d force = plain ? spring.stiffness * gap : tension * d;  // on a
  const auto changed = [&](const Vec3d& gap_change, const Vec3d& u_change) {
    if (plain) return spring.stiffness * gap_change;
    const double stretch = dot(d, gap_change);
    const Vec3d turn = (gap_change - stretch * d) * (1.0 / length);
    const double pull =
        spring.stiffness * stretch + spring.damping * (dot(turn, u) + dot(d, u_change));
    return pull * d + tension * turn;
  };
  // The work of a change g of the force at either end on each freedom.
  const auto spread = [&](const PointMotion& p, const Vec3d& g, int l, auto entry) {
    each_inboard(m, p.node, [&](int k) {
      const Twistd s = get_twist(c.twist, c.stride, k);
      entry(k, l, -dot(shift_of(s, p), g));
    });
  };
  const auto visit = [&](int l, bool moves_a, bool moves_b) {
    const Twistd s = get_twist(c.twist, c.stride, l);
    Vec3d gap_change = Vec3d::zero(), u_change = Vec3d::zero(), speed_change = Vec3d::zero();
    if (moves_b) {
      gap_change += shift_of(s, b);
      u_change += swing_of(c, l, s, b);
      speed_change += shift_of(s, b);
    }
    if (moves_a) {
      gap_change -= shift_of(s, a);
      u_change -= swing_of(c, l, s, a);
      speed_change -= shift_of(s, a);
    }
    const Vec3d change = changed(gap_change, u_change);
    const Vec3d carried = cross(s.angular, force);
    spread(a, moves_a ? change - carried : change, l, q_entry);
    spread(b, moves_b ? carried - change : -change, l, q_entry);
    if (spring.damping == 0.0) return;
    const Vec3d damped = spring.damping * dot(d, speed_change) * d;
    spread(a, damped, l, v_entry);
    spread(b, -damped, l, v_entry);
  };
  // Freedoms of a, then those of b alone. (The two paths share their inner part.)
  const auto is_inboard = [&](int l, int node) {
    bool found = false;
    each_inboard(m, node, [&](int k) { found = found || k == l; });
    return found;
  };
  each_inboard(m, a.node, [&](int l) { visit(l, true, is_inboard(l, b.node)); });
  each_inboard(m, b.node, [&](int l) {
    if (!is_inboard(l, a.node)) visit(l, false, true);
  });
}

template <class QEntry>
void wrench_entries(const SensitivityWorkspace& w, const ExternalWrench& e, QEntry q_entry) {
  if (e.body < 0 || e.axes != ExternalWrench::Axes::ground) return;
  const Mechanism& m = w.mechanism();
  const BodyPlace& body = m.bodies()[index(e.body)];
  if (body.node < 0) return;
  const DerivativeTable<double>& c = w.columns();
  const Vec3d r = c.nodes[body.node].pose * (body.X_node_body * e.point);
  each_inboard(m, body.node, [&](int l) {
    const Vec3d s = get_vec3(c.twist, c.stride, l);
    const Vec3d force = cross(e.wrench.force, s);
    const Wrenchd x{cross(e.wrench.moment, s) + cross(r, force), force};
    each_inboard(m, body.node,
                 [&](int k) { q_entry(k, l, -dot(x, get_twist(c.twist, c.stride, k))); });
  });
}

template <class QEntry, class VEntry>
void hinge_entries(const Mechanism& mechanism, const State& state, QEntry q_entry, VEntry v_entry) {
  const auto settings = mechanism.freedom_settings();
  const auto coordinates = mechanism.coordinate_of_freedom();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const FreedomSettings& f = settings[i];
    const int k = static_cast<int>(i);
    double slope = f.damping;
    if (f.friction.active()) slope -= regularized_friction(f.friction, state.v[k]).slope;
    if (slope != 0.0) v_entry(k, k, slope);
    if (f.stiffness != 0.0 && coordinates[i] >= 0) q_entry(k, k, f.stiffness);
  }
}

template <class QEntry, class VEntry>
void all_entries(const State& state, std::span<const ExternalWrench> external,
                 const SensitivityWorkspace& w, QEntry q_entry, VEntry v_entry) {
  if (w.dynamics().has_passive_elements()) hinge_entries(w.mechanism(), state, q_entry, v_entry);
  for (const SpringPlace& spring : w.mechanism().springs())
    spring_entries(w, spring, q_entry, v_entry);
  for (const ExternalWrench& e : external) wrench_entries(w, e, q_entry);
}

}  // namespace

void add_load_derivatives(const State& state, std::span<const ExternalWrench> external,
                          SensitivityWorkspace& w) {
  const int stride = w.stride();
  double* by_q = w.by_q();
  double* by_v = w.by_v();
  all_entries(
      state, external, w, [&](int k, int l, double x) { by_q[l * stride + k] += x; },
      [&](int k, int l, double x) { by_v[l * stride + k] += x; });
}

void add_load_product(const State& state, std::span<const ExternalWrench> external,
                      const Eigen::VectorXd& q, const Eigen::VectorXd& v, SensitivityWorkspace& w,
                      Eigen::VectorXd& effort) {
  all_entries(
      state, external, w, [&](int k, int l, double x) { effort[k] += x * q[l]; },
      [&](int k, int l, double x) { effort[k] += x * v[l]; });
}

void add_load_adjoint(const State& state, std::span<const ExternalWrench> external,
                      const Eigen::VectorXd& x, SensitivityWorkspace& w, Eigen::VectorXd& by_q,
                      Eigen::VectorXd& by_v) {
  all_entries(
      state, external, w, [&](int k, int l, double e) { by_q[l] += e * x[k]; },
      [&](int k, int l, double e) { by_v[l] += e * x[k]; });
}

}  // namespace catena
