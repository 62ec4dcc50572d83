// SPDX-License-Identifier: BSD-3-Clause
// Articulated inertias times a bias, and moved to the parent, written out for the cases that the
// sweeps meet most: a hinge about, or along, the local z axis whose direction has been eliminated.
//
//   X⁻ᵀ (P − U D⁻¹ Uᵀ) X⁻¹     P in the node's frame, the result in the parent's
//
// P is symmetric with blocks A (angular), B (coupling), C (linear): 21 numbers. [Featherstone 2008,
// appendix A; the use of the zeros is our own]
#pragma once

#include "catena/spatial/inertia.h"

namespace catena {
inline namespace CATENA_ISA {

// sum := base + the inertia whose blocks A, B, C are in the parent's axes, about a point at p from
// the parent's origin, referred to that origin:  C' = C,  B' = B + [p] C,  A' = A + [p] Bᵀ − B'
// [p]. Row by row, each number stored as soon as it is known: few are alive at a time. (`base` may
// be `sum`.)
template <class Scalar>
inline void add_referred(const Vec3<Scalar>& p, const SymMat3<Scalar>& a, const Mat3<Scalar>& b,
                         const SymMat3<Scalar>& c, const ArticulatedInertia<Scalar>& base,
                         ArticulatedInertia<Scalar>& sum) {
  const Vec3<Scalar> c0{c.xx, c.xy, c.xz}, c1{c.xy, c.yy, c.yz}, c2{c.xz, c.yz, c.zz};
  const auto& u = b.m;  // ([p] Bᵀ)_ij  = (p × row j of B)_i;  (−B' [p])_ij = (p × row i of B')_j
  const auto& from = base.coupling.m;
  auto& to = sum.coupling.m;
  const auto store = [&](int i, const Vec3<Scalar>& row) {
    to[i][0] = from[i][0] + row.x;
    to[i][1] = from[i][1] + row.y;
    to[i][2] = from[i][2] + row.z;
  };
  const Vec3<Scalar> w0 = b.row(0) + (p.y * c2 - p.z * c1);
  store(0, w0);
  sum.angular.xx =
      base.angular.xx + a.xx + (p.y * u[0][2] - p.z * u[0][1]) + (p.y * w0.z - p.z * w0.y);
  sum.angular.xy =
      base.angular.xy + a.xy + (p.y * u[1][2] - p.z * u[1][1]) + (p.z * w0.x - p.x * w0.z);
  sum.angular.xz =
      base.angular.xz + a.xz + (p.y * u[2][2] - p.z * u[2][1]) + (p.x * w0.y - p.y * w0.x);
  const Vec3<Scalar> w1 = b.row(1) + (p.z * c0 - p.x * c2);
  store(1, w1);
  sum.angular.yy =
      base.angular.yy + a.yy + (p.z * u[1][0] - p.x * u[1][2]) + (p.z * w1.x - p.x * w1.z);
  sum.angular.yz =
      base.angular.yz + a.yz + (p.z * u[2][0] - p.x * u[2][2]) + (p.x * w1.y - p.y * w1.x);
  const Vec3<Scalar> w2 = b.row(2) + (p.x * c1 - p.y * c0);
  store(2, w2);
  sum.angular.zz =
      base.angular.zz + a.zz + (p.x * u[2][1] - p.y * u[2][0]) + (p.x * w2.y - p.y * w2.x);
  sum.linear = base.linear + c;
}

// The same inertia alone.
template <class Scalar>
inline ArticulatedInertia<Scalar> translated(const Vec3<Scalar>& p, const SymMat3<Scalar>& a,
                                             const Mat3<Scalar>& b, const SymMat3<Scalar>& c) {
  const Mat3<Scalar> shifted = b + cross(p, c.full());
  const auto& u = b.m;        // ([p] Bᵀ)_ij  = (p × row j of B)_i
  const auto& w = shifted.m;  // (−B' [p])_ij = (p × row i of B')_j
  return {{a.xx + (p.y * u[0][2] - p.z * u[0][1]) + (p.y * w[0][2] - p.z * w[0][1]),
           a.xy + (p.y * u[1][2] - p.z * u[1][1]) + (p.z * w[0][0] - p.x * w[0][2]),
           a.xz + (p.y * u[2][2] - p.z * u[2][1]) + (p.x * w[0][1] - p.y * w[0][0]),
           a.yy + (p.z * u[1][0] - p.x * u[1][2]) + (p.z * w[1][0] - p.x * w[1][2]),
           a.yz + (p.z * u[2][0] - p.x * u[2][2]) + (p.x * w[1][1] - p.y * w[1][0]),
           a.zz + (p.x * u[2][1] - p.y * u[2][0]) + (p.x * w[2][1] - p.y * w[2][0])},
          shifted,
          c};
}

// P − U Uᵀ/D with U the z column of P (a hinge about z): row z of A and of B are exact zeros then,
// so only the upper left 2 x 2 block of A and two rows of B are rotated.
template <class Scalar>
inline void add_shifted_about_z(const Transform<Scalar>& x, const ArticulatedInertia<Scalar>& i,
                                const Scalar& inverse, const ArticulatedInertia<Scalar>& base,
                                ArticulatedInertia<Scalar>& sum) {
  const Vec3<Scalar> f = i.coupling.row(2);  // force part of U
  const Scalar kx = inverse * i.angular.xz, ky = inverse * i.angular.yz;
  const Scalar axx = i.angular.xx - kx * i.angular.xz;
  const Scalar axy = i.angular.xy - kx * i.angular.yz;
  const Scalar ayy = i.angular.yy - ky * i.angular.yz;
  const Vec3<Scalar> b0 = i.coupling.row(0) - kx * f;
  const Vec3<Scalar> b1 = i.coupling.row(1) - ky * f;
  const Vec3<Scalar> g = inverse * f;
  const SymMat3<Scalar> c = congruence(
      x.rotation.matrix,
      SymMat3<Scalar>{i.linear.xx - g.x * f.x, i.linear.xy - g.x * f.y, i.linear.xz - g.x * f.z,
                      i.linear.yy - g.y * f.y, i.linear.yz - g.y * f.z, i.linear.zz - g.z * f.z});
  const Vec3<Scalar> t0 = x.rotation.matrix * b0;  // rows of B⁺ Rᵀ
  const Vec3<Scalar> t1 = x.rotation.matrix * b1;
  const Vec3<Scalar> r0 = x.rotation.axis(0), r1 = x.rotation.axis(1);
  const Mat3<Scalar> b =
      Mat3<Scalar>::from_rows(r0.x * t0 + r1.x * t1, r0.y * t0 + r1.y * t1, r0.z * t0 + r1.z * t1);
  const Vec3<Scalar> s0 = axx * r0 + axy * r1;
  const Vec3<Scalar> s1 = axy * r0 + ayy * r1;
  const SymMat3<Scalar> a{r0.x * s0.x + r1.x * s1.x, r0.y * s0.x + r1.y * s1.x,
                          r0.z * s0.x + r1.z * s1.x, r0.y * s0.y + r1.y * s1.y,
                          r0.z * s0.y + r1.z * s1.y, r0.z * s0.z + r1.z * s1.z};
  add_referred(x.translation, a, b, c, base, sum);
}

// The same for a hinge along z: row and column z of C and column z of B are exact zeros.
template <class Scalar>
inline void add_shifted_along_z(const Transform<Scalar>& x, const ArticulatedInertia<Scalar>& i,
                                const Scalar& inverse, const ArticulatedInertia<Scalar>& base,
                                ArticulatedInertia<Scalar>& sum) {
  const Vec3<Scalar> m = i.coupling.column(2);  // moment part of U
  const Scalar kx = inverse * i.linear.xz, ky = inverse * i.linear.yz;
  const Scalar cxx = i.linear.xx - kx * i.linear.xz;
  const Scalar cxy = i.linear.xy - kx * i.linear.yz;
  const Scalar cyy = i.linear.yy - ky * i.linear.yz;
  const Vec3<Scalar> b0 = i.coupling.column(0) - kx * m;
  const Vec3<Scalar> b1 = i.coupling.column(1) - ky * m;
  const Vec3<Scalar> g = inverse * m;
  const SymMat3<Scalar> a = congruence(
      x.rotation.matrix, SymMat3<Scalar>{i.angular.xx - g.x * m.x, i.angular.xy - g.x * m.y,
                                         i.angular.xz - g.x * m.z, i.angular.yy - g.y * m.y,
                                         i.angular.yz - g.y * m.z, i.angular.zz - g.z * m.z});
  const Vec3<Scalar> t0 = x.rotation.matrix * b0;  // columns of R B⁺
  const Vec3<Scalar> t1 = x.rotation.matrix * b1;
  const Vec3<Scalar> r0 = x.rotation.axis(0), r1 = x.rotation.axis(1);
  const Mat3<Scalar> b =
      Mat3<Scalar>::from_rows(t0.x * r0 + t1.x * r1, t0.y * r0 + t1.y * r1, t0.z * r0 + t1.z * r1);
  const Vec3<Scalar> s0 = cxx * r0 + cxy * r1;
  const Vec3<Scalar> s1 = cxy * r0 + cyy * r1;
  const SymMat3<Scalar> c{r0.x * s0.x + r1.x * s1.x, r0.y * s0.x + r1.y * s1.x,
                          r0.z * s0.x + r1.z * s1.x, r0.y * s0.y + r1.y * s1.y,
                          r0.z * s0.y + r1.z * s1.y, r0.z * s0.z + r1.z * s1.z};
  add_referred(x.translation, a, b, c, base, sum);
}

// P c for the bias of a hinge about z, whose z components are zero, and of one along z, which has
// only linear x and y.
template <class Scalar>
inline Wrench<Scalar> times_turned(const ArticulatedInertia<Scalar>& p, const Twist<Scalar>& c) {
  const Vec3<Scalar>& w = c.angular;
  const Vec3<Scalar>& l = c.linear;
  const auto& b = p.coupling.m;
  return {{p.angular.xx * w.x + p.angular.xy * w.y + b[0][0] * l.x + b[0][1] * l.y,
           p.angular.xy * w.x + p.angular.yy * w.y + b[1][0] * l.x + b[1][1] * l.y,
           p.angular.xz * w.x + p.angular.yz * w.y + b[2][0] * l.x + b[2][1] * l.y},
          {b[0][0] * w.x + b[1][0] * w.y + p.linear.xx * l.x + p.linear.xy * l.y,
           b[0][1] * w.x + b[1][1] * w.y + p.linear.xy * l.x + p.linear.yy * l.y,
           b[0][2] * w.x + b[1][2] * w.y + p.linear.xz * l.x + p.linear.yz * l.y}};
}
template <class Scalar>
inline Wrench<Scalar> times_shifted(const ArticulatedInertia<Scalar>& p, const Twist<Scalar>& c) {
  const Vec3<Scalar>& l = c.linear;
  const auto& b = p.coupling.m;
  return {
      {b[0][0] * l.x + b[0][1] * l.y, b[1][0] * l.x + b[1][1] * l.y, b[2][0] * l.x + b[2][1] * l.y},
      {p.linear.xx * l.x + p.linear.xy * l.y, p.linear.xy * l.x + p.linear.yy * l.y,
       p.linear.xz * l.x + p.linear.yz * l.y}};
}

}  // namespace CATENA_ISA
}  // namespace catena
