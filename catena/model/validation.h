// SPDX-License-Identifier: BSD-3-Clause
// Checks a description before a mechanism is made from it: names, numbers, axes, limits, inertias
// (physically possible: positive, triangle inequality).
//
//   const std::vector<Diagnostic> found = validate(description, {.strict = false});
//   if (has_error(found)) throw ModelError(found);
#pragma once

#include <vector>

#include "catena/model/description.h"

namespace catena {

struct ValidationSettings {
  bool strict = true;  // impossible inertias are errors, not warnings
};

// All problems of names and numbers, errors and warnings. Paths to the world and hinges without
// inertia are found later, when the graph is known (make_mechanism.cpp).
std::vector<Diagnostic> validate(const Description& description,
                                 const ValidationSettings& settings);

bool has_error(const std::vector<Diagnostic>& diagnostics);

}  // namespace catena
