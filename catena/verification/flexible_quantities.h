// SPDX-License-Identifier: BSD-3-Clause
// Quantities of flexible bodies: small motions about a state, zero dynamics, deflections, and the
// constants of a body. Rows of the table in quantities.h.
#pragma once

#include "catena/verification/quantities.h"

namespace catena {

// The flexible body of this name; a NameError that suggests the nearest if there is none.
const FlexiblePlace& find_flexible_body(const Mechanism& mechanism, const std::string& name);

}  // namespace catena
