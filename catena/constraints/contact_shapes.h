// SPDX-License-Identifier: BSD-3-Clause
// Shapes on a plane as points, spheres and rims, which is exact: the contacts of a box are those of
// its corners, of a capsule those of its two spheres, of a cylinder those of its two rims.
//
//   for (const ContactSettings& c : box_contacts({.name = "trunk", .body = 0, .friction = 0.6},
//                                                {0.4, 0.2, 0.1}))
//     settings.actions.constraints.push_back({.constraint = c});
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/constraints/constraint_set.h"

namespace catena {

// Eight points, named NAME.0 to NAME.7, around `like.center` along the axes of the body.
std::vector<ContactSettings> box_contacts(const ContactSettings& like, const Vec3d& size);
// Two spheres of `like.radius`, named NAME.0 and NAME.1, `length` apart along this axis of the
// body.
std::vector<ContactSettings> capsule_contacts(const ContactSettings& like, double length,
                                              const Vec3d& axis = {0.0, 0.0, 1.0});

// A cylinder of radius `like.rim` and this length about `like.rim_axis`; a disc if the length is 0.
// The lowest points of its rims, named NAME.0 and NAME.1, are exact at every angle but one: where
// the cylinder stands on a face, its rim touches all round. For that each face has six points more,
// kFaceInset of the radius within the rim so that a cylinder that rolls does not touch with them.
std::vector<ContactSettings> cylinder_contacts(const ContactSettings& like, double length);
inline constexpr double kFaceInset = 1e-4;
// Points of a convex hull, named NAME.0 and on: those of `points` (in the body's frame) that are
// farthest in some direction of an even grid. `missed`: how far the hull reaches beyond them (m).
std::vector<ContactSettings> hull_contacts(const ContactSettings& like,
                                           std::span<const Vec3d> points, double* missed = nullptr);

// A plane of the ground under the collision shapes of a mechanism (Collision in description.h).
struct GroundSettings {
  double height = 0.0;            // of the plane along its normal, from the origin (m)
  std::optional<Vec3d> normal{};  // none: against gravity, or z without gravity
  double friction = 0.8;          // of shapes that have none of their own
  double restitution = 0.0;       // likewise
};

// The contacts of all collision shapes with the ground, named BODY.SHAPE (a shape without a name is
// `collision`, `collision2`, ...). Bodies that are fixed to the ground have none. Meshes are read
// from their files (STL, OBJ); `notes` gets a line for each one that cannot be. Throws Error if
// there is no shape at all.
std::vector<ContactSettings> ground_contacts(const Mechanism& mechanism,
                                             const GroundSettings& ground,
                                             std::vector<std::string>* notes = nullptr);

// The least distance of these contacts from their planes at a position.
double least_gap(const Mechanism& mechanism, std::span<const ContactSettings> contacts,
                 const Eigen::VectorXd& q);

}  // namespace catena
