// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; workspace.h needs it.
//
// The numbers that the sweeps leave behind for each node. A workspace owns them. Pose,
// acceleration and articulated inertia of a body are read here after a sweep.
//
// Frames: `to_parent`, `twist`, `bias`, `force`, `articulated`, `gain` and `acceleration` are in
// the node's own frame (body-frame recursion); `pose` is in the ground frame.
#pragma once

#include "catena/closure/rows.h"
#include "catena/dynamics/kernels/flexible_scratch.h"
#include "catena/model/node.h"
#include "catena/spatial/inertia.h"

namespace catena {
inline namespace CATENA_ISA {

template <class Scalar>
struct NodeScratch {
  Transform<Scalar> to_parent;  // X_parent_node at q
  Twist<Scalar> twist;          // V
  Twist<Scalar> bias;           // [V, H v] + Ḣ v: acceleration at v̇ = 0, less the parent's
  Wrench<Scalar> force;         // inward: residual force; inverse: interbody force
  ArticulatedInertia<Scalar> articulated;  // P
  Wrench<Scalar> gain;                     // U = P H of a one-freedom hinge (fast hinges)
  Scalar inverse_hinge_inertia;            // 1 / D
  Scalar innovation;                       // ε
  Twist<Scalar> acceleration;              // derivative of the components of V, less gravity
  Transform<Scalar> pose;                  // X_ground_node
};

// The same for hinges of several freedoms (or with a rotor): H, U = P H, D = L Lᵀ.
template <class Scalar>
struct GeneralScratch {
  Twist<Scalar> map[kMaxFreedoms];           // H, in the node's frame
  Twist<Scalar> ground_map[kMaxFreedoms];    // H in ground axes (mass matrix)
  Wrench<Scalar> gain[kMaxFreedoms];         // U, in the node's frame
  Wrench<Scalar> parent_gain[kMaxFreedoms];  // Ad*⁻¹ U + rotor coupling, in the parent's frame
  Scalar factor[kMaxFreedoms][kMaxFreedoms];
  Scalar innovation[kMaxFreedoms];
  int free[kMaxFreedoms];  // the force-driven freedoms
  int free_count;
};

template <class Scalar>
struct CompositeScratch {
  Rotation<Scalar> rotation;         // R_ground_node
  Vec3<Scalar> offset;               // from the parent's origin to this node's, ground axes
  SpatialInertia<Scalar> composite;  // about the node's origin, ground axes
  bool carried;                      // its column of the mass matrix is written
};

// An aggregate (aggregate.h). Twists, wrenches and inertias are in its frame (closure/structure.h);
// matrices are row by row.
template <class Scalar>
struct AggregateScratch {
  // By member:
  MemberMotion<Scalar>* members = nullptr;
  Twist<Scalar>* acceleration = nullptr;  // at v̇_r = 0 and the base at rest
  Wrench<Scalar>* force = nullptr;
  ArticulatedInertia<Scalar>* composite = nullptr;
  // By column (freedom of a member):
  Twist<Scalar>* columns = nullptr;    // S
  Wrench<Scalar>* momentum = nullptr;  // U = R S
  Scalar* bias = nullptr;              // γ
  Scalar* needed = nullptr;            // Sᵀ F: effort of the spanning tree at v̇_r = 0
  int* place_of_column = nullptr;      // in the order of the chart
  int* exchange = nullptr;             // by pivot: the row that changed places with its own
  Scalar* scale = nullptr;             // by row: what makes it compare with the others
  Scalar* rows = nullptr;              // rank by columns and right-hand side
  Scalar* map = nullptr;               // X, columns by independents
  Scalar* mass = nullptr;              // M, columns by columns
  // By independent freedom that is force-driven:
  int* free = nullptr;
  int free_count = 0;
  Scalar* factor = nullptr;           // of D
  Scalar* innovation = nullptr;       // ε
  Wrench<Scalar>* gain = nullptr;     // U X
  Wrench<Scalar>* reduced = nullptr;  // L⁻¹ of it
  Scalar* work = nullptr;
  // Squares of how far positions and velocities are from the closure, as far as the rows of the
  // chart tell; radians, or fractions of the loop's length.
  Scalar gap{};
  Scalar rate{};
};

template <class Scalar>
struct Scratch {
  NodeScratch<Scalar>* nodes = nullptr;
  const ArticulatedInertia<Scalar>* own = nullptr;  // by node: that of its rigid bodies alone
  GeneralScratch<Scalar>* general = nullptr;
  CompositeScratch<Scalar>* composite = nullptr;
  Scalar* sine = nullptr;  // of every coordinate
  Scalar* cosine = nullptr;
  AggregateScratch<Scalar>* aggregates = nullptr;
  Scalar* acceleration = nullptr;                    // by freedom
  Scalar* composite_rows = nullptr;                  // of one state only (composite_table.h)
  FlexibleScratch<Scalar>* flexible = nullptr;       // by Node::flexible of modes
  AttachmentScratch<Scalar>* attachments = nullptr;  // by Node::flexible of attachments
};

}  // namespace CATENA_ISA
}  // namespace catena
