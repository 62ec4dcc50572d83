// The joint-space mass matrix M, by composite bodies.
#pragma once

#include "catena/dynamics/workspace.h"

namespace catena {

// Both triangles; the rotors of drives included. O(N · depth). With closed loops: of the
// independent freedoms, in the order of workspace.independent().
const Eigen::MatrixXd& mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                   Workspace& workspace);
Eigen::MatrixXd mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q);

}  // namespace catena
