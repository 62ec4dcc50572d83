// SPDX-License-Identifier: BSD-3-Clause
// The signed distance of two convex shapes, and the direction in which they are separated.
//
// Whatever unit vector n is taken, separation_along() is a lower bound of the signed distance; it
// is largest, and equal, for the n looked for. So n is found by candidates, and rounding of where
// they come from costs nothing:
//
//   points and segments (sphere, capsule)    closed forms, against polytopes over their faces
//   point and cylinder                       closed form
//   polytopes with few edges (box and box)   all face normals, products of edges, nearest faces
//   other polytopes, cylinders               from a guess (FCL): faces and edges near it, polished
//                                            (distances to 1e-5 m; exact on faces)
//
// Cost: some microseconds. References: [Ericson 2005] for the closed forms.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "catena/collision/convex_shape.h"

namespace catena {

struct Separation {
  double distance = 0.0;  // m; negative: the depth
  Vec3d normal{};         // unit vector from b to a
  // The best of the normals of faces (both shapes'); where that is not the best of all, an edge of
  // one crosses an edge of the other, or a corner is nearest.
  std::optional<Vec3d> face_normal{};
  double face_distance = 0.0;
};

// A direction from b to a that is near the one looked for; none: it failed.
using SeparationGuess = std::function<std::optional<Vec3d>()>;

// Whether a guess is asked for.
bool needs_guess(const ConvexShape& a, const ConvexShape& b);
Separation separate(const PlacedShape& a, const PlacedShape& b, const SeparationGuess& guess = {});

// Nearest points of two convex polygons (points, segments) that do not cross.
std::pair<Vec3d, Vec3d> closest_points(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b);
Vec3d closest_on_polygon(const std::vector<Vec3d>& polygon, const Vec3d& point);

}  // namespace catena
