// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/hinge_force.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/kernels/hinge_block.h"

namespace catena {

HingeMatrix hinge_map(const Workspace& w, int n) {
  if (w.mechanism().nodes()[index(n)].flexible >= 0) return HingeMatrix(6, 0);
  const HingeBlock hinge(w, n);
  HingeMatrix h(6, hinge.freedoms());
  for (int k = 0; k < hinge.freedoms(); ++k) h.col(k) = to_eigen(hinge.column(k));
  return h;
}

HingeMatrix hinge_complement(const HingeMatrix& free_map) {
  const Eigen::Index freedoms = free_map.cols();
  // Gram-Schmidt, twice for each column so that it holds to rounding.
  HingeMatrix basis(6, 6);
  Eigen::Index count = 0;
  const auto orthogonalize = [&](Vector6d x) {
    for (int pass = 0; pass < 2; ++pass)
      for (Eigen::Index k = 0; k < count; ++k) x -= basis.col(k).dot(x) * basis.col(k);
    return x;
  };
  for (Eigen::Index k = 0; k < freedoms; ++k) {
    basis.col(count) = orthogonalize(free_map.col(k)).normalized();
    ++count;
  }
  int chosen[6] = {};
  bool used[6] = {};
  // How much closer another direction must come to be taken before an earlier one.
  constexpr double kClearly = 1e-9;
  while (count < 6) {
    int best = -1;
    double farthest = 0.0;
    for (int i = 0; i < 6; ++i) {
      if (used[i]) continue;
      const double length = orthogonalize(Vector6d::Unit(i)).norm();
      if (length > farthest + kClearly) {
        farthest = length;
        best = i;
      }
    }
    used[best] = true;
    chosen[count] = best;
    basis.col(count) = orthogonalize(Vector6d::Unit(best)).normalized();
    ++count;
  }
  // In the order of the unit directions.
  HingeMatrix q(6, 6 - freedoms);
  Eigen::Index column = 0;
  for (int i = 0; i < 6; ++i)
    for (Eigen::Index k = freedoms; k < 6; ++k)
      if (chosen[k] == i) q.col(column++) = basis.col(k);
  return q;
}

HingeForce split_force(const Wrenchd& wrench, const HingeMatrix& free_map) {
  HingeForce f;
  f.wrench = wrench;
  f.free_map = free_map;
  f.constraint_map = hinge_complement(free_map);
  const Vector6d x = to_eigen(wrench);
  f.effort = free_map.transpose() * x;
  const HingeSquare metric = free_map.transpose() * free_map;
  f.free_force = f.effort;
  if (free_map.cols() > 0) SmallCholesky(metric).solve_in_place(f.free_force);
  f.constraint_force = f.constraint_map.transpose() * x;
  return f;
}

Wrenchd interbody_force_after_forward(const Workspace& w, int n) {
  return w.node(n).articulated * w.node(n).acceleration + w.node(n).force;
}

ArmstrongForm armstrong_form(const Workspace& w, int n) {
  return armstrong_form(w, n, hinge_complement(hinge_map(w, n)));
}

ArmstrongForm armstrong_form(const Workspace& w, int n, const HingeMatrix& constraint_map) {
  ArmstrongForm form;
  form.free_map = hinge_map(w, n);
  form.constraint_map = constraint_map;
  const HingeMatrix& h = form.free_map;
  const HingeMatrix& q = form.constraint_map;
  const Matrix6d p = to_eigen(w.node(n).articulated);
  const Vector6d z = to_eigen(w.node(n).force);
  const HingeMatrix ph = p * h, pq = p * q;
  const HingeSquare d = h.transpose() * ph;
  const SmallCholesky factor(d);
  const HingeSquare coupling = h.transpose() * pq;  // P_PQ
  const Vector6d f = to_eigen(interbody_force_after_forward(w, n));
  const HingeVector innovation = h.transpose() * (f - z);
  HingeSquare by_coupling = coupling;
  HingeVector by_innovation = innovation;
  factor.solve_in_place(by_coupling);
  factor.solve_in_place(by_innovation);
  form.inertia = q.transpose() * pq - coupling.transpose() * by_coupling;
  form.residual = q.transpose() * z + coupling.transpose() * by_innovation;
  form.acceleration = q.transpose() * to_eigen(w.node(n).acceleration);
  form.constraint_force = q.transpose() * f;
  return form;
}

}  // namespace catena
