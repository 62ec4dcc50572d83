// SPDX-License-Identifier: BSD-3-Clause
// Points of a shape against the triangles of a height field (height_field.h), as a patch.
#pragma once

#include <vector>

#include "catena/collision/height_field.h"
#include "catena/collision/patch.h"

namespace catena {

// Points with a gap up to `margin`; poses are those in the ground's frame. A point with on_a set is
// the shape's above a triangle, else a peak of the field below a face of the shape.
void find_field_contacts(const PlacedShape& shape, const HeightField& field, double margin,
                         std::vector<PatchPoint>& points);

}  // namespace catena
