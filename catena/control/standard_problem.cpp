// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/standard_problem.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/linear/algebra.h"

namespace catena {

void GeneralizedPlant::validate() const {
  system.validate();
  if (controls < 1 || controls > system.input_count())
    throw Error("generalized plant: " + std::to_string(controls) +
                " controls, but the system has " + std::to_string(system.input_count()) +
                " inputs");
  if (measurements < 1 || measurements > system.output_count())
    throw Error("generalized plant: " + std::to_string(measurements) +
                " measurements, but the system has " + std::to_string(system.output_count()) +
                " outputs");
  if (disturbances() < 1)
    throw Error("generalized plant: no input is left for disturbances; every input is a control");
  if (performances() < 1)
    throw Error(
        "generalized plant: no output is left for performance; every output is a "
        "measurement");
  if (system.has_delay())
    throw Error(
        "generalized plant: the system has delays; approximate them with pade() or sample "
        "it with c2d() first");
}

StateSpace closed_loop(const GeneralizedPlant& plant, const StateSpace& controller) {
  return lft(plant.system, controller);
}

namespace {

// Singular values of D12 (D21) below this fraction of the largest gain around are too small.
constexpr double kSmallFeedthrough = 1e-9;
// What regularization adds, relative to the size of C1 (B1): the cost of a control, or a sensor
// noise, that the problem lacks.
constexpr double kRegularFeedthrough = 1e-4;

std::string names_of(const StateSpace& system, const Eigen::VectorXd& direction, bool controls) {
  Eigen::Index which = 0;
  direction.cwiseAbs().maxCoeff(&which);
  const int i = static_cast<int>(which);
  return "'" +
         (controls
              ? system.input_name(system.input_count() - static_cast<int>(direction.size()) + i)
              : system.output_name(system.output_count() - static_cast<int>(direction.size()) +
                                   i)) +
         "'";
}

// Rows (columns) that give every control a cost (every measurement a noise).
void regularize_feedthrough(StandardProblem& s, Eigen::MatrixXd& d12, Eigen::MatrixXd& d21,
                            const StateSpace& system) {
  const double z_scale = std::max({s.C1.norm() / std::sqrt(static_cast<double>(s.C1.rows())),
                                   d12.norm(), s.D11.norm(), 1e-300});
  const Eigen::Index m2 = d12.cols(), p2 = d21.rows(), n = s.A.rows();
  const lapack::Svd a = lapack::svd(d12, lapack::Columns::full);
  const double least12 = d12.rows() < m2 ? 0.0 : a.values[m2 - 1];
  if (least12 <= kSmallFeedthrough * z_scale) {
    const double e = kRegularFeedthrough * z_scale;
    s.remarks.push_back("D12 has no full column rank: control " +
                        names_of(system, a.V.col(m2 - 1), true) +
                        " costs nothing at high frequency; a weight of " + short_number(e) +
                        " was added on every control");
    d12 = vstack(d12, e * Eigen::MatrixXd::Identity(m2, m2));
    s.C1 = vstack(s.C1, Eigen::MatrixXd::Zero(m2, n));
    s.D11 = vstack(s.D11, Eigen::MatrixXd::Zero(m2, s.D11.cols()));
    s.regularized = true;
  }
  const double w_scale = std::max({s.B1.norm() / std::sqrt(static_cast<double>(s.B1.cols())),
                                   d21.norm(), s.D11.norm(), 1e-300});
  const lapack::Svd b = lapack::svd(d21, lapack::Columns::full);
  const double least21 = d21.cols() < p2 ? 0.0 : b.values[p2 - 1];
  if (least21 <= kSmallFeedthrough * w_scale) {
    const double e = kRegularFeedthrough * w_scale;
    s.remarks.push_back("D21 has no full row rank: measurement " +
                        names_of(system, b.U.col(p2 - 1), false) +
                        " has no noise at high frequency; noise of " + short_number(e) +
                        " was added to every measurement");
    d21 = hstack(d21, e * Eigen::MatrixXd::Identity(p2, p2));
    s.B1 = hstack(s.B1, Eigen::MatrixXd::Zero(n, p2));
    s.D11 = hstack(s.D11, Eigen::MatrixXd::Zero(s.D11.rows(), p2));
    s.regularized = true;
  }
}

}  // namespace

StandardProblem standard_problem(const GeneralizedPlant& given, TimeMap map,
                                 double state_regularization) {
  GeneralizedPlant plant = given;
  plant.system = explicit_form(given.system);
  StandardProblem s;
  s.dt = plant.system.dt;
  if (plant.system.is_discrete() && map == TimeMap::bilinear)
    plant.system = bilinear_to_continuous(plant.system);
  // States scaled so that A, B and C have rows and columns of like size: the controller's states
  // are its own, and the Riccati solutions keep their digits.
  const Eigen::Index order = plant.system.A.rows(), wide = plant.system.B.cols(),
                     high = plant.system.C.rows();
  Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(order + wide + high, order + wide + high);
  whole.topLeftCorner(order, order) = plant.system.A;
  whole.block(0, order, order, wide) = plant.system.B;
  whole.block(order + wide, 0, high, order) = plant.system.C;
  whole.block(order, order + wide, wide, high).setConstant(1.0);  // outputs return to inputs
  const Eigen::VectorXd scale = lapack::balance(whole).scale.head(order);
  plant.system.A = scale.cwiseInverse().asDiagonal() * plant.system.A * scale.asDiagonal();
  plant.system.B = scale.cwiseInverse().asDiagonal() * plant.system.B;
  plant.system.C = plant.system.C * scale.asDiagonal();
  s.A = plant.system.A;
  s.B1 = plant.B1();
  s.B2 = plant.B2();
  s.C1 = plant.C1();
  s.C2 = plant.C2();
  s.D11 = plant.D11();
  s.D22 = plant.D22();
  Eigen::MatrixXd d12 = plant.D12(), d21 = plant.D21();
  regularize_feedthrough(s, d12, d21, plant.system);
  const Eigen::Index n = s.A.rows();
  if (state_regularization > 0.0) {
    // Where C1 (B1) is zero, the size that the cost of the controls (the noise of the sensors)
    // has on the states.
    const double rate = s.A.norm() > 0.0 ? s.A.norm() : 1.0;
    const double on_states = d12.norm() * rate / std::max(s.B2.norm(), 1e-300),
                 from_noise = d21.norm() * rate / std::max(s.C2.norm(), 1e-300);
    constexpr double kZero = 1e-9;
    const auto size = [](double norm, double otherwise) {
      return norm > kZero * otherwise ? norm : otherwise;
    };
    const double wc = state_regularization * size(s.C1.norm(), on_states),
                 wb = state_regularization * size(s.B1.norm(), from_noise);
    s.C1 = vstack(s.C1, wc * Eigen::MatrixXd::Identity(n, n));
    s.B1 = hstack(s.B1, wb * Eigen::MatrixXd::Identity(n, n));
    s.D11 = block_diagonal(s.D11, Eigen::MatrixXd::Zero(n, n));
    d12 = vstack(d12, Eigen::MatrixXd::Zero(n, d12.cols()));
    d21 = hstack(d21, Eigen::MatrixXd::Zero(d21.rows(), n));
    s.regularized = true;
  }
  // D12 = U [Σ; 0] Vᵀ; rows of z reordered so that D12 = [0; 1] after u = V Σ⁻¹ ũ.
  const Eigen::Index m2 = d12.cols(), p2 = d21.rows(), p1 = d12.rows(), m1 = d21.cols();
  const lapack::Svd a = lapack::svd(d12, lapack::Columns::full);
  Eigen::MatrixXd z_map(p1, p1);
  z_map << a.U.rightCols(p1 - m2).transpose(), a.U.leftCols(m2).transpose();
  s.u_map = a.V * a.values.head(m2).cwiseInverse().asDiagonal();
  const lapack::Svd b = lapack::svd(d21, lapack::Columns::full);
  Eigen::MatrixXd w_map(m1, m1);  // w = w_map w̃
  w_map << b.V.rightCols(m1 - p2), b.V.leftCols(p2);
  s.y_map = b.values.head(p2).cwiseInverse().asDiagonal() * b.U.transpose();
  s.C1 = times(z_map, s.C1);
  s.B1 = times(s.B1, w_map);
  s.D11 = times(z_map, times(s.D11, w_map));
  s.B2 = times(s.B2, s.u_map);
  s.C2 = times(s.y_map, s.C2);
  return s;
}

StateSpace controller_of(const StandardProblem& p, const GeneralizedPlant& plant,
                         const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                         const Eigen::MatrixXd& c, const Eigen::MatrixXd& d) {
  // ũ = K̃ ỹ with ỹ without D22; then u = u_map K̃ y_map (y − D22 u).
  StateSpace k = ss(a, times(b, p.y_map), times(p.u_map, c), times(p.u_map, times(d, p.y_map)));
  // K (1 + D22 K)⁻¹ by hand: u = C x + D (y − D22 u).
  if (p.D22.norm() > 0.0) {
    const Eigen::Index m = k.D.rows();
    const lapack::Lu lu(Eigen::MatrixXd::Identity(m, m) + times(k.D, p.D22));
    if (lu.rcond() < 1e-14)
      throw NumericalError(
          "controller: the loop with D22 is not well posed (1 + K D22 is singular)");
    const Eigen::MatrixXd cu = lu.solve(k.C), du = lu.solve(k.D);
    const Eigen::MatrixXd bd = times(k.B, p.D22);
    k.A -= times(bd, cu);
    k.B -= times(bd, du);
    k.C = cu;
    k.D = du;
  }
  if (p.dt > 0.0) k = bilinear_to_discrete(k, p.dt);
  k.inputs.clear();
  k.outputs.clear();
  for (int i = 0; i < plant.measurements; ++i)
    k.inputs.push_back(plant.system.output_name(plant.performances() + i));
  for (int i = 0; i < plant.controls; ++i)
    k.outputs.push_back(plant.system.input_name(plant.disturbances() + i));
  return k;
}

}  // namespace catena
