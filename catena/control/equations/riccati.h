// SPDX-License-Identifier: BSD-3-Clause
// Algebraic Riccati equations in the general form, continuous and discrete:
//
//   care  Aᵀ X E + Eᵀ X A − (Eᵀ X B + S) R⁻¹ (Bᵀ X E + Sᵀ) + Q = 0
//   dare  Aᵀ X A − Eᵀ X E − (Aᵀ X B + S) (R + Bᵀ X B)⁻¹ (Bᵀ X A + Sᵀ) + Q = 0
//
// The stabilizing solution X = Xᵀ makes every eigenvalue of (A − B K, E) stable, with the gain
// K = R⁻¹ (Bᵀ X E + Sᵀ), or (R + Bᵀ X B)⁻¹ (Bᵀ X A + Sᵀ). R may be indefinite, as in H-infinity
// problems.
//
//   const RiccatiSolution s = care(A, B, Q, R);
//   s.X, s.K, s.poles, s.residual
//
// Routes: (1) the stable invariant subspace of the balanced Hamiltonian matrix by an ordered Schur
// form [Laub 1979], from 64 states on by its eigenvectors where these are well conditioned; for
// dare of the symplectic pencil by an ordered QZ [Van Dooren 1981], 200 n³; (2) structured doubling
// [Chu, Fan & Lin 2005], 17 n³ a step, where (1) fails and as the second opinion in tests. Newton
// steps follow while they lower the residual, up to 40 states with residuals in extended precision.
// Residual and closed-loop poles are checked; a solution that fails is not returned as one.
#pragma once

#include <optional>
#include <string>

#include <Eigen/Core>

namespace catena {

struct RiccatiProblem {
  Eigen::MatrixXd A{}, B{}, Q{}, R{};
  Eigen::MatrixXd S{};  // empty: zero
  Eigen::MatrixXd E{};  // empty: identity; must be regular
};

enum class RiccatiRoute { automatic, schur, doubling };

enum class RiccatiStatus {
  solved,
  axis_eigenvalues,   // Hamiltonian (symplectic) eigenvalues on the stability boundary
  no_graph_subspace,  // the stable subspace has no X: an unstabilizable unstable mode
  singular_weight,    // R (R + Bᵀ X B) is singular
  inaccurate,         // residual above the tolerance
  not_stabilizing     // closed loop not stable
};

struct RiccatiSolution {
  RiccatiStatus status = RiccatiStatus::solved;
  Eigen::MatrixXd X{}, K{};
  Eigen::VectorXcd poles{};  // of (A − B K, E)
  // ‖residual of the equation‖ / sum of the norms of its terms, Frobenius.
  double residual = 0.0;
  // Smallest distance of a closed-loop pole from the stability boundary, negative if unstable.
  double stability_margin = 0.0;
  // Smallest distance of a Hamiltonian eigenvalue from the boundary relative to its modulus, and
  // the frequency (rad/s, or rad per sample) where it is.
  double axis_distance = 0.0;
  double axis_frequency = 0.0;
  RiccatiRoute route = RiccatiRoute::schur;  // the route that was taken
  bool ok() const { return status == RiccatiStatus::solved; }
};

struct RiccatiSettings {
  RiccatiRoute route = RiccatiRoute::automatic;  // Schur, then doubling if it fails
  double residual_tolerance = 1e-8;              // above: inaccurate
  bool newton = true;
};

// Do not throw for problems without a stabilizing solution: look at `status`. Wrong sizes and NaN
// throw NumericalError.
RiccatiSolution solve_care(const RiccatiProblem& problem, const RiccatiSettings& settings = {});
RiccatiSolution solve_dare(const RiccatiProblem& problem, const RiccatiSettings& settings = {});

// Throw NumericalError with the reason and the remedy when there is no stabilizing solution.
RiccatiSolution care(const RiccatiProblem& problem, const RiccatiSettings& settings = {});
RiccatiSolution dare(const RiccatiProblem& problem, const RiccatiSettings& settings = {});
RiccatiSolution care(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& Q,
                     const Eigen::MatrixXd& R);
RiccatiSolution dare(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& Q,
                     const Eigen::MatrixXd& R);

// ‖residual‖ / sum of the norms of the terms, for any X.
double care_residual(const RiccatiProblem& problem, const Eigen::MatrixXd& X);
double dare_residual(const RiccatiProblem& problem, const Eigen::MatrixXd& X);

// What `status` means, in words, with the remedy.
std::string explained(const RiccatiSolution& solution);

// Co-located rate sensing, M q̈ + g B Bᵀ q̇ + K q = B (u + n_s), v = Bᵀ q̇ + n_0, white noise of
// densities d_s and d_0: the filter's Riccati equation has the closed solution
// P = p diag(K⁻¹, M⁻¹) with p²/d_0 + 2 g p = d_s, p = √(d_s d_0) without damping [Balakrishnan
// 1989]. Exact for any number of lightly damped or undamped modes. K must be regular.
struct ColocatedFilter {
  double p = 0.0;
  Eigen::MatrixXd position_covariance{};  // p K⁻¹: independent of the masses
  Eigen::MatrixXd rate_covariance{};      // p M⁻¹
  Eigen::MatrixXd gain{};                 // (2n × m): [0; (p/d_0) M⁻¹ B]
};
ColocatedFilter colocated_filter(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& stiffness,
                                 const Eigen::MatrixXd& input, double actuator_noise,
                                 double sensor_noise, double damping_gain = 0.0);

}  // namespace catena
