// SPDX-License-Identifier: BSD-3-Clause
// A contact patch: the separation of two convex shapes completed to up to four points.
//
// Where a shape has a flat face along the normal, the face of the other that looks at it is clipped
// against it; the corners that are left are points of one shape above the plane of the other, with
// their own gaps. Edges that cross add the point where they are nearest. Of more than four points
// those farthest in four fixed directions of the face are kept, and the lowest one: the choice does
// not change while the shapes rest. Points, not shapes, then move for the length of a step, each
// above its plane.
#pragma once

#include <vector>

#include "catena/collision/separation.h"

namespace catena {

struct PatchPoint {
  bool on_a = true;           // the point is a's and the plane b's, or the other way round
  Vec3d center{};             // of the sphere or rim that touches
  double radius = 0.0;        // of the sphere (0: a corner)
  double rim = 0.0;           // of a cylinder: its lowest point about rim_axis touches
  Vec3d rim_axis{};           // unit vector
  Vec3d plane_point{};        // on the surface; with plane_radius: the middle of that sphere
  double plane_radius = 0.0;  // the plane is a sphere
  Vec3d normal{};             // unit vector from the plane to the point
  double gap = 0.0;           // m; negative: depth
  Vec3d place{};              // where the point is nearest to the plane
};

inline constexpr std::size_t kMostPoints = 4;
// A cylinder that stands on a face touches with so many points of its rim, this part of the radius
// within it, as on a plane (contact_shapes.h): one that rolls does not touch with them.
inline constexpr int kCapPoints = 6;
inline constexpr double kCapInset = 1e-4;

// Points with a gap up to `margin`, and the nearest one in any case if the shapes are that close.
void find_patch(const PlacedShape& a, const PlacedShape& b, const Separation& separation,
                double margin, std::vector<PatchPoint>& points);

// Of more than `most` points those farthest in four directions along the first one's plane, and the
// lowest.
void reduce_patch(std::vector<PatchPoint>& points, std::size_t most = kMostPoints);

}  // namespace catena
