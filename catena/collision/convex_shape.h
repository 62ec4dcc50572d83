// SPDX-License-Identifier: BSD-3-Clause
// Convex shapes that collide: a core (a point, a segment, a cylinder or a polytope) and a radius
// about it. A sphere is a point with a radius, a capsule a segment with one; a box and the hull of
// a mesh are polytopes.
#pragma once

#include <string>
#include <vector>

#include "catena/collision/convex_hull.h"
#include "catena/spatial/transform.h"

namespace catena {

struct ConvexShape {
  enum class Core { point, segment, cylinder, polytope };
  Core core = Core::point;
  double radius = 0.0;  // about the core
  double rim = 0.0;     // of a cylinder's core: its radius
  double half = 0.0;    // of segment and cylinder: half the length, along z
  Polytope polytope;
  double reach = 0.0;  // no point of the shape is farther from the origin of its frame
};

ConvexShape sphere_shape(double radius);
ConvexShape capsule_shape(double radius, double length);  // without its caps
ConvexShape cylinder_shape(double radius, double length);
ConvexShape box_shape(const Vec3d& size);
ConvexShape polytope_shape(Polytope polytope);

// A shape at a pose, with what does not change there. The shape must outlive it.
struct PlacedShape {
  const ConvexShape* shape = nullptr;
  Transformd pose{};            // of the shape's frame
  std::vector<Vec3d> vertices;  // of a polytope, like those below in the frame of the pose
  std::vector<Vec3d> normals;   // of its faces
  Vec3d axis{};                 // of segment and cylinder

  void place(const Transformd& at);
  double radius() const { return shape->radius; }
  Vec3d end(int sign) const { return pose.translation + (sign * shape->half) * axis; }
};
PlacedShape placed(const ConvexShape& shape, const Transformd& pose);

// The point of the core that is farthest along a direction.
Vec3d support(const PlacedShape& shape, const Vec3d& along);

// What of the core lies farthest along a unit vector: a corner, an edge or a face, as a convex
// polygon of one, two or more corners, in order. Edges and faces count within this angle (rad).
std::vector<Vec3d> support_feature(const PlacedShape& shape, const Vec3d& along, double angle);

// The least distance of the cores along n less the radii: min over a of n·a − max over b of n·b.
// Its largest value over all unit vectors n is the signed distance of the shapes.
double separation_along(const PlacedShape& a, const PlacedShape& b, const Vec3d& n);

}  // namespace catena
