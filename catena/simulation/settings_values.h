// SPDX-License-Identifier: BSD-3-Clause
// Settings as a part of a larger YAML file.
#pragma once

#include "catena/io/models/yaml_values.h"
#include "catena/simulation/settings_file.h"

namespace catena {

// Changes the settings in the map and leaves the others; reports mistakes to `values`. Paths of
// tables are relative to `folder`.
void read_settings(yaml::Values& values, const yaml::Node& node, const Mechanism& mechanism,
                   const std::string& folder, StateInput& input, SimulationSettings& settings);

}  // namespace catena
