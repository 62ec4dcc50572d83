// SPDX-License-Identifier: BSD-3-Clause
// Controllable and observable parts of a system by orthogonal transformations (staircase form), and
// the minimal realization.
//
//   const StateSpace small = minreal(closed);          // without modes that cancel
//
// Each step of the staircase takes the directions that the inputs reach through those found so far.
// Directions that they reach by less than `tolerance` times the norm of [A B] are left out.
// Householder reflections, O(n³). The system is scaled by powers of two first [Varga 1981].
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

constexpr double kStaircaseTolerance = 1e-10;

// Qᵀ A Q = [Ac X; 0 Au], Qᵀ B = [Bc; 0], C Q = [Cc Cu], the controllable part first.
struct Staircase {
  Eigen::MatrixXd A, B, C, Q;
  int controllable = 0;
  std::vector<int> steps{};  // sizes of the blocks: how many directions each step adds
};
Staircase controllable_staircase(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                                 const Eigen::MatrixXd& C, double tolerance = kStaircaseTolerance);

struct MinimalRealization {
  StateSpace system;
  int uncontrollable = 0, unobservable = 0;  // states removed
};
// An explicit system (see explicit_form) without its uncontrollable and unobservable states. If
// there are none, the system comes back unchanged, names of states included.
MinimalRealization minimal_realization(const StateSpace& system,
                                       double tolerance = kStaircaseTolerance);
StateSpace minreal(const StateSpace& system, double tolerance = kStaircaseTolerance);

}  // namespace catena
