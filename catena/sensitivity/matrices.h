// The matrices made of columns (columns.h), and the dense algebra of forward derivatives: an
// inverse of the mass matrix that keeps to the zeros of the tree, and a product.
//
// Everything runs over four rows at once (GCC and Clang vectors: one register with AVX2, two with
// SSE2). Columns are padded to a multiple of four with four to spare, so that a group of rows may
// reach over its end; what it spoils there comes later or is padding.
#pragma once

#include "catena/sensitivity/columns.h"

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

// M = Lᵀ L, from the tips inward: row i of L has entries only at the freedoms inboard of i
// (Featherstone's factorization of tree matrices). Then Z = L⁻¹ has the same zeros, and
// M⁻¹ = Z Zᵀ.
inline int invert_mass(const MatrixPattern& pattern, const double* mass, double* work,
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
    if (!(pivot > kLostPivot * mass[i * stride + i])) return i;
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
  for (int i = 0; i < n * stride; i += kLanes) lanes_at(zt + i) = Lanes{};
  for (int i = 0; i < n; ++i) {
    const double* row = l + i * stride;
    double* own = z + i * stride;
    const double scale = row[i];
    for (int x = 0; x <= i; x += kLanes) lanes_at(own + x) = Lanes{};
    for (int j = pattern.first_inboard[i]; j < pattern.first_inboard[i + 1]; ++j) {
      const int k = pattern.inboard[j];
      const double factor = row[k] * scale;
      const double* inner = z + k * stride;
      for (int x = 0; x <= k; x += kLanes) lanes_at(own + x) -= factor * lanes_at(inner + x);
    }
    own[i] = scale;
    zt[i * stride + i] = scale;
    for (int j = pattern.first_inboard[i]; j < pattern.first_inboard[i + 1]; ++j)
      zt[pattern.inboard[j] * stride + i] = own[pattern.inboard[j]];
  }
  // Row i of M⁻¹ = Z Zᵀ from the diagonal on; it overwrites row i of Z, which no later row reads.
  for (int i = 0; i < n; ++i) {
    double* out = inverse + i * stride;
    const int start = i & ~(kLanes - 1);
    double* row = l + i * stride;
    for (int x = 0; x <= i; x += kLanes) lanes_at(row + x) = lanes_at(out + x);
    for (int x = start; x < n; x += kLanes) {
      Lanes sum = row[i] * lanes_at(zt + i * stride + x);
      for (int j = pattern.first_inboard[i]; j < pattern.first_inboard[i + 1]; ++j) {
        const int k = pattern.inboard[j];
        sum += row[k] * lanes_at(zt + k * stride + x);
      }
      lanes_at(out + x) = sum;
    }
    for (int x = 0; x < i; ++x) out[x] = inverse[i + x * stride];
  }
  return kSweepDone;
}

// c = −a b in blocks of eight rows and four columns, over the rows of b that are not zero there.
inline void multiply_negative(const MatrixPattern& pattern, const double* a, const double* b,
                              double* c) {
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
    for (int r = 0; r < n; r += 2 * kLanes) {
      Lanes x0{}, x1{}, x2{}, x3{}, y0{}, y1{}, y2{}, y3{};
      for (int i = 0; i < count; ++i) {
        const int j = rows[i];
        const Lanes x = lanes_at(a + j * stride + r), y = lanes_at(a + j * stride + r + kLanes);
        x0 -= x * b0[j];
        y0 -= y * b0[j];
        x1 -= x * b1[j];
        y1 -= y * b1[j];
        x2 -= x * b2[j];
        y2 -= y * b2[j];
        x3 -= x * b3[j];
        y3 -= y * b3[j];
      }
      const auto store = [&](int column, const Lanes& x, const Lanes& y) {
        if (column >= n) return;
        lanes_at(c + column * stride + r) = x;
        lanes_at(c + column * stride + r + kLanes) = y;
      };
      store(k, x0, y0);
      store(k + 1, x1, y1);
      store(k + 2, x2, y2);
      store(k + 3, x3, y3);
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
