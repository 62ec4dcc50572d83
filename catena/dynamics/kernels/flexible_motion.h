// SPDX-License-Identifier: BSD-3-Clause
// Matrices of flexible bodies at a deformation η, for any scalar. The sweeps (flexible_node.h), the
// mass matrix and the energy use them.
#pragma once

#include "catena/dynamics/kernels/flexible_scratch.h"
#include "catena/model/attachment_motion.h"

namespace catena {
inline namespace CATENA_ISA {

// What deformation adds to the inertia of the body at rest; `shape` has z at η (null: none).
template <class Scalar>
inline SpatialInertia<Scalar> deformed_inertia(const FlexibleTable& t, const Scalar* eta,
                                               const Scalar* shape) {
  SpatialInertia<Scalar> change = SpatialInertia<Scalar>::zero();
  if (eta == nullptr) return change;
  const int n = t.modes;
  Scalar sums[9];
  for (int c = 0; c < 9; ++c) {
    Scalar sum(0.0);
    for (int k = 0; k < n; ++k) sum = sum + eta[k] * (Scalar(t.base[c * n + k]) + shape[c * n + k]);
    sums[c] = Scalar(0.5) * sum;
  }
  change.mass_moment = {sums[0], sums[1], sums[2]};
  change.inertia = {sums[3], sums[4], sums[5], sums[6], sums[7], sums[8]};
  return change;
}

// z, the couplings and the change of inertia at η (null: at rest).
template <class Scalar>
inline void deform_body(const FlexibleTable& t, const Scalar* eta, FlexibleScratch<Scalar>& f) {
  const int n = t.modes;
  affine(t.base, t.matrix, 12, n, eta, f.shape);
  f.change = deformed_inertia(t, eta, f.shape);
  for (int k = 0; k < n; ++k)
    f.coupling[k] = {vector_of_mode(f.shape + 9 * n, n, k), vector_of_mode(f.shape, n, k)};
}

}  // namespace CATENA_ISA
}  // namespace catena
