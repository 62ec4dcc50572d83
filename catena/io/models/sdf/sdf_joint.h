// SPDX-License-Identifier: BSD-3-Clause
// The joints of an SDF file as hinges and couplings.
#pragma once

#include "catena/io/models/sdf/sdf_tree.h"
#include "catena/model/description.h"

namespace catena {

// Appends the hinges and couplings of all joints outside static models to a description that has
// all bodies.
void read_sdf_joints(SdfTree& tree, Description& description, xml::Report& report);

}  // namespace catena
