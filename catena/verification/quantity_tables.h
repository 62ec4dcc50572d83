// SPDX-License-Identifier: BSD-3-Clause
// The tables of quantities (quantities.h), one for each subject, and how their rows are written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "catena/verification/quantities.h"

namespace catena {

std::vector<Quantity> mechanism_quantities();
std::vector<Quantity> acceleration_quantities();
std::vector<Quantity> mass_quantities();
std::vector<Quantity> body_quantities();
std::vector<Quantity> closure_quantities();
std::vector<Quantity> sensitivity_quantities();
std::vector<Quantity> optimal_quantities();
std::vector<Quantity> flexible_quantities();

using ComputeQuantity = Eigen::MatrixXd (*)(const QuantityRequest& request);

inline Quantity scalar_row(std::string name, std::string meaning, ComputeQuantity compute,
                           Quantity::Of of = Quantity::Of::nothing) {
  return {std::move(name), std::move(meaning), Quantity::Shape::scalar, {}, of, compute};
}

inline Quantity vector_row(std::string name, std::string meaning, std::vector<std::string> parts,
                           ComputeQuantity compute, Quantity::Of of = Quantity::Of::nothing) {
  return {std::move(name), std::move(meaning), Quantity::Shape::vector, std::move(parts), of,
          compute};
}

// One number for each freedom.
inline Quantity freedom_row(std::string name, std::string meaning, ComputeQuantity compute,
                            Quantity::Of of = Quantity::Of::nothing) {
  return {std::move(name), std::move(meaning), Quantity::Shape::freedom_vector, {}, of, compute};
}

// A row and a column for each freedom.
inline Quantity freedom_matrix_row(std::string name, std::string meaning, ComputeQuantity compute) {
  return {std::move(name),
          std::move(meaning),
          Quantity::Shape::freedom_matrix,
          {},
          Quantity::Of::nothing,
          compute};
}

// Numbers of which the reference may have only the first.
inline Quantity list_row(std::string name, std::string meaning, ComputeQuantity compute,
                         Quantity::Of of = Quantity::Of::nothing) {
  return {std::move(name), std::move(meaning), Quantity::Shape::list, {}, of, compute};
}

// The number of each body's group.
inline Quantity body_groups_row(std::string name, std::string meaning, ComputeQuantity compute) {
  return {
      std::move(name), std::move(meaning), Quantity::Shape::body_groups, {}, Quantity::Of::nothing,
      compute};
}

// The same quantity of the state as it was given, loops open.
inline Quantity of_guess(Quantity row) {
  row.of_guess = true;
  return row;
}

// The parts of vectors.
inline std::vector<std::string> xyz_parts() { return {"x", "y", "z"}; }
inline std::vector<std::string> wrench_parts() {
  return {"moment.x", "moment.y", "moment.z", "force.x", "force.y", "force.z"};
}
inline std::vector<std::string> twist_parts() {
  return {"angular.x", "angular.y", "angular.z", "linear.x", "linear.y", "linear.z"};
}

}  // namespace catena
