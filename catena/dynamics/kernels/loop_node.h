// SPDX-License-Identifier: BSD-3-Clause
// Kinds of node: the members of a closed loop. Each moves like any node with its hinge; the loop is
// eliminated as a whole (aggregate.h) when the inward sweep has passed all members, that is at the
// one which comes first, and accelerated as a whole there in the last outward sweep.
//
// X and γ of every loop are found before the sweeps (embed_loops). That places the members of loops
// which close by geometry. Members that are only coupled are placed in the sweep.
#pragma once

#include <type_traits>

#include "catena/dynamics/kernels/aggregate.h"
#include "catena/dynamics/kernels/hinge_kinds.h"

namespace catena {
inline namespace CATENA_ISA {

struct MemberNode {
  template <class S>
  [[gnu::noinline]] static void move(const S& s, int n) {
    const bool placed = (s.model.order_flags[n] & kPlacedEarly) != 0;
    with_hinge(s.hinge_kind(n), [&](auto hinge) {
      if (!placed) hinge.place(s, n);
      hinge.turn(s, n);
      if constexpr (std::is_same_v<decltype(hinge), ModesNode>) hinge.deform(s, n);
    });
  }

  template <class S>
  static bool eliminate(const S&, int) {
    return true;
  }

  template <class S>
  static void accelerate(const S& s, int n, const Twist<typename S::Scalar>&) {
    drive(s, n, s.acceleration);
  }

  template <class S>
  static void drive(const S& s, int n, const typename S::Scalar* acceleration) {
    with_hinge(s.hinge_kind(n), [&](auto hinge) { hinge.drive(s, n, acceleration); });
  }
};

struct LoopNode : MemberNode {
  template <class S>
  static bool eliminate(const S& s, int n) {
    const int i = s.model.aggregate_of_node[n];
    const Aggregate& a = s.model.aggregates[i];
    return with_size(
        a, [&]<int kSize>() { return eliminate_aggregate<kSize>(s, a, s.scratch.aggregates[i]); });
  }

  template <class S>
  static void accelerate(const S& s, int n, const Twist<typename S::Scalar>& parent) {
    const int i = s.model.aggregate_of_node[n];
    const Aggregate& a = s.model.aggregates[i];
    with_size(a, [&]<int kSize>() {
      accelerate_aggregate<kSize>(s, a, parent, s.scratch.aggregates[i]);
    });
    MemberNode::accelerate(s, n, parent);
  }
};

}  // namespace CATENA_ISA
}  // namespace catena
