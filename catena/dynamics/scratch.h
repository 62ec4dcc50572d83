// The numbers that the sweeps leave behind for each node. A workspace owns them; whoever needs a
// body's pose, its acceleration or its articulated inertia reads them here after a sweep.
//
// Frames: `to_parent`, `twist`, `bias`, `force`, `articulated`, `gain` and `acceleration` are in
// the node's own frame (body-frame recursion); `pose` is in the ground frame.
#pragma once

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

template <class Scalar>
struct Scratch {
  NodeScratch<Scalar>* nodes = nullptr;
  GeneralScratch<Scalar>* general = nullptr;
  CompositeScratch<Scalar>* composite = nullptr;
  Scalar* sine = nullptr;  // of every coordinate
  Scalar* cosine = nullptr;
};

}  // namespace CATENA_ISA
}  // namespace catena
