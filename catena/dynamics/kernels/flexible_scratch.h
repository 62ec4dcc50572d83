// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; scratch.h needs it.
//
// The numbers of flexible bodies during a sweep (flexible_node.h).
#pragma once

#include "catena/spatial/inertia.h"

namespace catena {
inline namespace CATENA_ISA {

// Of the modes of one body; everything in the frame of their node. n modes; matrices row by row.
template <class Scalar>
struct FlexibleScratch {
  Scalar* shape = nullptr;             // z at η (flexible_table.h), 12 n
  Scalar* rates = nullptr;             // rates · η̇, 9 n
  Scalar* force = nullptr;             // b_e, and what the attachments ask: n
  Wrench<Scalar>* coupling = nullptr;  // (P_full)_er, a wrench for each mode
  Scalar* mass = nullptr;              // (P_full)_ee, lower triangle
  Scalar* factor = nullptr;            // L of the force-driven modes
  Wrench<Scalar>* reduced = nullptr;   // Y = L⁻¹ (P_full)_er
  Scalar* innovation = nullptr;        // y = L⁻¹ (Q − z_e)
  Scalar* completed = nullptr;         // blocks of points and rows (flexible_completed.h)
  Vec3<Scalar>* places = nullptr;      // p of the points, a of the rows
  int* free = nullptr;                 // the force-driven modes
  int free_count = 0;
  SpatialInertia<Scalar> change;  // what the deformation adds to the inertia at rest
  Wrench<Scalar> bias;            // b_r beyond that of the rigid body at rest
  Wrench<Scalar> momentum;        // Σ η̇ C, after kinematics
};

// Of an attachment, in its own frame.
template <class Scalar>
struct AttachmentScratch {
  Scalar* shape = nullptr;       // z at η, 6 n
  Scalar* rates = nullptr;       // matrix · η̇, 6 n
  Twist<Scalar>* map = nullptr;  // W
};

}  // namespace CATENA_ISA
}  // namespace catena
