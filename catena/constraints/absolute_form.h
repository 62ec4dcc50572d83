// SPDX-License-Identifier: BSD-3-Clause
// The absolute form of a mechanism: the same bodies, each free, and every hinge a constraint
// between them (absolute or maximal coordinates, with quaternions; [Nikravesh 1988]). A mechanism
// like any other: its tree is a heap of free bodies, and multipliers hold it together. For
// cross-checks and teaching.
//
// Welded bodies stay one. The free hinge of a group is called "free BODY", BODY its first. Drives,
// dampers, stops and springs of hinges stay where they are: such a hinge keeps its coordinates, and
// so do those of gears and other couplings, and those in `kept`, at which something outside the
// model acts (efforts, prescribed motions).
#pragma once

#include <span>
#include <string>

#include "catena/model/builder.h"

namespace catena {

Mechanism absolute_form(const Mechanism& mechanism, std::span<const std::string> kept = {});

// The state of the absolute form that is this state of the mechanism.
State absolute_state(const Mechanism& mechanism, const State& state, const Mechanism& absolute);

}  // namespace catena
