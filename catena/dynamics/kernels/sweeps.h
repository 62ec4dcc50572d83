// SPDX-License-Identifier: BSD-3-Clause
// Forward and inverse dynamics: the sweeps over the tree of nodes, for any scalar and any
// instruction set. What a kind of node does at each step is in node_kinds.h.
//
// Forward dynamics is three loops (the articulated-body algorithm, ABA):
//
//   outward  velocities V, bias accelerations c, gyroscopic forces z
//   inward   articulated inertia P and residual force z, the Riccati equation of the tree:
//              U = P H,  D = Hᵀ U,  ε = τ − Hᵀ z,  P⁺ = P − U D⁻¹ Uᵀ,  z⁺ = z + P⁺ c + U D⁻¹ ε
//   outward  accelerations: v̇ = D⁻¹ (ε − Uᵀ a⁺),  a = a⁺ + H v̇,  with a⁺ = Ad⁻¹ a_parent + c
//
// and inverse dynamics two (the recursive Newton-Euler algorithm, RNEA). Everything is in body
// frames. Gravity enters as an acceleration −g of the ground. Cost: O(N).
//
// A motion-driven freedom (hybrid dynamics) is not eliminated: its acceleration joins the bias,
// and its effort is read off in the last sweep.
//
// [Featherstone 2008, ch. 5, 7 and 9; Rodriguez, Jain & Kreutz-Delgado 1991]
#pragma once

#include "catena/dynamics/kernels/node_kinds.h"
#include "catena/dynamics/kernels/sweep.h"

namespace catena {
inline namespace CATENA_ISA {

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

// Forward and hybrid dynamics of the nodes from `first` on and before `end`, one stretch. Fails at
// the first node, from the tips, whose freedoms move no inertia. (A separate function,
// so that all registers are available to the three loops.)
template <class Scalar, bool kHybrid>
[[gnu::noinline]] SweepStatus forward_stretch(const Sweep<Scalar, kHybrid>& s, int first, int end) {
  // Outward: velocities, bias accelerations, and what each body needs to keep moving.
  for (int n = first; n < end; ++n) {
    NodeScratch<Scalar>& w = s.at(n);
    with_kind(s.kind(n), [&](auto node) { node.move(s, n); });
    w.force = gyroscopic_force(load_inertia<Scalar>(s.node(n)), w.twist);
    subtract_external(s, n);
  }

  // Inward: articulated inertia and residual force (Riccati equation of the tree).
  for (int n = end; n-- > first;) {
    start_leaf(s, n);
    if (!with_kind(s.kind(n), [&](auto node) { return node.eliminate(s, n); }))
      return SweepStatus::no_inertia(n);
  }

  // Outward: accelerations.
  const Twist<Scalar> ground = gravity_acceleration<Scalar>(s.model);
  for (int n = first; n < end; ++n) {
    NodeScratch<Scalar>& w = s.at(n);
    const int p = s.node(n).parent;
    const Twist<Scalar>& parent = p < 0 ? ground : s.at(p).acceleration;
    w.acceleration = Ad_inverse(w.to_parent, parent) + w.bias;
    with_kind(s.kind(n), [&](auto node) { node.accelerate(s, n, parent); });
  }
  return {};
}

// Forward and hybrid dynamics, stretch by stretch.
template <class Scalar, bool kHybrid>
SweepStatus forward_sweeps(const Sweep<Scalar, kHybrid>& s) {
  sines_of_angles(s.model, s.in.q, s.scratch);
  SweepStatus status;
  if (s.model.aggregate_count > 0) status = embed_loops(Sweep<Scalar>{s.model, s.scratch, s.in});
  for (int first = 0, i = 0; i < s.model.stretch_count && status.done(); ++i) {
    status = forward_stretch(s, first, s.model.stretch_ends[i]);
    first = s.model.stretch_ends[i];
  }
  return status;
}

// Inverse dynamics of one stretch, at the accelerations of all freedoms (null: zero). Flattened:
// the steps of a revolute hinge would otherwise be calls.
template <class Scalar>
[[gnu::flatten, gnu::noinline]] void inverse_stretch(const Sweep<Scalar>& s,
                                                     const Scalar* acceleration, int first,
                                                     int end) {
  // Outward: velocities, accelerations, and the force that moves each body.
  const Twist<Scalar> ground = gravity_acceleration<Scalar>(s.model);
  for (int n = first; n < end; ++n) {
    NodeScratch<Scalar>& w = s.at(n);
    const int p = s.node(n).parent;
    const Twist<Scalar>& parent = p < 0 ? ground : s.at(p).acceleration;
    with_kind(s.kind(n), [&](auto node) { node.move(s, n); });
    w.acceleration = Ad_inverse(w.to_parent, parent) + w.bias;
    if (acceleration != nullptr)
      with_hinge(s.hinge_kind(n), [&](auto hinge) { hinge.drive(s, n, acceleration); });
    w.force = rigid_force(load_inertia<Scalar>(s.node(n)), w.twist, w.acceleration);
    subtract_external(s, n);
  }

  // Inward: efforts, and the wrench that each node takes from its parent.
  for (int n = end; n-- > first;) {
    const NodeScratch<Scalar>& w = s.at(n);
    const int p = s.node(n).parent;
    with_hinge(s.hinge_kind(n), [&](auto hinge) { hinge.project(s, n, acceleration); });
    if (p >= 0) s.at(p).force += Ad_star_inverse(w.to_parent, w.force);
  }
}

// Inverse dynamics, stretch by stretch. With closed loops the accelerations of the independent
// freedoms are read, and the efforts are those of the spanning tree: Xᵀ of them act on the
// independent freedoms.
template <class Scalar>
SweepStatus inverse_sweeps(const Sweep<Scalar>& s) {
  sines_of_angles(s.model, s.in.q, s.scratch);
  const Scalar* acceleration = s.in.acceleration;
  if (s.model.aggregate_count > 0) {
    if (const SweepStatus status = embed_loops(s); !status.done()) return status;
    complete_accelerations(s, acceleration);
    acceleration = s.scratch.acceleration;
  }
  for (int first = 0, i = 0; i < s.model.stretch_count; first = s.model.stretch_ends[i++])
    inverse_stretch(s, acceleration, first, s.model.stretch_ends[i]);
  return {};
}

}  // namespace CATENA_ISA
}  // namespace catena
