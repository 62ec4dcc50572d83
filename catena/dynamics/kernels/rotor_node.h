// SPDX-License-Identifier: BSD-3-Clause
// Kinds of node: a hinge about or along z that is driven through a gear by a rotor on the parent.
//
// The rotor spins `ratio` times as fast as the hinge about an axis fixed in the parent and adds
// ½ ratio² J v² + ratio J v (axis · ω_parent) to the kinetic energy. So it couples the hinge to the
// acceleration of the parent, and the gain is formed in the PARENT's frame:
//
//   D' = D + ratio² J,   U' = Ad*⁻¹ U + (ratio J axis; 0)
//   P⁺ = Ad*⁻¹ P Ad⁻¹ − U' D'⁻¹ U'ᵀ
//
// P⁺ has no zeros then, so all of P is shifted. [Jain & Rodriguez 1990]
#pragma once

#include "catena/dynamics/kernels/axis_node.h"
#include "catena/dynamics/kernels/general_node.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Axis>
struct RotorNode : GeneralNode {
  // Also leaves H, H v and Ḣ v, which closed loops read.
  template <class S>
  static void place(const S& s, int n) {
    using Scalar = typename S::Scalar;
    NodeScratch<Scalar>& w = s.at(n);
    Axis::place(s, n);
    Twist<Scalar>& map = s.general(n).map[0];
    map = Axis::template map<Scalar>();
    w.twist = (s.in.v != nullptr ? s.in.v[s.node(n).v_index] : Scalar(0.0)) * map;
    w.bias = Twist<Scalar>::zero();
  }

  template <class S>
  static void turn(const S& s, int n) {
    AxisNode<Axis>::turn(s, n);
  }

  template <class S>
  static void move(const S& s, int n) {
    place(s, n);
    turn(s, n);
  }

  template <class S>
  [[gnu::noinline]] static bool eliminate(const S& s, int n) {
    using std::sqrt;
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    if (s.is_driven(node.v_index)) return GeneralNode::eliminate(s, n);
    NodeScratch<Scalar>& w = s.at(n);
    GeneralScratch<Scalar>& g = s.general(n);
    const ArticulatedInertia<Scalar>& p = w.articulated;
    const Wrench<Scalar> gain = Axis::column(p);
    const Scalar inertia = Axis::along(gain) + rotor_inertia<Scalar>(s.model, n);
    const double own = Axis::own_inertia(node) + s.model.rotors[n].reflected;
    if (!moves_inertia(inertia, own, Axis::block(p))) return false;
    g.free[0] = 0;
    g.free_count = 1;
    g.gain[0] = gain;
    g.factor[0][0] = sqrt(inertia);
    const Scalar inverse = Scalar(1.0) / inertia;
    w.inverse_hinge_inertia = inverse;
    g.innovation[0] = s.applied(node.v_index) - Axis::along(w.force);
    if (node.parent < 0) return true;
    const Vec3<Scalar> coupling = rotor_coupling<Scalar>(s.model, node, n);
    NodeScratch<Scalar>& parent = s.at(node.parent);
    Wrench<Scalar> reduced = Ad_star_inverse(w.to_parent, gain);
    reduced.moment += coupling;
    g.parent_gain[0] = reduced;
    const Scalar push = inverse * (g.innovation[0] - dot(gain, w.bias));
    parent.force +=
        Ad_star_inverse(w.to_parent, w.force + Axis::times_bias(p, w.bias)) + push * reduced;
    parent.force.moment += cross(parent.twist.angular, s.in.v[node.v_index] * coupling);
    ArticulatedInertia<Scalar> felt = shift_to_parent(w.to_parent, p);
    felt -= outer(reduced, inverse);
    receive(s, n, node.parent, felt);
    return true;
  }

  template <class S>
  static void accelerate(const S& s, int n, const Twist<typename S::Scalar>& parent) {
    using Scalar = typename S::Scalar;
    if constexpr (S::kHybrid) {
      GeneralNode::accelerate(s, n, parent);
    } else {
      const Node& node = s.node(n);
      NodeScratch<Scalar>& w = s.at(n);
      const GeneralScratch<Scalar>& g = s.general(n);
      const Scalar a =
          w.inverse_hinge_inertia * (g.innovation[0] - dot(g.gain[0], w.acceleration) -
                                     dot(rotor_coupling<Scalar>(s.model, node, n), parent.angular));
      Axis::along(w.acceleration) += a;
      s.acceleration[node.v_index] = a;
    }
  }

  template <class S>
  static void drive(const S& s, int n, const typename S::Scalar* acceleration) {
    AxisNode<Axis>::drive(s, n, acceleration);
  }

  // Also the moment that the rotor takes from its carrier.
  template <class S>
  static void project(const S& s, int n, const typename S::Scalar* acceleration) {
    AxisNode<Axis>::project(s, n, acceleration);
    add_rotor_effort(s, n, acceleration);
  }
};

}  // namespace CATENA_ISA
}  // namespace catena
