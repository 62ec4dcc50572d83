// SPDX-License-Identifier: BSD-3-Clause
// A model that sliders move: a tree by all its coordinates, a closed mechanism by independent ones,
// from which the rest follows by closing the loops. Cost of a move: kinematics; of a closed
// mechanism an assembly for every kStep of the way.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/output.h"
#include "catena/model/mechanism.h"

namespace catena::app {

class MovableModel {
 public:
  // `independent`: hinges or freedoms that shall have sliders; others are chosen by conditioning.
  // The mechanism must outlive it. Throws NameError, and NumericalError if the loops cannot be
  // closed or the freedoms cannot all be independent.
  explicit MovableModel(const Mechanism& mechanism,
                        const std::vector<std::uint8_t>& independent = {});

  // The position that is shown, loops closed.
  const Eigen::VectorXd& position() const { return q_; }
  // One slider each: `name`, `unit`, `lower`, `upper`, `value`.
  Json coordinates() const;
  // Moves the sliders there, as far as the loops can be closed on the way. Returns "" or the reason
  // why they cannot.
  std::string move(const std::vector<double>& values);
  std::vector<double> values() const;

 private:
  struct Slider {
    int freedom, coordinate;
    double lower, upper;
    std::string unit;
  };
  std::string step(const std::vector<double>& values);

  const Mechanism& mechanism_;
  Eigen::VectorXd q_;
  std::vector<Slider> sliders_;
  std::vector<std::uint8_t> fixed_;  // by freedom: has a slider
};

}  // namespace catena::app
