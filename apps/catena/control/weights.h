// SPDX-License-Identifier: BSD-3-Clause
// Weights of designs on the command line: diagonal matrices by name, and weights over frequency.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/control/control_output.h"
#include "catena/control/generalized_plant.h"
#include "catena/control/mixsyn.h"

namespace catena::app {

// --q NAME=X (outputs or states), --r NAME=X (inputs), --w NAME=X (noise at inputs), --v NAME=X
// (noise of outputs).
struct QuadraticWeights {
  std::vector<std::string> q, r, w, v;
  std::string command;
  void add(Command& on, const std::string& name, bool noise);

  Eigen::MatrixXd state_weight(const StateSpace& plant) const;  // Q, of the states
  Eigen::MatrixXd input_weight(const StateSpace& plant) const;  // R
  Eigen::MatrixXd input_noise(const StateSpace& plant) const;   // W, through B
  Eigen::MatrixXd output_noise(const StateSpace& plant) const;  // V
};

// What W and V mean for a sampled plant. `intensity`: of white noise in continuous time, which
// sampled noise of covariance W/dt stands for, so that the H2 norm does not depend on the period.
// `signal`: factors on any signal, which the H-infinity norm compares.
enum class NoiseScale { intensity, signal };

// z = (√Q x, √R u), w = noise at the inputs and of the outputs; the measurements are the plant's
// outputs.
GeneralizedPlant standard_plant(const StateSpace& plant, const QuadraticWeights& weights,
                                NoiseScale noise);

// A weight over frequency: a number; LOW,CROSSOVER,HIGH; NUM/DEN as coefficients, highest power
// first, "1,0,0/40000"; or a system file. Empty: absent.
Weight frequency_weight(const std::string& text, const std::string& command,
                        const std::string& option);

}  // namespace catena::app
