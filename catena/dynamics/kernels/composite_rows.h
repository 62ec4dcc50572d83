// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix of one state by composite bodies [Walker & Orin 1982], four numbers at a time. As
// composite_sweep.h, everything of a tree is in the axes of its root, each node about its own hinge
// point; but what a node needs stands in rows by freedom: four nodes next to each other have their
// inertias turned together, and four columns of forces are carried inward together.
//
// This needs every branch of the tree to be one stretch of freedoms (CompositeTable). Row n of the
// upper triangle is then what the columns of its branch give at its hinge,
//
//   M(n, branch) = H_n · F(branch),     F(branch) += offset_n × F(branch) on the way to the parent,
//
// in groups of four columns that start at multiples of four, so that one node reads what another
// has written in the same pieces (store forwarding fails for pieces that overlap otherwise).
#pragma once

#include "catena/dynamics/kernels/composite_sweep.h"
#include "catena/spatial/quad.h"

namespace catena {
inline namespace CATENA_ISA {

// Rows by freedom, `stride` apart; what belongs to a node stands at its first freedom.
struct CompositeRows {
  int stride;
  double* frame;    // by freedom 12: three rows of R_tree_node and of the offset from the parent
  double* axis;     // 3 rows: z axis
  double* offset;   // 3
  double* moment;   // 3: mass moment of the composite body
  double* inertia;  // 6: its inertia, xx, xy, xz, yy, yz, zz
  double* step;     // 6: what a step to the parent's hinge point adds to it
  double* force;    // 6: the columns F, moment before force

  CompositeRows(int row_stride, double* numbers)
      : stride(row_stride),
        frame(numbers),
        axis(frame + 12 * stride),
        offset(axis + 3 * stride),
        moment(offset + 3 * stride),
        inertia(moment + 3 * stride),
        step(inertia + 6 * stride),
        force(step + 6 * stride) {}

  Vec3<double> vector_at(const double* rows, int i) const {
    return {rows[i], rows[stride + i], rows[2 * stride + i]};
  }
};

inline void load_frame(const Transform<double>& x, Quad (&rows)[3]) {
  const auto& r = x.rotation.matrix.m;
  for (int i = 0; i < 3; ++i) rows[i] = Quad{r[i][0], r[i][1], r[i][2], x.translation[i]};
}
inline void store_frame(const Quad (&rows)[3], double* frame) {
  for (int i = 0; i < 3; ++i) quad_at(frame + 4 * i).x = rows[i];
}
inline Vec3<double> turned_by_frame(const double* f, const Vec3<double>& x) {
  return {f[0] * x.x + f[1] * x.y + f[2] * x.z, f[4] * x.x + f[5] * x.y + f[6] * x.z,
          f[8] * x.x + f[9] * x.y + f[10] * x.z};
}

// Rows of a frame in its parent's axes := the same in the axes of the parent's frame.
inline void turn_frame(const double* outer_axes, Quad (&x)[3]) {
  const Quad from[3] = {x[0], x[1], x[2]};
  for (int i = 0; i < 3; ++i)
    x[i] = outer_axes[4 * i] * from[0] + outer_axes[4 * i + 1] * from[1] +
           outer_axes[4 * i + 2] * from[2];
}

// Outward: orientation and offset of every node in the axes of its tree.
inline void place_rows(const SweepModel& model, const double* q, const Scratch<double>& s,
                       CompositeRows rows) {
  const double still[kMaxFreedoms] = {};
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    double* own = rows.frame + 12 * node.v_index;
    const bool is_general = model.general_index[n] >= 0;
    if (is_general && (node.parent >= 0 || !has_unit_map(node) || model.rotors != nullptr))
      place_general(model, node, n, q + node.q_index, still, s.nodes[n],
                    s.general[model.general_index[n]]);
    Quad x[3];
    if (node.parent < 0) {
      load_frame(Transform<double>::identity(), x);
    } else {
      const double* placement = model.composite.placements + 12 * n;
      if (is_general) {
        load_frame(s.nodes[n].to_parent, x);
      } else if (node.hinge == NodeHinge::revolute) {
        const double sine = s.sine[node.q_index], cosine = s.cosine[node.q_index];
        const Quad along{cosine, cosine, 1.0, 1.0}, across{sine, -sine, 0.0, 0.0};
        for (int i = 0; i < 3; ++i) {
          const Quad row = quad_at(placement + 4 * i).x;
          Quad swapped;
          pick<1, 0, 3, 2>(row, row, swapped);
          x[i] = row * along + swapped * across;
        }
      } else {
        const Quad shift{0.0, 0.0, 0.0, q[node.q_index]};
        for (int i = 0; i < 3; ++i) {
          const Quad row = quad_at(placement + 4 * i).x;
          Quad swapped;
          pick<1, 0, 3, 2>(row, row, swapped);
          x[i] = row + swapped * shift;
        }
      }
      const Node& parent = model.nodes[node.parent];
      if (parent.parent >= 0) turn_frame(rows.frame + 12 * parent.v_index, x);
    }
    store_frame(x, own);
    if (is_general) {
      GeneralScratch<double>& g = s.general[model.general_index[n]];
      for (int k = 0; k < node.freedoms; ++k)
        g.ground_map[k] = {turned_by_frame(own, g.map[k].angular),
                           turned_by_frame(own, g.map[k].linear)};
    }
  }
}

// Own inertias in the axes of the tree, for the nodes whose first freedom is one of four from i on.
inline void turn_inertias(const CompositeTable& table, CompositeRows rows, int i) {
  const int stride = rows.stride;
  Quad r[3][4];  // three columns of the rotation, and the offset
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 4; ++l) r[k][l] = quad_at(rows.frame + 12 * (i + l) + 4 * k).x;
    transpose(r[k]);
    quad_at(rows.axis + k * stride + i).x = r[k][2];
    quad_at(rows.offset + k * stride + i).x = r[k][3];
  }
  const double* own = table.inertias + i;
  const Quad hx = quad_at(own + 6 * stride).x, hy = quad_at(own + 7 * stride).x,
             hz = quad_at(own + 8 * stride).x;
  for (int k = 0; k < 3; ++k)
    quad_at(rows.moment + k * stride + i).x = r[k][0] * hx + r[k][1] * hy + r[k][2] * hz;
  const Quad xx = quad_at(own).x, xy = quad_at(own + stride).x, xz = quad_at(own + 2 * stride).x,
             yy = quad_at(own + 3 * stride).x, yz = quad_at(own + 4 * stride).x,
             zz = quad_at(own + 5 * stride).x;
  double* to = rows.inertia + i;
  for (int k = 0; k < 3; ++k) {
    const Quad x = r[k][0] * xx + r[k][1] * xy + r[k][2] * xz;
    const Quad y = r[k][0] * xy + r[k][1] * yy + r[k][2] * yz;
    const Quad z = r[k][0] * xz + r[k][1] * yz + r[k][2] * zz;
    for (int l = k; l < 3; ++l, to += stride)
      quad_at(to).x = x * r[l][0] + y * r[l][1] + z * r[l][2];
  }
}

// With the mass moment of the composite body: what a step to the parent adds to its inertia (the
// terms of add_translated()), and the half of the column that does not need its inertia.
inline void step_rows(const CompositeTable& table, CompositeRows rows, int i) {
  const int stride = rows.stride;
  const Quad mass = quad_at(table.inertias + 9 * stride + i).x;
  const Quad px = quad_at(rows.offset + i).x, py = quad_at(rows.offset + stride + i).x,
             pz = quad_at(rows.offset + 2 * stride + i).x;
  const Quad hx = quad_at(rows.moment + i).x, hy = quad_at(rows.moment + stride + i).x,
             hz = quad_at(rows.moment + 2 * stride + i).x;
  const Quad gx = hx + mass * px, gy = hy + mass * py, gz = hz + mass * pz;
  const Quad xx = (hx + gx) * px, yy = (hy + gy) * py, zz = (hz + gz) * pz;
  double* step = rows.step + i;
  quad_at(step).x = yy + zz;
  quad_at(step + stride).x = -(hx * py + gy * px);
  quad_at(step + 2 * stride).x = -(hx * pz + gz * px);
  quad_at(step + 3 * stride).x = xx + zz;
  quad_at(step + 4 * stride).x = -(hy * pz + gz * py);
  quad_at(step + 5 * stride).x = xx + yy;
  const Quad ax = quad_at(rows.axis + i).x, ay = quad_at(rows.axis + stride + i).x,
             az = quad_at(rows.axis + 2 * stride + i).x;
  double* force = rows.force + i;
  quad_at(force + 3 * stride).x = ay * hz - az * hy;
  quad_at(force + 4 * stride).x = az * hx - ax * hz;
  quad_at(force + 5 * stride).x = ax * hy - ay * hx;
}

inline void moment_rows(CompositeRows rows, int i) {
  const int stride = rows.stride;
  const double* j = rows.inertia + i;
  const Quad x = quad_at(rows.axis + i).x, y = quad_at(rows.axis + stride + i).x,
             z = quad_at(rows.axis + 2 * stride + i).x;
  const Quad xy = quad_at(j + stride).x, xz = quad_at(j + 2 * stride).x,
             yz = quad_at(j + 4 * stride).x;
  double* moment = rows.force + i;
  quad_at(moment).x = quad_at(j).x * x + xy * y + xz * z;
  quad_at(moment + stride).x = xy * x + quad_at(j + 3 * stride).x * y + yz * z;
  quad_at(moment + 2 * stride).x = xz * x + yz * y + quad_at(j + 5 * stride).x * z;
}

// The columns of hinges other than a turn about z, which the four-at-a-time steps took them for.
inline void replace_columns(const SweepModel& model, int n, const Scratch<double>& s,
                            CompositeRows rows) {
  const Node& node = model.nodes[n];
  const int stride = rows.stride, v = node.v_index;
  const double* j = rows.inertia + v;
  const SpatialInertia<double> composite{
      model.composite.inertias[9 * stride + v],
      rows.vector_at(rows.moment, v),
      {j[0], j[stride], j[2 * stride], j[3 * stride], j[4 * stride], j[5 * stride]}};
  const auto put = [&](int k, const Wrench<double>& f) {
    for (int i = 0; i < 6; ++i) rows.force[i * stride + v + k] = f[i];
  };
  if (model.general_index[n] < 0) {
    put(0, composite * Twist<double>{Vec3<double>::zero(), rows.vector_at(rows.axis, v)});
  } else if (node.parent < 0 && has_unit_map(node)) {
    const Mat3<double> own = composite.inertia.full(), h = skew(composite.mass_moment);
    for (int k = 0; k < 3; ++k) {
      put(k, {own.row(k), h.row(k)});
      if (node.hinge != NodeHinge::free) continue;
      Wrench<double> f{-h.row(k), Vec3<double>::zero()};
      f.force[k] = composite.mass;
      put(3 + k, f);
    }
  } else {
    for (int k = 0; k < node.freedoms; ++k)
      put(k, composite * s.general[model.general_index[n]].ground_map[k]);
  }
}

// A symmetric matrix of which the upper triangle is written by rows, four entries at a time, the
// first of them at a multiple of four. Where four reach over the end of a row they spoil the next
// row left of the diagonal (the first two rows and the last have no such place), and four before
// the diagonal do so too: the lower triangle is written last.
struct MatrixRows {
  double* entries;
  int size;

  // From here on four columns do not fit into row i.
  int end_of(int i) const { return i >= 2 && i + 1 < size ? size : size - kQuad + 1; }
  void put(int i, int j, const Quad& x) const {
    double* to = entries + i * size + j;
    if (j < end_of(i)) {
      quad_at(to).x = x;
    } else {
      to[0] = x[0];
      if (j + 1 < size) to[1] = x[1];
      if (j + 2 < size) to[2] = x[2];
    }
  }
  void get(int i, int j, Quad& x) const {
    const double* from = entries + i * size + j;
    if (j < end_of(i)) {
      x = quad_at(from).x;
    } else {
      x = Quad{from[0], j + 1 < size ? from[1] : 0.0, j + 2 < size ? from[2] : 0.0, 0.0};
    }
  }
  void clear() const {
    int i = 0;
    for (; i + kQuad <= size * size; i += kQuad) quad_at(entries + i).x = Quad{};
    for (; i < size * size; ++i) entries[i] = 0.0;
  }
  // The lower triangle from the upper one; row i has nothing but zeros from ends[i] on.
  void mirror(const int* ends) const {
    for (int first = (size - 1) / kQuad * kQuad; first >= 0; first -= kQuad) {
      const int count = size - first < kQuad ? size - first : kQuad;
      int end = 0;
      for (int i = first; i < first + count; ++i) {
        end = ends[i] > end ? ends[i] : end;
        for (int j = first; j < i; ++j) entries[i * size + j] = entries[j * size + i];
      }
      for (int j = first + kQuad; j < end; j += kQuad) {
        Quad block[4];
        for (int i = 0; i < 4; ++i) block[i] = quad_at(entries + (first + i) * size + j).x;
        transpose(block);
        double* to = entries + j * size + first;
        const int below = size - j < kQuad ? size - j : kQuad;
        for (int l = 0; l < below; ++l) quad_at(to + l * size).x = block[l];
      }
    }
  }
};

// 1 in the lanes of columns from `first` on and before `end`, of four from j on; 0 in the others.
inline void quad_between(int first, int end, int j, Quad& inside) {
  static constexpr double kOnes[12] = {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0};
  const int before = first > j ? first - j : 0;
  const int behind = j + kQuad > end ? j + kQuad - end : 0;
  inside = quad_at(kOnes + kQuad - before).x * quad_at(kOnes + kQuad + behind).x;
}
// Added to what may be −0 where the matrix has zeros: 0 is shown.
inline constexpr Quad kZeros = {0.0, 0.0, 0.0, 0.0};
inline int group_of(int column) { return column / kQuad * kQuad; }

// Rows of M at a hinge about or along z, and its branch's columns on to the parent.
inline void row_of_z(const SweepModel& model, int n, CompositeRows rows, MatrixRows matrix) {
  const Node& node = model.nodes[n];
  const int stride = rows.stride, v = node.v_index, end = model.composite.branch_ends[v];
  const Vec3<double> z = rows.vector_at(rows.axis, v), p = rows.vector_at(rows.offset, v);
  double* m = rows.force;
  const double* f = rows.force + 3 * stride;
  const double* x = node.hinge == NodeHinge::revolute ? m : f;
  for (int j = group_of(v); j < end; j += kQuad) {
    Quad inside;
    quad_between(v, end, j, inside);
    matrix.put(v, j,
               kZeros + inside * (z.x * quad_at(x + j).x + z.y * quad_at(x + stride + j).x +
                                  z.z * quad_at(x + 2 * stride + j).x));
    const Quad px = p.x * inside, py = p.y * inside, pz = p.z * inside;
    const Quad fx = quad_at(f + j).x, fy = quad_at(f + stride + j).x,
               fz = quad_at(f + 2 * stride + j).x;
    quad_at(m + j).x += py * fz - pz * fy;
    quad_at(m + stride + j).x += pz * fx - px * fz;
    quad_at(m + 2 * stride + j).x += px * fy - py * fx;
  }
}

// The same for any hinge, and at the ground.
inline void rows_of_any(const SweepModel& model, int n, const Scratch<double>& s,
                        CompositeRows rows, MatrixRows matrix) {
  const Node& node = model.nodes[n];
  const GeneralScratch<double>& g = s.general[model.general_index[n]];
  const int stride = rows.stride, v = node.v_index, end = model.composite.branch_ends[v];
  if (node.parent < 0 && has_unit_map(node)) {  // H = 1
    for (int j = group_of(v); j < end; j += kQuad) {
      Quad inside;
      quad_between(v, end, j, inside);
      for (int k = 0; k < node.freedoms; ++k)
        matrix.put(v + k, j, kZeros + inside * quad_at(rows.force + k * stride + j).x);
    }
    return;
  }
  for (int k = 0; k < node.freedoms; ++k) {
    const Twist<double> h = g.ground_map[k];
    for (int j = group_of(v + k); j < end; j += kQuad) {
      Quad entry = h[0] * quad_at(rows.force + j).x, inside;
      for (int i = 1; i < 6; ++i) entry += h[i] * quad_at(rows.force + i * stride + j).x;
      quad_between(v + k, end, j, inside);
      matrix.put(v + k, j, kZeros + inside * entry);
    }
  }
  if (node.freedoms == 1) matrix.entries[v * matrix.size + v] += rotor_inertia<double>(model, n);
  if (node.parent < 0) return;
  const Vec3<double> p = rows.vector_at(rows.offset, v);
  for (int j = group_of(v); j < end; j += kQuad) {
    Quad inside;
    quad_between(v, end, j, inside);
    double* m = rows.force + j;
    const Quad fx = quad_at(m + 3 * stride).x, fy = quad_at(m + 4 * stride).x,
               fz = quad_at(m + 5 * stride).x;
    quad_at(m).x += inside * (p.y * fz - p.z * fy);
    quad_at(m + stride).x += inside * (p.z * fx - p.x * fz);
    quad_at(m + 2 * stride).x += inside * (p.x * fy - p.y * fx);
  }
  if (node.freedoms != 1) return;
  const Vec3<double> coupling = turned_by_frame(rows.frame + 12 * model.nodes[node.parent].v_index,
                                                rotor_coupling<double>(model, node, n));
  for (int i = 0; i < 3; ++i) rows.force[i * stride + v] += coupling[i];
}

// Everything is outboard of everything before it: the matrix has no zeros.
inline bool is_chain(const CompositeTable& table, int freedoms) {
  int least = freedoms;
  for (int i = 0; i < freedoms; ++i)
    least = table.branch_ends[i] < least ? table.branch_ends[i] : least;
  return least == freedoms;
}

inline void mass_matrix_by_rows(const SweepModel& model, const double* q, const Scratch<double>& s,
                                double* entries) {
  const CompositeTable table = model.composite;
  const CompositeRows rows(table.stride, s.composite_rows);
  const Node* const nodes = model.nodes;
  const int stride = table.stride;
  // (The coordinates of a free body at the root, in front of all others, are no angles.)
  const int skipped = model.node_count > 0 && has_unit_map(nodes[0]) ? nodes[0].coordinates : 0;
  sincos_of_all(q + skipped, model.coordinates - skipped, s.sine + skipped, s.cosine + skipped);
  place_rows(model, q, s, rows);
  for (int i = 0; i < table.group_count; ++i) turn_inertias(table, rows, table.groups[i]);

  // Composite bodies. One number after another goes from node to node, so these sums are all there
  // is to wait for (what comes last into a sum is the child's own); the rest is computed by fours.
  // (From the tips, like the sums: what was written one by one and is read by fours must have left
  // the processor's store queue.)
  for (int n = model.node_count; n-- > 0;) {
    if (nodes[n].parent < 0) continue;
    const int v = nodes[n].v_index, parent = nodes[nodes[n].parent].v_index;
    const double mass = table.inertias[9 * stride + v];
    for (int i = 0; i < 3; ++i) {
      double& sum = rows.moment[i * stride + parent];
      sum = (sum + mass * rows.offset[i * stride + v]) + rows.moment[i * stride + v];
    }
  }
  for (int i = table.group_count; i-- > 0;) step_rows(table, rows, table.groups[i]);
  for (int n = model.node_count; n-- > 0;) {
    if (nodes[n].parent < 0) continue;
    const int v = nodes[n].v_index, parent = nodes[nodes[n].parent].v_index;
    for (int i = 0; i < 6; ++i) {
      double& sum = rows.inertia[i * stride + parent];
      sum = (sum + rows.step[i * stride + v]) + rows.inertia[i * stride + v];
    }
  }
  for (int i = table.group_count; i-- > 0;) moment_rows(rows, table.groups[i]);
  for (int n = model.node_count; n-- > 0;)
    if (model.general_index[n] >= 0 || nodes[n].hinge != NodeHinge::revolute)
      replace_columns(model, n, s, rows);

  const MatrixRows matrix{entries, model.freedoms};
  if (!is_chain(table, model.freedoms)) matrix.clear();
  for (int n = model.node_count; n-- > 0;)
    if (model.general_index[n] >= 0)
      rows_of_any(model, n, s, rows, matrix);
    else
      row_of_z(model, n, rows, matrix);
  matrix.mirror(table.branch_ends);
}

}  // namespace CATENA_ISA
}  // namespace catena
