// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix by composite bodies, the O(N · depth) form of [Walker & Orin 1982]; also in
// [Featherstone 2008, ch. 6]. Everything of a tree is in the axes of its root, each node about its
// own hinge point, so that walking a column of forces towards the ground costs one cross product
// and one dot product a step and nothing is lost on long chains. (How the root stands in the ground
// does not matter to the mass matrix.)
// For packs, and for one state of trees whose branches are not in one piece (composite_rows.h).
#pragma once

#include "catena/dynamics/kernels/axis_motion.h"
#include "catena/dynamics/kernels/general_node.h"

namespace catena {
inline namespace CATENA_ISA {

// Where the entries go: a dense matrix by rows, both triangles or the lower one alone, or the lower
// triangle packed. set(i, j, ...) requires freedom i to be outboard of j, hence i >= j, and a row
// is written from its end to its beginning. What is zero because i and j are on two branches is
// cleared beforehand, or (of the packed triangle) announced by gap(i, first, end): columns from
// `first` on and before `end`. expect(n) is called for one node after the other before anything is
// written.
template <class Scalar>
struct FullMatrix {
  Scalar* entries;
  int size;
  void expect(int) const {}
  void gap(int, int, int) const {}
  void clear() const {
    for (int i = 0; i < size * size; ++i) entries[i] = Scalar(0.0);
  }
  void set(int i, int j, const Scalar& x) const {
    entries[i * size + j] = x;
    entries[j * size + i] = x;
  }
};
template <class Scalar>
struct LowerRows {
  Scalar* entries;
  int size;
  void expect(int) const {}
  void gap(int, int, int) const {}
  void clear() const {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j <= i; ++j) entries[i * size + j] = Scalar(0.0);
  }
  void set(int i, int j, const Scalar& x) const { entries[i * size + j] = x; }
  // The upper triangle too, in blocks that fit the cache lines of both.
  void mirror() const {
    constexpr int kBlock = 8;
    for (int first = 0; first < size; first += kBlock) {
      const int end = first + kBlock < size ? first + kBlock : size;
      for (int j0 = 0; j0 < end; j0 += kBlock)
        for (int i = first; i < end; ++i) {
          const int j_end = j0 + kBlock < i ? j0 + kBlock : i;
          for (int j = j0; j < j_end; ++j) entries[j * size + i] = entries[i * size + j];
        }
    }
  }
};
// Every entry is written once, with kStream past the caches; otherwise its room is asked for while
// the nodes are placed, since it is not in the cache.
template <class Scalar, bool kStream>
struct LowerTriangle {
  Scalar* entries;
  int by_node;  // numbers of the triangle for each node, rounded up
  bool zeros;   // gaps are to be filled
  void expect(int n) const {
    if constexpr (!kStream) announce(entries + n * by_node, entries + (n + 1) * by_node);
  }
  void clear() const {}
  void gap(int i, int first, int end) const {
    if (!zeros) return;
    for (int j = end; j-- > first;) set(i, j, Scalar(0.0));
  }
  void set(int i, int j, const Scalar& x) const {
    Scalar& entry = entries[i * (i + 1) / 2 + j];
    if constexpr (kStream)
      stream(x, entry);
    else
      entry = x;
  }
};

// The composite inertia of a child, moved by a pure translation and added.
template <class Scalar>
inline void add_translated(const Vec3<Scalar>& p, const SpatialInertia<Scalar>& child,
                           SpatialInertia<Scalar>& parent) {
  // J' = J + m (|p|² 1 − p pᵀ) + 2 (h·p) 1 − h pᵀ − p hᵀ = J + steiner terms of (h + m p/2).
  const Vec3<Scalar> mp = child.mass * p;
  const Vec3<Scalar> u = child.mass_moment + child.mass_moment + mp;  // 2 h + m p
  const Vec3<Scalar> h = child.mass_moment;
  SymMat3<Scalar>& j = parent.inertia;
  const Scalar xx = u.x * p.x, yy = u.y * p.y, zz = u.z * p.z;
  j.xx = j.xx + child.inertia.xx + yy + zz;
  j.yy = j.yy + child.inertia.yy + xx + zz;
  j.zz = j.zz + child.inertia.zz + xx + yy;
  j.xy = j.xy + child.inertia.xy - (h.x * p.y + (h.y + mp.y) * p.x);
  j.xz = j.xz + child.inertia.xz - (h.x * p.z + (h.z + mp.z) * p.x);
  j.yz = j.yz + child.inertia.yz - (h.y * p.z + (h.z + mp.z) * p.y);
  parent.mass_moment += h + mp;
  parent.mass = parent.mass + child.mass;
}

// Spherical and free hinges: H = (1; 0) or 1 in the node's axes.
inline bool has_unit_map(const Node& node) {
  return (node.hinge == NodeHinge::spherical || node.hinge == NodeHinge::free) && !node.reversed;
}

// The own block of a spherical or free hinge at the root, whose axes are those of the tree.
template <class Scalar, class Matrix>
inline void write_unit_block(const Node& node, const CompositeScratch<Scalar>& c,
                             const Matrix& matrix) {
  const Mat3<Scalar> j = c.composite.inertia.full();
  const Mat3<Scalar> h = skew(c.composite.mass_moment);
  const int first = node.v_index;
  for (int i = 0; i < node.freedoms; ++i) matrix.gap(first + i, 0, first);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k <= i; ++k) matrix.set(first + i, first + k, j.m[i][k]);
    if (node.hinge != NodeHinge::free) continue;
    for (int k = 0; k < 3; ++k) matrix.set(first + 3 + k, first + i, h.m[i][k]);
    for (int k = 0; k <= i; ++k)
      matrix.set(first + 3 + i, first + 3 + k, i == k ? c.composite.mass : Scalar(0.0));
  }
}

// Writes the entries (row, ...) and (..., row) of one column at node n: the wrench f, about n's
// origin and in the tree's axes, is the momentum that freedom `row` outboard gives.
template <class Scalar, class Matrix>
inline void write_entries(const SweepModel& model, int n, int row, const Wrench<Scalar>& f,
                          const Scratch<Scalar>& s, const Matrix& matrix) {
  const Node& node = model.nodes[n];
  const CompositeScratch<Scalar>& c = s.composite[n];
  if (model.general_index[n] < 0) {
    const Scalar entry = node.hinge == NodeHinge::revolute ? dot(c.rotation.axis(2), f.moment)
                                                           : dot(c.rotation.axis(2), f.force);
    matrix.set(row, node.v_index, entry);
    return;
  }
  const int first = node.v_index;
  if (has_unit_map(node)) {
    const bool turned = node.parent >= 0;
    if (node.hinge == NodeHinge::free) {
      const Vec3<Scalar> force = turned ? c.rotation.inverse_times(f.force) : f.force;
      matrix.set(row, first + 5, force.z);
      matrix.set(row, first + 4, force.y);
      matrix.set(row, first + 3, force.x);
    }
    const Vec3<Scalar> moment = turned ? c.rotation.inverse_times(f.moment) : f.moment;
    matrix.set(row, first + 2, moment.z);
    matrix.set(row, first + 1, moment.y);
    matrix.set(row, first, moment.x);
    return;
  }
  const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
  for (int k = node.freedoms; k-- > 0;) matrix.set(row, first + k, dot(f, g.ground_map[k]));
}

// The columns between those of a node and those of its parent: freedoms of other branches.
template <class Matrix>
inline void write_gap(const SweepModel& model, const Node& node, int row, const Matrix& matrix) {
  const int first =
      node.parent < 0 ? 0 : model.nodes[node.parent].v_index + model.nodes[node.parent].freedoms;
  matrix.gap(row, first, node.v_index);
}

// Carries a column from node n to `end` (left out; −1: the ground), writing entries on the way.
template <class Scalar, class Matrix>
inline Wrench<Scalar> carry_column(const SweepModel& model, int n, int end, int row,
                                   Wrench<Scalar> f, const Scratch<Scalar>& s,
                                   const Matrix& matrix) {
  while (n != end) {
    write_entries(model, n, row, f, s, matrix);
    write_gap(model, model.nodes[n], row, matrix);
    f.moment += cross(s.composite[n].offset, f.force);
    n = model.nodes[n].parent;
  }
  return f;
}

// The momentum that unit speed of a one-freedom fast hinge gives its composite body.
template <class Scalar>
inline Wrench<Scalar> column_of(const Node& node, const CompositeScratch<Scalar>& c) {
  const Vec3<Scalar> z = c.rotation.axis(2);
  const SpatialInertia<Scalar>& i = c.composite;
  return node.hinge == NodeHinge::revolute ? Wrench<Scalar>{i.inertia * z, cross(z, i.mass_moment)}
                                           : Wrench<Scalar>{cross(i.mass_moment, z), i.mass * z};
}

// Eight columns of consecutive nodes of one path, carried together: what is one long chain of
// additions for a single column becomes eight independent ones, and compilers vectorize them.
inline constexpr int kColumnsTogether = 8;
template <class Scalar, class Matrix>
inline void carry_together(const SweepModel& model, int n, const int (&rows)[kColumnsTogether],
                           const Wrench<Scalar> (&start)[kColumnsTogether],
                           const Scratch<Scalar>& s, const Matrix& matrix) {
  Scalar m[3][kColumnsTogether], f[3][kColumnsTogether];
  for (int i = 0; i < 3; ++i)
    for (int l = 0; l < kColumnsTogether; ++l) {
      m[i][l] = start[l].moment[i];
      f[i][l] = start[l].force[i];
    }
  while (n >= 0) {
    const Node& node = model.nodes[n];
    const CompositeScratch<Scalar>& c = s.composite[n];
    if (model.general_index[n] < 0) {
      const Vec3<Scalar> z = c.rotation.axis(2);
      const Scalar(&x)[3][kColumnsTogether] = node.hinge == NodeHinge::revolute ? m : f;
      Scalar entry[kColumnsTogether];
      for (int l = 0; l < kColumnsTogether; ++l)
        entry[l] = z.x * x[0][l] + z.y * x[1][l] + z.z * x[2][l];
      for (int l = 0; l < kColumnsTogether; ++l) matrix.set(rows[l], node.v_index, entry[l]);
    } else {
      for (int l = 0; l < kColumnsTogether; ++l)
        write_entries(model, n, rows[l],
                      Wrench<Scalar>{{m[0][l], m[1][l], m[2][l]}, {f[0][l], f[1][l], f[2][l]}}, s,
                      matrix);
    }
    const Vec3<Scalar> p = c.offset;
    for (int l = 0; l < kColumnsTogether; ++l) {
      m[0][l] = m[0][l] + (p.y * f[2][l] - p.z * f[1][l]);
      m[1][l] = m[1][l] + (p.z * f[0][l] - p.x * f[2][l]);
      m[2][l] = m[2][l] + (p.x * f[1][l] - p.y * f[0][l]);
    }
    n = node.parent;
  }
}

// The columns of up to eight nodes of the path that starts at n; worth it on long paths.
template <class Scalar, class Matrix>
inline void carry_path(const SweepModel& model, int n, const Scratch<Scalar>& s,
                       const Matrix& matrix) {
  int path[kColumnsTogether];
  int length = 0;
  for (int k = n;
       k >= 0 && length < kColumnsTogether && model.general_index[k] < 0 && !s.composite[k].carried;
       k = model.nodes[k].parent)
    path[length++] = k;
  const int top = model.nodes[path[length - 1]].parent;
  const bool together = length == kColumnsTogether;
  Wrench<Scalar> f[kColumnsTogether];
  int rows[kColumnsTogether];
  for (int l = 0; l < length; ++l) {
    const Node& own = model.nodes[path[l]];
    rows[l] = own.v_index;
    s.composite[path[l]].carried = true;
    f[l] = carry_column(model, path[l], together ? top : -1, rows[l],
                        column_of(own, s.composite[path[l]]), s, matrix);
  }
  if (together) carry_together(model, top, rows, f, s, matrix);
}

// Outward: orientation, offset and own inertia of every node in the axes of its tree.
template <class Scalar, class Matrix>
inline void place_composites(const SweepModel& model, const Scalar* q, const Scratch<Scalar>& s,
                             const Matrix& matrix) {
  const Scalar still[kMaxFreedoms] = {Scalar(0.0), Scalar(0.0), Scalar(0.0),
                                      Scalar(0.0), Scalar(0.0), Scalar(0.0)};
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    CompositeScratch<Scalar>& c = s.composite[n];
    const bool is_general = model.general_index[n] >= 0;
    // At the root H = 1 is known, but the rotors' part reads it too (mass_matrix.cpp).
    const bool needs_map =
        is_general && (node.parent >= 0 || !has_unit_map(node) || model.rotors != nullptr);
    if (needs_map)
      place_general(model, node, n, q + node.q_index, still, s.nodes[n],
                    s.general[model.general_index[n]]);
    const SpatialInertia<Scalar> own = load_inertia<Scalar>(node);
    if (node.parent < 0) {
      c.rotation = Rotation<Scalar>::identity();
      c.offset = Vec3<Scalar>::zero();
      c.composite = own;
    } else {
      const Rotation<Scalar>& outer_axes = s.composite[node.parent].rotation;
      const bool inner_is_root = model.nodes[node.parent].parent < 0;
      if (!is_general && !inner_is_root && node.hinge == NodeHinge::revolute) {
        turn_about_z(outer_axes, node.rotation,
                     SinCos<Scalar>{s.sine[node.q_index], s.cosine[node.q_index]}, c.rotation);
        c.offset = outer_axes * load_vec3<Scalar>(node.translation);
      } else {
        Transform<Scalar> x;
        if (is_general)
          x = s.nodes[n].to_parent;
        else if (node.hinge == NodeHinge::revolute)
          place_revolute(node, s, x);
        else
          place_prismatic(node, q[node.q_index], x);
        c.rotation = inner_is_root ? x.rotation : outer_axes * x.rotation;
        c.offset = inner_is_root ? x.translation : outer_axes * x.translation;
      }
      c.composite = {own.mass, c.rotation * own.mass_moment,
                     congruence(c.rotation.matrix, own.inertia)};
    }
    matrix.expect(n);
    if (needs_map) {
      GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
      for (int k = 0; k < node.freedoms; ++k)
        g.ground_map[k] = {c.rotation * g.map[k].angular, c.rotation * g.map[k].linear};
    }
  }
}

template <class Scalar, class Matrix>
void mass_matrix_sweeps(const SweepModel& model, const Scalar* q, const Scratch<Scalar>& s,
                        const Matrix& matrix) {
  sines_of_angles(model, q, s);
  place_composites(model, q, s, matrix);
  matrix.clear();
  // Inward: composite inertias; then one column for each freedom, from its node to the ground.
  // On long chains columns go eight at a time, which needs all composites first (not of packs,
  // whose lanes are as many already).
  const bool together = model.is_deep && kLanesOf<Scalar> == 0;
  if (together)
    for (int n = model.node_count; n-- > 0;) {
      const CompositeScratch<Scalar>& c = s.composite[n];
      s.composite[n].carried = false;
      if (model.nodes[n].parent >= 0)
        add_translated(c.offset, c.composite, s.composite[model.nodes[n].parent].composite);
    }
  for (int n = model.node_count; n-- > 0;) {
    const Node& node = model.nodes[n];
    const CompositeScratch<Scalar>& c = s.composite[n];
    if (!together && node.parent >= 0)
      add_translated(c.offset, c.composite, s.composite[node.parent].composite);
    if (model.general_index[n] < 0) {
      if (!together)
        carry_column(model, n, -1, node.v_index, column_of(node, c), s, matrix);
      else if (!c.carried)
        carry_path(model, n, s, matrix);
      continue;
    }
    if (node.parent < 0 && has_unit_map(node)) {
      write_unit_block(node, c, matrix);
      continue;
    }
    const GeneralScratch<Scalar>& g = s.general[model.general_index[n]];
    for (int k = 0; k < node.freedoms; ++k) {
      const Wrench<Scalar> f = c.composite * g.ground_map[k];
      const int row = node.v_index + k;
      const Scalar own = dot(f, g.ground_map[k]);
      matrix.set(row, row, node.freedoms == 1 ? own + rotor_inertia<Scalar>(model, n) : own);
      for (int l = k; l-- > 0;) matrix.set(row, node.v_index + l, dot(f, g.ground_map[l]));
      write_gap(model, node, row, matrix);
      if (node.parent < 0) continue;
      Wrench<Scalar> carried{f.moment + cross(c.offset, f.force), f.force};
      if (node.freedoms == 1)
        carried.moment +=
            s.composite[node.parent].rotation * rotor_coupling<Scalar>(model, node, n);
      carry_column(model, node.parent, -1, row, carried, s, matrix);
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
