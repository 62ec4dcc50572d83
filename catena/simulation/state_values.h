// SPDX-License-Identifier: BSD-3-Clause
// A state as a part of a larger YAML file.
#pragma once

#include "catena/io/models/yaml_values.h"
#include "catena/simulation/state_file.h"

namespace catena {

// Changes the values in the map and leaves the others; reports mistakes to `values`.
void read_state(yaml::Values& values, const yaml::Node& node, const Mechanism& mechanism,
                StateInput& input);

// A vector over all freedoms (or coordinates): by names, or a list in order. `named` gets 1 for
// each entry that is given.
void read_named_vector(yaml::Values& values, const yaml::Node& node, const Mechanism& mechanism,
                       bool positions, Eigen::VectorXd& result, std::vector<std::uint8_t>* named);

// Indices of the freedoms in a list of names (hinges or freedoms).
std::vector<int> read_freedoms(yaml::Values& values, const yaml::Node& node,
                               const Mechanism& mechanism);

}  // namespace catena
