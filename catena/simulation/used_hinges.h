// SPDX-License-Identifier: BSD-3-Clause
// The hinges whose coordinates a state, settings or a problem use.
//
// A hinge at which a loop is cut has no coordinates of its own (with_coordinates.h). Driving it,
// giving its position or reading it needs some, and the user should not have to know where a loop
// is cut. So files and options are read twice: at first for the names in them, then with a
// mechanism in which those hinges have coordinates.
//
//   UsedHinges used(mechanism);
//   used.add_state_file("state.yaml");
//   used.add(settings.actions);
//   const Mechanism with = used.with_coordinates();
//
// Mistakes (unknown names, expressions and files that cannot be read) are left to the second
// reading. Cost: one more finish() of the mechanism if a loop is cut and expressions are read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/io/models/yaml_tree.h"
#include "catena/simulation/simulate.h"

namespace catena {

class UsedHinges {
 public:
  // The mechanism must outlive this.
  explicit UsedHinges(const Mechanism& mechanism);

  // Hinges, or their freedoms and coordinates.
  void add(const std::string& name);
  void add(std::span<const std::string> names);
  // q.NAME, v.NAME, a.NAME, effort.NAME, ... or hinge.NAME.PARAMETER; a name alone is a freedom.
  void add_signals(std::span<const std::string> signals);
  void add(const SignalSettings& signal);  // q.NAME and v.NAME in its expression
  void add(const ActionSettings& actions);
  void add(const SimulationSettings& settings);
  // The map of a state (state_file.h).
  void add_state(const yaml::Node& node);
  void add_state_file(const std::string& path);
  void add_settings_file(const std::string& path);
  // The signals that a linear system in a YAML file reads and writes.
  void add_controller_file(const std::string& path);

  // Every hinge that moves has coordinates here: the mechanism for the first reading.
  const Mechanism& complete();
  // The hinges found, in the order of the mechanism.
  std::vector<std::string> names() const;
  // The mechanism with coordinates at all of them.
  Mechanism with_coordinates() const;

 private:
  const Mechanism& mechanism_;
  std::vector<std::string> without_coordinates_;  // hinges that are cut
  std::optional<Mechanism> complete_;             // made when it is needed
  std::vector<std::uint8_t> used_;                // by hinge
};

}  // namespace catena
