// SPDX-License-Identifier: BSD-3-Clause
// Pose of a node behind a revolute or prismatic joint about or along the local z axis:
// X_parent_node = X_parent_hinge Rz(q) or X_parent_hinge Tz(q), from sines and cosines that are
// computed beforehand for all coordinates.
#pragma once

#include <type_traits>

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/spatial/trig.h"

namespace catena {
inline namespace CATENA_ISA {

// A turn about or a shift along z, with or without a rotor.
inline bool is_about_or_along_z(const Node& node) {
  return node.hinge == NodeHinge::revolute || node.hinge == NodeHinge::prismatic;
}

// Sines and cosines of the angles of hinges about z, in s.sine and s.cosine by coordinate. For one
// state all coordinates in one loop, which compilers vectorize.
template <class Scalar>
inline void sines_of_angles(const SweepModel& model, const Scalar* q, const Scratch<Scalar>& s) {
  if constexpr (std::is_same_v<Scalar, double>) {
    sincos_of_all(q, model.coordinates, s.sine, s.cosine);
  } else {
    const auto each = [&](auto f) {
      for (int n = 0; n < model.node_count; ++n)
        if (model.nodes[n].hinge == NodeHinge::revolute) f(model.nodes[n].q_index);
    };
    sines_of(q, s.sine, s.cosine, each);
  }
}

// R · Rz(angle) for a constant R: twelve multiplications.
template <class Scalar>
inline Rotation<Scalar> turn_about_z(const double* r, const SinCos<Scalar>& t) {
  const Vec3<Scalar> a{Scalar(r[0]), Scalar(r[3]), Scalar(r[6])};  // columns of R
  const Vec3<Scalar> b{Scalar(r[1]), Scalar(r[4]), Scalar(r[7])};
  const Vec3<Scalar> c{Scalar(r[2]), Scalar(r[5]), Scalar(r[8])};
  return {Mat3<Scalar>::from_columns(t.cos * a + t.sin * b, t.cos * b - t.sin * a, c)};
}

// outer · R · Rz(angle) for a constant R. Row by row, so that R and little else is in registers.
template <class Scalar>
inline void turn_about_z(const Rotation<Scalar>& __restrict outer, const double* r,
                         const SinCos<Scalar>& t, Rotation<Scalar>& __restrict result) {
  const Vec3<Scalar> r0 = load_vec3<Scalar>(r), r1 = load_vec3<Scalar>(r + 3),
                     r2 = load_vec3<Scalar>(r + 6);
  for (int i = 0; i < 3; ++i) {
    const Vec3<Scalar> row = outer.matrix.row(i);
    const Vec3<Scalar> x = row.x * r0 + row.y * r1 + row.z * r2;
    result.matrix.m[i][0] = t.cos * x.x + t.sin * x.y;
    result.matrix.m[i][1] = t.cos * x.y - t.sin * x.x;
    result.matrix.m[i][2] = x.z;
  }
}

// (R · Rz(angle))ᵀ x for a constant R.
template <class Scalar>
inline Vec3<Scalar> turn_back_about_z(const double* r, const SinCos<Scalar>& t,
                                      const Vec3<Scalar>& x) {
  const Vec3<Scalar> y =
      x.x * load_vec3<Scalar>(r) + x.y * load_vec3<Scalar>(r + 3) + x.z * load_vec3<Scalar>(r + 6);
  return {t.cos * y.x + t.sin * y.y, t.cos * y.y - t.sin * y.x, y.z};
}

// X_parent_node of a hinge about or along z.
template <class Scalar>
inline void place_revolute(const Node& node, const Scratch<Scalar>& s, Transform<Scalar>& x) {
  x.rotation =
      turn_about_z(node.rotation, SinCos<Scalar>{s.sine[node.q_index], s.cosine[node.q_index]});
  x.translation = load_vec3<Scalar>(node.translation);
}
template <class Scalar>
inline void place_prismatic(const Node& node, const Scalar& q, Transform<Scalar>& x) {
  x = load_placement<Scalar>(node);
  x.translation += q * x.rotation.axis(2);
}

}  // namespace CATENA_ISA
}  // namespace catena
