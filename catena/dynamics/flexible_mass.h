// SPDX-License-Identifier: BSD-3-Clause
// Mass matrices of mechanisms with flexible bodies, by composite bodies.
#pragma once

#include <Eigen/Core>

#include "catena/dynamics/workspace.h"

namespace catena {

// Of the spanning tree, both triangles. Composite bodies are rigid at the present deformation; a
// column is the momentum of a unit rate, carried inward: at an attachment Wᵀ of it are the entries
// of the modes. Cost: O(freedoms × depth). [Walker & Orin 1982]
void flexible_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                          Workspace& workspace, Eigen::MatrixXd& matrix);

// q with the modal coordinates of ruthless bodies zero: their inertia does not see them.
Eigen::VectorXd as_seen_by_inertia(const Mechanism& mechanism, const Eigen::VectorXd& q);

// Throws a NumericalError that names the first flexible body: `what` is not there for it.
void refuse_flexible(const Mechanism& mechanism, const char* what);

}  // namespace catena
