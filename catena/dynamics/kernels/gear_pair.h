// Members of an aggregate (aggregate.h) that hang on its base alone, and two of them coupled by a
// gear: a motor beside the hinge that it drives, by far the most common of all aggregates. With the
// members' U and P in the base's frame, and X two constants,
//
//   D = Σ x² Hᵀ P H,   gain = Σ x U,   ε = Σ x (τ − Hᵀ z)
//   to the base:  Σ P − gain D⁻¹ gainᵀ,   Σ z + gain D⁻¹ ε
//
// which needs none of the matrices that aggregates of any shape have.
#pragma once

#include "catena/dynamics/kernels/general_hinge.h"
#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/dynamics/kernels/shift.h"

namespace catena {
inline namespace CATENA_ISA {

// A member between the base and nothing else of the loop, with a hinge about or along z: what its
// hinge feels can be read off its inertia in its own frame.
inline bool is_lone(const SweepModel& model, const AggregateMember& member) {
  return member.tip && member.parent < 0 && model.general_index[member.node] < 0;
}

// What a lone member's hinge feels of it, from its inertia in its own frame: U, and the force at
// v̇ = 0 of the hinge and of the base.
template <class Scalar>
struct LoneMember {
  LoneMember(const Node& node, const NodeScratch<Scalar>& w)
      : turns(node.hinge == NodeHinge::revolute) {
    const ArticulatedInertia<Scalar>& p = w.articulated;
    momentum = turns
                   ? Wrench<Scalar>{{p.angular.xz, p.angular.yz, p.angular.zz}, p.coupling.row(2)}
                   : Wrench<Scalar>{p.coupling.column(2), {p.linear.xz, p.linear.yz, p.linear.zz}};
    force = w.force + (turns ? times_turned(p, w.bias) : times_shifted(p, w.bias));
  }
  Scalar along(const Wrench<Scalar>& f) const { return turns ? f.moment.z : f.force.z; }
  bool turns;
  Wrench<Scalar> momentum, force;
};

template <class Scalar>
inline ArticulatedInertia<Scalar> inertia_at_base(const SweepModel& model,
                                                  const AggregateMember& member,
                                                  const Transform<Scalar>& pose,
                                                  const NodeScratch<Scalar>& w) {
  if (model.order_flags[member.node] & kLeaf)  // a rigid body has fewer numbers to move
    return ArticulatedInertia<Scalar>::from(
        shift_to_parent(pose, load_inertia<Scalar>(model.nodes[member.node])));
  return shift_to_parent(pose, w.articulated);
}

// Two lone members that a gear couples.
inline bool is_gear_pair(const SweepModel& model, const Aggregate& a) {
  const AggregateMember* members = model.members + a.first_member;
  return a.constant && model.rotors == nullptr && is_lone(model, members[0]) &&
         is_lone(model, members[1]);
}

// Its inward step; what is left behind is what eliminate_aggregate() leaves, as far as forward
// dynamics and the operators read it.
template <class Scalar>
[[gnu::noinline]] bool eliminate_gear_pair(const SweepModel& model, const Aggregate& a,
                                           const Scalar* effort, const Scratch<Scalar>& s,
                                           AggregateScratch<Scalar>& g) {
  using std::sqrt;
  const AggregateMember* members = model.members + a.first_member;
  const int* freedom = model.freedom_of_column + a.first_order;
  Scalar inertia(0.0), innovation(0.0);
  Wrench<Scalar> gain = Wrench<Scalar>::zero(), felt = Wrench<Scalar>::zero();
  for (int i = 0; i < 2; ++i) {
    const NodeScratch<Scalar>& w = s.nodes[members[i].node];
    const LoneMember<Scalar> lone(model.nodes[members[i].node], w);
    const int column = members[i].column;
    const Scalar x = g.map[column];
    const Scalar applied = effort == nullptr ? Scalar(0.0) : effort[freedom[column]];
    inertia = inertia + x * x * lone.along(lone.momentum);
    innovation = innovation + x * (applied - lone.along(lone.force));
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
  s.nodes[a.base].force += felt + (inverse * innovation) * gain;
  ArticulatedInertia<Scalar> total = inertia_at_base(
      model, members[0], s.nodes[members[0].node].to_parent, s.nodes[members[0].node]);
  total += inertia_at_base(model, members[1], s.nodes[members[1].node].to_parent,
                           s.nodes[members[1].node]);
  total -= outer(gain, inverse);
  receive(model, members[0].node, a.base, total, s);
  return true;
}

}  // namespace CATENA_ISA
}  // namespace catena
