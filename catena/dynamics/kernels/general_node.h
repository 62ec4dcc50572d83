// SPDX-License-Identifier: BSD-3-Clause
// Kind of node: any hinge that is not a plain turn about or shift along z. It has up to six degrees
// of freedom and a motion map H(q) with a rate, and some of its freedoms may be motion-driven.
//
//   outward   V = Ad⁻¹ V_parent + H v,   c = ad(Ad⁻¹ V_parent, H v) + Ḣ v
//   inward    U = P H,   D = Hᵀ U = L Lᵀ,   ε = τ − Hᵀ z
//             P⁺ = P − (U L⁻ᵀ)(U L⁻ᵀ)ᵀ,   z⁺ = z + P c + U D⁻¹ (ε − Uᵀ c)
//   outward   v̇ = D⁻¹ (ε − Uᵀ a⁺),   a = a⁺ + H v̇
//
// with columns of H for the force-driven freedoms only; the others' accelerations join c. U is
// taken to the PARENT's frame first, where a rotor adds to it (rotor_node.h: a motion-driven hinge
// with a rotor is treated here). Cost: d products with P and d² with wrenches for d freedoms.
// [Featherstone 2008, ch. 7; Rodriguez, Jain & Kreutz-Delgado 1991]
#pragma once

#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/kernels/shift.h"
#include "catena/dynamics/kernels/sweep.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
inline namespace CATENA_ISA {

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

// The same of node n, at rest if there are no velocities. Not inline: hinges are many lines.
template <class Scalar>
[[gnu::noinline]] void place_general(const SweepModel& model, const SweepInputs<Scalar>& in,
                                     const Scratch<Scalar>& s, int n) {
  const Node& node = model.nodes[n];
  const Scalar zero(0.0);
  const Scalar still[kMaxFreedoms] = {zero, zero, zero, zero, zero, zero};
  place_general(model, node, n, in.q + node.q_index, in.v != nullptr ? in.v + node.v_index : still,
                s.nodes[n], s.general[model.general_index[n]]);
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

// Inverse dynamics: what a rotor adds to the effort of its hinge, and the moment that it takes from
// its carrier.
template <class S>
inline void add_rotor_effort(const S& s, int n, const typename S::Scalar* acceleration) {
  using Scalar = typename S::Scalar;
  const Node& node = s.node(n);
  Scalar& effort = s.effort[node.v_index];
  const Scalar a = acceleration != nullptr ? acceleration[node.v_index] : Scalar(0.0);
  effort = effort + rotor_inertia<Scalar>(s.model, n) * a;
  if (node.parent < 0) return;
  const Vec3<Scalar> coupling = rotor_coupling<Scalar>(s.model, node, n);
  NodeScratch<Scalar>& parent = s.at(node.parent);
  effort = effort + dot(coupling, parent.acceleration.angular);
  parent.force.moment +=
      a * coupling + cross(parent.twist.angular, s.in.v[node.v_index] * coupling);
}

struct GeneralNode {
  template <class S>
  static void place(const S& s, int n) {
    place_general(s.model, s.in, s.scratch, n);
  }

  template <class S>
  static void turn(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    NodeScratch<Scalar>& w = s.at(n);
    if (node.parent < 0) return;
    const Twist<Scalar> relative = w.twist;  // H v
    const Twist<Scalar> carried = Ad_inverse(w.to_parent, s.at(node.parent).twist);
    w.twist += carried;
    w.bias += ad(carried, relative);
  }

  template <class S>
  [[gnu::noinline]] static void move(const S& s, int n) {
    place(s, n);
    turn(s, n);
  }

  template <class S>
  [[gnu::noinline]] static bool eliminate(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    NodeScratch<Scalar>& w = s.at(n);
    GeneralScratch<Scalar>& g = s.general(n);
    const Scalar rotor_push = add_given(s, node, w, g);
    for (int i = 0; i < g.free_count; ++i) {
      const int k = g.free[i];
      g.gain[i] = w.articulated * g.map[k];
      for (int j = 0; j <= i; ++j) g.factor[i][j] = dot(g.gain[i], g.map[g.free[j]]);
      g.innovation[i] = s.applied(node.v_index + k) - dot(w.force, g.map[k]);
    }
    if (g.free_count == 1 && node.freedoms == 1)
      g.factor[0][0] = g.factor[0][0] + rotor_inertia<Scalar>(s.model, n);
    if (!factor(g.factor, g.free_count)) return false;
    if (node.parent < 0) return true;

    const Vec3<Scalar> coupling = rotor_coupling<Scalar>(s.model, node, n);
    NodeScratch<Scalar>& parent = s.at(node.parent);
    parent.force += Ad_star_inverse(w.to_parent, w.force + w.articulated * w.bias);
    if (s.model.rotors != nullptr && node.freedoms == 1)
      parent.force.moment +=
          rotor_push * coupling + cross(parent.twist.angular, s.in.v[node.v_index] * coupling);
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
    receive(s, n, node.parent, felt);
    return true;
  }

  template <class S>
  [[gnu::noinline]] static void accelerate(const S& s, int n,
                                           const Twist<typename S::Scalar>& parent) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    NodeScratch<Scalar>& w = s.at(n);
    const GeneralScratch<Scalar>& g = s.general(n);
    const Scalar rotor_pull = dot(rotor_coupling<Scalar>(s.model, node, n), parent.angular);
    Scalar a[kMaxFreedoms];
    for (int i = 0; i < g.free_count; ++i)
      a[i] = g.innovation[i] - dot(g.gain[i], w.acceleration) - rotor_pull;
    solve_lower(g.factor, g.free_count, a);
    solve_upper(g.factor, g.free_count, a);
    for (int i = 0; i < g.free_count; ++i) {
      w.acceleration += a[i] * g.map[g.free[i]];
      s.acceleration[node.v_index + g.free[i]] = a[i];
    }
    if constexpr (S::kHybrid) find_efforts(s, node, n, rotor_pull);
  }

  template <class S>
  static void drive(const S& s, int n, const typename S::Scalar* acceleration) {
    const Node& node = s.node(n);
    const GeneralScratch<typename S::Scalar>& g = s.general(n);
    for (int k = 0; k < node.freedoms; ++k)
      s.at(n).acceleration += acceleration[node.v_index + k] * g.map[k];
  }

  template <class S>
  static void project(const S& s, int n, const typename S::Scalar* acceleration) {
    const Node& node = s.node(n);
    const GeneralScratch<typename S::Scalar>& g = s.general(n);
    for (int k = 0; k < node.freedoms; ++k)
      s.effort[node.v_index + k] = dot(s.at(n).force, g.map[k]);
    if (s.model.rotors != nullptr && node.freedoms == 1) add_rotor_effort(s, n, acceleration);
  }

 private:
  // Tells force-driven from motion-driven freedoms; the latter's accelerations join the bias.
  // Returns that of a hinge with a rotor, as far as it is given.
  template <class S>
  static typename S::Scalar add_given(const S& s, const Node& node,
                                      NodeScratch<typename S::Scalar>& w,
                                      GeneralScratch<typename S::Scalar>& g) {
    using Scalar = typename S::Scalar;
    Scalar rotor_push(0.0);
    g.free_count = 0;
    for (int k = 0; k < node.freedoms; ++k) {
      if (s.is_driven(node.v_index + k)) {
        const Scalar a = s.in.acceleration[node.v_index + k];
        w.bias += a * g.map[k];
        rotor_push = a;
      } else {
        g.free[g.free_count++] = k;
      }
    }
    return rotor_push;
  }

  // Of motion-driven freedoms: Hᵀ f with f = P a + z, and what accelerates a rotor.
  template <class S>
  static void find_efforts(const S& s, const Node& node, int n,
                           const typename S::Scalar& rotor_pull) {
    using Scalar = typename S::Scalar;
    const NodeScratch<Scalar>& w = s.at(n);
    const Wrench<Scalar> f = w.articulated * w.acceleration + w.force;
    for (int k = 0; k < node.freedoms; ++k) {
      const int i = node.v_index + k;
      if (!s.is_driven(i)) {
        s.effort[i] = s.applied(i);
        continue;
      }
      const Scalar a = s.in.acceleration[i];
      s.acceleration[i] = a;
      s.effort[i] = dot(f, s.general(n).map[k]) + rotor_pull +
                    (node.freedoms == 1 ? rotor_inertia<Scalar>(s.model, n) : Scalar(0.0)) * a;
    }
  }
};

}  // namespace CATENA_ISA
}  // namespace catena
