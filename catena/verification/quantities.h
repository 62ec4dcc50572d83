// The quantities that a verification case can compare, by name. To add one: write a function in
// quantities.cpp and a row of its table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/simulation/state_file.h"

namespace catena {

struct QuantityRequest {
  const Mechanism& mechanism;
  const StateInput& input;
  std::string of;            // a hinge or body, for the quantities that need one
  bool ground_axes = false;  // of wrenches; otherwise the axes of the body
};

struct Quantity {
  enum class Shape {
    scalar,
    vector,          // a fixed number of entries, called `parts`
    freedom_vector,  // one entry for each freedom
    freedom_matrix
  };
  enum class Of { nothing, hinge, body };

  std::string name;
  std::string meaning;
  Shape shape = Shape::scalar;
  std::vector<std::string> parts;
  Of of = Of::nothing;
  Eigen::MatrixXd (*compute)(const QuantityRequest& request) = nullptr;
};

std::span<const Quantity> quantities();
const Quantity* find_quantity(const std::string& name);

}  // namespace catena
