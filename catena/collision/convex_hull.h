// SPDX-License-Identifier: BSD-3-Clause
// Convex hull of points as a polytope: vertices, flat faces and edges. Incremental, O(points times
// faces); triangles that lie in one plane become one face.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "catena/spatial/vec3.h"

namespace catena {

struct Polytope {
  struct Face {
    Vec3d normal{};            // outward, length one
    std::vector<int> corners;  // in order round the face, counterclockwise seen from outside
  };
  std::vector<Vec3d> vertices;
  std::vector<Face> faces;
  std::vector<std::pair<int, int>> edges;  // between faces that are not in one plane
  std::vector<Vec3d> directions;           // of the edges, parallel ones once
};

// The corners of a box about the origin; an edge may have no length.
Polytope box_polytope(const Vec3d& size);

// At most `most` of the points: those that are farthest in some direction of an even grid, without
// repetition. `missed`: how far the hull of all points reaches beyond them (m).
std::vector<Vec3d> extreme_points(std::span<const Vec3d> points, int most,
                                  double* missed = nullptr);

// Without faces if all points lie in a plane, to 1e-6 of their extent.
Polytope convex_hull(std::span<const Vec3d> points);

}  // namespace catena
