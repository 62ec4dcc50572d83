// SPDX-License-Identifier: BSD-3-Clause
// Costs by functions of the user, along a trajectory and in the search for an optimal motion.
#pragma once

#include "callbacks.h"

#include "catena/trajectory/problem.h"

namespace catena::python {

// `CostPoint` and `CostGradient` in Python: numbers of their own, which are set before each call
// and read after it.
struct PythonCostPoint {
  double time = 0.0;
  NamedState state;
  Eigen::VectorXd acceleration, effort;
};

// Part of a cost by a Python function f(point, gradient) -> value; gradient is None where it is not
// wanted, and comes in as zero.
class PythonCostFunction {
 public:
  PythonCostFunction(const MechanismPointer& mechanism, std::shared_ptr<py::object> function,
                     std::shared_ptr<Failure> failure);
  double operator()(const CostPoint& point, CostGradient* gradient) const;

 private:
  std::shared_ptr<py::object> function_, point_, gradient_;
  PythonCostPoint* seen_point_;
  CostGradient* seen_gradient_;
  std::shared_ptr<Failure> failure_;
};

}  // namespace catena::python
