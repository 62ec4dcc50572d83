// SPDX-License-Identifier: BSD-3-Clause
// Rotation and Quaternion, and exp/log on SO(3).
//
// A Rotation R_parent_child takes components in the child frame to components in the parent
// frame: x_parent = R_parent_child * x_child. Its columns are the child's axes as seen by the
// parent. A Quaternion is (w, x, y, z), w the scalar part.
//
// The functions of the angle that exp and log need (sin φ/φ and similar ones) are evaluated as
// functions of φ², by their series below φ = 1, so that they and their derivatives (dual numbers)
// are exact through φ = 0.
#pragma once

#include "catena/spatial/vec3.h"

namespace catena {
inline namespace CATENA_ISA {

// The coefficients of exp at squared angle φ²:
//   a = sin φ / φ,  b = (1 − cos φ) / φ²,  c = (φ − sin φ) / φ³.
template <class Scalar>
struct ExpCoefficients {
  Scalar a;
  Scalar b;
  Scalar c;
};

template <class Scalar>
inline ExpCoefficients<Scalar> exp_coefficients(const Scalar& angle_squared) {
  using std::sqrt;
  // Taylor series in φ²; at φ² = 1 the first term left out is below 1e-19.
  static constexpr double kA[] = {1.0,
                                  -1.0 / 6.0,
                                  1.0 / 120.0,
                                  -1.0 / 5040.0,
                                  1.0 / 362880.0,
                                  -1.0 / 39916800.0,
                                  1.0 / 6227020800.0,
                                  -1.0 / 1307674368000.0,
                                  1.0 / 355687428096000.0,
                                  -1.0 / 121645100408832000.0};
  static constexpr double kB[] = {1.0 / 2.0,
                                  -1.0 / 24.0,
                                  1.0 / 720.0,
                                  -1.0 / 40320.0,
                                  1.0 / 3628800.0,
                                  -1.0 / 479001600.0,
                                  1.0 / 87178291200.0,
                                  -1.0 / 20922789888000.0,
                                  1.0 / 6402373705728000.0,
                                  -1.0 / 2432902008176640000.0};
  static constexpr double kC[] = {1.0 / 6.0,
                                  -1.0 / 120.0,
                                  1.0 / 5040.0,
                                  -1.0 / 362880.0,
                                  1.0 / 39916800.0,
                                  -1.0 / 6227020800.0,
                                  1.0 / 1307674368000.0,
                                  -1.0 / 355687428096000.0,
                                  1.0 / 121645100408832000.0};
  const auto small = angle_squared < Scalar(1.0);
  // The closed form is kept away from 0/0 in lanes that do not use it.
  const Scalar safe = select(small, Scalar(1.0), angle_squared);
  const Scalar angle = sqrt(safe);
  const SinCos<Scalar> half = sincos(Scalar(0.5) * angle);
  const Scalar inverse = Scalar(1.0) / safe;
  const Scalar sine = Scalar(2.0) * half.sin * half.cos;
  const Scalar a = sine / angle;
  return {select(small, polynomial(kA, angle_squared), a),
          select(small, polynomial(kB, angle_squared), Scalar(2.0) * half.sin * half.sin * inverse),
          select(small, polynomial(kC, angle_squared), (Scalar(1.0) - a) * inverse)};
}

template <class Scalar = double>
struct Quaternion {
  Scalar w{1.0};
  Scalar x{0.0};
  Scalar y{0.0};
  Scalar z{0.0};

  static Quaternion identity() { return {Scalar(1.0), Scalar(0.0), Scalar(0.0), Scalar(0.0)}; }
  Vec3<Scalar> vector() const { return {x, y, z}; }
  Scalar squared_norm() const { return w * w + x * x + y * y + z * z; }
  Quaternion conjugate() const { return {w, -x, -y, -z}; }

  friend Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  }
};

using Quaterniond = Quaternion<double>;

template <class Scalar>
inline Quaternion<Scalar> normalized(const Quaternion<Scalar>& q) {
  using std::sqrt;
  const Scalar s = Scalar(1.0) / sqrt(q.squared_norm());
  return {q.w * s, q.x * s, q.y * s, q.z * s};
}

// The unit quaternion of the rotation vector w (axis times angle).
template <class Scalar>
inline Quaternion<Scalar> exp_quaternion(const Vec3<Scalar>& rotation_vector) {
  const Vec3<Scalar> half = rotation_vector * Scalar(0.5);
  const Scalar h2 = squared_norm(half);
  const ExpCoefficients<Scalar> k = exp_coefficients(h2);
  const Scalar w = Scalar(1.0) - k.b * h2;  // cos of the half angle
  return {w, k.a * half.x, k.a * half.y, k.a * half.z};
}

// The rotation vector of a unit quaternion, of length at most π.
template <class Scalar>
inline Vec3<Scalar> log(const Quaternion<Scalar>& q) {
  using std::atan2;
  using std::sqrt;
  const auto negative = q.w < Scalar(0.0);
  const Scalar w = select(negative, -q.w, q.w);
  const Vec3<Scalar> v = select(negative, -q.vector(), q.vector());
  const Scalar s2 = squared_norm(v);
  // 2 atan2(s, w)/s = (2/w) atan(t)/t with t = s/w; series in t² below t = 0.1.
  static constexpr double kAtan[] = {1.0,       -1.0 / 3.0, 1.0 / 5.0,   -1.0 / 7.0, 1.0 / 9.0,
                                     -1.0 / 11, 1.0 / 13.0, -1.0 / 15.0, 1.0 / 17.0};
  const auto small = s2 < Scalar(0.01) * w * w;
  const Scalar safe_s = sqrt(select(small, Scalar(1.0), s2));
  const Scalar safe_w = select(small, w, Scalar(1.0));
  const Scalar t2 = select(small, s2, Scalar(0.0)) / (safe_w * safe_w);
  const Scalar factor = select(small, Scalar(2.0) / safe_w * polynomial(kAtan, t2),
                               Scalar(2.0) * atan2(safe_s, w) / safe_s);
  return factor * v;
}

template <class Scalar = double>
struct Rotation {
  Mat3<Scalar> matrix = Mat3<Scalar>::identity();

  static Rotation identity() { return {Mat3<Scalar>::identity()}; }

  static Rotation about_x(const Scalar& angle) {
    const auto [s, c] = sincos(angle);
    const Scalar o(0.0);
    return {{{{Scalar(1.0), o, o}, {o, c, -s}, {o, s, c}}}};
  }
  static Rotation about_y(const Scalar& angle) {
    const auto [s, c] = sincos(angle);
    const Scalar o(0.0);
    return {{{{c, o, s}, {o, Scalar(1.0), o}, {-s, o, c}}}};
  }
  static Rotation about_z(const Scalar& angle) {
    const auto [s, c] = sincos(angle);
    const Scalar o(0.0);
    return {{{{c, -s, o}, {s, c, o}, {o, o, Scalar(1.0)}}}};
  }
  // Roll, pitch, yaw about the fixed x, y, z axes: Rz(yaw) Ry(pitch) Rx(roll), as in URDF and SDF.
  static Rotation from_rpy(const Scalar& roll, const Scalar& pitch, const Scalar& yaw) {
    return about_z(yaw) * about_y(pitch) * about_x(roll);
  }
  // The rotation of a unit quaternion.
  static Rotation from_quaternion(const Quaternion<Scalar>& q) {
    const Scalar one(1.0);
    const Scalar two(2.0);
    const Scalar xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    const Scalar xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    const Scalar wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return {{{{one - two * (yy + zz), two * (xy - wz), two * (xz + wy)},
              {two * (xy + wz), one - two * (xx + zz), two * (yz - wx)},
              {two * (xz - wy), two * (yz + wx), one - two * (xx + yy)}}}};
  }

  Rotation inverse() const { return {transpose(matrix)}; }
  Vec3<Scalar> axis(int i) const { return matrix.column(i); }

  friend Rotation operator*(const Rotation& a, const Rotation& b) { return {a.matrix * b.matrix}; }
  friend Vec3<Scalar> operator*(const Rotation& a, const Vec3<Scalar>& b) { return a.matrix * b; }
  // R⁻¹ b.
  Vec3<Scalar> inverse_times(const Vec3<Scalar>& b) const { return transpose_times(matrix, b); }
};

using Rotationd = Rotation<double>;

// exp on SO(3): the rotation by the angle |w| about the axis w/|w|.
template <class Scalar>
inline Rotation<Scalar> exp_rotation(const Vec3<Scalar>& w) {
  const Scalar w2 = squared_norm(w);
  const ExpCoefficients<Scalar> k = exp_coefficients(w2);
  // R = 1 + a [w] + b [w]²,  [w]² = w wᵀ − |w|² 1.
  const Vec3<Scalar> aw = k.a * w;
  const Vec3<Scalar> bw = k.b * w;
  const Scalar d = Scalar(1.0) - k.b * w2;
  const Scalar xy = bw.x * w.y, xz = bw.x * w.z, yz = bw.y * w.z;
  return {{{{d + bw.x * w.x, xy - aw.z, xz + aw.y},
            {xy + aw.z, d + bw.y * w.y, yz - aw.x},
            {xz - aw.y, yz + aw.x, d + bw.z * w.z}}}};
}

// The unit quaternion (w >= 0) of a rotation. Each of four formulas is exact where its
// leading component is large (Shepperd); the largest is chosen, so the result is accurate at
// every angle, π included.
template <class Scalar>
inline Quaternion<Scalar> to_quaternion(const Rotation<Scalar>& rotation) {
  using std::sqrt;
  const auto& m = rotation.matrix.m;
  const Scalar one(1.0);
  const Scalar tw = one + m[0][0] + m[1][1] + m[2][2];  // 4 w², and so on
  const Scalar tx = one + m[0][0] - m[1][1] - m[2][2];
  const Scalar ty = one - m[0][0] + m[1][1] - m[2][2];
  const Scalar tz = one - m[0][0] - m[1][1] + m[2][2];
  const Scalar dx = m[2][1] - m[1][2], dy = m[0][2] - m[2][0], dz = m[1][0] - m[0][1];
  const Scalar sx = m[2][1] + m[1][2], sy = m[0][2] + m[2][0], sz = m[1][0] + m[0][1];

  Scalar best = tw;
  Quaternion<Scalar> q{tw, dx, dy, dz};
  const auto choose = [&](const Scalar& t, const Quaternion<Scalar>& candidate) {
    const auto larger = best < t;
    best = select(larger, t, best);
    q = {select(larger, candidate.w, q.w), select(larger, candidate.x, q.x),
         select(larger, candidate.y, q.y), select(larger, candidate.z, q.z)};
  };
  choose(tx, {dx, tx, sz, sy});
  choose(ty, {dy, sz, ty, sx});
  choose(tz, {dz, sy, sx, tz});
  const Scalar scale = Scalar(0.5) / sqrt(best);
  const Scalar signed_scale = select(q.w < Scalar(0.0), -scale, scale);
  return normalized(Quaternion<Scalar>{q.w * signed_scale, q.x * signed_scale, q.y * signed_scale,
                                       q.z * signed_scale});
}

// log on SO(3): the rotation vector, of length at most π. At exactly π the sign of the axis is
// a convention (the quaternion's).
template <class Scalar>
inline Vec3<Scalar> log(const Rotation<Scalar>& rotation) {
  return log(to_quaternion(rotation));
}

// A rotation that takes the z axis to the given unit vector: the shortest one; for −z the half
// turn about x. Used to re-base hinge frames, hence double only.
Rotation<double> rotation_from_z_to(const Vec3<double>& unit);

}  // namespace CATENA_ISA
}  // namespace catena
