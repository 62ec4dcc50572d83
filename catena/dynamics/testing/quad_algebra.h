// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of reference.h: series in time, 3 x 3 matrices, elementary functions of every
// scalar, and the displacement of each type of hinge, written from the table in hinge.h.
#pragma once

#include <cmath>
#include <type_traits>

#include "catena/dynamics/testing/quad_reference.h"

namespace catena::reference {

// ---- Elementary functions. ----

template <class Real>
constexpr bool kIsQuad = std::is_same_v<Real, Quad> && !std::is_same_v<Real, long double>;

template <class Real>
Real square_root(const Real& x) {
  if constexpr (kIsQuad<Real>) {
    Real y = std::sqrt(static_cast<double>(x));  // 53 bits, doubled by each of Newton's steps
    for (int i = 0; i < 3; ++i) y = Real(0.5) * (y + x / y);
    return y;
  } else {
    using std::sqrt;
    return sqrt(x);
  }
}

template <class Real>
void sine_and_cosine(const Real& angle, Real& s, Real& c) {
  if constexpr (kIsQuad<Real>) {
    // Taylor series of a 1024th of the angle, then ten doublings of (sin, 1 − cos).
    const Real h = angle / Real(1024);
    Real term = h, versine = Real(0);
    s = h;
    for (int k = 2; k < 30; k += 2) {
      term = term * h / Real(k);  // |h|^k / k!
      versine = versine + (k % 4 == 2 ? term : -term);
      term = term * h / Real(k + 1);
      s = s + (k % 4 == 2 ? -term : term);
    }
    for (int i = 0; i < 10; ++i) {
      const Real old = s;
      s = Real(2) * s * (Real(1) - versine);
      versine = Real(2) * old * old;
    }
    c = Real(1) - versine;
  } else {
    using std::cos;
    using std::sin;
    s = sin(angle);
    c = cos(angle);
  }
}

// ---- Series in time. ----

template <class Real>
Series<Real> operator+(const Series<Real>& a, const Series<Real>& b) {
  return {a.x + b.x, a.d + b.d, a.dd + b.dd};
}
template <class Real>
Series<Real> operator-(const Series<Real>& a, const Series<Real>& b) {
  return {a.x - b.x, a.d - b.d, a.dd - b.dd};
}
template <class Real>
Series<Real> operator*(const Series<Real>& a, const Series<Real>& b) {
  return {a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + Real(2.0) * a.d * b.d + a.x * b.dd};
}
template <class Real>
Series<Real> constant(const Real& x) {
  return {x, Real(0.0), Real(0.0)};
}
template <class Real>
void sine_and_cosine(const Series<Real>& a, Series<Real>& s, Series<Real>& c) {
  sine_and_cosine(a.x, s.x, c.x);
  s.d = c.x * a.d;
  c.d = -s.x * a.d;
  s.dd = c.x * a.dd - s.x * a.d * a.d;
  c.dd = -s.x * a.dd - c.x * a.d * a.d;
}

// ---- Vectors, matrices and frames. ----

template <class S>
V3<S> operator+(const V3<S>& a, const V3<S>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <class S>
V3<S> operator-(const V3<S>& a, const V3<S>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <class S>
V3<S> operator*(const S& k, const V3<S>& a) {
  return {k * a[0], k * a[1], k * a[2]};
}
template <class S>
S inner(const V3<S>& a, const V3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class S>
V3<S> outer_product(const V3<S>& a, const V3<S>& b) {  // a × b
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class S>
V3<S> operator*(const M3<S>& a, const V3<S>& b) {
  return {inner(a[0], b), inner(a[1], b), inner(a[2], b)};
}
template <class S>
M3<S> transposed(const M3<S>& a) {
  M3<S> t;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) t[i][j] = a[j][i];
  return t;
}
template <class S>
M3<S> operator*(const M3<S>& a, const M3<S>& b) {
  const M3<S> t = transposed(b);
  M3<S> c;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) c[i][j] = inner(a[i], t[j]);
  return c;
}
template <class S>
Pose<S> operator*(const Pose<S>& a, const Pose<S>& b) {
  return {a.r * b.r, a.r * b.p + a.p};
}
template <class S>
Pose<S> inverted(const Pose<S>& a) {
  const M3<S> t = transposed(a.r);
  return {t, V3<S>{} - t * a.p};
}

template <class Real>
V3<Real> vector_of(const Vec3d& a) {
  return {Real(a.x), Real(a.y), Real(a.z)};
}
template <class Real>
M3<Real> matrix_of(const Mat3d& a) {
  M3<Real> m;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) m[i][j] = Real(a.m[i][j]);
  return m;
}
template <class Real>
V3<Series<Real>> steady(const V3<Real>& a) {
  return {constant(a[0]), constant(a[1]), constant(a[2])};
}
template <class Real>
M3<Series<Real>> steady(const M3<Real>& a) {
  return {steady(a[0]), steady(a[1]), steady(a[2])};
}
template <class Real>
Pose<Series<Real>> steady(const Transformd& x) {
  return {steady(matrix_of<Real>(x.rotation.matrix)), steady(vector_of<Real>(x.translation))};
}

// ---- Hinges. ----

// Of length one in Real, not only in double.
template <class Real>
V3<Real> unit(const V3<Real>& a) {
  return (Real(1.0) / square_root(inner(a, a))) * a;
}
template <class Real>
V3<Real> hinge_axis(const HingeSettings& hinge, std::size_t i, const Vec3d& otherwise) {
  return unit(vector_of<Real>(i < hinge.axes.size() ? hinge.axes[i] : otherwise));
}

// Rotation by the angle about a unit axis: cos 1 + (1 − cos) a aᵀ + sin [a].
template <class Real>
Pose<Series<Real>> turn(const V3<Real>& axis, const Series<Real>& angle) {
  Series<Real> s, c;
  sine_and_cosine(angle, s, c);
  const Series<Real> rest = constant(Real(1.0)) - c;
  Pose<Series<Real>> x;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      x.r[i][j] = rest * constant(axis[i] * axis[j]);
      if (i == j) x.r[i][j] = x.r[i][j] + c;
    }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    x.r[k][j] = x.r[k][j] + s * constant(axis[i]);
    x.r[j][k] = x.r[j][k] - s * constant(axis[i]);
  }
  return x;
}

template <class Real>
Pose<Series<Real>> shift(const V3<Series<Real>>& p) {
  Pose<Series<Real>> x;
  for (std::size_t i = 0; i < 3; ++i) x.r[i][i] = constant(Real(1.0));
  x.p = p;
  return x;
}
template <class Real>
Pose<Series<Real>> shift(const V3<Real>& axis, const Series<Real>& distance) {
  return shift<Real>(distance * steady(axis));
}

template <class Real>
Pose<Series<Real>> helix_pose(const Series<Real>& a, const Series<Real>& b) {
  const Real one(1.0), zero(0.0);
  Series<Real> s, c;
  sine_and_cosine(a, s, c);
  const Series<Real> two = constant(Real(2.0));
  return shift<Real>({two * c, two * s, a * b}) * turn<Real>({zero, zero, one}, a) *
         turn<Real>({one, zero, zero}, b);
}

// Attitude: the rotation of a unit quaternion, (w² − u·u) 1 + 2 u uᵀ + 2 w [u], followed by the
// rotation vector θ(t) = ω t + ½ ω̇ t². To second order in t that is 1 + [θ] + ½ [θ]².
template <class Real>
M3<Series<Real>> attitude(const Real* q, const Real* v, const Real* a) {
  const V3<Real> u{q[1], q[2], q[3]};
  M3<Real> r;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      r[i][j] = Real(2.0) * u[i] * u[j];
      if (i == j) r[i][j] = r[i][j] + q[0] * q[0] - inner(u, u);
    }
  M3<Series<Real>> theta{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    r[k][j] = r[k][j] + Real(2.0) * q[0] * u[i];
    r[j][k] = r[j][k] - Real(2.0) * q[0] * u[i];
    theta[k][j] = {Real(0.0), v[i], a[i]};
    theta[j][k] = {Real(0.0), -v[i], -a[i]};
  }
  M3<Series<Real>> step = theta * theta;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      step[i][j] = theta[i][j] + constant(Real(0.5)) * step[i][j];
      if (i == j) step[i][j] = step[i][j] + constant(Real(1.0));
    }
  return steady(r) * step;
}

// X_parentside_childside along the motion. q, v, a: of this hinge.
template <class Real>
Pose<Series<Real>> displacement(const HingeSettings& hinge, const Real* q, const Real* v,
                                const Real* a) {
  const auto along = [&](int k) { return Series<Real>{q[k], v[k], a[k]}; };
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const auto axis = [&](std::size_t i, const Vec3d& otherwise) {
    return hinge_axis<Real>(hinge, i, otherwise);
  };
  switch (hinge.type) {
    case HingeType::modes:
    case HingeType::attachment:
    case HingeType::weld:
      break;
    case HingeType::revolute:
      return turn(axis(0, z), along(0));
    case HingeType::prismatic:
      return shift(axis(0, z), along(0));
    case HingeType::screw:
      return turn(axis(0, z), along(0)) * shift(axis(0, z), constant(Real(hinge.pitch)) * along(0));
    case HingeType::cylindrical:
      return turn(axis(0, z), along(0)) * shift(axis(0, z), along(1));
    case HingeType::universal:
      return turn(axis(0, x), along(0)) * turn(axis(1, y), along(1));
    case HingeType::planar: {
      const V3<Real> normal = axis(0, z);
      V3<Real> plane_x = axis(1, x);
      plane_x = unit(plane_x - inner(plane_x, normal) * normal);
      return shift(plane_x, along(1)) * shift(outer_product(normal, plane_x), along(2)) *
             turn(normal, along(0));
    }
    case HingeType::gimbal:
      return turn(axis(0, x), along(0)) * turn(axis(1, y), along(1)) * turn(axis(2, z), along(2));
    case HingeType::translation:
      return shift<Real>({along(0), along(1), along(2)});
    case HingeType::spherical: {
      Pose<Series<Real>> pose = shift<Real>(V3<Series<Real>>{});
      pose.r = attitude(q, v, a);
      return pose;
    }
    case HingeType::free: {
      // ṗ = R v, p̈ = R (v̇ + ω × v).
      Pose<Series<Real>> pose = shift<Real>(V3<Series<Real>>{});
      pose.r = attitude(q, v, a);
      const V3<Real> turned = outer_product<Real>({v[0], v[1], v[2]}, {v[3], v[4], v[5]});
      for (std::size_t i = 0; i < 3; ++i) {
        pose.p[i] = constant(q[4 + i]);
        for (std::size_t j = 0; j < 3; ++j) {
          pose.p[i].d = pose.p[i].d + pose.r[i][j].x * v[3 + j];
          pose.p[i].dd = pose.p[i].dd + pose.r[i][j].x * (a[3 + j] + turned[j]);
        }
      }
      return pose;
    }
    case HingeType::custom:
      return helix_pose(along(0), along(1));
  }
  return shift<Real>(V3<Series<Real>>{});
}

}  // namespace catena::reference
