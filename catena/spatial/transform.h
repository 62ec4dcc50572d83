// SPDX-License-Identifier: BSD-3-Clause
// Transform (rigid displacement), Twist (spatial velocity) and Wrench (spatial force); Ad, Ad*, ad,
// ad*; exp and log on SE(3).
//
// Conventions (docs/notation.md): six-vectors are angular first and refer to the origin and the
// axes of the frame they are given in. X_parent_child takes coordinates in the child frame to
// coordinates in the parent frame: x_parent = R x_child + p.
//
//   Ad(X, V)              twist,  child -> parent      [ R      0 ]
//   Ad_inverse(X, V)      twist,  parent -> child      [ [p]R   R ] = Ad_X
//   Ad_star(X, F)         wrench, parent -> child      Ad_Xᵀ F
//   Ad_star_inverse(X, F) wrench, child -> parent      Ad_X⁻ᵀ F
//   ad(V, W)              [V, W], the rate of W seen from a frame moving with V
//   ad_star(V, F)         ad_Vᵀ F
//
// With spatial inertia J the equation of a body reads F = J V̇ − ad_star(V, J V), V̇ being the
// derivative of the components of V. (Featherstone: crm = ad, crf = −ad_star.)
#pragma once

#include "catena/spatial/rotation.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar = double>
struct Twist {
  Vec3<Scalar> angular{};
  Vec3<Scalar> linear{};

  static Twist zero() { return {Vec3<Scalar>::zero(), Vec3<Scalar>::zero()}; }

  Scalar& operator[](int i) { return i < 3 ? angular[i] : linear[i - 3]; }
  const Scalar& operator[](int i) const { return i < 3 ? angular[i] : linear[i - 3]; }

  Twist& operator+=(const Twist& b) {
    angular += b.angular;
    linear += b.linear;
    return *this;
  }
  Twist& operator-=(const Twist& b) {
    angular -= b.angular;
    linear -= b.linear;
    return *this;
  }
  friend Twist operator+(Twist a, const Twist& b) { return a += b; }
  friend Twist operator-(Twist a, const Twist& b) { return a -= b; }
  friend Twist operator-(const Twist& a) { return {-a.angular, -a.linear}; }
  friend Twist operator*(const Scalar& s, const Twist& a) { return {s * a.angular, s * a.linear}; }
};

template <class Scalar = double>
struct Wrench {
  Vec3<Scalar> moment{};
  Vec3<Scalar> force{};

  static Wrench zero() { return {Vec3<Scalar>::zero(), Vec3<Scalar>::zero()}; }

  Scalar& operator[](int i) { return i < 3 ? moment[i] : force[i - 3]; }
  const Scalar& operator[](int i) const { return i < 3 ? moment[i] : force[i - 3]; }

  Wrench& operator+=(const Wrench& b) {
    moment += b.moment;
    force += b.force;
    return *this;
  }
  Wrench& operator-=(const Wrench& b) {
    moment -= b.moment;
    force -= b.force;
    return *this;
  }
  friend Wrench operator+(Wrench a, const Wrench& b) { return a += b; }
  friend Wrench operator-(Wrench a, const Wrench& b) { return a -= b; }
  friend Wrench operator-(const Wrench& a) { return {-a.moment, -a.force}; }
  friend Wrench operator*(const Scalar& s, const Wrench& a) { return {s * a.moment, s * a.force}; }
};

using Twistd = Twist<double>;
using Wrenchd = Wrench<double>;

// Power of a wrench on a twist, both in one frame.
template <class Scalar>
inline Scalar dot(const Wrench<Scalar>& f, const Twist<Scalar>& v) {
  return dot(f.moment, v.angular) + dot(f.force, v.linear);
}
template <class Scalar>
inline Scalar dot(const Twist<Scalar>& v, const Wrench<Scalar>& f) {
  return dot(f, v);
}

template <class Scalar = double>
struct Transform {
  Rotation<Scalar> rotation = Rotation<Scalar>::identity();
  Vec3<Scalar> translation = Vec3<Scalar>::zero();

  static Transform identity() { return {Rotation<Scalar>::identity(), Vec3<Scalar>::zero()}; }
  static Transform from_translation(const Vec3<Scalar>& p) {
    return {Rotation<Scalar>::identity(), p};
  }

  Transform inverse() const {
    const Rotation<Scalar> r = rotation.inverse();
    return {r, -(r * translation)};
  }
  friend Transform operator*(const Transform& a, const Transform& b) {
    return {a.rotation * b.rotation, a.rotation * b.translation + a.translation};
  }
  // Takes a point from child to parent coordinates.
  friend Vec3<Scalar> operator*(const Transform& a, const Vec3<Scalar>& point) {
    return a.rotation * point + a.translation;
  }
  Vec3<Scalar> inverse_times(const Vec3<Scalar>& point) const {
    return rotation.inverse_times(point - translation);
  }
};

using Transformd = Transform<double>;

template <class Scalar>
inline Twist<Scalar> Ad(const Transform<Scalar>& x, const Twist<Scalar>& v) {
  const Vec3<Scalar> angular = x.rotation * v.angular;
  return {angular, x.rotation * v.linear + cross(x.translation, angular)};
}

template <class Scalar>
inline Twist<Scalar> Ad_inverse(const Transform<Scalar>& x, const Twist<Scalar>& v) {
  return {x.rotation.inverse_times(v.angular),
          x.rotation.inverse_times(v.linear - cross(x.translation, v.angular))};
}

template <class Scalar>
inline Wrench<Scalar> Ad_star(const Transform<Scalar>& x, const Wrench<Scalar>& f) {
  return {x.rotation.inverse_times(f.moment - cross(x.translation, f.force)),
          x.rotation.inverse_times(f.force)};
}

template <class Scalar>
inline Wrench<Scalar> Ad_star_inverse(const Transform<Scalar>& x, const Wrench<Scalar>& f) {
  const Vec3<Scalar> force = x.rotation * f.force;
  return {x.rotation * f.moment + cross(x.translation, force), force};
}

template <class Scalar>
inline Twist<Scalar> ad(const Twist<Scalar>& v, const Twist<Scalar>& w) {
  return {cross(v.angular, w.angular), cross(v.angular, w.linear) + cross(v.linear, w.angular)};
}

template <class Scalar>
inline Wrench<Scalar> ad_star(const Twist<Scalar>& v, const Wrench<Scalar>& f) {
  return {cross(f.moment, v.angular) + cross(f.force, v.linear), cross(f.force, v.angular)};
}

// exp on SE(3): the displacement after unit time at the constant body twist v.
template <class Scalar>
inline Transform<Scalar> exp_transform(const Twist<Scalar>& v) {
  const Vec3<Scalar>& w = v.angular;
  const ExpCoefficients<Scalar> k = exp_coefficients(squared_norm(w));
  const Vec3<Scalar> wv = cross(w, v.linear);
  return {exp_rotation(w), v.linear + k.b * wv + k.c * cross(w, wv)};
}

// The coefficient (1 − (φ/2) cot(φ/2)) / φ² of the inverse of the translation part of exp.
template <class Scalar>
inline Scalar log_coefficient(const Scalar& angle_squared) {
  using std::sqrt;
  // Σ |B_2k| φ^(2k−2) / (2k)!, Bernoulli numbers; terms fall by 4π², so this serves to φ = 1.
  static constexpr double kSeries[] = {1.0 / 12.0,
                                       1.0 / 720.0,
                                       1.0 / 30240.0,
                                       1.0 / 1209600.0,
                                       1.0 / 47900160.0,
                                       691.0 / 1307674368000.0,
                                       1.0 / 74724249600.0,
                                       3617.0 / 10670622842880000.0,
                                       43867.0 / 5109094217170944000.0,
                                       174611.0 / 802857662698291200000.0};
  const auto small = angle_squared < Scalar(1.0);
  const Scalar safe = select(small, Scalar(1.0), angle_squared);
  const Scalar half = Scalar(0.5) * sqrt(safe);
  const SinCos<Scalar> h = sincos(half);
  return select(small, polynomial(kSeries, angle_squared),
                (Scalar(1.0) - half * h.cos / h.sin) / safe);
}

// log on SE(3): the body twist whose exp is x, of angle at most π.
template <class Scalar>
inline Twist<Scalar> log(const Transform<Scalar>& x) {
  const Vec3<Scalar> w = log(x.rotation);
  const Vec3<Scalar> wp = cross(w, x.translation);
  return {w, x.translation - Scalar(0.5) * wp + log_coefficient(squared_norm(w)) * cross(w, wp)};
}

}  // namespace CATENA_ISA
}  // namespace catena
