// SPDX-License-Identifier: BSD-3-Clause
// The links of an SDF file as bodies: mass, inertia (given, or computed from the collision shapes)
// and shapes for drawing.
#pragma once

#include "catena/io/models/sdf/sdf_tree.h"
#include "catena/model/description.h"

namespace catena {

Body read_sdf_body(SdfTree& tree, const SdfThing& link, xml::Report& report);

}  // namespace catena
