// SPDX-License-Identifier: BSD-3-Clause
// A height field of the ground: heights (m, along z) on a grid of points in x and y, each cell two
// triangles. Shapes touch it with their points: spheres by their nearest point, capsules by their
// ends, boxes and hulls by their corners, cylinders by the lowest points of their rims. Where the
// field is convex (a peak or a ridge), its grid points touch the faces of shapes as well; what is
// left out is an edge of a shape across a ridge between two grid points.
//
//   HeightField hills = read_height_field("hills.asc");
//   hills.height_at(1.0, 2.0);
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "catena/spatial/vec3.h"

namespace catena {

struct HeightField {
  double x = 0.0, y = 0.0;  // of the first height (m)
  double spacing_x = 1.0, spacing_y = 1.0;
  int columns = 0;              // along x
  int rows = 0;                 // along y
  std::vector<double> heights;  // [row][column], row 0 at y
  std::optional<double> friction{};
  std::optional<double> restitution{};
  std::string file{};  // where it is from

  double height(int column, int row) const {
    return heights[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(column)];
  }
  Vec3d point(int column, int row) const {
    return {x + column * spacing_x, y + row * spacing_y, height(column, row)};
  }
  // Of the triangles; none beside the grid.
  std::optional<double> height_at(double at_x, double at_y) const;
};

// Throws Error, naming the field, for fewer than 2 × 2 heights, another number than rows × columns,
// spacings that are not positive, and heights that are not finite.
void check(const HeightField& field);

// Text: an ESRI grid (ncols, nrows, xllcorner or xllcenter, yll..., cellsize; rows from north to
// south), or plain rows of numbers (commas or blanks between them, row 0 first) with spacing 1.
// Throws Error with file and line.
HeightField read_height_field(const std::string& file);

}  // namespace catena
