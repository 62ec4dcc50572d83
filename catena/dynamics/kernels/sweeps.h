// The sweeps, for any scalar and any instruction set.
//
// Forward dynamics is three loops over the nodes (text 000, the recursive solution; text 001,
// algorithms 3.4 to 3.6; Featherstone's articulated-body algorithm):
//
//   outward  velocities, bias accelerations c, gyroscopic forces z
//   inward   articulated inertia and residual force, the Riccati equation of the tree:
//              U = P H,  D = Hᵀ U,  ε = τ − Hᵀ z,  P⁺ = P − U D⁻¹ Uᵀ,  z⁺ = z + P⁺ c + U D⁻¹ ε
//   outward  accelerations: v̇ = D⁻¹ (ε − Uᵀ a⁺),  a = a⁺ + H v̇,  with a⁺ = Ad⁻¹ a_parent + c
//
// Everything is in body frames. A hinge of one freedom about or along the local z axis (node.h) has
// one column of P for U and one element for D, and the zeros that elimination leaves in P⁺ are not
// shifted (shift.h). All other hinges go through general_hinge.h. Gravity enters as an
// acceleration −g of the ground.
//
// A motion-driven freedom (hybrid dynamics) is not eliminated: its acceleration joins the bias,
// and its effort is read off in the last sweep.
#pragma once

#include "catena/dynamics/kernels/aggregate.h"
#include "catena/dynamics/kernels/general_hinge.h"
#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/dynamics/kernels/shift.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/spatial/trig.h"

namespace catena {
inline namespace CATENA_ISA {

// R · Rz(angle) for a constant R: twelve multiplications.
template <class Scalar>
inline Rotation<Scalar> turn_about_z(const double* r, const SinCos<Scalar>& t) {
  const Vec3<Scalar> a{Scalar(r[0]), Scalar(r[3]), Scalar(r[6])};  // columns of R
  const Vec3<Scalar> b{Scalar(r[1]), Scalar(r[4]), Scalar(r[7])};
  const Vec3<Scalar> c{Scalar(r[2]), Scalar(r[5]), Scalar(r[8])};
  return {Mat3<Scalar>::from_columns(t.cos * a + t.sin * b, t.cos * b - t.sin * a, c)};
}

// Sines and cosines of the angles of hinges about z, in s.sine and s.cosine by coordinate. For one
// state all coordinates in one loop, which compilers vectorize.
template <class Scalar>
inline void sines_of_angles(const SweepModel& model, const Scalar* q, const Scratch<Scalar>& s) {
  if constexpr (std::is_same_v<Scalar, double>) {
    sincos_of_all(q, model.coordinates, s.sine, s.cosine);
  } else {
    const auto each = [&](auto f) {
      for (int n = 0; n < model.node_count; ++n)
        if (model.nodes[n].hinge == NodeHinge::revolute) f(model.nodes[n].q_index);
    };
    sines_of(q, s.sine, s.cosine, each);
  }
}

// outer · R · Rz(angle) for a constant R. Row by row, so that R and little else is in registers.
template <class Scalar>
inline void turn_about_z(const Rotation<Scalar>& __restrict outer, const double* r,
                         const SinCos<Scalar>& t, Rotation<Scalar>& __restrict result) {
  const Vec3<Scalar> r0 = load_vec3<Scalar>(r), r1 = load_vec3<Scalar>(r + 3),
                     r2 = load_vec3<Scalar>(r + 6);
  for (int i = 0; i < 3; ++i) {
    const Vec3<Scalar> row = outer.matrix.row(i);
    const Vec3<Scalar> x = row.x * r0 + row.y * r1 + row.z * r2;
    result.matrix.m[i][0] = t.cos * x.x + t.sin * x.y;
    result.matrix.m[i][1] = t.cos * x.y - t.sin * x.x;
    result.matrix.m[i][2] = x.z;
  }
}

// (R · Rz(angle))ᵀ x for a constant R.
template <class Scalar>
inline Vec3<Scalar> turn_back_about_z(const double* r, const SinCos<Scalar>& t,
                                      const Vec3<Scalar>& x) {
  const Vec3<Scalar> y =
      x.x * load_vec3<Scalar>(r) + x.y * load_vec3<Scalar>(r + 3) + x.z * load_vec3<Scalar>(r + 6);
  return {t.cos * y.x + t.sin * y.y, t.cos * y.y - t.sin * y.x, y.z};
}

// X_parent_node of a hinge about or along z.
template <class Scalar>
inline void place_revolute(const Node& node, const Scratch<Scalar>& s, Transform<Scalar>& x) {
  x.rotation =
      turn_about_z(node.rotation, SinCos<Scalar>{s.sine[node.q_index], s.cosine[node.q_index]});
  x.translation = load_vec3<Scalar>(node.translation);
}
template <class Scalar>
inline void place_prismatic(const Node& node, const Scalar& q, Transform<Scalar>& x) {
  x = load_placement<Scalar>(node);
  x.translation += q * x.rotation.axis(2);
}

template <class Scalar>
inline Twist<Scalar> gravity_acceleration(const SweepModel& model) {
  return {Vec3<Scalar>::zero(), -load_vec3<Scalar>(model.gravity)};
}

// −ad*(V, J V): the wrench that keeps a body at twist V with V̇ = 0.
template <class Scalar>
inline Wrench<Scalar> gyroscopic_force(const SpatialInertia<Scalar>& inertia,
                                       const Twist<Scalar>& v) {
  return -ad_star(v, inertia * v);
}

// J A − ad*(V, J V), the wrench that moves a body: with the acceleration u = a + ω × v of the
// frame's origin, force = m u + α × h + ω × (ω × h) and moment = J α + ω × J ω + h × u.
template <class Scalar>
inline Wrench<Scalar> rigid_force(const SpatialInertia<Scalar>& i, const Twist<Scalar>& v,
                                  const Twist<Scalar>& a) {
  const Vec3<Scalar>& turn = v.angular;
  const Vec3<Scalar>& h = i.mass_moment;
  const Vec3<Scalar> u = a.linear + cross(turn, v.linear);
  return {i.inertia * a.angular + cross(turn, i.inertia * turn) + cross(h, u),
          i.mass * u + cross(a.angular, h) + cross(turn, cross(turn, h))};
}

// X_parent_node; for general hinges also the motion map, H v (as twist) and Ḣ v (as bias).
template <class Scalar>
inline void place_node(const SweepModel& model, const Node& node, int n, const Scalar* q,
                       const Scalar* own_v, const Scratch<Scalar>& s) {
  NodeScratch<Scalar>& w = s.nodes[n];
  const bool along_z = is_about_or_along_z(node);
  if (!along_z) {
    place_general(model, node, n, q + node.q_index, own_v, w, s.general[model.general_index[n]]);
    return;
  }
  const bool turns = node.hinge == NodeHinge::revolute;
  if (turns)
    place_revolute(node, s, w.to_parent);
  else
    place_prismatic(node, q[node.q_index], w.to_parent);
  if (model.general_index[n] < 0) return;
  const Scalar zero(0.0), one(1.0);  // with a rotor
  const Vec3<Scalar> none{zero, zero, zero}, z{zero, zero, one};
  Twist<Scalar>& map = s.general[model.general_index[n]].map[0];
  map = turns ? Twist<Scalar>{z, none} : Twist<Scalar>{none, z};
  w.twist = own_v[0] * map;
  w.bias = {none, none};
}

// The velocity of a node that is placed; returns its bias acceleration.
template <class Scalar>
inline Twist<Scalar> turn_node(const Node& node, int n, const Scalar* v, const Scratch<Scalar>& s) {
  NodeScratch<Scalar>& w = s.nodes[n];
  const Scalar zero(0.0);
  if (!is_about_or_along_z(node)) {
    if (node.parent < 0) return w.bias;
    const Twist<Scalar> relative = w.twist;  // H v
    const Twist<Scalar> carried = Ad_inverse(w.to_parent, s.nodes[node.parent].twist);
    w.twist += carried;
    return w.bias + ad(carried, relative);
  }
  const Scalar rate = v[node.v_index];
  const bool turns = node.hinge == NodeHinge::revolute;
  Twist<Scalar> twist =
      node.parent < 0 ? Twist<Scalar>::zero() : Ad_inverse(w.to_parent, s.nodes[node.parent].twist);
  // [V, z v]: about z it turns ω and v, along z it turns ω alone.
  const Vec3<Scalar> turned{twist.angular.y * rate, -(twist.angular.x * rate), zero};
  Twist<Scalar> bias{turned, {twist.linear.y * rate, -(twist.linear.x * rate), zero}};
  if (turns) {
    twist.angular.z = twist.angular.z + rate;
  } else {
    bias = {Vec3<Scalar>::zero(), turned};
    twist.linear.z = twist.linear.z + rate;
  }
  w.twist = twist;
  return bias;
}

// Places the node, unless embed_loops() has, and turns it.
template <class Scalar>
inline Twist<Scalar> move_node(const SweepModel& model, const Node& node, int n, const Scalar* q,
                               const Scalar* v, const Scratch<Scalar>& s) {
  if (!(model.order_flags[n] & kPlacedEarly)) place_node(model, node, n, q, v + node.v_index, s);
  return turn_node(node, n, v, s);
}

// w.acceleration += H v̇, the freedoms' accelerations taken from `acceleration`.
template <class Scalar>
inline void add_hinge_acceleration(const SweepModel& model, const Node& node, int n,
                                   const Scalar* acceleration, const Scratch<Scalar>& s) {
  NodeScratch<Scalar>& w = s.nodes[n];
  if (model.general_index[n] >= 0) {
    const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
    for (int k = 0; k < node.freedoms; ++k)
      w.acceleration += acceleration[node.v_index + k] * g.map[k];
  } else {
    (node.hinge == NodeHinge::revolute ? w.acceleration.angular.z : w.acceleration.linear.z) +=
        acceleration[node.v_index];
  }
}

// X and γ of every closed loop, from the poses of its members relative to its base. v null: X only.
// Returns kSweepDone or kLoopFailed − loop.
template <class Scalar>
int embed_loops(const SweepModel& model, const Scalar* q, const Scalar* v,
                const Scratch<Scalar>& s) {
  const Scalar zero(0.0);
  const Scalar still[kMaxFreedoms] = {zero, zero, zero, zero, zero, zero};
  for (int i = 0; i < model.aggregate_count; ++i) {
    const Aggregate& a = model.aggregates[i];
    AggregateScratch<Scalar>& g = s.aggregates[i];
    if (is_placed_early(model, a))
      move_members(
          model, a, v,
          [&](const Node& node, int n) {
            place_node(model, node, n, q, v != nullptr ? v + node.v_index : still, s);
          },
          s, g);
    const bool solved =
        with_size(a, [&]<int kSize>() { return solve_closure<Scalar, kSize>(model, a, q, v, g); });
    if (!solved) return kLoopFailed - i;
  }
  return kSweepDone;
}

// Forward (hybrid = false) and hybrid dynamics of the nodes from `first` on and before `end`, one
// stretch. Returns the first node, from the tips, whose hinge inertia is not positive, or
// kSweepDone.
template <class Scalar, bool kHybrid>
inline int forward_stretch(const SweepModel& model, int first, int end, const Scalar* q,
                           const Scalar* v, const Scalar* effort, const Scalar* given_acceleration,
                           const std::uint8_t* driven, const Scalar* external,
                           const Scratch<Scalar>& s, Scalar* acceleration, Scalar* found_effort) {
  // Outward: velocities, bias accelerations, and what each body needs to keep moving.
  for (int n = first; n < end; ++n) {
    const Node& node = model.nodes[n];
    NodeScratch<Scalar>& w = s.nodes[n];
    w.bias = move_node(model, node, n, q, v, s);
    const SpatialInertia<Scalar> inertia = load_inertia<Scalar>(node);
    w.force = gyroscopic_force(inertia, w.twist);
    if (external != nullptr)
      for (int i = 0; i < 6; ++i) w.force[i] = w.force[i] - external[6 * n + i];
  }

  // Inward: articulated inertia and residual force (Riccati equation of the tree).
  for (int n = end; n-- > first;) {
    const Node& node = model.nodes[n];
    NodeScratch<Scalar>& w = s.nodes[n];
    if (model.order_flags[n] & kLeaf)
      w.articulated = ArticulatedInertia<Scalar>::from(load_inertia<Scalar>(node));
    if (model.order_flags[n] & kMember) {  // its loop is eliminated as a whole, at the last member
      if (!(model.order_flags[n] & kFirstMember)) continue;
      const int a = model.aggregate_of_node[n];
      const bool done = with_size(model.aggregates[a], [&]<int kSize>() {
        if constexpr (kSize == 2 && !kHybrid)
          if (is_gear_pair(model, model.aggregates[a]))
            return eliminate_gear_pair(model, model.aggregates[a], effort, s, s.aggregates[a]);
        return eliminate_aggregate<Scalar, kHybrid, kSize>(
            model, model.aggregates[a], effort, given_acceleration, driven, v, s, s.aggregates[a]);
      });
      if (!done) return n;
      continue;
    }
    const bool is_driven = kHybrid && driven[node.v_index] != 0;
    if (model.general_index[n] >= 0) {
      if (!eliminate_general<Scalar, kHybrid>(model, node, n, effort, given_acceleration, driven, v,
                                              s))
        return n;
      continue;
    }
    const ArticulatedInertia<Scalar>& p = w.articulated;
    const bool turns = node.hinge == NodeHinge::revolute;
    if (is_driven) {
      const Scalar a = given_acceleration[node.v_index];
      (turns ? w.bias.angular.z : w.bias.linear.z) = a;
      if (node.parent < 0) continue;
      NodeScratch<Scalar>& parent = s.nodes[node.parent];
      receive(model, n, node.parent, shift_to_parent(w.to_parent, p), s);
      parent.force += Ad_star_inverse(w.to_parent, w.force + p * w.bias);
      continue;
    }
    const Scalar hinge_inertia = turns ? p.angular.zz : p.linear.zz;
    const Scalar residual = turns ? w.force.moment.z : w.force.force.z;
    if (!moves_inertia(hinge_inertia, own_inertia(node, turns), turns ? p.angular : p.linear))
      return n;
    const Scalar inverse = Scalar(1.0) / hinge_inertia;
    const Scalar applied = effort != nullptr ? effort[node.v_index] : Scalar(0.0);
    const Scalar innovation = applied - residual;
    w.inverse_hinge_inertia = inverse;
    w.innovation = innovation;
    // z⁺ = z + P c + U D⁻¹ (ε − Uᵀ c); along the hinge's own direction that is the effort.
    if (turns) {
      const Wrench<Scalar> gain{{p.angular.xz, p.angular.yz, p.angular.zz}, p.coupling.row(2)};
      w.gain = gain;
      if (node.parent < 0) continue;
      Wrench<Scalar> passed = w.force + times_turned(p, w.bias);
      const Scalar push = inverse * (applied - passed.moment.z);
      passed += push * gain;
      passed.moment.z = applied;
      s.nodes[node.parent].force += Ad_star_inverse(w.to_parent, passed);
      add_shifted_about_z(w.to_parent, p, inverse, sum_so_far(model, n, node.parent, s),
                          s.nodes[node.parent].articulated);
    } else {
      const Wrench<Scalar> gain{p.coupling.column(2), {p.linear.xz, p.linear.yz, p.linear.zz}};
      w.gain = gain;
      if (node.parent < 0) continue;
      Wrench<Scalar> passed = w.force + times_shifted(p, w.bias);
      const Scalar push = inverse * (applied - passed.force.z);
      passed += push * gain;
      passed.force.z = applied;
      s.nodes[node.parent].force += Ad_star_inverse(w.to_parent, passed);
      add_shifted_along_z(w.to_parent, p, inverse, sum_so_far(model, n, node.parent, s),
                          s.nodes[node.parent].articulated);
    }
  }

  // Outward: accelerations.
  const Twist<Scalar> ground = gravity_acceleration<Scalar>(model);
  for (int n = first; n < end; ++n) {
    const Node& node = model.nodes[n];
    NodeScratch<Scalar>& w = s.nodes[n];
    const Twist<Scalar>& parent = node.parent < 0 ? ground : s.nodes[node.parent].acceleration;
    w.acceleration = Ad_inverse(w.to_parent, parent) + w.bias;
    if (model.order_flags[n] & kMember) {
      const int a = model.aggregate_of_node[n];
      if (model.order_flags[n] & kFirstMember)
        with_size(model.aggregates[a], [&]<int kSize>() {
          accelerate_aggregate<Scalar, kHybrid, kSize>(model, model.aggregates[a], parent,
                                                       given_acceleration, driven, effort,
                                                       s.aggregates[a], acceleration, found_effort);
        });
      add_hinge_acceleration(model, node, n, acceleration, s);
      continue;
    }
    if (model.general_index[n] >= 0) {
      if (!kHybrid && is_about_or_along_z(node)) {
        acceleration[node.v_index] = accelerate_with_rotor(model, node, n, parent, s);
        continue;
      }
      accelerate_general<Scalar, kHybrid>(model, node, n, parent, given_acceleration, driven,
                                          effort, s, acceleration, found_effort);
      continue;
    }
    const bool turns = node.hinge == NodeHinge::revolute;
    if (kHybrid && driven[node.v_index] != 0) {
      acceleration[node.v_index] = given_acceleration[node.v_index];
      const Wrench<Scalar> f = w.articulated * w.acceleration + w.force;
      found_effort[node.v_index] = turns ? f.moment.z : f.force.z;
      continue;
    }
    const Scalar a = w.inverse_hinge_inertia * (w.innovation - dot(w.gain, w.acceleration));
    (turns ? w.acceleration.angular.z : w.acceleration.linear.z) += a;
    acceleration[node.v_index] = a;
    if (kHybrid)
      found_effort[node.v_index] = effort != nullptr ? effort[node.v_index] : Scalar(0.0);
  }
  return kSweepDone;
}

// Forward (hybrid = false) and hybrid dynamics, stretch by stretch. Returns as forward_stretch.
template <class Scalar, bool kHybrid>
int forward_sweeps(const SweepModel& model, const Scalar* q, const Scalar* v, const Scalar* effort,
                   const Scalar* given_acceleration, const std::uint8_t* driven,
                   const Scalar* external, const Scratch<Scalar>& s, Scalar* acceleration,
                   Scalar* found_effort) {
  sines_of_angles(model, q, s);
  if (model.aggregate_count > 0)
    if (const int failed = embed_loops(model, q, v, s); failed != kSweepDone) return failed;
  int first = 0, failed = kSweepDone;
  for (int i = 0; i < model.stretch_count && failed == kSweepDone; ++i) {
    const int end = model.stretch_ends[i];
    failed = forward_stretch<Scalar, kHybrid>(model, first, end, q, v, effort, given_acceleration,
                                              driven, external, s, acceleration, found_effort);
    first = end;
  }
  return failed;
}

// The accelerations of all freedoms that go with those of the independent ones.
template <class Scalar>
inline void complete_accelerations(const SweepModel& model, const Scalar* acceleration,
                                   const Scratch<Scalar>& s) {
  for (int i = 0; i < model.freedoms; ++i)
    s.acceleration[i] = acceleration != nullptr ? acceleration[i] : Scalar(0.0);
  for (int i = 0; i < model.aggregate_count; ++i) {
    const Aggregate& a = model.aggregates[i];
    const AggregateScratch<Scalar>& g = s.aggregates[i];
    const int* order = model.order + a.first_order;
    const int* freedom = model.freedom_of_column + a.first_order;
    const int independents = a.independents;
    for (int d = 0; d < a.rank; ++d) {
      Scalar sum = g.bias[order[d]];
      for (int k = 0; k < independents; ++k)
        sum = sum + g.map[order[d] * independents + k] * s.acceleration[freedom[order[a.rank + k]]];
      s.acceleration[freedom[order[d]]] = sum;
    }
  }
}

// Inverse dynamics of one stretch: two loops (text 001, algorithm 3.1).
template <class Scalar>
inline void inverse_stretch(const SweepModel& model, int first, int end, const Scalar* q,
                            const Scalar* v, const Scalar* acceleration, const Scalar* external,
                            const Scratch<Scalar>& s, Scalar* effort) {
  const Twist<Scalar> ground = gravity_acceleration<Scalar>(model);
  for (int n = first; n < end; ++n) {
    const Node& node = model.nodes[n];
    NodeScratch<Scalar>& w = s.nodes[n];
    const Twist<Scalar> bias = move_node(model, node, n, q, v, s);
    w.acceleration =
        Ad_inverse(w.to_parent, node.parent < 0 ? ground : s.nodes[node.parent].acceleration) +
        bias;
    if constexpr (kLanesOf<Scalar> == 0) w.bias = bias;  // for those who read a workspace
    if (acceleration != nullptr) add_hinge_acceleration(model, node, n, acceleration, s);
    w.force = rigid_force(load_inertia<Scalar>(node), w.twist, w.acceleration);
    if (external != nullptr)
      for (int i = 0; i < 6; ++i) w.force[i] = w.force[i] - external[6 * n + i];
  }
  for (int n = end; n-- > first;) {
    const Node& node = model.nodes[n];
    const NodeScratch<Scalar>& w = s.nodes[n];
    if (model.general_index[n] >= 0)
      project_general(model, node, n, v, acceleration, s, effort);
    else
      effort[node.v_index] = node.hinge == NodeHinge::revolute ? w.force.moment.z : w.force.force.z;
    if (node.parent >= 0) s.nodes[node.parent].force += Ad_star_inverse(w.to_parent, w.force);
  }
}

// Inverse dynamics, stretch by stretch. `acceleration` null means zero. With closed loops the
// accelerations of the independent freedoms are read, and the efforts are those of the spanning
// tree: Xᵀ of them act on the independent freedoms. Returns as forward_sweeps.
template <class Scalar>
int inverse_sweeps(const SweepModel& model, const Scalar* q, const Scalar* v,
                   const Scalar* acceleration, const Scalar* external, const Scratch<Scalar>& s,
                   Scalar* effort) {
  sines_of_angles(model, q, s);
  if (model.aggregate_count > 0) {
    if (const int failed = embed_loops(model, q, v, s); failed != kSweepDone) return failed;
    complete_accelerations(model, acceleration, s);
    acceleration = s.acceleration;
  }
  for (int first = 0, i = 0; i < model.stretch_count; first = model.stretch_ends[i++])
    inverse_stretch(model, first, model.stretch_ends[i], q, v, acceleration, external, s, effort);
  return kSweepDone;
}

// Poses in the ground frame; twists too if v is given.
template <class Scalar>
void kinematics_sweep(const SweepModel& model, const Scalar* q, const Scalar* v,
                      const Scratch<Scalar>& s) {
  sines_of_angles(model, q, s);
  const Scalar zero(0.0);
  const Scalar still[kMaxFreedoms] = {zero, zero, zero, zero, zero, zero};
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    NodeScratch<Scalar>& w = s.nodes[n];
    place_node(model, node, n, q, v != nullptr ? v + node.v_index : still, s);
    if (v != nullptr) w.bias = turn_node(node, n, v, s);
    w.pose = node.parent < 0 ? w.to_parent : s.nodes[node.parent].pose * w.to_parent;
  }
}

// The same, and nothing else kept: pose and (kMoving) twist of node n go to motion[n]; then
// leave(n) is called.
template <class Scalar>
struct NodePose {
  Transform<Scalar> pose;
};
template <class Scalar>
struct NodeMotion {
  Transform<Scalar> pose;
  Twist<Scalar> twist;
};
template <class Scalar, bool kMoving, class Motion, class Leave>
void motion_sweep(const SweepModel& model, const Scalar* q, const Scalar* v,
                  const Scratch<Scalar>& s, Motion* motion, Leave leave) {
  sines_of_angles(model, q, s);
  const Scalar zero(0.0);
  const Scalar still[kMaxFreedoms] = {zero, zero, zero, zero, zero, zero};
  for (int n = 0; n < model.node_count; ++n, leave(n - 1)) {
    const Node& node = model.nodes[n];
    Motion& __restrict own = motion[n];
    if (node.hinge == NodeHinge::revolute && node.parent >= 0) {  // most of them
      const Motion& __restrict parent = motion[node.parent];
      const SinCos<Scalar> t{s.sine[node.q_index], s.cosine[node.q_index]};
      const Vec3<Scalar> p = load_vec3<Scalar>(node.translation);
      turn_about_z(parent.pose.rotation, node.rotation, t, own.pose.rotation);
      own.pose.translation = parent.pose * p;
      if constexpr (kMoving) {
        const Twist<Scalar>& carried = parent.twist;
        own.twist.angular = turn_back_about_z(node.rotation, t, carried.angular);
        own.twist.angular.z = own.twist.angular.z + v[node.v_index];
        own.twist.linear =
            turn_back_about_z(node.rotation, t, carried.linear - cross(p, carried.angular));
      }
      continue;
    }
    Transform<Scalar> x;
    Twist<Scalar> relative = Twist<Scalar>::zero();
    if (!is_about_or_along_z(node)) {
      place_node(model, node, n, q, kMoving ? v + node.v_index : still, s);
      x = s.nodes[n].to_parent;
      relative = s.nodes[n].twist;
    } else if (node.hinge == NodeHinge::revolute) {
      place_revolute(node, s, x);
      if constexpr (kMoving) relative.angular.z = v[node.v_index];
    } else {
      place_prismatic(node, q[node.q_index], x);
      if constexpr (kMoving) relative.linear.z = v[node.v_index];
    }
    if (node.parent < 0) {
      own.pose = x;
      if constexpr (kMoving) own.twist = relative;
    } else {
      const Motion& parent = motion[node.parent];
      own.pose = parent.pose * x;
      if constexpr (kMoving) own.twist = Ad_inverse(x, parent.twist) + relative;
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
