// SPDX-License-Identifier: BSD-3-Clause
// Several contacts at once: impacts, rest, slip and contradictions, against closed forms,
// conservation laws and statics.
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/simulation/nonsmooth/switching.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::kGravity;

SimulationSettings accurate_contacts(double duration, int rows = 50) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / rows;
  s.integrator.relative_tolerance = 1e-10;
  s.integrator.absolute_tolerance = 1e-12;
  s.outputs = {"q.*", "v.*", "energy.*"};
  return s;
}

// A free box of 2 kg, 0.4 by 0.3 by 0.2 m, its mass centre away from the middle by `shift`.
Mechanism box(const Vec3d& shift = {}) {
  MechanismBuilder b("box");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("box", body(2.0, shift, {0.02, 0.03, 0.04}));
  b.add_hinge("base", kWorld, "box", {.type = HingeType::free});
  return b.finish();
}

std::vector<Vec3d> corners() {
  return {{0.2, 0.15, -0.1}, {0.2, -0.15, -0.1}, {-0.2, 0.15, -0.1}, {-0.2, -0.15, -0.1}};
}

void add_contacts(SimulationSettings& settings, const std::vector<Vec3d>& points, double friction,
                  double restitution) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    ConstraintSettings c;
    c.constraint = ContactSettings{.name = "c" + std::to_string(i),
                                   .body = 0,
                                   .center = points[i],
                                   .friction = friction,
                                   .restitution = restitution};
    settings.actions.constraints.push_back(c);
  }
}

State row(const Mechanism& m, const MemoryRecorder& record, Eigen::Index k) {
  State s = m.default_state();
  for (int i = 0; i < m.coordinates(); ++i)
    s.q[i] = record.value(k, "q." + m.position_names()[index(i)]);
  for (int i = 0; i < m.freedoms(); ++i)
    s.v[i] = record.value(k, "v." + m.velocity_names()[index(i)]);
  return s;
}

double lowest(const Mechanism& m, const MemoryRecorder& record, const std::vector<Vec3d>& points) {
  double least = 1e9;
  for (Eigen::Index k = 0; k < record.rows(); ++k)
    for (const Vec3d& p : points)
      least = std::min(least, (body_pose(m, row(m, record, k).q, 0) * p).z);
  return least;
}

double most_rise(const MemoryRecorder& record) {
  const Eigen::VectorXd e = record.column("energy.total");
  double most = 0.0;
  for (Eigen::Index k = 1; k < e.size(); ++k) most = std::max(most, e[k] - e[k - 1]);
  return most;
}

int count(const MemoryRecorder& record, const std::string& kind) {
  int n = 0;
  for (const RunEvent& e : record.events()) n += e.kind == kind ? 1 : 0;
  return n;
}

// All four corners at once: as a ball, whatever the restitution.
TEST(Touching, BoxDroppedFlatBouncesAsOne) {
  const Mechanism m = box();
  for (const double e : {0.0, 0.5}) {
    State s = m.default_state();
    s.q[6] = 0.4;
    SimulationSettings settings = accurate_contacts(1.2);
    add_contacts(settings, corners(), 0.3, e);
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    const double fall = std::sqrt(2.0 * 0.3 / kGravity);
    ASSERT_GE(count(record, "touch"), 4);
    int at_first = 0, at_second = 0;
    for (const RunEvent& event : record.events()) {
      if (event.kind != "touch") continue;
      if (std::abs(event.time - fall) < 1e-9) ++at_first;
      if (std::abs(event.time - fall * (1.0 + 2.0 * e)) < 1e-9) ++at_second;
    }
    EXPECT_EQ(at_first, 4);
    if (e > 0.0) {
      EXPECT_EQ(at_second, 4);
    }
    EXPECT_GT(lowest(m, record, corners()), -1e-9);
    EXPECT_NEAR(r.state.q[6], 0.1, 1e-9);  // rests
    EXPECT_LT(r.state.v.lpNorm<Eigen::Infinity>(), 1e-9);
    EXPECT_NEAR(r.audit.initial_energy - r.audit.final_energy, 2.0 * kGravity * 0.3, 1e-8);
    EXPECT_LT(r.audit.energy_drift, 1e-9);
  }
}

// Dropped as it comes: it tumbles and ends at rest, never through the floor, energy only lost. At
// rest on its four corners its height is known.
TEST(Touching, BoxTumblesToRest) {
  const Mechanism m = box();
  State s = m.default_state();
  s.q.head<4>() << 0.98, 0.15, 0.1, std::sqrt(1.0 - 0.98 * 0.98 - 0.15 * 0.15 - 0.01);
  s.q[6] = 0.4;
  for (const double mu : {0.0, 0.4})
    for (const double e : {0.0, 0.3}) {
      SimulationSettings settings = accurate_contacts(2.0, 200);
      add_contacts(settings, corners(), mu, e);
      MemoryRecorder record;
      const SimulationResult r = simulate(m, s, settings, record);
      ASSERT_TRUE(r.complete);
      EXPECT_GT(lowest(m, record, corners()), -1e-8) << mu << " " << e;
      EXPECT_LT(most_rise(record), 1e-8) << mu << " " << e;
      EXPECT_LT(r.audit.energy_drift, 1e-7) << mu << " " << e;
      EXPECT_NEAR(r.state.q[6], 0.1, 1e-8) << mu << " " << e;
      if (mu > 0.0) {
        EXPECT_LT(r.state.v.lpNorm<Eigen::Infinity>(), 1e-8) << e;
      }
    }
}

// A bar in a plane on its two ends.
TEST(Touching, BarOnTwoEnds) {
  MechanismBuilder b("bar");
  b.set_gravity({0.0, 0.0, -10.0});
  b.add_body("bar", body(2.0, {0.02, 0.0, 0.0}, {0.01, 0.05, 0.05}));
  b.add_hinge("p", kWorld, "bar",
              {.type = HingeType::planar, .axes = {Vec3d::unit_y(), Vec3d::unit_x()}});
  const Mechanism m = b.finish();
  const std::vector<Vec3d> ends = {{0.3, 0.0, 0.0}, {-0.3, 0.0, 0.0}};
  State s = m.default_state();
  // Which coordinate lifts it, and to which side.
  int up = -1;
  double sign = 1.0;
  for (int i = 0; i < 3; ++i) {
    State moved = s;
    moved.q[i] = 0.5;
    const double z = body_pose(m, moved.q, 0).translation.z;
    if (std::abs(z) > 0.4) {
      up = i;
      sign = z > 0.0 ? 1.0 : -1.0;
    }
  }
  ASSERT_GE(up, 0);
  s.q[up] = sign * 0.5;
  s.q[m.position_index("p.angle")] = 0.2;
  SimulationSettings settings = accurate_contacts(2.0, 200);
  add_contacts(settings, ends, 0.3, 0.5);
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  EXPECT_GT(lowest(m, record, ends), -1e-8);
  EXPECT_LT(most_rise(record), 1e-8);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
  EXPECT_LT(r.state.v.lpNorm<Eigen::Infinity>(), 1e-8);
  EXPECT_GT(count(record, "zeno"), 0);
}

// A box that slides on four corners stops after v²/(2 μ g), however its load is distributed: with
// a mass centre so high that least-norm forces would pull at two corners.
TEST(Touching, SlidingBoxStops) {
  for (const double height : {0.0, 0.25}) {
    const Mechanism m = box({0.08, 0.05, height});
    State s = m.default_state();
    s.q[6] = 0.1;
    s.v[3] = 1.5;
    const double mu = 0.3;
    SimulationSettings settings = accurate_contacts(1.0);
    add_contacts(settings, corners(), mu, 0.0);
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    const double deceleration = mu * kGravity;
    EXPECT_NEAR(r.state.q[4], 1.5 * 1.5 / (2.0 * deceleration), 1e-6) << height;
    EXPECT_NEAR(r.state.q[6], 0.1, 1e-9);
    EXPECT_LT(r.state.v.lpNorm<Eigen::Infinity>(), 1e-9);
    EXPECT_NEAR(r.audit.initial_energy - r.audit.final_energy, 0.5 * 2.0 * 1.5 * 1.5, 1e-7);
    EXPECT_EQ(count(record, "lift"), 0) << height;
  }
}

// Statics: pushed at its mass centre, 0.1 m above the floor, the box slides if the push is more
// than μ m g, and tips over its front edge, 0.2 m ahead, if it is more than m g · 0.2/0.1.
TEST(Touching, PushedBoxStaysSlidesOrTips) {
  const Mechanism m = box();
  const double weight = 2.0 * kGravity;
  struct Case {
    double push, friction;
    bool slides, tips;
  };
  for (const Case& c : {Case{0.29, 0.3, false, false}, Case{0.31, 0.3, true, false},
                        Case{1.99, 3.0, false, false}, Case{2.01, 3.0, false, true}}) {
    State s = m.default_state();
    s.q[6] = 0.1;
    SimulationSettings settings = accurate_contacts(0.3);
    add_contacts(settings, corners(), c.friction, 0.0);
    settings.actions.external = {{.body = 0,
                                  .wrench = {{}, {c.push * weight, 0.0, 0.0}},
                                  .axes = ExternalWrench::Axes::ground}};
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    const double shift = c.slides ? 0.5 * (c.push - c.friction) * kGravity * 0.3 * 0.3 : 0.0;
    if (!c.tips) {
      EXPECT_NEAR(r.state.q[4], shift, 1e-7) << c.push;
    }
    EXPECT_EQ(std::abs(r.state.q[2]) > 1e-5, c.tips) << c.push;   // turned about y
    EXPECT_EQ(count(record, "touch"), c.tips ? 2 : 4) << c.push;  // what it rests on at first
    EXPECT_EQ(count(record, "lift"), 0) << c.push;
    EXPECT_GT(lowest(m, record, corners()), -1e-9);
  }
}

// Two feet that a drive pushes apart: both cannot stick, and the lighter one slips. Friction there
// takes μ m g times the way.
TEST(Touching, DrivenFeetCannotBothStick) {
  MechanismBuilder b("feet");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("heavy", body(3.0, {}, {0.1, 0.1, 0.1}));
  b.add_body("light", body(1.0, {}, {0.1, 0.1, 0.1}));
  b.add_hinge("move", kWorld, "heavy", {.type = HingeType::translation});
  b.add_hinge("drive", "heavy", "light",
              {.type = HingeType::translation, .frame_on_parent = shift(1.0, 0.0, 0.0)});
  const Mechanism m = b.finish();
  SimulationSettings settings = accurate_contacts(1.0);
  for (int i = 0; i < 2; ++i) {
    ConstraintSettings c;
    c.constraint = ContactSettings{.name = i == 0 ? "left" : "right", .body = i, .friction = 0.5};
    settings.actions.constraints.push_back(c);
  }
  settings.actions.motions = {{"drive.x", "0.1*t^2"}};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_NEAR(r.state.q[0], 0.0, 1e-9);
  EXPECT_NEAR(r.state.q[3], 0.1, 1e-12);
  for (const ElementWork& work : r.audit.work)
    if (work.element == "contact right") {
      EXPECT_NEAR(work.work, -0.5 * kGravity * 0.1, 1e-6);
    }
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

Mechanism arm() {
  MechanismBuilder b("arm");
  b.set_gravity({0.0, 0.0, -kGravity});
  for (int i = 0; i < 3; ++i) {
    const std::string link = "l" + std::to_string(i + 1);
    b.add_body(link, body(1.0, {0.3, 0, 0}, {0.01, 0.05, 0.05}));
    b.add_hinge(
        std::string(1, static_cast<char>('a' + i)), i == 0 ? kWorld : "l" + std::to_string(i), link,
        {.axes = {Vec3d::unit_y()}, .frame_on_parent = i == 0 ? Transformd{} : shift(0.6, 0, 0)});
  }
  return b.finish();
}

SimulationResult run_arm(const std::string& text, MemoryRecorder& record) {
  const Mechanism m = arm();
  SimulationSettings settings = accurate_contacts(1.0);
  StateInput input = default_input(m);
  read_settings_text(text, "test", m, input, settings);
  State s = m.default_state();
  s.q << -0.5, 1.2, 0.7;
  return simulate(m, s, settings, record);
}

// Constraints that contradict each other in positions or velocities are named, those that do not
// take part are not, and the time is said.
TEST(Contradictions, AreNamedWithTheTime) {
  const Mechanism m = arm();
  State s = m.default_state();
  s.q << -0.5, 1.2, 0.7;
  const Vec3d tip = body_pose(m, s.q, 2) * Vec3d{0.6, 0.0, 0.0};
  const std::string x = std::to_string(tip.x), z = std::to_string(tip.z);
  const std::string servo = ": {type: servo, body: l3, point: [0.6, 0, 0], motion: {x: ";
  const std::string grip = ": {type: attach, body_a: world, body_b: l3, frame_a: [" + x + ", 0, " +
                           z + "], hinge: spherical, active: true, frame_b: ";
  struct Case {
    std::string text;
    std::vector<std::string> said, not_said;
  };
  const Case cases[] = {
      {"constraints: {t1" + servo + x + " + 0.1*t}}, t2" + servo + x +
           " - 0.1*t}}, k: {type: "
           "lock, freedom: a, active: true}}",
       {"servo 't1'", "servo 't2'", "velocities", "at time 0 s"},
       {"'k'"}},
      {"constraints: {t1" + servo + x + "}}, t2" + servo + x + " + 0.1}}}",
       {"servo 't1'", "servo 't2'", "positions", "at time 0 s"},
       {}},
      {"motions: {a: -0.5 + t}\nconstraints: {k: {type: lock, freedom: a, active: true}}",
       {"lock 'k'", "motion of a", "at time 0 s"},
       {}},
      {"constraints: {g" + grip + "[0.6, 0, 0]}, h" + grip +
           "[0.5, 0, 0]}, k: {type: lock, "
           "freedom: b}}",
       {"attachment 'g'", "attachment 'h'", "positions", "at time 0 s"},
       {"'k'"}},
      {"motions: {a: -0.5 + (t - 0.25)^2*step(t - 0.25)}\nconstraints: {k: {type: lock, freedom: "
       "a, "
       "active: true}}",
       {"lock 'k'", "motion of a", "at time 0.2"},
       {}}};
  for (const Case& c : cases) {
    MemoryRecorder record;
    try {
      run_arm(c.text, record);
      ADD_FAILURE() << c.text;
    } catch (const NumericalError& e) {
      const std::string text = e.what();
      for (const std::string& word : c.said)
        EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
      for (const std::string& word : c.not_said)
        EXPECT_EQ(text.find(word), std::string::npos) << word << ": " << text;
    }
  }
}

// Redundant constraints that agree do no harm: the same attachment twice, and a lock at rest.
TEST(Contradictions, AgreementIsNone) {
  const Mechanism m = arm();
  State s = m.default_state();
  s.q << -0.5, 1.2, 0.7;
  const Vec3d tip = body_pose(m, s.q, 2) * Vec3d{0.6, 0.0, 0.0};
  char grip[300];
  std::snprintf(grip, sizeof grip,
                ": {type: attach, body_a: world, body_b: l3, frame_a: [%.17g, 0, %.17g], hinge: "
                "spherical, active: true, frame_b: [0.6, 0, 0]}",
                tip.x, tip.z);
  MemoryRecorder record;
  const SimulationResult r = run_arm("constraints: {g" + std::string(grip) + ", h" + grip +
                                         ", k: {type: lock, freedom: a, active: true}}",
                                     record);
  EXPECT_LT((r.state.q - s.q).norm(), 1e-10);
  // Nothing moves: what little energy there is in rounding is no drift.
  EXPECT_LT(r.audit.energy_drift, 1e-6);
}

// A servo that moves: its closure is measured at the time of the state, whatever the rows.
TEST(Audit, ClosureOfAMovingServo) {
  const Mechanism m = arm();
  State s = m.default_state();
  s.q << -0.5, 1.2, 0.7;
  const Vec3d tip = body_pose(m, s.q, 2) * Vec3d{0.6, 0.0, 0.0};
  char text[300];
  std::snprintf(text, sizeof text,
                "constraints: {t: {type: servo, body: l3, point: [0.6, 0, 0], motion: {x: %.17g - "
                "0.5*t, z: %.17g}}}",
                tip.x, tip.z);
  MemoryRecorder record;
  EXPECT_LT(run_arm(text, record).audit.closure_residual, 1e-12);
}

// The floor of the energy scale: a box at rest has no drift; a motion that is too small to matter
// beside the weight, but computed badly, has.
TEST(Audit, RestIsNoDriftAndBadIntegrationIs) {
  const Mechanism m = box({0.01, 0.02, 0.0});
  State s = m.default_state();
  s.q[6] = 0.1;
  SimulationSettings settings = accurate_contacts(1.0);
  add_contacts(settings, corners(), 0.4, 0.0);
  MemoryRecorder rest;
  EXPECT_LT(simulate(m, s, settings, rest).audit.energy_drift, 1e-6);
  MechanismBuilder b("pendulum");
  b.add_body("bob", body(1.0, {1.0, 0, 0}, {0.01, 0.01, 0.01}));
  b.set_gravity({kGravity, 0.0, 0.0});
  b.add_hinge("pin", kWorld, "bob", {});
  const Mechanism pendulum = b.finish();
  State swing = pendulum.default_state();
  swing.q[0] = 1e-4;
  SimulationSettings coarse = accurate_contacts(5.0);
  coarse.integrator.method = Method::euler;
  coarse.integrator.step = 0.01;
  MemoryRecorder bad;
  EXPECT_GT(simulate(pendulum, swing, coarse, bad).audit.energy_drift, 1e-4);
}

}  // namespace
}  // namespace catena
