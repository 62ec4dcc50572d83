// SPDX-License-Identifier: BSD-3-Clause
// Gramians, Hankel singular values and balanced realizations.
//
//   controllability P:  A P + P Aᵀ + B Bᵀ = 0        observability Q:  Aᵀ Q + Q A + Cᵀ C = 0
//   Hankel singular values σ_i = √λ_i(P Q): how much of the output a state can carry
//
//   const Eigen::VectorXd sigma = hsvd(plant);
//   const BalancedRealization b = balreal(plant);            // P = Q = diag(σ)
//
// From factors P = S Sᵀ, Q = T Tᵀ (lyapunov.h) and the singular values of Tᵀ S: small σ keep their
// digits [Tombs & Postlethwaite 1987]. Unstable modes have no Gramian: hsvd gives them ∞, the
// others throw.
#pragma once

#include "catena/linear/state_space.h"

namespace catena {

enum class GramianKind { controllability, observability };
Eigen::MatrixXd gram(const StateSpace& system, GramianKind kind);
// S with S Sᵀ the Gramian.
Eigen::MatrixXd gram_factor(const StateSpace& system, GramianKind kind);

// Largest first; ∞ for each unstable mode, which stands first.
Eigen::VectorXd hsvd(const StateSpace& system);

struct BalancedRealization {
  StateSpace system;            // of the order of the minimal part
  Eigen::VectorXd sigma;        // all Hankel values, those of the part left out too
  Eigen::MatrixXd left, right;  // left · right = 1; A_balanced = left A right
};
// Leaves out states with σ below `tolerance` times the largest (they are not minimal).
BalancedRealization balreal(const StateSpace& system, double tolerance = 1e-12);

// G = first + second exactly: poles for which `first` is true and the others. States of the parts
// are columns of x = [T1 T2] z.
struct Decomposition {
  StateSpace first, second;
  Eigen::MatrixXd T;  // real, invertible
};
// Splits off the poles with real part ≥ −margin (|z| ≥ 1 − margin): the unstable part is `first`.
Decomposition split_unstable(const StateSpace& system, double margin = 0.0);
// Splits off poles slower than this frequency (|s| < ω; |log z|/dt < ω).
Decomposition split_slow(const StateSpace& system, double frequency);

}  // namespace catena
