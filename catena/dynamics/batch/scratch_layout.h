// SPDX-License-Identifier: BSD-3-Clause
// Memory layout: the arrays of a scratch (scratch.h) in one block, for any scalar.
#pragma once

#include <cstddef>

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"

namespace catena {
inline namespace CATENA_ISA {

// Hands out parts of a block; with a null block it only counts.
struct Arena {
  static constexpr std::size_t kAlignment = 64;
  unsigned char* block = nullptr;
  std::size_t used = 0;

  template <class T>
  T* take(std::size_t count) {
    unsigned char* place = block == nullptr ? nullptr : block + used;
    used += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(place);
  }
};

// `most_terms`: the longest of the couplings that are the user's functions.
template <class Scalar>
inline AggregateScratch<Scalar> lay_out_aggregate(const Aggregate& a, int most_terms,
                                                  Arena& arena) {
  const auto n = static_cast<std::size_t>(a.freedoms);
  const auto m = static_cast<std::size_t>(a.member_count);
  const auto t = static_cast<std::size_t>(most_terms);
  // x, gradient and hessian, and for packs the same of one lane (couple() of aggregate.h).
  const std::size_t work = (kLanesOf<Scalar> > 0 ? 2 : 1) * t * (2 + t);
  AggregateScratch<Scalar> g;
  g.members = arena.take<MemberMotion<Scalar>>(m);
  g.acceleration = arena.take<Twist<Scalar>>(m);
  g.columns = arena.take<Twist<Scalar>>(n);
  g.force = arena.take<Wrench<Scalar>>(m);
  g.momentum = arena.take<Wrench<Scalar>>(n);
  g.gain = arena.take<Wrench<Scalar>>(n);
  g.reduced = arena.take<Wrench<Scalar>>(n);
  g.composite = arena.take<ArticulatedInertia<Scalar>>(m);
  g.place_of_column = arena.take<int>(n);
  g.free = arena.take<int>(n);
  g.bias = arena.take<Scalar>(n);
  g.needed = arena.take<Scalar>(n);
  g.innovation = arena.take<Scalar>(n);
  g.rows = arena.take<Scalar>(n * (n + 1));
  g.map = arena.take<Scalar>(n * n);
  g.mass = arena.take<Scalar>(n * n);
  g.factor = arena.take<Scalar>(n * n);
  g.work = arena.take<Scalar>(work > n ? work : n);
  return g;
}

// All of it but the aggregates' own arrays, for `general` hinges that are not plain.
template <class Scalar>
inline Scratch<Scalar> lay_out_scratch(const SweepModel& model, int general, Arena& arena) {
  const auto nodes = static_cast<std::size_t>(model.node_count);
  Scratch<Scalar> s;
  s.nodes = arena.take<NodeScratch<Scalar>>(nodes);
  ArticulatedInertia<Scalar>* own = arena.take<ArticulatedInertia<Scalar>>(nodes);
  if (own != nullptr)
    for (int n = 0; n < model.node_count; ++n)
      own[n] = ArticulatedInertia<Scalar>::from(load_inertia<Scalar>(model.nodes[n]));
  s.own = own;
  s.general = arena.take<GeneralScratch<Scalar>>(static_cast<std::size_t>(general));
  s.composite = arena.take<CompositeScratch<Scalar>>(nodes);
  s.sine = arena.take<Scalar>(static_cast<std::size_t>(model.coordinates));
  s.cosine = arena.take<Scalar>(static_cast<std::size_t>(model.coordinates));
  s.aggregates =
      arena.take<AggregateScratch<Scalar>>(static_cast<std::size_t>(model.aggregate_count));
  s.acceleration = arena.take<Scalar>(static_cast<std::size_t>(model.freedoms));
  return s;
}

}  // namespace CATENA_ISA
}  // namespace catena
