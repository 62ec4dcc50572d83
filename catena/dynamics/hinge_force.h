// SPDX-License-Identifier: BSD-3-Clause
// The force at one hinge, split by its free and constrained directions. hinge_force.cpp also has
// hinge_complement(), split_force() and armstrong_form() of forces.h, which need no other hinge.
#pragma once

#include "catena/dynamics/forces.h"

namespace catena {

// H of the node's hinge at its present position, 6 × freedoms, node axes. Parts of a flexible body
// have no columns: they have no rigid relative motion.
HingeMatrix hinge_map(const Workspace& workspace, int node);

}  // namespace catena
