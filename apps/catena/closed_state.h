// SPDX-License-Identifier: BSD-3-Clause
// Common to the commands about closed mechanisms: freedoms by name, and states as YAML.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catena/model/mechanism.h"

namespace catena::app {

// By freedom: 1 for the freedoms of the hinges, and the freedoms, named.
std::vector<std::uint8_t> mask_of(const Mechanism& m, const std::vector<std::string>& names);

// A state file (docs/command-line.md).
std::string state_yaml(const Mechanism& m, const State& state);

}  // namespace catena::app
