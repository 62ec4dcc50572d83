// SPDX-License-Identifier: BSD-3-Clause
// The quantities that a verification case can compare, by name. To add one: write a function in
// one of the *_quantities.cpp and a row of its table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/dynamics/workspace.h"
#include "catena/simulation/state_file.h"

namespace catena {

struct QuantityRequest {
  const Mechanism& mechanism;
  const StateInput& input;  // its loops closed, unless the quantity is Quantity::of_guess
  std::string of;           // the hinge, body, ... for the quantities that need one
  std::string other;        // the second frame for those that need two
  std::string axes;         // of wrenches: "body" (the child), "ground", or the name of a body
  // Freedoms that the reference names. A reduced quantity of a closed mechanism refers to these as
  // its independent freedoms, and to those driven by motion.
  std::vector<int> freedoms;
};

struct Quantity {
  enum class Shape {
    scalar,
    vector,          // a fixed number of entries, called `parts`
    freedom_vector,  // one entry for each freedom
    freedom_matrix,
    body_groups,  // for each body the number of its group (see number_groups); 0: in none
    list,         // numbers, of which the reference may have only the first
    matrix        // rows of numbers
  };
  // A component of a flexible body is given as [body, component].
  enum class Of {
    nothing,
    hinge,
    body,
    coupling,
    rod,
    frames,
    parameter,
    problem,
    flexible,
    flexible_component
  };

  std::string name;
  std::string meaning;
  Shape shape = Shape::scalar;
  std::vector<std::string> parts;
  Of of = Of::nothing;
  Eigen::MatrixXd (*compute)(const QuantityRequest& request) = nullptr;
  bool of_guess = false;  // of the state as it was given, loops open
};

// A number as the 1 x 1 matrix that quantities come in.
inline Eigen::MatrixXd scalar(double value) { return Eigen::MatrixXd::Constant(1, 1, value); }

std::span<const Quantity> quantities();
const Quantity* find_quantity(const std::string& name);

// The index of a body, hinge, coupling, rod or frame (of a parameter: 0; of a flexible body: that
// of its frame); a NameError if there is none.
int find_thing(const Mechanism& mechanism, Quantity::Of kind, const std::string& name);

// Makes the freedoms that the reference names, and those driven by motion, the independent ones of
// a closed mechanism.
void pin_reference(const QuantityRequest& request, Workspace& workspace);

// The coordinate of each freedom at q.
Eigen::MatrixXd coordinates_of_freedoms(const QuantityRequest& request, const Eigen::VectorXd& q);

// Of `count` bodies, the number of the group of each: groups are counted from 1 in the order of
// their first bodies, in any order of input.
Eigen::VectorXd number_groups(const std::vector<std::vector<int>>& groups, std::size_t count);

}  // namespace catena
