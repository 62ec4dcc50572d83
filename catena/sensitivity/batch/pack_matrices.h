// SPDX-License-Identifier: BSD-3-Clause
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
// freedom: rows of other limbs need the common part of the paths. All of it is sums of products for
// up to three rows (a stretch without a branch) and four columns at a time, as many as sixteen
// registers hold. A column is written from its first row to its last, past the caches if the whole
// does not fit into them. M⁻¹ is symmetric: half of it is made, and written twice.
#pragma once

#include <type_traits>

#include "catena/dynamics/batch/pack_loads.h"
#include "catena/dynamics/batch/pack_rows.h"
#include "catena/sensitivity/batch/batch_derivative_kernels.h"
#include "catena/sensitivity/kernels/columns.h"

namespace catena {
inline namespace CATENA_ISA {

inline constexpr int kColumnsAtOnce = 4;

// Sums of three rows (or fewer) of one column; `rows` has a number of the first.
template <int kRows>
struct RowSums {
  Pack x = Pack(0.0), y = Pack(0.0), z = Pack(0.0);

  void add(const Pack* rows, const Pack& f) {
    x += rows[0] * f;
    if constexpr (kRows > 1) y += rows[column_place::kCount] * f;
    if constexpr (kRows > 2) z += rows[2 * column_place::kCount] * f;
  }
  void store(Pack* to) const {
    to[0] = x;
    if constexpr (kRows > 1) to[1] = y;
    if constexpr (kRows > 2) to[2] = z;
  }
};

// Results of fill_column().
enum class Fill { by_v, by_q_and_v, by_q_v_and_a };

// Rows of the columns of one freedom, whose numbers are `own`, in ∂τ/∂q, ∂τ/∂v and M: of freedoms
// inboard of it, or outboard, with numbers from `rows` on.
template <int kRows, Fill kFill>
inline void inboard_rows(const Pack* rows, const Pack* own, Pack* q, Pack* v, Pack* mass) {
  using namespace column_place;
  constexpr bool kPosition = kFill != Fill::by_v, kMass = kFill == Fill::by_q_v_and_a;
  RowSums<kRows> by_q, by_v, by_a;
  for (int x = 0; x < 6; ++x) {
    if constexpr (kPosition) by_q.add(rows + kTwist + x, own[kByQ + x]);
    by_v.add(rows + kTwist + x, own[kByV + x]);
    if constexpr (kMass) by_a.add(rows + kTwist + x, own[kMomentum + x]);
  }
  if constexpr (kPosition) by_q.store(q);
  by_v.store(v);
  if constexpr (kMass) by_a.store(mass);
}
template <int kRows, Fill kFill>
inline void outboard_rows(const Pack* rows, const Pack* own, Pack* q, Pack* v, Pack* mass) {
  using namespace column_place;
  constexpr bool kPosition = kFill != Fill::by_v, kMass = kFill == Fill::by_q_v_and_a;
  RowSums<kRows> by_q, by_v, by_a;
  for (int x = 0; x < 6; ++x) {
    if constexpr (kPosition) by_q.add(rows + kMomentum + x, own[kSecond + x]);
    by_v.add(rows + kMomentum + x, own[kDrift + x]);
    if constexpr (kMass) by_a.add(rows + kMomentum + x, own[kTwist + x]);
  }
  for (int x = 0; x < 3; ++x) {
    if constexpr (kPosition) by_q.add(rows + kTurning + x, own[kRate + x]);
    by_v.add(rows + kTurning + x, own[kTwist + x]);
  }
  if constexpr (kPosition) by_q.store(q);
  by_v.store(v);
  if constexpr (kMass) by_a.store(mass);
}

inline Pack dot(const Vec3<Pack>& a, const Pack* table, int k) {
  return dot(a, get_vec3(table, 0, k));
}

// The columns of freedom k in ∂τ/∂q, ∂τ/∂v and M; rows that are always zero and matrices that are
// not wanted are skipped.
template <Fill kFill>
inline void fill_column(const BatchDerivativeModel& model, const DerivativeTable<Pack>& c,
                        const Pack* slopes, int k, Pack* q, Pack* v, Pack* mass) {
  constexpr bool kPosition = kFill != Fill::by_v, kMass = kFill == Fill::by_q_v_and_a;
  const SweepModel& sweep = *model.batch->sweep;
  const MatrixPattern& pattern = model.pattern;
  const Pack* own = c.twist + k * column_place::kCount;
  for (int i = pattern.first_segment[k]; i < pattern.first_segment[k + 1]; ++i) {
    const RowSegment& segment = pattern.segments[i];
    const Pack* rows = c.twist + segment.first * column_place::kCount;
    int r = segment.first, left = segment.count;
    if (segment.kind == RowSegment::Kind::inboard) {
      for (; left >= 3; left -= 3, r += 3, rows += 3 * column_place::kCount)
        inboard_rows<3, kFill>(rows, own, q + r, v + r, mass + r);
      if (left == 2) inboard_rows<2, kFill>(rows, own, q + r, v + r, mass + r);
      if (left == 1) inboard_rows<1, kFill>(rows, own, q + r, v + r, mass + r);
    } else if (segment.kind == RowSegment::Kind::outboard) {
      for (; left >= 3; left -= 3, r += 3, rows += 3 * column_place::kCount)
        outboard_rows<3, kFill>(rows, own, q + r, v + r, mass + r);
      if (left == 2) outboard_rows<2, kFill>(rows, own, q + r, v + r, mass + r);
      if (left == 1) outboard_rows<1, kFill>(rows, own, q + r, v + r, mass + r);
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
        v[r] += dot(rotor.turned, c.twist, r);
        if constexpr (kMass) mass[r] += dot(rotor.axis, c.twist, r);
      }
    } else {  // k carries the rotor
      if constexpr (kPosition) q[h] += dot(rotor.axis, c.second, k) + dot(rotor.turned, c.rate, k);
      v[h] += dot(rotor.axis, c.drift, k) + dot(rotor.turned, c.twist, k);
      if constexpr (kMass) mass[h] += dot(rotor.axis, c.twist, k);
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
  const int n = pattern.size;
  for (int i = 0; i < n; ++i) {
    const Wrench<Pack> f = get_wrench(c.momentum, 0, i);
    for (int j = model.first_path[i]; j < model.first_path[i + 1]; ++j) {
      const Twist<Pack> t = get_twist(c.twist, 0, model.path[j]);
      mass[i * n + model.path[j]] = dot(f.moment, t.angular) + dot(f.force, t.linear);
    }
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    const int h = drive.freedom;
    mass[h * n + h] += Pack(drive.reflected);
    if (drive.carrier < 0) continue;
    const int last = sweep.nodes[drive.carrier].v_index + sweep.nodes[drive.carrier].freedoms - 1;
    for (int j = model.first_path[last]; j < model.first_path[last + 1]; ++j)
      mass[h * n + model.path[j]] += dot(c.rotors[d].axis, c.twist, model.path[j]);
  }
}

// Sums Σ a_j b_j (or less that) over a list of indices, for rows a and columns b, each a pointer
// whose entry j is j, or j · n (kAcross), further on: put(row, column, sum).
template <int kRows, int kColumns, bool kMinus, bool kRowsAcross, bool kColumnsAcross, class Put>
inline void combine(const int* index, int count, std::ptrdiff_t n, const Pack* const* a,
                    const Pack* const* b, Put put) {
  struct Sums {
    Pack x = Pack(0.0), y = Pack(0.0), z = Pack(0.0);
    void add(const Pack& p, const Pack& q, const Pack& r, const Pack& f) {
      x = kMinus ? x - p * f : x + p * f;
      if constexpr (kRows > 1) y = kMinus ? y - q * f : y + q * f;
      if constexpr (kRows > 2) z = kMinus ? z - r * f : z + r * f;
    }
    void hand_over(Put& put_sum, int column) const {
      put_sum(0, column, x);
      if constexpr (kRows > 1) put_sum(1, column, y);
      if constexpr (kRows > 2) put_sum(2, column, z);
    }
  };
  const Pack *a0 = a[0], *a1 = a[kRows > 1 ? 1 : 0], *a2 = a[kRows > 2 ? 2 : 0];
  const Pack *b0 = b[0], *b1 = b[kColumns > 1 ? 1 : 0], *b2 = b[kColumns > 2 ? 2 : 0],
             *b3 = b[kColumns > 3 ? 3 : 0];
  Sums s0, s1, s2, s3;
  for (int i = 0; i < count; ++i) {
    const std::ptrdiff_t j = index[i];
    const std::ptrdiff_t across = kRowsAcross || kColumnsAcross ? j * n : j;
    const std::ptrdiff_t in_row = kRowsAcross ? across : j, in_column = kColumnsAcross ? across : j;
    const Pack p = a0[in_row];
    const Pack q = kRows > 1 ? a1[in_row] : p;
    const Pack r = kRows > 2 ? a2[in_row] : p;
    s0.add(p, q, r, b0[in_column]);
    if constexpr (kColumns > 1) s1.add(p, q, r, b1[in_column]);
    if constexpr (kColumns > 2) s2.add(p, q, r, b2[in_column]);
    if constexpr (kColumns > 3) s3.add(p, q, r, b3[in_column]);
  }
  s0.hand_over(put, 0);
  if constexpr (kColumns > 1) s1.hand_over(put, 1);
  if constexpr (kColumns > 2) s2.hand_over(put, 2);
  if constexpr (kColumns > 3) s3.hand_over(put, 3);
}

// Calls call(columns) with a number of columns, or call(rows, columns), known to the compiler.
template <class Call>
inline void with_columns(int columns, Call call) {
  if (columns == 4)
    call(std::integral_constant<int, 4>());
  else if (columns == 3)
    call(std::integral_constant<int, 3>());
  else if (columns == 2)
    call(std::integral_constant<int, 2>());
  else
    call(std::integral_constant<int, 1>());
}
template <class Call>
inline void with_rows(int rows, Call call) {
  if (rows == 3)
    call(std::integral_constant<int, 3>());
  else if (rows == 2)
    call(std::integral_constant<int, 2>());
  else
    call(std::integral_constant<int, 1>());
}

// The rows of a stretch, and the freedoms inboard of it.
struct StretchRows {
  StretchRows(const BatchDerivativeModel& model, const Stretch& stretch, Pack* factor)
      : count(stretch.rows), last(stretch.row[stretch.rows - 1]) {
    path = model.path + model.first_path[last];
    depth = model.first_path[last + 1] - model.first_path[last] - count;
    for (int r = 0; r < 3; ++r) row[r] = factor + stretch.row[r] * model.pattern.size;
  }
  int count, last, depth;
  const int* path;
  Pack* row[3];
};

// M becomes L: everything outboard of a stretch at once, then its rows one after the other.
inline LostPivot factor_stretch(const BatchDerivativeModel& model, const Stretch& stretch,
                                Pack* factor) {
  const int n = model.pattern.size;
  const StretchRows s(model, stretch, factor);
  Pack diagonal[3];
  for (int r = 0; r < s.count; ++r) diagonal[r] = s.row[r][stretch.row[r]];
  const int* outboard = model.outboard + model.first_outboard[s.last];
  const int length = model.first_outboard[s.last + 1] - model.first_outboard[s.last];
  const Pack* a[3];
  for (int r = 0; r < 3; ++r) a[r] = factor + stretch.row[r];
  for (int x = 0; x < s.depth + s.count && length > 0; x += kColumnsAtOnce) {
    const int columns =
        s.depth + s.count - x < kColumnsAtOnce ? s.depth + s.count - x : kColumnsAtOnce;
    const Pack* b[kColumnsAtOnce];
    for (int c = 0; c < columns; ++c) b[c] = factor + s.path[x + c];
    with_columns(columns, [&](auto k) {
      with_rows(s.count, [&](auto rows) {
        combine<rows(), k(), false, true, true>(outboard, length, n, a, b,
                                                [&](int r, int c, const Pack& sum) {
                                                  if (x + c <= s.depth + r)
                                                    s.row[r][s.path[x + c]] -= sum;
                                                });
      });
    });
  }
  for (int r = s.count; r-- > 0;) {
    Pack* row = s.row[r];
    const int k = stretch.row[r];
    if (any(!(row[k] > Pack(kLostPivot) * diagonal[r]))) [[unlikely]]
      return {k};
    const Pack scale = Pack(1.0) / sqrt(row[k]);
    row[k] = scale;  // 1 / L_kk
    for (int x = 0; x < s.depth + r; ++x) row[s.path[x]] *= scale;
    for (int y = 0; y < r; ++y) {
      const Pack f = row[stretch.row[y]];
      for (int x = 0; x <= s.depth + y; ++x) s.row[y][s.path[x]] -= f * row[s.path[x]];
    }
  }
  return {};
}

// L becomes Z, whose rows inboard of the stretch are there.
inline void invert_stretch(const BatchDerivativeModel& model, const Stretch& stretch,
                           Pack* factor) {
  const int n = model.pattern.size;
  const StretchRows s(model, stretch, factor);
  const int k0 = stretch.row[0], k1 = stretch.row[1], k2 = stretch.row[2];
  const Pack none(0.0);
  const bool two = s.count > 1, three = s.count > 2;
  const Pack scale0 = -s.row[0][k0];
  const Pack scale1 = two ? -s.row[1][k1] : none, below10 = two ? s.row[1][k0] : none;
  const Pack scale2 = three ? -s.row[2][k2] : none, below20 = three ? s.row[2][k0] : none,
             below21 = three ? s.row[2][k1] : none;
  // Entries need L from themselves on: from the first on, each in its place.
  for (int x = 0; x < s.depth; x += kColumnsAtOnce) {
    const int columns = s.depth - x < kColumnsAtOnce ? s.depth - x : kColumnsAtOnce;
    const Pack* b[kColumnsAtOnce];
    for (int c = 0; c < columns; ++c) b[c] = factor + s.path[x + c];
    with_columns(columns, [&](auto k) {
      with_rows(s.count, [&](auto rows) {
        Pack before, second;
        combine<rows(), k(), false, false, true>(
            s.path + x, s.depth - x, n, s.row, b, [&](int r, int c, const Pack& sum) {
              Pack& entry = s.row[r][s.path[x + c]];
              if (r == 0)
                entry = before = scale0 * sum;
              else if (r == 1)
                entry = second = scale1 * (sum + below10 * before);
              else
                entry = scale2 * (sum + below20 * before + below21 * second);
            });
      });
    });
  }
  if (!two) return;
  const Pack own = scale1 * below10 * s.row[0][k0];
  s.row[1][k0] = own;
  if (!three) return;
  s.row[2][k0] = scale2 * (below20 * s.row[0][k0] + below21 * own);
  s.row[2][k1] = scale2 * below21 * s.row[1][k1];
}

// M becomes Z, in place; entries that are not inboard stay zero.
inline LostPivot invert_factor(const BatchDerivativeModel& model, Pack* factor) {
  for (int i = model.stretch_count; i-- > 0;)
    if (const LostPivot lost = factor_stretch(model, model.stretches[i], factor); lost.found())
      return lost;
  for (int i = 0; i < model.stretch_count; ++i) invert_stretch(model, model.stretches[i], factor);
  return {};
}

// x += M⁻¹ b.
inline void add_solution(const BatchDerivativeModel& model, Pack* z, const Pack* b, Pack* halfway,
                         Pack* x) {
  const int n = model.pattern.size;
  for (int i = 0; i < model.stretch_count; ++i) {
    const Stretch& stretch = model.stretches[i];
    const int k = stretch.row[0];
    const Pack* const a[3] = {z + k, z + stretch.row[1], z + stretch.row[2]};
    const Pack own = z[k * n + k] * b[k];
    with_rows(stretch.rows, [&](auto rows) {
      combine<rows(), 1, false, true, false>(
          model.outboard + model.first_outboard[k],
          model.first_outboard[k + 1] - model.first_outboard[k], n, a, &b,
          [&](int r, int, const Pack& sum) { halfway[stretch.row[r]] = r == 0 ? own + sum : sum; });
    });
  }
  const Pack* const middle = halfway;
  for (int i = 0; i < model.stretch_count; ++i) {
    const Stretch& stretch = model.stretches[i];
    const StretchRows s(model, stretch, z);
    with_rows(s.count, [&](auto rows) {
      combine<rows(), 1, false, false, false>(
          s.path, s.depth + s.count, n, s.row, &middle,
          [&](int r, int, const Pack& sum) { x[stretch.row[r]] += sum; });
    });
  }
}

// −Zᵀ b, or (kOutward) Z b, for blocks of rows that end at `from` or later: put(row, column, sum).
template <bool kOutward, class Put>
inline void multiply(const BatchDerivativeModel& model, int first, int end, int from, const Pack* z,
                     int columns, const Pack* const* b, Put put) {
  const std::ptrdiff_t n = model.pattern.size;
  const std::ptrdiff_t along = kOutward ? n : 1;
  with_columns(columns, [&](auto k) {
    for (int i = first; i < end; ++i) {
      const RowBlock block = model.blocks[i];  // a copy: no store can change it
      if (block.row[2] < from) continue;
      const Pack* const a[3] = {z + block.row[0] * along, z + block.row[1] * along,
                                z + block.row[2] * along};
      with_rows(block.rows, [&](auto rows) {
        combine<rows(), k(), !kOutward, !kOutward, false>(
            model.path + block.first, block.count, n, a, b,
            [&](int r, int c, const Pack& sum) { put(block.row[r], c, sum); });
      });
    }
  });
}

}  // namespace CATENA_ISA
}  // namespace catena
