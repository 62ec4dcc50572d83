// SPDX-License-Identifier: BSD-3-Clause
// Freedoms by the names that users give them.
#pragma once

#include <string>

#include "catena/model/mechanism.h"

namespace catena {

// The freedom of this name; a hinge of several freedoms is an error that lists them.
int freedom_index(const Mechanism& mechanism, const std::string& name);

}  // namespace catena
