// SPDX-License-Identifier: BSD-3-Clause
// The columns of the derivatives of inverse dynamics: for each freedom a few six-vectors from which
// every derivative, and every product with one, is made of dot products.
//
// All in ground axes about one fixed point (the origin of the tree's first node, as it is now), so
// that nothing is ever transformed from node to node. With S the twist of a freedom, V and A the
// twist and acceleration of nodes (gravity in A), p the node it hangs on, the motion of everything
// outboard changes along the tangent direction of freedom j by
//
//   ∂V_i = S_j × V_i + rate_j,                rate_j   = V_p × S_j  (+ ∂H v)
//   ∂A_i = S_j × A_i + second_j − V_i × rate_j,   second_j = A_p × S_j + V_p × rate_j  (+ ...)
//   and with the velocity of freedom j:  ∂V_i = S_j,  ∂A_i = drift_j − V_i × S_j,
//                                        drift_j = (V_p + V_j) × S_j  (+ ∂(Ḣ v)/∂v)
//
// Rates relative to the moved body are the same for all bodies outboard. The force of a body then
// changes by I (second − V × rate) + B rate, where the terms in V gather in a matrix of which only
// four blocks of three are not zero, and which adds up over bodies like an inertia:
//
//   B = [ J̇ − [L]   0 ;  −2 [p]   0 ]         J̇ rate of the inertia, (L, p) momentum
//
// With composite I, B and force F of everything outboard of j, and k inboard of j:
//
//   ∂τ_k/∂q_j = S_k · by_q_j,   by_q_j = I second_j + B rate_j + S_j ×* F_j
//   ∂τ_j/∂q_k = momentum_j · second_k + turning_j · rate_k,   momentum = I S, turning = Bᵀ S
//   ∂τ_k/∂v_j = S_k · by_v_j,   by_v_j = I drift_j + B S_j
//   ∂τ_j/∂v_k = momentum_j · drift_k + turning_j · S_k
//   M_kj      = S_k · momentum_j
//
// ([Lin & Yae 1989]: the same perturbations at the inertial origin; [Carpentier & Mansard 2018];
// [Singh, Russell & Wensing 2022]. The form of B and the treatment of all hinges are our own.)
//
// Freedoms of one hinge: ∂τ_m/∂q_l = S_m · by_q_l + (S_l × S_m + ∂H_m/∂q_l) · F, the `own` block.
//
// A rotor with axis u (times ratio and inertia, ground axes) on a carrier c adds its spin v_h u to
// L of the carrier, the moment v̇_h u + ω_c × v_h u to its force, and u · α_c to its hinge's effort.
//
// Cost: O(N), about 450 multiplications for each hinge of one freedom.
#pragma once

#include "catena/dynamics/kernels/sweeps.h"
#include "catena/sensitivity/kernels/column_table.h"
#include "catena/sensitivity/kernels/hinge_variation.h"

namespace catena {
inline namespace CATENA_ISA {

// V ×* F = −ad*(V, F).
template <class Scalar>
inline Wrench<Scalar> cross_star(const Twist<Scalar>& v, const Wrench<Scalar>& f) {
  return {cross(v.angular, f.moment) + cross(v.linear, f.force), cross(v.angular, f.force)};
}

// Place of number x of a column.
template <class Scalar>
constexpr int column_index(int stride, int column, int x) {
  return kLanesOf<Scalar> > 1 ? column * column_place::kCount + x : x * stride + column;
}
template <class Scalar>
inline void put(Scalar* table, int stride, int column, const Vec3<Scalar>& x, int place = 0) {
  table[column_index<Scalar>(stride, column, place)] = x.x;
  table[column_index<Scalar>(stride, column, place + 1)] = x.y;
  table[column_index<Scalar>(stride, column, place + 2)] = x.z;
}
template <class Scalar>
inline void put(Scalar* table, int stride, int column, const Twist<Scalar>& x) {
  put(table, stride, column, x.angular);
  put(table, stride, column, x.linear, 3);
}
template <class Scalar>
inline void put(Scalar* table, int stride, int column, const Wrench<Scalar>& x) {
  put(table, stride, column, x.moment);
  put(table, stride, column, x.force, 3);
}
template <class Scalar>
inline Vec3<Scalar> get_vec3(const Scalar* table, int stride, int column, int place = 0) {
  return {table[column_index<Scalar>(stride, column, place)],
          table[column_index<Scalar>(stride, column, place + 1)],
          table[column_index<Scalar>(stride, column, place + 2)]};
}
template <class Scalar>
inline Twist<Scalar> get_twist(const Scalar* table, int stride, int column) {
  return {get_vec3(table, stride, column), get_vec3(table, stride, column, 3)};
}
template <class Scalar>
inline Wrench<Scalar> get_wrench(const Scalar* table, int stride, int column) {
  return {get_vec3(table, stride, column), get_vec3(table, stride, column, 3)};
}

// J̇ of a body's inertia about the fixed point: [ω] J + ([ω] J)ᵀ + 2 (v·h) 1 − h vᵀ − v hᵀ.
template <class Scalar>
inline SymMat3<Scalar> rate_of_inertia(const SpatialInertia<Scalar>& i, const Twist<Scalar>& t) {
  const SymMat3<Scalar>& j = i.inertia;
  const Vec3<Scalar>& w = t.angular;
  const Vec3<Scalar>& v = t.linear;
  const Vec3<Scalar>& h = i.mass_moment;
  const Scalar two(2.0);
  const Scalar x = v.x * h.x, y = v.y * h.y, z = v.z * h.z;
  return {two * (w.y * j.xz - w.z * j.xy + y + z),
          w.y * j.yz - w.z * j.yy + w.z * j.xx - w.x * j.xz - (h.x * v.y + h.y * v.x),
          w.y * j.zz - w.z * j.yz + w.x * j.xy - w.y * j.xx - (h.x * v.z + h.z * v.x),
          two * (w.z * j.xy - w.x * j.yz + x + z),
          w.z * j.xz - w.x * j.zz + w.x * j.yy - w.y * j.xy - (h.y * v.z + h.z * v.y),
          two * (w.x * j.yz - w.y * j.xz + x + y)};
}

// For which accelerations columns are made. At rest, the parts that depend on them (`second` of
// hinges about or along z, `by_q` and `own` of all) is left to add_accelerations().
enum class ColumnsAt { accelerations, rest };

// The ground as a node: the parent of all roots.
template <class Scalar>
struct GroundMotion {
  Twist<Scalar> twist = Twist<Scalar>::zero();
  Twist<Scalar> acceleration;  // gravity
};

// The inertia of node n, its momentum and force.
template <class Scalar>
inline void load_column_node(const Node& node, ColumnNode<Scalar>& own) {
  own.inertia = shift_to_parent(own.pose, load_inertia<Scalar>(node));
  own.momentum = own.inertia * own.twist;
  own.force = own.inertia * own.acceleration + cross_star(own.twist, own.momentum);
  own.inertia_rate = rate_of_inertia(own.inertia, own.twist);
}

template <class Scalar>
inline void pose_column_node(const Node& node, const Transform<Scalar>& to_parent,
                             const DerivativeTable<Scalar>& c, ColumnNode<Scalar>& own) {
  if (node.parent < 0) {
    own.pose.rotation = to_parent.rotation;
    own.pose.translation = Vec3<Scalar>::zero();
    own.reference = to_parent.translation;
  } else {
    const ColumnNode<Scalar>& parent = c.nodes[node.parent];
    own.pose = parent.pose * to_parent;
    own.reference = parent.reference;
  }
}

// The columns of node n and its freedoms that do not need the outboard nodes: of hinges about or
// along z, of hinges whose motion map varies, and of all others.
template <ColumnsAt kAt, class Scalar>
inline void move_simple_column_node(const Node& node, int n, const Scalar* q, const Scalar* v,
                                    const Scalar* a, bool placed,
                                    const GroundMotion<Scalar>& ground, const Scratch<Scalar>& s,
                                    const DerivativeTable<Scalar>& c) {
  ColumnNode<Scalar>& own = c.nodes[n];
  const bool turns = node.hinge == NodeHinge::revolute;
  if (!placed) {
    if (turns)
      place_revolute(node, s, s.nodes[n].to_parent);
    else
      place_prismatic(node, q[node.q_index], s.nodes[n].to_parent);
  }
  pose_column_node(node, s.nodes[n].to_parent, c, own);
  // V and A of the node it hangs on: by reference, copies would go through memory.
  const Twist<Scalar>& carried = node.parent < 0 ? ground.twist : c.nodes[node.parent].twist;
  const Twist<Scalar>& pulled =
      node.parent < 0 ? ground.acceleration : c.nodes[node.parent].acceleration;
  const int stride = c.stride, first = node.v_index;
  const Vec3<Scalar> z = own.pose.rotation.axis(2);
  const Twist<Scalar> twist = turns ? Twist<Scalar>{z, cross(own.pose.translation, z)}
                                    : Twist<Scalar>{Vec3<Scalar>::zero(), z};
  const Twist<Scalar> rate = ad(carried, twist);
  put(c.twist, stride, first, twist);
  put(c.rate, stride, first, rate);
  put(c.drift, stride, first, rate + rate);
  own.twist = carried + v[first] * twist;
  if constexpr (kAt == ColumnsAt::rest) {
    own.acceleration = pulled + v[first] * rate;
  } else {
    put(c.second, stride, first, ad(pulled, twist) + ad(carried, rate));
    own.acceleration = pulled + a[first] * twist + v[first] * rate;
  }
  load_column_node(node, own);
}
// `both`: the twists of the node and of the one it hangs on.
template <class Scalar>
[[gnu::noinline]] void vary_columns(const SweepModel& model, int n, const Scalar* q,
                                    const Scalar* v, const Scalar* a, const Twist<Scalar>& both,
                                    const DerivativeTable<Scalar>& c) {
  const Node& node = model.nodes[n];
  const ColumnNode<Scalar>& own = c.nodes[n];
  GeneralColumns<Scalar>& general = c.general[model.general_index[n]];
  const int stride = c.stride, first = node.v_index;
  HingeMotion<Scalar> motion;
  HingeVariation<Scalar> variation;
  evaluate_hinge(node, model.screws, model.customs[n], q + node.q_index, v + first, motion);
  vary_hinge(node, model.screws, model.customs[n], q + node.q_index, v + first, motion, variation);
  for (int l = 0; l < node.freedoms; ++l) {
    const int k = first + l;
    Twist<Scalar> turned = Twist<Scalar>::zero();  // Σ ∂H_m/∂q_l v_m
    Twist<Scalar> second = get_twist(c.second, stride, k);
    for (int m = 0; m < node.freedoms; ++m) {
      const Twist<Scalar> x = Ad(own.pose, variation.map_by_q[l][m]);
      general.map_by_q[l][m] = x;
      turned += v[first + m] * x;
      second += a[first + m] * x;
    }
    put(c.rate, stride, k, get_twist(c.rate, stride, k) + turned);
    put(c.second, stride, k, second + ad(both, turned) + Ad(own.pose, variation.bias_by_q[l]));
    put(c.drift, stride, k, get_twist(c.drift, stride, k) + Ad(own.pose, variation.bias_by_v[l]));
  }
}
template <class Scalar>
[[gnu::noinline]] void move_general_column_node(const SweepModel& model, int n, const Scalar* q,
                                                const Scalar* v, const Scalar* a,
                                                const GroundMotion<Scalar>& ground,
                                                const Scratch<Scalar>& s,
                                                const DerivativeTable<Scalar>& c) {
  const Node& node = model.nodes[n];
  ColumnNode<Scalar>& own = c.nodes[n];
  const NodeScratch<Scalar>& w = s.nodes[n];
  const int stride = c.stride, first = node.v_index;
  place_general(model, node, n, q + node.q_index, v + first, s.nodes[n],
                s.general[model.general_index[n]]);
  pose_column_node(node, w.to_parent, c, own);
  const Twist<Scalar>& carried = node.parent < 0 ? ground.twist : c.nodes[node.parent].twist;
  const Twist<Scalar>& pulled =
      node.parent < 0 ? ground.acceleration : c.nodes[node.parent].acceleration;
  const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  GeneralColumns<Scalar>& general = c.general[model.general_index[n]];
  Twist<Scalar> relative = Twist<Scalar>::zero(), push = Twist<Scalar>::zero();
  Twist<Scalar> columns[kMaxFreedoms];
  for (int k = 0; k < node.freedoms; ++k) {
    columns[k] = Ad(own.pose, g.map[k]);
    relative += v[first + k] * columns[k];
    push += a[first + k] * columns[k];
  }
  own.twist = carried + relative;
  own.acceleration = pulled + push + ad(carried, relative) + Ad(own.pose, w.bias);
  const Twist<Scalar> both = carried + own.twist;
  for (int l = 0; l < node.freedoms; ++l) {
    const Twist<Scalar> rate = ad(carried, columns[l]);
    put(c.twist, stride, first + l, columns[l]);
    put(c.rate, stride, first + l, rate);
    put(c.second, stride, first + l, ad(pulled, columns[l]) + ad(carried, rate));
    put(c.drift, stride, first + l, ad(both, columns[l]));
  }
  general.varies = varies(node);
  if (general.varies) vary_columns(model, n, q, v, a, both, c);
  load_column_node(node, own);
}

// S_l × S_m + ∂H_m/∂q_l of a hinge of several freedoms.
template <class Scalar>
inline Twist<Scalar> moved_twist(const Node& node, const GeneralColumns<Scalar>& general, int l,
                                 int m, const DerivativeTable<Scalar>& c) {
  const Twist<Scalar> moved = ad(get_twist(c.twist, c.stride, node.v_index + l),
                                 get_twist(c.twist, c.stride, node.v_index + m));
  return general.varies ? moved + general.map_by_q[l][m] : moved;
}

// When the sums of everything outboard of node n are complete, its force included: `by_q` of its
// freedom i, and the derivatives of the freedoms of its hinge by each other.
template <class Scalar>
inline void finish_by_q(const ColumnNode<Scalar>& own, int i, const Twist<Scalar>& twist,
                        const Twist<Scalar>& second, const DerivativeTable<Scalar>& c) {
  const Vec3<Scalar> rate = get_vec3(c.rate, c.stride, i);
  const Vec3<Scalar> pulled = cross(own.momentum.force, rate);
  Wrench<Scalar> by_q = own.inertia * second + cross_star(twist, own.force);
  by_q.moment += own.inertia_rate * rate - cross(own.momentum.moment, rate);
  by_q.force -= pulled + pulled;
  put(c.by_q, c.stride, i, by_q);
}
template <class Scalar>
inline void finish_own(const SweepModel& model, int n, const DerivativeTable<Scalar>& c) {
  const Node& node = model.nodes[n];
  if (node.freedoms == 1 && !varies(node)) return;
  GeneralColumns<Scalar>& general = c.general[model.general_index[n]];
  for (int l = 0; l < node.freedoms; ++l)
    for (int m = 0; m < node.freedoms; ++m)
      general.own[l][m] = dot(c.nodes[n].force, moved_twist(node, general, l, m, c));
}

// The rest of the columns of node n.
template <ColumnsAt kAt, class Scalar>
inline void finish_columns(const SweepModel& model, int n, const DerivativeTable<Scalar>& c) {
  const Node& node = model.nodes[n];
  const ColumnNode<Scalar>& own = c.nodes[n];
  const int stride = c.stride;
  const Vec3<Scalar>& spin = own.momentum.moment;
  const Vec3<Scalar>& push = own.momentum.force;
  for (int i = node.v_index; i < node.v_index + node.freedoms; ++i) {
    const Twist<Scalar> twist = get_twist(c.twist, stride, i);
    const Vec3<Scalar> bent = own.inertia_rate * twist.angular;  // J̇ s
    const Vec3<Scalar> swung = cross(spin, twist.angular);       // L × s
    const Vec3<Scalar> pushed = cross(push, twist.angular);
    put(c.momentum, stride, i, own.inertia * twist);
    const Vec3<Scalar> arm = cross(push, twist.linear);
    put(c.turning, stride, i, bent + swung + arm + arm);
    if constexpr (kAt == ColumnsAt::accelerations)
      finish_by_q(own, i, twist, get_twist(c.second, stride, i), c);
    Wrench<Scalar> by_v = own.inertia * get_twist(c.drift, stride, i);
    by_v.moment += bent - swung;
    by_v.force -= pushed + pushed;
    put(c.by_v, stride, i, by_v);
  }
  if constexpr (kAt == ColumnsAt::accelerations) finish_own(model, n, c);
}

// The columns of the spanning tree at q, v and acceleration a. `placed`: s has the placements of
// all hinges of one freedom at this q already. `external`: 6 for each node as in the sweeps, or
// null; those wrenches are taken as fixed in their body.
template <class Scalar, ColumnsAt kAt = ColumnsAt::accelerations>
void column_sweeps(const SweepModel& model, const Scalar* q, const Scalar* v, const Scalar* a,
                   const Scalar* external, bool placed, const Scratch<Scalar>& s,
                   const DerivativeTable<Scalar>& c) {
  if (!placed) sincos_of_all(q, model.coordinates, s.sine, s.cosine);
  GroundMotion<Scalar> ground;
  ground.acceleration = gravity_acceleration<Scalar>(model);
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    if (is_about_or_along_z(node))
      move_simple_column_node<kAt>(node, n, q, v, a, placed, ground, s, c);
    else
      move_general_column_node(model, n, q, v, a, ground, s, c);
    if (external != nullptr) {
      Wrench<Scalar> f;
      for (int i = 0; i < 6; ++i) f[i] = external[6 * n + i];
      c.nodes[n].force -= Ad_star_inverse(c.nodes[n].pose, f);
    }
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    if (drive.carrier < 0) continue;
    ColumnNode<Scalar>& carrier = c.nodes[drive.carrier];
    const Vec3<Scalar> u = carrier.pose.rotation * load_vec3<Scalar>(drive.coupling);
    const Vec3<Scalar> spin = v[drive.freedom] * u;
    c.rotors[d] = {u, cross(carrier.twist.angular, u)};
    carrier.momentum.moment += spin;
    carrier.force.moment += a[drive.freedom] * u + cross(carrier.twist.angular, spin);
  }
  for (int n = model.node_count; n-- > 0;) {
    finish_columns<kAt>(model, n, c);
    const int parent = model.nodes[n].parent;
    if (parent < 0) continue;
    const ColumnNode<Scalar>& own = c.nodes[n];
    ColumnNode<Scalar>& to = c.nodes[parent];
    to.inertia += own.inertia;
    to.inertia_rate += own.inertia_rate;
    to.momentum += own.momentum;
    to.force += own.force;
  }
}

// The efforts that go with the columns, at the accelerations a that they were made for; passive
// elements are not among them.
template <class Scalar>
void column_efforts(const SweepModel& model, const Scalar* a, const DerivativeTable<Scalar>& c,
                    Scalar* effort) {
  for (int n = 0; n < model.node_count; ++n)
    for (int k = 0; k < model.nodes[n].freedoms; ++k) {
      const int i = model.nodes[n].v_index + k;
      effort[i] = dot(c.nodes[n].force, get_twist(c.twist, c.stride, i));
    }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    effort[drive.freedom] += Scalar(drive.reflected) * a[drive.freedom];
    if (drive.carrier >= 0)
      effort[drive.freedom] += dot(c.rotors[d].axis, c.nodes[drive.carrier].acceleration.angular);
  }
}

// Columns that were made at rest, completed for accelerations a, in which all of it is linear: with
// ΔA = Σ S a over the freedoms inboard of a node, its own included,
//
//   second_j += ΔA_p × S_j (+ Σ ∂H a),   F += I ΔA + Σ momentum_i a_i over those outboard.
//
// Leaves ΔA and that sum in the scratch of the nodes.
template <class Scalar>
void add_accelerations(const SweepModel& model, const Scalar* a, const Scratch<Scalar>& s,
                       const DerivativeTable<Scalar>& c) {
  const int stride = c.stride;
  GroundMotion<Scalar> ground;
  ground.acceleration = gravity_acceleration<Scalar>(model);
  const Twist<Scalar> still = Twist<Scalar>::zero();
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    const Twist<Scalar>& before = node.parent < 0 ? still : s.nodes[node.parent].acceleration;
    Twist<Scalar> change = before;
    for (int i = node.v_index; i < node.v_index + node.freedoms; ++i) {
      const Twist<Scalar> twist = get_twist(c.twist, stride, i);
      change += a[i] * twist;
      if (is_about_or_along_z(node)) {
        const bool root = node.parent < 0;
        const Twist<Scalar>& carried = root ? ground.twist : c.nodes[node.parent].twist;
        const Twist<Scalar>& pulled =
            root ? ground.acceleration : c.nodes[node.parent].acceleration;
        put(c.second, stride, i, ad(pulled, twist) + ad(carried, get_twist(c.rate, stride, i)));
        continue;
      }
      Twist<Scalar> second = get_twist(c.second, stride, i) + ad(before, twist);
      const GeneralColumns<Scalar>& g = c.general[model.general_index[n]];
      if (g.varies)
        for (int m = 0; m < node.freedoms; ++m)
          second += a[node.v_index + m] * g.map_by_q[i - node.v_index][m];
      put(c.second, stride, i, second);
    }
    s.nodes[n].acceleration = change;
    s.nodes[n].force = Wrench<Scalar>::zero();
    c.nodes[n].acceleration += change;
  }
  for (int d = 0; d < c.drive_count; ++d)
    if (c.drives[d].carrier >= 0)
      s.nodes[c.drives[d].carrier].force.moment += a[c.drives[d].freedom] * c.rotors[d].axis;
  for (int n = model.node_count; n-- > 0;) {
    const Node& node = model.nodes[n];
    ColumnNode<Scalar>& own = c.nodes[n];
    Wrench<Scalar> outboard = s.nodes[n].force;
    own.force += own.inertia * s.nodes[n].acceleration + outboard;
    for (int i = node.v_index; i < node.v_index + node.freedoms; ++i) {
      outboard += a[i] * get_wrench(c.momentum, stride, i);
      finish_by_q(own, i, get_twist(c.twist, stride, i), get_twist(c.second, stride, i), c);
    }
    finish_own(model, n, c);
    if (node.parent >= 0) s.nodes[node.parent].force += outboard;
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
