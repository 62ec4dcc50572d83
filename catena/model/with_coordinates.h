// SPDX-License-Identifier: BSD-3-Clause
// The same mechanism, in which hinges that close a loop have coordinates of their own.
//
// A loop is cut at one hinge, and that hinge normally loses its coordinates: they follow from the
// others. Then no effort can act there, and its angle is not in q. A hinge keeps them when
// something acts at it (topology.h), when its settings say so, or when it is named here. It is then
// a node without bodies, welded to its child. Tree, cuts and the order of all other coordinates
// stay as they are; the new ones come last. The motion is the same, at the cost of one more freedom
// and one more row for each freedom of the hinge.
#pragma once

#include <span>
#include <string>

#include "catena/model/mechanism.h"

namespace catena {

// Hinges that have coordinates already are left as they are. Throws NameError for names that are
// not hinges, or rigid ones.
Mechanism with_coordinates(const Mechanism& mechanism, std::span<const std::string> hinges);

}  // namespace catena
