// SPDX-License-Identifier: BSD-3-Clause
// The completed inertia of a flexible body in the sweeps, for any scalar: what its points and
// turning rows add to M̄(η) and b of flexible_node.h, which has the constants of the remainder
// (model/flexible/flexible_completion.h).
//
//   point   u = s v + ω × p + ṗ,      D = dp/dη:   M̄ += [p~ D; s D; DᵀD],  b += [p~; s; Dᵀ] α
//           α = ω × ṗ + η̇ᵀ p2 η̇ + ω × u
//   row     π = a · ω + c · η̇,  π̇ = ȧ · ω + ċ · η̇:   b_r += a π̇ + ȧ π + ω × a π
//           b_e += c π̇ + (ċ − ∂(a · ω + c · η̇)/∂η) π
//
// less what the rigid body at rest has of both, which its node does.
#pragma once

#include "catena/dynamics/kernels/flexible_scratch.h"
#include "catena/model/attachment_motion.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar>
inline Vec3<Scalar> lifted_vec3(const double* x) {
  return {Scalar(x[0]), Scalar(x[1]), Scalar(x[2])};
}

// The lower triangle of M_e.
template <class Scalar>
inline void start_modal_mass(const FlexibleTable& t, FlexibleScratch<Scalar>& f) {
  for (int k = 0; k < t.modes; ++k)
    for (int j = 0; j <= k; ++j) f.mass[k * t.modes + j] = Scalar(t.modal_mass[j * t.modes + k]);
}

// Three numbers at η from their rest, their derivatives there (`base`) and at η (`z`).
template <class Scalar>
inline Vec3<Scalar> at_deformation(const double* rest, const double* base, const Scalar* z, int n,
                                   const Scalar* eta) {
  Vec3<Scalar> x = lifted_vec3<Scalar>(rest);
  for (int c = 0; c < 3; ++c)
    for (int k = 0; k < n; ++k)
      x[c] = x[c] + Scalar(0.5) * eta[k] * (Scalar(base[c * n + k]) + z[c * n + k]);
  return x;
}

// Points p, rows a and their blocks at η.
template <class Scalar>
inline void complete_shape(const FlexibleTable& t, const Scalar* eta, FlexibleScratch<Scalar>& f) {
  const CompletionTable& c = *t.completion;
  const int n = t.modes;
  affine(c.base, c.matrix, c.blocks(), n, eta, f.completed);
  for (int i = 0; i < c.points; ++i)
    f.places[i] =
        at_deformation(c.position + 3 * i, c.base + 3 * i * n, f.completed + 3 * i * n, n, eta);
  for (int i = 0; i < c.rows; ++i) {
    const int block = 3 * c.points + 4 * i;
    f.places[c.points + i] =
        at_deformation(c.turn + 3 * i, c.base + block * n, f.completed + block * n, n, eta);
  }
}

// |p|² 1 − p pᵀ.
template <class Scalar>
inline SymMat3<Scalar> inertia_of_point(const Vec3<Scalar>& p) {
  const Scalar xx = p.x * p.x, yy = p.y * p.y, zz = p.z * p.z;
  return {yy + zz, -(p.x * p.y), -(p.x * p.z), xx + zz, -(p.y * p.z), xx + yy};
}
template <class Scalar>
inline SymMat3<Scalar> square_of(const Vec3<Scalar>& a) {
  return {a.x * a.x, a.x * a.y, a.x * a.z, a.y * a.y, a.y * a.z, a.z * a.z};
}

// M̄(η), after complete_shape(); couplings and modal mass have those of the remainder.
template <class Scalar>
inline void complete_inertia(const FlexibleTable& t, FlexibleScratch<Scalar>& f) {
  const CompletionTable& c = *t.completion;
  const int n = t.modes;
  const auto add_square = [&](const Scalar* row) {
    for (int k = 0; k < n; ++k)
      for (int j = 0; j <= k; ++j) f.mass[k * n + j] = f.mass[k * n + j] + row[k] * row[j];
  };
  for (int i = 0; i < c.points; ++i) {
    const Vec3<Scalar>& p = f.places[i];
    const Vec3<Scalar> rest = lifted_vec3<Scalar>(c.position + 3 * i);
    const Scalar scale(c.scale[i]);
    const Scalar* const d = f.completed + 3 * i * n;
    f.change.inertia += inertia_of_point(p) - inertia_of_point(rest);
    f.change.mass_moment += scale * (p - rest);
    for (int k = 0; k < n; ++k) {
      const Vec3<Scalar> d_k = vector_of_mode(d, n, k);
      f.coupling[k] += Wrench<Scalar>{cross(p, d_k), scale * d_k};
    }
    for (int r = 0; r < 3; ++r) add_square(d + r * n);
  }
  for (int i = 0; i < c.rows; ++i) {
    const Vec3<Scalar>& a = f.places[c.points + i];
    const Scalar* const slope = f.completed + (3 * c.points + 4 * i + 3) * n;
    f.change.inertia += square_of(a) - square_of(lifted_vec3<Scalar>(c.turn + 3 * i));
    for (int k = 0; k < n; ++k) f.coupling[k].moment += slope[k] * a;
    add_square(slope);
  }
}

// b, after complete_shape().
template <class Scalar>
inline void complete_forces(const FlexibleTable& t, const Twist<Scalar>& v, const Scalar* rate,
                            FlexibleScratch<Scalar>& f) {
  const CompletionTable& c = *t.completion;
  const int n = t.modes;
  const Vec3<Scalar>& turn = v.angular;
  Scalar* const rates = f.completed + c.blocks() * n;
  affine<Scalar>(nullptr, c.rates, c.rate_blocks(), n, rate, rates);
  for (int i = 0; i < c.points; ++i) {
    const Scalar *const d = f.completed + 3 * i * n, *const second = rates + 3 * i * n;
    const Vec3<Scalar>& p = f.places[i];
    const Vec3<Scalar> rest = lifted_vec3<Scalar>(c.position + 3 * i);
    const Scalar scale(c.scale[i]);
    Vec3<Scalar> p_rate = Vec3<Scalar>::zero(), own = p_rate;  // ṗ and η̇ᵀ p2 η̇
    for (int k = 0; k < n; ++k) {
      p_rate += rate[k] * vector_of_mode(d, n, k);
      own += rate[k] * vector_of_mode(second, n, k);
    }
    const Vec3<Scalar> still = scale * v.linear;
    const Vec3<Scalar> at_rest = cross(turn, still + cross(turn, rest));
    const Vec3<Scalar> alpha =
        cross(turn, p_rate) + own + cross(turn, still + cross(turn, p) + p_rate);
    f.bias += Wrench<Scalar>{cross(p, alpha) - cross(rest, at_rest), scale * (alpha - at_rest)};
    for (int k = 0; k < n; ++k) f.force[k] = f.force[k] + dot(vector_of_mode(d, n, k), alpha);
  }
  for (int i = 0; i < c.rows; ++i) {
    const Scalar* const d = f.completed + (3 * c.points + 4 * i) * n;
    const Scalar* const slope = d + 3 * n;
    const Scalar* const slope_rate = rates + (3 * c.points + 2 * i) * n;  // C η̇
    const Scalar* const by_shape = slope_rate + n;                        // Cᵀ η̇
    const Vec3<Scalar>& a = f.places[c.points + i];
    const Vec3<Scalar> rest = lifted_vec3<Scalar>(c.turn + 3 * i);
    Vec3<Scalar> a_rate = Vec3<Scalar>::zero();
    Scalar momentum = dot(a, turn), own(0.0);
    for (int k = 0; k < n; ++k) {
      a_rate += rate[k] * vector_of_mode(d, n, k);
      momentum = momentum + rate[k] * slope[k];
      own = own + rate[k] * slope_rate[k];
    }
    const Scalar momentum_rate = dot(a_rate, turn) + own;
    f.bias.moment +=
        momentum_rate * a + momentum * a_rate + cross(turn, momentum * a - dot(rest, turn) * rest);
    for (int k = 0; k < n; ++k)
      f.force[k] = f.force[k] + slope[k] * momentum_rate +
                   (slope_rate[k] - by_shape[k] - dot(vector_of_mode(d, n, k), turn)) * momentum;
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
