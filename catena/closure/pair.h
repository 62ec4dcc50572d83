// SPDX-License-Identifier: BSD-3-Clause
// A pair: two frames held together by a hinge of some type (a kinematic pair), independent of any
// mechanism.
#pragma once

#include "catena/closure/structure.h"
#include "catena/model/description.h"
#include "catena/spatial/transform.h"

namespace catena {

// The rows with which a hinge of this type (axes and pitch of `hinge`) holds its two frames; sides
// and paths are not filled in.
Closure pair_closure(const Hinge& hinge, HingeType type);

// A row that measures a length; the others measure angles or coordinates. Of any closure.
bool measures_length(const Closure& closure, int row);

// Residual of the pair's rows (angles in radians, lengths in metres) at the displacement of the
// child's side against the parent's. Not for rods and couplings.
void pair_residual(const Closure& closure, const Transformd& displacement, double* residual);

}  // namespace catena
