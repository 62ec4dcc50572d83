// SPDX-License-Identifier: BSD-3-Clause
// The vertices of a mesh file: STL (binary or text) and Wavefront OBJ. Triangles are not kept:
// collisions use the convex hull, which does not need a closed mesh. The number of open edges is
// available.
#pragma once

#include <string>
#include <vector>

#include "catena/spatial/vec3.h"

namespace catena {

// Empty, with `why` set, if the file cannot be read or is of another format. `open_edges`: how many
// edges do not belong to two faces.
std::vector<Vec3d> mesh_points(const std::string& file, std::string& why,
                               int* open_edges = nullptr);

}  // namespace catena
