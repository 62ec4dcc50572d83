// The matrices made of columns (columns.h) for packs, one state per lane, and the algebra of
// forward derivatives.
//
// Unlike for one state (matrices.h) nothing is padded and nothing that is zero is touched. With
// M = Lᵀ L, from the tips inward, row i of L and of Z = L⁻¹ has entries at the freedoms inboard of
// i only, and
//
//   M⁻¹ = Z Zᵀ,   ∂v̇/∂q = −Z (Zᵀ ∂τ/∂q),
//
// where a column of ∂τ/∂q, and so of Zᵀ ∂τ/∂q, has entries only inboard and outboard of its
// freedom: rows of other limbs need what the paths share. All of it is sums of products for up to
// three rows and four columns at a time, which is what sixteen registers hold. A column is written
// from its first row to its last, past the caches if the whole does not fit into them.
#pragma once

#include "catena/dynamics/pack_loads.h"
#include "catena/dynamics/pack_rows.h"
#include "catena/sensitivity/batch_derivative_kernels.h"
#include "catena/sensitivity/columns.h"

namespace catena {
inline namespace CATENA_ISA {

inline constexpr int kColumnsAtOnce = 4;

// Sums of three rows (or fewer) of one column.
template <int kRows>
struct RowSums {
  Pack x = Pack(0.0), y = Pack(0.0), z = Pack(0.0);

  void add(const Pack* rows, const Pack& f) {
    x += rows[0] * f;
    if constexpr (kRows > 1) y += rows[1] * f;
    if constexpr (kRows > 2) z += rows[2] * f;
  }
  void store(Pack* to) const {
    to[0] = x;
    if constexpr (kRows > 1) to[1] = y;
    if constexpr (kRows > 2) to[2] = z;
  }
};

// What fill_column() makes.
enum class Fill { by_v, by_q_and_v, by_q_v_and_a };

// Rows from r on of the columns of freedom k in ∂τ/∂q, ∂τ/∂v and M: of freedoms inboard of it, or
// outboard.
template <int kRows, Fill kFill>
inline void inboard_rows(const DerivativeTable<Pack>& c, int k, int r, Pack* q, Pack* v,
                         Pack* mass) {
  constexpr bool kPosition = kFill != Fill::by_v, kMass = kFill == Fill::by_q_v_and_a;
  RowSums<kRows> by_q, by_v, by_a;
  for (int x = 0; x < 6; ++x) {
    const int from = x * c.stride;
    if constexpr (kPosition) by_q.add(c.twist + from + r, c.by_q[from + k]);
    by_v.add(c.twist + from + r, c.by_v[from + k]);
    if constexpr (kMass) by_a.add(c.twist + from + r, c.momentum[from + k]);
  }
  if constexpr (kPosition) by_q.store(q + r);
  by_v.store(v + r);
  if constexpr (kMass) by_a.store(mass + r);
}
template <int kRows, Fill kFill>
inline void outboard_rows(const DerivativeTable<Pack>& c, int k, int r, Pack* q, Pack* v,
                          Pack* mass) {
  constexpr bool kPosition = kFill != Fill::by_v, kMass = kFill == Fill::by_q_v_and_a;
  RowSums<kRows> by_q, by_v, by_a;
  for (int x = 0; x < 6; ++x) {
    const int from = x * c.stride;
    if constexpr (kPosition) by_q.add(c.momentum + from + r, c.second[from + k]);
    by_v.add(c.momentum + from + r, c.drift[from + k]);
    if constexpr (kMass) by_a.add(c.momentum + from + r, c.twist[from + k]);
  }
  for (int x = 0; x < 3; ++x) {
    const int from = x * c.stride;
    if constexpr (kPosition) by_q.add(c.turning + from + r, c.rate[from + k]);
    by_v.add(c.turning + from + r, c.twist[from + k]);
  }
  if constexpr (kPosition) by_q.store(q + r);
  by_v.store(v + r);
  if constexpr (kMass) by_a.store(mass + r);
}

inline Pack dot(const Vec3<Pack>& a, const Pack* table, int stride, int k) {
  return a.x * table[k] + a.y * table[stride + k] + a.z * table[2 * stride + k];
}

// The columns of freedom k in ∂τ/∂q, ∂τ/∂v and M; rows that are always zero are left alone.
template <Fill kFill>
inline void fill_column(const BatchDerivativeModel& model, const DerivativeTable<Pack>& c,
                        const Pack* slopes, int k, Pack* q, Pack* v, Pack* mass) {
  constexpr bool kPosition = kFill != Fill::by_v, kMass = kFill == Fill::by_q_v_and_a;
  const SweepModel& sweep = *model.batch->sweep;
  const MatrixPattern& pattern = model.pattern;
  for (int i = pattern.first_segment[k]; i < pattern.first_segment[k + 1]; ++i) {
    const RowSegment& segment = pattern.segments[i];
    const int end = segment.first + segment.count;
    int r = segment.first;
    if (segment.kind == RowSegment::Kind::inboard) {
      for (; r + 3 <= end; r += 3) inboard_rows<3, kFill>(c, k, r, q, v, mass);
      if (r + 2 <= end) inboard_rows<2, kFill>(c, k, r, q, v, mass);
      if (r + 1 == end) inboard_rows<1, kFill>(c, k, r, q, v, mass);
    } else if (segment.kind == RowSegment::Kind::outboard) {
      for (; r + 3 <= end; r += 3) outboard_rows<3, kFill>(c, k, r, q, v, mass);
      if (r + 2 <= end) outboard_rows<2, kFill>(c, k, r, q, v, mass);
      if (r + 1 == end) outboard_rows<1, kFill>(c, k, r, q, v, mass);
    }
  }
  const int n = model.node_of[k];
  const Node& node = sweep.nodes[n];
  if (kPosition && (node.freedoms > 1 || varies(node))) {
    const GeneralColumns<Pack>& g = c.general[sweep.general_index[n]];
    for (int m = 0; m < node.freedoms; ++m) q[node.v_index + m] += g.own[k - node.v_index][m];
  }
  for (int i = model.first_rotor[k]; i < model.first_rotor[k + 1]; ++i) {
    const int d = model.rotors[i];
    const DriveTerm& drive = c.drives[d];
    const RotorColumn<Pack>& rotor = c.rotors[d];
    const int h = drive.freedom;
    if (h == k) {
      if constexpr (kMass) mass[h] += Pack(drive.reflected);
      if (drive.carrier < 0) continue;
      const int last = sweep.nodes[drive.carrier].v_index + sweep.nodes[drive.carrier].freedoms - 1;
      for (int j = model.first_path[last]; j < model.first_path[last + 1]; ++j) {
        const int r = model.path[j];
        v[r] += dot(rotor.turned, c.twist, c.stride, r);
        if constexpr (kMass) mass[r] += dot(rotor.axis, c.twist, c.stride, r);
      }
    } else {  // k carries the rotor
      if constexpr (kPosition)
        q[h] += dot(rotor.axis, c.second, c.stride, k) + dot(rotor.turned, c.rate, c.stride, k);
      v[h] += dot(rotor.axis, c.drift, c.stride, k) + dot(rotor.turned, c.twist, c.stride, k);
      if constexpr (kMass) mass[h] += dot(rotor.axis, c.twist, c.stride, k);
    }
  }
  if (const int law = model.law_of[k]; law >= 0) {
    if (kPosition && model.batch->laws[law].q_index >= 0)
      q[k] += Pack(model.batch->laws[law].stiffness);
    v[k] += slopes[law];
  }
}

// M by rows of the freedoms inboard of each, and its own.
inline void fill_mass(const BatchDerivativeModel& model, const DerivativeTable<Pack>& c,
                      Pack* mass) {
  const MatrixPattern& pattern = model.pattern;
  const SweepModel& sweep = *model.batch->sweep;
  const int n = pattern.size, s = c.stride;
  for (int i = 0; i < n; ++i) {
    const Pack f0 = c.momentum[i], f1 = c.momentum[s + i], f2 = c.momentum[2 * s + i];
    const Pack f3 = c.momentum[3 * s + i], f4 = c.momentum[4 * s + i], f5 = c.momentum[5 * s + i];
    for (int j = model.first_path[i]; j < model.first_path[i + 1]; ++j) {
      const Pack* t = c.twist + model.path[j];
      mass[i * n + model.path[j]] =
          (t[0] * f0 + t[s] * f1 + t[2 * s] * f2) + (t[3 * s] * f3 + t[4 * s] * f4 + t[5 * s] * f5);
    }
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    const int h = drive.freedom;
    mass[h * n + h] += Pack(drive.reflected);
    if (drive.carrier < 0) continue;
    const int last = sweep.nodes[drive.carrier].v_index + sweep.nodes[drive.carrier].freedoms - 1;
    for (int j = model.first_path[last]; j < model.first_path[last + 1]; ++j)
      mass[h * n + model.path[j]] += dot(c.rotors[d].axis, c.twist, s, model.path[j]);
  }
}

// Calls put(place, sum) for the entries x of a row, `count` of them: Σ coefficient(j) row_j[x] over
// a list. Four at a time: one sum has to wait for itself.
template <class Coefficient, class Put>
inline void sum_rows(const int* x, int count, const int* list, int length, const Pack* rows,
                     std::ptrdiff_t n, Coefficient coefficient, Put put) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const int x0 = x[k], x1 = x[k + 1], x2 = x[k + 2], x3 = x[k + 3];
    Pack s0(0.0), s1(0.0), s2(0.0), s3(0.0);
    for (int i = 0; i < length; ++i) {
      const Pack f = coefficient(list[i]);
      const Pack* row = rows + list[i] * n;
      s0 += f * row[x0];
      s1 += f * row[x1];
      s2 += f * row[x2];
      s3 += f * row[x3];
    }
    put(k, s0);
    put(k + 1, s1);
    put(k + 2, s2);
    put(k + 3, s3);
  }
  for (; k < count; ++k) {
    Pack sum(0.0);
    for (int i = 0; i < length; ++i) sum += coefficient(list[i]) * rows[list[i] * n + x[k]];
    put(k, sum);
  }
}

// M becomes L, and L becomes Z, in place; what is not inboard stays zero. Returns the freedom whose
// pivot is lost.
inline int invert_factor(const BatchDerivativeModel& model, Pack* factor) {
  const int n = model.pattern.size;
  for (int k = n; k-- > 0;) {
    Pack* row = factor + k * n;
    const int* path = model.path + model.first_path[k];
    const int depth = model.first_path[k + 1] - model.first_path[k];
    const Pack diagonal = row[k];
    sum_rows(
        path, depth, model.outboard + model.first_outboard[k],
        model.first_outboard[k + 1] - model.first_outboard[k], factor, n,
        [&](int i) { return factor[i * n + k]; },
        [&](int x, const Pack& sum) { row[path[x]] -= sum; });
    if (any(!(row[k] > Pack(kLostPivot) * diagonal))) [[unlikely]]
      return k;
    const Pack scale = Pack(1.0) / sqrt(row[k]);
    row[k] = scale;  // 1 / L_kk
    for (int x = 0; x + 1 < depth; ++x) row[path[x]] = row[path[x]] * scale;
  }
  for (int k = 0; k < n; ++k) {
    Pack* row = factor + k * n;
    const int* path = model.path + model.first_path[k];
    const int depth = model.first_path[k + 1] - model.first_path[k] - 1;
    const Pack scale = -row[k];
    // Entries of the row of Z need L from themselves on: from the first on, each in its place.
    for (int x = 0; x < depth; x += 4)
      sum_rows(
          path + x, depth - x < 4 ? depth - x : 4, path + x, depth - x, factor, n,
          [&](int y) { return row[y]; },
          [&](int place, const Pack& sum) { row[path[x + place]] = scale * sum; });
  }
  return kSweepDone;
}

// x += M⁻¹ b.
inline void add_solution(const BatchDerivativeModel& model, const Pack* z, const Pack* b,
                         Pack* halfway, Pack* x) {
  const int n = model.pattern.size;
  for (int i = 0; i < n; ++i) halfway[i] = Pack(0.0);
  for (int i = 0; i < n; ++i)
    for (int j = model.first_path[i]; j < model.first_path[i + 1]; ++j)
      halfway[model.path[j]] += z[i * n + model.path[j]] * b[i];
  for (int i = 0; i < n; ++i) {
    Pack sum(0.0);
    for (int j = model.first_path[i]; j < model.first_path[i + 1]; ++j)
      sum += z[i * n + model.path[j]] * halfway[model.path[j]];
    x[i] += sum;
  }
}

// Rows of Σ a_j b_j (or less that) for columns b: `a` has a pointer for each row, whose entry j is
// j · stride further on.
template <int kRows, int kColumns, bool kMinus>
inline void combine(const int* index, int count, const Pack* const (&a)[3], std::ptrdiff_t stride,
                    const Pack* const* b, const int* row, Pack* const* to) {
  struct Sums {
    Pack x = Pack(0.0), y = Pack(0.0), z = Pack(0.0);
    void add(const Pack& p, const Pack& q, const Pack& r, const Pack& f) {
      x = kMinus ? x - p * f : x + p * f;
      if constexpr (kRows > 1) y = kMinus ? y - q * f : y + q * f;
      if constexpr (kRows > 2) z = kMinus ? z - r * f : z + r * f;
    }
    void store(const int* rows, Pack* column) const {
      column[rows[0]] = x;
      if constexpr (kRows > 1) column[rows[1]] = y;
      if constexpr (kRows > 2) column[rows[2]] = z;
    }
  };
  const Pack *a0 = a[0], *a1 = a[1], *a2 = a[2];
  const Pack *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
  Sums s0, s1, s2, s3;
  for (int i = 0; i < count; ++i) {
    const std::ptrdiff_t j = index[i];
    const Pack p = a0[j * stride];
    const Pack q = kRows > 1 ? a1[j * stride] : p;
    const Pack r = kRows > 2 ? a2[j * stride] : p;
    s0.add(p, q, r, b0[j]);
    if constexpr (kColumns > 1) s1.add(p, q, r, b1[j]);
    if constexpr (kColumns > 2) s2.add(p, q, r, b2[j]);
    if constexpr (kColumns > 3) s3.add(p, q, r, b3[j]);
  }
  s0.store(row, to[0]);
  if constexpr (kColumns > 1) s1.store(row, to[1]);
  if constexpr (kColumns > 2) s2.store(row, to[2]);
  if constexpr (kColumns > 3) s3.store(row, to[3]);
}

// −Zᵀ b, or (kOutward) Z b.
template <int kColumns, bool kOutward>
inline void multiply(const BatchDerivativeModel& model, int first, int end, const Pack* z,
                     const Pack* const* b, Pack* const* to) {
  const std::ptrdiff_t n = model.pattern.size;
  const std::ptrdiff_t along = kOutward ? n : 1, across = kOutward ? 1 : n;
  for (int i = first; i < end; ++i) {
    const RowBlock& block = model.blocks[i];
    const int* index = model.path + block.first;
    const Pack* const a[3] = {z + block.row[0] * along, z + block.row[1] * along,
                              z + block.row[2] * along};
    if (block.rows == 3)
      combine<3, kColumns, !kOutward>(index, block.count, a, across, b, block.row, to);
    else if (block.rows == 2)
      combine<2, kColumns, !kOutward>(index, block.count, a, across, b, block.row, to);
    else
      combine<1, kColumns, !kOutward>(index, block.count, a, across, b, block.row, to);
  }
}
template <bool kOutward>
inline void multiply(const BatchDerivativeModel& model, int first, int end, const Pack* z,
                     int columns, const Pack* const* b, Pack* const* to) {
  if (columns == 4)
    multiply<4, kOutward>(model, first, end, z, b, to);
  else if (columns == 3)
    multiply<3, kOutward>(model, first, end, z, b, to);
  else if (columns == 2)
    multiply<2, kOutward>(model, first, end, z, b, to);
  else
    multiply<1, kOutward>(model, first, end, z, b, to);
}

}  // namespace CATENA_ISA
}  // namespace catena
