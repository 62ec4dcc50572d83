// SPDX-License-Identifier: BSD-3-Clause
// Gradients along motions: the numbers of the reference solutions for [Sohl & Bobrow 2001] (TS1,
// TS2), differences of the computed cost, forward against adjoint, discrete against continuous;
// what a gradient costs; Lyapunov exponents of motions whose exponents are known.
#include <cmath>
#include <ctime>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/flexible/beam.h"
#include "catena/model/configuration.h"
#include "catena/trajectory/lyapunov.h"
#include "catena/trajectory/sensitivity.h"

namespace catena {
namespace {

using Eigen::VectorXd;

// Unit rods in the plane; `parents` as in the reference.
Mechanism rods(const std::vector<int>& parents) {
  MechanismBuilder b("rods");
  b.set_gravity({0.0, -9.81, 0.0});
  for (std::size_t i = 0; i < parents.size(); ++i) {
    b.add_body("b" + std::to_string(i), rod(1.0, 1.0));
    HingeSettings hinge;
    if (parents[i] >= 0) hinge.frame_on_parent = shift(1, 0, 0);
    b.add_hinge("q" + std::to_string(i + 1),
                parents[i] < 0 ? kWorld : "b" + std::to_string(parents[i]), "b" + std::to_string(i),
                hinge);
  }
  return b.finish();
}

// Terminal weights of 1000 on q1 = π/2 and q̇1 = 0, and ½ ∫ τ² of the driven joints.
QuadraticCost acrobot_cost(const Mechanism& m) {
  QuadraticCost cost(m);
  const int n = m.freedoms();
  cost.effort_weight = VectorXd::Ones(n);
  cost.effort_weight[0] = 0.0;
  cost.position_weight = cost.velocity_weight = VectorXd::Zero(n);
  cost.position_weight[0] = cost.velocity_weight[0] = 1000.0;
  cost.position_target = VectorXd::Zero(n);
  cost.position_target[0] = std::numbers::pi / 2.0;
  return cost;
}

SplineInput::Spline motion_spline(int freedom, int coefficients) {
  return {.freedom = freedom,
          .motion = true,
          .degree = 3,
          .coefficients = coefficients,
          .held_first = 2,
          .held_last = 2};
}

void expect_relative(const VectorXd& found, const VectorXd& expected, double relative) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LT((found - expected).lpNorm<Eigen::Infinity>(),
            relative * std::max(1.0, expected.lpNorm<Eigen::Infinity>()))
      << found.transpose() << "\n"
      << expected.transpose();
}

TEST(Trajectory, AcrobotAsPrinted) {
  const Mechanism m = rods({-1, 0});
  const SplineInput input(m, 3.0, {motion_spline(1, 12)});
  const QuadraticCost cost = acrobot_cost(m);
  const ParameterSet parameters(m, {"body.b1.mass", "gravity.y", "body.b1.com.x",
                                    "body.b1.inertia.zz", "hinge.q2.position.x"});
  TrajectorySettings settings{.duration = 3.0};
  settings.integrator.step = 3.0 / 1800;
  TrajectorySensitivity along(m, input, cost, settings, &parameters);
  State start = m.default_state();
  start.q[0] = -1.0;
  const VectorXd p = vector({0.5, -1, 1.5, -0.5, 1, -1.5, 0.8, -0.3});
  const TrajectoryGradient g = along.gradient(start, p);
  // The reference integrates ∫ τ² by Simpson's rule on the nodes, we with the weights of the
  // method: both of fourth order, and its numbers move by 4e-9 from N = 360 to N = 1800.
  EXPECT_NEAR(g.cost, 13088.3344632841, 1e-8 * 13088.0);
  EXPECT_NEAR(g.final_state.q[0], -1.694568743163, 1e-11);
  EXPECT_NEAR(g.final_state.v[0], -1.556696922474, 1e-11);
  expect_relative(g.input,
                  vector({-444.30066782, -374.54302600, 217.14807541, 289.42650005, 246.07144482,
                          -365.43445870, -476.64255025, -415.31911057}),
                  1e-8);
  // The rod's mass with its central inertia held; gravity.y is −g.
  EXPECT_NEAR(g.mechanism[0], -1311.792533, 1e-5);
  EXPECT_NEAR(g.mechanism[1], -1393.469881, 1e-5);
  EXPECT_NEAR(g.mechanism[2], -8159.474989, 1e-4);
  EXPECT_NEAR(g.mechanism[3], -4738.181007, 1e-4);
  EXPECT_NEAR(g.mechanism[4], -8662.743274, 1e-4);  // the rod's own centre stays
  EXPECT_NEAR(g.initial_q[0], 7743.515459, 1e-4);
  const ForwardSensitivity f = along.forward(start, p);
  expect_relative(f.q.row(0).transpose(),
                  vector({0.0208739605, 0.0092002871, -0.0154440614, -0.0318875179, -0.0185222613,
                          0.0505013616, 0.0577450521, 0.0377399171}),
                  1e-9);
  expect_relative(f.v.row(0).transpose(),
                  vector({0.0988622226, 0.1010597443, -0.0365867833, -0.0256693906, -0.0400115482,
                          0.0109240296, 0.0317770030, 0.0540552577}),
                  1e-9);
}

TEST(Trajectory, BranchedAcrobotAsPrinted) {
  const Mechanism m = rods({-1, 0, 0});
  const SplineInput input(m, 2.5, {motion_spline(1, 10), motion_spline(2, 10)});
  const QuadraticCost cost = acrobot_cost(m);
  TrajectorySettings settings{.duration = 2.5};
  settings.integrator.step = 2.5 / 1400;
  TrajectorySensitivity along(m, input, cost, settings);
  State start = m.default_state();
  start.q[0] = -1.0;
  const TrajectoryGradient g =
      along.gradient(start, vector({0.5, -1, 1.5, -0.5, 1, -0.7, -0.4, 0.9, -1.2, 0.6, -0.8, 0.3}));
  EXPECT_NEAR(g.cost, 6662.8571119316, 1e-8 * 6662.0);
  expect_relative(
      g.input,
      vector({74.20114740, 67.63820861, -46.23970068, -23.54000172, -1.73488037, -41.45697575,
              55.17963117, 180.45213327, 171.04427872, -25.45680851, -155.42788611, -90.81534621}),
      1e-7);
}

// The gradient of the cost as it is computed, with coarse steps, against its own differences of
// order four: rounding 1e-16 · cost / step.
void expect_gradient(const Mechanism& m, const State& start, const TrajectoryInput& input,
                     const TrajectoryCost& cost, const TrajectorySettings& settings,
                     const VectorXd& p, double tolerance, double step = 1e-3) {
  TrajectorySensitivity along(m, input, cost, settings);
  const TrajectoryGradient g = along.gradient(start, p);
  EXPECT_NEAR(g.cost, along.simulate(start, p), 1e-12 * std::abs(g.cost));
  VectorXd expected(p.size());
  for (Eigen::Index k = 0; k < p.size(); ++k) {
    const auto at = [&](double e) {
      VectorXd x = p;
      x[k] += e;
      return along.simulate(start, x);
    };
    expected[k] = (8.0 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12.0 * step);
  }
  expect_relative(g.input, expected, tolerance);
}

SplineInput tree_effort_splines(const Mechanism& m, double duration, int coefficients) {
  std::vector<SplineInput::Spline> splines;
  splines.reserve(to_size(m.freedoms()));
  for (int i = 0; i < m.freedoms(); ++i)
    splines.push_back({.freedom = i, .degree = 2, .coefficients = coefficients});
  return SplineInput(m, duration, splines);
}

QuadraticCost full_cost(const Mechanism& m) {
  QuadraticCost cost(m);
  cost.effort_weight = VectorXd::Constant(m.freedoms(), 0.3);
  cost.position_weight = VectorXd::Constant(m.freedoms(), 2.0);
  cost.velocity_weight = VectorXd::Constant(m.freedoms(), 1.0);
  cost.velocity_target = VectorXd::Constant(m.freedoms(), 0.1);
  return cost;
}

// A free body with a ball and a hinge on it: quaternions, brought back to length one at every step.
TEST(Trajectory, QuaternionsAreTransposedToo) {
  MechanismBuilder b("flyer");
  b.add_body("hub", body(3.0, {0.1, 0.0, 0.05}, {0.4, 0.5, 0.6}));
  b.add_body("arm", body(1.0, {0.3, 0.0, 0.0}, {0.05, 0.1, 0.1}));
  b.add_body("tip", body(0.5, {0.1, 0.1, 0.0}, {0.02, 0.02, 0.03}));
  b.add_hinge("base", kWorld, "hub", {.type = HingeType::free});
  b.add_hinge("ball", "hub", "arm",
              {.type = HingeType::spherical, .frame_on_parent = shift(0.2, 0, 0)});
  b.add_hinge("turn", "arm", "tip", {.frame_on_parent = shift(0.5, 0, 0)});
  const Mechanism m = b.finish();
  const State start{random_position(m, 3), random_vector(m.freedoms(), 4)};
  const SplineInput input = tree_effort_splines(m, 0.4, 4);
  TrajectorySettings settings{.duration = 0.4};
  settings.integrator.step = 0.05;  // coarse on purpose
  const VectorXd p = random_vector(input.parameters(), 5);
  expect_gradient(m, start, input, full_cost(m), settings, p, 1e-9);
  settings.integrator.method = Method::euler;
  expect_gradient(m, start, input, full_cost(m), settings, p, 1e-9);
  // Checkpoints change nothing.
  settings.integrator = {.method = Method::rk4, .step = 0.01};
  const QuadraticCost cost = full_cost(m);
  const TrajectoryGradient all = TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  settings.kept_states = 5;
  const TrajectoryGradient few = TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  EXPECT_EQ((all.input - few.input).norm(), 0.0);
  // By the initial velocity and the initial position.
  const double e = 1e-4;
  for (int k = 0; k < m.freedoms(); ++k) {
    TrajectorySensitivity along(m, input, cost, settings);
    const auto at = [&](double x, bool position) {
      State s = start;
      VectorXd d = VectorXd::Zero(m.freedoms());
      d[k] = x;
      if (position)
        s.q = integrate(m, s.q, d);
      else
        s.v += d;
      return along.simulate(s, p);
    };
    for (const bool position : {false, true}) {
      const double slope = (8.0 * (at(e, position) - at(-e, position)) -
                            (at(2 * e, position) - at(-2 * e, position))) /
                           (12.0 * e);
      EXPECT_NEAR((position ? all.initial_q : all.initial_v)[k], slope,
                  1e-8 * std::max(1.0, std::abs(slope)));
    }
  }
}

TEST(Trajectory, FlexibleBodies) {
  BeamSettings s{.length = 1.0};
  s.section.values = {.bending_y = 200.0, .bending_z = 300.0, .mass_per_length = 1.0};
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.set = ModeSet::clamped_free, .count = 4};
  s.damping.ratios = {0.02};
  for (const InertiaCompletion completion : {InertiaCompletion::never, InertiaCompletion::always}) {
    s.completion = completion;
    MechanismBuilder b("arm");
    b.add_flexible_body("boom", make_beam(s));
    b.add_hinge("root", kWorld, "boom", {.type = HingeType::revolute});
    b.add_body("hand", body(0.5, {0.1, 0.1, 0.0}, {0.02, 0.02, 0.03}));
    b.add_hinge("wrist", "boom.tip", "hand", {.type = HingeType::spherical});
    const Mechanism m = b.finish();
    State start{random_position(m, 3), random_vector(m.freedoms(), 4)};
    start.q.segment(m.position_index("boom.mode1"), 4) *= 0.004;
    start.v *= 0.3;
    start.v.segment(m.velocity_index("boom.mode1"), 4) *= 0.1;
    std::vector<SplineInput::Spline> splines{{.freedom = 0, .degree = 2, .coefficients = 5}};
    const SplineInput input(m, 0.1, splines);
    TrajectorySettings settings{.duration = 0.1};
    settings.integrator.step = 0.0005;
    const VectorXd p = random_vector(input.parameters(), 5);
    expect_gradient(m, start, input, full_cost(m), settings, p, 1e-8);
  }
}

TEST(Trajectory, ClosedMechanism) {
  const Mechanism m = four_bar();
  const State start = four_bar_state(m, 0.7, 1.3);
  const SplineInput input = tree_effort_splines(m, 0.5, 5);
  TrajectorySettings settings{.duration = 0.5};
  settings.integrator.step = 0.02;
  expect_gradient(m, start, input, full_cost(m), settings, random_vector(input.parameters(), 5),
                  1e-8);
}

TEST(Trajectory, ContinuousAdjointAgreesWithTheDiscreteOne) {
  const Mechanism m = rods({-1, 0, 1});
  const State start{vector({0.3, -0.4, 0.8}), vector({0.5, 0.2, -0.6})};
  const SplineInput input = tree_effort_splines(m, 0.8, 6);
  const QuadraticCost cost = full_cost(m);
  const VectorXd p = random_vector(input.parameters(), 5);
  TrajectorySettings settings{.duration = 0.8};
  settings.integrator.step = 1e-3;
  const TrajectoryGradient discrete =
      TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  settings.integrator = {
      .method = Method::dop853, .relative_tolerance = 1e-11, .absolute_tolerance = 1e-12};
  const TrajectoryGradient continuous =
      TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  EXPECT_NEAR(continuous.cost, discrete.cost, 1e-9 * discrete.cost);
  // Splines of degree two have kinks in their slope: order three at the knots, h³ = 1e-9.
  expect_relative(continuous.input, discrete.input, 1e-7);
  expect_relative(continuous.initial_v, discrete.initial_v, 1e-7);
}

// Over more than a turn of the crank, so that the loop passes positions far from the last one: on
// the way back each is closed from its neighbour.
TEST(Trajectory, ContinuousAdjointOfAClosedMechanism) {
  const Mechanism m = four_bar();
  const State start = four_bar_state(m, 0.7, 6.0);
  const SplineInput input = tree_effort_splines(m, 1.2, 4);
  const QuadraticCost cost = full_cost(m);
  const VectorXd p = random_vector(input.parameters(), 5);
  TrajectorySettings settings{.duration = 1.2};
  settings.integrator.step = 5e-4;
  const TrajectoryGradient discrete =
      TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  settings.integrator = {
      .method = Method::dop853, .relative_tolerance = 1e-11, .absolute_tolerance = 1e-12};
  const TrajectoryGradient continuous =
      TrajectorySensitivity(m, input, cost, settings).gradient(start, p);
  EXPECT_GT(std::abs(continuous.final_state.q[0] - start.q[0]), 2.0 * std::numbers::pi);
  EXPECT_NEAR(continuous.cost, discrete.cost, 1e-8 * discrete.cost);
  expect_relative(continuous.input, discrete.input, 1e-6);
  expect_relative(continuous.initial_q, discrete.initial_q, 1e-6);
  expect_relative(continuous.initial_v, discrete.initial_v, 1e-6);
}

// Every parameter of an arm with a spring and a geared rotor, against motions of mechanisms made
// again with other values. Differences of order four with steps h of a hundredth of what changes:
// h⁴, and 1e-16 / h of the cost.
TEST(Trajectory, ParametersOfTheMechanism) {
  MechanismBuilder b("arm");
  b.set_gravity({0.3, -9.81, 0.5});
  b.add_body("a", body(1.2, {0.4, 0.1, -0.05}, {0.1, 0.2, 0.15}));
  b.add_body("b", body(0.8, {0.1, 0.3, 0.05}, {0.05, 0.04, 0.06}));
  b.add_body("c", body(0.5, {0.0, 0.1, 0.2}, {0.02, 0.03, 0.02}));
  HingeSettings shoulder{.axes = {{0.1, 0.2, 1}}, .frame_on_parent = shift(0.1, 0.2, 0.3)};
  shoulder.freedoms = {{.damping = 0.1, .stiffness = 2.0, .rest = 0.2}};
  HingeSettings elbow{.axes = {{1, 0, 0.2}}, .frame_on_parent = shift(0.7, 0, 0)};
  elbow.drive = DriveSettings{.rotor_inertia = 1e-3, .gear_ratio = 12.0};
  b.add_hinge("shoulder", kWorld, "a", shoulder);
  b.add_hinge("elbow", "a", "b", elbow);
  b.add_hinge("screw", "b", "c",
              {.type = HingeType::screw,
               .axes = {{0, 1, 0}},
               .pitch = 0.15,
               .frame_on_parent = shift(0.2, 0.3, 0)});
  b.add_spring({.name = "tendon",
                .body_a = "a",
                .point_a = {0.2, 0.1, 0},
                .body_b = "c",
                .point_b = {0, 0.1, 0.3},
                .stiffness = 40.0,
                .rest_length = 0.5,
                .damping = 1.5});
  const Mechanism m = b.finish();
  const ParameterSet set(m, ParameterSet::all_names(m));
  const State start{vector({0.3, -0.5, 0.8}), vector({0.5, 0.9, -1.2})};
  const SplineInput input = tree_effort_splines(m, 0.4, 4);
  const VectorXd p = random_vector(input.parameters(), 5);
  TrajectorySettings settings{.duration = 0.4};
  settings.integrator.step = 0.02;
  const VectorXd found =
      TrajectorySensitivity(m, input, full_cost(m), settings, &set).gradient(start, p).mechanism;
  const VectorXd values = set.values();
  for (int k = 0; k < set.size(); ++k) {
    const std::string& name = set.names()[index(k)];
    const auto cost_at = [&](double e) {
      VectorXd x = values;
      x[k] += e;
      const Mechanism other = set.with(x);
      return TrajectorySensitivity(other, input, full_cost(other), settings).simulate(start, p);
    };
    double e = name.find(".inertia") != std::string::npos ? 1e-4 : 1e-3;
    for (const char* word : {".damping", ".stiffness", ".friction", ".rotor_inertia"})
      if (name.find(word) != std::string::npos) e = 0.01 * values[k];
    if (e == 0.0) continue;  // no less than zero
    const double slope =
        (8.0 * (cost_at(e) - cost_at(-e)) - (cost_at(2 * e) - cost_at(-2 * e))) / (12.0 * e);
    EXPECT_NEAR(found[k], slope, 1e-6 * std::max(1.0, std::abs(slope))) << name;
  }
}

// 200 parameters, and every one of the mechanism besides: at most six simulations.
TEST(Trajectory, AGradientCostsLessThanSixSimulations) {
  const Mechanism m = rods({-1, 0, 1, 2, 3, 4, 5});
  const SplineInput input = tree_effort_splines(m, 1.0, 29);  // 203 parameters
  ASSERT_GE(input.parameters(), 200);
  const QuadraticCost cost = full_cost(m);
  TrajectorySettings settings{.duration = 1.0};
  settings.integrator.step = 2e-3;
  const ParameterSet parameters(m, ParameterSet::all_names(m));
  TrajectorySensitivity along(m, input, cost, settings);
  TrajectorySensitivity along_all(m, input, cost, settings, &parameters);
  const State& start = m.default_state();
  const VectorXd p = 0.1 * random_vector(input.parameters(), 5);
  const auto seconds = [](const auto& f) {  // of the processor
    const std::clock_t before = std::clock();
    f();
    return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  };
  double simulation = kInfinity, gradient = kInfinity, all = kInfinity;
  for (int i = 0; i < 8; ++i) {
    simulation = std::min(simulation, seconds([&] { along.simulate(start, p); }));
    gradient = std::min(gradient, seconds([&] { along.gradient(start, p); }));
    all = std::min(all, seconds([&] { along_all.gradient(start, p); }));
  }
  printf("    gradient of %d parameters: %.2f simulations, of %d: %.2f\n", input.parameters(),
         gradient / simulation, input.parameters() + parameters.size(), all / simulation);
  EXPECT_LT(gradient, 6.0 * simulation);
  EXPECT_LT(all, 6.0 * simulation);
}

// A damped oscillator: both exponents are −c / 2m.
TEST(Lyapunov, DampedOscillator) {
  MechanismBuilder b("oscillator");
  b.set_gravity({0, 0, 0});
  b.add_body("block", body(2.0, {}, {1, 1, 1}));
  HingeSettings slide{.type = HingeType::prismatic, .axes = {{1, 0, 0}}};
  slide.freedoms = {{.damping = 1.0, .stiffness = 50.0}};
  b.add_hinge("slide", kWorld, "block", slide);
  const Mechanism m = b.finish();
  const LyapunovExponents l = lyapunov_exponents(m, {vector({0.3}), vector({0.0})}, vector({0.0}),
                                                 {.duration = 60.0, .step = 5e-3});
  // Over a finite time T each is off by at most ln(5) / T: lengths in phase space, measured in
  // metres and metres per second, swing by a factor of the frequency, 5 rad/s.
  EXPECT_NEAR(l.exponents[0], -0.25, std::log(5.0) / 60.0);
  EXPECT_NEAR(l.exponents.sum(), -0.5, 1e-6);  // the divergence of the flow
}

// Of two oscillators the one that decays faster comes first in the file: its exponents, −c/2m =
// −2 and −0.25, come last. More of them than states are an error.
TEST(Lyapunov, LargestFirst) {
  MechanismBuilder b("oscillators");
  b.set_gravity({0, 0, 0});
  for (const auto& [name, damping] : {std::pair{"fast", 8.0}, std::pair{"slow", 1.0}}) {
    b.add_body(name, body(2.0, {}, {1, 1, 1}));
    HingeSettings slide{.type = HingeType::prismatic, .axes = {{1, 0, 0}}};
    slide.freedoms = {{.damping = damping, .stiffness = 50.0}};
    b.add_hinge(name, kWorld, name, slide);
  }
  const Mechanism m = b.finish();
  const State start{vector({0.3, 0.2}), vector({0.0, 0.0})};
  // Shorter than the directions need to settle.
  const LyapunovExponents l =
      lyapunov_exponents(m, start, vector({0.0, 0.0}), {.duration = 2.0, .step = 5e-3});
  for (Eigen::Index i = 1; i < 4; ++i) EXPECT_GE(l.exponents[i - 1], l.exponents[i]);
  EXPECT_NEAR(l.exponents.sum(), -4.5, 1e-6);
  EXPECT_THROW(lyapunov_exponents(m, start, vector({0.0, 0.0}), {.exponents = 5}), NumericalError);
}

// The progress callback can stop it.
TEST(Trajectory, StopsWhenAsked) {
  const Mechanism m = rods({-1, 0});
  const State start{vector({0.3, -0.4}), vector({0.5, 0.2})};
  const ConstantInput input(vector({0.0, 0.0}));
  const QuadraticCost cost = full_cost(m);
  for (const Method method : {Method::rk4, Method::dop853}) {
    TrajectorySettings settings{.duration = 1e9};
    settings.integrator.method = method;
    int calls = 0;
    settings.progress = [&](double) { return ++calls < 50; };
    TrajectorySensitivity along(m, input, cost, settings);
    EXPECT_THROW(along.gradient(start, VectorXd(0)), NumericalError);
    EXPECT_EQ(calls, 50);
    EXPECT_THROW(along.simulate(start, VectorXd(0)), NumericalError);
    EXPECT_EQ(calls, 51);
  }
  LyapunovSettings settings{.duration = 1e9};
  settings.progress = [](double t) { return t < 0.05; };
  EXPECT_THROW(lyapunov_exponents(m, start, vector({0.0, 0.0}), settings), NumericalError);
}

// A double pendulum thrown high is chaotic; the exponents of a Hamiltonian motion come in pairs ±λ.
TEST(Lyapunov, DoublePendulum) {
  const Mechanism m = rods({-1, 0});
  const State start{vector({1.2, 0.8}), vector({0.0, 0.0})};
  const LyapunovExponents l =
      lyapunov_exponents(m, start, vector({0.0, 0.0}), {.duration = 40.0, .step = 1e-3});
  EXPECT_GT(l.exponents[0], 0.5);
  // Volumes of (q, p) are kept, hence those of (q, v) change by 1 / det M; what is left is the
  // error of Runge-Kutta 4.
  const auto volume = [&](const VectorXd& q) { return std::log(determinant(mass_matrix(m, q))); };
  EXPECT_NEAR(40.0 * l.exponents.sum(), volume(start.q) - volume(l.final_state.q), 1e-3);
  EXPECT_NEAR(l.exponents[0] + l.exponents[3], 0.0, 0.15);
}

}  // namespace
}  // namespace catena
