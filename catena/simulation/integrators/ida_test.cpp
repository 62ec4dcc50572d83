// SPDX-License-Identifier: BSD-3-Clause
// The differential-algebraic form against the other integrators and closed forms.
#include "catena/simulation/integrators/ida.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "catena/constraints/absolute_form.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

// Rods with some inertia about themselves: a free body without is singular.
Mechanism thick_four_bar() {
  MechanismBuilder b = four_bar().edit();
  for (const char* name : {"driver", "coupler", "rocker"}) b.body(name).inertia.xx = 0.01;
  return b.finish();
}

SimulationSettings settings_of(Method method, double duration) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 10.0;
  s.integrator.method = method;
  s.integrator.relative_tolerance = 1e-8;
  s.integrator.absolute_tolerance = 1e-10;
  return s;
}

// Multistep methods of order five lose about two digits of the tolerance over a second.
constexpr double kAgreement = 1e-5;

TEST(Ida, FourBarAsIndependentCoordinates) {
  const Mechanism m = four_bar();  // three of five rows are redundant
  const State s = four_bar_state(m, 0.7, 1.5);
  MemoryRecorder a, b;
  const SimulationResult ode = simulate(m, s, settings_of(Method::dop853, 1.0), a);
  const SimulationResult dae = simulate(m, s, settings_of(Method::ida, 1.0), b);
  EXPECT_LT((ode.state.q - dae.state.q).norm(), kAgreement);
  EXPECT_LT((ode.state.v - dae.state.v).norm(), 10.0 * kAgreement);
  EXPECT_LT(dae.audit.closure_residual, 1e-8);
  EXPECT_LT(dae.audit.energy_drift, kAgreement);
  EXPECT_GT(dae.steps.steps, 10);
}

TEST(Ida, Tree) {
  MechanismBuilder b("pendulum");
  b.add_body("bob", rod(1.0, 1.0));
  b.add_hinge("pin", kWorld, "bob", {.axes = {Vec3d::unit_y()}});
  const Mechanism m = b.finish();
  MemoryRecorder r, t;
  const SimulationResult ode = simulate(m, m.default_state(), settings_of(Method::dop853, 1.0), r);
  const SimulationResult dae = simulate(m, m.default_state(), settings_of(Method::ida, 1.0), t);
  EXPECT_NEAR(ode.state.q[0], dae.state.q[0], kAgreement);
}

// In absolute coordinates: every body free, every hinge a constraint.
TEST(Ida, AbsoluteCoordinates) {
  const Mechanism m = thick_four_bar();
  const State s = four_bar_state(m, 0.7, 1.5);
  const Mechanism absolute = absolute_form(m);
  MemoryRecorder r, t;
  const SimulationResult ode = simulate(m, s, settings_of(Method::dop853, 0.5), r);
  const SimulationResult dae =
      simulate(absolute, absolute_state(m, s, absolute), settings_of(Method::ida, 0.5), t);
  for (int body = 0; body < 3; ++body) {
    const Vec3d one = body_pose(m, ode.state.q, body).translation;
    const Vec3d other = body_pose(absolute, dae.state.q, body).translation;
    EXPECT_LT(norm(one - other), kAgreement) << body;
  }
  EXPECT_LT(dae.audit.closure_residual, 1e-8);
}

// Efforts and a controller act at hinges, which keep their coordinates then.
TEST(Ida, AbsoluteCoordinatesWithInputs) {
  const Mechanism m = thick_four_bar();
  const State s = four_bar_state(m, 0.7, 1.5);
  const std::vector<std::string> kept{"A", "D"};
  const Mechanism absolute = absolute_form(m, kept);
  EXPECT_TRUE(std::ranges::count(absolute.velocity_names(), "A") == 1);
  SimulationSettings ode = settings_of(Method::dop853, 0.4), dae = settings_of(Method::ida, 0.4);
  ode.actions.inputs = {{"A", "20*sin(3*t) - 2*v.A"}};
  ode.actions.controllers = {{.freedom = "D", .kp = 30.0, .kd = 2.0, .target = "0.9 + 0.1*t"}};
  dae.actions = ode.actions;
  MemoryRecorder r, t;
  const SimulationResult a = simulate(m, s, ode, r);
  const SimulationResult b = simulate(absolute, absolute_state(m, s, absolute), dae, t);
  ode.actions = {};
  MemoryRecorder u;
  const SimulationResult free = simulate(m, s, ode, u);
  for (int body = 0; body < 3; ++body) {
    const Vec3d one = body_pose(m, a.state.q, body).rotation * Vec3d::unit_x();
    const Vec3d other = body_pose(absolute, b.state.q, body).rotation * Vec3d::unit_x();
    EXPECT_LT(norm(one - other), kAgreement) << body;
  }
  EXPECT_GT((free.state.q - a.state.q).norm(), 0.05);  // they matter
  EXPECT_NEAR(a.state.q[m.position_index("A")], b.state.q[absolute.position_index("A")],
              kAgreement);
}

Mechanism two_links(HingeSettings elbow) {
  MechanismBuilder b("arm");
  b.set_gravity({0, -9.81, 0});
  b.add_body("upper", rod(1.0, 1.2)).add_body("lower", rod(0.8, 0.9));
  b.add_hinge("shoulder", kWorld, "upper", {});
  elbow.frame_on_parent = shift(1, 0, 0);
  b.add_hinge("elbow", "upper", "lower", elbow);
  return b.finish();
}

// A prescribed motion, freedoms that stick or rest at their stops: rows of the form, in trees too.
void expect_same_motion(const Mechanism& m, const State& s, const ActionSettings& actions,
                        double duration) {
  SimulationSettings ode = settings_of(Method::dop853, duration),
                     dae = settings_of(Method::ida, duration);
  ode.actions = dae.actions = actions;
  MemoryRecorder r, t;
  const SimulationResult a = simulate(m, s, ode, r), b = simulate(m, s, dae, t);
  EXPECT_LT((a.state.q - b.state.q).norm(), kAgreement);
  EXPECT_LT((a.state.v - b.state.v).norm(), 10.0 * kAgreement);
  EXPECT_LT(b.audit.energy_drift, kAgreement);
  EXPECT_EQ(a.events, b.events);
}

TEST(Ida, PrescribedMotions) {
  const Mechanism arm = two_links({});
  expect_same_motion(arm, arm.default_state(), {.motions = {{"shoulder", "0.3*t - sin(2*t)"}}},
                     0.8);
  expect_same_motion(arm, arm.default_state(), {.motions = {{"elbow", "0.4*t^2"}}}, 0.8);
  const Mechanism bar = four_bar();
  expect_same_motion(bar, four_bar_state(bar, 0.7, 1.5),
                     {.motions = {{"A", "0.7 + 1.5*t + 0.2*t^2"}}}, 0.8);
}

TEST(Ida, FreedomsThatAreHeld) {
  const Mechanism stop = two_links({.freedoms = {{.lower = -0.4, .upper = 0.3}}});
  expect_same_motion(stop, stop.default_state(), {.restitution = 0.0}, 0.8);
  const Mechanism sticky =
      two_links({.freedoms = {{.friction = {.sliding = 1.0, .breakaway = 1.5}}}});
  expect_same_motion(sticky, sticky.default_state(), {}, 0.8);
}

// Two feet of one body come down on the ground, one after the other, and slide.
TEST(Ida, SeveralContacts) {
  MechanismBuilder b("stool");
  b.add_body("seat", body(2.0, {0.0, 0.0, 0.3}, {0.1, 0.12, 0.09}));
  b.add_hinge("base", kWorld, "seat", {.type = HingeType::free});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[m.position_index("base.z")] = 0.05;
  s.v[m.velocity_index("base.vx")] = 1.0;
  s.v[m.velocity_index("base.wy")] = 0.3;
  ActionSettings actions;
  for (const auto& [name, foot] : {std::pair<std::string, Vec3d>{"left", {0.2, 0.15, 0}},
                                   {"right", {0.2, -0.15, 0}},
                                   {"back", {-0.25, 0, 0}}}) {
    ConstraintSettings c;
    c.constraint = ContactSettings{
        .name = name, .body = m.body_index("seat"), .center = foot, .friction = 0.3};
    actions.constraints.push_back(c);
  }
  expect_same_motion(m, s, actions, 0.4);
}

// Tight tolerances make IDA's first steps very short, at the start and at every checkpoint. A
// four-bar on a frame that floats, from rest and in motion, in coordinates of the tree and
// absolute.
TEST(Ida, FloatingLoopsAtTightTolerances) {
  MechanismBuilder b("floating");
  b.set_gravity({0.3, -0.2, -9.81});
  b.add_body("frame", body(3.0, {0.6, 0.1, -0.2}, {0.2, 0.4, 0.5}));
  b.add_body("driver", rod(1.0, 1.0, 0.01)).add_body("coupler", rod(1.0, 4.8, 0.01));
  b.add_body("rocker", rod(2.0, 2.0, 0.01));
  b.add_hinge("base", kWorld, "frame", {.type = HingeType::free});
  b.add_hinge("A", "frame", "driver", {});
  b.add_hinge("B", "driver", "coupler", {.frame_on_parent = shift(1, 0, 0)});
  b.add_hinge("D", "frame", "rocker", {.frame_on_parent = shift(4, 0, 0)});
  b.add_hinge(
      "C", "coupler", "rocker",
      {.frame_on_parent = shift(4.8, 0, 0), .frame_on_child = shift(2, 0, 0), .cut = Cut::always});
  const Mechanism m = b.finish();
  const Mechanism absolute = absolute_form(m);
  for (const double rate : {0.0, 1.5}) {
    State s = m.default_state();
    const State planar = four_bar_state(four_bar(), 0.7, rate);
    for (const char* name : {"A", "B", "D"}) {
      const int k = four_bar().position_index(name);
      s.q[m.position_index(name)] = planar.q[k];
      s.v[m.velocity_index(name)] = planar.v[k];
    }
    SimulationSettings tight = settings_of(Method::dop853, 0.3);
    tight.integrator.relative_tolerance = 1e-10;
    tight.integrator.absolute_tolerance = 1e-12;
    tight.checkpoint_interval = 0.1;
    MemoryRecorder x, y, z;
    const SimulationResult ode = simulate(m, s, tight, x);
    tight.integrator.method = Method::ida;
    const SimulationResult dae = simulate(m, s, tight, y);
    const SimulationResult all = simulate(absolute, absolute_state(m, s, absolute), tight, z);
    for (int body = 0; body < 4; ++body) {
      const Transformd one = body_pose(m, ode.state.q, body);
      const Transformd two = body_pose(m, dae.state.q, body);
      const Transformd three = body_pose(absolute, all.state.q, body);
      EXPECT_LT(norm(one.translation - two.translation), 1e-6) << body;
      EXPECT_LT(norm(one.translation - three.translation), 1e-6) << body;
    }
    EXPECT_LT(dae.audit.closure_residual, 1e-9);
    EXPECT_LT(all.audit.closure_residual, 1e-9);
    EXPECT_LT(dae.steps.steps, 2000);
    EXPECT_LT(all.steps.steps, 2000);
  }
}

}  // namespace
}  // namespace catena
