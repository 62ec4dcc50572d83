// SPDX-License-Identifier: BSD-3-Clause
// Finds hinges (joints) that move no inertia: the mass matrix is singular, and their acceleration
// is not determined.
#pragma once

#include <vector>

#include "catena/model/mechanism.h"

namespace catena {

// One error for each such hinge.
void check_hinge_inertias(const Mechanism& mechanism, std::vector<Diagnostic>& found);

}  // namespace catena
