// SPDX-License-Identifier: BSD-3-Clause
// Constraints and switches as a part of the settings of a simulation (YAML in, JSON out);
// docs/simulation.md is the reference.
//
//   constraints:
//     grip: {type: attach, body_a: hand, body_b: box, as_it_is: true, active: true}
//     latch: {type: lock, freedom: door}
//     foot: {type: contact, body: shin, point: [0, 0, -0.3], radius: 0.02, friction: 0.8}
//     tip: {type: servo, body: link3, point: [1, 0, 0], motion: {x: 1.9 - t, y: 1},
//           actuators: [elbow, wrist]}
//   switches:
//     let_go: {at: 1.5, release: [grip]}
//     shut: {when: q.door - 1.2, direction: up, activate: [latch]}
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "catena/io/models/yaml_values.h"
#include "catena/simulation/actions.h"

namespace catena {

void read_constraint(yaml::Values& values, const yaml::Entry& entry, const Mechanism& mechanism,
                     const std::string& folder, std::vector<ConstraintSettings>& to);
// A plane of the ground under all collision shapes: its height, or a map with height, normal,
// friction and restitution. It becomes contacts. Or a height field in its place.
void read_ground(yaml::Values& values, const yaml::Node& node, const Mechanism& mechanism,
                 const std::string& folder, ActionSettings& to);
void read_switch(yaml::Values& values, const yaml::Entry& entry, const std::string& folder,
                 std::vector<SwitchSettings>& to);

// An expression, or a map with a table relative to `folder`.
SignalSettings read_signal(yaml::Values& values, const yaml::Node& node, const std::string& folder);

// Of directions −1, 0, 1: "down", "both", "up".
const std::vector<std::string>& direction_names();

nlohmann::ordered_json vector_json(const Vec3d& v);
nlohmann::ordered_json signal_json(const SignalSettings& signal);
nlohmann::ordered_json constraints_json(const ActionSettings& actions, const Mechanism& mechanism);
nlohmann::ordered_json switches_json(const ActionSettings& actions);

}  // namespace catena
