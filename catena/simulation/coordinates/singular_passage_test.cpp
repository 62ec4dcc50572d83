// SPDX-License-Identifier: BSD-3-Clause
// Motions by multipliers through singular positions, where the rank of the loop's constraints drops
// (constraint_set_singular.cpp). The references are differential equations for one angle, over
// which all places are given in closed form, and the angle itself where it is prescribed.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/model/builder.h"
#include "catena/simulation/testing/linkage_parts.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::kGravity;
using test::shift;

constexpr double kCrank = 0.4, kCrankMass = 1.2;
constexpr double kCoupler = 1.0, kCouplerMass = 2.0;

BodySettings thick_rod(double mass, double length) {
  const double j = mass * length * length / 12.0;
  return {.mass = mass,
          .center_of_mass = {0.5 * length, 0.0, 0.0},
          .inertia = SymMat3d::diagonal(1e-3 * j, j, j)};
}

// Two cranks of the same length on the ground and a coupler between them: flat at the angles 0 and
// π, where it could go on as an antiparallelogram.
Mechanism parallelogram(double second = kCrank, bool twice = false) {
  MechanismBuilder b("parallelogram");
  b.set_gravity({0.0, -kGravity, 0.0});
  b.add_body("first", thick_rod(kCrankMass, kCrank))
      .add_body("second", thick_rod(kCrankMass, second));
  b.add_body("coupler", thick_rod(kCouplerMass, kCoupler));
  b.add_hinge("A", kWorld, "first")
      .add_hinge("B", "first", "coupler", {.frame_on_parent = shift(kCrank)});
  b.add_hinge("D", kWorld, "second", {.frame_on_parent = shift(kCoupler)});
  b.add_hinge(
      "C", "coupler", "second",
      {.frame_on_parent = shift(kCoupler), .frame_on_child = shift(second), .cut = Cut::always});
  if (twice) {  // a third crank in the middle: one constraint more that says nothing new
    b.add_body("third", thick_rod(kCrankMass, kCrank));
    b.add_hinge("E", kWorld, "third", {.frame_on_parent = shift(0.5 * kCoupler)});
    b.add_hinge("F", "coupler", "third",
                {.frame_on_parent = shift(0.5 * kCoupler),
                 .frame_on_child = shift(kCrank),
                 .cut = Cut::always});
  }
  return b.finish();
}

State parallel_state(const Mechanism& m, double angle, double rate) {
  State s = m.default_state();
  for (const char* name : {"A", "D", "E"}) {
    if (!m.has_hinge(name)) continue;
    s.q[m.position_index(name)] = angle;
    s.v[m.velocity_index(name)] = rate;
  }
  s.q[m.position_index("B")] = -angle;
  s.v[m.velocity_index("B")] = -rate;
  return s;
}

// The cranks turn together and the coupler only shifts: a pendulum. Runge-Kutta's method with steps
// that leave 1e-12.
std::vector<double> pendulum(int cranks, double angle, double rate, double interval, int rows) {
  const double inertia =
      cranks * kCrankMass * kCrank * kCrank / 3.0 + kCouplerMass * kCrank * kCrank;
  const double moment = (cranks * kCrankMass * 0.5 + kCouplerMass) * kCrank * kGravity;
  const auto acceleration = [&](double a) { return -moment / inertia * std::cos(a); };
  constexpr int kSteps = 400;
  const double h = interval / kSteps;
  std::vector<double> result{angle};
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < kSteps; ++k) {
      const double k1 = acceleration(angle), v2 = rate + 0.5 * h * k1;
      const double k2 = acceleration(angle + 0.5 * h * rate), v3 = rate + 0.5 * h * k2;
      const double k3 = acceleration(angle + 0.5 * h * v2), v4 = rate + h * k3;
      const double k4 = acceleration(angle + h * v3);
      angle += h / 6.0 * (rate + 2.0 * v2 + 2.0 * v3 + v4);
      rate += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    result.push_back(angle);
  }
  return result;
}

SimulationSettings settings_of(double duration, double interval, double rtol) {
  SimulationSettings settings = test::settings_of(duration, interval, rtol);
  settings.actions.loops = LoopRoute::multipliers;
  return settings;
}

TEST(SingularPassage, ParallelogramGoesOnAsOneByMultipliers) {
  constexpr double kAngle = 0.5, kRate = 0.0, kInterval = 0.05;  // half a turn beyond, and back
  constexpr int kRows = 60;
  for (const bool twice : {false, true}) {
    const Mechanism m = parallelogram(kCrank, twice);
    const std::vector<double> expected = pendulum(twice ? 3 : 2, kAngle, kRate, kInterval, kRows);
    for (const double rtol : {1e-6, 1e-8, 1e-10}) {
      MemoryRecorder record;
      const SimulationResult r = simulate(m, parallel_state(m, kAngle, kRate),
                                          settings_of(kInterval * kRows, kInterval, rtol), record);
      int passed = 0;
      for (int row = 0; row <= kRows; ++row) {
        const double a = record.value(row, "q.A");
        const double allowed = 30.0 * rtol + 1e-9;
        ASSERT_NEAR(a, expected[index(row)], allowed) << rtol << " " << row;
        ASSERT_NEAR(a, record.value(row, "q.D"), allowed) << rtol << " " << row;
        ASSERT_NEAR(a, -record.value(row, "q.B"), allowed) << rtol << " " << row;
        if (row > 0) passed += std::sin(a) * std::sin(record.value(row - 1, "q.A")) < 0.0;
      }
      EXPECT_GE(passed, 3) << rtol;  // flat positions
      EXPECT_LT(r.audit.energy_drift, 30.0 * rtol + 1e-9) << rtol;
      EXPECT_LT(r.steps.steps, 400) << rtol;
    }
  }
}

// Controllers, inputs and forces see the position itself, not those beside it: the integral of a
// controller, and the work of everything. Over the one angle: pendulum() with a controller.
TEST(SingularPassage, WhatActsSeesThePositionItself) {
  const Mechanism m = parallelogram();
  constexpr double kP = 20.0, kD = 0.5, kI = 30.0, kDuration = 3.0;
  const double inertia = 2.0 * kCrankMass * kCrank * kCrank / 3.0 + kCouplerMass * kCrank * kCrank;
  const double moment = (kCrankMass + kCouplerMass) * kCrank * kGravity;
  using State3 = Eigen::Vector3d;  // angle, rate, integral of the error
  const auto rate = [&](const State3& x) {
    return State3(x[1], (-moment * std::cos(x[0]) - kP * x[0] - kD * x[1] + kI * x[2]) / inertia,
                  -x[0]);
  };
  State3 x(0.5, 0.0, 0.0);
  constexpr int kSteps = 30000;
  constexpr double kStep = kDuration / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const State3 k1 = rate(x), k2 = rate(x + 0.5 * kStep * k1), k3 = rate(x + 0.5 * kStep * k2),
                 k4 = rate(x + kStep * k3);
    x += kStep / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  for (const LoopRoute route : {LoopRoute::embedded, LoopRoute::multipliers}) {
    SimulationSettings settings = settings_of(kDuration, kDuration, 1e-9);
    settings.actions.loops = route;
    settings.actions.controllers = {{.freedom = "A", .kp = kP, .kd = kD, .ki = kI}};
    int left = 1000;  // steps; both roads need less than half of them
    settings.progress = [&](double) { return --left > 0; };
    MemoryRecorder record;
    const SimulationResult r = simulate(m, parallel_state(m, 0.5, 0.0), settings, record);
    EXPECT_NEAR(record.value(1, "q.A"), x[0], 1e-6);
    EXPECT_LT(r.audit.energy_drift, 1e-6);
    EXPECT_TRUE(r.complete);

    left = 1000;
    settings.actions.controllers.clear();
    settings.actions.inputs = {{"A", "-20*q.A"}};
    settings.actions.external = {{.body = m.body_index("coupler"),
                                  .wrench = {{}, {1.0, 2.0, 0.0}},
                                  .point = {0.3, 0.0, 0.0}}};
    const SimulationResult other = simulate(m, parallel_state(m, 0.5, 0.0), settings, record);
    EXPECT_LT(other.audit.energy_drift, 1e-6);
    EXPECT_TRUE(other.complete);
  }
}

// A checkpoint that would fall on it is made behind it.
TEST(SingularPassage, ACheckpointInIt) {
  MechanismBuilder b(parallelogram().description());
  b.set_gravity({});
  const Mechanism m = b.finish();
  SimulationSettings settings = settings_of(0.3, 0.05, 1e-9);
  settings.actions.loops = LoopRoute::embedded;
  settings.checkpoint_interval = 0.1;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, parallel_state(m, -0.1, 1.0), settings, record);
  EXPECT_TRUE(r.complete);
  for (int row = 0; row <= 6; ++row)
    EXPECT_NEAR(record.value(row, "q.A"), record.value(row, "time") - 0.1, 1e-9) << row;
}

// Prescribed, so that a lock holds the crank in the singular position too; its effort is what the
// weight asks for.
TEST(SingularPassage, PrescribedThroughIt) {
  const Mechanism m = parallelogram();
  constexpr double kRate = 1.5;
  SimulationSettings settings = settings_of(4.0, 0.05, 1e-9);
  settings.actions.motions = {{"A", "0.4 + 1.5*t"}};
  settings.outputs = {"q.*", "effort.*"};
  MemoryRecorder record;
  simulate(m, parallel_state(m, 0.4, kRate), settings, record);
  for (int row = 0; row <= 80; ++row) {
    const double angle = 0.4 + kRate * record.value(row, "time");
    ASSERT_NEAR(record.value(row, "q.D"), angle, 1e-8) << row;
    ASSERT_NEAR(record.value(row, "effort.A"),
                (kCrankMass + kCouplerMass) * kCrank * kGravity * std::cos(angle), 1e-5)
        << row;
  }
}

// Cranks that are not quite equal: the branches come near each other and do not meet. A crank then
// turns back or the linkage crosses over within a short way, which must not be cut short: both
// roads follow it, and the loop keeps its energy.
TEST(SingularPassage, BranchesThatDoNotMeetAreNotCrossed) {
  for (const double off : {1e-2, 1e-3}) {
    const Mechanism m = parallelogram(kCrank + off);
    State s = parallel_state(m, 1.1, 0.0);
    s = assemble(m, s, {});
    MemoryRecorder by, other;
    SimulationSettings settings = settings_of(1.5, 0.05, 1e-9);
    const SimulationResult r = simulate(m, s, settings, by);
    settings.actions.loops = LoopRoute::embedded;
    simulate(m, s, settings, other);
    EXPECT_LT(r.audit.energy_drift, 1e-7) << off;
    EXPECT_LT(r.audit.closure_residual, 1e-9) << off;
    for (int row = 0; row <= 30; ++row)
      ASSERT_NEAR(by.value(row, "q.D"), other.value(row, "q.D"), 1e-4) << off << " " << row;
  }
}

}  // namespace
}  // namespace catena
