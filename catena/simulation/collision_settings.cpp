// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/collision_settings.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "catena/base/index.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Values;
using Json = nlohmann::ordered_json;

void read_texts(Values& values, const yaml::Node& node, std::vector<std::string>& to) {
  if (!node.is_list()) {
    values.text(node, to.emplace_back());
    return;
  }
  for (const Entry& item : node.entries) values.text(*item.value, to.emplace_back());
}

// [[legs, world], [arm, arm]]
void read_pairs(Values& values, const yaml::Node& node,
                std::vector<std::pair<std::string, std::string>>& to) {
  if (!values.list(node, "a list of pairs of groups or bodies, [[legs, world], ...]")) return;
  for (const Entry& item : node.entries) {
    std::vector<std::string> names;
    if (item.value->is_list()) read_texts(values, *item.value, names);
    if (names.size() == 2)
      to.emplace_back(names[0], names[1]);
    else
      values.mismatch(*item.value, "a pair of groups or bodies, [legs, world]");
  }
}

void read_heights(Values& values, const yaml::Node& node, HeightField& field) {
  if (!values.list(node, "a list of rows of heights")) return;
  field.rows = static_cast<int>(node.entries.size());
  field.heights.clear();
  for (const Entry& row : node.entries) {
    std::vector<double> numbers;
    if (!values.number_or_list(*row.value, numbers)) return;
    if (!field.heights.empty() && numbers.size() != index(field.columns)) {
      values.error(row.value->line, "has " + std::to_string(numbers.size()) +
                                        " numbers; the row before has " +
                                        std::to_string(field.columns));
      return;
    }
    field.columns = static_cast<int>(numbers.size());
    field.heights.insert(field.heights.end(), numbers.begin(), numbers.end());
  }
}

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json json = Json::array();
  for (const auto& [first, second] : pairs) json.push_back({first, second});
  return json;
}

}  // namespace

void read_collisions(Values& values, const yaml::Node& node, const Mechanism& mechanism,
                     std::optional<CollisionSettings>& to) {
  static const std::vector<std::string> kKeys{"neighbours", "friction", "restitution",
                                              "groups",     "collide",  "ignore"};
  CollisionSettings s = to.value_or(CollisionSettings{});
  if (node.is_map()) {
    s.bodies = true;
    values.unknown_keys(node, kKeys);
    values.with(node, "neighbours",
                [&](const Entry& e) { values.integer(*e.value, s.neighbours); });
    values.with(node, "friction", [&](const Entry& e) {
      values.number(*e.value, s.friction, yaml::Range::infinite_allowed);
    });
    values.with(node, "restitution",
                [&](const Entry& e) { values.number(*e.value, s.restitution); });
    values.each(node, "groups",
                [&](const Entry& e) { read_texts(values, *e.value, s.groups[e.key]); });
    values.with(node, "collide", [&](const Entry& e) { read_pairs(values, *e.value, s.collide); });
    values.with(node, "ignore", [&](const Entry& e) { read_pairs(values, *e.value, s.ignore); });
  } else if (!values.boolean(node, s.bodies)) {
    return;
  }
  if (!s.bodies && !s.height_field) {
    to.reset();
    return;
  }
  try {
    const CollisionModel model(mechanism, s);
  } catch (const Error& error) {
    values.error(node.line, error.what());
    return;
  }
  to = std::move(s);
}

void read_height_field(Values& values, const yaml::Node& node, const std::string& folder,
                       std::optional<CollisionSettings>& to) {
  static const std::vector<std::string> kKeys{"file",    "origin",   "spacing",
                                              "heights", "friction", "restitution"};
  if (!values.map(node, "a map with file or heights, and spacing, origin, friction, restitution"))
    return;
  values.unknown_keys(node, kKeys);
  HeightField field;
  try {
    values.with(node, "file", [&](const Entry& e) {
      std::string file;
      if (!values.text(*e.value, file)) return;
      field = catena::read_height_field((std::filesystem::path(folder) / file).string());
    });
    values.with(node, "heights", [&](const Entry& e) { read_heights(values, *e.value, field); });
    values.with(node, "spacing", [&](const Entry& e) {
      std::vector<double> spacing;
      if (!values.number_or_list(*e.value, spacing)) return;
      if (spacing.empty() || spacing.size() > 2) {
        values.mismatch(*e.value, "one number, or two");
        return;
      }
      field.spacing_x = spacing.front();
      field.spacing_y = spacing.back();
    });
    values.with(node, "origin", [&](const Entry& e) {
      double origin[2] = {field.x, field.y};
      values.numbers(*e.value, origin);
      field.x = origin[0];
      field.y = origin[1];
    });
    values.with(node, "friction", [&](const Entry& e) {
      values.number(*e.value, field.friction.emplace(), yaml::Range::infinite_allowed);
    });
    values.with(node, "restitution",
                [&](const Entry& e) { values.number(*e.value, field.restitution.emplace()); });
    check(field);
  } catch (const Error& error) {
    values.error(node.line, error.what());
    return;
  }
  if (!to) to.emplace().bodies = false;
  to->height_field = std::make_shared<const HeightField>(std::move(field));
}

Json collisions_json(const std::optional<CollisionSettings>& settings) {
  if (!settings || !settings->bodies) return {};
  Json json{{"neighbours", settings->neighbours},
            {"friction", std::min(settings->friction, kAllFriction)},
            {"restitution", settings->restitution}};
  for (const auto& [name, bodies] : settings->groups) json["groups"][name] = bodies;
  if (!settings->collide.empty()) json["collide"] = pairs_json(settings->collide);
  if (!settings->ignore.empty()) json["ignore"] = pairs_json(settings->ignore);
  return json;
}

Json height_field_json(const HeightField& field) {
  Json json{{"origin", {field.x, field.y}}, {"spacing", {field.spacing_x, field.spacing_y}}};
  for (int row = 0; row < field.rows; ++row) {
    Json heights = Json::array();
    for (int column = 0; column < field.columns; ++column)
      heights.push_back(field.height(column, row));
    json["heights"].push_back(std::move(heights));
  }
  if (field.friction) json["friction"] = std::min(*field.friction, kAllFriction);
  if (field.restitution) json["restitution"] = *field.restitution;
  return json;
}

}  // namespace catena
