// The steps of the sweeps for hinges that are not a plain turn about or shift along z: several
// freedoms, a motion map that depends on q, freedoms of which some are motion-driven, and drives
// with a rotor.
//
// A rotor carried by the parent (spinning `ratio` times as fast as the hinge about an axis fixed in
// it) adds ½ ratio² J v² + ratio J v (axis · ω_parent) to the kinetic energy. It therefore couples
// the hinge to the parent's acceleration, so the gain is formed in the parent's frame:
//   D' = D + ratio² J,   U' = Ad*⁻¹ U + (ratio J axis; 0).
#pragma once

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/dynamics/kernels/shift.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
inline namespace CATENA_ISA {

inline bool all_positive(double x) { return x > 0.0; }
template <class Scalar>
inline bool all_positive(const Scalar& x) {
  return !any(!(x > Scalar(0.0)));
}

// A pivot below this fraction of the diagonal element that it is left of is rounding: every digit
// is lost (gimbal lock).
inline constexpr double kLostPivot = 1e-14;

// Whether a hinge about or along z, whose inertia D is the zz element of `block`, moves any
// inertia. What hangs outboard only adds to the node's `own` part of D, so less than half of that
// is rounding. A node without one has what elimination outboard leaves, and that is rounding below
// kLostPivot of the block: two hinges in line with nothing between them. (Heavy bodies far out make
// D as small as 1e-21 of the block in a planar chain, and right; so the own part decides where
// there is one.)
template <class Scalar>
inline bool moves_inertia(const Scalar& hinge_inertia, double own, const SymMat3<Scalar>& block) {
  return own > 0.0 ? all_positive(hinge_inertia - Scalar(0.5 * own))
                   : all_positive(hinge_inertia - Scalar(kLostPivot) * (block.xx + block.yy));
}
inline double own_inertia(const Node& node, bool turns) {
  return turns ? node.inertia[5] : node.mass;
}

// Displacement, motion map, H v (into w.twist) and Ḣ v (into w.bias).
template <class Scalar>
inline void place_general(const SweepModel& model, const Node& node, int n, const Scalar* own_q,
                          const Scalar* own_v, NodeScratch<Scalar>& w, GeneralScratch<Scalar>& g) {
  HingeMotion<Scalar> motion;
  evaluate_hinge(node, model.screws, model.customs[n], own_q, own_v, motion);
  w.to_parent = load_placement<Scalar>(node) * motion.displacement;
  w.twist = Twist<Scalar>::zero();
  w.bias = motion.bias;
  for (int k = 0; k < node.freedoms; ++k) {
    g.map[k] = motion.map[k];
    w.twist += own_v[k] * motion.map[k];
  }
}

// The coupling of a rotor, in the parent node's frame; zero when there is none.
template <class Scalar>
inline Vec3<Scalar> rotor_coupling(const SweepModel& model, const Node& node, int n) {
  if (model.rotors == nullptr || node.parent < 0) return Vec3<Scalar>::zero();
  return load_vec3<Scalar>(model.rotors[n].coupling);
}
template <class Scalar>
inline Scalar rotor_inertia(const SweepModel& model, int n) {
  return Scalar(model.rotors == nullptr ? 0.0 : model.rotors[n].reflected);
}

// D = L Lᵀ in place (lower triangle); false if a pivot is not positive.
template <class Scalar>
inline bool factor(Scalar (&d)[kMaxFreedoms][kMaxFreedoms], int size) {
  using std::sqrt;
  for (int j = 0; j < size; ++j) {
    const Scalar lost = Scalar(kLostPivot) * d[j][j];
    for (int k = 0; k < j; ++k) d[j][j] = d[j][j] - d[j][k] * d[j][k];
    if (!all_positive(d[j][j] - lost)) return false;
    d[j][j] = sqrt(d[j][j]);
    const Scalar inverse = Scalar(1.0) / d[j][j];
    for (int i = j + 1; i < size; ++i) {
      for (int k = 0; k < j; ++k) d[i][j] = d[i][j] - d[i][k] * d[j][k];
      d[i][j] = d[i][j] * inverse;
    }
  }
  return true;
}

// x := L⁻¹ x and x := L⁻ᵀ x, for scalars or wrenches.
template <class Scalar, class T>
inline void solve_lower(const Scalar (&l)[kMaxFreedoms][kMaxFreedoms], int size, T* x) {
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < i; ++k) x[i] = x[i] - l[i][k] * x[k];
    x[i] = (Scalar(1.0) / l[i][i]) * x[i];
  }
}
template <class Scalar>
inline void solve_upper(const Scalar (&l)[kMaxFreedoms][kMaxFreedoms], int size, Scalar* x) {
  for (int i = size; i-- > 0;) {
    for (int k = i + 1; k < size; ++k) x[i] = x[i] - l[k][i] * x[k];
    x[i] = x[i] / l[i][i];
  }
}

// What a child adds to: the first one to reach its parent starts the sum from the parent's own
// inertia. No branch: the 21 numbers would have to wait for it in memory.
template <class Scalar>
inline const ArticulatedInertia<Scalar>& sum_so_far(const SweepModel& model, int child, int parent,
                                                    const Scratch<Scalar>& s) {
  return model.order_flags[child] & kFirstAtParent ? s.own[parent] : s.nodes[parent].articulated;
}

// Adds what a child passes on to its parent's articulated inertia.
template <class Scalar>
inline void receive(const SweepModel& model, int child, int parent,
                    const ArticulatedInertia<Scalar>& felt, const Scratch<Scalar>& s) {
  s.nodes[parent].articulated = sum_so_far(model, child, parent, s) + felt;
}

// A turn about or a shift along z; general only because of its rotor.
inline bool is_about_or_along_z(const Node& node) {
  return node.hinge == NodeHinge::revolute || node.hinge == NodeHinge::prismatic;
}

// The inward step of such a hinge, force-driven.
template <class Scalar>
inline bool eliminate_with_rotor(const SweepModel& model, const Node& node, int n,
                                 const Scalar* effort, const Scalar* v, const Scratch<Scalar>& s) {
  using std::sqrt;
  NodeScratch<Scalar>& w = s.nodes[n];
  GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  const bool turns = node.hinge == NodeHinge::revolute;
  const ArticulatedInertia<Scalar>& p = w.articulated;
  const Wrench<Scalar> gain =
      turns ? Wrench<Scalar>{{p.angular.xz, p.angular.yz, p.angular.zz}, p.coupling.row(2)}
            : Wrench<Scalar>{p.coupling.column(2), {p.linear.xz, p.linear.yz, p.linear.zz}};
  const Scalar inertia = (turns ? gain.moment.z : gain.force.z) + rotor_inertia<Scalar>(model, n);
  const double own = own_inertia(node, turns) + model.rotors[n].reflected;
  if (!moves_inertia(inertia, own, turns ? p.angular : p.linear)) return false;
  g.free[0] = 0;
  g.free_count = 1;
  g.gain[0] = gain;
  g.factor[0][0] = sqrt(inertia);
  const Scalar inverse = Scalar(1.0) / inertia;
  w.inverse_hinge_inertia = inverse;
  g.innovation[0] = (effort != nullptr ? effort[node.v_index] : Scalar(0.0)) -
                    (turns ? w.force.moment.z : w.force.force.z);
  if (node.parent < 0) return true;
  const Vec3<Scalar> coupling = rotor_coupling<Scalar>(model, node, n);
  NodeScratch<Scalar>& parent = s.nodes[node.parent];
  Wrench<Scalar> reduced = Ad_star_inverse(w.to_parent, gain);
  reduced.moment += coupling;
  g.parent_gain[0] = reduced;
  const Scalar push = inverse * (g.innovation[0] - dot(gain, w.bias));
  parent.force += Ad_star_inverse(w.to_parent, w.force + (turns ? times_turned(p, w.bias)
                                                                : times_shifted(p, w.bias))) +
                  push * reduced;
  parent.force.moment += cross(parent.twist.angular, v[node.v_index] * coupling);
  ArticulatedInertia<Scalar> felt = shift_to_parent(w.to_parent, p);
  felt -= outer(reduced, inverse);
  receive(model, n, node.parent, felt, s);
  return true;
}

// The last outward step of such a hinge; w.acceleration as in accelerate_general.
template <class Scalar>
inline Scalar accelerate_with_rotor(const SweepModel& model, const Node& node, int n,
                                    const Twist<Scalar>& parent, const Scratch<Scalar>& s) {
  NodeScratch<Scalar>& w = s.nodes[n];
  const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  const Scalar a =
      w.inverse_hinge_inertia * (g.innovation[0] - dot(g.gain[0], w.acceleration) -
                                 dot(rotor_coupling<Scalar>(model, node, n), parent.angular));
  (node.hinge == NodeHinge::revolute ? w.acceleration.angular.z : w.acceleration.linear.z) += a;
  return a;
}

// The inward step. False if the hinge inertia is not positive definite.
template <class Scalar, bool kHybrid>
inline bool eliminate_general(const SweepModel& model, const Node& node, int n,
                              const Scalar* effort, const Scalar* given_acceleration,
                              const std::uint8_t* driven, const Scalar* v,
                              const Scratch<Scalar>& s) {
  if (is_about_or_along_z(node) && !(kHybrid && driven[node.v_index] != 0))
    return eliminate_with_rotor(model, node, n, effort, v, s);
  NodeScratch<Scalar>& w = s.nodes[n];
  GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  const Vec3<Scalar> coupling = rotor_coupling<Scalar>(model, node, n);
  Scalar rotor_push(0.0);  // acceleration of the rotor's hinge, as far as it is given

  g.free_count = 0;
  for (int k = 0; k < node.freedoms; ++k) {
    if (kHybrid && driven[node.v_index + k] != 0) {
      const Scalar a = given_acceleration[node.v_index + k];
      w.bias += a * g.map[k];
      rotor_push = a;
    } else {
      g.free[g.free_count++] = k;
    }
  }
  for (int i = 0; i < g.free_count; ++i) {
    const int k = g.free[i];
    g.gain[i] = w.articulated * g.map[k];
    for (int j = 0; j <= i; ++j) g.factor[i][j] = dot(g.gain[i], g.map[g.free[j]]);
    g.innovation[i] =
        (effort != nullptr ? effort[node.v_index + k] : Scalar(0.0)) - dot(w.force, g.map[k]);
  }
  if (g.free_count == 1 && node.freedoms == 1)
    g.factor[0][0] = g.factor[0][0] + rotor_inertia<Scalar>(model, n);
  if (!factor(g.factor, g.free_count)) return false;
  if (node.parent < 0) return true;

  NodeScratch<Scalar>& parent = s.nodes[node.parent];
  parent.force += Ad_star_inverse(w.to_parent, w.force + w.articulated * w.bias);
  if (model.rotors != nullptr && node.freedoms == 1)
    parent.force.moment +=
        rotor_push * coupling + cross(parent.twist.angular, v[node.v_index] * coupling);
  Scalar push[kMaxFreedoms];
  Wrench<Scalar> reduced[kMaxFreedoms];
  for (int i = 0; i < g.free_count; ++i) {
    push[i] = g.innovation[i] - dot(g.gain[i], w.bias);
    reduced[i] = Ad_star_inverse(w.to_parent, g.gain[i]);
    reduced[i].moment += coupling;
    g.parent_gain[i] = reduced[i];
  }
  solve_lower(g.factor, g.free_count, push);
  solve_lower(g.factor, g.free_count, reduced);
  for (int i = 0; i < g.free_count; ++i) parent.force += push[i] * reduced[i];
  ArticulatedInertia<Scalar> felt = ArticulatedInertia<Scalar>::zero();
  if (g.free_count < kMaxFreedoms) {  // else nothing of the inertia is felt through it
    felt = shift_to_parent(w.to_parent, w.articulated);
    for (int i = 0; i < g.free_count; ++i) felt -= outer(reduced[i], Scalar(1.0));
  }
  receive(model, n, node.parent, felt, s);
  return true;
}

// The last outward step: w.acceleration holds Ad⁻¹ a_parent + bias on entry.
template <class Scalar, bool kHybrid>
inline void accelerate_general(const SweepModel& model, const Node& node, int n,
                               const Twist<Scalar>& parent, const Scalar* given_acceleration,
                               const std::uint8_t* driven, const Scalar* effort,
                               const Scratch<Scalar>& s, Scalar* acceleration,
                               Scalar* found_effort) {
  NodeScratch<Scalar>& w = s.nodes[n];
  const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  const Scalar rotor_pull = dot(rotor_coupling<Scalar>(model, node, n), parent.angular);
  Scalar a[kMaxFreedoms];
  for (int i = 0; i < g.free_count; ++i)
    a[i] = g.innovation[i] - dot(g.gain[i], w.acceleration) - rotor_pull;
  solve_lower(g.factor, g.free_count, a);
  solve_upper(g.factor, g.free_count, a);
  for (int i = 0; i < g.free_count; ++i) {
    w.acceleration += a[i] * g.map[g.free[i]];
    acceleration[node.v_index + g.free[i]] = a[i];
  }
  if constexpr (kHybrid) {
    const Wrench<Scalar> f = w.articulated * w.acceleration + w.force;
    for (int k = 0; k < node.freedoms; ++k) {
      const int i = node.v_index + k;
      if (driven[i] != 0) {
        acceleration[i] = given_acceleration[i];
        found_effort[i] =
            dot(f, g.map[k]) + rotor_pull +
            (node.freedoms == 1 ? rotor_inertia<Scalar>(model, n) : Scalar(0.0)) * acceleration[i];
      } else {
        found_effort[i] = effort != nullptr ? effort[i] : Scalar(0.0);
      }
    }
  }
}

// Inverse dynamics: the efforts of the hinge, and what a rotor asks of its carrier.
template <class Scalar>
inline void project_general(const SweepModel& model, const Node& node, int n, const Scalar* v,
                            const Scalar* acceleration, const Scratch<Scalar>& s, Scalar* effort) {
  const NodeScratch<Scalar>& w = s.nodes[n];
  const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  for (int k = 0; k < node.freedoms; ++k) effort[node.v_index + k] = dot(w.force, g.map[k]);
  if (model.rotors == nullptr || node.freedoms != 1) return;
  const Scalar a = acceleration != nullptr ? acceleration[node.v_index] : Scalar(0.0);
  effort[node.v_index] = effort[node.v_index] + rotor_inertia<Scalar>(model, n) * a;
  if (node.parent < 0) return;
  const Vec3<Scalar> coupling = rotor_coupling<Scalar>(model, node, n);
  NodeScratch<Scalar>& parent = s.nodes[node.parent];
  effort[node.v_index] = effort[node.v_index] + dot(coupling, parent.acceleration.angular);
  parent.force.moment += a * coupling + cross(parent.twist.angular, v[node.v_index] * coupling);
}

}  // namespace CATENA_ISA
}  // namespace catena
