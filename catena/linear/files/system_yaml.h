// SPDX-License-Identifier: BSD-3-Clause
// A linear system as a map inside another YAML file.
#pragma once

#include "catena/io/models/yaml_values.h"
#include "catena/linear/state_space.h"

namespace catena {

// Reads the fields of a system from a map; reports what is wrong to `values`. Keys of `others`
// belong to the caller.
StateSpace read_system(const yaml::Node& map, yaml::Values& values,
                       const std::vector<std::string>& others = {});
// A list of rows, such as [[1, 0], [0, 1]]; false if something was reported.
bool read_matrix_rows(const yaml::Node& node, yaml::Values& values, Eigen::MatrixXd& result);
// A list of names; empty if the key is missing.
void read_name_list(const yaml::Node& map, const char* key, yaml::Values& values,
                    std::vector<std::string>& names);
// The lines of the fields, each with this many blanks in front.
std::string system_lines(const StateSpace& system, int indent);

}  // namespace catena
