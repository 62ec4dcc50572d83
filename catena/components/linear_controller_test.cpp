// SPDX-License-Identifier: BSD-3-Clause
// A linear controller on a mechanism, against the matrix exponential of the closed loop: the plant
// is linear (masses on rails, springs) or moves so little that it is.
#include "catena/components/linear_controller.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/linear/discretize.h"
#include "catena/linear/matrix_functions.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/linearize.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

// Two masses of 2 and 3 kg on a rail, each held by a spring to what is before it.
Mechanism masses() {
  MechanismBuilder builder("masses");
  builder.set_gravity({0.0, 0.0, 0.0});
  const char* before = "world";
  int i = 0;
  for (const char* name : {"first", "second"}) {
    builder.add_body(name, {.mass = 2.0 + i, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
    builder.add_hinge("rail_" + std::string(name), before, name,
                      {.type = HingeType::prismatic,
                       .axes = {{1.0, 0.0, 0.0}},
                       .freedoms = {{.damping = 0.4, .stiffness = 30.0 + 20.0 * i}}});
    before = name;
    ++i;
  }
  return builder.finish();
}

// Dynamic output feedback from two positions to one force.
StateSpace compensator() {
  MatrixXd A(2, 2), B(2, 2), C(1, 2), D(1, 2);
  A << -8.0, 1.0, -3.0, -5.0;
  B << 2.0, -1.0, 0.5, 3.0;
  C << -12.0, 4.0;
  D << -15.0, 6.0;
  StateSpace K = ss(A, B, C, D);
  K.inputs = {"q.rail_first", "position.second.x"};
  K.outputs = {"rail_first"};
  return K;
}

State pushed(const Mechanism& m) {
  State state = m.default_state();
  state.q << 0.3, -0.1;
  state.v << 0.0, 0.7;
  return state;
}

StateSpace plant_of(const Mechanism& m, const StateSpace& K) {
  return state_space(linearize(m, {m.default_state(), VectorXd::Zero(m.freedoms())},
                               {.inputs = K.outputs, .outputs = K.inputs}));
}

SimulationSettings run_with(const LinearControllerSettings& controller) {
  SimulationSettings settings;
  settings.duration = 2.0;
  settings.integrator.relative_tolerance = 1e-12;
  settings.integrator.absolute_tolerance = 1e-14;
  settings.actions.components = {linear_controller(controller)};
  return settings;
}

VectorXd end_of(const Mechanism& m, const SimulationSettings& settings) {
  MemoryRecorder record;
  const SimulationResult r = simulate(m, pushed(m), settings, record);
  VectorXd x(4);
  x << r.state.q, r.state.v;
  return x;
}

TEST(LinearController, ContinuousLoopIsTheMatrixExponential) {
  const Mechanism m = masses();
  const StateSpace K = compensator(), P = plant_of(m, K);
  MatrixXd loop(6, 6);  // (x, z) of plant and controller, P without feedthrough
  loop << P.A + P.B * K.D * P.C, P.B * K.C, K.B * P.C, K.A;
  VectorXd x0 = VectorXd::Zero(6);
  x0 << pushed(m).q, pushed(m).v, 0.0, 0.0;
  const VectorXd exact = expm(loop * 2.0) * x0;
  EXPECT_LT((end_of(m, run_with({.system = K})) - exact.head(4)).lpNorm<Eigen::Infinity>(), 1e-9);
}

// Sampled every 0.05 s, with a delay of 0, 0.5, 1 and 1.5 samples: between the instants at which
// the force changes it is constant, and the plant moves by its matrix exponential.
TEST(LinearController, SampledLoopWithDelayIsTheDifferenceEquation) {
  const Mechanism m = masses();
  const double period = 0.05;
  const StateSpace K = c2d(compensator(), period), P = plant_of(m, K);
  const auto moved = [&](const VectorXd& x, double u, double h) -> VectorXd {
    MatrixXd block = MatrixXd::Zero(5, 5);
    block.topLeftCorner(4, 4) = P.A;
    block.topRightCorner(4, 1) = P.B;
    VectorXd xu(5);
    xu << x, u;
    return (expm(block * h) * xu).head(4);
  };
  for (const double delay : {0.0, 0.025, 0.05, 0.075}) {
    VectorXd x(4), z = VectorXd::Zero(2);
    x << pushed(m).q, pushed(m).v;
    const int late = static_cast<int>(std::floor(delay / period + 1e-9));
    const double part = delay - late * period;
    std::vector<double> u(to_size(late) + 1, 0.0);  // u[0] acts now, those behind come later
    double acting = 0.0;
    for (int k = 0; k < 40; ++k) {
      const VectorXd y = P.C * x;
      u.push_back((K.C * z + K.D * y)[0]);
      z = K.A * z + K.B * y;
      // The output of tick k − late appears after `part` of this period.
      u.erase(u.begin());
      if (part > 0.0) x = moved(x, acting, part);
      acting = u.front();
      x = moved(x, acting, period - part);
    }
    const VectorXd found = end_of(m, run_with({.system = K, .delay = delay}));
    EXPECT_LT((found - x).lpNorm<Eigen::Infinity>(), 1e-10) << delay;
  }
}

TEST(LinearController, LimitsItsEffort) {
  const Mechanism m = masses();
  SimulationSettings settings = run_with({.system = compensator(),
                                          .lower = VectorXd::Constant(1, -1.0),
                                          .upper = VectorXd::Constant(1, 0.5)});
  settings.outputs = {"effort.*"};
  MemoryRecorder record;
  simulate(m, pushed(m), settings, record);
  const VectorXd effort = record.column("effort.rail_first");
  EXPECT_EQ(effort.minCoeff(), -1.0);
  EXPECT_EQ(effort.maxCoeff(), 0.5);
}

Mechanism hanging_link() {
  MechanismBuilder builder("pendulum");
  builder.add_body("link", {.mass = 2.0,
                            .center_of_mass = {0.0, 0.0, -0.75},
                            .inertia = SymMat3d::diagonal(0.3, 0.3, 0.01)});
  builder.add_hinge("pivot", "world", "link", {.axes = {{0.0, 1.0, 0.0}}});
  return builder.finish();
}

// Holds the link at 0.8 rad with the torque that its weight needs there.
StateSpace link_holder() {
  StateSpace K = ss((MatrixXd(1, 2) << -20.0, -8.0).finished());
  K.inputs = {"q.pivot", "v.pivot"};
  K.outputs = {"effort.pivot"};
  K.point = SystemPoint{.q = VectorXd::Constant(1, 0.8),
                        .v = VectorXd::Zero(1),
                        .y0 = VectorXd::Constant(1, 2.0 * 9.81 * 0.75 * std::sin(0.8))};
  return K;
}

// While the first output is computed the operating effort acts: the link does not sag.
TEST(LinearController, HoldsItsEffortUntilTheFirstOutput) {
  const Mechanism m = hanging_link();
  LinearControllerSettings k{.system = link_holder(), .delay = 0.09};
  k.system.dt = 0.1;
  SimulationSettings settings = run_with(k);
  settings.duration = 0.09;
  State start = m.default_state();
  start.q[0] = 0.8;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, start, settings, record);
  EXPECT_NEAR(r.state.q[0], 0.8, 1e-12);
  // A deviation of the held effort accelerates it by u/J from the start.
  k.held = VectorXd::Constant(1, 0.01);
  settings.actions.components = {linear_controller(k)};
  MemoryRecorder pushed_record;
  const SimulationResult moved = simulate(m, start, settings, pushed_record);
  const double inertia = 0.3 + 2.0 * 0.75 * 0.75;
  // Gravity takes m g l cos(q) t²/(6 J) of it.
  const double part = 2.0 * 9.81 * 0.75 * std::cos(0.8) * 0.09 * 0.09 / (6.0 * inertia);
  EXPECT_NEAR(moved.state.v[0] / (0.01 / inertia * 0.09), 1.0 - part, 1e-3 * part + 1e-4);
}

// A pendulum held at 0.8 rad: deviations are from there, and the holding torque is part of u.
TEST(LinearController, ActsAboutItsOperatingPoint) {
  const Mechanism m = hanging_link();
  const StateSpace K = link_holder();
  SimulationSettings settings = run_with({.system = K});
  settings.duration = 20.0;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_NEAR(r.state.q[0], 0.8, 1e-9);
  EXPECT_NEAR(r.state.v[0], 0.0, 1e-9);
}

// A free body turned from its operating point: δq is the rotation vector, and a torque −k δq − c ω
// brings it back.
TEST(LinearController, ReadsRotationsAsDeviations) {
  MechanismBuilder builder("satellite");
  builder.set_gravity({0.0, 0.0, 0.0});
  builder.add_body("hub", {.mass = 10.0, .inertia = SymMat3d::diagonal(2.0, 3.0, 4.0)});
  builder.add_hinge("base", "world", "hub", {.type = HingeType::free});
  const Mechanism m = builder.finish();
  const auto names = m.velocity_names();
  StateSpace K = ss(MatrixXd::Zero(3, 6));
  K.D.leftCols(3).diagonal().setConstant(-2.0);
  K.D.rightCols(3).diagonal().setConstant(-4.0);
  K.inputs = {"q." + names[0], "q." + names[1], "q." + names[2],
              "v." + names[0], "v." + names[1], "v." + names[2]};
  K.outputs = {names[0], names[1], names[2]};
  State turned = m.default_state();
  const double half = 0.6;
  turned.q.head(4) << std::cos(half), 0.6 * std::sin(half), 0.0, 0.8 * std::sin(half);
  SimulationSettings settings = run_with({.system = K});
  settings.duration = 60.0;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, turned, settings, record);
  EXPECT_NEAR(std::abs(r.state.q[0]), 1.0, 1e-9);
  EXPECT_LT(r.state.v.head(3).norm(), 1e-6);
}

std::string refusal(const LinearControllerSettings& controller) {
  try {
    const Mechanism m = masses();
    MemoryRecorder record;
    simulate(m, m.default_state(), run_with(controller), record);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(LinearController, RefusesWhatCannotRun) {
  StateSpace K = compensator();
  K.inputs[0] = "q.rail_frst";
  EXPECT_THAT(refusal({.system = K}), HasSubstr("rail_first"));  // the nearest name
  K = compensator();
  K.inputs[0] = "a.rail_first";
  EXPECT_THAT(refusal({.system = K}), HasSubstr("cannot read"));
  K = compensator();
  K.input_delay = VectorXd::Constant(2, 0.1);
  EXPECT_THAT(refusal({.system = K}), HasSubstr("discretize it"));
  EXPECT_THAT(refusal({.system = compensator(), .lower = VectorXd::Zero(2)}),
              HasSubstr("1 outputs and 2 limits"));
  K = compensator();
  K.point = SystemPoint{.mechanism = "arm", .q = VectorXd::Zero(7)};
  EXPECT_THAT(refusal({.system = K}), HasSubstr("designed for a mechanism ('arm')"));
}

}  // namespace
}  // namespace catena
