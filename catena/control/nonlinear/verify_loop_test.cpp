// SPDX-License-Identifier: BSD-3-Clause
// Loops measured on simulations beside difference equations, and claims that must fail.
#include "catena/control/nonlinear/verify_loop.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/norms.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/linear/matrix_functions.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kMass = 2.0, kLength = 0.75, kInertia = 0.3 + kMass * kLength * kLength;
constexpr double kWeight = kMass * 9.81 * kLength;

// q = 0 hangs; J q̈ = −m g l sin q + u.
Mechanism swinging_link() {
  MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = kMass,
                            .center_of_mass = {0.0, 0.0, -kLength},
                            .inertia = SymMat3d::diagonal(0.3, 0.3, 0.01)});
  builder.add_hinge("pivot", "world", "link", {.axes = {{0.0, 1.0, 0.0}}});
  return builder.finish();
}

// The link at rest at an angle, held by a torque; position is measured.
LinearModel link_model(const Mechanism& m, double angle) {
  State state = m.default_state();
  state.q[0] = angle;
  return linearize(m, {state, VectorXd::Constant(1, kWeight * std::sin(angle))},
                   {.inputs = {"pivot"}, .outputs = {"q.pivot"}});
}

// −(kp + kd s/(1 + s T)) of the angle.
StateSpace lead(double kp, double kd, double time) {
  StateSpace k =
      ss(MatrixXd::Constant(1, 1, -1.0 / time), MatrixXd::Constant(1, 1, 1.0),
         MatrixXd::Constant(1, 1, kd / (time * time)), MatrixXd::Constant(1, 1, -kp - kd / time));
  k.inputs = {"q.pivot"};
  k.outputs = {"pivot"};
  return k;
}

constexpr double kAngle = 2.5;  // beyond horizontal: falls without control
const double kStiffness = kWeight * std::cos(kAngle);

// x[k+1] of (q, v, controller, held effort) by the matrix exponential in two parts of the period.
MatrixXd transition_of(const StateSpace& k, double delay) {
  MatrixXd a = MatrixXd::Zero(3, 3);
  a << 0.0, 1.0, 0.0, -kStiffness / kInertia, 0.0, 1.0 / kInertia, 0.0, 0.0, 0.0;
  const MatrixXd first = expm(a * delay), second = expm(a * (k.dt - delay));
  MatrixXd phi(4, 4);
  for (int i = 0; i < 4; ++i) {
    const VectorXd x = VectorXd::Unit(4, i);
    const double u = k.C(0, 0) * x[2] + k.D(0, 0) * x[0];
    VectorXd y = first * Eigen::Vector3d(x[0], x[1], x[3]);
    y = second * Eigen::Vector3d(y[0], y[1], u);
    phi.col(i) << y[0], y[1], k.A(0, 0) * x[2] + k.B(0, 0) * x[0], u;
  }
  return phi;
}

TEST(VerifyLoop, PolesAreThoseOfTheDifferenceEquation) {
  const Mechanism m = swinging_link();
  for (const double part : {0.25, 0.9, 1.0}) {
    const StateSpace k = c2d(lead(60.0, 15.0, 0.02), 0.02, {.method = Hold::tustin});
    const NonlinearLoop loop =
        nonlinear_loop(m, link_model(m, kAngle), {.system = k, .delay = part * k.dt});
    ASSERT_TRUE(delay_is_measured(loop));
    Eigen::VectorXcd exact = lapack::eigenvalues(transition_of(k, part * k.dt));
    ASSERT_LT(exact.cwiseAbs().maxCoeff(), 1.0);
    const Eigen::VectorXcd found = measured_poles(loop), predicted = predicted_poles(loop);
    ASSERT_EQ(found.size(), 4);
    ASSERT_EQ(predicted.size(), 4);
    for (const Complex& z : exact) {
      double from_measured = 1.0, from_predicted = 1.0;
      for (int i = 0; i < 4; ++i) {
        from_measured = std::min(from_measured, std::abs(std::exp(found[i] * k.dt) - z));
        from_predicted = std::min(from_predicted, std::abs(std::exp(predicted[i] * k.dt) - z));
      }
      EXPECT_LT(from_measured, 1e-6) << part;
      EXPECT_LT(from_predicted, 1e-10) << part;
    }
  }
}

TEST(VerifyLoop, AllClaimsHold) {
  const Mechanism m = swinging_link();
  const StateSpace k = lead(60.0, 15.0, 0.02);
  for (const double delay : {-1.0, 0.0, 0.004, 0.01}) {  // −1: continuous
    LinearControllerSettings running{.system = k};
    if (delay >= 0.0)
      running.system = c2d(k, 0.01, {.method = Hold::tustin}), running.delay = delay;
    const LoopVerification v = verify(nonlinear_loop(m, link_model(m, kAngle), running));
    EXPECT_TRUE(v.stable);
    EXPECT_TRUE(v.passed) << delay;
    int norms = 0, gains = 0, delays = 0;
    for (const LoopClaim& c : v.claims) {
      EXPECT_TRUE(c.passed) << c.name << " " << c.linear << " " << c.nonlinear;
      norms += c.name.starts_with("H-infinity");
      gains += c.name.starts_with("gain");
      delays += c.name.starts_with("delay margin");
    }
    EXPECT_EQ(norms, 1);
    EXPECT_GE(gains, 1);
    EXPECT_EQ(delays, 1) << delay;
  }
}

// The continuous norm: static gain 1/(kp + stiffness) where it is the peak.
TEST(VerifyLoop, NormIsTheStaticGain) {
  const Mechanism m = swinging_link();
  const NonlinearLoop loop =
      nonlinear_loop(m, link_model(m, kAngle), {.system = lead(60.0, 25.0, 0.01)});
  const double exact = 1.0 / (60.0 + kStiffness);
  EXPECT_NEAR(hinfnorm(predicted_loop(loop)).value / exact, 1.0, 1e-9);
  EXPECT_NEAR(hinfnorm(measured_loop(loop)).value / exact, 1.0, 1e-6);
}

TEST(VerifyLoop, AWrongModelFails) {
  const Mechanism m = swinging_link();
  LinearModel wrong = link_model(m, kAngle);
  wrong.B *= 1.1;  // an actuator 10 % stronger than it is
  const LoopVerification v = verify(nonlinear_loop(m, wrong, {.system = lead(60.0, 15.0, 0.02)}));
  EXPECT_TRUE(v.stable);
  EXPECT_FALSE(v.passed);
  const LoopVerification unstable =
      verify(nonlinear_loop(m, link_model(m, kAngle), {.system = lead(-60.0, 15.0, 0.02)}));
  EXPECT_FALSE(unstable.stable);
  EXPECT_FALSE(unstable.passed);
}

// Along a motion from hanging to upright: J s² + kd s + kp + m g l cos q, slowest upright.
TEST(VerifyLoop, AlongAMotion) {
  const Mechanism m = swinging_link();
  LinearModel model = link_model(m, 0.0);
  model = linearize(m, {model.point.state, model.point.effort},
                    {.inputs = {"pivot"}, .outputs = {"q.pivot", "v.pivot"}});
  StateSpace k = ss((MatrixXd(1, 2) << -12.0, -8.0).finished());
  k.inputs = {"q.pivot", "v.pivot"};
  k.outputs = {"pivot"};
  std::vector<LoopAt> points;
  constexpr double kPi = 3.14159265358979323846;
  for (int i = 0; i <= 10; ++i) {
    State state = m.default_state();
    state.q[0] = kPi * i / 10;
    state.v[0] = 0.3;
    points.push_back({0.1 * i, state, VectorXd::Zero(1)});
  }
  const AlongMotion r = verify_along(nonlinear_loop(m, model, {.system = k}), points);
  EXPECT_EQ(r.points, 11);
  int unstable = 0;
  for (int i = 0; i <= 10; ++i) unstable += 12.0 + kWeight * std::cos(kPi * i / 10) <= 0.0;
  EXPECT_EQ(r.unstable, unstable);
  EXPECT_NEAR(r.abscissa_time, 1.0, 1e-12);
  const double p = 8.0 / (2.0 * kInertia), c = (12.0 - kWeight) / kInertia;
  EXPECT_NEAR(r.abscissa, -p + std::sqrt(p * p - c), 1e-9);
  EXPECT_NEAR(r.measured_abscissa, r.abscissa, 0.02 * std::abs(r.abscissa));
}

// A pole at about -1e3 and another at -1e-3: the comparison ends before the loop settles, in
// seconds of processor time, not in hours.
TEST(VerifyLoop, StiffLoopsAreComparedForAShortTime) {
  const Mechanism m = swinging_link();
  StateSpace k = lead(60.0, 15.0, 1e-3);
  const StateSpace slow = ss(MatrixXd::Constant(1, 1, -1e-3), MatrixXd::Constant(1, 1, 1.0),
                             MatrixXd::Constant(1, 1, -1e-3), MatrixXd::Zero(1, 1));
  k = parallel(k, slow);
  k.inputs = {"q.pivot"};
  k.outputs = {"pivot"};
  const NonlinearLoop loop = nonlinear_loop(m, link_model(m, kAngle), {.system = k});
  EXPECT_GT(settling_time(loop), 1e3);
  const VectorXd t = comparison_times(loop);
  EXPECT_LE(t[t.size() - 1], 60.0);
  for (const LoopClaim& c : verify(loop, {.margins = false}).claims)
    EXPECT_TRUE(c.passed) << c.name << " " << c.linear << " " << c.nonlinear;
}

TEST(VerifyLoop, FitsByName) {
  const Mechanism m = swinging_link();
  StateSpace k = lead(60.0, 15.0, 0.02);
  k.inputs = {"pivot"};
  k.outputs = {"effort.pivot"};
  EXPECT_EQ(nonlinear_loop(m, link_model(m, kAngle), {.system = k}).controller.order(), 1);
  try {
    nonlinear_loop(m, link_model(m, kAngle), {.system = k, .upper = VectorXd::Ones(2)});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("1 outputs and 2 limits"));
  }
  k.outputs = {"pivto"};
  try {
    nonlinear_loop(m, link_model(m, kAngle), {.system = k});
    FAIL();
  } catch (const NameError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("pivto"));
  }
}

}  // namespace
}  // namespace catena
