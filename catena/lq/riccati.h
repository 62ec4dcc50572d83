// SPDX-License-Identifier: BSD-3-Clause
// Discrete linear-quadratic problems (LQR with affine terms, time-varying) by one Riccati sweep.
//
//   minimize  Σ_k ½ x_kᵀ Q x_k + qᵀ x_k + ½ u_kᵀ R u_k + u_kᵀ S x_k + rᵀ u_k
//   with      x_{k+1} = A x_k + B u_k + c,   x_0 given,      every matrix depending on k
//
// Two sweeps, as in forward dynamics (dynamics/kernels/sweeps.h), where stages are bodies:
//
//   inward    D = R + Bᵀ P B,  K = D⁻¹ (S + Bᵀ P A),  ε = −r − Bᵀ (p + P c)
//             P := Q + (A − B K)ᵀ P (A − B K) + Kᵀ R K − Sᵀ K − Kᵀ S
//             p := q + (A − B K)ᵀ (p + P c) − Kᵀ r
//   outward   u = D⁻¹ ε − K x,   x⁺ = A x + B u + c,   λ = P x + p
//
// D is the hinge inertia, ε the innovation, K the gain, P the articulated inertia, p the residual
// force, λ the interbody force ([D'Eleuterio & Damaren 1991], section on optimal control; there λ
// has the other sign and t = −r, M = Q, h = q). Only D must be positive definite: R may be zero, as
// it is in forward dynamics; sizes may differ from stage to stage, and a stage may have no input.
// The Joseph form keeps P symmetric and positive where the short one loses both. O(stages · size³).
//
//   const LqSolution best = solve_lq(problem);
//   const Eigen::VectorXd u = best.policy.feedforward[k] - best.policy.gain[k] * x;  // for any x
//
// Reference: [Anderson & Moore 1990].
#pragma once

#include <vector>

#include <Eigen/Core>

namespace catena {

// One step from x_k to x_{k+1}, with the cost of x_k and u_k. Matrices and vectors that are left
// empty are zero; a B without columns means no input.
struct LqStage {
  Eigen::MatrixXd A{}, B{};
  Eigen::VectorXd c{};
  Eigen::MatrixXd Q{}, R{}, S{};
  Eigen::VectorXd q{}, r{};
};

struct LqProblem {
  std::vector<LqStage> stages;
  Eigen::MatrixXd final_Q;  // cost of the last state
  Eigen::VectorXd final_q;
  Eigen::VectorXd start;  // x_0
};

// Result of the inward sweep: the optimal input at any state, u_k = feedforward − gain x_k, and the
// optimal cost from x_k on, ½ xᵀ P x + pᵀ x + constant.
struct LqPolicy {
  std::vector<Eigen::MatrixXd> gain;           // K
  std::vector<Eigen::VectorXd> feedforward;    // D⁻¹ ε
  std::vector<Eigen::MatrixXd> input_inertia;  // D
  std::vector<Eigen::VectorXd> innovation;     // ε
  std::vector<Eigen::MatrixXd> value;          // P, one more than stages
  std::vector<Eigen::VectorXd> slope;          // p, one more than stages
  std::vector<double> constant;                // one more than stages
};

struct LqSolution {
  std::vector<Eigen::VectorXd> x;  // one more than stages
  std::vector<Eigen::VectorXd> u;
  std::vector<Eigen::VectorXd> costate;  // λ_k = ∂(optimal cost)/∂x_k, one more than stages
  double cost = 0.0;
  LqPolicy policy;
};

// Throws Error if sizes do not fit (names the stage and the matrix), NumericalError if the cost has
// no minimum over the input of a stage (D is not positive definite) or a number is not finite.
LqPolicy lq_policy(const LqProblem& problem);
LqSolution solve_lq(const LqProblem& problem);

// The cost of given inputs, by its definition.
double lq_cost(const LqProblem& problem, const std::vector<Eigen::VectorXd>& u);

}  // namespace catena
