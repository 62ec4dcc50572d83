// SPDX-License-Identifier: BSD-3-Clause
// Reduction of the system pencil [A − sE B; C D] to one without infinite zeros.
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

struct ReducedPencil {
  Eigen::MatrixXd A, E;  // the finite zeros are its eigenvalues
  int normal_rank = 0;   // of the transfer matrix
};
ReducedPencil reduce_zeros(const StateSpace& system);

// An equivalent pencil with E = 1: algebraic states count as inputs, algebraic equations as
// outputs.
StateSpace with_identity_descriptor(const StateSpace& system);

}  // namespace catena
