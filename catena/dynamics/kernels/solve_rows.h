// SPDX-License-Identifier: BSD-3-Clause
// M⁻¹ X for many columns X at once, from the factors that forward dynamics left at the hinges, as
// in inverse_rows.h: rows by freedom, everything in the axes of a tree's root, each node about its
// own hinge point. The columns go through in blocks that stay in the nearest cache; a column costs
// O(N), where the product with M⁻¹ costs O(N²).
//
//   ε = x − Hᵀ z,   z_parent += z + K ε,   y = D⁻¹ ε,      then  x = y − Kᵀ V_parent,
//                                                               V = V_parent + H x
//
// The last child of a node has its level (CompositeTable) and is the first to come inward: its z
// becomes the node's where it stands, and those of the other children are added.
#pragma once

#include "catena/dynamics/kernels/inverse_rows.h"

namespace catena {
inline namespace CATENA_ISA {

struct SolveRows {
  InverseRows factors;
  double* columns;  // by freedom kSolveColumns: X, then M⁻¹ X
  double* level;    // by level 6 rows of kSolveColumns: z, then V
  int used = 0;     // columns of the block, in whole groups of four

  SolveRows(const SweepModel& model, const Scratch<double>& s)
      : factors(model.composite.stride, s.composite_rows),
        columns(factors.wrench),
        level(columns + kSolveColumns * factors.stride) {}

  double* row(int freedom) const { return columns + kSolveColumns * freedom; }
  double* level_of(const SweepModel& model, int n) const {
    return level + 6 * kSolveColumns * model.composite.levels[n];
  }
};

// z of a tip starts at zero; its level may hold old numbers.
inline void clear_level(const SolveRows& rows, double* z) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < rows.used; j += kQuad) quad_at(z + i * kSolveColumns + j).x = Quad{};
}

// K of one freedom, copied: otherwise the compiler must assume that the loops overwrite it
// (aliasing).
struct Gain {
  Vec3<double> moment, force;
  Gain(const InverseRows& rows, int v)
      : moment{rows.gain[v], rows.gain[rows.stride + v], rows.gain[2 * rows.stride + v]},
        force{rows.gain[3 * rows.stride + v], rows.gain[4 * rows.stride + v],
              rows.gain[5 * rows.stride + v]} {}
};

// z + K ε at the hinge point of the parent, into the parent's level.
inline void pass_inward(const Quad (&m)[3], const Quad (&f)[3], const Vec3<double>& p, bool adds,
                        double* to) {
  const Quad moved[3] = {m[0] + (p.y * f[2] - p.z * f[1]), m[1] + (p.z * f[0] - p.x * f[2]),
                         m[2] + (p.x * f[1] - p.y * f[0])};
  for (int i = 0; i < 3; ++i) {
    double* const moment = to + i * kSolveColumns;
    double* const force = to + (3 + i) * kSolveColumns;
    quad_at(moment).x = adds ? quad_at(moment).x + moved[i] : moved[i];
    quad_at(force).x = adds ? quad_at(force).x + f[i] : f[i];
  }
}

inline void solve_inward_z(const SweepModel& model, int n, const Scratch<double>& s,
                           const SolveRows& rows) {
  const Node& node = model.nodes[n];
  const int v = node.v_index;
  const double inverse = s.nodes[n].inverse_hinge_inertia;
  const Vec3<double> z = rows.factors.axis_at(v), p = rows.factors.offset_at(v);
  const Gain k(rows.factors, v);
  double* const own = rows.level_of(model, n);
  double* const outer = node.parent < 0 ? nullptr : rows.level_of(model, node.parent);
  double* const x = rows.row(v);
  const double* const felt = node.hinge == NodeHinge::revolute ? own : own + 3 * kSolveColumns;
  for (int j = 0; j < rows.used; j += kQuad) {
    const Quad epsilon =
        quad_at(x + j).x - (z.x * quad_at(felt + j).x + z.y * quad_at(felt + kSolveColumns + j).x +
                            z.z * quad_at(felt + 2 * kSolveColumns + j).x);
    quad_at(x + j).x = inverse * epsilon;
    if (outer == nullptr) continue;
    Quad m[3], f[3];
    for (int i = 0; i < 3; ++i) {
      m[i] = quad_at(own + i * kSolveColumns + j).x + k.moment[i] * epsilon;
      f[i] = quad_at(own + (3 + i) * kSolveColumns + j).x + k.force[i] * epsilon;
    }
    pass_inward(m, f, p, outer != own, outer + j);
  }
}

inline void solve_inward_any(const SweepModel& model, int n, const Scratch<double>& s,
                             const SolveRows& rows) {
  const Node& node = model.nodes[n];
  const GeneralScratch<double>& g = s.general[model.general_index[n]];
  const int stride = rows.factors.stride, v = node.v_index;
  const Vec3<double> p = rows.factors.offset_at(v);
  double* const own = rows.level_of(model, n);
  double* const outer = node.parent < 0 ? nullptr : rows.level_of(model, node.parent);
  for (int j = 0; j < rows.used; j += kQuad) {
    Quad m[3], f[3], epsilon[kMaxFreedoms], y[kMaxFreedoms];
    for (int i = 0; i < 3; ++i) {
      m[i] = quad_at(own + i * kSolveColumns + j).x;
      f[i] = quad_at(own + (3 + i) * kSolveColumns + j).x;
    }
    for (int k = 0; k < node.freedoms; ++k) {
      epsilon[k] = quad_at(rows.row(v + k) + j).x;
      for (int i = 0; i < 3; ++i)
        epsilon[k] -= g.ground_map[k].angular[i] * m[i] + g.ground_map[k].linear[i] * f[i];
      y[k] = epsilon[k];
    }
    divide_by_inertia(g.factor, node.freedoms, y);
    for (int k = 0; k < node.freedoms; ++k) quad_at(rows.row(v + k) + j).x = y[k];
    if (outer == nullptr) continue;
    pass_inward(m, f, p, outer != own, outer + j);
    for (int k = 0; k < node.freedoms; ++k)  // about the parent's hinge point already
      for (int i = 0; i < 6; ++i)
        quad_at(outer + i * kSolveColumns + j).x +=
            rows.factors.gain[i * stride + v + k] * epsilon[k];
  }
}

template <bool kTurns>
inline void solve_outward_z(const SweepModel& model, int n, const SolveRows& rows) {
  const Node& node = model.nodes[n];
  const int v = node.v_index;
  const bool is_tip = model.composite.branch_ends[v] == v + 1;
  const Vec3<double> z = rows.factors.axis_at(v), p = rows.factors.offset_at(v);
  const Gain k(rows.factors, v);
  double* const own = rows.level_of(model, n);
  const double* const outer = node.parent < 0 ? nullptr : rows.level_of(model, node.parent);
  double* const x = rows.row(v);
  for (int j = 0; j < rows.used; j += kQuad) {
    Quad row = quad_at(x + j).x;
    CarriedTwist carried;
    if (outer != nullptr) {
      carried = CarriedTwist(outer + j, kSolveColumns, p);
      Quad pulled = k.moment[0] * carried.angular[0] + k.force[0] * carried.linear[0];
      for (int i = 1; i < 3; ++i)
        pulled += k.moment[i] * carried.angular[i] + k.force[i] * carried.linear[i];
      row -= pulled;
      quad_at(x + j).x = row;
    }
    if (is_tip) continue;
    for (int i = 0; i < 3; ++i) (kTurns ? carried.angular : carried.linear)[i] += z[i] * row;
    carried.store(own + j, kSolveColumns);
  }
}

inline void solve_outward_any(const SweepModel& model, int n, const Scratch<double>& s,
                              const SolveRows& rows) {
  const Node& node = model.nodes[n];
  const GeneralScratch<double>& g = s.general[model.general_index[n]];
  const int stride = rows.factors.stride, v = node.v_index;
  const Vec3<double> p = rows.factors.offset_at(v);
  double* const own = rows.level_of(model, n);
  const double* const outer = node.parent < 0 ? nullptr : rows.level_of(model, node.parent);
  for (int j = 0; j < rows.used; j += kQuad) {
    CarriedTwist carried;
    if (outer != nullptr) carried = CarriedTwist(outer + j, kSolveColumns, p);
    Quad row[kMaxFreedoms];
    for (int k = 0; k < node.freedoms; ++k) {
      row[k] = quad_at(rows.row(v + k) + j).x;
      if (outer != nullptr)
        for (int i = 0; i < 6; ++i)
          row[k] -=
              rows.factors.gain[i * stride + v + k] * quad_at(outer + i * kSolveColumns + j).x;
      quad_at(rows.row(v + k) + j).x = row[k];
    }
    for (int k = 0; k < node.freedoms; ++k)
      for (int i = 0; i < 3; ++i) {
        carried.angular[i] += g.ground_map[k].angular[i] * row[k];
        carried.linear[i] += g.ground_map[k].linear[i] * row[k];
      }
    carried.store(own + j, kSolveColumns);
  }
}

// A block of columns between where the caller has them, one after the other, and the rows.
struct ColumnBlock {
  int size, count;  // freedoms; columns, at most kSolveColumns

  template <class Four, class One>
  void for_entries(Four four, One one) const {
    for (int j = 0; j < count; j += kQuad) {
      const int wide = count - j < kQuad ? count - j : kQuad;
      int i = 0;
      if (wide == kQuad)
        for (; i + kQuad <= size; i += kQuad) four(i, j);
      for (; i < size; ++i)
        for (int c = j; c < j + wide; ++c) one(i, c);
    }
  }
  void load(const double* from, std::ptrdiff_t stride, double factor, const SolveRows& rows) const {
    if (count < rows.used)
      for (int i = 0; i < size; ++i) quad_at(rows.row(i) + rows.used - kQuad).x = Quad{};
    for_entries(
        [&](int i, int j) {
          Quad x[4];
          for (int c = 0; c < 4; ++c) x[c] = factor * quad_at(from + (j + c) * stride + i).x;
          transpose(x);
          for (int r = 0; r < 4; ++r) quad_at(rows.row(i + r) + j).x = x[r];
        },
        [&](int i, int j) { rows.row(i)[j] = factor * from[j * stride + i]; });
  }
  void store(const SolveRows& rows, double* to, std::ptrdiff_t stride) const {
    for_entries(
        [&](int i, int j) {
          Quad x[4];
          for (int r = 0; r < 4; ++r) x[r] = quad_at(rows.row(i + r) + j).x;
          transpose(x);
          for (int c = 0; c < 4; ++c) quad_at(to + (j + c) * stride + i).x = x[c];
        },
        [&](int i, int j) { to[j * stride + i] = rows.row(i)[j]; });
  }
};

// left := factor · M⁻¹ right.
inline void solve_by_rows(const SweepModel& model, const Scratch<double>& s, const ColumnsIn& right,
                          double factor, const ColumnsOut& left) {
  if (model.freedoms == 0) return;
  SolveRows rows(model, s);
  turn_gains(model, s, rows.factors);
  for (int first = 0; first < right.count; first += kSolveColumns) {
    const int rest = right.count - first;
    const ColumnBlock block{model.freedoms, rest < kSolveColumns ? rest : kSolveColumns};
    rows.used = (block.count + kQuad - 1) / kQuad * kQuad;
    block.load(right.first + first * right.stride, right.stride, factor, rows);
    for (int n = model.node_count; n-- > 0;) {
      const Node& node = model.nodes[n];
      if (model.composite.branch_ends[node.v_index] == node.v_index + node.freedoms)
        clear_level(rows, rows.level_of(model, n));
      if (model.general_index[n] < 0)
        solve_inward_z(model, n, s, rows);
      else
        solve_inward_any(model, n, s, rows);
    }
    for (int n = 0; n < model.node_count; ++n)
      if (model.general_index[n] < 0)
        model.nodes[n].hinge == NodeHinge::revolute ? solve_outward_z<true>(model, n, rows)
                                                    : solve_outward_z<false>(model, n, rows);
      else
        solve_outward_any(model, n, s, rows);
    block.store(rows, left.first + first * left.stride, left.stride);
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
