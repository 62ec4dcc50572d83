// SPDX-License-Identifier: BSD-3-Clause
// Verification cases without a mechanism: a discrete linear-quadratic problem (lq/riccati.h) and
// the parts of its solution.
//
//   lq:
//     start: [1, 2]                        # x_0; left out: it has no entries
//     stages:
//       - {A: [[1, 1], [0, 1]], B: [0, 1], R: 2, r: -1}
//     final: {Q: [[3, 1], [1, 1]], q: [2, 0]}
//
// A list of numbers is a column, a list of lists a matrix by rows, a number 1 by 1.
#pragma once

#include <span>
#include <string>

#include "catena/io/models/yaml_values.h"
#include "catena/lq/riccati.h"

namespace catena {

struct LqQuantity {
  std::string name;
  std::string meaning;
  bool staged = true;  // one for each stage (or state): needs 'of:'
  // Throws Error if there is no such stage.
  Eigen::MatrixXd (*compute)(const LqSolution& solution, std::size_t stage) = nullptr;
};

std::span<const LqQuantity> lq_quantities();
const LqQuantity* find_lq_quantity(const std::string& name);

// Errors go to `values`.
LqProblem read_lq(yaml::Values& values, const yaml::Node& node);
Eigen::MatrixXd read_lq_matrix(yaml::Values& values, const yaml::Node& node);

}  // namespace catena
