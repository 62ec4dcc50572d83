// SPDX-License-Identifier: BSD-3-Clause
// The vertices of a mesh file: STL (binary or text) and Wavefront OBJ. Triangles are not kept: what
// collides is the convex hull, for which it does not matter whether the mesh is closed; how many
// edges are open can be asked for.
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
