// SPDX-License-Identifier: BSD-3-Clause
// Kinds of node: the modes of a flexible body, and its attachments.
//
// The frame of a flexible body is a node that any hinge moves. The modes hang on it without
// relative motion, and the attachments on the modes. With T = [Ad⁻¹ W], W the columns of an
// attachment:
//
//   outward   V_a = Ad⁻¹ V + W η̇,   c_a = ad(Ad⁻¹ V, W η̇) + Ẇ η̇
//             b_r = (dM̄/dt V̄)_r − ad*(V, p_r),   b_e = (dM̄/dt V̄)_e − ½ V̄ᵀ (∂M̄/∂η) V̄ + K η + D η̇
//   inward    P_full = M̄ + Σ Tᵀ P_a T,   z_full = b + Σ Tᵀ (z_a + P_a c_a)
//             (P_full)_ee = L Lᵀ,   Y = L⁻¹ (P_full)_er,   y = L⁻¹ (Q − (z_full)_e)
//             P = (P_full)_rr − Yᵀ Y,   z = (z_full)_r + Yᵀ y
//   outward   η̈ = L⁻ᵀ (y − Y a),   a_a = Ad⁻¹ a + W η̈ + c_a
//
// The node of the modes has the rigid inertia of the body at rest, which the loops of sweeps.h
// treat as any rigid body's; here is what deformation adds. The ruthless model does all this at η =
// η̇ = 0 and adds K η + D η̇. Cost: 21 n² for M̄ and b, 12 n² for each attachment, n³/6 for L.
// [docs/theory/flexible.md; Padilla & von Flotow 1989; Banerjee & Lemak 1991]
#pragma once

#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/kernels/flexible_completed.h"
#include "catena/dynamics/kernels/flexible_motion.h"
#include "catena/dynamics/kernels/shift.h"
#include "catena/dynamics/kernels/sweep.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
inline namespace CATENA_ISA {

// V from the parent's and the relative twist in w.twist; the bias ad(Ad⁻¹ V_parent, relative)
// added.
template <class S>
inline void carry_twist(const S& s, int n) {
  using Scalar = typename S::Scalar;
  const Node& node = s.node(n);
  if (node.parent < 0) return;
  NodeScratch<Scalar>& w = s.at(n);
  const Twist<Scalar> relative = w.twist;
  const Twist<Scalar> carried = Ad_inverse(w.to_parent, s.at(node.parent).twist);
  w.twist += carried;
  w.bias += ad(carried, relative);
}

// As factor() of cholesky.h, column after column: the inner loop waits for nothing, and is
// vectorized. `work` has room for two columns.
template <class Scalar>
inline bool factor_by_columns(const Rows<Scalar>& d, int size, Scalar* work) {
  using std::sqrt;
  Scalar* const column = work;
  Scalar* const lost = work + size;
  for (int i = 0; i < size; ++i) lost[i] = Scalar(kLostPivot) * d[i][i];
  for (int k = 0; k < size; ++k) {
    if (!all_positive(d[k][k] - lost[k])) return false;
    d[k][k] = sqrt(d[k][k]);
    const Scalar inverse = Scalar(1.0) / d[k][k];
    for (int i = k + 1; i < size; ++i) column[i] = d[i][k] = d[i][k] * inverse;
    for (int i = k + 1; i < size; ++i) {
      Scalar* const row = d[i];
      const Scalar by = column[i];
      for (int j = k + 1; j <= i; ++j) row[j] = row[j] - by * column[j];
    }
  }
  return true;
}

struct ModesNode {
  template <class S>
  static void place(const S& s, int n) {
    using Scalar = typename S::Scalar;
    NodeScratch<Scalar>& w = s.at(n);
    w.to_parent = load_placement<Scalar>(s.node(n));
    w.twist = Twist<Scalar>::zero();
    w.bias = Twist<Scalar>::zero();
    if (s.in.deformed) show(s, n);
  }

  template <class S>
  static void turn(const S& s, int n) {
    carry_twist(s, n);
  }

  template <class S>
  [[gnu::noinline]] static void move(const S& s, int n) {
    place(s, n);
    turn(s, n);
    deform(s, n);
  }

  template <class S>
  [[gnu::noinline]] static bool eliminate(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const int modes = node.freedoms;
    NodeScratch<Scalar>& w = s.at(n);
    FlexibleScratch<Scalar>& f = s.scratch.flexible[node.flexible];
    w.force += f.bias;
    w.articulated = w.articulated + ArticulatedInertia<Scalar>::from(f.change);
    add_given(s, node, w, f);
    const Rows<Scalar> l{f.factor, modes};
    for (int i = 0; i < f.free_count; ++i) {
      const int k = f.free[i];
      for (int j = 0; j <= i; ++j) l[i][j] = f.mass[k * modes + f.free[j]];
      f.innovation[i] = s.applied(node.v_index + k) - f.force[k];
      f.reduced[i] = f.coupling[k];
    }
    if (!factor_by_columns(l, f.free_count, f.shape)) return false;
    solve_lower(l, f.free_count, f.innovation);
    solve_lower(l, f.free_count, f.reduced);
    for (int i = 0; i < f.free_count; ++i) {
      w.force += f.innovation[i] * f.reduced[i];
      w.articulated -= outer(f.reduced[i], Scalar(1.0));
    }
    if (node.parent < 0) return true;
    s.at(node.parent).force += Ad_star_inverse(w.to_parent, w.force);
    receive(s, n, node.parent, shift_to_parent(w.to_parent, w.articulated));
    return true;
  }

  template <class S>
  [[gnu::noinline]] static void accelerate(const S& s, int n, const Twist<typename S::Scalar>&) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const NodeScratch<Scalar>& w = s.at(n);
    FlexibleScratch<Scalar>& f = s.scratch.flexible[node.flexible];
    for (int i = 0; i < f.free_count; ++i)
      f.innovation[i] = f.innovation[i] - dot(f.reduced[i], w.acceleration);
    solve_upper(Rows<Scalar>{f.factor, node.freedoms}, f.free_count, f.innovation);
    for (int i = 0; i < f.free_count; ++i)
      s.acceleration[node.v_index + f.free[i]] = f.innovation[i];
    if constexpr (S::kHybrid) find_efforts(s, node, w, f);
  }

  // Inverse dynamics: the accelerations of modes move nothing at the node itself.
  template <class S>
  static void drive(const S&, int, const typename S::Scalar*) {}

  template <class S>
  [[gnu::noinline]] static void project(const S& s, int n, const typename S::Scalar* acceleration) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const int modes = node.freedoms;
    NodeScratch<Scalar>& w = s.at(n);
    const FlexibleScratch<Scalar>& f = s.scratch.flexible[node.flexible];
    w.force += f.bias + f.change * w.acceleration;
    for (int k = 0; k < modes; ++k) {
      Scalar sum = f.force[k] + dot(f.coupling[k], w.acceleration);
      if (acceleration != nullptr) {
        for (int j = 0; j < modes; ++j)
          sum =
              sum + f.mass[j <= k ? k * modes + j : j * modes + k] * acceleration[node.v_index + j];
        w.force += acceleration[node.v_index + k] * f.coupling[k];
      }
      s.effort[node.v_index + k] = sum;
    }
  }

  // M̄(η) and b: what the inward sweep starts from.
  template <class S>
  static void deform(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const FlexibleTable& t = *s.model.flexible[node.flexible];
    const int modes = t.modes;
    FlexibleScratch<Scalar>& f = s.scratch.flexible[node.flexible];
    const Twist<Scalar>& v = s.at(n).twist;
    const Scalar* const eta = s.in.q + node.q_index;
    const Scalar* const rate = s.in.v + node.v_index;
    deform_body(t, t.ruthless ? nullptr : eta, f);
    const Scalar* const j_k = f.shape + 3 * modes;
    f.bias = Wrench<Scalar>::zero();

    // K η + D η̇, then the gyroscopic and centrifugal forces on the modes.
    affine(nullptr, t.stiffness, 1, modes, eta, f.force);
    if (t.damping.stored > 0) {
      affine(nullptr, t.damping, 1, modes, rate, f.rates);
      for (int k = 0; k < modes; ++k) f.force[k] = f.force[k] + f.rates[k];
    }
    const Vec3<Scalar>& turn = v.angular;
    const Vec3<Scalar> sideways = cross(v.linear, turn);  // ω·(h × v) = h·(v × ω)
    for (int k = 0; k < modes; ++k) {
      f.force[k] = f.force[k] - dot(f.coupling[k].force, sideways) -
                   Scalar(0.5) * dot(turn, matrix_of_mode(j_k, modes, k) * turn);
    }
    start_modal_mass(t, f);
    if (t.ruthless) return;

    affine<Scalar>(nullptr, t.rates, 9, modes, rate, f.rates);
    const Scalar *const h2 = f.rates, *const c1 = h2 + 3 * modes, *const c1_t = c1 + 3 * modes;
    SymMat3<Scalar> inertia_rate = SymMat3<Scalar>::zero();
    Vec3<Scalar> moment_rate = Vec3<Scalar>::zero();
    Wrench<Scalar> p = f.change * v;  // momentum beyond that of the body at rest
    for (int k = 0; k < modes; ++k) {
      const Vec3<Scalar> c1_k = vector_of_mode(c1, modes, k);
      f.force[k] = f.force[k] + dot(turn, c1_k - vector_of_mode(c1_t, modes, k));
      inertia_rate += rate[k] * matrix_of_mode(j_k, modes, k);
      moment_rate += rate[k] * f.coupling[k].force;
      p += rate[k] * f.coupling[k];
      f.bias += rate[k] * Wrench<Scalar>{c1_k, vector_of_mode(h2, modes, k)};
    }
    f.bias.moment += inertia_rate * turn + cross(moment_rate, v.linear);
    f.bias.force -= cross(moment_rate, turn);
    f.bias -= ad_star(v, p);
    if (t.completion == nullptr) return;
    complete_shape(t, eta, f);
    complete_forces(t, v, rate, f);
    complete_inertia(t, f);
  }

 private:
  // Kinematics: M̄(η) and the momentum of the modes, for those who sum over bodies.
  template <class S>
  static void show(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const FlexibleTable& t = *s.model.flexible[node.flexible];
    FlexibleScratch<Scalar>& f = s.scratch.flexible[node.flexible];
    deform_body(t, t.ruthless ? nullptr : s.in.q + node.q_index, f);
    start_modal_mass(t, f);
    if (t.completion != nullptr) {
      complete_shape(t, s.in.q + node.q_index, f);
      complete_inertia(t, f);
    }
    f.momentum = Wrench<Scalar>::zero();
    if (s.in.v == nullptr) return;
    for (int k = 0; k < t.modes; ++k) f.momentum += s.in.v[node.v_index + k] * f.coupling[k];
  }

  // Tells force-driven from motion-driven modes; the latter's accelerations join the forces.
  template <class S>
  static void add_given(const S& s, const Node& node, NodeScratch<typename S::Scalar>& w,
                        FlexibleScratch<typename S::Scalar>& f) {
    using Scalar = typename S::Scalar;
    const int modes = node.freedoms;
    f.free_count = 0;
    for (int k = 0; k < modes; ++k) {
      if (!s.is_driven(node.v_index + k)) {
        f.free[f.free_count++] = k;
        continue;
      }
      const Scalar a = s.in.acceleration[node.v_index + k];
      w.force += a * f.coupling[k];
      for (int i = 0; i < modes; ++i)
        f.force[i] = f.force[i] + a * f.mass[i >= k ? i * modes + k : k * modes + i];
    }
  }

  // Of motion-driven modes.
  template <class S>
  static void find_efforts(const S& s, const Node& node, const NodeScratch<typename S::Scalar>& w,
                           const FlexibleScratch<typename S::Scalar>& f) {
    using Scalar = typename S::Scalar;
    const int modes = node.freedoms;
    for (int k = 0; k < modes; ++k) {
      const int i = node.v_index + k;
      if (!s.is_driven(i)) {
        s.effort[i] = s.applied(i);
        continue;
      }
      s.acceleration[i] = s.in.acceleration[i];
      Scalar sum = f.force[k] + dot(f.coupling[k], w.acceleration);
      for (int j = 0; j < f.free_count; ++j) {
        const int m = f.free[j];
        sum = sum + f.mass[k >= m ? k * modes + m : m * modes + k] * f.innovation[j];
      }
      s.effort[i] = sum;
    }
  }
};

struct AttachmentNode {
  template <class S>
  [[gnu::noinline]] static void place(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const AttachmentTable& t = *s.model.attachments[node.flexible];
    const AttachmentScratch<Scalar>& a = s.scratch.attachments[node.flexible];
    NodeScratch<Scalar>& w = s.at(n);
    const bool seen = !t.ruthless || s.in.deformed;
    const AttachmentMotion<Scalar> m = attachment_motion<Scalar>(
        t, seen ? s.in.q + node.q_index : nullptr,
        seen && s.in.v != nullptr ? s.in.v + node.v_index : nullptr, a.shape, a.rates, a.map);
    w.to_parent = load_placement<Scalar>(node) * m.pose;
    w.twist = m.twist;
    w.bias = m.bias;
  }

  template <class S>
  static void turn(const S& s, int n) {
    carry_twist(s, n);
  }

  template <class S>
  static void move(const S& s, int n) {
    place(s, n);
    turn(s, n);
  }

  template <class S>
  [[gnu::noinline]] static bool eliminate(const S& s, int n) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const Node& body = s.node(node.parent);
    const int modes = body.freedoms;
    const NodeScratch<Scalar>& w = s.at(n);
    const Twist<Scalar>* const map = s.scratch.attachments[node.flexible].map;
    FlexibleScratch<Scalar>& f = s.scratch.flexible[body.flexible];
    const Wrench<Scalar> force = w.force + w.articulated * w.bias;
    for (int k = 0; k < modes; ++k) {
      const Wrench<Scalar> column = w.articulated * map[k];
      f.coupling[k] += Ad_star_inverse(w.to_parent, column);
      f.force[k] = f.force[k] + dot(force, map[k]);
      for (int j = 0; j <= k; ++j)
        f.mass[k * modes + j] = f.mass[k * modes + j] + dot(column, map[j]);
    }
    s.at(node.parent).force += Ad_star_inverse(w.to_parent, force);
    receive(s, n, node.parent, shift_to_parent(w.to_parent, w.articulated));
    return true;
  }

  template <class S>
  static void accelerate(const S& s, int n, const Twist<typename S::Scalar>&) {
    drive(s, n, s.acceleration);
  }

  template <class S>
  static void drive(const S& s, int n, const typename S::Scalar* acceleration) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const Twist<Scalar>* const map = s.scratch.attachments[node.flexible].map;
    const int modes = s.node(node.parent).freedoms;
    for (int k = 0; k < modes; ++k) s.at(n).acceleration += acceleration[node.v_index + k] * map[k];
  }

  template <class S>
  static void project(const S& s, int n, const typename S::Scalar*) {
    using Scalar = typename S::Scalar;
    const Node& node = s.node(n);
    const Node& body = s.node(node.parent);
    const Twist<Scalar>* const map = s.scratch.attachments[node.flexible].map;
    FlexibleScratch<Scalar>& f = s.scratch.flexible[body.flexible];
    for (int k = 0; k < body.freedoms; ++k) f.force[k] = f.force[k] + dot(s.at(n).force, map[k]);
  }
};

}  // namespace CATENA_ISA
}  // namespace catena
