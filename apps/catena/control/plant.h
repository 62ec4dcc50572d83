// SPDX-License-Identifier: BSD-3-Clause
// The plant of `catena control`: a linear system from a file, or a mechanism linearized at a state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/catena/model_options.h"
#include "catena/components/linear_controller.h"
#include "catena/sensitivity/linearize.h"
#include "catena/simulation/state_file.h"

namespace catena::app {

// The mechanism behind a plant.
struct PlantMechanism {
  std::unique_ptr<Mechanism> mechanism;
  StateInput at;  // the operating point, loops closed
  LinearModel model;
};

struct Plant {
  StateSpace system;
  std::string file;
  std::optional<PlantMechanism> origin;  // none: a system file
};

// Sampled by a zero-order hold if a period is given (s); delays of a sampled plant become states.
// Throws UsageError if the period is not positive, so short that the samples have no digits, or if
// the plant is sampled already with another one; and if a continuous plant has delays.
void sample_plant(Plant& plant, const std::optional<double>& period);
void require_no_delay(const StateSpace& system, const std::string& file);

// Designs and verification need an equilibrium; others warn if the state is none.
enum class PointNeeded { any, equilibrium };

class PlantOptions {
 public:
  void add(Command& command);
  const std::string& file() const { return model_.file(); }
  // A mechanism that rests but is not in balance is held by efforts at the inputs, if they can.
  // `controller`: its signals become inputs and outputs if the options name none.
  Plant load(const StateSpace* controller = nullptr, PointNeeded point = PointNeeded::any) const;

 private:
  Plant from_mechanism(const StateSpace* controller, PointNeeded point) const;

  ModelOptions model_;
  std::string at_;
  std::vector<std::string> inputs_, outputs_, independent_;
  std::optional<int> pade_;
};

// A controller file; messages name it. Empty path: none.
std::optional<LinearControllerSettings> load_controller_file(const std::string& path);

}  // namespace catena::app
