// SPDX-License-Identifier: BSD-3-Clause
// A flexible body by mass, stiffness and damping matrices in YAML: the key `matrices` of
// `flexible`.
#pragma once

#include <string>

#include "catena/flexible/matrices_body.h"
#include "catena/io/models/yaml_values.h"

namespace catena::yaml {

// The map under `matrices`, and the attachments beside it.
void read_matrices(Values& values, const Node& node, MatricesBodySettings& body);
void read_matrix_attachments(Values& values, const Node& node, MatricesBodySettings& body);

// The words of the body, indented for the key `flexible` of a body; numbers are written out.
std::string write_matrices(const MatricesBodySettings& body);

}  // namespace catena::yaml
