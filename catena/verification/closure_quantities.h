// SPDX-License-Identifier: BSD-3-Clause
// Quantities of constraints, of their projections and of operators, for the table of
// quantities.cpp.
#pragma once

#include "catena/verification/quantities.h"

namespace catena {

Eigen::MatrixXd newton_position(const QuantityRequest& request);
Eigen::MatrixXd weighted_velocity(const QuantityRequest& request);
Eigen::MatrixXd hinge_opening(const QuantityRequest& request);
Eigen::MatrixXd closure_singular_values(const QuantityRequest& request);
Eigen::MatrixXd inverse_inertia(const QuantityRequest& request);
Eigen::MatrixXd operator_residuals(const QuantityRequest& request);
Eigen::MatrixXd power_residual(const QuantityRequest& request);

}  // namespace catena
