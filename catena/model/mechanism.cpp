// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/mechanism.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/mechanism_names.h"

namespace catena {
namespace {

template <class Things>
std::unordered_map<std::string, int> table_of(const Things& things) {
  std::unordered_map<std::string, int> table;
  int index = 0;
  for (const auto& thing : things) {
    if constexpr (requires { thing.name; })
      table.emplace(thing.name, index++);
    else
      table.emplace(thing, index++);
  }
  return table;
}

int look_up(const std::unordered_map<std::string, int>& table, std::string_view name,
            const char* kind) {
  const auto found = table.find(std::string(name));
  if (found != table.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& entry : table) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  throw NameError(std::string("no ") + kind + " is named '" + std::string(name) + "'" +
                  did_you_mean(name, names));
}

}  // namespace

std::shared_ptr<const NameTables> make_name_tables(const Mechanism& m) {
  auto tables = std::make_shared<NameTables>();
  tables->bodies = table_of(m.bodies());
  tables->bodies.emplace(kWorld, -1);
  tables->hinges = table_of(m.hinges());
  tables->frames = table_of(m.frames());
  tables->positions = table_of(m.position_names());
  tables->velocities = table_of(m.velocity_names());
  return tables;
}

int Mechanism::body_index(std::string_view name) const {
  return look_up(names_->bodies, name, "body");
}
int Mechanism::hinge_index(std::string_view name) const {
  return look_up(names_->hinges, name, "hinge");
}
int Mechanism::frame_index(std::string_view name) const {
  return look_up(names_->frames, name, "frame");
}
bool Mechanism::has_body(std::string_view name) const {
  return names_->bodies.contains(std::string(name));
}
bool Mechanism::has_hinge(std::string_view name) const {
  return names_->hinges.contains(std::string(name));
}
int Mechanism::position_index(std::string_view name) const {
  return look_up(names_->positions, name, "coordinate");
}
int Mechanism::velocity_index(std::string_view name) const {
  if (!names_->velocities.contains(std::string(name)) && has_hinge(name)) {
    const HingePlace& place = hinges_[index(hinge_index(name))];
    std::vector<std::string> own;
    for (int k = 0; place.node >= 0 && k < place.freedoms; ++k)
      own.push_back("'" + velocity_names_[index(place.v_index + k)] + "'");
    if (own.size() > 1)
      throw NameError("hinge '" + std::string(name) + "' has several freedoms: " + listed(own));
  }
  return look_up(names_->velocities, name, "freedom");
}

bool Mechanism::has_free_base() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return node.parent < 0 && node.hinge == NodeHinge::free;
  });
}

int Mechanism::tree_freedoms() const {
  int count = freedoms_;
  for (const HingePlace& hinge : hinges_)
    if (hinge.role == HingePlace::Role::cut) count -= hinge.freedoms;
  return count;
}

double Mechanism::total_mass() const {
  double mass = 0.0;
  for (const BodyPlace& body : bodies_) mass += body.inertia.mass;
  return mass;
}

}  // namespace catena
