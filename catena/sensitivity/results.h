// SPDX-License-Identifier: BSD-3-Clause
// Results of the derivatives of the dynamics.
#pragma once

#include <Eigen/Core>

#include "catena/dynamics/forward.h"

namespace catena {

// Rows: efforts; columns: directions. In a tree all freedoms in order; in a closed mechanism the
// independent ones, dynamics().independent() of the workspace: the efforts are those that
// inverse_dynamics() gives there, dq moves the mechanism along its closure with the independent
// velocities and accelerations held, and the other two change an independent velocity or
// acceleration, from which the dependent ones follow.
struct InverseDerivatives {
  Eigen::MatrixXd dq;
  Eigen::MatrixXd dv;
  Eigen::MatrixXd da;  // the mass matrix
};

// Rows and columns: the freedoms of a tree in order; the independent ones of a closed mechanism.
// The columns of deffort are all freedoms of the spanning tree, also when it is closed: an effort
// may act at any of them.
struct ForwardDerivatives {
  Eigen::VectorXd acceleration;  // of all freedoms
  Eigen::MatrixXd dq;
  Eigen::MatrixXd dv;
  Eigen::MatrixXd deffort;
};

// Rows and columns as above; the input of a freedom is its effort if it is force-driven and its
// acceleration if it is motion-driven. In a closed mechanism the columns of dinput are all freedoms
// of the spanning tree, and those of dependent freedoms are efforts.
struct HybridDerivatives {
  HybridResult result;
  Eigen::MatrixXd acceleration_dq, acceleration_dv, acceleration_dinput;
  Eigen::MatrixXd effort_dq, effort_dv, effort_dinput;
};

// How a closed mechanism moves with its independent freedoms, at one state (tangent.h): the full
// vectors of the spanning tree from changes of the independent ones,
//
//   δq = X δq_i,   δv = X δv_i + velocity_dq δq_i,
//   δv̇ = X δv̇_i + bias_dq δq_i + bias_dv δv_i.
//
// In a tree X is the identity and the others are zero.
struct TangentMaps {
  Eigen::MatrixXd map;  // X
  Eigen::MatrixXd velocity_dq;
  Eigen::MatrixXd bias_dq;
  Eigen::MatrixXd bias_dv;
};

}  // namespace catena
