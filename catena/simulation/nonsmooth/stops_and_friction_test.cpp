// SPDX-License-Identifier: BSD-3-Clause
// Stops and dry friction against closed forms.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/io/load.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::kGravity;

// A body on a vertical rail, with a floor at q = 0.
Mechanism ball() {
  MechanismBuilder b("ball");
  b.add_body("ball", {.mass = 2.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("rail", "world", "ball",
              {.type = HingeType::prismatic, .freedoms = {{.lower = 0.0}}});
  return b.finish();
}

// A block of mass 1 on a level rail with dry friction, and a spring if k > 0.
Mechanism block(const Friction& friction, double stiffness = 0.0) {
  MechanismBuilder b("block");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("block", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge(
      "rail", "world", "block",
      {.type = HingeType::prismatic, .freedoms = {{.stiffness = stiffness, .friction = friction}}});
  return b.finish();
}

std::vector<RunEvent> of_kind(const MemoryRecorder& record, const std::string& kind) {
  std::vector<RunEvent> found;
  for (const RunEvent& event : record.events())
    if (event.kind == kind) found.push_back(event);
  return found;
}

State state_of(const Mechanism& m, double q, double v) {
  State s = m.default_state();
  s.q[0] = q;
  s.v[0] = v;
  return s;
}

// Dropped from height H: t1 = √(2H/g), then bounces of 2 v eⁿ / g; all over at t1 (1+e)/(1−e).
TEST(Stops, ABallBouncesAsItShould) {
  const Mechanism m = ball();
  for (const Method method : {Method::dop853, Method::rk4, Method::adams, Method::midpoint}) {
    SCOPED_TRACE(to_string(method));
    const double e = 0.7, height = 1.0;
    MemoryRecorder record;
    SimulationSettings settings{.duration = 2.2};
    settings.integrator.method = method;
    settings.integrator.relative_tolerance = 1e-11;
    settings.integrator.absolute_tolerance = 1e-13;
    settings.actions.restitution = e;
    const SimulationResult r = simulate(m, state_of(m, height, 0.0), settings, record);
    const double first = std::sqrt(2.0 * height / kGravity);
    const auto impacts = of_kind(record, "limit");
    double t = first, speed = std::sqrt(2.0 * kGravity * height);
    ASSERT_GE(impacts.size(), 4u);
    double energy = 0.0;
    for (const RunEvent& impact : impacts) {
      EXPECT_NEAR(impact.time, t, 1e-9);
      energy += 0.5 * 2.0 * speed * speed * (e * e - 1.0);
      speed *= e;
      t += 2.0 * speed / kGravity;
    }
    ASSERT_EQ(r.audit.work.size(), 1u);
    EXPECT_NEAR(r.audit.work[0].work, energy, 1e-7);
    EXPECT_LT(r.audit.energy_drift, 1e-8);
    EXPECT_TRUE(of_kind(record, "zeno").empty());
  }
}

class Accumulation : public testing::TestWithParam<std::tuple<Method, double>> {};
INSTANTIATE_TEST_SUITE_P(
    Stops, Accumulation,
    testing::Combine(testing::Values(Method::dop853, Method::adams, Method::bdf, Method::arkode,
                                     Method::rk4, Method::ab4),
                     testing::Values(0.1, 0.3, 0.5, 0.8)),
    [](const auto& given) {
      return std::string(to_string(std::get<0>(given.param))) + "_" +
             std::to_string(static_cast<int>(std::lround(10.0 * std::get<1>(given.param))));
    });

TEST_P(Accumulation, IsNamedAndEnds) {
  const Mechanism m = ball();
  const auto [method, e] = GetParam();
  const double height = 1.0;
  MemoryRecorder record;
  SimulationSettings settings{.duration = 5.0};
  settings.integrator.method = method;
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.actions.restitution = e;
  const SimulationResult r = simulate(m, state_of(m, height, 0.0), settings, record);
  const auto zeno = of_kind(record, "zeno");
  ASSERT_EQ(zeno.size(), 1u);
  EXPECT_EQ(zeno[0].name, "rail");
  const double end = std::sqrt(2.0 * height / kGravity) * (1.0 + e) / (1.0 - e);
  EXPECT_NEAR(zeno[0].time, end, 1e-5);
  EXPECT_EQ(r.state.q[0], 0.0);
  EXPECT_EQ(r.state.v[0], 0.0);
  // All of the energy went into impacts.
  // Multistep methods have few digits beyond the tolerance.
  const bool multistep = method == Method::adams || method == Method::bdf;
  EXPECT_NEAR(r.audit.work[0].work, -2.0 * kGravity * height, multistep ? 1e-7 : 1e-9);
  EXPECT_LT(r.audit.energy_drift, multistep ? 1e-8 : 1e-9);
}

// With dry friction on the rail it rises with g + F/m and falls with g − F/m, so that each bounce
// begins with e √((g − F/m)/(g + F/m)) of the speed of the one before.
TEST_P(Accumulation, WithFrictionIsNamedAndEnds) {
  const auto [method, e] = GetParam();
  const double mass = 2.0, friction = 4.0, height = 1.0;
  MechanismBuilder b("ball");
  b.add_body("ball", {.mass = mass, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("rail", "world", "ball",
              {.type = HingeType::prismatic,
               .freedoms = {{.lower = 0.0, .friction = {.sliding = friction}}}});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  SimulationSettings settings{.duration = 8.0};
  settings.integrator.method = method;
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.actions.restitution = e;
  const SimulationResult r = simulate(m, state_of(m, height, 0.0), settings, record);
  const double up = kGravity + friction / mass, down = kGravity - friction / mass;
  const double fall = std::sqrt(2.0 * height / down), speed = e * down * fall;
  const double ratio = e * std::sqrt(down / up);
  const double bounce = speed * (1.0 / up + 1.0 / std::sqrt(up * down));
  const auto zeno = of_kind(record, "zeno");
  ASSERT_EQ(zeno.size(), 1u);
  // A bounce of less than 1e-10 m (7 µs) ends where it turns: 4e-5 s earlier at most.
  EXPECT_NEAR(zeno[0].time, fall + bounce / (1.0 - ratio), 4e-5);
  EXPECT_EQ(of_kind(record, "slip").size(), 1u);  // at the start; then it turns
  const auto turns = of_kind(record, "turn").size(), impacts = of_kind(record, "limit").size();
  EXPECT_GE(turns + 2, impacts);
  EXPECT_LT(turns, impacts);
  EXPECT_EQ(r.state.q[0], 0.0);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

// Two fingers, one the mimic of the other, that start closed: both are at a limit, but only one can
// be held. Pressed together they stay, pulled apart they open.
TEST(Stops, OneOfTwoCoupledFreedomsAtTheirLimitsIsHeld) {
  MechanismBuilder b("gripper");
  b.set_gravity({0.0, 0.0, 0.0});
  for (const double side : {1.0, -1.0}) {
    const std::string name = side > 0.0 ? "left" : "right";
    b.add_body(name, {.mass = 0.1, .inertia = SymMat3d::diagonal(1e-4, 1e-4, 1e-4)});
    b.add_hinge(name, "world", name,
                {.type = HingeType::prismatic,
                 .axes = {{0.0, side, 0.0}},
                 .freedoms = {{.lower = 0.0, .upper = 0.04}}});
  }
  b.add_gear("mimic", "right", "left", 1.0);
  const Mechanism m = b.finish();
  for (const double force : {-1.0, 0.001}) {
    SCOPED_TRACE(force);
    MemoryRecorder record;
    SimulationSettings settings{.duration = 1.0};
    settings.actions.inputs = {{"left", std::to_string(force)}};
    const SimulationResult r = simulate(m, m.default_state(), settings, record);
    // Both masses move: q = F t² / (2 · 0.2).
    const double expected = force < 0.0 ? 0.0 : force / 0.4;
    EXPECT_NEAR(r.state.q[0], expected, 1e-9);
    EXPECT_NEAR(r.state.q[1], expected, 1e-9);
  }
}

// An arm that falls onto several stops at once: its hinges throw each other off their limits, again
// and again. They come to rest, and none ever leaves its limits.
TEST(Stops, AnArmComesToRestOnSeveral) {
  Description d = read_description(CATENA_SOURCE_DIR "/models/arm6.yaml").description;
  for (Hinge& hinge : d.hinges)
    for (FreedomSettings& f : hinge.freedoms) {
      f.lower = -1.2;
      f.upper = 1.5;
    }
  const Mechanism m = MechanismBuilder(d).finish();
  State s = m.default_state();
  s.q << 0.3, 0.4, -0.5, 0.2, 0.6, 0.1;
  s.v << 0.5, -0.3, 0.2, 1.0, -0.7, 2.0;
  for (const double e : {0.0, 0.3}) {
    SCOPED_TRACE(e);
    MemoryRecorder record;
    SimulationSettings settings{.duration = 8.0};
    settings.actions.restitution = e;
    const SimulationResult r = simulate(m, s, settings, record);
    for (const std::string& name : m.velocity_names()) {
      const Eigen::VectorXd q = record.column("q." + name);
      EXPECT_LT(q.maxCoeff(), 1.5 + 1e-9) << name;
      EXPECT_GT(q.minCoeff(), -1.2 - 1e-9) << name;
    }
    EXPECT_GT(record.events().size(), 10u);
    EXPECT_LT(record.events().size(), 3000u);
    EXPECT_LT(r.audit.energy_drift, 1e-7);
  }
}

// A state that a run ended with may be off the limit by rounding.
TEST(Stops, HoldWithinRounding) {
  const Mechanism m = ball();
  for (const double q : {-1e-15, 1e-15, 0.0}) {
    MemoryRecorder record;
    const SimulationResult r = simulate(m, state_of(m, q, 0.0), {.duration = 1.0}, record);
    EXPECT_NEAR(r.state.q[0], 0.0, 1e-12);
  }
}

// A relay that would have to switch infinitely often is named, not left on the wrong side.
TEST(Events, ASlidingRelayIsNamed) {
  MechanismBuilder b("cart");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("cart", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("x", "world", "cart", {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  SimulationSettings settings{.duration = 2.0};
  settings.actions.inputs = {{"x", "-5*sign(v.x+q.x-1)"}};
  EXPECT_THROW(simulate(m, m.default_state(), settings, record), NumericalError);
}

// ---- Prescribed motions whose velocity jumps. ----

// A pole hangs from a cart that turns from −1 to 1 m/s at once: (I + m l²) Δω = −m l Δv.
TEST(Motions, AJumpOfVelocityDrivesTheRest) {
  const double mass = 2.0, length = 0.5, inertia = 0.1;
  MechanismBuilder b("cart");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("cart", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_body("pole", {.mass = mass,
                      .center_of_mass = {0.0, 0.0, -length},
                      .inertia = SymMat3d::diagonal(inertia, inertia, inertia)});
  b.add_hinge("x", "world", "cart", {.type = HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  b.add_hinge("th", "cart", "pole", {.axes = {{0.0, 1.0, 0.0}}});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  SimulationSettings settings{.duration = 1.01};
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.actions.motions = {{"x", "abs(t-1)"}};
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  // The centre of mass is at x − l sin θ, so that the pole turns the other way; then, without
  // gravity, the cart moves steadily and the speed of the pole stays.
  const double speed = mass * length * 2.0 / (inertia + mass * length * length);
  EXPECT_NEAR(r.state.v[1], speed, 1e-7);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
  EXPECT_EQ(of_kind(record, "motion").size(), 1u);
  ASSERT_EQ(of_kind(record, "start").size(), 1u);  // the state has x = 0, the motion 1
  EXPECT_EQ(of_kind(record, "start")[0].detail,
            "prescribed motions move the mechanism: x begins at 1, the state has 0");

  settings.duration = 2.0;
  settings.actions.motions = {{"x", "step(t-1)"}};
  EXPECT_THROW(simulate(m, m.default_state(), settings, record), NumericalError);
}

// Held down by gravity, lifted by a force that grows: it leaves when the force exceeds the weight.
TEST(Stops, AFreedomLeavesItsStopWhenPulledAway) {
  const Mechanism m = ball();
  MemoryRecorder record;
  SimulationSettings settings{.duration = 2.0};
  settings.actions.inputs = {{"rail", "20*t"}};
  const SimulationResult r = simulate(m, state_of(m, 0.0, 0.0), settings, record);
  const auto release = of_kind(record, "release");
  ASSERT_EQ(release.size(), 1u);
  const double t0 = 2.0 * kGravity / 20.0;
  EXPECT_NEAR(release[0].time, t0, 1e-9);
  // 2 q̈ = 20 (t − t0).
  EXPECT_NEAR(r.state.q[0], 10.0 * std::pow(2.0 - t0, 3) / 6.0, 1e-8);
}

// A falling double pendulum whose elbow hits its stop: the impulse obeys Newton's restitution and
// conserves the moment of momentum about the shoulder (no impulse acts there).
TEST(Stops, AnImpactInsideAMechanismKeepsItsMomentum) {
  MechanismBuilder b("two links");
  b.set_gravity({0.0, 0.0, 0.0});
  for (const char* name : {"upper", "lower"})
    b.add_body(name, {.mass = 1.0,
                      .center_of_mass = {0.5, 0.0, 0.0},
                      .inertia = SymMat3d::diagonal(0.01, 0.1, 0.1)});
  b.add_hinge("shoulder", "world", "upper");
  b.add_hinge("elbow", "upper", "lower",
              {.frame_on_parent = Transformd::from_translation({1.0, 0.0, 0.0}),
               .freedoms = {{.lower = -0.5, .upper = 0.5}}});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.v << 0.3, 1.0;
  MemoryRecorder record;
  SimulationSettings settings{.duration = 5.0, .outputs = {"v.*", "momentum.*", "energy.*"}};
  settings.actions.stop_settings = {{"elbow", 0.6}};
  const SimulationResult r = simulate(m, s, settings, record);
  const auto impacts = of_kind(record, "limit");
  ASSERT_GE(impacts.size(), 2u);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
  // Moment of momentum about the shoulder: links are rigid rods, so p = ∂T/∂v_shoulder.
  const auto moment = [&](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
    const double a1 = 0.1 + 0.25 + 1.0, a2 = 0.1 + 0.25, c = 0.5 * std::cos(q[1]);
    return (a1 + a2 + 2.0 * c) * v[0] + (a2 + c) * v[1];
  };
  EXPECT_NEAR(moment(r.state.q, r.state.v), moment(s.q, s.v), 1e-8);
}

// v̇ = −μ: stops after v/μ at v²/(2μ), and stays.
TEST(DryFriction, StopsABlock) {
  const Mechanism m = block({.sliding = 2.0});
  for (const Method method : {Method::dop853, Method::rk4, Method::adams}) {
    SCOPED_TRACE(to_string(method));
    MemoryRecorder record;
    SimulationSettings settings{.duration = 3.0};
    settings.integrator.method = method;
    settings.integrator.relative_tolerance = 1e-11;
    settings.integrator.absolute_tolerance = 1e-13;
    const SimulationResult r = simulate(m, state_of(m, 0.0, 3.0), settings, record);
    const auto stick = of_kind(record, "stick");
    ASSERT_EQ(stick.size(), 1u);
    EXPECT_NEAR(stick[0].time, 1.5, 1e-9);
    EXPECT_NEAR(r.state.q[0], 2.25, 1e-9);
    EXPECT_EQ(r.state.v[0], 0.0);
    EXPECT_NEAR(r.audit.work[0].work, -4.5, 1e-9);
  }
}

// q̈ = −k q ∓ F: half periods of π/√k, each shorter by 2F/k, until it sticks inside the dead zone.
TEST(DryFriction, AnOscillatorLosesTheSameAmplitudeEachTime) {
  const double k = 4.0, f = 1.0;  // dead zone ±0.25
  const Mechanism m = block({.sliding = f}, k);
  MemoryRecorder record;
  const SimulationResult r = simulate(m, state_of(m, 2.6, 0.0), {.duration = 10.0}, record);
  // Turning points: 2.6, −2.1, 1.6, −1.1, 0.6, −0.1: sticks there after five half periods.
  const auto stick = of_kind(record, "stick");
  ASSERT_EQ(stick.size(), 1u);
  EXPECT_NEAR(stick[0].time, 5.0 * std::numbers::pi / 2.0, 1e-7);
  EXPECT_NEAR(r.state.q[0], -0.1, 1e-7);
  EXPECT_EQ(of_kind(record, "slip").size(), 1u);  // at the start
  EXPECT_EQ(of_kind(record, "turn").size(), 4u);
  EXPECT_LT(r.audit.energy_drift, 1e-7);
}

// Pulled by a growing force it breaks away at the breakaway level and then feels the sliding one.
TEST(DryFriction, BreaksAwayAndSlides) {
  const Mechanism m = block({.sliding = 1.0, .breakaway = 1.5});
  MemoryRecorder record;
  SimulationSettings settings{.duration = 2.0, .outputs = {"friction.*", "a.*"}};
  settings.actions.inputs = {{"rail", "t"}};
  const SimulationResult r = simulate(m, state_of(m, 0.0, 0.0), settings, record);
  const auto slip = of_kind(record, "slip");
  ASSERT_EQ(slip.size(), 1u);
  EXPECT_NEAR(slip[0].time, 1.5, 1e-9);
  // q̈ = t − 1 from t = 1.5 on.
  EXPECT_NEAR(r.state.v[0], 0.5 * (1.0 - 0.25), 1e-9);
  EXPECT_NEAR(record.column("friction.rail")[record.rows() - 1], -1.0, 1e-12);
}

TEST(DryFriction, TheSmoothLawHasNoEvents) {
  const Mechanism m = block({.sliding = 2.0, .transition_velocity = 1e-2});
  MemoryRecorder record;
  SimulationSettings settings{.duration = 3.0};
  settings.actions.friction = FrictionLaw::smooth;
  const SimulationResult r = simulate(m, state_of(m, 0.0, 3.0), settings, record);
  EXPECT_EQ(r.events, 0);
  // v̇ = −μ tanh(v/w): ln sinh(v/w) falls by μ t/w; the distance is that of the sharp law, 2.25,
  // longer by about (π²/24) w²/μ.
  EXPECT_NEAR(r.state.q[0], 2.25, 1e-3);
  EXPECT_LT(r.audit.energy_drift, 1e-7);
}

// Two blocks, a motor between them: each is held by its own friction or not.
TEST(DryFriction, DecidesWhichOfTwoSticks) {
  MechanismBuilder b("cart");
  b.set_gravity({0.0, 0.0, 0.0});
  b.add_body("cart", {.mass = 2.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_body("load", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("rail", "world", "cart",
              {.type = HingeType::prismatic, .freedoms = {{.friction = {.sliding = 5.0}}}});
  b.add_hinge("slide", "cart", "load",
              {.type = HingeType::prismatic, .freedoms = {{.friction = {.sliding = 1.0}}}});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  SimulationSettings settings{.duration = 1.0};
  settings.actions.inputs = {{"slide", "3"}};
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_EQ(r.state.v[m.velocity_index("rail")], 0.0);
  EXPECT_NEAR(r.state.v[m.velocity_index("slide")], 2.0, 1e-9);  // (3 − 1) / 1
  EXPECT_LT(r.audit.energy_drift, 1e-9);
}

TEST(Stops, RefuseNonsense) {
  const Mechanism m = ball();
  MemoryRecorder record;
  SimulationSettings settings;
  settings.actions.restitution = 1.5;
  EXPECT_THROW(simulate(m, m.default_state(), settings, record), Error);
  settings.actions.restitution = 0.5;
  settings.actions.stop_settings = {{"rial", 0.5}};
  EXPECT_THROW(simulate(m, m.default_state(), settings, record), NameError);
}

}  // namespace
}  // namespace catena
