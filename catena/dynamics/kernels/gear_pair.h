// SPDX-License-Identifier: BSD-3-Clause
// Kind of node: a loop of two hinges about or along z on the same base, coupled by a gear: a motor
// beside the hinge that it drives, by far the most common of all loops. With the members' U and P
// in the base's frame, and X two constants,
//
//   D = Σ x² Hᵀ P H,   gain = Σ x U,   ε = Σ x (τ − Hᵀ z)
//   to the base:  Σ P − gain D⁻¹ gainᵀ,   Σ z + gain D⁻¹ ε
//
// which needs none of the matrices that loops of any shape have (aggregate.h). [Jain 2009]
#pragma once

#include "catena/dynamics/kernels/loop_node.h"

namespace catena {
inline namespace CATENA_ISA {

// The inward step. Leaves what eliminate_aggregate() leaves, as far as forward dynamics and the
// operators read it.
template <class S>
[[gnu::noinline]] bool eliminate_gear_pair(const S& s, const Aggregate& a,
                                           AggregateScratch<typename S::Scalar>& g) {
  using std::sqrt;
  using Scalar = typename S::Scalar;
  const AggregateMember* members = s.model.members + a.first_member;
  const int* freedom = s.model.freedom_of_column + a.first_order;
  Scalar inertia(0.0), innovation(0.0);
  Wrench<Scalar> gain = Wrench<Scalar>::zero(), felt = Wrench<Scalar>::zero();
  for (int i = 0; i < 2; ++i) {
    const NodeScratch<Scalar>& w = s.at(members[i].node);
    const LoneMember<Scalar> lone(s.node(members[i].node), w);
    const int column = members[i].column;
    const Scalar x = g.map[column];
    inertia = inertia + x * x * lone.along(lone.momentum);
    innovation = innovation + x * (s.applied(freedom[column]) - lone.along(lone.force));
    gain += Ad_star_inverse(w.to_parent, x * lone.momentum);
    felt += Ad_star_inverse(w.to_parent, lone.force);
  }
  g.free_count = 1;
  g.free[0] = 0;
  g.gain[0] = gain;
  g.innovation[0] = innovation;
  if (!all_positive(inertia)) return false;
  g.factor[0] = sqrt(inertia);
  if (a.base < 0) return true;
  const Scalar inverse = Scalar(1.0) / inertia;
  s.at(a.base).force += felt + (inverse * innovation) * gain;
  ArticulatedInertia<Scalar> total =
      inertia_at_base(s, members[0], s.at(members[0].node).to_parent);
  total += inertia_at_base(s, members[1], s.at(members[1].node).to_parent);
  total -= outer(gain, inverse);
  receive(s, members[0].node, a.base, total);
  return true;
}

struct GearPairNode : LoopNode {
  template <class S>
  static bool eliminate(const S& s, int n) {
    const int i = s.model.aggregate_of_node[n];
    const Aggregate& a = s.model.aggregates[i];
    // Not if one is motion-driven, or if a second gear holds both.
    if (S::kHybrid || a.independents != 1) return LoopNode::eliminate(s, n);
    return eliminate_gear_pair(s, a, s.scratch.aggregates[i]);
  }
};

}  // namespace CATENA_ISA
}  // namespace catena
