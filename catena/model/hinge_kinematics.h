// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; closure/rows.h needs it.
//
// The displacement, motion map and bias of a node's hinge, for any scalar.
//
// J(q) takes the child-side frame (the node's) to the parent-side frame. H v is the relative
// twist in the node's frame; bias = Ḣ v. For a product of screws e1 ... ek the column of factor m
// is Ad(e_{m+1} ... e_k)⁻¹ s_m, and Ḣ v = Σ_l [Σ_{m<l} H_m v_m, H_l v_l].
//
// The sweeps treat revolute, prismatic and screw hinges themselves; this serves all others, and
// code that is not critical for speed.
#pragma once

#include <limits>
#include <type_traits>

#include "catena/model/node.h"
#include "catena/spatial/dual.h"
#include "catena/spatial/inertia.h"
#include "catena/spatial/lanes.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar>
struct HingeMotion {
  Transform<Scalar> displacement;
  Twist<Scalar> map[kMaxFreedoms];
  Twist<Scalar> bias;
};

template <class Scalar>
inline Vec3<Scalar> load_vec3(const double* from) {
  return {Scalar(from[0]), Scalar(from[1]), Scalar(from[2])};
}

// The constant displacement of the hinge on the parent node.
template <class Scalar>
inline Transform<Scalar> load_placement(const Node& node) {
  const double* r = node.rotation;
  return {{Mat3<Scalar>::from_rows(load_vec3<Scalar>(r), load_vec3<Scalar>(r + 3),
                                   load_vec3<Scalar>(r + 6))},
          load_vec3<Scalar>(node.translation)};
}

template <class Scalar>
inline SpatialInertia<Scalar> load_inertia(const Node& node) {
  const double* j = node.inertia;
  return {Scalar(node.mass),
          load_vec3<Scalar>(node.mass_moment),
          {Scalar(j[0]), Scalar(j[1]), Scalar(j[2]), Scalar(j[3]), Scalar(j[4]), Scalar(j[5])}};
}

// The rotation about a unit axis (Rodrigues).
template <class Scalar>
inline Rotation<Scalar> rotation_about(const Vec3<Scalar>& axis, const Scalar& angle) {
  const auto [s, c] = sincos(angle);
  const Scalar k = Scalar(1.0) - c;
  const Vec3<Scalar> ks = k * axis;
  const Vec3<Scalar> ss = s * axis;
  return {{{{c + ks.x * axis.x, ks.x * axis.y - ss.z, ks.x * axis.z + ss.y},
            {ks.y * axis.x + ss.z, c + ks.y * axis.y, ks.y * axis.z - ss.x},
            {ks.z * axis.x - ss.y, ks.z * axis.y + ss.x, c + ks.z * axis.z}}}};
}

template <class Scalar>
inline Quaternion<Scalar> load_quaternion(const Scalar* q) {
  return {q[0], q[1], q[2], q[3]};
}

// Replaces a hinge's motion by that of the inverse displacement: J⁻¹ and −Ad(J) H. The bias of
// −Ad(J) H is −Ad(J)(Ḣ v + [H v, H v]) = −Ad(J) Ḣ v.
template <class Scalar>
inline void reverse(HingeMotion<Scalar>& motion, int freedoms) {
  for (int k = 0; k < freedoms; ++k) motion.map[k] = -Ad(motion.displacement, motion.map[k]);
  motion.bias = -Ad(motion.displacement, motion.bias);
  motion.displacement = motion.displacement.inverse();
}

// A custom hinge of every lane of a pack, one after the other.
template <class Scalar>
inline void evaluate_custom_lanes(const Node& node, const CustomHinge& custom, const Scalar* q,
                                  const Scalar* v, HingeMotion<Scalar>& motion) {
  constexpr int kLanes = kLanesOf<Scalar>;
  double numbers[12 + 6 * kMaxFreedoms + 6][kLanes];
  for (int l = 0; l < kLanes; ++l) {
    double own_q[kMaxFreedoms], own_v[kMaxFreedoms], x[12], map[6 * kMaxFreedoms], bias[6];
    for (int k = 0; k < node.freedoms; ++k) {
      own_q[k] = q[k].lane(l);
      own_v[k] = v[k].lane(l);
    }
    evaluate_custom(custom, node.freedoms, own_q, own_v, x, map, bias);
    for (int i = 0; i < 12; ++i) numbers[i][l] = x[i];
    for (int i = 0; i < 6; ++i) numbers[12 + i][l] = bias[i];
    for (int i = 0; i < 6 * node.freedoms; ++i) numbers[18 + i][l] = map[i];
  }
  for (int i = 0; i < 9; ++i)
    motion.displacement.rotation.matrix.m[i / 3][i % 3] = Scalar::load(numbers[i]);
  for (int i = 0; i < 3; ++i) motion.displacement.translation[i] = Scalar::load(numbers[9 + i]);
  for (int i = 0; i < 6; ++i) {
    motion.bias[i] = Scalar::load(numbers[12 + i]);
    for (int k = 0; k < node.freedoms; ++k)
      motion.map[k][i] = Scalar::load(numbers[18 + 6 * k + i]);
  }
}

// A user's hinge serves double, packs lane by lane and, through its derivatives, Dual<double, N>;
// other scalars get NaN.
template <class Scalar>
inline void evaluate_custom_motion(const CustomHinge&, int freedoms, const Scalar*, const Scalar*,
                                   HingeMotion<Scalar>& motion) {
  const Scalar nan(std::numeric_limits<double>::quiet_NaN());
  motion.displacement = {{{{{nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}}}}, {nan, nan, nan}};
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < freedoms; ++k) motion.map[k][i] = nan;
    motion.bias[i] = nan;
  }
}
inline void evaluate_custom_motion(const CustomHinge& custom, int freedoms, const double* q,
                                   const double* v, HingeMotion<double>& motion) {
  double x[12], map[6 * kMaxFreedoms], bias[6];
  evaluate_custom(custom, freedoms, q, v, x, map, bias);
  for (int i = 0; i < 9; ++i) motion.displacement.rotation.matrix.m[i / 3][i % 3] = x[i];
  motion.displacement.translation = {x[9], x[10], x[11]};
  for (int i = 0; i < 6; ++i) {
    motion.bias[i] = bias[i];
    for (int k = 0; k < freedoms; ++k) motion.map[k][i] = map[6 * k + i];
  }
}
template <int N>
inline void evaluate_custom_motion(const CustomHinge& custom, int freedoms,
                                   const Dual<double, N>* q, const Dual<double, N>* v,
                                   HingeMotion<Dual<double, N>>& motion) {
  double own_q[kMaxFreedoms], own_v[kMaxFreedoms];
  for (int k = 0; k < freedoms; ++k) {
    own_q[k] = q[k].value;
    own_v[k] = v[k].value;
  }
  HingeMotion<double> value;
  double map_by_q[6 * kMaxFreedoms * kMaxFreedoms], bias_by_q[6 * kMaxFreedoms];
  evaluate_custom_motion(custom, freedoms, own_q, own_v, value);
  differentiate_custom(custom, freedoms, own_q, own_v, map_by_q, bias_by_q);
  const auto varied = [&](int l, int m, int i) { return map_by_q[(l * freedoms + m) * 6 + i]; };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      motion.displacement.rotation.matrix.m[i][j].value =
          value.displacement.rotation.matrix.m[i][j];
    motion.displacement.translation[i].value = value.displacement.translation[i];
  }
  for (int i = 0; i < 6; ++i) {
    motion.bias[i].value = value.bias[i];
    for (int m = 0; m < freedoms; ++m) motion.map[m][i].value = value.map[m][i];
  }
  for (int k = 0; k < N; ++k) {
    Twist<double> moved = Twist<double>::zero(), bias = Twist<double>::zero();
    for (int l = 0; l < freedoms; ++l) {
      moved += q[l].derivative[k] * value.map[l];
      for (int i = 0; i < 6; ++i) {
        bias[i] += q[l].derivative[k] * bias_by_q[6 * l + i];
        // Ḣ v is Σ v_l v_m ∂H_m/∂q_l.
        for (int m = 0; m < freedoms; ++m)
          bias[i] += v[l].derivative[k] * own_v[m] * (varied(l, m, i) + varied(m, l, i));
      }
    }
    const Mat3<double> r = value.displacement.rotation.matrix;
    const Mat3<double> turned = r * skew(moved.angular);
    const Vec3<double> shifted = r * moved.linear;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        motion.displacement.rotation.matrix.m[i][j].derivative[k] = turned.m[i][j];
      motion.displacement.translation[i].derivative[k] = shifted[i];
    }
    for (int i = 0; i < 6; ++i) {
      motion.bias[i].derivative[k] = bias[i];
      for (int m = 0; m < freedoms; ++m) {
        double sum = 0.0;
        for (int l = 0; l < freedoms; ++l) sum += q[l].derivative[k] * varied(l, m, i);
        motion.map[m][i].derivative[k] = sum;
      }
    }
  }
}

// q and v point at the hinge's own coordinates.
template <class Scalar>
inline void evaluate_hinge(const Node& node, const NodeScrew* screws, const CustomHinge* custom,
                           const Scalar* q, const Scalar* v, HingeMotion<Scalar>& motion) {
  const Scalar zero(0.0);
  const Scalar one(1.0);
  motion.displacement = Transform<Scalar>::identity();
  motion.bias = Twist<Scalar>::zero();
  switch (node.hinge) {
    case NodeHinge::revolute:
      motion.displacement.rotation = Rotation<Scalar>::about_z(q[0]);
      motion.map[0] = {{zero, zero, one}, {zero, zero, zero}};
      break;
    case NodeHinge::prismatic:
      motion.displacement.translation.z = q[0];
      motion.map[0] = {{zero, zero, zero}, {zero, zero, one}};
      break;
    case NodeHinge::screw:
      motion.displacement.rotation = Rotation<Scalar>::about_z(q[0]);
      motion.displacement.translation.z = Scalar(node.pitch) * q[0];
      motion.map[0] = {{zero, zero, one}, {zero, zero, Scalar(node.pitch)}};
      break;
    case NodeHinge::screws: {
      for (int l = 0; l < node.coordinates; ++l) {
        const NodeScrew& screw = screws[node.first_screw + l];
        const Vec3<Scalar> axis = load_vec3<Scalar>(screw.axis);
        Transform<Scalar> factor = Transform<Scalar>::identity();
        if (screw.rotation)
          factor.rotation = rotation_about(axis, q[screw.coordinate]);
        else
          factor.translation = q[screw.coordinate] * axis;
        motion.displacement = motion.displacement * factor;
        for (int m = 0; m < l; ++m) {
          Twist<Scalar>& column = motion.map[screws[node.first_screw + m].coordinate];
          column = Ad_inverse(factor, column);
        }
        motion.map[screw.coordinate] = screw.rotation ? Twist<Scalar>{axis, Vec3<Scalar>::zero()}
                                                      : Twist<Scalar>{Vec3<Scalar>::zero(), axis};
      }
      Twist<Scalar> inner = Twist<Scalar>::zero();
      for (int l = 0; l < node.coordinates; ++l) {
        const int c = screws[node.first_screw + l].coordinate;
        const Twist<Scalar> own = v[c] * motion.map[c];
        motion.bias += ad(inner, own);
        inner += own;
      }
      break;
    }
    case NodeHinge::spherical:
    case NodeHinge::free:
      motion.displacement.rotation = Rotation<Scalar>::from_quaternion(load_quaternion(q));
      if (node.hinge == NodeHinge::free) motion.displacement.translation = {q[4], q[5], q[6]};
      for (int k = 0; k < node.freedoms; ++k) {
        motion.map[k] = Twist<Scalar>::zero();
        motion.map[k][k] = one;
      }
      break;
    case NodeHinge::custom:
      if constexpr (kLanesOf < Scalar >> 0)
        evaluate_custom_lanes(node, *custom, q, v, motion);
      else
        evaluate_custom_motion(*custom, node.freedoms, q, v, motion);
      break;
    case NodeHinge::modes:
    case NodeHinge::attachment:
      break;  // kernels of their own
  }
  if (node.reversed) reverse(motion, node.freedoms);
}

}  // namespace CATENA_ISA
}  // namespace catena
