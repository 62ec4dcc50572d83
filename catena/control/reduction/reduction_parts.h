// SPDX-License-Identifier: BSD-3-Clause
// Parts of the reduction of stable systems. Not installed.
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

// Petrov-Galerkin projection onto the columns of `right` along those of `left`.
StateSpace project(const StateSpace& g, const Eigen::MatrixXd& left, const Eigen::MatrixXd& right);
// The states after `keep` in their steady state.
StateSpace residualized(const StateSpace& g, Eigen::Index keep);
// The stable system of order k with the least Hankel norm of the error, σ_{k+1} [Glover 1984].
StateSpace hankel_approximation(const StateSpace& g, Eigen::Index k);

}  // namespace catena
