// SPDX-License-Identifier: BSD-3-Clause
// Kinematics of the attachments of flexible bodies at a deformation η, for any scalar: pose,
// columns W of the modes, and bias Ẇ η̇, in the attachment's frame. The sweeps and the closures of
// loops use it. Cost: 12 n² for n modes. [docs/theory/flexible.md]
#pragma once

#include <cstddef>

#include "catena/model/flexible_table.h"
#include "catena/spatial/inertia.h"

namespace catena {
inline namespace CATENA_ISA {

// z := base + matrix x, of so many blocks of n numbers; base or x may be null (zero). Four columns
// are read at a time, so that z is written once for four products.
template <class Scalar>
inline void affine(const double* base, const BlockMatrix& matrix, int blocks, int n,
                   const Scalar* x, Scalar* z) {
  for (int i = 0; i < blocks * n; ++i) z[i] = Scalar(base != nullptr ? base[i] : 0.0);
  if (x == nullptr) return;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(matrix.stored) * n;
  const double* first = matrix.numbers;
  for (int r = 0; r < matrix.run_count; ++r) {
    const int length = matrix.runs[r].count * n;
    Scalar* __restrict const to = z + static_cast<std::ptrdiff_t>(matrix.runs[r].place) * n;
    const double* column = first;
    int j = 0;
    for (; j + 4 <= n; j += 4, column += 4 * stride) {
      const Scalar x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
      const double *const b = column + stride, *const c = b + stride, *const d = c + stride;
      for (int i = 0; i < length; ++i)
        to[i] = to[i] + ((x0 * Scalar(column[i]) + x1 * Scalar(b[i])) +
                         (x2 * Scalar(c[i]) + x3 * Scalar(d[i])));
    }
    for (; j < n; ++j, column += stride) {
      const Scalar factor = x[j];
      for (int i = 0; i < length; ++i) to[i] = to[i] + factor * Scalar(column[i]);
    }
    first += length;
  }
}

// Three numbers of mode k that stand n apart.
template <class Scalar>
inline Vec3<Scalar> vector_of_mode(const Scalar* z, int n, int k) {
  return {z[k], z[n + k], z[2 * n + k]};
}
template <class Scalar>
inline SymMat3<Scalar> matrix_of_mode(const Scalar* z, int n, int k) {
  return {z[k], z[n + k], z[2 * n + k], z[3 * n + k], z[4 * n + k], z[5 * n + k]};
}

// The parts of exp(θ~) that the sweeps need: R = 1 + a θ~ + b θ~², and the tangent T = 1 − b θ~ + c
// θ~² with ω = T θ̇ in the turned axes. Power series in θ·θ, right to rounding for angles up to π:
// elastic rotations are small, and no branch is needed for angles near zero.
template <class Scalar>
struct ExponentialSeries {
  Scalar a, b, c;         // sin t/t, (1 − cos t)/t², (t − sin t)/t³
  Scalar b_rate, c_rate;  // their derivatives by θ·θ, twice: d/dt b = b_rate θ·θ̇

  explicit ExponentialSeries(const Scalar& square) {
    constexpr int kTerms = 13;
    double factorial = 1.0;  // (2k + 1)!
    double a_k[kTerms], b_k[kTerms], c_k[kTerms];
    double sign = 1.0;
    for (int k = 0; k < kTerms; ++k) {
      a_k[k] = sign / factorial;
      b_k[k] = a_k[k] / (2 * k + 2);
      c_k[k] = b_k[k] / (2 * k + 3);
      factorial *= (2.0 * k + 2.0) * (2.0 * k + 3.0);
      sign = -sign;
    }
    a = b = c = b_rate = c_rate = Scalar(0.0);
    for (int k = kTerms; k-- > 0;) {
      a = a * square + Scalar(a_k[k]);
      b = b * square + Scalar(b_k[k]);
      c = c * square + Scalar(c_k[k]);
    }
    for (int k = kTerms; k-- > 1;) {
      b_rate = b_rate * square + Scalar(2.0 * k * b_k[k]);
      c_rate = c_rate * square + Scalar(2.0 * k * c_k[k]);
    }
  }
};

// Pose of an attachment in the frame of the modes' node at η (null: at rest), its columns W, and at
// η̇ (null: at rest) W η̇ and Ẇ η̇, all in the attachment's frame.
template <class Scalar>
struct AttachmentMotion {
  Transform<Scalar> pose;
  Twist<Scalar> twist = Twist<Scalar>::zero();
  Twist<Scalar> bias = Twist<Scalar>::zero();
};

template <class Scalar>
inline AttachmentMotion<Scalar> attachment_motion(const AttachmentTable& t, const Scalar* eta,
                                                  const Scalar* rate, Scalar* shape, Scalar* rates,
                                                  Twist<Scalar>* map) {
  const int n = t.modes;
  affine(t.base, t.matrix, 6, n, eta, shape);
  AttachmentMotion<Scalar> m;
  Rotation<Scalar> rest;
  for (int i = 0; i < 9; ++i) rest.matrix.m[i / 3][i % 3] = Scalar(t.rotation[i]);
  // θ = ½ (Ψ + Ψ(η)) η: the expansion to second order from its value and its derivative.
  Vec3<Scalar> angle = Vec3<Scalar>::zero();
  Vec3<Scalar> place{Scalar(t.position[0]), Scalar(t.position[1]), Scalar(t.position[2])};
  if (eta != nullptr)
    for (int k = 0; k < n; ++k) {
      const Scalar half = Scalar(0.5) * eta[k];
      for (int c = 0; c < 3; ++c) {
        angle[c] = angle[c] + half * (Scalar(t.base[c * n + k]) + shape[c * n + k]);
        place[c] = place[c] + half * (Scalar(t.base[(3 + c) * n + k]) + shape[(3 + c) * n + k]);
      }
    }
  const ExponentialSeries<Scalar> e(dot(angle, angle));
  const Mat3<Scalar> turn = skew(angle), square = turn * turn;
  Rotation<Scalar> elastic = Rotation<Scalar>::identity();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      elastic.matrix.m[i][j] = elastic.matrix.m[i][j] + e.a * turn.m[i][j] + e.b * square.m[i][j];
  m.pose = {rest * elastic, place};
  const auto tangent = [&](const Vec3<Scalar>& u) {
    const Vec3<Scalar> once = cross(angle, u);
    return u - e.b * once + e.c * cross(angle, once);
  };
  for (int k = 0; k < n; ++k)
    map[k] = {tangent(vector_of_mode(shape, n, k)),
              m.pose.rotation.inverse_times(vector_of_mode(shape + 3 * n, n, k))};
  if (rate == nullptr) return m;
  affine<Scalar>(nullptr, t.matrix, 6, n, rate, rates);
  Vec3<Scalar> angle_rate = Vec3<Scalar>::zero(), second_angle = angle_rate;  // θ̇ and η̇ᵀ B_r η̇
  Vec3<Scalar> second_place = angle_rate;                                     // η̇ᵀ B_t η̇
  for (int k = 0; k < n; ++k) {
    m.twist += rate[k] * map[k];
    angle_rate += rate[k] * vector_of_mode(shape, n, k);
    second_angle += rate[k] * vector_of_mode(rates, n, k);
    second_place += rate[k] * vector_of_mode(rates + 3 * n, n, k);
  }
  // Ṫ θ̇ = −ḃ θ × θ̇ + ċ θ × (θ × θ̇) + c θ̇ × (θ × θ̇)
  const Scalar growth = dot(angle, angle_rate);
  const Vec3<Scalar> once = cross(angle, angle_rate);
  m.bias.angular = tangent(second_angle) - (e.b_rate * growth) * once +
                   (e.c_rate * growth) * cross(angle, once) + e.c * cross(angle_rate, once);
  m.bias.linear =
      m.pose.rotation.inverse_times(second_place) - cross(m.twist.angular, m.twist.linear);
  return m;
}

}  // namespace CATENA_ISA
}  // namespace catena
