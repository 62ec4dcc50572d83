// SPDX-License-Identifier: BSD-3-Clause
// Sweep: one evaluation of the recursions over the tree. It holds the mechanism's tables, the
// scratch memory and the inputs, and is handed to every step of every kind of node (node_kinds.h).
//
// Frames: everything about a node is in the node's own frame (scratch.h).
#pragma once

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
inline namespace CATENA_ISA {

// kHybridDynamics: some freedoms are motion-driven (their acceleration is given, their effort is
// found). Forward dynamics is compiled without these branches.
template <class ScalarType, bool kHybridDynamics = false>
struct Sweep {
  using Scalar = ScalarType;
  static constexpr bool kHybrid = kHybridDynamics;

  const SweepModel& model;
  const Scratch<Scalar>& scratch;
  const SweepInputs<Scalar>& in;
  Scalar* acceleration = nullptr;  // results, by freedom
  Scalar* effort = nullptr;

  const Node& node(int n) const { return model.nodes[n]; }
  NodeKind kind(int n) const { return model.kinds[n]; }
  NodeKind hinge_kind(int n) const { return model.hinge_kinds[n]; }
  NodeScratch<Scalar>& at(int n) const { return scratch.nodes[n]; }
  GeneralScratch<Scalar>& general(int n) const { return scratch.general[model.general_index[n]]; }

  // Whether the acceleration of freedom i is given, and the effort that is applied to it.
  bool is_driven(int i) const {
    if constexpr (kHybrid)
      return in.driven[i] != 0;
    else
      return false;
  }
  Scalar applied(int i) const { return in.effort != nullptr ? in.effort[i] : Scalar(0.0); }
};

// A leaf's articulated inertia is its own; other nodes' sums are started by their children.
template <class S>
inline void start_leaf(const S& s, int n) {
  using Scalar = typename S::Scalar;
  if (s.model.order_flags[n] & kLeaf)
    s.at(n).articulated = ArticulatedInertia<Scalar>::from(load_inertia<Scalar>(s.node(n)));
}

// What a child adds to: the first one to reach its parent starts the sum from the parent's own
// inertia. No branch: the 21 numbers would have to wait for it in memory.
template <class S>
inline const ArticulatedInertia<typename S::Scalar>& sum_so_far(const S& s, int child, int parent) {
  return s.model.order_flags[child] & kFirstAtParent ? s.scratch.own[parent]
                                                     : s.at(parent).articulated;
}

// Adds what a child passes on to its parent's articulated inertia.
template <class S>
inline void receive(const S& s, int child, int parent,
                    const ArticulatedInertia<typename S::Scalar>& felt) {
  s.at(parent).articulated = sum_so_far(s, child, parent) + felt;
}

// Subtracts the external wrench on node n from the force that it needs.
template <class S>
inline void subtract_external(const S& s, int n) {
  Wrench<typename S::Scalar>& force = s.at(n).force;
  if (s.in.external != nullptr)
    for (int i = 0; i < 6; ++i) force[i] = force[i] - s.in.external[6 * n + i];
}

}  // namespace CATENA_ISA
}  // namespace catena
