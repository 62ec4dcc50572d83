// SPDX-License-Identifier: BSD-3-Clause
// Verification cases of linear systems and control design, without a mechanism.
//
//   system: {A: [[0, 1], [-4, -0.4]], B: [0, 1], C: [[1, 0]]}   # D, dt; also of a single check
//   checks:
//     - {quantity: hinf_norm, reference: 1.2562973}
//     - {quantity: care, with: {Q: [[1, 0], [0, 2]], R: 1}, reference: [[...], [...]]}
//
// A system is its matrices, {numerator, denominator} (highest power first), {file} (a table of the
// entries that are not zero) or {beam: [length, damping, position]}: the simply supported beam with
// end torque of [Bennett 1989] as a function of s. `with` has the other data as numbers, lists and
// matrices.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "catena/io/models/yaml_values.h"
#include "catena/linear/state_space.h"

namespace catena {

struct ControlProblem {
  std::optional<StateSpace> system{};
  Eigen::VectorXd beam{};  // length, damping, position; empty: no beam
  std::map<std::string, Eigen::MatrixXd> with{};

  // Throw Error if it is missing.
  const StateSpace& plant() const;
  const Eigen::MatrixXd& matrix(const std::string& key) const;
  double number(const std::string& key) const;
  double number(const std::string& key, double otherwise) const;
};

struct ControlQuantity {
  std::string name;
  std::string meaning;
  Eigen::MatrixXd (*compute)(const ControlProblem& problem) = nullptr;
  bool list = false;  // the reference may have only the first rows
};

std::span<const ControlQuantity> control_quantities();
const ControlQuantity* find_control_quantity(const std::string& name);

// Errors go to `values`. Files are relative to `folder`.
void read_control_system(yaml::Values& values, const yaml::Node& node, const std::string& folder,
                         ControlProblem& to);
void read_control_data(yaml::Values& values, const yaml::Node& node, ControlProblem& to);

}  // namespace catena
