// SPDX-License-Identifier: BSD-3-Clause
// The regulator against other routes: transition matrices against differences of the simulated
// flow, gains against the whole horizon solved at once as one dense problem, the fixed point
// against the closed form of the double integrator; and whether regulated motions hold.
#include "catena/optimal/regulator.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/model/builder.h"
#include "catena/optimal/regulated_run.h"
#include "catena/optimal/testing/test_support.h"
#include "catena/simulation/state_file.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::acrobot_motion;
using test::model;
using test::motion_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr double kPi = std::numbers::pi;

// A block of this mass that slides without friction: m v̇ = effort.
Mechanism block(double mass) {
  MechanismBuilder b("block");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("block", {.mass = mass});
  b.add_hinge("rail", "world", "block", {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  return b.finish();
}

// A body on a ball, turned by three motors.
Mechanism ball() {
  MechanismBuilder b("ball");
  b.set_gravity({0.0, 0.0, -9.81});
  b.add_body("body", {.mass = 2.0,
                      .center_of_mass = {0.05, -0.02, 0.3},
                      .inertia = SymMat3d::diagonal(0.2, 0.3, 0.1)});
  b.add_hinge("joint", "world", "body", {.type = HingeType::spherical});
  return b.finish();
}
RecordedMotion ball_motion(const Mechanism& m) {
  State start = m.default_state();
  start.v << 1.0, -2.0, 1.5;
  return motion_of(m, start, 1.0,
                   {{"joint.wx", "2*cos(5*t)"}, {"joint.wy", "sin(3*t)"}, {"joint.wz", "0.5"}});
}

// Where the mechanism is after a stage, with w on top of the motion's efforts.
State flow(const Mechanism& m, const RecordedMotion& motion, const Regulator& r, std::size_t k,
           const State& from, const VectorXd& w) {
  SimulationSettings settings{.duration = r.times[k + 1] - r.times[k]};
  settings.output_interval = settings.duration;
  settings.integrator.method = Method::rk4;  // the same steps for all: differences are smooth
  settings.integrator.step = 5e-4;
  for (int i = 0; i < m.freedoms(); ++i) {
    double held = 0.0;
    for (std::size_t j = 0; j < r.actuators.size(); ++j)
      if (r.actuators[j] == i) held = w[static_cast<Index>(j)];
    settings.actions.inputs.push_back(
        {m.velocity_names()[index(i)], [&motion, &r, k, i, held](double t, const State&) {
           return motion.effort_at(r.times[k] + t)[i] + held;
         }});
  }
  MemoryRecorder memory;
  return simulate(m, from, settings, memory).state;
}

void expect_flow(const Mechanism& m, const RecordedMotion& motion, const Regulator& r,
                 double tolerance) {
  const Index n = static_cast<Index>(r.freedoms.size());
  const Index inputs = static_cast<Index>(r.actuators.size());
  for (const std::size_t k : {std::size_t{0}, r.stages.size() / 2, r.stages.size() - 1}) {
    const VectorXd none = VectorXd::Zero(n);
    const State here =
        displaced(m, motion.state_at(r.times[k]), r.freedoms, none, none);  // closes loops
    const VectorXd idle = VectorXd::Zero(inputs);
    const State end = flow(m, motion, r, k, here, idle);
    MatrixXd a(2 * n, 2 * n), b(2 * n, inputs);
    const double step = 1e-4;
    for (Index j = 0; j < 2 * n; ++j) {
      const auto moved = [&](double by) {
        VectorXd x = VectorXd::Zero(2 * n);
        x[j] = by;
        const State s = displaced(m, here, r.freedoms, x.head(n), x.tail(n));
        return r.deviation(m, end, flow(m, motion, r, k, s, idle));
      };
      a.col(j) = (moved(step) - moved(-step)) / (2.0 * step);
    }
    for (Index j = 0; j < inputs; ++j) {
      VectorXd w = idle;
      w[j] = 0.01;
      const VectorXd up = r.deviation(m, end, flow(m, motion, r, k, here, w));
      w[j] = -0.01;
      b.col(j) = (up - r.deviation(m, end, flow(m, motion, r, k, here, w))) / 0.02;
    }
    EXPECT_LT((a - r.stages[k].A).cwiseAbs().maxCoeff(), tolerance * a.cwiseAbs().maxCoeff())
        << "stage " << k;
    EXPECT_LT((b - r.stages[k].B).cwiseAbs().maxCoeff(), tolerance) << "stage " << k;
  }
}

TEST(Regulator, TransitionMatricesAreTheDerivativesOfTheFlow) {
  const Mechanism acrobot = model("models/acrobot.yaml");
  const RecordedMotion motion = acrobot_motion(acrobot);
  const Regulator r = track(acrobot, motion, {.interval = 0.02});
  EXPECT_THAT(r.inputs, ElementsAre("elbow"));
  ASSERT_EQ(r.stages.size(), 100u);
  expect_flow(acrobot, motion, r, 1e-6);
}

TEST(Regulator, QuaternionsByTheirTangentDirections) {
  const Mechanism m = ball();
  const RecordedMotion motion = ball_motion(m);
  const Regulator r = track(m, motion, {.interval = 0.05});
  EXPECT_EQ(r.states.size(), 6u);
  expect_flow(m, motion, r, 1e-6);
}

TEST(Regulator, ClosedMechanismsInIndependentFreedoms) {
  const Mechanism m = model("models/four_bar.yaml");
  const RecordedMotion motion = motion_of(m, m.default_state(), 1.5, {{"A", "20 + 10*t"}}, 0.001);
  const Regulator r = track(m, motion, {.interval = 0.02});
  EXPECT_THAT(r.states, ElementsAre("q.A", "v.A"));
  expect_flow(m, motion, r, 1e-6);
}

// No freedom of a triple rocker serves all the time (closed_test.cpp of simulation).
TEST(Regulator, RefusesAMotionWithoutOneChart) {
  const Mechanism m = model("verification/triple_rocker/model.yaml");
  StateInput input = default_input(m);
  close_loops(m, input);
  const RecordedMotion motion = motion_of(m, input.state, 2.0, {});
  try {
    track(m, motion, {.actuators = {"A"}});
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no choice of independent freedoms"));
  }
}

// The inputs of the whole horizon at once: x_k = F_k x_0 + G_k w, the cost a quadratic form in w;
// the first input and the cost of any start against −K x_0 and ½ x_0ᵀ P x_0.
void expect_dense(const std::vector<LqStage>& stages, const VectorXd& final_weights,
                  const Regulator& r, std::size_t first, double tolerance) {
  const Index n = final_weights.size(), m = r.gains[0].rows();
  const Index horizon = static_cast<Index>(stages.size() - first), inputs = horizon * m;
  MatrixXd f = MatrixXd::Identity(n, n), g = MatrixXd::Zero(n, inputs);
  MatrixXd hessian = MatrixXd::Zero(inputs, inputs), mixed = MatrixXd::Zero(inputs, n),
           own = MatrixXd::Zero(n, n);
  for (Index k = 0; k < horizon; ++k) {
    const LqStage& s = stages[first + index(k)];
    MatrixXd pick = MatrixXd::Zero(m, inputs);
    pick.middleCols(k * m, m).setIdentity();
    hessian += g.transpose() * s.Q * g + pick.transpose() * s.R * pick;
    hessian += pick.transpose() * s.S * g + (pick.transpose() * s.S * g).transpose();
    mixed += g.transpose() * s.Q * f + pick.transpose() * s.S * f;
    own += f.transpose() * s.Q * f;
    f = s.A * f;
    g = s.A * g + s.B * pick;
  }
  const MatrixXd last = final_weights.asDiagonal();
  hessian += g.transpose() * last * g;
  mixed += g.transpose() * last * f;
  own += f.transpose() * last * f;
  const MatrixXd w = -PivotedCholesky(hessian).solve(mixed);
  const MatrixXd& gain = r.gains[first];
  EXPECT_LT((w.topRows(m) + gain).cwiseAbs().maxCoeff(), tolerance * gain.cwiseAbs().maxCoeff());
  const MatrixXd cost = own + mixed.transpose() * w;
  const MatrixXd& value = r.values[first];
  EXPECT_LT((cost - value).cwiseAbs().maxCoeff(), tolerance * value.cwiseAbs().maxCoeff());
}

// Everything by hand: the motion of a block, its transition and cost over an interval, the horizon.
TEST(Regulator, BlockAgainstTheWholeHorizonByHand) {
  const double mass = 2.0, h = 0.1, qx = 3.0, qv = 0.5, w = 0.2;
  const Mechanism m = block(mass);
  const RecordedMotion motion = motion_of(m, m.default_state(), 3.0, {{"rail", "sin(t)"}});
  const Regulator r = track(m, motion,
                            {.interval = h,
                             .state_weights = {{"q.rail", qx}, {"v.rail", qv}},
                             .final_weights = {{"q.rail", 7.0}, {"v.rail", 2.0}},
                             .input_weights = {{"rail", w}}});
  LqStage s;
  s.A = MatrixXd{{1.0, h}, {0.0, 1.0}};
  s.B = MatrixXd{{0.5 * h * h / mass}, {h / mass}};
  // ∫ of (1, t, t²/2m) and (0, 1, t/m) squared.
  s.Q = MatrixXd{{qx * h, qx * h * h / 2.0}, {qx * h * h / 2.0, qx * h * h * h / 3.0 + qv * h}};
  s.S = MatrixXd{{qx * std::pow(h, 3) / (6.0 * mass),
                  qx * std::pow(h, 4) / (8.0 * mass) + qv * h * h / (2.0 * mass)}};
  s.R = MatrixXd{{w * h + qx * std::pow(h, 5) / (20.0 * mass * mass) +
                  qv * std::pow(h, 3) / (3.0 * mass * mass)}};
  const std::vector<LqStage> stages(30, s);
  ASSERT_EQ(r.stages.size(), stages.size());
  // Runge-Kutta 4 is exact for polynomials of this degree, but for h⁵ in R: 1/16 for 1/20.
  const double rough = qx * std::pow(h, 5) / (mass * mass) * (1.0 / 16.0 - 1.0 / 20.0);
  EXPECT_LT((r.stages[7].A - s.A).norm() + (r.stages[7].B - s.B).norm(), 1e-14);
  EXPECT_LT((r.stages[7].Q - s.Q).norm() + (r.stages[7].S - s.S).norm(), 1e-14);
  EXPECT_LE(std::abs(r.stages[7].R(0, 0) - s.R(0, 0)), 1.001 * rough);
  for (const std::size_t first : {0u, 11u, 29u})
    expect_dense(stages, Eigen::Vector2d(7.0, 2.0), r, first, 1e-5);
}

TEST(Regulator, AcrobotAgainstTheWholeHorizonAtOnce) {
  const Mechanism m = model("models/acrobot.yaml");
  const Regulator r = track(m, acrobot_motion(m), {.interval = 0.02});
  ASSERT_EQ(r.stages.size(), 100u);
  for (const std::size_t first : {0u, 50u, 99u})
    expect_dense(r.stages, r.final_weights, r, first, 1e-8);
}

// m v̇ = w with cost ∫ qx x² + qv v² + r w² (closed form of the Riccati equation):
//   K = (√(qx/r), √(qv/r + 2 m √(qx/r))),   P = (K₁K₂, m K₁; m K₁, m K₂) r.
TEST(Regulator, BlockForEverAgainstTheClosedForm) {
  const double mass = 2.0, qx = 3.0, qv = 0.5, weight = 0.2;
  const Mechanism m = block(mass);
  const double k1 = std::sqrt(qx / weight), k2 = std::sqrt(qv / weight + 2.0 * mass * k1);
  const MatrixXd gain{{k1, k2}};
  const MatrixXd value = weight * MatrixXd{{k1 * k2, mass * k1}, {mass * k1, mass * k2}};
  const auto at = [&](double interval) {
    const OperatingPoint rest{m.default_state(), VectorXd::Zero(1), VectorXd::Zero(1), {}};
    return hold(m, rest,
                {.actuators = {"rail"},
                 .interval = interval,
                 .state_weights = {{"q.rail", qx}, {"v.rail", qv}},
                 .input_weights = {{"rail", weight}}});
  };
  // Holding the input costs O(h²) and makes the gain O(h) less.
  const Regulator wide = at(0.02), narrow = at(0.01);
  const double wide_cost = (wide.values[0] - value).norm() / value.norm();
  const double narrow_cost = (narrow.values[0] - value).norm() / value.norm();
  EXPECT_LT(narrow_cost, 1e-4);
  EXPECT_NEAR(wide_cost / narrow_cost, 4.0, 0.2);
  const MatrixXd limit = 2.0 * narrow.gains[0] - wide.gains[0];
  EXPECT_LT((limit - gain).norm(), 1e-3 * gain.norm());
  // The poles are those of m s² + K₂ s + K₁, sampled.
  const std::complex<double> pole =
      (-k2 + std::sqrt(std::complex<double>(k2 * k2 - 4.0 * mass * k1))) / (2.0 * mass);
  const Eigen::VectorXcd found = eigenvalues_of(narrow.closed_transition);
  EXPECT_LT(std::abs(std::log(found[0]) / 0.01 - pole), 0.01 * std::abs(pole));
}

RegulatedResult run(const Mechanism& m, const RecordedMotion& motion, const Regulator& r,
                    const RegulatedSettings& settings, MemoryRecorder& memory) {
  return simulate_regulated(m, motion, r, settings, memory);
}

TEST(RegulatedRun, AnAcrobotHoldsWhereItWouldDepart) {
  const Mechanism m = model("models/acrobot.yaml");
  const RecordedMotion motion = acrobot_motion(m);
  const Regulator r = track(m, motion);
  RegulatedSettings settings;
  settings.disturbance.offsets = {{"q.shoulder", 0.02}};
  settings.disturbance.efforts = {{"shoulder", "0.5*pulse(t, 0.3, 0.4)"}};
  settings.disturbance.masses = {{"lower", 1.02}};
  MemoryRecorder with, without;
  const RegulatedResult closed = run(m, motion, r, settings, with);
  settings.feedback = false;
  const RegulatedResult open = run(m, motion, r, settings, without);
  EXPECT_NEAR(closed.first_deviation[0], 0.02, 1e-12);
  EXPECT_GT(open.final_distance, 2.0);
  EXPECT_LT(closed.final_distance, 0.1 * open.final_distance);
  // The columns beside: what the motion is, and what is done.
  const Index end = with.rows() - 1;
  EXPECT_NEAR(with.value(end, "nominal.q.elbow"), motion.state(motion.rows() - 1).q[1], 1e-12);
  EXPECT_NEAR(with.value(end, "q.elbow") - with.value(end, "nominal.q.elbow"),
              with.value(end, "deviation.q.elbow"), 1e-12);
  const VectorXd x = closed.final_deviation;
  EXPECT_NEAR(with.value(end, "actuator.elbow"),
              with.value(end, "nominal.effort.elbow") - (r.gains.back() * x)[0], 1e-9);
  EXPECT_EQ(with.value(end, "actuator.elbow"), with.value(end, "effort.elbow"));
  // The effort at the shoulder is the disturbance alone, and the energy balance knows all of it.
  EXPECT_EQ(with.value(end, "effort.shoulder"), 0.0);
  EXPECT_LT(closed.run.audit.energy_drift, 1e-6);
}

// Small deviations follow the linear model: x(T) = (product of A − B K) x(0) as intervals shrink.
TEST(RegulatedRun, SmallDeviationsFollowTheTransition) {
  const Mechanism m = model("models/acrobot.yaml");
  const RecordedMotion motion = acrobot_motion(m, 1.2);
  const Regulator r = track(m, motion, {.interval = 0.001});
  const auto end_of = [&](double offset, bool feedback) {
    RegulatedSettings settings{.feedback = feedback};
    settings.simulation.integrator.relative_tolerance = 1e-11;
    settings.simulation.integrator.absolute_tolerance = 1e-12;
    settings.disturbance.offsets = {{"q.shoulder", offset}, {"v.elbow", -2.0 * offset}};
    MemoryRecorder memory;
    return run(m, motion, r, settings, memory).final_deviation;
  };
  const double step = 1e-4;
  const Eigen::Vector4d start(1.0, 0.0, 0.0, -2.0);
  for (const bool feedback : {false, true}) {
    const VectorXd moved = (end_of(step, feedback) - end_of(-step, feedback)) / (2.0 * step);
    const VectorXd linear = (feedback ? r.closed_transition : r.open_transition) * start;
    // The feedback acts all the time and not at samples: O(interval).
    EXPECT_LT((moved - linear).norm(), (feedback ? 1e-2 : 1e-4) * linear.norm());
  }
}

TEST(RegulatedRun, ABallAndAFourBarHoldToo) {
  {
    const Mechanism m = ball();
    const RecordedMotion motion = ball_motion(m);
    const Regulator r = track(m, motion);
    RegulatedSettings settings;
    settings.disturbance.random = 0.5;
    MemoryRecorder memory;
    const RegulatedResult closed = run(m, motion, r, settings, memory);
    EXPECT_GT(closed.first_distance, 0.5);
    EXPECT_LT(closed.final_distance, 0.02 * closed.first_distance);
  }
  const Mechanism m = model("models/four_bar.yaml");
  const RecordedMotion motion = motion_of(m, m.default_state(), 1.5, {{"A", "20 + 10*t"}});
  const Regulator r = track(m, motion);
  RegulatedSettings settings;
  settings.disturbance.offsets = {{"q.A", 0.1}};
  MemoryRecorder memory;
  const RegulatedResult closed = run(m, motion, r, settings, memory);
  EXPECT_LT(closed.final_distance, 0.1 * closed.first_distance);
  EXPECT_LT(closed.run.audit.closure_residual, 1e-9);
}

TEST(RegulatedRun, AnUprightAcrobotStandsForEver) {
  const Mechanism m = model("models/acrobot.yaml");
  OperatingPoint upright{m.default_state(), VectorXd::Zero(2), VectorXd::Zero(2), {}};
  upright.state.q << kPi / 2.0, 0.0;
  const Regulator r = hold(m, upright, {.actuators = {"elbow"}});
  EXPECT_TRUE(r.unreachable.empty());
  EXPECT_GT(std::abs(eigenvalues_of(r.open_transition)[0]), 1.0);
  EXPECT_LT(std::abs(eigenvalues_of(r.closed_transition)[0]), 1.0);
  const RecordedMotion rest(m, {0.0, 8.0}, {upright.state, upright.state},
                            {upright.effort, upright.effort});
  RegulatedSettings settings;
  settings.disturbance.offsets = {{"q.shoulder", 0.01}};
  MemoryRecorder memory;
  const RegulatedResult closed = run(m, rest, r, settings, memory);
  EXPECT_LT(closed.final_deviation.norm(), 1e-4);
}

// Stiff modes beside joints that only drift: the step of the fastest mode is a millionth of what
// the slowest needs to come to rest.
TEST(RegulatedRun, AFlexibleArmIsHeld) {
  const Mechanism m = model("examples/flexible_arm.yaml");
  const VectorXd none = VectorXd::Zero(m.freedoms());
  const OperatingPoint rest{m.default_state(), none, none, {}};
  const Regulator r = hold(m, rest, {.actuators = {"shoulder", "elbow"}});
  EXPECT_TRUE(r.unreachable.empty());
  EXPECT_LT(std::abs(eigenvalues_of(r.closed_transition)[0]), 1.0);
  // The gain of the Riccati equation of the stage: P = Q + Aᵀ P A − Kᵀ (R + Bᵀ P B) K.
  const LqStage& s = r.stages[0];
  const MatrixXd& p = r.values[0];
  const MatrixXd d = s.R + s.B.transpose() * p * s.B;
  const MatrixXd left = s.Q + s.A.transpose() * p * s.A - r.gains[0].transpose() * d * r.gains[0];
  EXPECT_LT((left - p).norm(), 1e-9 * p.norm());
}

TEST(RegulatedRun, EffortsKeepToTheirLimits) {
  const Mechanism m = block(1.0);
  const RecordedMotion motion = motion_of(m, m.default_state(), 2.0, {{"rail", "sin(t)"}});
  const Regulator r = track(m, motion);
  RegulatedSettings settings;
  settings.effort_limits = {{"rail", 1.5}};
  settings.disturbance.offsets = {{"q.rail", -0.5}};
  MemoryRecorder memory;
  const RegulatedResult closed = run(m, motion, r, settings, memory);
  EXPECT_EQ(closed.largest_effort[0], 1.5);
  EXPECT_EQ(memory.column("effort.rail").cwiseAbs().maxCoeff(), 1.5);
  EXPECT_GT(closed.saturated[0], 0.01);
  EXPECT_LT(closed.saturated[0], 1.0);
}

// What a body without an actuator of its own does is named.
TEST(Regulator, NamesWhatCannotBeReached) {
  MechanismBuilder b("two");
  b.set_gravity({0.0, 0.0, 0.0});
  for (const char* name : {"a", "b"}) {
    b.add_body(name, {.mass = 1.0});
    b.add_hinge(std::string("rail_") + name, "world", name,
                {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  }
  const Mechanism m = b.finish();
  const RecordedMotion motion = motion_of(m, m.default_state(), 1.0, {{"rail_a", "sin(t)"}});
  EXPECT_THAT(track(m, motion).unreachable, ElementsAre("q.rail_b", "v.rail_b"));
  EXPECT_TRUE(track(m, motion, {.actuators = {"rail_a", "rail_b"}}).unreachable.empty());
  const OperatingPoint rest{m.default_state(), VectorXd::Zero(2), VectorXd::Zero(2), {}};
  try {
    hold(m, rest, {.actuators = {"rail_a"}});
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot change q.rail_b and v.rail_b"));
  }
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Regulator, SaysWhatIsWrong) {
  const Mechanism m = model("models/acrobot.yaml");
  const RecordedMotion motion = acrobot_motion(m);
  const auto of = [&](const RegulatorSettings& settings) {
    return message_of([&] { track(m, motion, settings); });
  };
  EXPECT_THAT(of({.actuators = {"elbwo"}}), HasSubstr("did you mean 'elbow'"));
  EXPECT_THAT(of({.actuators = {"elbow", "elbow"}}), HasSubstr("named twice"));
  EXPECT_THAT(of({.input_weights = {{"elbow", 0.0}}}),
              HasSubstr("the weight of the effort of 'elbow' is 0; it must be positive"));
  EXPECT_THAT(of({.input_weights = {{"elbow", -1.0}}}), HasSubstr("must be positive"));
  EXPECT_THAT(of({.state_weights = {{"q.elbow", -1.0}}}),
              HasSubstr("the weight of 'q.elbow' is -1; it must not be negative"));
  EXPECT_THAT(of({.final_weights = {{"q.elbwo", 1.0}}}), HasSubstr("did you mean 'q.elbow'"));
  EXPECT_THAT(of({.interval = 3.0}), HasSubstr("at most the duration of the motion, 2 s"));
  const RecordedMotion idle = motion_of(m, m.default_state(), 0.5, {});
  EXPECT_THAT(message_of([&] { track(m, idle); }), HasSubstr("name the actuators"));
  const OperatingPoint tilted{m.default_state(), VectorXd::Zero(2), VectorXd::Zero(2), {}};
  EXPECT_THAT(message_of([&] { hold(m, tilted, {.actuators = {"elbow"}}); }),
              HasSubstr("not an equilibrium"));
  EXPECT_THAT(message_of([&] { hold(m, tilted, {}); }), HasSubstr("names of its actuators"));

  const Regulator r = track(m, motion, {.interval = 0.1});
  const auto run_of = [&](const RegulatedSettings& settings) {
    MemoryRecorder memory;
    return message_of([&] { simulate_regulated(m, motion, r, settings, memory); });
  };
  RegulatedSettings settings;
  settings.disturbance.offsets = {{"q.sholder", 0.1}};
  EXPECT_THAT(run_of(settings), HasSubstr("did you mean 'q.shoulder'"));
  settings = {};
  settings.disturbance.masses = {{"lowr", 1.1}};
  EXPECT_THAT(run_of(settings), HasSubstr("did you mean 'lower'"));
  settings.disturbance.masses = {{"lower", 0.0}};
  EXPECT_THAT(run_of(settings), HasSubstr("must be positive"));
  settings = {};
  settings.effort_limits = {{"shoulder", 1.0}};
  EXPECT_THAT(run_of(settings), HasSubstr("there is no actuator 'shoulder'"));
}

}  // namespace
}  // namespace catena
