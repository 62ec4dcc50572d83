// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the mass matrix of one state from the factors that forward dynamics left at the
// hinges, M⁻¹ = (1 − HψK)ᵀ D⁻¹ (1 − HψK), all columns at once: rows by freedom and trees whose
// branches are one stretch, as in composite_rows.h. Everything is in the axes of a tree's root,
// each node about its own hinge point.
//
// Inward, the columns of a branch carry wrenches z; outward, all columns from the diagonal on carry
// twists V (K = U D⁻¹):
//
//   ε = 1 − Hᵀ z,   z_parent += z + K ε,         y = D⁻¹ ε
//   row of M⁻¹ = y − Kᵀ V_parent,                V = V_parent + H row
//
// [Rodriguez, Jain & Kreutz-Delgado 1991]
#pragma once

#include "catena/dynamics/kernels/composite_rows.h"

namespace catena {
inline namespace CATENA_ISA {

struct InverseRows {
  int stride;
  double* frame;   // by freedom 12, as in CompositeRows
  double* gain;    // 6 rows: K, about the node's hinge point (general hinges: about the parent's)
  double* wrench;  // 6: z
  double* twist;   // 6 for each level of CompositeTable: V

  InverseRows(int row_stride, double* numbers)
      : stride(row_stride),
        frame(numbers),
        gain(frame + 12 * stride),
        wrench(gain + 6 * stride),
        twist(wrench + 6 * stride) {}

  Vec3<double> axis_at(int v) const {
    return {frame[12 * v + 2], frame[12 * v + 6], frame[12 * v + 10]};
  }
  Vec3<double> offset_at(int v) const {
    return {frame[12 * v + 3], frame[12 * v + 7], frame[12 * v + 11]};
  }
};

// x := D⁻¹ x, D = L Lᵀ.
inline void divide_by_inertia(const double (&l)[kMaxFreedoms][kMaxFreedoms], int size, Quad* x) {
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
    x[i] *= 1.0 / l[i][i];
  }
  for (int i = size; i-- > 0;) {
    for (int k = i + 1; k < size; ++k) x[i] -= l[k][i] * x[k];
    x[i] *= 1.0 / l[i][i];
  }
}

// Frames and gains in the axes of the tree.
inline void turn_gains(const SweepModel& model, const Scratch<double>& s, InverseRows rows) {
  const auto put = [&](int v, const double* frame, const Wrench<double>& k) {
    const Vec3<double> moment = turned_by_frame(frame, k.moment);
    const Vec3<double> force = turned_by_frame(frame, k.force);
    for (int i = 0; i < 3; ++i) {
      rows.gain[i * rows.stride + v] = moment[i];
      rows.gain[(3 + i) * rows.stride + v] = force[i];
    }
  };
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    const NodeScratch<double>& w = s.nodes[n];
    double* frame = rows.frame + 12 * node.v_index;
    Quad x[3];
    load_frame(node.parent < 0 ? Transform<double>::identity() : w.to_parent, x);
    if (node.parent >= 0 && model.nodes[node.parent].parent >= 0)
      turn_frame(rows.frame + 12 * model.nodes[node.parent].v_index, x);
    store_frame(x, frame);
    if (model.general_index[n] < 0) {
      put(node.v_index, frame, w.inverse_hinge_inertia * w.gain);
    } else if (node.parent >= 0) {
      const GeneralScratch<double>& g = s.general[model.general_index[n]];
      Wrench<double> k[kMaxFreedoms];
      for (int i = 0; i < node.freedoms; ++i) k[i] = g.parent_gain[i];
      for (int l = 0; l < 6; ++l) {
        double part[kMaxFreedoms];
        for (int i = 0; i < node.freedoms; ++i) part[i] = k[i][l];
        solve_lower(g.factor, node.freedoms, part);
        solve_upper(g.factor, node.freedoms, part);
        for (int i = 0; i < node.freedoms; ++i) k[i][l] = part[i];
      }
      for (int i = 0; i < node.freedoms; ++i)
        put(node.v_index + i, rows.frame + 12 * model.nodes[node.parent].v_index, k[i]);
    }
    if (model.general_index[n] >= 0) {
      GeneralScratch<double>& g = s.general[model.general_index[n]];
      for (int k = 0; k < node.freedoms; ++k)
        g.ground_map[k] = {turned_by_frame(frame, g.map[k].angular),
                           turned_by_frame(frame, g.map[k].linear)};
    }
  }
}

// Adds 1 in the lane of column i, of four from j on.
inline void add_unit(int i, int j, Quad& x) {
  static constexpr double kUnit[9] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
  if (j <= i) x += quad_at(kUnit + (i - j < kQuad ? kQuad - (i - j) : 0)).x;
}

inline void filter_z(const SweepModel& model, int n, const Scratch<double>& s, InverseRows rows,
                     MatrixRows matrix) {
  const Node& node = model.nodes[n];
  const int stride = rows.stride, v = node.v_index;
  const double inverse = s.nodes[n].inverse_hinge_inertia;
  const Vec3<double> z = rows.axis_at(v), p = rows.offset_at(v);
  const double* k = rows.gain + v;
  double* const m = rows.wrench;
  double* const f = rows.wrench + 3 * stride;
  const double* x = node.hinge == NodeHinge::revolute ? m : f;
  const int end = model.composite.branch_ends[v];
  for (int j = group_of(v); j < end; j += kQuad) {
    Quad inside;
    quad_between(v, end, j, inside);
    Quad epsilon = -(z.x * quad_at(x + j).x + z.y * quad_at(x + stride + j).x +
                     z.z * quad_at(x + 2 * stride + j).x);
    add_unit(v, j, epsilon);
    epsilon *= inside;
    matrix.put(v, j, inverse * epsilon);
    if (node.parent < 0) continue;
    const Quad fx = quad_at(f + j).x + k[3 * stride] * epsilon,
               fy = quad_at(f + stride + j).x + k[4 * stride] * epsilon,
               fz = quad_at(f + 2 * stride + j).x + k[5 * stride] * epsilon;
    quad_at(f + j).x = fx;
    quad_at(f + stride + j).x = fy;
    quad_at(f + 2 * stride + j).x = fz;
    const Quad px = p.x * inside, py = p.y * inside, pz = p.z * inside;
    quad_at(m + j).x += k[0] * epsilon + (py * fz - pz * fy);
    quad_at(m + stride + j).x += k[stride] * epsilon + (pz * fx - px * fz);
    quad_at(m + 2 * stride + j).x += k[2 * stride] * epsilon + (px * fy - py * fx);
  }
}

inline void filter_any(const SweepModel& model, int n, const Scratch<double>& s, InverseRows rows,
                       MatrixRows matrix) {
  const Node& node = model.nodes[n];
  const GeneralScratch<double>& g = s.general[model.general_index[n]];
  const int stride = rows.stride, v = node.v_index;
  const Vec3<double> p = rows.offset_at(v);
  const int end = model.composite.branch_ends[v];
  for (int j = group_of(v); j < end; j += kQuad) {
    Quad inside;
    quad_between(v, end, j, inside);
    double* z = rows.wrench + j;
    Quad epsilon[kMaxFreedoms], y[kMaxFreedoms];
    for (int k = 0; k < node.freedoms; ++k) {
      Quad felt = g.ground_map[k][0] * quad_at(z).x;
      for (int i = 1; i < 6; ++i) felt += g.ground_map[k][i] * quad_at(z + i * stride).x;
      epsilon[k] = -inside * felt;
      add_unit(v + k, j, epsilon[k]);
      y[k] = epsilon[k];
    }
    divide_by_inertia(g.factor, node.freedoms, y);
    for (int k = 0; k < node.freedoms; ++k) matrix.put(v + k, j, y[k]);
    if (node.parent < 0) continue;
    const Quad fx = quad_at(z + 3 * stride).x, fy = quad_at(z + 4 * stride).x,
               fz = quad_at(z + 5 * stride).x;
    quad_at(z).x += inside * (p.y * fz - p.z * fy);
    quad_at(z + stride).x += inside * (p.z * fx - p.x * fz);
    quad_at(z + 2 * stride).x += inside * (p.x * fy - p.y * fx);
    for (int k = 0; k < node.freedoms; ++k)
      for (int i = 0; i < 6; ++i)
        quad_at(z + i * stride).x += rows.gain[i * stride + v + k] * epsilon[k];
  }
}

// The twist of the parent's columns from j on, at the hinge point of a child that is p away.
struct CarriedTwist {
  Quad angular[3], linear[3];

  CarriedTwist(const double* v, int stride, const Vec3<double>& p) {
    for (int i = 0; i < 3; ++i) angular[i] = quad_at(v + i * stride).x;
    linear[0] = quad_at(v + 3 * stride).x + (angular[1] * p.z - angular[2] * p.y);
    linear[1] = quad_at(v + 4 * stride).x + (angular[2] * p.x - angular[0] * p.z);
    linear[2] = quad_at(v + 5 * stride).x + (angular[0] * p.y - angular[1] * p.x);
  }
  CarriedTwist() : angular{}, linear{} {}
  void store(double* v, int stride) const {
    for (int i = 0; i < 3; ++i) {
      quad_at(v + i * stride).x = angular[i];
      quad_at(v + (3 + i) * stride).x = linear[i];
    }
  }
};

inline void smooth_z(const SweepModel& model, int n, InverseRows rows, MatrixRows matrix) {
  const CompositeTable& table = model.composite;
  const Node& node = model.nodes[n];
  const int stride = rows.stride, v = node.v_index, branch_end = table.branch_ends[v];
  const bool turns = node.hinge == NodeHinge::revolute, is_tip = branch_end == v + 1;
  const Vec3<double> z = rows.axis_at(v), p = rows.offset_at(v);
  const double* k = rows.gain + v;
  const double* outer_twist =
      node.parent < 0 ? nullptr : rows.twist + 6 * stride * table.levels[node.parent];
  double* twist = rows.twist + 6 * stride * table.levels[n];
  int j = group_of(v);
  for (; j < table.tree_ends[v]; j += kQuad) {
    Quad row{};
    if (j < branch_end) matrix.get(v, j, row);
    CarriedTwist carried;
    if (outer_twist != nullptr) {
      carried = CarriedTwist(outer_twist + j, stride, p);
      for (int i = 0; i < 3; ++i)
        row -= k[i * stride] * carried.angular[i] + k[(3 + i) * stride] * carried.linear[i];
    }
    matrix.put(v, j, kZeros + row);
    if (is_tip) continue;
    for (int i = 0; i < 3; ++i) (turns ? carried.angular : carried.linear)[i] += z[i] * row;
    carried.store(twist + j, stride);
  }
}

inline void smooth_any(const SweepModel& model, int n, const Scratch<double>& s, InverseRows rows,
                       MatrixRows matrix) {
  const CompositeTable& table = model.composite;
  const Node& node = model.nodes[n];
  const GeneralScratch<double>& g = s.general[model.general_index[n]];
  const int stride = rows.stride, v = node.v_index, branch_end = table.branch_ends[v];
  const Vec3<double> p = rows.offset_at(v);
  int j = group_of(v);
  for (; j < table.tree_ends[v]; j += kQuad) {
    const double* outer_twist = rows.twist + j;
    CarriedTwist carried;
    if (node.parent >= 0) {
      outer_twist += 6 * stride * table.levels[node.parent];
      carried = CarriedTwist(outer_twist, stride, p);
    }
    Quad row[kMaxFreedoms];
    for (int k = 0; k < node.freedoms; ++k) {
      row[k] = Quad{};
      if (j < branch_end) matrix.get(v + k, j, row[k]);
      if (node.parent >= 0)
        for (int i = 0; i < 6; ++i)
          row[k] -= rows.gain[i * stride + v + k] * quad_at(outer_twist + i * stride).x;
      matrix.put(v + k, j, kZeros + row[k]);
    }
    for (int k = 0; k < node.freedoms; ++k)
      for (int i = 0; i < 3; ++i) {
        carried.angular[i] += g.ground_map[k].angular[i] * row[k];
        carried.linear[i] += g.ground_map[k].linear[i] * row[k];
      }
    carried.store(rows.twist + 6 * stride * table.levels[n] + j, stride);
  }
}

inline void inverse_mass_matrix_by_rows(const SweepModel& model, const Scratch<double>& s,
                                        double* entries) {
  const InverseRows rows(model.composite.stride, s.composite_rows);
  const MatrixRows matrix{entries, model.freedoms};
  if (model.freedoms == 0) return;
  if (model.composite.tree_ends[0] < model.freedoms) matrix.clear();  // several trees
  turn_gains(model, s, rows);
  for (int i = 0; i < 6 * rows.stride; i += kQuad) quad_at(rows.wrench + i).x = Quad{};
  for (int n = model.node_count; n-- > 0;)
    if (model.general_index[n] < 0)
      filter_z(model, n, s, rows, matrix);
    else
      filter_any(model, n, s, rows, matrix);
  for (int n = 0; n < model.node_count; ++n)
    if (model.general_index[n] < 0)
      smooth_z(model, n, rows, matrix);
    else
      smooth_any(model, n, s, rows, matrix);
  matrix.mirror(model.composite.tree_ends);
}

}  // namespace CATENA_ISA
}  // namespace catena
