// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of the dynamics, for the table of quantities.cpp. Those of a closed mechanism are
// over all freedoms, with zeros for the ones that depend on others; hybrid: of what hybrid dynamics
// finds.
#pragma once

#include "catena/verification/quantities.h"

namespace catena {

Eigen::MatrixXd acceleration_by_position(const QuantityRequest& request);
Eigen::MatrixXd acceleration_by_velocity(const QuantityRequest& request);
Eigen::MatrixXd acceleration_by_effort(const QuantityRequest& request);
Eigen::MatrixXd effort_by_position(const QuantityRequest& request);
Eigen::MatrixXd effort_by_velocity(const QuantityRequest& request);
Eigen::MatrixXd hybrid_by_position(const QuantityRequest& request);
Eigen::MatrixXd hybrid_by_velocity(const QuantityRequest& request);
Eigen::MatrixXd hybrid_by_input(const QuantityRequest& request);
Eigen::MatrixXd hybrid_by_parameter(const QuantityRequest& request);

}  // namespace catena
