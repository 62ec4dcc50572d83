// SPDX-License-Identifier: BSD-3-Clause
// A state of a mechanism with efforts and external wrenches, read from YAML by names:
//
//   q: {shoulder: 0.3, elbow: -0.5}      # by hinge or coordinate, or a list of all in order
//   v: [0.1, 0.2]
//   effort: {shoulder: 2.0}
//   acceleration: {elbow: 1.0}
//   motion_driven: [elbow]               # hybrid dynamics: freedoms whose acceleration is given
//   external:
//     - {body: hand, force: [0, 0, -10], moment: [0, 0, 0], point: [0.1, 0, 0], axes: ground}
//
// Missing entries are those of the mechanism's default state (q, v) or zero. docs/command-line.md
// is the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catena/closure/assembly.h"
#include "catena/dynamics/loads.h"

namespace catena {

struct StateInput {
  State state;
  GivenFreedoms given;  // freedoms given by the file or the model
  Eigen::VectorXd effort;
  Eigen::VectorXd acceleration;
  bool acceleration_given = false;               // given in the file, not zero by default
  std::vector<std::uint8_t> given_acceleration;  // by freedom
  std::vector<std::uint8_t> motion_driven;       // by freedom
  std::vector<ExternalWrench> external;
};

// Moves the state to a position and velocity that close the loops. The state of a tree stays.
// Returns a warning if given values had to move: by how much each (empty: they stay).
std::string close_loops(const Mechanism& mechanism, StateInput& input);

StateInput default_input(const Mechanism& mechanism);

// Throws ModelError with every mistake of the file, each with its line.
StateInput read_state_file(const std::string& path, const Mechanism& mechanism);

}  // namespace catena
