// SPDX-License-Identifier: BSD-3-Clause
// SpatialInertia (of a rigid body: 10 numbers) and ArticulatedInertia (of a rigid body with the
// mechanism outboard of it free to move, the matrix of the ABA: 21 numbers).
//
// Both map a twist to a wrench in one frame, about its origin:
//
//   SpatialInertia      [ J      [h] ]       J about the origin, h = mass · centre of mass
//                       [ −[h]   m 1 ]
//   ArticulatedInertia  [ A      B   ]       A, C symmetric
//                       [ Bᵀ     C   ]
//
// The kinetic energy at twist V is ½ dot(I * V, V).
#pragma once

#include "catena/spatial/transform.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar = double>
struct SpatialInertia {
  Scalar mass{};
  Vec3<Scalar> mass_moment{};  // mass times centre of mass
  SymMat3<Scalar> inertia{};   // about the origin of the frame

  static SpatialInertia zero() {
    return {Scalar(0.0), Vec3<Scalar>::zero(), SymMat3<Scalar>::zero()};
  }

  // From the mass, the centre of mass and the inertia about the centre of mass, all in one frame.
  static SpatialInertia from_central(const Scalar& mass, const Vec3<Scalar>& center_of_mass,
                                     const SymMat3<Scalar>& central_inertia) {
    return {mass, mass * center_of_mass, central_inertia + mass * steiner(center_of_mass)};
  }

  // −[c][c] = |c|² 1 − c cᵀ: inertia about the origin of a unit point mass at c.
  static SymMat3<Scalar> steiner(const Vec3<Scalar>& c) {
    const Scalar xx = c.x * c.x, yy = c.y * c.y, zz = c.z * c.z;
    return {yy + zz, -(c.x * c.y), -(c.x * c.z), xx + zz, -(c.y * c.z), xx + yy};
  }

  // Undefined for a massless body (division by the mass).
  Vec3<Scalar> center_of_mass() const { return mass_moment * (Scalar(1.0) / mass); }
  SymMat3<Scalar> central_inertia() const { return inertia - mass * steiner(center_of_mass()); }

  SpatialInertia& operator+=(const SpatialInertia& b) {
    mass = mass + b.mass;
    mass_moment += b.mass_moment;
    inertia += b.inertia;
    return *this;
  }
  friend SpatialInertia operator+(SpatialInertia a, const SpatialInertia& b) { return a += b; }

  friend Wrench<Scalar> operator*(const SpatialInertia& i, const Twist<Scalar>& v) {
    return {i.inertia * v.angular + cross(i.mass_moment, v.linear),
            i.mass * v.linear - cross(i.mass_moment, v.angular)};
  }
};

using SpatialInertiad = SpatialInertia<double>;

// The inertia of a body given in the child frame, expressed in the parent frame of x.
template <class Scalar>
inline SpatialInertia<Scalar> shift_to_parent(const Transform<Scalar>& x,
                                              const SpatialInertia<Scalar>& i) {
  const Vec3<Scalar> h = x.rotation * i.mass_moment;
  const Vec3<Scalar>& p = x.translation;
  // J_p = R J Rᵀ − [h][p] − [p][h] − m [p][p]
  const Scalar two_hp = Scalar(2.0) * dot(h, p);
  SymMat3<Scalar> j =
      congruence(x.rotation.matrix, i.inertia) + i.mass * SpatialInertia<Scalar>::steiner(p);
  j.xx = j.xx + two_hp - Scalar(2.0) * h.x * p.x;
  j.yy = j.yy + two_hp - Scalar(2.0) * h.y * p.y;
  j.zz = j.zz + two_hp - Scalar(2.0) * h.z * p.z;
  j.xy = j.xy - (h.x * p.y + h.y * p.x);
  j.xz = j.xz - (h.x * p.z + h.z * p.x);
  j.yz = j.yz - (h.y * p.z + h.z * p.y);
  return {i.mass, h + i.mass * p, j};
}

template <class Scalar = double>
struct ArticulatedInertia {
  SymMat3<Scalar> angular{};  // A
  Mat3<Scalar> coupling{};    // B
  SymMat3<Scalar> linear{};   // C

  static ArticulatedInertia zero() {
    return {SymMat3<Scalar>::zero(), Mat3<Scalar>::zero(), SymMat3<Scalar>::zero()};
  }
  static ArticulatedInertia from(const SpatialInertia<Scalar>& i) {
    return {i.inertia, skew(i.mass_moment), SymMat3<Scalar>::diagonal(i.mass, i.mass, i.mass)};
  }

  ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
    angular += b.angular;
    coupling += b.coupling;
    linear += b.linear;
    return *this;
  }
  ArticulatedInertia& operator-=(const ArticulatedInertia& b) {
    angular -= b.angular;
    coupling -= b.coupling;
    linear -= b.linear;
    return *this;
  }
  friend ArticulatedInertia operator+(ArticulatedInertia a, const ArticulatedInertia& b) {
    return a += b;
  }
  friend ArticulatedInertia operator-(ArticulatedInertia a, const ArticulatedInertia& b) {
    return a -= b;
  }

  friend Wrench<Scalar> operator*(const ArticulatedInertia& i, const Twist<Scalar>& v) {
    return {i.angular * v.angular + i.coupling * v.linear,
            transpose_times(i.coupling, v.angular) + i.linear * v.linear};
  }
};

using ArticulatedInertiad = ArticulatedInertia<double>;

// scale · f fᵀ as an articulated inertia (the part that a free hinge direction takes away).
template <class Scalar>
inline ArticulatedInertia<Scalar> outer(const Wrench<Scalar>& f, const Scalar& scale) {
  return {scale * outer(f.moment), outer(scale * f.moment, f.force), scale * outer(f.force)};
}

// Ad_X⁻ᵀ I Ad_X⁻¹: the inertia given in the child frame, expressed in the parent frame.
template <class Scalar>
inline ArticulatedInertia<Scalar> shift_to_parent(const Transform<Scalar>& x,
                                                  const ArticulatedInertia<Scalar>& i) {
  const Mat3<Scalar>& r = x.rotation.matrix;
  const Vec3<Scalar>& p = x.translation;
  const SymMat3<Scalar> c = congruence(r, i.linear);
  const Mat3<Scalar> b_rotated = r * i.coupling * transpose(r);
  const Mat3<Scalar> b = b_rotated + cross(p, c.full());
  // A_p = R A Rᵀ + [p] B_rotatedᵀ − B [p], symmetric by construction.
  SymMat3<Scalar> a = congruence(r, i.angular);
  const Mat3<Scalar> u = cross(p, transpose(b_rotated));
  const Mat3<Scalar> w = cross(p, transpose(b));  // (−B [p])ᵀ = [p] Bᵀ, so −B [p] = wᵀ
  a.xx = a.xx + u.m[0][0] + w.m[0][0];
  a.xy = a.xy + u.m[0][1] + w.m[1][0];
  a.xz = a.xz + u.m[0][2] + w.m[2][0];
  a.yy = a.yy + u.m[1][1] + w.m[1][1];
  a.yz = a.yz + u.m[1][2] + w.m[2][1];
  a.zz = a.zz + u.m[2][2] + w.m[2][2];
  return {a, b, c};
}

}  // namespace CATENA_ISA
}  // namespace catena
