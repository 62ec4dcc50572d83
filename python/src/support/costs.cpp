// SPDX-License-Identifier: BSD-3-Clause
#include "costs.h"

namespace catena::python {

PythonCostFunction::PythonCostFunction(const MechanismPointer& mechanism,
                                       std::shared_ptr<py::object> function,
                                       std::shared_ptr<Failure> failure)
    : function_(std::move(function)), failure_(std::move(failure)) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(mechanism->freedoms());
  point_ = keep(py::cast(
      PythonCostPoint{0.0, NamedState{mechanism, mechanism->default_state()}, zero, zero}));
  gradient_ = keep(py::cast(CostGradient{zero, zero, zero, zero}));
  seen_point_ = &py::cast<PythonCostPoint&>(*point_);
  seen_gradient_ = &py::cast<CostGradient&>(*gradient_);
}

double PythonCostFunction::operator()(const CostPoint& point, CostGradient* gradient) const {
  const py::gil_scoped_acquire gil;
  // The same sizes: views of Python stay valid.
  seen_point_->time = point.time;
  seen_point_->state.state.q = point.state.q;
  seen_point_->state.state.v = point.state.v;
  seen_point_->acceleration = point.acceleration;
  seen_point_->effort = point.effort;
  seen_gradient_->set_zero(static_cast<int>(seen_gradient_->v.size()));
  const double value = failure_->guard([&] {
    const py::object answer =
        (*function_)(*point_, gradient != nullptr ? *gradient_ : py::object(py::none()));
    return py::cast<double>(answer);
  });
  if (gradient != nullptr) *gradient = *seen_gradient_;
  return value;
}

}  // namespace catena::python
