// SPDX-License-Identifier: BSD-3-Clause
// Checks functions of the user (custom hinges, couplings) against finite differences: a wrong
// derivative would give wrong accelerations silently.
#pragma once

#include <string>
#include <vector>

#include "catena/model/description.h"

namespace catena {

// Mistakes, each a clause that follows the name ("column 2 of its motion map is ..."); empty if
// there are none. Compared at the initial position, or (none given) at one without symmetry. A
// function that throws is reported too. The hinge has functions of 1 to 6 freedoms.
std::vector<std::string> wrong_in_custom_hinge(const Hinge& hinge);

// The same of a coupling by a function, at these coordinates of its terms. Positions where the
// function is not defined (NaN) are skipped, and those where it throws unless the user gave this
// position. Steep functions and kinks are no mistakes.
std::vector<std::string> wrong_in_coupling_function(const Coupling& coupling,
                                                    const std::vector<double>& q, bool given);

// The coordinate of that number in a position without symmetry.
inline double unsymmetric_coordinate(std::size_t i) { return 0.1 + 0.07 * static_cast<double>(i); }

}  // namespace catena
