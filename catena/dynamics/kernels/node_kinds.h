// SPDX-License-Identifier: BSD-3-Clause
// The kinds of node, and the one switch between them.
//
// A kind is a struct of static functions, the same verbs for each, which the loops of sweeps.h
// call. `s` is the evaluation (sweep.h), `n` the node:
//
//   void  move(s, n)                   outward: X_parent_node, V and the bias c
//   bool  eliminate(s, n)              inward: D, U and ε; adds P⁺ and z⁺ to the parent's P and z.
//                                      False if the node's freedoms move no inertia
//   void  accelerate(s, n, a_parent)   outward: v̇ and a; a = Ad⁻¹ a_parent + c on entry
//
// A kind that is a hinge (hinge_kinds.h) has besides, for closed loops and for inverse dynamics:
//
//   void  place(s, n), turn(s, n)            the two halves of `move`: position, velocity
//   void  drive(s, n, acceleration)          outward: a += H v̇ for known accelerations
//   void  project(s, n, acceleration)        inward: effort = Hᵀ f
//
// To add a kind of node:
//   1. write its struct in a file of its own beside these;
//   2. name it in NodeKind (kernel_table.h) and give it a line in with_kind() below (in
//      with_hinge() if it is a hinge);
//   3. let node_kinds() of workspace.cpp choose it (hinge_kinds() if it is a hinge), and Scratch
//      (scratch.h) hold its numbers.
// These are the sweeps. A hinge with motion columns of its own (a new NodeHinge) is also named
// where columns are made: kinematics_sweeps.h and composite_sweep.h beside this file,
// constraint_sweeps.h (multipliers/), columns.h (sensitivity/kernels/),
// momentum.cpp, loop_closure.cpp and aggregate_tables.cpp (closure/), hinge_kinematics.h and
// make_mechanism.cpp (model/).
//
// Existing kinds need no change: a node reads and writes only its parent's twist, acceleration,
// force and articulated inertia. (An attachment of a flexible body also uses its parent's modes:
// flexible_node.h.)
#pragma once

#include "catena/dynamics/kernels/gear_pair.h"
#include "catena/dynamics/kernels/hinge_kinds.h"
#include "catena/dynamics/kernels/loop_node.h"

namespace catena {
inline namespace CATENA_ISA {

// Calls f(node) with the struct of that kind.
template <class F>
[[gnu::always_inline]] inline auto with_kind(NodeKind kind, F f) {
  if (kind <= NodeKind::general) return with_hinge(kind, f);
  switch (kind) {
    case NodeKind::loop:
      return f(LoopNode());
    case NodeKind::gear_pair:
      return f(GearPairNode());
    case NodeKind::revolute:
    case NodeKind::prismatic:
    case NodeKind::revolute_rotor:
    case NodeKind::prismatic_rotor:
    case NodeKind::modes:
    case NodeKind::attachment:
    case NodeKind::general:
    case NodeKind::member:
      break;
  }
  return f(MemberNode());
}

}  // namespace CATENA_ISA
}  // namespace catena
