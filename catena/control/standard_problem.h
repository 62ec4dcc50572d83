// SPDX-License-Identifier: BSD-3-Clause
// The H2/H-infinity problem brought to standard form: continuous time, no E, D22 = 0,
// D12 = [0; 1], D21 = [0 1]. Not installed.
#pragma once

#include <string>
#include <vector>

#include "catena/control/generalized_plant.h"

namespace catena {

struct StandardProblem {
  Eigen::MatrixXd A, B1, B2, C1, C2, D11;  // D12 = [0; 1], D21 = [0 1], D22 = 0
  // u = u_map ũ, ỹ = y_map y: undone on the controller.
  Eigen::MatrixXd u_map, y_map, D22;
  double dt = 0.0;                   // of the plant given
  std::vector<std::string> remarks;  // regularization
  bool regularized = false;

  Eigen::Index p1() const { return C1.rows(); }
  Eigen::Index m1() const { return B1.cols(); }
  Eigen::Index m2() const { return B2.cols(); }
  Eigen::Index p2() const { return C2.rows(); }
};

enum class TimeMap { keep, bilinear };  // what is done with sampled plants
// state_regularization > 0 adds that fraction of state weight and state noise.
StandardProblem standard_problem(const GeneralizedPlant& plant, TimeMap map,
                                 double state_regularization = 0.0);
// The controller of the plant given, from that of the standard problem (A, B, C, D).
StateSpace controller_of(const StandardProblem& problem, const GeneralizedPlant& plant,
                         const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                         const Eigen::MatrixXd& c, const Eigen::MatrixXd& d);

}  // namespace catena
