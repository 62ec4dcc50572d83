// SPDX-License-Identifier: BSD-3-Clause
// The steps of the sweeps for aggregates: closed loops folded into one node of the tree.
//
// Constraint embedding [Jain 2009], in a form that needs nothing of size 6n x 6n. With S the twists
// of all members' freedoms, P and z the members' inertias and residual forces (what hangs outboard
// on them included), X and γ from aggregate_closure.h, everything in the aggregate's frame
// (closure/structure.h):
//
//   eliminate  composite inertias R and forces F of the members, from the tips of the loop inward
//              M = Sᵀ R S,  U = R S,  D = Xᵀ M X,  ε = Xᵀ (τ − Sᵀ F)
//              to the base:  R⁺ = ΣR − U X D⁻¹ (U X)ᵀ,   z⁺ = ΣF + U X D⁻¹ ε
//   accelerate v̇_r = D⁻¹ (ε − (U X)ᵀ a_base),  v̇ = X v̇_r + γ
//
// A plain body is the case of one member and X = 1. Cost: O(members · depth) products and one
// factorization of the size of the independent freedoms.
#pragma once

#include "catena/dynamics/kernels/aggregate_closure.h"
#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/kernels/shift.h"
#include "catena/dynamics/kernels/sweep.h"

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
    momentum = turns ? AboutZ::column(p) : AlongZ::column(p);
    force = w.force + (turns ? AboutZ::times_bias(p, w.bias) : AlongZ::times_bias(p, w.bias));
  }
  Scalar along(const Wrench<Scalar>& f) const {
    return turns ? AboutZ::along(f) : AlongZ::along(f);
  }
  bool turns;
  Wrench<Scalar> momentum, force;
};

template <class S>
inline ArticulatedInertia<typename S::Scalar> inertia_at_base(
    const S& s, const AggregateMember& member, const Transform<typename S::Scalar>& pose) {
  using Scalar = typename S::Scalar;
  if (s.model.order_flags[member.node] & kLeaf)  // a rigid body has fewer numbers to move
    return ArticulatedInertia<Scalar>::from(
        shift_to_parent(pose, load_inertia<Scalar>(s.node(member.node))));
  return shift_to_parent(pose, s.at(member.node).articulated);
}

// The coupling of a member's rotor in the aggregate's axes; zero when there is none.
template <class Scalar>
inline Vec3<Scalar> rotor_in_aggregate(const SweepModel& model, const AggregateMember& member,
                                       const AggregateScratch<Scalar>& g) {
  const Vec3<Scalar> coupling = load_vec3<Scalar>(model.rotors[member.node].coupling);
  return member.parent < 0 ? coupling : g.members[member.parent].pose.rotation * coupling;
}

// Of all members together: what the base feels.
template <class Scalar>
struct AggregateSum {
  Wrench<Scalar> force = Wrench<Scalar>::zero();
  ArticulatedInertia<Scalar> inertia = ArticulatedInertia<Scalar>::zero();
};

// One elimination of an aggregate; its steps in the order in which eliminate_aggregate() takes
// them.
template <class S, int kSize>
struct AggregateElimination {
  using Scalar = typename S::Scalar;
  const S& s;
  const Aggregate& a;
  AggregateScratch<Scalar>& g;
  const int size = size_of<kSize>(a);
  const int independents = independents_of<kSize>(a);
  const int rank = size - independents;
  const int members = members_of<kSize>(a);
  const int* order = s.model.order + a.first_order;
  const int* freedom = s.model.freedom_of_column + a.first_order;

  const AggregateMember& member(int i) const { return s.model.members[a.first_member + i]; }
  int twists_of(const AggregateMember& m) const { return kSize > 0 ? 1 : m.twists; }
  int first_twist_of(const AggregateMember& m) const {
    return kSize > 0 ? m.column : m.first_twist;
  }
  bool is_modes(const AggregateMember& m) const {
    return kSize == 0 && a.flexible && s.node(m.node).hinge == NodeHinge::modes;
  }
  bool is_attachment(const AggregateMember& m) const {
    return kSize == 0 && a.flexible && s.node(m.node).hinge == NodeHinge::attachment;
  }

  // Motion-driven freedoms are independent; their acceleration joins the bias.
  void add_given() const {
    g.free_count = 0;
    for (int k = 0; k < independents; ++k) {
      const int driver = freedom[order[rank + k]];
      if (s.is_driven(driver)) {
        const Scalar given = s.in.acceleration[driver];
        for (int i = 0; i < size; ++i) g.bias[i] = g.bias[i] + given * g.map[i * independents + k];
      } else {
        g.free[g.free_count++] = k;
      }
    }
  }

  // Outward: the members' accelerations at v̇_r = 0, and the force of each.
  void find_forces() const {
    const bool placed = is_placed_early(s.model, a);
    for (int i = 0; i < size * size; ++i) g.mass[i] = Scalar(0.0);  // members on two branches
    for (int i = 0; i < members; ++i) {
      const AggregateMember& m = member(i);
      const NodeScratch<Scalar>& w = s.at(m.node);
      const Transform<Scalar>& pose = placed ? g.members[i].pose : w.to_parent;
      g.composite[i] = inertia_at_base(s, m, pose);
      if (is_lone(s.model, m)) {
        const LoneMember<Scalar> lone(s.node(m.node), w);
        const Wrench<Scalar> force = lone.force + g.bias[m.column] * lone.momentum;
        g.needed[m.column] = lone.along(force);
        g.mass[m.column * (size + 1)] = lone.along(lone.momentum);
        g.momentum[m.column] = Ad_star_inverse(pose, lone.momentum);
        g.force[i] = Ad_star_inverse(pose, force);
        continue;
      }
      Twist<Scalar> acceleration = Ad(pose, w.bias);
      if (m.parent >= 0) acceleration += g.acceleration[m.parent];
      const Twist<Scalar>* columns = g.columns + first_twist_of(m);
      for (int k = 0; k < twists_of(m); ++k) acceleration += g.bias[m.column + k] * columns[k];
      g.acceleration[i] = acceleration;
      if (is_modes(m)) {
        find_modal_forces(i, pose);
        continue;
      }
      g.force[i] = Ad_star_inverse(pose, w.force) + g.composite[i] * acceleration;
    }
  }

  // The same of the modes of a flexible body, whose own part of M, U and Sᵀ F starts here: M̄ and b
  // of flexible_node.h, with what hangs on its other attachments.
  void find_modal_forces(int i, const Transform<Scalar>& pose) const {
    const AggregateMember& m = member(i);
    const Node& node = s.node(m.node);
    const NodeScratch<Scalar>& w = s.at(m.node);
    const FlexibleScratch<Scalar>& f = s.scratch.flexible[node.flexible];
    const int modes = node.freedoms;
    g.composite[i] =
        shift_to_parent(pose, w.articulated + ArticulatedInertia<Scalar>::from(f.change));
    g.force[i] = Ad_star_inverse(pose, w.force + f.bias) + g.composite[i] * g.acceleration[i];
    for (int k = 0; k < modes; ++k) {
      const int column = m.column + k;
      g.momentum[column] = Ad_star_inverse(pose, f.coupling[k]);
      g.force[i] += g.bias[column] * g.momentum[column];
      Scalar needed = f.force[k] + dot(g.momentum[column], g.acceleration[i]);
      for (int l = 0; l < modes; ++l) {
        const Scalar mass = f.mass[l <= k ? k * modes + l : l * modes + k];
        g.mass[column * size + m.column + l] = mass;
        needed = needed + mass * g.bias[m.column + l];
      }
      g.needed[column] = needed;
    }
  }

  // The moment that a member's rotor takes from its carrier, at v̇_r = 0.
  void add_rotor_forces(AggregateSum<Scalar>& sum) const {
    for (int i = 0; i < members; ++i) {
      const AggregateMember& m = member(i);
      const Node& node = s.node(m.node);
      if (node.freedoms != 1 || node.parent < 0) continue;
      const Vec3<Scalar> coupling = rotor_in_aggregate(s.model, m, g);
      const Vec3<Scalar> own = load_vec3<Scalar>(s.model.rotors[m.node].coupling);
      Vec3<Scalar> turned = cross(s.at(node.parent).twist.angular, s.in.v[node.v_index] * own);
      if (m.parent >= 0) turned = g.members[m.parent].pose.rotation * turned;
      Wrench<Scalar>& felt = m.parent < 0 ? sum.force : g.force[m.parent];
      felt.moment += g.bias[m.column] * coupling + turned;
    }
  }

  // M of a column with those of the members between it and the base, from its momentum U.
  void add_inner_masses(int k, int innermost, const Wrench<Scalar>& momentum) const {
    for (int j = innermost; j >= 0; j = member(j).parent) {
      const AggregateMember& inner = member(j);
      const int count = twists_of(inner), twist = first_twist_of(inner);
      for (int t = 0; t < count; ++t) {
        const int l = inner.column + t;
        g.mass[k * size + l] = g.mass[l * size + k] = dot(momentum, g.columns[twist + t]);
      }
    }
  }

  // What a member's own columns feel. Those of modes feel their attachments first.
  void compose_member(int i) const {
    const AggregateMember& m = member(i);
    if (is_modes(m)) {
      for (int k = m.column; k < m.column + s.node(m.node).freedoms; ++k)
        add_inner_masses(k, m.parent, g.momentum[k]);
      return;
    }
    const int count = is_lone(s.model, m) ? 0 : twists_of(m);
    const Twist<Scalar>* columns = g.columns + first_twist_of(m);
    const bool shared = is_attachment(m);
    for (int t = 0; t < count; ++t) {
      const int k = m.column + t;
      const Wrench<Scalar> momentum = g.composite[i] * columns[t];
      if (shared) {
        g.needed[k] = g.needed[k] + dot(g.force[i], columns[t]);
        g.momentum[k] += momentum;
        for (int l = 0; l < count; ++l) {
          Scalar& mass = g.mass[k * size + m.column + l];
          mass = mass + dot(momentum, columns[l]);
        }
        continue;
      }
      g.needed[k] = dot(g.force[i], columns[t]);
      g.momentum[k] = momentum;
      for (int l = m.column; l <= k; ++l)
        g.mass[k * size + l] = g.mass[l * size + k] = dot(momentum, columns[l - m.column]);
      add_inner_masses(k, m.parent, momentum);
    }
  }

  // Inward: composite inertias R and forces F; M, U and Sᵀ F of the spanning tree.
  void compose(AggregateSum<Scalar>& sum) const {
    for (int i = members; i-- > 0;) {
      const AggregateMember& m = member(i);
      compose_member(i);
      if (m.parent < 0) {
        sum.force += g.force[i];
        sum.inertia += g.composite[i];
      } else {
        g.force[m.parent] += g.force[i];
        g.composite[m.parent] += g.composite[i];
      }
    }
  }

  // The rotors' part of M, U and the efforts.
  void add_rotor_inertias() const {
    for (int i = 0; i < members; ++i) {
      const AggregateMember& m = member(i);
      if (s.node(m.node).freedoms != 1) continue;
      const int k = m.column;
      const Scalar reflected = rotor_inertia<Scalar>(s.model, m.node);
      g.mass[k * size + k] = g.mass[k * size + k] + reflected;
      g.needed[k] = g.needed[k] + reflected * g.bias[k];
      if (s.node(m.node).parent < 0) continue;
      const Vec3<Scalar> coupling = rotor_in_aggregate(s.model, m, g);
      g.momentum[k].moment += coupling;
      if (m.parent >= 0)
        g.needed[k] = g.needed[k] + dot(coupling, g.acceleration[m.parent].angular);
      for (int j = m.parent; j >= 0; j = member(j).parent) {
        const AggregateMember& inner = member(j);
        for (int t = 0; t < twists_of(inner); ++t) {
          const int l = inner.column + t;
          const Scalar entry = dot(coupling, g.columns[first_twist_of(inner) + t].angular);
          g.mass[k * size + l] = g.mass[k * size + l] + entry;
          g.mass[l * size + k] = g.mass[l * size + k] + entry;
        }
      }
    }
  }

  int free_count() const { return kSize > 0 && !S::kHybrid ? 1 : g.free_count; }

  // D = Xᵀ M X, ε = Xᵀ (τ − Sᵀ F), gain = U X over the freedoms that are force-driven. False if D
  // is not positive definite.
  bool reduce() const {
    const Scalar zero(0.0);
    const int free = free_count();
    for (int f = 0; f < free; ++f) {
      const int k = kSize > 0 ? 0 : g.free[f];
      Scalar innovation = zero;
      Wrench<Scalar> gain = Wrench<Scalar>::zero();
      for (int i = 0; i < size; ++i) {
        const Scalar x = g.map[i * independents + k];
        const Scalar applied = s.is_driven(freedom[i]) ? zero : s.applied(freedom[i]);
        innovation = innovation + x * (applied - g.needed[i]);
        gain += x * g.momentum[i];
        Scalar sum = zero;
        for (int l = 0; l < size; ++l)
          sum = sum + g.mass[i * size + l] * g.map[l * independents + k];
        g.work[i] = sum;
      }
      g.innovation[f] = innovation;
      g.gain[f] = gain;
      for (int h = 0; h <= f; ++h) {
        Scalar sum = zero;
        for (int i = 0; i < size; ++i) sum = sum + g.map[i * independents + g.free[h]] * g.work[i];
        g.factor[f * free + h] = sum;
      }
    }
    return factor(Rows<Scalar>{g.factor, free}, free);
  }

  // R⁺ and z⁺, from the aggregate's origin to the base's.
  void pass_to_base(AggregateSum<Scalar>& sum) const {
    const int free = free_count();
    const Rows<Scalar> l{g.factor, free};
    for (int f = 0; f < free; ++f) {
      g.reduced[f] = g.gain[f];
      g.work[f] = g.innovation[f];
    }
    solve_lower(l, free, g.reduced);
    solve_lower(l, free, g.work);
    for (int f = 0; f < free; ++f) {
      sum.inertia -= outer(g.reduced[f], Scalar(1.0));
      sum.force += g.work[f] * g.reduced[f];
    }
    Wrench<Scalar>& felt = s.at(a.base).force;
    felt += sum.force;
    if (a.origin[0] != 0.0 || a.origin[1] != 0.0 || a.origin[2] != 0.0) {
      const Vec3<Scalar> origin = load_vec3<Scalar>(a.origin);
      felt.moment += cross(origin, sum.force.force);
      sum.inertia =
          translated(origin, sum.inertia.angular, sum.inertia.coupling, sum.inertia.linear);
    }
    receive(s, member(0).node, a.base, sum.inertia);
  }
};

// The inward step. False if the inertia of the independent freedoms is not positive definite.
template <int kSize, class S>
[[gnu::noinline]] bool eliminate_aggregate(const S& s, const Aggregate& a,
                                           AggregateScratch<typename S::Scalar>& g) {
  const AggregateElimination<S, kSize> step{s, a, g};
  const bool rotors = s.model.rotors != nullptr;
  AggregateSum<typename S::Scalar> sum;
  step.add_given();
  step.find_forces();
  if (rotors) step.add_rotor_forces(sum);
  step.compose(sum);
  if (rotors) step.add_rotor_inertias();
  if (!step.reduce()) return false;
  if (a.base >= 0) step.pass_to_base(sum);
  return true;
}

// Efforts of motion-driven freedoms: what every hinge of the spanning tree would have to give, less
// what it gives, through Xᵀ. `pulled`: the base's acceleration at the aggregate's origin.
template <int kSize, class S>
inline void find_aggregate_efforts(const S& s, const Aggregate& a,
                                   const Twist<typename S::Scalar>& pulled,
                                   AggregateScratch<typename S::Scalar>& g) {
  using Scalar = typename S::Scalar;
  const int size = size_of<kSize>(a), independents = independents_of<kSize>(a);
  const int* order = s.model.order + a.first_order;
  const int* freedom = s.model.freedom_of_column + a.first_order;
  for (int i = 0; i < size; ++i) {
    Scalar sum = g.needed[i] + dot(g.momentum[i], pulled);
    for (int l = 0; l < size; ++l)
      sum = sum + g.mass[i * size + l] * (s.acceleration[freedom[l]] - g.bias[l]);
    const Scalar given = s.is_driven(freedom[i]) ? Scalar(0.0) : s.applied(freedom[i]);
    s.effort[freedom[i]] = given;
    g.needed[i] = sum - given;
  }
  for (int k = 0; k < independents; ++k) {
    const int driver = freedom[order[size - independents + k]];
    if (!s.is_driven(driver)) continue;
    Scalar sum(0.0);
    for (int i = 0; i < size; ++i) sum = sum + g.map[i * independents + k] * g.needed[i];
    s.effort[driver] = sum;
    s.acceleration[driver] = s.in.acceleration[driver];
  }
}

// The last outward step: accelerations of all members' freedoms from that of the base.
template <int kSize, class S>
[[gnu::noinline]] void accelerate_aggregate(const S& s, const Aggregate& a,
                                            const Twist<typename S::Scalar>& base,
                                            AggregateScratch<typename S::Scalar>& g) {
  using Scalar = typename S::Scalar;
  const int size = size_of<kSize>(a), independents = independents_of<kSize>(a);
  const int free = kSize > 0 && !S::kHybrid ? 1 : g.free_count;
  const int* freedom = s.model.freedom_of_column + a.first_order;
  const Rows<Scalar> l{g.factor, free};
  const Twist<Scalar> pulled{base.angular,
                             base.linear + cross(base.angular, load_vec3<Scalar>(a.origin))};
  for (int f = 0; f < free; ++f) g.work[f] = g.innovation[f] - dot(g.gain[f], pulled);
  solve_lower(l, free, g.work);
  solve_upper(l, free, g.work);
  for (int i = 0; i < size; ++i) {
    Scalar sum = g.bias[i];
    for (int f = 0; f < free; ++f) sum = sum + g.map[i * independents + g.free[f]] * g.work[f];
    s.acceleration[freedom[i]] = sum;
  }
  if constexpr (S::kHybrid) find_aggregate_efforts<kSize>(s, a, pulled, g);
}

}  // namespace CATENA_ISA
}  // namespace catena
