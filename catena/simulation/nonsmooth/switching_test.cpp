// SPDX-License-Identifier: BSD-3-Clause
// Constraints that are switched during a simulation, contacts with friction, servo constraints and
// loops by multipliers, against closed forms, published numbers and conservation laws.
#include "catena/simulation/nonsmooth/switching.h"

#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using Eigen::VectorXd;

SimulationSettings accurate(double duration) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 20.0;
  s.integrator.relative_tolerance = 1e-11;
  s.integrator.absolute_tolerance = 1e-13;
  return s;
}

const RunEvent* find(const MemoryRecorder& record, const std::string& kind,
                     const std::string& name) {
  for (const RunEvent& e : record.events())
    if (e.kind == kind && e.name == name) return &e;
  return nullptr;
}

// A spacecraft with two arms; a box in the first hand goes to the second and is let go.
Mechanism servicer() {
  MechanismBuilder b("servicer");
  b.set_gravity({});
  b.add_body("hub", body(20.0, {}, {2.0, 2.5, 3.0}));
  b.add_hinge("hub", kWorld, "hub", {.type = HingeType::free});
  for (const std::string arm : {"left", "right"}) {
    const double side = arm == "left" ? 1.0 : -1.0;
    b.add_body(arm + "_upper", rod(3.0, 1.0, 0.01));
    b.add_body(arm + "_fore", rod(2.0, 1.0, 0.01));
    b.add_hinge(arm + "_shoulder", "hub", arm + "_upper",
                {.axes = {Vec3d::unit_z()}, .frame_on_parent = shift(0.5, 0.6 * side, 0)});
    b.add_hinge(arm + "_elbow", arm + "_upper", arm + "_fore",
                {.axes = {Vec3d::unit_y()}, .frame_on_parent = shift(1, 0, 0)});
  }
  b.add_body("box", body(4.0, {0.05, 0, 0}, {0.2, 0.3, 0.25}));
  b.add_hinge("box", kWorld, "box", {.type = HingeType::free});
  return b.finish();
}

TEST(Switching, HandOverKeepsMomentum) {
  const Mechanism m = servicer();
  State s = m.default_state();
  s.q[m.position_index("left_shoulder")] = -0.4;
  s.q[m.position_index("right_shoulder")] = 0.4;
  s.q[m.position_index("left_elbow")] = 0.5;
  s.q[m.position_index("right_elbow")] = -0.3;
  const int box = m.hinges()[index(m.hinge_index("box"))].q_index;
  s.q[box + 4] = 2.3;
  s.v[m.velocity_index("left_shoulder")] = 0.5;
  s.v[m.velocity_index("right_elbow")] = -0.8;
  s.v[0] = 0.2;
  SimulationSettings settings = accurate(2.0);
  const auto grip = [&](const std::string& arm, bool active) {
    ConstraintSettings c;
    c.constraint = AttachmentSettings{.name = arm,
                                      .body_a = m.body_index(arm + "_fore"),
                                      .body_b = m.body_index("box"),
                                      .frame_a = shift(1, 0, 0),
                                      .as_it_is = true};
    c.active = active;
    return c;
  };
  settings.actions.constraints = {grip("left", true), grip("right", false)};
  settings.actions.switches = {{.name = "take", .time = 0.6, .activate = {"right"}},
                               {.name = "hand over", .time = 1.1, .release = {"left"}},
                               {.name = "let go", .time = 1.6, .release = {"right"}}};
  settings.actions.inputs = {{"left_shoulder", "3*sin(2*t)"}, {"right_elbow", "2*cos(3*t)"}};
  settings.outputs = {"q.*", "v.*", "momentum.*", "energy.*", "work.*"};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  ASSERT_TRUE(r.complete);
  EXPECT_EQ(r.events, 3);
  ASSERT_TRUE(r.audit.linear_momentum_drift.has_value());
  EXPECT_LT(*r.audit.linear_momentum_drift, 1e-10);
  EXPECT_LT(*r.audit.angular_momentum_drift, 1e-10);
  EXPECT_LT(r.audit.energy_drift, 1e-9);
  EXPECT_LT(r.audit.closure_residual, 1e-12);
  // Both hands hold it for a while, at the cost of energy.
  double lost = 0.0;
  for (const ElementWork& w : r.audit.work)
    if (w.element == "switches") lost = w.work;
  EXPECT_LT(lost, -1e-4);
  const RunEvent* take = find(record, "constraint", "take");
  ASSERT_NE(take, nullptr);
  EXPECT_NEAR(take->time, 0.6, 1e-12);
  // Let go, the box flies on: its momentum stays.
  const auto box_momentum = [&](Eigen::Index row) {
    State at = s;
    for (int i = 0; i < m.coordinates(); ++i)
      at.q[i] = record.value(row, "q." + m.position_names()[index(i)]);
    for (int i = 0; i < m.freedoms(); ++i)
      at.v[i] = record.value(row, "v." + m.velocity_names()[index(i)]);
    const Transformd pose = body_pose(m, at.q, m.body_index("box"));
    const Twistd twist = body_twist(m, at, m.body_index("box"));
    return 4.0 * (pose.rotation * (twist.linear + cross(twist.angular, Vec3d{0.05, 0.0, 0.0})));
  };
  const Eigen::Index last = record.rows() - 1;
  EXPECT_GT(norm(box_momentum(last)), 1e-2);
  EXPECT_LT(norm(box_momentum(last) - box_momentum(last - 3)), 1e-10);  // since 1.7 s
  EXPECT_GT(norm(box_momentum(last) - box_momentum(last - 6)), 1e-3);   // held at 1.4 s
}

// A solid sphere that starts without spin slides for 2 v / (7 μ g), then rolls with 5/7 v.
TEST(Contacts, SphereSlidesThenRolls) {
  MechanismBuilder b("sphere");
  const double mass = 2.0, radius = 0.3, i = 0.4 * mass * radius * radius;
  b.add_body("ball", body(mass, {}, {i, i, i}));
  b.add_hinge("free", kWorld, "ball", {.type = HingeType::free});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[6] = radius;
  s.v[3] = 3.0;
  s.v[4] = 1.0;
  const double mu = 0.2, g = 9.81, speed = std::hypot(3.0, 1.0);
  SimulationSettings settings = accurate(1.0);
  ConstraintSettings c;
  c.constraint = ContactSettings{.name = "floor", .body = 0, .radius = radius, .friction = mu};
  settings.actions.constraints = {c};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  const RunEvent* stick = find(record, "stick", "floor");
  ASSERT_NE(stick, nullptr);
  const double until = 2.0 * speed / (7.0 * mu * g);
  // The event comes when the slip is kSlowSlip, that is kSlowSlip / (3.5 μ g) early.
  EXPECT_NEAR(stick->time, until, 1e-7);
  const auto velocity = body_twist(m, r.state, 0, ExternalWrench::Axes::ground).linear;
  EXPECT_NEAR(velocity.x, 5.0 / 7.0 * 3.0, 1e-7);
  EXPECT_NEAR(velocity.y, 5.0 / 7.0 * 1.0, 1e-7);
  EXPECT_LT(r.audit.energy_drift, 1e-9);
  EXPECT_NEAR(r.audit.work[0].work, -mass * speed * speed / 7.0, 1e-6);  // ½ m v² · 2/7
}

// Newton's restitution: a ball dropped from h comes back to e² h; bounces end (Zeno).
TEST(Contacts, BallBouncesAndComesToRest) {
  MechanismBuilder b("ball");
  b.add_body("ball", body(1.0, {}, {0.004, 0.004, 0.004}));
  b.add_hinge("free", kWorld, "ball", {.type = HingeType::free});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q[6] = 1.1;
  const double e = 0.5, g = 9.81;
  SimulationSettings settings = accurate(2.0);
  ConstraintSettings c;
  c.constraint = ContactSettings{.name = "floor", .body = 0, .radius = 0.1, .restitution = e};
  settings.actions.constraints = {c};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  const double fall = std::sqrt(2.0 / g);
  std::vector<double> touches;
  for (const RunEvent& event : record.events())
    if (event.kind == "touch") touches.push_back(event.time);
  ASSERT_GT(touches.size(), 5u);
  EXPECT_NEAR(touches[0], fall, 1e-10);
  double next = fall;
  for (std::size_t k = 1; k < 6; ++k) {
    next += 2.0 * fall * std::pow(e, static_cast<double>(k));
    EXPECT_NEAR(touches[k], next, 1e-9);
  }
  // It has come to rest after fall (1 + 2 e / (1 − e)) = 3 fall = 1.35 s.
  EXPECT_NE(find(record, "zeno", "floor"), nullptr);
  EXPECT_NEAR(r.state.q[6], 0.1, 1e-9);
  EXPECT_LT(std::abs(r.state.v[5]), 1e-9);
  EXPECT_LT(r.audit.energy_drift, 1e-9);
}

// A seesaw that one end would throw back while the other end touches its plane too: no motion
// leaves both planes, so it stays.
TEST(Contacts, WhatOthersDoNotLetBounceStaysDown) {
  MechanismBuilder b("seesaw");
  b.set_gravity({});
  b.add_body("beam", body(2.0, {}, {0.1, 0.5, 0.5}));
  b.add_hinge("pivot", kWorld, "beam");
  const Mechanism m = b.finish();
  SimulationSettings settings = accurate(0.1);
  for (const double x : {1.0, -1.0}) {
    ConstraintSettings c;
    auto& contact = c.constraint.emplace<ContactSettings>();
    contact.name = x > 0.0 ? "right" : "left";
    contact.body = 0;
    contact.center = {x, 0.0, 0.0};
    contact.plane_normal = {0.0, 1.0, 0.0};
    contact.restitution = 0.5;
    settings.actions.constraints.push_back(c);
  }
  State s = m.default_state();
  s.v[0] = -2.0;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  EXPECT_NEAR(record.value(20, "q.pivot"), 0.0, 1e-12);
  EXPECT_NEAR(record.value(20, "v.pivot"), 0.0, 1e-12);
  EXPECT_LT(r.audit.energy_drift, 1e-12);
  ASSERT_NE(find(record, "touch", "right"), nullptr);
}

// A servo whose point is elsewhere when the motion begins: the state is moved, and the log says so.
TEST(Servo, AStateThatIsMovedAtTheStartIsLogged) {
  MechanismBuilder b("arm");
  b.add_body("link", body(1.0, {0.5, 0, 0}, {0.01, 0.1, 0.1}));
  b.add_hinge("pivot", kWorld, "link");
  const Mechanism m = b.finish();
  for (const double off : {0.0, 0.1}) {
    SimulationSettings settings = accurate(0.1);
    ConstraintSettings servo;
    auto& [tip, motions] = servo.constraint.emplace<ServoMotion>();
    tip.name = "tip";
    tip.body = 0;
    tip.point = {1.0, 0.0, 0.0};
    tip.rows = {{Vec3d::unit_y(), false}};
    motions = {off == 0.0 ? "0" : "sin(0.1)"};
    servo.active = true;
    settings.actions.constraints = {servo};
    MemoryRecorder record;
    simulate(m, m.default_state(), settings, record);
    EXPECT_NEAR(record.value(0, "q.pivot"), off, 1e-9);
    EXPECT_EQ(find(record, "constraint", "start") != nullptr, off != 0.0);
  }
}

// A block on an incline below the angle of friction stays; above it slides with
// g (sin α − μ cos α).
TEST(Contacts, InclineHoldsOrSlides) {
  for (const double mu : {0.5, 0.2}) {
    MechanismBuilder b("block");
    const double angle = 0.3;
    b.set_gravity({9.81 * std::sin(angle), 0.0, -9.81 * std::cos(angle)});
    b.add_body("block", body(1.0, {}, {0.01, 0.01, 0.01}));
    b.add_hinge("move", kWorld, "block", {.type = HingeType::translation});
    const Mechanism m = b.finish();
    SimulationSettings settings = accurate(1.0);
    ConstraintSettings c;
    c.constraint = ContactSettings{.name = "floor", .body = 0, .friction = mu};
    settings.actions.constraints = {c};
    MemoryRecorder record;
    const SimulationResult r = simulate(m, m.default_state(), settings, record);
    const double a = mu > std::tan(angle) ? 0.0 : 9.81 * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR(r.state.q[0], 0.5 * a, 1e-9) << mu;
    EXPECT_NEAR(r.state.q[2], 0.0, 1e-12);
  }
}

// A door that a latch catches: all its energy is booked as work of the switch.
TEST(Switching, LatchByAFunctionOfTheState) {
  MechanismBuilder b("door");
  b.set_gravity({});
  b.add_body("door", rod(3.0, 1.0, 0.01));
  b.add_hinge("pin", kWorld, "door", {});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.v[0] = 2.0;
  SimulationSettings settings = accurate(2.0);
  StateInput input;
  read_settings_text(
      "constraints: {latch: {type: lock, freedom: pin}}\n"
      "switches: {shut: {when: q.pin - 1.2, direction: up, activate: [latch]}}\n",
      "test", m, input, settings);
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  EXPECT_NEAR(r.state.q[0], 1.2, 1e-10);
  EXPECT_NEAR(r.state.v[0], 0.0, 1e-13);
  const RunEvent* shut = find(record, "constraint", "shut");
  ASSERT_NE(shut, nullptr);
  EXPECT_NEAR(shut->time, 0.6, 1e-10);
  EXPECT_NEAR(r.audit.final_energy, 0.0, 1e-12);
  EXPECT_LT(r.audit.energy_drift, 1e-12);
}

TEST(Switching, ChatterIsNamed) {
  MechanismBuilder b("slide");
  b.set_gravity({});
  b.add_body("mass", body(1.0, {}, {0.1, 0.1, 0.1}));
  b.add_hinge("slide", kWorld, "mass", {.type = HingeType::prismatic, .axes = {Vec3d::unit_x()}});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.v[0] = 1.0;
  SimulationSettings settings = accurate(1.0);
  // Braked as soon as it is fast, and let go a hundred thousand times a second.
  ConstraintSettings c;
  c.constraint = LockSettings{"brake", 0};
  settings.actions.constraints = {c};
  settings.actions.inputs = {{"slide", "1e6"}};
  settings.actions.switches = {
      {.name = "hold", .when = "v.slide - 2", .direction = 1, .activate = {"brake"}},
      {.name = "free", .when = "sin(1e6*t)", .direction = 1, .release = {"brake"}}};
  MemoryRecorder record;
  try {
    simulate(m, s, settings, record);
    FAIL();
  } catch (const NumericalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("'brake' chatters"), std::string::npos) << text;
  }
}

// Ider's three-link arm (case V07.6): the tip along a line, by all motors or by two of them.
Mechanism three_links() {
  MechanismBuilder b("arm");
  b.set_gravity({});
  const double masses[3] = {30, 18, 18}, inertias[3] = {10, 8.64, 8.64};
  for (int i = 0; i < 3; ++i) {
    const double central = inertias[i] - masses[i] * 0.25;
    b.add_body("link" + std::to_string(i + 1),
               body(masses[i], {0.5, 0, 0}, {central, central, central}));
    b.add_hinge("joint" + std::to_string(i + 1), i == 0 ? kWorld : "link" + std::to_string(i),
                "link" + std::to_string(i + 1),
                {.frame_on_parent = i == 0 ? Transformd{} : shift(1, 0, 0)});
  }
  return b.finish();
}

SimulationResult move_tip(const std::string& actuators, MemoryRecorder& record) {
  const Mechanism m = three_links();
  SimulationSettings settings = accurate(1.0);
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.output_interval = 0.5;
  settings.outputs = {"q.*", "v.*", "effort.*"};
  StateInput input;
  // Where the reference starts: x = Σ cos, y = Σ sin of 60, 50 and −40 degrees.
  const double degree = kPi / 180.0;
  const double x = std::cos(60 * degree) + std::cos(50 * degree) + std::cos(-40 * degree);
  const double y = std::sin(60 * degree) + std::sin(50 * degree) + std::sin(-40 * degree);
  char text[400];
  std::snprintf(text, sizeof text,
                "constraints: {tip: {type: servo, body: link3, point: [1, 0, 0], "
                "motion: {x: %.17g - t, y: %.17g}%s}}\n",
                x, y, actuators.c_str());
  read_settings_text(text, "test", m, input, settings);
  State s{vector({60 * degree, -10 * degree, -90 * degree}), vector({0.385954, 0.0, -0.961721})};
  return simulate(m, s, settings, record);
}

TEST(Servo, IdersArmWithThreeAndWithTwoMotors) {
  const double degree = kPi / 180.0;
  struct Row {
    const char* actuators;
    double angles[3], rates[3], torques[3];
  };
  // At 1 s, inertia about the lower joints.
  const Row rows[] = {
      {"", {81.2450, -13.4034, -135.5418}, {.35720, -.07851, -.69898}, {-1.7058, -1.0040, -0.0353}},
      {", actuators: [joint2, joint3]",
       {88.3205, -25.0812, -127.8188},
       {.48693, -.22433, -.57129},
       {0, 0.6607, -0.0715}}};
  for (const Row& row : rows) {
    MemoryRecorder record;
    const SimulationResult r = move_tip(row.actuators, record);
    const Eigen::Index last = record.rows() - 1;
    for (int i = 0; i < 3; ++i) {
      // Four digits behind the point, in degrees.
      EXPECT_NEAR(r.state.q[i] / degree, row.angles[i], 2e-4) << row.actuators;
      EXPECT_NEAR(r.state.v[i], row.rates[i], 2e-5);
      EXPECT_NEAR(record.value(last, "effort.joint" + std::to_string(i + 1)), row.torques[i], 2e-4);
    }
    EXPECT_LT(r.audit.energy_drift, 1e-8);
    EXPECT_LT(r.audit.closure_residual, 1e-11);
  }
}

TEST(Servo, MotorsThatCannotEndTheRunWithTheirNames) {
  for (const char* actuators : {", actuators: [joint1, joint3]", ", actuators: [joint1, joint2]"}) {
    MemoryRecorder record;
    try {
      move_tip(actuators, record);
      FAIL() << actuators;
    } catch (const NumericalError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("servo 'tip'"), std::string::npos) << text;
      EXPECT_NE(text.find("'joint1'"), std::string::npos) << text;
      EXPECT_NE(text.find("at time 0."), std::string::npos) << text;
    }
    EXPECT_FALSE(record.complete());
    EXPECT_GT(record.rows(), 0);  // what was computed until then is kept
  }
}

// Loops by multipliers and by embedding give the same motion.
TEST(LoopRoute, MultipliersMoveAFourBarAsEmbeddingDoes) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.5);
  SimulationSettings settings = accurate(2.0);
  MemoryRecorder embedded, multipliers;
  settings.actions.loops = LoopRoute::embedded;
  const SimulationResult a = simulate(m, s, settings, embedded);
  settings.actions.loops = LoopRoute::multipliers;
  const SimulationResult b = simulate(m, s, settings, multipliers);
  EXPECT_LT((a.state.q - b.state.q).norm(), 1e-8);
  EXPECT_LT((a.state.v - b.state.v).norm(), 1e-8);
  EXPECT_LT(b.audit.closure_residual, 1e-13);
  EXPECT_LT(b.audit.energy_drift, 1e-9);
  // SUNDIALS' methods that can project.
  for (const Method method : {Method::arkode, Method::bdf}) {
    settings.integrator.method = method;
    MemoryRecorder other;
    const SimulationResult c = simulate(m, s, settings, other);
    const double tolerance = method == Method::bdf ? 1e-6 : 1e-8;  // multistep, order five
    EXPECT_LT((a.state.q - c.state.q).norm(), tolerance) << to_string(method);
    EXPECT_LT((a.state.v - c.state.v).norm(), 10.0 * tolerance) << to_string(method);
    EXPECT_LT(c.audit.closure_residual, 1e-12) << to_string(method);
  }
  settings.integrator.method = Method::adams;
  MemoryRecorder none;
  EXPECT_THROW(simulate(m, s, settings, none), Error);
}

// Axes as a file with few digits gives them: the four-bar moves as the exact one does but for the
// rounding, and by both roads alike.
TEST(LoopRoute, RoundedAxesDoNotHoldAFourBar) {
  const Mechanism exact = four_bar();
  const State at = four_bar_state(exact, 0.7, 0.0);
  SimulationSettings settings = accurate(1.0);
  MemoryRecorder unused;
  const SimulationResult parallel = simulate(exact, at, settings, unused);
  EXPECT_GT(std::abs(parallel.state.q[0] - at.q[0]), 0.1);
  for (const double off : {3e-6, 5e-8}) {
    const Mechanism m = rounded_four_bar(off);
    const State s = assemble(m, at, {.fixed = {1, 0, 0}});
    settings.integrator.method = Method::dop853;
    settings.actions.loops = LoopRoute::embedded;
    MemoryRecorder by_embedding, by_multipliers, by_ida;
    const SimulationResult a = simulate(m, s, settings, by_embedding);
    settings.actions.loops = LoopRoute::multipliers;
    const SimulationResult b = simulate(m, s, settings, by_multipliers);
    EXPECT_LT((a.state.q - parallel.state.q).norm(), 100.0 * off + 1e-8);
    EXPECT_LT((a.state.q - b.state.q).norm(), off + 1e-8);
    EXPECT_LT((a.state.v - b.state.v).norm(), 10.0 * off + 1e-8);
    EXPECT_LT(b.audit.closure_residual,
              100.0 * off);  // of rows that are redundant but for rounding
    EXPECT_LT(b.audit.energy_drift, 1e-9);
    settings.integrator.method = Method::ida;
    const SimulationResult c = simulate(m, s, settings, by_ida);
    EXPECT_LT((a.state.q - c.state.q).norm(), off + 1e-6);
    EXPECT_LT((a.state.v - c.state.v).norm(), 10.0 * off + 1e-5);
  }
}

// A hinge of a loop that rests against its limit, whichever: it stays there, and what the stop
// gives is what statics asks for, by virtual work along the closure.
TEST(LoopRoute, AnyHingeOfALoopRestsAgainstItsStop) {
  const Mechanism plain = four_bar();
  const State s = four_bar_state(plain, kPi / 2, 0.0);
  for (const std::string hinge : {"A", "B", "D"}) {
    const int i = plain.velocity_index(hinge);
    const double turn = consistent_velocity(plain, s.q, vector({-1, 0, 0}), {1, 0, 0})[i];
    MechanismBuilder b = plain.edit();
    FreedomSettings limit;
    (turn < 0.0 ? limit.lower : limit.upper) = s.q[i] + 0.3 * (turn < 0.0 ? -1.0 : 1.0);
    b.hinge(hinge).freedoms = {limit};
    const Mechanism m = b.finish();
    for (const LoopRoute route : {LoopRoute::embedded, LoopRoute::multipliers}) {
      SimulationSettings settings = accurate(2.0);
      settings.actions.loops = route;
      settings.outputs = {"q.*", "reaction.*"};
      MemoryRecorder record;
      const SimulationResult r = simulate(m, s, settings, record);
      EXPECT_EQ(r.events, 1) << hinge;
      EXPECT_NEAR(r.state.q[i], turn < 0.0 ? limit.lower : limit.upper, 1e-9) << hinge;
      EXPECT_LT(r.audit.energy_drift, 1e-8) << hinge;
      // dV along the motion that turns the hinge by one.
      std::vector<std::uint8_t> fixed(3, 0);
      fixed[index(i)] = 1;
      const Eigen::VectorXd x =
          consistent_velocity(m, r.state.q, Eigen::VectorXd::Unit(3, i), fixed);
      const auto potential = [&](double h) {
        return energy(m, {r.state.q + h * x, Eigen::VectorXd::Zero(3)}).potential();
      };
      const double h = 1e-5;
      const double needed = (potential(h) - potential(-h)) / (2.0 * h);
      EXPECT_NEAR(record.value(record.rows() - 1, "reaction." + hinge), needed, 1e-6) << hinge;
    }
  }
}

// A stop, dry friction and a prescribed motion beside constraints.
TEST(LoopRoute, StopsAndMotionsWithMultipliers) {
  MechanismBuilder b = four_bar().edit();
  b.hinge("D").freedoms = {{.upper = 0.9}};
  const Mechanism m = b.finish();
  const State s = four_bar_state(m, 0.7, 1.5);
  SimulationSettings settings = accurate(1.0);
  settings.actions.restitution = 0.5;
  MemoryRecorder embedded, multipliers;
  settings.actions.loops = LoopRoute::embedded;
  const SimulationResult a = simulate(m, s, settings, embedded);
  settings.actions.loops = LoopRoute::multipliers;
  const SimulationResult r = simulate(m, s, settings, multipliers);
  EXPECT_EQ(a.events, r.events);
  EXPECT_GT(r.events, 0);
  EXPECT_LT((a.state.q - r.state.q).norm(), 1e-7);
  settings.actions.motions = {{"A", "0.7 + 0.3*sin(2*t)"}};
  settings.actions.restitution = 0.0;
  settings.actions.stops = false;
  State from = s;
  from.v = consistent_velocity(m, s.q, vector({0.6, 0, 0}), {1, 0, 0});
  settings.outputs = {"q.*", "effort.*"};
  MemoryRecorder motion_embedded, motion_multipliers;
  const SimulationResult d = simulate(m, from, settings, motion_multipliers);
  settings.actions.loops = LoopRoute::embedded;
  const SimulationResult c = simulate(m, from, settings, motion_embedded);
  EXPECT_LT((c.state.q - d.state.q).norm(), 1e-9);
  const Eigen::Index last = motion_embedded.rows() - 1;
  EXPECT_NEAR(motion_embedded.value(last, "effort.A"), motion_multipliers.value(last, "effort.A"),
              1e-7);
  EXPECT_LT(d.audit.energy_drift, 1e-8);
}

// A resumed run has the same bits.
TEST(Switching, ResumesWithTheSameBits) {
  const Mechanism m = servicer();
  State s = m.default_state();
  const int box = m.hinges()[index(m.hinge_index("box"))].q_index;
  s.q[box + 4] = 2.3;
  s.v[m.velocity_index("left_shoulder")] = 0.5;
  SimulationSettings settings = accurate(1.0);
  settings.checkpoint_interval = 0.25;
  ConstraintSettings c;
  c.constraint = AttachmentSettings{.name = "left",
                                    .body_a = m.body_index("left_fore"),
                                    .body_b = m.body_index("box"),
                                    .as_it_is = true};
  settings.actions.constraints = {c};
  settings.actions.switches = {{.name = "take", .time = 0.3, .activate = {"left"}},
                               {.name = "leave", .time = 0.8, .release = {"left"}}};
  MemoryRecorder whole, rest;
  const SimulationResult a = simulate(m, s, settings, whole);
  rest.begin(whole.columns());
  const SimulationResult b = resume_simulation(m, whole.checkpoints()[1], settings, rest);
  EXPECT_EQ((a.state.q - b.state.q).norm(), 0.0);
  EXPECT_EQ((a.state.v - b.state.v).norm(), 0.0);
}

TEST(Switching, MistakesAreNamed) {
  const Mechanism m = four_bar();
  SimulationSettings settings;
  StateInput input;
  const auto message = [&](const std::string& text) {
    try {
      read_settings_text(text, "test.yaml", m, input, settings);
    } catch (const ModelError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message("constraints: {a: {type: lock, freedom: AA}}").find("did you mean 'A'"),
            std::string::npos);
  EXPECT_NE(message("constraints: {a: {type: attach, body_a: drver, body_b: world}}")
                .find("did you mean 'driver'"),
            std::string::npos);
  EXPECT_NE(message("constraints: {a: {tipe: lock}}").find("type"), std::string::npos);
  settings = {};
  settings.actions.switches = {{.name = "x", .time = 1.0, .activate = {"grip"}}};
  MemoryRecorder record;
  EXPECT_THROW(simulate(m, four_bar_state(m, 0.7, 0.0), settings, record), Error);
}

}  // namespace
}  // namespace catena
