// SPDX-License-Identifier: BSD-3-Clause
// Quantities of optimal motions: of the problem file that `of` names.
#pragma once

#include "catena/verification/quantities.h"

namespace catena {

Eigen::MatrixXd guess_cost(const QuantityRequest& request);
Eigen::MatrixXd least_cost(const QuantityRequest& request);
Eigen::MatrixXd least_duration(const QuantityRequest& request);
Eigen::MatrixXd final_position(const QuantityRequest& request);
Eigen::MatrixXd final_velocity(const QuantityRequest& request);
// Of the conditions, in their units.
Eigen::MatrixXd final_violation(const QuantityRequest& request);
Eigen::MatrixXd optimal_coefficients(const QuantityRequest& request);

}  // namespace catena
