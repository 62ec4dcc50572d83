// SPDX-License-Identifier: BSD-3-Clause
// Linear models against closed forms (a pendulum, the two-link arm of Lin & Yae, a spinning body)
// and against perturbation; equilibria and modes against closed forms.
#include <cmath>
#include <numbers>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/equilibrium.h"
#include "catena/sensitivity/parameters.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

OperatingPoint at_rest(const Mechanism& m) {
  const VectorXd none = VectorXd::Zero(m.freedoms());
  return {m.default_state(), none, none, {}};
}

// The parameters that the reference of the text found behind its printed matrices: two equal links
// that hang straight down, in relative angles.
Mechanism lin_and_yae() {
  MechanismBuilder b("two links");
  b.set_gravity({0.0, -9.80665, 0.0});
  for (const char* name : {"upper", "lower"})
    b.add_body(name, body(10.0, {0.0, -1.0, 0.0}, {20.0, 1.0, 20.0}));
  b.add_hinge("theta1", kWorld, "upper", {});
  b.add_hinge("theta2", "upper", "lower", {.frame_on_parent = shift(0, -2, 0)});
  return b.finish();
}

TEST(Linearize, TwoLinksOfLinAndYae) {
  const Mechanism m = lin_and_yae();
  const LinearModel p = linearize(m, at_rest(m));
  // Printed in the order (θ2, θ1) with three or four decimals; the print truncates −5.19176.
  EXPECT_NEAR(p.A(3, 1), -5.191, 1e-3);
  EXPECT_NEAR(p.A(3, 0), 3.4612, 5e-5);
  EXPECT_NEAR(p.A(2, 1), 1.1537, 5e-5);
  EXPECT_NEAR(p.A(2, 0), -4.0380, 5e-5);
  // The printed input matrix has the opposite sign (docs/errata.md).
  EXPECT_NEAR(p.B(3, 1), 0.0824, 5e-5);
  EXPECT_NEAR(p.B(3, 0), -0.0294, 5e-5);
  EXPECT_NEAR(p.B(2, 0), 0.0176, 5e-5);
  EXPECT_EQ(p.A.bottomRightCorner(2, 2).norm(), 0.0);
  EXPECT_LT((p.M - (MatrixXd(2, 2) << 140, 50, 50, 30).finished()).norm(), 1e-12);
  EXPECT_LT((p.P2 + 9.80665 * (MatrixXd(2, 2) << 40, 10, 10, 10).finished()).norm(), 1e-11);
  EXPECT_LT((p.P3 - MatrixXd::Identity(2, 2)).norm(), 1e-14);
  EXPECT_EQ(p.residual, 0.0);
  const ModalAnalysis a = modes(p);
  ASSERT_EQ(a.modes.size(), 2u);
  EXPECT_NEAR(a.modes[0].frequency, 1.59217, 5e-6);
  EXPECT_NEAR(a.modes[1].frequency, 2.58743, 5e-6);
  EXPECT_EQ(a.stability, Stability::marginal);
  // Gains for 4 rad/s and a damping of 0.7, from the reference.
  const DecouplingGains g =
      decoupling_gains(p, VectorXd::Constant(2, 4.0), VectorXd::Constant(2, 0.7));
  EXPECT_LT(
      (g.position - (MatrixXd(2, 2) << 1847.734, 701.9335, 701.9335, 381.9335).finished()).norm(),
      1e-3);
  EXPECT_LT((g.velocity - (MatrixXd(2, 2) << 784, 280, 280, 168).finished()).norm(), 1e-9);
}

// Away from equilibrium and moving: against perturbation, whose error is step² plus rounding /
// step.
TEST(Linearize, AgreesWithPerturbationAnywhere) {
  const Mechanism m = lin_and_yae();
  OperatingPoint point = at_rest(m);
  point.state = {vector({0.3, -0.8}), vector({1.2, 0.7})};
  point.effort = vector({30.0, -5.0});
  const LinearizeSettings settings{.inputs = {"theta2", "force.lower.x", "moment.upper.z"}};
  const LinearModel p = linearize(m, point, settings);
  EXPECT_GT(p.residual, 0.1);
  const Perturbation q = linearize_by_perturbation(m, p, settings);
  EXPECT_LT(q.difference_A, 1e-8);
  EXPECT_LT(q.difference_B, 1e-8);
}

TEST(Linearize, ClosedMechanism) {
  const TwoFourBars two = two_four_bars();
  OperatingPoint point{two.s, VectorXd::Constant(10, 0.2), VectorXd::Zero(10), {}};
  const LinearModel p = linearize(two.m, point);
  EXPECT_EQ(p.A.rows(), 12);
  const Perturbation q = linearize_by_perturbation(two.m, p);
  EXPECT_LT(q.difference_A, 1e-7);
  EXPECT_LT(q.difference_B, 1e-8);
  EXPECT_LT((p.M * p.A.bottomLeftCorner(6, 6) - p.P2).norm(), 1e-10 * p.P2.norm());
  EXPECT_LT((p.M * p.B.bottomRows(6) - p.P3).norm(), 1e-12 * p.P3.norm());
}

// Each freedom of a four-bar can be the state; two of them cannot. A workspace keeps the choice.
TEST(Linearize, IndependentFreedomsAreChosen) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.3);
  const OperatingPoint point{s, vector({0.4, -0.2, 0.3}), VectorXd::Zero(3), {}};
  for (int i = 0; i < 3; ++i) {
    LinearizeSettings settings;
    settings.independent.assign(3, 0);
    settings.independent[index(i)] = 1;
    SensitivityWorkspace w(m);
    const LinearModel model = linearize(m, point, settings, w);
    EXPECT_EQ(model.freedoms, std::vector<int>{i});
    const Perturbation p = linearize_by_perturbation(m, model, settings);
    EXPECT_LT(p.difference_A, 1e-6);
    EXPECT_LT(p.difference_B, 1e-6);
    EXPECT_EQ(linearize(m, point, {}, w).freedoms, model.freedoms);
    // E by differences of the accelerations of mechanisms rebuilt.
    const ParameterSet set(m, {"body.coupler.mass"});
    const MatrixXd e = parameter_matrix(m, model, set, settings);
    ASSERT_EQ(e.rows(), 2);
    EXPECT_EQ(e(0, 0), 0.0);
    const auto at = [&](double by) {
      VectorXd x = set.values();
      x[0] += by;
      return forward_dynamics(set.with(x), s, point.effort)[i];
    };
    const double h = 1e-3;
    EXPECT_NEAR(e(1, 0), (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h),
                1e-8 * (1.0 + std::abs(e(1, 0))));
  }
  LinearizeSettings both;
  both.independent = {1, 0, 1};
  EXPECT_THROW(linearize(m, point, both), NumericalError);
  both.independent = {1};
  EXPECT_THROW(linearize(m, point, both), NumericalError);
}

// A body that turns about a fixed point: small rotations ξ of a body frame that turns with ω obey
// ξ̇ = δω − ω × ξ, and Euler's equations give δω̇.
TEST(Linearize, TurningBody) {
  MechanismBuilder b("top");
  b.set_gravity({0.0, 0.0, 0.0});
  const Vec3d inertia{2.0, 3.0, 4.0};
  b.add_body("body", body(1.0, {}, inertia));
  b.add_hinge("ball", kWorld, "body", {.type = HingeType::spherical});
  const Mechanism m = b.finish();
  OperatingPoint point = at_rest(m);
  const Vec3d w{0.5, -0.3, 0.8};
  point.state.v = vector({w.x, w.y, w.z});
  const LinearModel p = linearize(m, point);
  const Eigen::Matrix3d cross_w = to_eigen(skew(w));
  EXPECT_LT((p.A.topLeftCorner(3, 3) + cross_w).norm(), 1e-15);
  const Eigen::Matrix3d j = to_eigen(inertia).asDiagonal();
  const Eigen::Matrix3d expected =
      j.inverse() * (to_eigen(skew(Vec3d{2.0 * w.x, 3.0 * w.y, 4.0 * w.z})) - cross_w * j);
  EXPECT_LT((p.A.bottomRightCorner(3, 3) - expected).norm(), 1e-14);
  EXPECT_LT(p.A.bottomLeftCorner(3, 3).norm(), 1e-14);
}

TEST(Linearize, OutputsByName) {
  const Mechanism m = lin_and_yae();
  OperatingPoint point = at_rest(m);
  point.state = {vector({0.3, -0.8}), vector({1.2, 0.7})};
  const LinearModel p = linearize(
      m, point,
      {.inputs = {"theta1"},
       .outputs = {"theta2", "v.theta1", "a.theta1", "position.lower.x", "velocity.lower.x"}});
  EXPECT_EQ(p.outputs[0], "q.theta2");
  EXPECT_EQ(p.C(0, 1), 1.0);
  EXPECT_EQ(p.C(1, 2), 1.0);
  EXPECT_LT((p.C.row(2) - p.A.row(2)).norm(), 1e-15);
  EXPECT_EQ(p.D(2, 0), p.B(2, 0));
  // The elbow is at 2 (sin θ1, −cos θ1).
  EXPECT_NEAR(p.C(3, 0), 2.0 * std::cos(0.3), 1e-14);
  EXPECT_NEAR(p.C(4, 0), -2.0 * std::sin(0.3) * 1.2, 1e-14);
  EXPECT_NEAR(p.C(4, 2), 2.0 * std::cos(0.3), 1e-14);
  EXPECT_NEAR(p.C(3, 1), 0.0, 1e-14);
}

TEST(Linearize, UnknownNamesAreSuggested) {
  const Mechanism m = lin_and_yae();
  const auto message = [&](const LinearizeSettings& settings) {
    try {
      linearize(m, at_rest(m), settings);
    } catch (const NameError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.inputs = {"theta3"}}), "no input is named 'theta3'; did you mean 'theta1'?");
  EXPECT_EQ(message({.inputs = {"force.lowr.x"}}),
            "no input is named 'force.lowr.x'; did you mean 'force.lower.x'?");
  EXPECT_EQ(message({.outputs = {"position.uper.y"}}),
            "no output is named 'position.uper.y'; did you mean 'position.upper.y'?");
}

// A motion-driven freedom: its acceleration is the input, its effort an output.
TEST(Linearize, MotionDriven) {
  const Mechanism m = lin_and_yae();
  OperatingPoint point = at_rest(m);
  point.state = {vector({0.3, -0.8}), vector({1.2, 0.7})};
  const LinearModel p = linearize(
      m, point,
      {.inputs = {"theta1", "theta2"}, .outputs = {"effort.theta2"}, .motion_driven = {0, 1}});
  EXPECT_EQ(p.inputs[1], "a.theta2");
  EXPECT_EQ(p.B(3, 1), 1.0);
  EXPECT_EQ(p.B(3, 0), 0.0);
  const double m11 = p.M(0, 0), m12 = p.M(0, 1), m22 = p.M(1, 1);
  EXPECT_NEAR(p.B(2, 0), 1.0 / m11, 1e-14);
  EXPECT_NEAR(p.B(2, 1), -m12 / m11, 1e-14);
  EXPECT_NEAR(p.D(0, 0), m12 / m11, 1e-14);
  EXPECT_NEAR(p.D(0, 1), m22 - m12 * m12 / m11, 1e-12);
}

TEST(Equilibrium, PendulumFindsItsLowestPoint) {
  const Mechanism m = lin_and_yae();
  OperatingPoint guess = at_rest(m);
  guess.state.q = vector({0.4, -0.9});
  const Equilibrium e = find_equilibrium(m, guess);
  ASSERT_TRUE(e.found) << e.reason;
  EXPECT_NEAR(e.state.q[0], 0.0, 1e-9);
  EXPECT_NEAR(e.state.q[1], 0.0, 1e-9);
  EXPECT_EQ(e.modes.stability, Stability::marginal);
}

// Both links upright is an equilibrium too, and grows.
TEST(Equilibrium, UprightIsUnstable) {
  const Mechanism m = lin_and_yae();
  OperatingPoint guess = at_rest(m);
  guess.state.q = vector({std::numbers::pi - 0.05, 0.02});
  const Equilibrium e = find_equilibrium(m, guess);
  ASSERT_TRUE(e.found) << e.reason;
  EXPECT_NEAR(e.state.q[0], std::numbers::pi, 1e-9);
  EXPECT_EQ(e.modes.stability, Stability::unstable);
}

// A guess upright to the last digit: cos(π/2) is 6e-17 and nothing else acts.
TEST(Equilibrium, GuessThatIsOneAlready) {
  MechanismBuilder b("rod");
  b.set_gravity({0, -9.81, 0});
  b.add_body("rod", body(1.0, {0.5, 0.0, 0.0}, {0.0, 1.0 / 12.0, 1.0 / 12.0}));
  b.add_hinge("pivot", kWorld, "rod", {.axes = {{0, 0, 1}}});
  const Mechanism m = b.finish();
  OperatingPoint guess = at_rest(m);
  guess.state.q = vector({std::numbers::pi / 2.0});
  const Equilibrium e = find_equilibrium(m, guess);
  ASSERT_TRUE(e.found) << e.reason;
  EXPECT_NEAR(e.state.q[0], std::numbers::pi / 2.0, 1e-15);
  // Closed form: ω² = m g c / (I + m c²) = (9.81 / 2) / (1/3).
  ASSERT_EQ(e.modes.modes.size(), 2u);
  EXPECT_NEAR(e.modes.modes[0].frequency, std::sqrt(9.81 * 1.5), 1e-9);
  EXPECT_EQ(e.modes.stability, Stability::unstable);
}

// A held elbow needs the weight's moment: m2 g lc2 sin(θ1 + θ2).
TEST(Equilibrium, HeldFreedomsTellTheirEffort) {
  const Mechanism m = lin_and_yae();
  OperatingPoint guess = at_rest(m);
  guess.state.q = vector({0.1, 1.0});
  const Equilibrium e = find_equilibrium(m, guess, {.held = {0, 1}});
  ASSERT_TRUE(e.found) << e.reason;
  EXPECT_EQ(e.state.q[1], 1.0);
  EXPECT_NEAR(e.effort[1], 10.0 * 9.80665 * std::sin(e.state.q[0] + 1.0), 1e-8);
  EXPECT_NEAR(30.0 * std::sin(e.state.q[0]) + 10.0 * std::sin(e.state.q[0] + 1.0), 0.0, 1e-9);
}

// Steady motion: a pendulum on a shaft that turns at Ω hangs out at cos θ = g / (Ω² l) (a point
// mass).
TEST(Equilibrium, ConicalPendulum) {
  MechanismBuilder b("governor");
  b.add_body("shaft", body(1.0, {}, {1.0, 1.0, 1.0}));
  b.add_body("bob", body(2.0, {0.0, 0.0, -0.5}, {1e-9, 1e-9, 1e-9}));
  b.add_hinge("spin", kWorld, "shaft", {.axes = {{0, 0, 1}}});
  b.add_hinge("swing", "shaft", "bob", {.axes = {{1, 0, 0}}});
  const Mechanism m = b.finish();
  OperatingPoint guess = at_rest(m);
  guess.state.q = vector({0.0, 0.8});
  guess.state.v = vector({7.0, 0.0});
  const Equilibrium e = find_equilibrium(m, guess, {.held = {1, 0}});
  ASSERT_TRUE(e.found) << e.reason;
  EXPECT_NEAR(std::cos(e.state.q[1]), 9.81 / (49.0 * 0.5), 1e-6);
  // Held at constant speed it swings at Ω sin θ.
  ASSERT_EQ(e.modes.modes.size(), 1u);
  EXPECT_NEAR(e.modes.modes[0].frequency, 7.0 * std::sin(e.state.q[1]), 1e-5);
}

TEST(Equilibrium, SaysWhyThereIsNone) {
  MechanismBuilder b("brick");
  b.add_body("brick", body(1.0, {}, {1.0, 1.0, 1.0}));
  b.add_hinge("base", kWorld, "brick", {.type = HingeType::free});
  const Mechanism m = b.finish();
  const Equilibrium e = find_equilibrium(m, at_rest(m));
  EXPECT_FALSE(e.found);
  EXPECT_NE(e.reason.find("free base"), std::string::npos);
}

// A spring at the rocker of a four-bar under gravity: at the equilibrium found by Newton's method
// the virtual work of one freedom vanishes: energy does not change along the closure.
TEST(Equilibrium, FourBar) {
  const Mechanism m = four_bar();
  OperatingPoint guess{four_bar_state(m, -1.2, 0.0), VectorXd::Zero(3), VectorXd::Zero(3), {}};
  const Equilibrium e = find_equilibrium(m, guess);
  ASSERT_TRUE(e.found) << e.reason;
  const auto height = [&](double d) {  // m g h of the three rods, by their ends
    const State s =
        displaced(m, e.state, {m.velocity_index("A")}, VectorXd::Constant(1, d), VectorXd::Zero(1));
    const double a = s.q[m.position_index("A")], bb = a + s.q[m.position_index("B")];
    const double c = s.q[m.position_index("D")];
    return 0.5 * std::sin(a) + std::sin(a) + 2.4 * std::sin(bb) + 2.0 * std::sin(c);
  };
  EXPECT_NEAR((height(1e-4) - height(-1e-4)) / 2e-4, 0.0, 1e-7);
  EXPECT_LT(e.acceleration, 1e-8);
}

// Mass, spring and damper: λ = −ζ ω ± i ω √(1 − ζ²).
TEST(Modes, DampedOscillator) {
  MechanismBuilder b("oscillator");
  b.set_gravity({0, 0, 0});
  b.add_body("block", body(2.0, {}, {1, 1, 1}));
  HingeSettings slide{.type = HingeType::prismatic, .axes = {{1, 0, 0}}};
  slide.freedoms = {{.damping = 3.0, .stiffness = 50.0}};
  b.add_hinge("slide", kWorld, "block", slide);
  const Mechanism m = b.finish();
  const ModalAnalysis a = modes(linearize(m, at_rest(m)));
  ASSERT_EQ(a.modes.size(), 1u);
  EXPECT_NEAR(a.modes[0].frequency, 5.0, 1e-13);
  EXPECT_NEAR(a.modes[0].damping, 3.0 / (2.0 * 2.0 * 5.0), 1e-14);
  EXPECT_EQ(a.stability, Stability::stable);
}

}  // namespace
}  // namespace catena
