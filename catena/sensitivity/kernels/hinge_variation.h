// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of the motion map of a hinge by its own coordinates, in the node's frame.
//
// Direction l is the tangent direction of freedom l: the child moves by the twist H_l. For a
// product of screws (in the order of its factors)
//
//   ∂H_m/∂q_l = [H_m, H_l] for m before l, else 0,    Ḣ v = Σ_{m before l} [H_m v_m, H_l v_l],
//
// from which its derivatives follow by the product rule. Spherical and free hinges have a constant
// map and tangent directions in the child's frame: nothing varies. A hinge that is traversed
// against its author's direction has H' = −Ad(J) H, hence ∂H'_m/∂q_l = −Ad(J) ([H_l, H_m] +
// ∂H_m/∂q_l). ([Sohl & Bobrow 2001], section 4, has hinges of one freedom only.)
#pragma once

#include "catena/model/hinge_kinematics.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar>
struct HingeVariation {
  Twist<Scalar> map_by_q[kMaxFreedoms][kMaxFreedoms];  // [l][m]: ∂H_m/∂q_l
  Twist<Scalar> bias_by_q[kMaxFreedoms];               // ∂(Ḣ v)/∂q_l
  Twist<Scalar> bias_by_v[kMaxFreedoms];               // ∂(Ḣ v)/∂v_l
};

// True if the map depends on q at all.
inline bool varies(const Node& node) {
  return node.hinge == NodeHinge::screws || node.hinge == NodeHinge::custom || node.reversed;
}

template <class Scalar>
inline void vary_screws(const Node& node, const NodeScrew* screws, const Scalar* v,
                        const HingeMotion<Scalar>& motion, HingeVariation<Scalar>& out) {
  const int n = node.coordinates;
  const auto at = [&](int place) { return screws[node.first_screw + place].coordinate; };
  for (int l = 0; l < n; ++l)
    for (int m = 0; m < n; ++m)
      out.map_by_q[at(l)][at(m)] =
          m < l ? ad(motion.map[at(m)], motion.map[at(l)]) : Twist<Scalar>::zero();
  for (int k = 0; k < n; ++k) {
    Twist<Scalar> inner = Twist<Scalar>::zero();  // Σ_{m before l} H_m v_m, and its variation
    Twist<Scalar> inner_varied = Twist<Scalar>::zero();
    Twist<Scalar> by_q = Twist<Scalar>::zero(), by_v = Twist<Scalar>::zero();
    for (int l = 0; l < n; ++l) {
      const Twist<Scalar> own = v[at(l)] * motion.map[at(l)];
      const Twist<Scalar> varied = v[at(l)] * out.map_by_q[at(k)][at(l)];
      by_q += ad(inner_varied, own) + ad(inner, varied);
      if (l > k) by_v += ad(motion.map[at(k)], own);
      if (l == k) by_v += ad(inner, motion.map[at(k)]);
      inner += own;
      inner_varied += varied;
    }
    out.bias_by_q[at(k)] = by_q;
    out.bias_by_v[at(k)] = by_v;
  }
}

template <class Scalar>
inline void vary_custom(const CustomHinge&, int freedoms, const Scalar*, const Scalar*,
                        HingeVariation<Scalar>& out) {
  const Scalar nan(std::numeric_limits<double>::quiet_NaN());
  for (int l = 0; l < freedoms; ++l)
    for (int i = 0; i < 6; ++i) {
      for (int m = 0; m < freedoms; ++m) out.map_by_q[l][m][i] = nan;
      out.bias_by_q[l][i] = out.bias_by_v[l][i] = nan;
    }
}
inline void vary_custom(const CustomHinge& custom, int freedoms, const double* q, const double* v,
                        HingeVariation<double>& out) {
  double map_by_q[6 * kMaxFreedoms * kMaxFreedoms], bias_by_q[6 * kMaxFreedoms];
  differentiate_custom(custom, freedoms, q, v, map_by_q, bias_by_q);
  for (int l = 0; l < freedoms; ++l)
    for (int i = 0; i < 6; ++i) {
      for (int m = 0; m < freedoms; ++m)
        out.map_by_q[l][m][i] = map_by_q[(l * freedoms + m) * 6 + i];
      out.bias_by_q[l][i] = bias_by_q[6 * l + i];
    }
  for (int l = 0; l < freedoms; ++l) {
    out.bias_by_v[l] = Twist<double>::zero();
    for (int m = 0; m < freedoms; ++m)
      out.bias_by_v[l] += v[m] * (out.map_by_q[l][m] + out.map_by_q[m][l]);
  }
}

// q and v point at the hinge's own coordinates; `motion` is what evaluate_hinge() gave there.
template <class Scalar>
inline void vary_hinge(const Node& node, const NodeScrew* screws, const CustomHinge* custom,
                       const Scalar* q, const Scalar* v, HingeMotion<Scalar> motion,
                       HingeVariation<Scalar>& out) {
  const int n = node.freedoms;
  if (node.reversed) reverse(motion, n);  // twice is once: the hinge as its author wrote it
  if (node.hinge == NodeHinge::screws) {
    vary_screws(node, screws, v, motion, out);
  } else if (node.hinge == NodeHinge::custom) {
    vary_custom(*custom, n, q, v, out);
  } else {
    for (int l = 0; l < n; ++l) {
      for (int m = 0; m < n; ++m) out.map_by_q[l][m] = Twist<Scalar>::zero();
      out.bias_by_q[l] = out.bias_by_v[l] = Twist<Scalar>::zero();
    }
  }
  if (!node.reversed) return;
  for (int l = 0; l < n; ++l) {
    for (int m = 0; m < n; ++m)
      out.map_by_q[l][m] =
          -Ad(motion.displacement, ad(motion.map[l], motion.map[m]) + out.map_by_q[l][m]);
    out.bias_by_q[l] = -Ad(motion.displacement, ad(motion.map[l], motion.bias) + out.bias_by_q[l]);
    out.bias_by_v[l] = -Ad(motion.displacement, out.bias_by_v[l]);
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
