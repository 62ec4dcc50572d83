// SPDX-License-Identifier: BSD-3-Clause
// Closed mechanisms by the reference (reference.h), in long double: the rates of every closure of
// random_loops.h, of its first and second order, are derivatives of the positions of points and
// axes. Nothing is shared with the closures of the library.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/base/index.h"
#include "catena/dynamics/testing/random_loops.h"

namespace catena::test {

using Wide = Eigen::Matrix<Exact, Eigen::Dynamic, Eigen::Dynamic>;
using WideVector = Eigen::Matrix<Exact, Eigen::Dynamic, 1>;
using Wide3 = Eigen::Matrix<Exact, 3, 1>;
using WideTurn = Eigen::Matrix<Exact, 3, 3>;

inline Wide3 wide(const Vec3d& a) { return {Exact(a.x), Exact(a.y), Exact(a.z)}; }

// A frame on a body, with its motion.
struct Side {
  WideTurn r;
  Wide3 p, v, a, w, alpha;
};

inline Side side_of(const std::vector<reference::Motion<Exact>>& bodies, int body,
                    const Transformd& x) {
  WideTurn turn;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) turn(i, k) = Exact(x.rotation.matrix.m[i][k]);
  const Wide3 shift = wide(x.translation);
  if (body < 0) return {turn, shift, Wide3::Zero(), Wide3::Zero(), Wide3::Zero(), Wide3::Zero()};
  const auto& m = bodies[index(body)];
  const auto vec = [](const reference::V3<Exact>& a) { return Wide3(a[0], a[1], a[2]); };
  WideTurn r;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) r(i, k) = m.r[index(i)][index(k)];
  Side s;
  s.r = r * turn;
  s.p = vec(m.origin) + r * shift;
  s.w = vec(m.angular_velocity);
  s.alpha = vec(m.angular_acceleration);
  const Wide3 arm = s.p - vec(m.center);
  s.v = vec(m.center_velocity) + s.w.cross(arm);
  s.a = vec(m.center_acceleration) + s.alpha.cross(arm) + s.w.cross(s.w.cross(arm));
  return s;
}

struct Rates {
  std::vector<Exact> first, second;  // of every constraint
};

inline void add_cut(const Cut& c, const Side& p, const Side& q, Rates& rates) {
  const Wide3 w = q.w - p.w, alpha = q.alpha - p.alpha, s = q.p - p.p;
  const auto turn = [&](const Vec3d& direction) {
    const Wide3 e = p.r * wide(direction);
    rates.first.push_back(e.dot(w));
    rates.second.push_back(e.dot(alpha) + p.w.cross(e).dot(w));
  };
  const auto shift = [&](const Vec3d& direction, const Vec3d& axis, double pitch) {
    const Wide3 d = p.r * wide(direction), a = p.r * wide(axis);
    const Wide3 dd = p.w.cross(d);
    rates.first.push_back(d.dot(q.v - p.v) + dd.dot(s) - Exact(pitch) * a.dot(w));
    rates.second.push_back(d.dot(q.a - p.a) + 2 * dd.dot(q.v - p.v) +
                           (p.alpha.cross(d) + p.w.cross(dd)).dot(s) -
                           Exact(pitch) * (a.dot(alpha) + p.w.cross(a).dot(w)));
  };
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const Vec3d axis = c.axes.empty() ? z : normalized(c.axes[0]);
  const Vec3d e1 = normalized(cross(axis, std::abs(axis.x) < 0.6 ? x : y)), e2 = cross(axis, e1);
  switch (c.type) {
    case HingeType::weld:
    case HingeType::prismatic:
    case HingeType::translation:
      for (const Vec3d& e : {x, y, z}) turn(e);
      break;
    case HingeType::revolute:
    case HingeType::screw:
    case HingeType::cylindrical:
    case HingeType::planar:
      turn(e1);
      turn(e2);
      break;
    case HingeType::universal: {
      // a · b is constant.
      const Wide3 a = p.r * wide(normalized(c.axes[0])), b = q.r * wide(normalized(c.axes[1]));
      const Wide3 da = p.w.cross(a), db = q.w.cross(b);
      rates.first.push_back(da.dot(b) + a.dot(db));
      rates.second.push_back((p.alpha.cross(a) + p.w.cross(da)).dot(b) + 2 * da.dot(db) +
                             a.dot(q.alpha.cross(b) + q.w.cross(db)));
      break;
    }
    default:
      break;
  }
  switch (c.type) {
    case HingeType::weld:
    case HingeType::revolute:
    case HingeType::universal:
    case HingeType::spherical:
    case HingeType::gimbal:
      for (const Vec3d& e : {x, y, z}) shift(e, z, 0.0);
      break;
    case HingeType::prismatic:
    case HingeType::cylindrical:
    case HingeType::screw:
      shift(e1, z, 0.0);
      shift(e2, z, 0.0);
      if (c.type == HingeType::screw) shift(axis, axis, c.pitch);
      break;
    case HingeType::planar:
      shift(axis, z, 0.0);
      break;
    default:
      break;
  }
}

inline Rates rates_of(const reference::Engine<Exact>& engine, const Mechanism& tree,
                      const ClosedCase& c, const reference::Vector<Exact>& q,
                      const reference::Vector<Exact>& v, const reference::Vector<Exact>& a) {
  const auto bodies = engine.motion(q, v, a);
  Rates rates;
  for (const Cut& cut : c.cuts)
    add_cut(cut, side_of(bodies, cut.parent, cut.on_parent),
            side_of(bodies, cut.child, cut.on_child), rates);
  for (const Rod& rod : c.rods) {
    const Side p =
        side_of(bodies, tree.body_index(rod.body_a), Transformd::from_translation(rod.point_a));
    const Side o =
        side_of(bodies, tree.body_index(rod.body_b), Transformd::from_translation(rod.point_b));
    rates.first.push_back((o.p - p.p).dot(o.v - p.v));
    rates.second.push_back((o.p - p.p).dot(o.a - p.a) + (o.v - p.v).squaredNorm());
  }
  for (const Coupling& coupling : c.couplings) {
    Exact first = 0, second = 0;
    for (const Coupling::Term& term : coupling.terms) {
      const auto& hinge = tree.hinges()[index(tree.hinge_index(term.hinge))];
      const auto i = to_size(hinge.v_index + term.freedom);
      first += Exact(term.coefficient) * v[i];
      second += Exact(term.coefficient) * a[i];
    }
    rates.first.push_back(first);
    rates.second.push_back(second);
  }
  return rates;
}

inline WideVector wide_vector(const std::vector<Exact>& x) {
  return Eigen::Map<const WideVector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

inline Wide rows_of(const reference::Engine<Exact>& engine, const Mechanism& tree,
                    const ClosedCase& c, const reference::Vector<Exact>& q) {
  const auto n = to_size(tree.freedoms());
  const reference::Vector<Exact> zero(n, 0);
  Wide y;
  for (std::size_t k = 0; k < n; ++k) {
    reference::Vector<Exact> unit = zero;
    unit[k] = 1;
    const WideVector column = wide_vector(rates_of(engine, tree, c, q, unit, zero).first);
    if (k == 0) y.resize(column.size(), tree.freedoms());
    y.col(static_cast<Eigen::Index>(k)) = column;
  }
  // A cut between bodies that are welded together says nothing: its rows are rounding.
  return y.cwiseAbs().maxCoeff() < Exact(1e-12) ? Wide(Wide::Zero(y.rows(), y.cols())) : y;
}

}  // namespace catena::test
