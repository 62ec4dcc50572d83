// SPDX-License-Identifier: BSD-3-Clause
// A closed loop's map X and bias γ. With Y v = 0 the closure equations of an aggregate (a loop
// folded into one node; closure/rows.h) and v_r the independent freedoms of the chart,
//
//   v = X v_r,   v̇ = X v̇_r + γ        from   Y_d X_d = −Y_r,   Y_d γ_d = −Ẏ v
//
// where d are the dependent freedoms: as many as there are independent closure equations (the
// rank). The chart (closure/chart.h) says which equations and freedoms, and in which order they are
// the pivots. Everything is in the aggregate's frame (closure/structure.h). Cost: rank² · freedoms
// multiplications for the elimination. [Jain 2009: constraint embedding]
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "catena/closure/pair.h"
#include "catena/closure/rows.h"
#include "catena/dynamics/kernels/hinge_kinds.h"
#include "catena/dynamics/kernels/sweep.h"

namespace catena {
inline namespace CATENA_ISA {

inline constexpr double kLostRow = 1e-14;  // a pivot below this fraction of its row is rounding

// Most loops are small: a geared motor has two freedoms, a four-bar three. With kSize > 0 an
// aggregate has that many members of one freedom each (Aggregate::simple), one of them independent,
// and all loops below have lengths known at compile time.
template <int kSize>
inline int size_of(const Aggregate& a) {
  return kSize > 0 ? kSize : a.freedoms;
}
template <int kSize>
inline int independents_of(const Aggregate& a) {
  return kSize > 0 ? 1 : a.independents;
}
template <int kSize>
inline int members_of(const Aggregate& a) {
  return kSize > 0 ? kSize : a.member_count;
}
// Calls f<kSize>() for the size that suits the aggregate.
template <class F>
inline auto with_size(const Aggregate& a, F f) {
  if (a.simple && a.independents == 1) {
    if (a.freedoms == 2) return f.template operator()<2>();
    if (a.freedoms == 3) return f.template operator()<3>();
  }
  return f.template operator()<0>();
}

inline bool is_placed_early(const SweepModel& model, const Aggregate& a) {
  return a.member_count > 0 &&
         (model.order_flags[model.members[a.first_member].node] & kPlacedEarly) != 0;
}

// Modes of a flexible body move with its frame, an attachment also by the columns W of the modes.
template <class S>
[[gnu::noinline]] void move_flexible_member(const S& s, const Aggregate& a,
                                            const AggregateMember& member,
                                            const AggregateScratch<typename S::Scalar>& g,
                                            MemberMotion<typename S::Scalar>& m) {
  using Scalar = typename S::Scalar;
  const Node& node = s.node(member.node);
  const NodeScratch<Scalar>& w = s.at(member.node);
  const MemberMotion<Scalar>* parent = member.parent < 0 ? nullptr : g.members + member.parent;
  Twist<Scalar>* columns = g.columns + member.first_twist;
  if (node.hinge == NodeHinge::modes) {
    for (int k = 0; k < node.freedoms; ++k) columns[k] = Twist<Scalar>::zero();
  } else {
    const Twist<Scalar>* map = s.scratch.attachments[node.flexible].map;
    for (int k = 0; k < member.twists; ++k) columns[k] = map[k];
  }
  move_member(a, w.to_parent, parent, w.twist, w.bias, member.twists, columns, m);
}

// Places the hinges of the members. S of their freedoms, their poses and (unless only those are
// wanted: v null) twists and biases.
template <class S>
[[gnu::noinline]] void move_members(const S& s, const Aggregate& a,
                                    const AggregateScratch<typename S::Scalar>& g) {
  using Scalar = typename S::Scalar;
  const Scalar zero(0.0);
  for (int i = 0; i < a.member_count; ++i) {
    const AggregateMember& member = s.model.members[a.first_member + i];
    const Node& node = s.node(member.node);
    NodeScratch<Scalar>& w = s.at(member.node);
    with_hinge(s.hinge_kind(member.node), [&](auto hinge) { hinge.place(s, member.node); });
    const MemberMotion<Scalar>* parent = member.parent < 0 ? nullptr : g.members + member.parent;
    MemberMotion<Scalar>& m = g.members[i];
    if (a.flexible && node.flexible >= 0) {
      move_flexible_member(s, a, member, g, m);
      continue;
    }
    Twist<Scalar>* columns = g.columns + member.column;
    if (s.model.general_index[member.node] >= 0) {
      const GeneralScratch<Scalar>& hinge = s.general(member.node);
      for (int k = 0; k < node.freedoms; ++k) columns[k] = hinge.map[k];
      move_member(a, w.to_parent, parent, w.twist, w.bias, node.freedoms, columns, m);
      continue;
    }
    if (parent == nullptr) {
      m.pose = w.to_parent;  // NOLINT: where there are members there is their motion
      m.pose.translation = m.pose.translation - load_vec3<Scalar>(a.origin);
    } else {
      m.pose = parent->pose * w.to_parent;
    }
    const Vec3<Scalar> axis = m.pose.rotation.axis(2);
    columns[0] = node.hinge == NodeHinge::revolute
                     ? Twist<Scalar>{axis, cross(m.pose.translation, axis)}
                     : Twist<Scalar>{{zero, zero, zero}, axis};
    if (a.constant || s.in.v == nullptr) continue;
    const Twist<Scalar> own = s.in.v[node.v_index] * columns[0];
    if (parent == nullptr) {
      m.twist = own;
      m.bias = Twist<Scalar>::zero();
    } else {
      m.twist = parent->twist + own;
      m.bias = parent->bias + ad(parent->twist, own);
    }
  }
}

// The user's function of a coupling serves double and, through its derivatives, Dual<double, N>;
// packs are done lane by lane by evaluate_lanes(), other scalars get NaN. (The version for
// dual numbers is in sensitivity/tangent.cpp.)
template <class Scalar>
inline void evaluate_user_coupling(const Coupling&, int terms, const Scalar*, Scalar& value,
                                   Scalar* gradient, Scalar* hessian) {
  const Scalar nan(std::numeric_limits<double>::quiet_NaN());
  value = nan;
  for (int i = 0; i < terms; ++i) gradient[i] = nan;
  for (int i = 0; i < terms * terms; ++i) hessian[i] = nan;
}
inline void evaluate_user_coupling(const Coupling& coupling, int terms, const double* x,
                                   double& value, double* gradient, double* hessian) {
  evaluate_coupling(coupling, terms, x, value, gradient, hessian);
}

// Of every lane of a pack, one after the other. The work space has the size of x, gradient and
// hessian in packs: room for all lanes.
template <class Scalar>
inline void evaluate_lanes(const Closure& c, const CouplingTerm* terms, const Scalar* q,
                           Scalar& value, Scalar* gradient, Scalar* hessian) {
  constexpr int kLanes = kLanesOf<Scalar>;
  const int terms_squared = c.term_count * c.term_count;
  double* at = reinterpret_cast<double*>(hessian + terms_squared);
  double* own_gradient = at + c.term_count;
  double* own_hessian = own_gradient + c.term_count;
  double values[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < c.term_count; ++i) at[i] = q[terms[i].coordinate].lane(l);
    evaluate_coupling(*c.coupling, c.term_count, at, values[l], own_gradient, own_hessian);
    for (int i = 0; i < c.term_count; ++i) set_lane(gradient[i], l, own_gradient[i]);
    for (int i = 0; i < terms_squared; ++i) set_lane(hessian[i], l, own_hessian[i]);
  }
  value = Scalar::load(values);
}

// One equation of the closure, Y_row v = 0: its entries are written to `entries`, which have been
// cleared, by place among the pivots (null: they are known already).
template <class Scalar>
struct ClosureRow {
  Scalar* entries;
  Scalar right;  // −Ẏ v
  Scalar gap;    // how far the position is from the closure
  Scalar rate;   // and how fast it leaves
  Scalar scale;  // of the row that loop_closure.h has: lengths over the loop's, unit gradients
};

// 1/|x|, or 1 of a zero; double alone, others need no scale.
template <class Scalar>
inline Scalar inverse_norm(const Scalar* x, int count) {
  if constexpr (std::is_same_v<Scalar, double>) {
    double squares = 0.0;
    for (int i = 0; i < count; ++i) squares += x[i] * x[i];
    if (squares > 0.0) return 1.0 / std::sqrt(squares);
  }
  return Scalar(1.0);
}

// Of a coupling by the user's function.
template <class S>
inline void fill_user_coupling(const S& s, const Closure& c, const int* freedom,
                               const AggregateScratch<typename S::Scalar>& g,
                               ClosureRow<typename S::Scalar>& row) {
  using Scalar = typename S::Scalar;
  const CouplingTerm* terms = s.model.terms + c.first_term;
  const Scalar* v = s.in.v;
  Scalar* x = g.work;
  Scalar* gradient = x + c.term_count;
  Scalar* hessian = gradient + c.term_count;
  if constexpr (kLanesOf < Scalar >> 0) {
    evaluate_lanes(c, terms, s.in.q, row.gap, gradient, hessian);
  } else {
    for (int i = 0; i < c.term_count; ++i) x[i] = s.in.q[terms[i].coordinate];
    evaluate_user_coupling(*c.coupling, c.term_count, x, row.gap, gradient, hessian);
  }
  if (row.entries != nullptr) row.scale = inverse_norm(gradient, c.term_count);
  for (int i = 0; i < c.term_count; ++i) {
    if (row.entries != nullptr) {
      Scalar& entry = row.entries[g.place_of_column[terms[i].column]];
      entry = entry + gradient[i];
    }
    if (v == nullptr) continue;
    const Scalar vi = v[freedom[terms[i].column]];
    row.rate = row.rate + gradient[i] * vi;
    for (int k = 0; k < c.term_count; ++k)
      row.right = row.right - vi * hessian[i * c.term_count + k] * v[freedom[terms[k].column]];
  }
}

// Of a linear coupling.
template <class S>
inline void fill_coupling(const S& s, const Closure& c, const int* freedom,
                          const AggregateScratch<typename S::Scalar>& g,
                          ClosureRow<typename S::Scalar>& row) {
  using Scalar = typename S::Scalar;
  const CouplingTerm* terms = s.model.terms + c.first_term;
  if (row.entries != nullptr) {
    double squares = 0.0;
    for (int k = 0; k < c.term_count; ++k) squares += terms[k].coefficient * terms[k].coefficient;
    row.scale = Scalar(1.0 / std::sqrt(squares));
  }
  for (int k = 0; k < c.term_count; ++k) {
    if (row.entries != nullptr) {
      Scalar& entry = row.entries[g.place_of_column[terms[k].column]];
      entry = entry + Scalar(terms[k].coefficient);
    }
    if (s.in.v != nullptr)
      row.rate = row.rate + Scalar(terms[k].coefficient) * s.in.v[freedom[terms[k].column]];
  }
}

// Row `number` of a cut hinge or a rod, whose `sides` have been moved.
template <class S>
inline void fill_geometric(const S& s, const Closure& c, int number,
                           const ClosureMotion<typename S::Scalar>& sides,
                           const typename S::Scalar& inverse_length,
                           const AggregateScratch<typename S::Scalar>& g,
                           ClosureRow<typename S::Scalar>& row) {
  using Scalar = typename S::Scalar;
  const Wrench<Scalar> covector = row_covector(c, number, sides);
  if constexpr (std::is_same_v<Scalar, double>)
    if (row.entries != nullptr && measures_length(c, number)) row.scale = inverse_length;
  if (row.entries != nullptr)
    for (int k = c.first_path; k < c.first_path + c.path_count; ++k) {
      const PathColumn& path = s.model.paths[k];
      Scalar& entry = row.entries[g.place_of_column[path.column]];
      entry = entry + Scalar(path.sign) * dot(covector, g.columns[path.twist]);
    }
  const Vec3<Scalar> apart = sides.child.pose.translation - sides.parent.pose.translation;
  if (c.kind == ClosureKind::rod)
    row.gap = Scalar(0.5) * inverse_length * (dot(covector.force, apart) - Scalar(c.length));
  else if (c.pitch == 0.0)
    row.gap = inverse_length * dot(covector.force, apart);
  if (s.in.v == nullptr) return;
  row.right = -row_bias(c, number, covector, sides);
  row.rate = inverse_length * dot(covector, sides.child.twist - sides.parent.twist);
}

// The rows that the chart uses, columns in the order of the pivots and −Ẏ v at the end of each;
// with kEntries false only that end.
template <bool kEntries, class S>
[[gnu::noinline]] void fill_rows(const S& s, const Aggregate& a,
                                 AggregateScratch<typename S::Scalar>& g) {
  using Scalar = typename S::Scalar;
  const Scalar zero(0.0);
  const int size = a.freedoms, rank = a.rank, stride = size + 1;
  const int* freedom = s.model.freedom_of_column + a.first_order;
  const Scalar inverse_length(1.0 / a.length);
  g.gap = zero;
  g.rate = zero;
  ClosureMotion<Scalar> sides;
  int seen = -1;
  for (int i = 0; i < rank; ++i) {
    const ChartRow& chosen = s.model.chart_rows[a.first_row + i];
    const Closure& c = s.model.closures[chosen.closure];
    Scalar* to = g.rows + chosen.place * stride;
    if constexpr (kEntries)
      for (int k = 0; k < size; ++k) to[k] = zero;
    ClosureRow<Scalar> row{kEntries ? to : nullptr, zero, zero, zero, Scalar(1.0)};
    if (c.kind == ClosureKind::coupling) {
      if (c.coupling != nullptr)
        fill_user_coupling(s, c, freedom, g, row);
      else
        fill_coupling(s, c, freedom, g, row);
    } else {
      if (chosen.closure != seen) {
        seen = chosen.closure;
        move_side(c.parent, g.members, sides.parent);
        move_side(c.child, g.members, sides.child);
      }
      fill_geometric(s, c, chosen.row, sides, inverse_length, g, row);
    }
    to[size] = row.right;
    if constexpr (kEntries && std::is_same_v<Scalar, double>) g.scale[chosen.place] = row.scale;
    g.gap = g.gap + row.gap * row.gap;
    g.rate = g.rate + row.rate * row.rate;
  }
}

// Brings the row with the largest entry of column p, rows scaled, to its place. Not in packs and
// dual numbers, which keep the chart's order of rows.
template <class Scalar>
inline void exchange_rows(int p, int rank, int stride, const AggregateScratch<Scalar>& g) {
  if constexpr (std::is_same_v<Scalar, double>) {
    int best = p;
    double largest = g.scale[p] * std::abs(g.rows[p * stride + p]);
    for (int i = p + 1; i < rank; ++i)
      if (const double size = g.scale[i] * std::abs(g.rows[i * stride + p]); size > largest) {
        largest = size;
        best = i;
      }
    g.exchange[p] = best;
    if (best == p) return;
    std::swap(g.scale[p], g.scale[best]);
    for (int k = 0; k < stride; ++k) std::swap(g.rows[p * stride + k], g.rows[best * stride + k]);
  }
}

// Gauss-Jordan elimination in the chart's order of columns; false if a pivot is lost. What is left
// of the diagonal, and the diagonal itself, are the factors that replay_elimination() reads.
template <int kSize, class Scalar>
inline bool eliminate_rows(const Aggregate& a, const AggregateScratch<Scalar>& g) {
  const Scalar zero(0.0), one(1.0);
  const int size = size_of<kSize>(a), rank = size - independents_of<kSize>(a), stride = size + 1;
  for (int p = 0; p < rank; ++p) {
    exchange_rows(p, rank, stride, g);
    Scalar* pivot_row = g.rows + p * stride;
    Scalar squares = zero;
    for (int k = p; k < size; ++k) squares = squares + pivot_row[k] * pivot_row[k];
    const Scalar pivot = pivot_row[p];
    if (!all_positive(pivot * pivot - Scalar(kLostRow * kLostRow) * squares)) return false;
    const Scalar inverse = one / pivot;
    for (int k = p + 1; k < stride; ++k) pivot_row[k] = inverse * pivot_row[k];
    for (int i = 0; i < rank; ++i) {
      if (i == p) continue;
      Scalar* row = g.rows + i * stride;
      const Scalar factor = row[p];
      for (int k = p + 1; k < stride; ++k) row[k] = row[k] - factor * pivot_row[k];
    }
  }
  return true;
}

// What eliminate_rows() did to the rows, done to their ends alone: γ, when X is known.
template <int kSize, class Scalar>
inline void replay_elimination(const Aggregate& a, const AggregateScratch<Scalar>& g) {
  const int size = size_of<kSize>(a), rank = size - independents_of<kSize>(a), stride = size + 1;
  for (int p = 0; p < rank; ++p)
    std::swap(g.rows[p * stride + size], g.rows[g.exchange[p] * stride + size]);
  for (int p = 0; p < rank; ++p) {
    const Scalar inverse = Scalar(1.0) / g.rows[p * stride + p];
    Scalar& own = g.rows[p * stride + size];
    own = inverse * own;
    for (int i = 0; i < rank; ++i)
      if (i != p)
        g.rows[i * stride + size] = g.rows[i * stride + size] - g.rows[i * stride + p] * own;
  }
}

// X of an aggregate whose X is constant (gears); γ is zero.
template <class Scalar>
inline void set_constant_map(const SweepModel& model, const Aggregate& a,
                             const AggregateScratch<Scalar>& g) {
  const int* order = model.order + a.first_order;
  const double* map = model.constant_map + a.first_map;
  for (int i = 0; i < a.freedoms; ++i) g.bias[i] = Scalar(0.0);
  for (int i = 0; i < a.rank; ++i)
    for (int k = 0; k < a.independents; ++k)
      g.map[order[i] * a.independents + k] = Scalar(map[i * a.independents + k]);
  for (int i = 0; i < a.independents; ++i)
    for (int k = 0; k < a.independents; ++k)
      g.map[order[a.rank + i] * a.independents + k] = Scalar(i == k ? 1.0 : 0.0);
}

// X and γ of one aggregate whose members have been moved. False if a pivot is lost.
template <int kSize, class S>
[[gnu::noinline]] bool solve_closure(const S& s, const Aggregate& a,
                                     AggregateScratch<typename S::Scalar>& g) {
  using Scalar = typename S::Scalar;
  if (a.constant) {
    set_constant_map(s.model, a, g);
    return true;
  }
  const Scalar zero(0.0), one(1.0);
  const int size = size_of<kSize>(a), independents = independents_of<kSize>(a);
  const int rank = size - independents, stride = size + 1;
  const int* order = s.model.order + a.first_order;
  if constexpr (std::is_same_v<Scalar, double>) {
    if (s.in.embedded) {
      fill_rows<false>(s, a, g);
      replay_elimination<kSize>(a, g);
      for (int i = 0; i < rank; ++i) g.bias[order[i]] = g.rows[i * stride + size];
      for (int k = 0; k < independents; ++k) g.bias[order[rank + k]] = zero;
      return true;
    }
  }
  for (int i = 0; i < size; ++i) {
    g.bias[i] = zero;
    g.place_of_column[order[i]] = i;
  }
  for (int i = 0; i < size * independents; ++i) g.map[i] = zero;
  for (int k = 0; k < independents; ++k) g.map[order[rank + k] * independents + k] = one;
  fill_rows<true>(s, a, g);
  if (!eliminate_rows<kSize>(a, g)) return false;
  for (int i = 0; i < rank; ++i) {
    const Scalar* row = g.rows + i * stride;
    for (int k = 0; k < independents; ++k) g.map[order[i] * independents + k] = -row[rank + k];
    g.bias[order[i]] = row[size];
  }
  return true;
}

// X and γ of every closed loop (v null: X only).
template <class S>
inline SweepStatus embed_loops(const S& s) {
  for (int i = 0; i < s.model.aggregate_count; ++i) {
    const Aggregate& a = s.model.aggregates[i];
    AggregateScratch<typename S::Scalar>& g = s.scratch.aggregates[i];
    if (is_placed_early(s.model, a)) move_members(s, a, g);
    if (!with_size(a, [&]<int kSize>() { return solve_closure<kSize>(s, a, g); }))
      return SweepStatus::singular_chart(i);
  }
  return {};
}

// The accelerations of all freedoms that go with those of the independent ones (null: zero), in
// s.scratch.acceleration. After embed_loops().
template <class S>
inline void complete_accelerations(const S& s, const typename S::Scalar* acceleration) {
  using Scalar = typename S::Scalar;
  const SweepModel& model = s.model;
  Scalar* all = s.scratch.acceleration;
  for (int i = 0; i < model.freedoms; ++i)
    all[i] = acceleration != nullptr ? acceleration[i] : Scalar(0.0);
  for (int i = 0; i < model.aggregate_count; ++i) {
    const Aggregate& a = model.aggregates[i];
    const AggregateScratch<Scalar>& g = s.scratch.aggregates[i];
    const int* order = model.order + a.first_order;
    const int* freedom = model.freedom_of_column + a.first_order;
    for (int d = 0; d < a.rank; ++d) {
      Scalar sum = g.bias[order[d]];
      for (int k = 0; k < a.independents; ++k)
        sum = sum + g.map[order[d] * a.independents + k] * all[freedom[order[a.rank + k]]];
      all[freedom[order[d]]] = sum;
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
