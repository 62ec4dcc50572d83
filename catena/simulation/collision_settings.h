// SPDX-License-Identifier: BSD-3-Clause
// Collisions of shapes and height fields as a part of the settings of a simulation (YAML in, JSON
// out); docs/contact.md is the reference.
//
//   collisions: true
//   collisions: {neighbours: 2, groups: {legs: ["*shank"]}, collide: [[legs, world]]}
//   ground: {height_field: {file: hills.asc, friction: 0.9}}
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "catena/collision/collisions.h"
#include "catena/io/models/yaml_values.h"

namespace catena {

// Missing keys keep the values of `to`.
void read_collisions(yaml::Values& values, const yaml::Node& node, const Mechanism& mechanism,
                     std::optional<CollisionSettings>& to);
// Files are relative to `folder`.
void read_height_field(yaml::Values& values, const yaml::Node& node, const std::string& folder,
                       std::optional<CollisionSettings>& to);

// Larger friction counts as infinite (collisions.h).
inline constexpr double kAllFriction = 1e3;
// null if nothing collides; the height field apart.
nlohmann::ordered_json collisions_json(const std::optional<CollisionSettings>& settings);
nlohmann::ordered_json height_field_json(const HeightField& field);

}  // namespace catena
