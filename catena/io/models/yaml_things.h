// SPDX-License-Identifier: BSD-3-Clause
// Reads bodies, hinges and the other entries of a description from maps of a YAML tree. Each
// function sets the values that the map names and leaves the others, so that the same function
// makes an entry and changes one.
#pragma once

#include <optional>

#include "catena/flexible/matrices_body.h"
#include "catena/io/models/yaml_values.h"
#include "catena/model/beam_settings.h"
#include "catena/model/description.h"

namespace catena::yaml {

// A beam, or a body by matrices, and the initial state of its modes.
struct FlexibleWords {
  BeamSettings beam{};
  std::optional<MatricesBodySettings> matrices{};
  std::vector<double> initial_position{};
  std::vector<double> initial_velocity{};
};
void read_flexible(Values& values, const Node& node, FlexibleWords& words);
void read_body(Values& values, const Node& node, BodySettings& body);
void read_hinge(Values& values, const Node& node, Hinge& hinge);
void read_frame(Values& values, const Node& node, Frame& frame);
void read_rod(Values& values, const Node& node, Rod& rod);
void read_coupling(Values& values, const Node& node, Coupling& coupling);
void read_spring(Values& values, const Node& node, SpringDamper& spring);

}  // namespace catena::yaml
