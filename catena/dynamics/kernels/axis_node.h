// SPDX-License-Identifier: BSD-3-Clause
// Kinds of node: a hinge with one degree of freedom about the local z axis (revolute) or along it
// (prismatic). Both are the same text with another Axis.
//
// The motion map H is a unit vector, so that U = P H is one column of P and D = Hᵀ U one element:
//
//   outward   V = Ad⁻¹ V_parent + H v,   c = ad(Ad⁻¹ V_parent, H v)
//   inward    ε = τ − Hᵀ z,   P⁺ = P − U D⁻¹ Uᵀ,   z⁺ = z + P c + U D⁻¹ (ε − Uᵀ c)
//   outward   v̇ = D⁻¹ (ε − Uᵀ a⁺),   a = a⁺ + H v̇
//
// Everything is in the node's frame until P⁺ and z⁺ are shifted to the parent's. What elimination
// makes zero in P⁺ is not computed and not shifted (shift.h). Cost of all three steps: about 1300
// instructions (tests/instructions). [Featherstone 2008, ch. 7; Rodriguez, Jain & Kreutz-Delgado
// 1991]
#pragma once

#include "catena/dynamics/kernels/axis_motion.h"
#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/kernels/shift.h"
#include "catena/dynamics/kernels/sweep.h"

namespace catena {
inline namespace CATENA_ISA {

// What is different about the two. `along` is the component Hᵀ f or, of a twist, the one that H v
// adds to; `block` the part of P that D is the zz element of; `column` is U = P H.
struct AboutZ {
  template <class Scalar>
  static Scalar& along(Twist<Scalar>& t) {
    return t.angular.z;
  }
  template <class Scalar>
  static Scalar& along(Wrench<Scalar>& f) {
    return f.moment.z;
  }
  template <class Scalar>
  static const Scalar& along(const Wrench<Scalar>& f) {
    return f.moment.z;
  }
  template <class Scalar>
  static Twist<Scalar> map() {
    return {Vec3<Scalar>{Scalar(0.0), Scalar(0.0), Scalar(1.0)}, Vec3<Scalar>::zero()};
  }
  template <class S>
  static void place(const S& s, int n) {
    place_revolute(s.node(n), s.scratch, s.at(n).to_parent);
  }
  // ad(V, z v): the hinge turns both ω and the velocity of the origin.
  template <class Scalar>
  static Twist<Scalar> bias(const Twist<Scalar>& carried, const Scalar& rate) {
    const Scalar zero(0.0);
    return {{carried.angular.y * rate, -(carried.angular.x * rate), zero},
            {carried.linear.y * rate, -(carried.linear.x * rate), zero}};
  }
  template <class Scalar>
  static const SymMat3<Scalar>& block(const ArticulatedInertia<Scalar>& p) {
    return p.angular;
  }
  template <class Scalar>
  static Wrench<Scalar> column(const ArticulatedInertia<Scalar>& p) {
    return {{p.angular.xz, p.angular.yz, p.angular.zz}, p.coupling.row(2)};
  }
  static double own_inertia(const Node& node) { return node.inertia[5]; }
  template <class Scalar>
  static Wrench<Scalar> times_bias(const ArticulatedInertia<Scalar>& p, const Twist<Scalar>& c) {
    return times_turned(p, c);
  }
  template <class Scalar>
  static void add_shifted(const Transform<Scalar>& x, const ArticulatedInertia<Scalar>& p,
                          const Scalar& inverse, const ArticulatedInertia<Scalar>& base,
                          ArticulatedInertia<Scalar>& sum) {
    add_shifted_about_z(x, p, inverse, base, sum);
  }
};

struct AlongZ {
  template <class Scalar>
  static Scalar& along(Twist<Scalar>& t) {
    return t.linear.z;
  }
  template <class Scalar>
  static Scalar& along(Wrench<Scalar>& f) {
    return f.force.z;
  }
  template <class Scalar>
  static const Scalar& along(const Wrench<Scalar>& f) {
    return f.force.z;
  }
  template <class Scalar>
  static Twist<Scalar> map() {
    return {Vec3<Scalar>::zero(), Vec3<Scalar>{Scalar(0.0), Scalar(0.0), Scalar(1.0)}};
  }
  template <class S>
  static void place(const S& s, int n) {
    place_prismatic(s.node(n), s.in.q[s.node(n).q_index], s.at(n).to_parent);
  }
  // ad(V, z v): a shift turns nothing.
  template <class Scalar>
  static Twist<Scalar> bias(const Twist<Scalar>& carried, const Scalar& rate) {
    return {Vec3<Scalar>::zero(),
            {carried.angular.y * rate, -(carried.angular.x * rate), Scalar(0.0)}};
  }
  template <class Scalar>
  static const SymMat3<Scalar>& block(const ArticulatedInertia<Scalar>& p) {
    return p.linear;
  }
  template <class Scalar>
  static Wrench<Scalar> column(const ArticulatedInertia<Scalar>& p) {
    return {p.coupling.column(2), {p.linear.xz, p.linear.yz, p.linear.zz}};
  }
  static double own_inertia(const Node& node) { return node.mass; }
  template <class Scalar>
  static Wrench<Scalar> times_bias(const ArticulatedInertia<Scalar>& p, const Twist<Scalar>& c) {
    return times_shifted(p, c);
  }
  template <class Scalar>
  static void add_shifted(const Transform<Scalar>& x, const ArticulatedInertia<Scalar>& p,
                          const Scalar& inverse, const ArticulatedInertia<Scalar>& base,
                          ArticulatedInertia<Scalar>& sum) {
    add_shifted_along_z(x, p, inverse, base, sum);
  }
};

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

template <class Axis>
struct AxisNode {
  template <class S>
  [[gnu::always_inline]] static void place(const S& s, int n) {
    Axis::place(s, n);
  }

  template <class S>
  [[gnu::always_inline]] static void turn(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    NodeScratch<Scalar>& w = s.at(n);
    const Scalar rate = s.in.v[node.v_index];
    Twist<Scalar> twist =
        node.parent < 0 ? Twist<Scalar>::zero() : Ad_inverse(w.to_parent, s.at(node.parent).twist);
    w.bias = Axis::bias(twist, rate);
    Axis::along(twist) = Axis::along(twist) + rate;
    w.twist = twist;
  }

  template <class S>
  [[gnu::always_inline]] static void move(const S& s, int n) {
    place(s, n);
    turn(s, n);
  }

  template <class S>
  [[gnu::always_inline]] static bool eliminate(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    NodeScratch<Scalar>& w = s.at(n);
    const ArticulatedInertia<Scalar>& p = w.articulated;
    if (s.is_driven(node.v_index)) return pass_driven(s, node, n);
    const Scalar hinge_inertia = Axis::block(p).zz;
    if (!moves_inertia(hinge_inertia, Axis::own_inertia(node), Axis::block(p))) return false;
    const Scalar inverse = Scalar(1.0) / hinge_inertia;
    const Scalar applied = s.applied(node.v_index);
    w.inverse_hinge_inertia = inverse;
    w.innovation = applied - Axis::along(w.force);
    w.gain = Axis::column(p);
    const Wrench<Scalar>& gain = w.gain;
    if (node.parent < 0) return true;
    // z⁺; along the hinge's own direction that is the effort.
    Wrench<Scalar> passed = w.force + Axis::times_bias(p, w.bias);
    const Scalar push = inverse * (applied - Axis::along(passed));
    passed += push * gain;
    Axis::along(passed) = applied;
    s.at(node.parent).force += Ad_star_inverse(w.to_parent, passed);
    Axis::add_shifted(w.to_parent, p, inverse, sum_so_far(s, n, node.parent),
                      s.at(node.parent).articulated);
    return true;
  }

  template <class S>
  [[gnu::always_inline]] static void accelerate(const S& s, int n,
                                                const Twist<typename S::Scalar>&) {
    using Scalar = typename S::Scalar;
    const int i = s.node(n).v_index;
    NodeScratch<Scalar>& w = s.at(n);
    if (s.is_driven(i)) {
      s.acceleration[i] = s.in.acceleration[i];
      s.effort[i] = Axis::along(w.articulated * w.acceleration + w.force);
      return;
    }
    const Scalar a = w.inverse_hinge_inertia * (w.innovation - dot(w.gain, w.acceleration));
    Axis::along(w.acceleration) += a;
    s.acceleration[i] = a;
    if constexpr (S::kHybrid) s.effort[i] = s.applied(i);
  }

  template <class S>
  [[gnu::always_inline]] static void drive(const S& s, int n,
                                           const typename S::Scalar* acceleration) {
    Axis::along(s.at(n).acceleration) += acceleration[s.node(n).v_index];
  }

  template <class S>
  [[gnu::always_inline]] static void project(const S& s, int n, const typename S::Scalar*) {
    s.effort[s.node(n).v_index] = Axis::along(s.at(n).force);
  }

 private:
  // A motion-driven hinge is rigid, with an acceleration that joins the bias.
  template <class S>
  static bool pass_driven(const S& s, const Node& node, int n) {
    NodeScratch<typename S::Scalar>& w = s.at(n);
    Axis::along(w.bias) = s.in.acceleration[node.v_index];
    if (node.parent < 0) return true;
    receive(s, n, node.parent, shift_to_parent(w.to_parent, w.articulated));
    s.at(node.parent).force += Ad_star_inverse(w.to_parent, w.force + w.articulated * w.bias);
    return true;
  }
};

using RevoluteNode = AxisNode<AboutZ>;
using PrismaticNode = AxisNode<AlongZ>;

}  // namespace CATENA_ISA
}  // namespace catena
