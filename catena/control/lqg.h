// SPDX-License-Identifier: BSD-3-Clause
// Linear-quadratic design: state feedback, Kalman filter, their combination, integral action, loop
// transfer recovery. Continuous and sampled (by dt of the system).
//
//   lqr     u = −K x with least ∫ xᵀQx + 2 xᵀSu + uᵀRu dt (Σ for sampled systems)
//   kalman  x̂' = A x̂ + B u + L (y − C x̂ − D u) for process noise w (through G) and sensor noise
//   lqg     both together; lqi with integrals of the tracking error; ltr recovers lqr's margins
//
//   const LqrResult r = lqr(plant, Q, R);
//   const LqgResult c = lqg(plant, Q, R, W, V);            // c.controller: u = K y
//
// Controllers are in positive feedback: u = K y, as lft and hinfsyn have it. Each result carries
// its Riccati residual and the stability of its loop. Failures name the mode.
#pragma once

#include <vector>

#include "catena/control/certificate.h"
#include "catena/linear/state_space.h"

namespace catena {

struct LqrResult {
  Eigen::MatrixXd K{}, X{};  // u = −K x; xᵀ X x is the cost to go
  Eigen::VectorXcd poles{};
  Certificate certificate{};
};
LqrResult lqr(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
              const Eigen::MatrixXd& S = {});
// Weights on outputs: y = C x + D u, yᵀ Q y + uᵀ R u.
LqrResult lqry(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R);
// The sampled regulator of the continuous plant and cost: both are integrated over the interval of
// a zero-order hold [Van Loan 1978].
LqrResult lqrd(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
               double dt);

struct KalmanResult {
  Eigen::MatrixXd L{}, P{};   // gain (of the predictor) and error covariance
  Eigen::MatrixXd current{};  // sampled: gain M of the update x̂ += M (y − ŷ) before the step
  Eigen::VectorXcd poles{};
  StateSpace filter{};  // inputs [u; y], outputs [x̂]
  Certificate certificate{};
};
// White noises of intensities (covariances) W and V: x' = A x + B u + G w, y = C x + D u + v; N is
// their cross intensity. G empty: identity.
KalmanResult kalman(const StateSpace& plant, const Eigen::MatrixXd& W, const Eigen::MatrixXd& V,
                    const Eigen::MatrixXd& G = {}, const Eigen::MatrixXd& N = {});
// The gain alone, by matrices.
KalmanResult lqe(const Eigen::MatrixXd& A, const Eigen::MatrixXd& G, const Eigen::MatrixXd& C,
                 const Eigen::MatrixXd& W, const Eigen::MatrixXd& V, double dt = 0.0);

struct LqgResult {
  StateSpace controller{};  // u = K y
  LqrResult regulator{};
  KalmanResult filter{};
  double cost = 0.0;  // E[xᵀQx + 2xᵀSu + uᵀRu] in steady state (per sample for sampled systems)
  Eigen::VectorXcd poles{};  // of the loop
  Certificate certificate{};
};
LqgResult lqg(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
              const Eigen::MatrixXd& W, const Eigen::MatrixXd& V, const Eigen::MatrixXd& G = {},
              const Eigen::MatrixXd& S = {});

// State feedback with integral action: states [x; ∫(r − y)]; u = −K [x; x_i]. Q weights both.
struct LqiResult {
  LqrResult regulator{};
  StateSpace augmented{};
};
LqiResult lqi(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R);

// Loop transfer recovery [Doyle & Stein 1979]: LQG whose filter has the process noise W + q B Bᵀ
// (input side), or whose regulator has the weight Q + q Cᵀ C (output side), for rising q. For
// plants without zeros in the right half plane the loop approaches that of the state feedback
// (filter).
enum class RecoverySide { input, output };
struct RecoveryStep {
  double q = 0.0;
  StateSpace controller{};
  double error = 0.0;  // largest ‖L(jω) − L_target(jω)‖/‖1 + L_target(jω)‖ over the frequencies
  Eigen::VectorXcd poles{};
};
struct LtrResult {
  std::vector<RecoveryStep> steps{};
  StateSpace target{};  // the loop to be recovered, opened at the plant's input (output)
  Certificate certificate{};
};
LtrResult ltr(const StateSpace& plant, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& R,
              const Eigen::MatrixXd& W, const Eigen::MatrixXd& V, const std::vector<double>& q,
              const Eigen::VectorXd& frequencies, RecoverySide side = RecoverySide::input);

// The least mean-square error z = C_z x that any feedback can reach, whatever its effort: the
// filter's error plus the limit of cheap control [Balakrishnan 1989 for co-located rate sensors,
// where it is √(d_s d_0) times a static compliance]. Costs of a sweep of falling control weight,
// and the filter part alone.
struct AttainableError {
  double filter =
      0.0;  // tr(C_z P C_zᵀ): reached if the plant from u to z has no zeros on the right
  std::vector<double> weights{}, errors{};  // E[zᵀz] of LQG with control weight ρ R
  double limit = 0.0;                       // the last of them
  bool attained = false;                    // limit within 1 % of `filter`
};
AttainableError attainable_error(const StateSpace& plant, const Eigen::MatrixXd& Cz,
                                 const Eigen::MatrixXd& W, const Eigen::MatrixXd& V,
                                 const Eigen::MatrixXd& G = {});

}  // namespace catena
