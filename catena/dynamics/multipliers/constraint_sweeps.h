// SPDX-License-Identifier: BSD-3-Clause
// The sweeps that constraints add to forward dynamics (spatial operator algebra [Rodriguez, Jain &
// Kreutz 1989], steps C and E; force propagation of [Lilly & Orin 1989]). With the factors of M⁻¹ =
// (1 − HψK)ᵀ D⁻¹ (1 − HψK) that forward dynamics leaves at the hinges, D = C Cᵀ,
//
//   g = C⁻¹ (1 − HψK) Jᵀ        one sweep inward, on the way from the constraint to the ground only
//   J M⁻¹ Jᵀ = gᵀ g             a sum over the hinges that two constraints have in common
//   M⁻¹ Jᵀ λ = (1 − HψK)ᵀ C⁻ᵀ (g λ)    one sweep outward
//
// so the compliance Υ of the spatial operator algebra is not needed. Columns are lanes: one
// register carries four of them. Everything is in the frames of the nodes. Cost: O(depth) a
// constraint, O(N) the response.
#pragma once

#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/dynamics/multipliers/constraint_table.h"

namespace catena {
inline namespace CATENA_ISA {

// out (+)= Ad*⁻¹ f for every lane.
template <int kLanes>
inline void pass_columns(const Transform<double>& x, const double (&f)[6][kLanes], bool start,
                         double* to) {
  const auto& r = x.rotation.matrix.m;
  const double px = x.translation.x, py = x.translation.y, pz = x.translation.z;
  double out[6][kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const double fx = r[0][0] * f[3][l] + r[0][1] * f[4][l] + r[0][2] * f[5][l];
    const double fy = r[1][0] * f[3][l] + r[1][1] * f[4][l] + r[1][2] * f[5][l];
    const double fz = r[2][0] * f[3][l] + r[2][1] * f[4][l] + r[2][2] * f[5][l];
    out[0][l] = r[0][0] * f[0][l] + r[0][1] * f[1][l] + r[0][2] * f[2][l] + (py * fz - pz * fy);
    out[1][l] = r[1][0] * f[0][l] + r[1][1] * f[1][l] + r[1][2] * f[2][l] + (pz * fx - px * fz);
    out[2][l] = r[2][0] * f[0][l] + r[2][1] * f[1][l] + r[2][2] * f[2][l] + (px * fy - py * fx);
    out[3][l] = fx;
    out[4][l] = fy;
    out[5][l] = fz;
  }
  if (start) {
    for (int i = 0; i < 6; ++i)
      for (int l = 0; l < kLanes; ++l) to[i * kLanes + l] = out[i][l];
  } else {
    for (int i = 0; i < 6; ++i)
      for (int l = 0; l < kLanes; ++l) to[i * kLanes + l] += out[i][l];
  }
}

// An attachment of a flexible body gives its modes the efforts Wᵀ F, which wait in `efforts`.
template <int kLanes>
inline void push_modes(int modes, const Twist<double>* map, const double (&f)[6][kLanes],
                       bool start, double* efforts) {
  for (int k = 0; k < modes; ++k) {
    double* to = efforts + static_cast<std::ptrdiff_t>(k) * kLanes;
    for (int l = 0; l < kLanes; ++l) {
      double sum = start ? 0.0 : to[l];
      for (int i = 0; i < 6; ++i) sum += map[k][i] * f[i][l];
      to[l] = sum;
    }
  }
}

// The modes of a flexible body: y = L⁻¹ ε, of which their frame feels F − Yᵀ y (flexible_node.h).
// `found` has Wᵀ F of the attachments if one was `pushed`.
template <int kLanes>
inline void carry_modes(int modes, const FlexibleScratch<double>& body, bool pushed,
                        const double* effort, double* found, double (&f)[6][kLanes]) {
  for (int k = 0; k < modes; ++k) {
    double* own = found + static_cast<std::ptrdiff_t>(k) * kLanes;
    const double* row = body.factor + static_cast<std::ptrdiff_t>(k) * modes;
    for (int l = 0; l < kLanes; ++l)
      own[l] = (pushed ? own[l] : 0.0) + (effort == nullptr ? 0.0 : effort[k * kLanes + l]);
    for (int j = 0; j < k; ++j)
      for (int l = 0; l < kLanes; ++l) own[l] -= row[j] * found[j * kLanes + l];
    const double inverse = 1.0 / row[k];
    for (int l = 0; l < kLanes; ++l) own[l] *= inverse;
    for (int i = 0; i < 6; ++i)
      for (int l = 0; l < kLanes; ++l) f[i][l] -= body.reduced[k][i] * own[l];
  }
}

// ε = e + Hᵀ F,  F_parent += Ad*⁻¹ (F − U D⁻¹ ε), for the columns F (applied wrenches) and e
// (efforts) of a constraint.
template <int kLanes>
void carry_columns(const SweepModel& model, const Scratch<double>& s, const ConstraintColumns& t) {
  using std::sqrt;
  for (int e = 0; e < t.entries; ++e) {
    const int n = t.node[e];
    const Node& node = model.nodes[n];
    const NodeScratch<double>& w = s.nodes[n];
    double f[6][kLanes];
    const double* from = t.force + static_cast<std::ptrdiff_t>(e) * 6 * kLanes;
    const bool nothing = (t.flags[e] & kNothingYet) != 0;
    for (int i = 0; i < 6; ++i)
      for (int l = 0; l < kLanes; ++l) f[i][l] = nothing ? 0.0 : from[i * kLanes + l];
    double* found = t.found + static_cast<std::ptrdiff_t>(t.slot[e]) * kLanes;
    const double* effort =
        t.effort == nullptr ? nullptr : t.effort + static_cast<std::ptrdiff_t>(t.slot[e]) * kLanes;
    const int parent = t.parent[e];
    double* to = parent < 0 ? nullptr : t.force + static_cast<std::ptrdiff_t>(parent) * 6 * kLanes;
    const bool start = (t.flags[e] & kStartsParent) != 0;
    if (node.flexible >= 0) {
      if (node.hinge == NodeHinge::modes)
        carry_modes<kLanes>(node.freedoms, s.flexible[node.flexible],
                            (t.flags[e] & kFirstAtModes) != 0, effort, found, f);
      else
        push_modes<kLanes>(model.nodes[node.parent].freedoms, s.attachments[node.flexible].map, f,
                           (t.flags[e] & kFirstAtModes) != 0,
                           t.found + static_cast<std::ptrdiff_t>(t.slot[parent]) * kLanes);
      if (to != nullptr) pass_columns<kLanes>(w.to_parent, f, start, to);
      continue;
    }
    if (model.general_index[n] < 0) {
      const bool turns = node.hinge == NodeHinge::revolute;
      const int r = turns ? 2 : 5;
      const double inverse = w.inverse_hinge_inertia;
      const double root = sqrt(inverse);
      double x[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const double epsilon = effort == nullptr ? f[r][l] : f[r][l] + effort[l];
        found[l] = root * epsilon;
        x[l] = inverse * epsilon;
      }
      if (to == nullptr) continue;
      for (int i = 0; i < 6; ++i) {
        const double gain = w.gain[i];
        for (int l = 0; l < kLanes; ++l) f[i][l] -= gain * x[l];
      }
      pass_columns<kLanes>(w.to_parent, f, start, to);
      continue;
    }
    const GeneralScratch<double>& g = s.general[model.general_index[n]];
    double x[kMaxFreedoms][kLanes];
    for (int k = 0; k < node.freedoms; ++k) {
      for (int l = 0; l < kLanes; ++l) x[k][l] = effort == nullptr ? 0.0 : effort[k * kLanes + l];
      for (int i = 0; i < 6; ++i) {
        const double h = g.map[k][i];
        for (int l = 0; l < kLanes; ++l) x[k][l] += h * f[i][l];
      }
    }
    for (int k = 0; k < node.freedoms; ++k) {  // C⁻¹
      for (int j = 0; j < k; ++j)
        for (int l = 0; l < kLanes; ++l) x[k][l] -= g.factor[k][j] * x[j][l];
      const double inverse = 1.0 / g.factor[k][k];
      for (int l = 0; l < kLanes; ++l) found[k * kLanes + l] = x[k][l] = inverse * x[k][l];
    }
    if (to == nullptr) continue;
    for (int k = node.freedoms; k-- > 0;) {  // C⁻ᵀ
      for (int j = k + 1; j < node.freedoms; ++j)
        for (int l = 0; l < kLanes; ++l) x[k][l] -= g.factor[j][k] * x[j][l];
      const double inverse = 1.0 / g.factor[k][k];
      for (int l = 0; l < kLanes; ++l) x[k][l] *= inverse;
    }
    pass_columns<kLanes>(w.to_parent, f, start, to);
    for (int k = 0; k < node.freedoms; ++k)
      for (int i = 0; i < 6; ++i) {
        const double gain = g.parent_gain[k][i];
        for (int l = 0; l < kLanes; ++l) to[i * kLanes + l] -= gain * x[k][l];
      }
  }
}

template <int kLanesA, int kLanesB>
void meet_columns(const double* a, const double* b, int count, const int* slots_a,
                  const int* slots_b, double* block) {
  double sum[kLanesA][kLanesB];
  for (int i = 0; i < kLanesA; ++i)
    for (int j = 0; j < kLanesB; ++j) sum[i][j] = 0.0;
  for (int k = 0; k < count; ++k) {
    const double* x = a + static_cast<std::ptrdiff_t>(slots_a[k]) * kLanesA;
    const double* y = b + static_cast<std::ptrdiff_t>(slots_b[k]) * kLanesB;
    for (int i = 0; i < kLanesA; ++i)
      for (int j = 0; j < kLanesB; ++j) sum[i][j] += x[i] * y[j];
  }
  for (int i = 0; i < kLanesA; ++i)
    for (int j = 0; j < kLanesB; ++j) block[i * kLanesB + j] += sum[i][j];
}

// η̈ = L⁻ᵀ (y − Y a) of the modes of a flexible body, and a += W η̈ of an attachment.
inline void respond_flexible(const SweepModel& model, const Scratch<double>& s, int n,
                             const double* innovation, double* change, Twist<double>& a) {
  const Node& node = model.nodes[n];
  double* own = change + node.v_index;
  if (node.hinge == NodeHinge::modes) {
    const FlexibleScratch<double>& body = s.flexible[node.flexible];
    for (int k = 0; k < node.freedoms; ++k)
      own[k] = innovation[node.v_index + k] - dot(body.reduced[k], a);
    solve_upper(Rows<double>{body.factor, node.freedoms}, node.freedoms, own);
    return;
  }
  const Twist<double>* map = s.attachments[node.flexible].map;
  for (int k = 0; k < model.nodes[node.parent].freedoms; ++k) a += own[k] * map[k];
}

// v̇ = C⁻ᵀ (y − C⁻¹ gainᵀ a⁺),  a = a⁺ + H v̇,  a⁺ = Ad⁻¹ a_parent; nothing else acts.
inline void respond_outward(const SweepModel& model, const Scratch<double>& s, int count,
                            const int* nodes, const double* innovation, double* change,
                            double* node_change) {
  using std::sqrt;
  // The sweep waits for results more than it computes: the last node stays in registers, and gains
  // are taken to the parent's frame, which does not wait for it.
  int last = -1;
  Twist<double> last_twist = Twist<double>::zero();
  for (int k = 0; k < count; ++k) {
    const int n = nodes[k];
    const Node& node = model.nodes[n];
    const NodeScratch<double>& w = s.nodes[n];
    Twist<double> parent = last_twist;
    if (node.parent != last) {
      const double* p = node_change + static_cast<std::ptrdiff_t>(node.parent) * 6;
      parent = node.parent < 0 ? Twist<double>::zero()
                               : Twist<double>{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}};
    }
    Twist<double> a = Ad_inverse(w.to_parent, parent);
    if (node.flexible >= 0) {
      respond_flexible(model, s, n, innovation, change, a);
    } else if (model.general_index[n] < 0) {
      const double inverse = w.inverse_hinge_inertia;
      const Wrench<double> gain = inverse * Ad_star_inverse(w.to_parent, w.gain);
      const double own = sqrt(inverse) * innovation[node.v_index] - dot(gain, parent);
      change[node.v_index] = own;
      (node.hinge == NodeHinge::revolute ? a.angular.z : a.linear.z) += own;
    } else {
      const GeneralScratch<double>& g = s.general[model.general_index[n]];
      double own[kMaxFreedoms];
      for (int i = 0; i < node.freedoms; ++i)
        own[i] = node.parent < 0 ? 0.0 : -dot(g.parent_gain[i], parent);
      solve_lower(g.factor, node.freedoms, own);
      for (int i = 0; i < node.freedoms; ++i) own[i] += innovation[node.v_index + i];
      solve_upper(g.factor, node.freedoms, own);
      for (int i = 0; i < node.freedoms; ++i) {
        change[node.v_index + i] = own[i];
        a += own[i] * g.map[i];
      }
    }
    last = n;
    last_twist = a;
    double* to = node_change + static_cast<std::ptrdiff_t>(n) * 6;
    for (int i = 0; i < 3; ++i) {
      to[i] = a.angular[i];
      to[3 + i] = a.linear[i];
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
