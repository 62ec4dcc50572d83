// SPDX-License-Identifier: BSD-3-Clause
// The matrices made of columns (columns.h), and the dense algebra of forward derivatives: an
// inverse of the mass matrix that keeps to the zeros of the tree, and a product.
//
// Everything runs over four rows at once (GCC and Clang vectors: one register with AVX2, two with
// SSE2). Columns are padded to a multiple of four with four to spare, so that a group of rows may
// reach over its end; the entries overwritten there are computed later or are padding.
#pragma once

#include "catena/sensitivity/kernels/columns.h"

namespace catena {
inline namespace CATENA_ISA {

typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));

inline const Lanes& lanes_at(const double* x) { return *reinterpret_cast<const Lanes*>(x); }
inline Lanes& lanes_at(double* x) { return *reinterpret_cast<Lanes*>(x); }

inline void matrices_from_columns(const SweepModel& model, const MatrixPattern& pattern,
                                  const DerivativeTable<double>& c, double* by_q, double* by_v,
                                  double* mass) {
  const int stride = c.stride;
  for (int k = 0; k < pattern.size; ++k) {
    double* q_column = by_q + k * pattern.stride;
    double* v_column = by_v + k * pattern.stride;
    double* m_column = mass + k * pattern.stride;
    for (int i = pattern.first_segment[k]; i < pattern.first_segment[k + 1]; ++i) {
      const RowSegment& segment = pattern.segments[i];
      const int end = segment.first + segment.count;
      if (segment.kind == RowSegment::Kind::none) {
        for (int r = segment.first; r < end; r += kLanes)
          lanes_at(q_column + r) = lanes_at(v_column + r) = lanes_at(m_column + r) = Lanes{};
      } else if (segment.kind == RowSegment::Kind::inboard) {
        for (int r = segment.first; r < end; r += kLanes) {
          Lanes q{}, v{}, m{};
          for (int x = 0; x < 6; ++x) {
            const Lanes twist = lanes_at(c.twist + x * stride + r);
            q += twist * c.by_q[x * stride + k];
            v += twist * c.by_v[x * stride + k];
            m += twist * c.momentum[x * stride + k];
          }
          lanes_at(q_column + r) = q;
          lanes_at(v_column + r) = v;
          lanes_at(m_column + r) = m;
        }
      } else {
        for (int r = segment.first; r < end; r += kLanes) {
          Lanes q{}, v{}, m{};
          for (int x = 0; x < 6; ++x) {
            const Lanes momentum = lanes_at(c.momentum + x * stride + r);
            q += momentum * c.second[x * stride + k];
            v += momentum * c.drift[x * stride + k];
            m += momentum * c.twist[x * stride + k];
          }
          for (int x = 0; x < 3; ++x) {
            const Lanes turning = lanes_at(c.turning + x * stride + r);
            q += turning * c.rate[x * stride + k];
            v += turning * c.twist[x * stride + k];
          }
          lanes_at(q_column + r) = q;
          lanes_at(v_column + r) = v;
          lanes_at(m_column + r) = m;
        }
      }
    }
  }
  for (int n = 0; n < model.node_count; ++n) {
    const Node& node = model.nodes[n];
    if (node.freedoms == 1 && !varies(node)) continue;
    const GeneralColumns<double>& g = c.general[model.general_index[n]];
    for (int l = 0; l < node.freedoms; ++l)
      for (int m = 0; m < node.freedoms; ++m)
        by_q[(node.v_index + l) * pattern.stride + node.v_index + m] += g.own[l][m];
  }
  for (int d = 0; d < c.drive_count; ++d) {
    const DriveTerm& drive = c.drives[d];
    const int h = drive.freedom;
    mass[h * pattern.stride + h] += drive.reflected;
    const RotorColumn<double>& rotor = c.rotors[d];
    for (int n = drive.carrier; n >= 0; n = model.nodes[n].parent)
      for (int k = model.nodes[n].v_index; k < model.nodes[n].v_index + model.nodes[n].freedoms;
           ++k) {
        const Vec3<double> twist = get_vec3(c.twist, stride, k);
        by_q[k * pattern.stride + h] += dot(rotor.axis, get_vec3(c.second, stride, k)) +
                                        dot(rotor.turned, get_vec3(c.rate, stride, k));
        by_v[k * pattern.stride + h] +=
            dot(rotor.axis, get_vec3(c.drift, stride, k)) + dot(rotor.turned, twist);
        by_v[h * pattern.stride + k] += dot(rotor.turned, twist);
        const double entry = dot(rotor.axis, twist);
        mass[k * pattern.stride + h] += entry;
        mass[h * pattern.stride + k] += entry;
      }
  }
}

// Sums of products for up to four registers of neighbours: a single sum would be limited by
// latency.
template <int kRegisters>
struct LaneSums {
  Lanes a{}, b{}, c{}, d{};

  void add(double f, const double* x) {
    a += f * lanes_at(x);
    if constexpr (kRegisters > 1) b += f * lanes_at(x + kLanes);
    if constexpr (kRegisters > 2) c += f * lanes_at(x + 2 * kLanes);
    if constexpr (kRegisters > 3) d += f * lanes_at(x + 3 * kLanes);
  }
  // put(sum, offset)
  template <class Put>
  void hand_over(Put put) const {
    put(a, 0);
    if constexpr (kRegisters > 1) put(b, kLanes);
    if constexpr (kRegisters > 2) put(c, 2 * kLanes);
    if constexpr (kRegisters > 3) put(d, 3 * kLanes);
  }
};

// Calls call(sums, x) for the numbers from `first` to `end`, and at most three more.
template <class Call>
inline void for_registers(int first, int end, Call call) {
  int x = first;
  for (; x + 3 * kLanes < end; x += 4 * kLanes) call(LaneSums<4>(), x);
  if (x + 2 * kLanes < end)
    call(LaneSums<3>(), x);
  else if (x + kLanes < end)
    call(LaneSums<2>(), x);
  else if (x < end)
    call(LaneSums<1>(), x);
}

// M = Lᵀ L, from the tips inward: row i of L has entries only at the freedoms inboard of i
// (Featherstone's factorization of tree matrices). Then Z = L⁻¹ has the same zeros, and
// M⁻¹ = Z Zᵀ.
inline LostPivot invert_mass(const MatrixPattern& pattern, const double* mass, double* work,
                             double* inverse) {
  const int n = pattern.size;
  const int stride = pattern.stride;
  double* l = work;                // rows of L, then of Z
  double* zt = work + n * stride;  // rows of Zᵀ
  for (int i = 0; i < n; ++i)
    for (int k = 0; k <= i; k += kLanes)
      lanes_at(l + i * stride + k) = lanes_at(mass + i * stride + k);
  for (int i = n; i-- > 0;) {
    double* row = l + i * stride;
    const double pivot = row[i];
    if (!(pivot > kLostPivot * mass[i * stride + i])) return {i};
    const double scale = 1.0 / __builtin_sqrt(pivot);
    for (int k = 0; k < i; k += kLanes) lanes_at(row + k) *= scale;
    row[i] = scale;  // 1 / L_ii
    for (int j = pattern.first_inboard[i]; j < pattern.first_inboard[i + 1]; ++j) {
      const int k = pattern.inboard[j];
      double* inner = l + k * stride;
      const double factor = row[k];
      for (int x = 0; x <= k; x += kLanes) lanes_at(inner + x) -= factor * lanes_at(row + x);
    }
  }
  // Rows of Z, Z_i = (e_i − Σ L_ik Z_k) / L_ii, and of its transpose.
  double* const z = inverse;  // borrowed until M⁻¹ is written
  for (int i = 0; i < n * stride; i += kLanes) lanes_at(zt + i) = lanes_at(z + i) = Lanes{};
  for (int i = 0; i < n; ++i) {
    const double* row = l + i * stride;
    double* own = z + i * stride;
    const double scale = row[i];
    const int* inboard = pattern.inboard + pattern.first_inboard[i];
    const int* const end = pattern.inboard + pattern.first_inboard[i + 1];
    for_registers(0, i, [&](auto sums, int x) {
      while (inboard < end && *inboard < x) ++inboard;  // their rows end before
      for (const int* k = inboard; k < end; ++k) sums.add(row[*k], z + *k * stride + x);
      sums.hand_over(
          [&](const Lanes& sum, int offset) { lanes_at(own + x + offset) = -scale * sum; });
    });
    own[i] = scale;
    zt[i * stride + i] = scale;
    for (int j = pattern.first_inboard[i]; j < pattern.first_inboard[i + 1]; ++j)
      zt[pattern.inboard[j] * stride + i] = own[pattern.inboard[j]];
  }
  // Row i of M⁻¹ = Z Zᵀ from the diagonal on; it overwrites row i of Z, which no later row reads.
  for (int i = 0; i < n; ++i) {
    double* out = inverse + i * stride;
    double* row = l + i * stride;
    for (int x = 0; x <= i; x += kLanes) lanes_at(row + x) = lanes_at(out + x);
    for_registers(i & ~(kLanes - 1), n, [&](auto sums, int x) {
      sums.add(row[i], zt + i * stride + x);
      for (int j = pattern.first_inboard[i]; j < pattern.first_inboard[i + 1]; ++j) {
        const int k = pattern.inboard[j];
        sums.add(row[k], zt + k * stride + x);
      }
      sums.hand_over([&](const Lanes& sum, int offset) { lanes_at(out + x + offset) = sum; });
    });
    for (int x = 0; x < i; ++x) out[x] = inverse[i + x * stride];
  }
  return {};
}

// c = −a b for `kRegisters` registers of rows from r on, four columns at a time, over the rows of b
// that are not zero there.
template <int kRegisters>
inline void multiply_rows(const MatrixPattern& pattern, int r, const double* a, const double* b,
                          double* c) {
  struct Column {
    Lanes x{}, y{}, z{};
    void subtract(const Lanes& p, const Lanes& q, const Lanes& s, double f) {
      x -= p * f;
      if constexpr (kRegisters > 1) y -= q * f;
      if constexpr (kRegisters > 2) z -= s * f;
    }
    void store(double* to) const {
      lanes_at(to) = x;
      if constexpr (kRegisters > 1) lanes_at(to + kLanes) = y;
      if constexpr (kRegisters > 2) lanes_at(to + 2 * kLanes) = z;
    }
  };
  const int n = pattern.size;
  const int stride = pattern.stride;
  for (int k = 0, group = 0; k < n; k += kLanes, ++group) {
    // A column beyond the last repeats the last.
    const double* b0 = b + k * stride;
    const double* b1 = b + (k + 1 < n ? k + 1 : n - 1) * stride;
    const double* b2 = b + (k + 2 < n ? k + 2 : n - 1) * stride;
    const double* b3 = b + (k + 3 < n ? k + 3 : n - 1) * stride;
    const int* rows = pattern.group_rows + pattern.first_group_row[group];
    const int count = pattern.first_group_row[group + 1] - pattern.first_group_row[group];
    Column c0, c1, c2, c3;
    for (int i = 0; i < count; ++i) {
      const int j = rows[i];
      const double* from = a + j * stride + r;
      const Lanes x = lanes_at(from);
      const Lanes y = kRegisters > 1 ? lanes_at(from + kLanes) : x;
      const Lanes z = kRegisters > 2 ? lanes_at(from + 2 * kLanes) : x;
      c0.subtract(x, y, z, b0[j]);
      c1.subtract(x, y, z, b1[j]);
      c2.subtract(x, y, z, b2[j]);
      c3.subtract(x, y, z, b3[j]);
    }
    double* to = c + k * stride + r;
    c0.store(to);
    if (k + 1 < n) c1.store(to + stride);
    if (k + 2 < n) c2.store(to + 2 * stride);
    if (k + 3 < n) c3.store(to + 3 * stride);
  }
}

// c = −a b: a few rows of a stay in the first-level cache while all columns of b are read.
inline void multiply_negative(const MatrixPattern& pattern, const double* a, const double* b,
                              double* c) {
  for (int r = 0; r < pattern.size;) {
    const int registers = (pattern.size - r + kLanes - 1) / kLanes;
    if (registers == 1) {
      multiply_rows<1>(pattern, r, a, b, c);
      r += kLanes;
    } else if (registers == 2 || registers == 4) {
      multiply_rows<2>(pattern, r, a, b, c);
      r += 2 * kLanes;
    } else {
      multiply_rows<3>(pattern, r, a, b, c);
      r += 3 * kLanes;
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
