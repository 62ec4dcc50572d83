// SPDX-License-Identifier: BSD-3-Clause
// Time-stepping against closed forms (error at 1 ms printed), what the audit must hold on random
// drops, and closed loops and prescribed motions against the integrators with events.
#include "catena/simulation/nonsmooth/time_stepping.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/testing/linkage_parts.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::from_yaml;
using test::kGravity;

SimulationSettings stepping(double duration, double step = 1e-3) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 10.0;
  s.integrator.method = Method::time_stepping;
  s.integrator.step = step;
  return s;
}

// A particle that moves in space.
Mechanism particle() {
  return from_yaml(R"(
bodies: {ball: {mass: 2, inertia: [0.01, 0.01, 0.01]}}
hinges: {at: {type: translation, parent: world, child: ball}}
)");
}

ConstraintSettings contact(double friction, double restitution = 0.0, double radius = 0.0,
                           const Vec3d& normal = {0.0, 0.0, 1.0}) {
  ConstraintSettings c;
  c.constraint = ContactSettings{.name = "contact",
                                 .body = 0,
                                 .radius = radius,
                                 .plane_normal = normal,
                                 .friction = friction,
                                 .restitution = restitution};
  return c;
}

struct Ran {
  SimulationResult result;
  MemoryRecorder record;
};

Ran run(const Mechanism& m, const State& s, const SimulationSettings& settings) {
  Ran ran;
  ran.result = simulate(m, s, settings, ran.record);
  return ran;
}

// Prints the error at 1 ms; halving the step must not make it worse than first order allows.
void expect_first_order(const char* what, const std::function<double(double)>& error,
                        double most_at_1ms) {
  const double at_1ms = error(1e-3), finer = error(1.25e-4);
  std::printf("  %-40s error at 1 ms %.2e, at 0.125 ms %.2e\n", what, at_1ms, finer);
  EXPECT_LT(at_1ms, most_at_1ms) << what;
  EXPECT_LT(finer, std::max(0.3 * at_1ms, 1e-9)) << what;
}

// A body that is thrown and tumbles at 40 rad/s: its mass centre runs through the parabola, and
// hardly any energy has to be restored. What is left is where the rounds of a step end, 1e-7 of the
// velocity. In the body's own axes the midpoint rule would miss the way by (h ω)²/6 of it, 1 mm.
TEST(TimeStepping, MassCentreOfABodyThatTumblesRunsThroughTheParabola) {
  const Mechanism m = from_yaml(R"(
base: free
bodies: {stone: {mass: 2, center_of_mass: [0.05, -0.02, 0.03], inertia: [0.03, 0.04, 0.05]}}
)");
  const Vec3d c{0.05, -0.02, 0.03};
  State s = m.default_state();
  s.v << 30.0, -20.0, 15.0, 3.0, -2.0, 5.0;
  // The mass centre in the ground's axes: place and velocity.
  const auto center = [&](const State& at) {
    const Rotationd turned =
        Rotationd::from_quaternion(Quaterniond{at.q[0], at.q[1], at.q[2], at.q[3]});
    const Vec3d w{at.v[0], at.v[1], at.v[2]}, v{at.v[3], at.v[4], at.v[5]};
    return std::pair{Vec3d{at.q[4], at.q[5], at.q[6]} + turned * c, turned * (v + cross(w, c))};
  };
  const double t = 0.8;
  SimulationSettings settings = stepping(t);
  const Ran ran = run(m, s, settings);
  const auto [x0, v0] = center(s);
  const auto [x1, v1] = center(ran.result.state);
  const Vec3d fall{0.0, 0.0, -kGravity};
  EXPECT_LT(norm(v1 - (v0 + t * fall)), 3e-5);
  EXPECT_LT(norm(x1 - (x0 + t * v0 + (0.5 * t * t) * fall)), 2e-5);
  ASSERT_TRUE(ran.result.audit.contact.has_value());
  EXPECT_LT(ran.result.audit.contact->restored, 1e-6 * ran.result.audit.energy_scale);
}

TEST(TimeStepping, FreeFallIsExact) {
  const Mechanism m = particle();
  State s = m.default_state();
  s.q[2] = 1.0;
  s.v << 0.3, -0.2, 2.0;
  const Ran ran = run(m, s, stepping(0.5));
  EXPECT_NEAR(ran.result.state.q[0], 0.15, 1e-12);
  EXPECT_NEAR(ran.result.state.q[2], 1.0 + 1.0 - 0.5 * kGravity * 0.25, 1e-12);
  EXPECT_LT(ran.result.audit.energy_drift, 1e-12);
}

// Dropped from 1 m with restitution e: after the first bounce up with e √(2 g), and so on.
// Without kinetic energy there is nothing to scale.
TEST(TimeStepping, RestStaysRest) {
  Mechanism m = from_yaml(R"(
gravity: [0, 0, 0]
bodies: {arm: {mass: 2, inertia: [0.1, 0.1, 0.1]}}
hinges: {A: {type: revolute, parent: world, child: arm, friction: 0.5}}
)");
  State state = m.default_state();
  for (const double speed : {0.0, 0.2}) {  // 0.2 rad/s are gone after 0.04 s
    state.v[0] = speed;
    MemoryRecorder record;
    const SimulationResult r = simulate(m, state, stepping(0.2), record);
    EXPECT_EQ(r.state.v[0], 0.0);
    EXPECT_NEAR(r.state.q[0], 0.5 * speed * speed * 0.1 / 0.5, 1e-5);
  }
}

// A stiff controller whose effort is limited pushes with that limit: q = ½ (limit/I) t².
TEST(TimeStepping, LimitedEffortsOfStiffControllers) {
  const Mechanism m = from_yaml(R"(
gravity: [0, 0, 0]
bodies: {arm: {mass: 2, inertia: [0.1, 0.1, 0.1]}}
hinges: {A: {type: revolute, parent: world, child: arm, effort_limit: 3}}
)");
  SimulationSettings settings = stepping(0.5);
  settings.actions.limit_efforts = true;
  settings.actions.controllers = {{.freedom = "A", .kp = 2e4, .kd = 300.0, .target = "10"}};
  const Ran ran = run(m, m.default_state(), settings);
  EXPECT_NEAR(ran.result.state.v[0], 15.0, 1e-9);
  EXPECT_NEAR(ran.result.state.q[0], 3.75, 1e-9);
}

// The first row has the accelerations and forces that act from the start: of a block that slides
// with μ g, of one that falls, and of a motor that keeps its arm on a prescribed motion.
TEST(TimeStepping, FirstRowHasAccelerationsAndEfforts) {
  const Mechanism m = particle();
  State s = m.default_state();
  s.v[0] = 1.0;
  for (const double height : {0.0, 1.0}) {
    s.q[2] = height;
    SimulationSettings settings = stepping(0.1);
    settings.outputs = {"a.*"};
    settings.actions.constraints = {contact(0.4)};
    const Ran ran = run(m, s, settings);
    EXPECT_NEAR(ran.record.value(0, "a.at.x"), height > 0.0 ? 0.0 : -0.4 * kGravity, 1e-9);
    EXPECT_NEAR(ran.record.value(0, "a.at.z"), height > 0.0 ? -kGravity : 0.0, 1e-9);
  }
  const Mechanism arm = from_yaml(R"(
bodies: {arm: {mass: 2, center_of_mass: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}}
hinges: {A: {type: revolute, parent: world, child: arm, axis: y}}
)");
  SimulationSettings settings = stepping(0.1);
  settings.outputs = {"effort.*"};
  settings.actions.motions = {{"A", {"0*t"}}};
  const Ran ran = run(arm, arm.default_state(), settings);
  EXPECT_NEAR(ran.record.value(0, "effort.A"), -2.0 * kGravity * 0.5, 1e-6);
}

TEST(TimeStepping, BouncingBall) {
  const Mechanism m = particle();
  for (const double e : {0.8, 1.0}) {
    const double fall = std::sqrt(2.0 / kGravity);
    const double end = fall + 1.5 * e * fall;  // in the middle of the way down
    const double since = 1.5 * e * fall, up = e * kGravity * fall;
    const double height = up * since - 0.5 * kGravity * since * since;
    expect_first_order(
        "bouncing ball, height",
        [&](double h) {
          SimulationSettings settings = stepping(end, h);
          settings.actions.constraints = {contact(0.0, e)};
          State s = m.default_state();
          s.q[2] = 1.0;
          const Ran ran = run(m, s, settings);
          EXPECT_LT(ran.result.audit.energy_drift, 1e-10);
          EXPECT_LT(ran.result.audit.contact->penetration, 1e-6);
          return std::abs(ran.result.state.q[2] - height);
        },
        1e-4);
  }
}

// Bounces accumulate at √(2/g) (1 + 2 e/(1 − e)); then it rests.
TEST(TimeStepping, BouncesEnd) {
  const Mechanism m = particle();
  SimulationSettings settings = stepping(3.0);
  settings.actions.constraints = {contact(0.3, 0.5)};
  State s = m.default_state();
  s.q[2] = 1.0;
  const Ran ran = run(m, s, settings);
  EXPECT_NEAR(ran.result.state.q[2], 0.0, 1e-9);
  EXPECT_LT(ran.result.state.v.norm(), 1e-9);
  EXPECT_LT(ran.result.audit.contact->creep, 1e-9);
  EXPECT_LT(ran.result.audit.energy_drift, 1e-10);
}

// A block that slides stops after v²/(2 μ g).
TEST(TimeStepping, SlidingBlockStops) {
  const Mechanism m = particle();
  const double mu = 0.4, speed = 2.0;
  expect_first_order(
      "sliding block, way",
      [&](double h) {
        SimulationSettings settings = stepping(1.0, h);
        settings.actions.constraints = {contact(mu)};
        State s = m.default_state();
        s.v[0] = 0.6 * speed;
        s.v[1] = 0.8 * speed;
        const Ran ran = run(m, s, settings);
        EXPECT_LT(ran.result.state.v.norm(), 1e-9);
        EXPECT_LT(ran.result.audit.energy_drift, 1e-10);
        const double way = std::hypot(ran.result.state.q[0], ran.result.state.q[1]);
        return std::abs(way - speed * speed / (2.0 * mu * kGravity));
      },
      1e-5);
}

// At the friction limit of a slope: just more holds, just less slides with g (sin θ − μ cos θ).
TEST(TimeStepping, SlopeAtTheFrictionLimit) {
  const Mechanism m = particle();
  const double slope = 0.5, limit = std::tan(slope);
  const Vec3d normal{-std::sin(slope), 0.0, std::cos(slope)};
  for (const double part : {1.0 + 1e-6, 0.9}) {
    SimulationSettings settings = stepping(1.0);
    settings.actions.constraints = {contact(part * limit, 0.0, 0.0, normal)};
    const Ran ran = run(m, m.default_state(), settings);
    const double way = ran.result.state.q.norm();
    const double expected =
        part > 1.0 ? 0.0 : 0.5 * kGravity * (std::sin(slope) - part * limit * std::cos(slope));
    EXPECT_NEAR(way, expected, 1e-8) << part;
    EXPECT_LT(ran.result.audit.contact->creep, 1e-9);
  }
}

// A ball thrown along the ground without spin slips until it rolls at 5/7 of its speed.
TEST(TimeStepping, SlipToRoll) {
  const double r = 0.1, mu = 0.2, speed = 1.4;
  const Mechanism m = from_yaml(R"(
base: free
bodies: {ball: {mass: 5, inertia: [0.02, 0.02, 0.02]}}
)");
  const double slips = 2.0 * speed / (7.0 * mu * kGravity);
  const double rolled =
      speed * slips - 0.5 * mu * kGravity * slips * slips + 5.0 / 7.0 * speed * (1.0 - slips);
  expect_first_order(
      "slip to roll, way",
      [&](double h) {
        SimulationSettings settings = stepping(1.0, h);
        settings.actions.constraints = {contact(mu, 0.0, r)};
        State s = m.default_state();
        s.q[6] = r;
        s.v[3] = speed;
        const Ran ran = run(m, s, settings);
        EXPECT_LT(ran.result.audit.energy_drift, 1e-8);
        EXPECT_NEAR(ran.result.state.q[6], r, 1e-7);
        return std::abs(ran.result.state.q[4] - rolled);
      },
      1e-4);
}

// A wheel (thin disc about y) thrown without spin rolls at 2/3 of its speed in the end: exactly by
// events, to first order by steps.
TEST(TimeStepping, WheelSlipsAndRolls) {
  const double r = 0.3, mu = 0.2, speed = 1.5;
  const Mechanism m = from_yaml(R"(
base: free
bodies: {wheel: {mass: 4, inertia: [0.09, 0.18, 0.09]}}
)");
  ConstraintSettings rim;
  rim.constraint = ContactSettings{.name = "rim", .body = 0, .rim = r, .friction = mu};
  State s = m.default_state();
  s.q[6] = r;
  s.v[3] = speed;
  const double slips = speed / (3.0 * mu * kGravity);
  const double way =
      speed * slips - 0.5 * mu * kGravity * slips * slips + 2.0 / 3.0 * speed * (1.0 - slips);
  const auto error = [&](SimulationSettings settings) {
    settings.actions.constraints = {rim};
    const Ran ran = run(m, s, settings);
    EXPECT_NEAR(ran.result.state.q[6], r, 1e-7);
    return std::abs(ran.result.state.q[4] - way);
  };
  EXPECT_LT(error({.duration = 1.0}), 1e-8);
  expect_first_order(
      "wheel from slip to roll, way", [&](double h) { return error(stepping(1.0, h)); }, 1e-4);
}

// A disc that leans and rolls without slip keeps its energy and stays on the plane: the point of
// contact runs round the rim, and the rows' rates must know it.
TEST(TimeStepping, LeaningDiscRolls) {
  const Mechanism m = from_yaml(R"(
base: free
bodies: {disc: {mass: 4, inertia: [0.09, 0.18, 0.09]}}
)");
  ConstraintSettings rim;
  rim.constraint = ContactSettings{.name = "rim", .body = 0, .rim = 0.3, .friction = 3.0};
  const double lean = 0.3;  // about x; the mass centre is at r cos(lean)
  State s = m.default_state();
  s.q[0] = std::cos(0.5 * lean);
  s.q[1] = std::sin(0.5 * lean);
  s.q[6] = 0.3 * std::cos(lean);
  s.v[1] = 12.0;        // spins about its axis
  s.v[3] = 12.0 * 0.3;  // and rolls
  SimulationSettings events;
  events.duration = 1.0;
  events.integrator.relative_tolerance = 1e-10;
  events.integrator.absolute_tolerance = 1e-12;
  events.actions.constraints = {rim};
  const Ran exact = run(m, s, events);
  EXPECT_LT(exact.result.audit.energy_drift, 1e-8);
  EXPECT_LT(exact.result.audit.closure_residual, 1e-8);
  EXPECT_FALSE(exact.result.audit.contact.has_value());
  expect_first_order(
      "leaning disc, place",
      [&](double h) {
        SimulationSettings settings = stepping(1.0, h);
        settings.actions.constraints = {rim};
        const Ran ran = run(m, s, settings);
        EXPECT_LT(ran.result.audit.contact->penetration, 1e-5);
        return (ran.result.state.q - exact.result.state.q).lpNorm<Eigen::Infinity>();
      },
      1e-2);
}

// Newton's cradle: three equal balls on a line, just apart; the last one leaves with the speed.
TEST(TimeStepping, NewtonsCradle) {
  const Mechanism m = from_yaml(R"(
gravity: [0, 0, 0]
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}, c: {mass: 1, inertia: [1, 1, 1]}}
hinges:
  A: {type: prismatic, parent: world, child: a, axis: x}
  B: {type: prismatic, parent: world, child: b, axis: x, at: [0.3, 0, 0]}
  C: {type: prismatic, parent: world, child: c, axis: x, at: [0.5001, 0, 0]}
)");
  SimulationSettings settings = stepping(0.5);
  for (int k = 0; k < 2; ++k) {
    ConstraintSettings c;
    c.constraint = ContactSettings{.name = "c" + std::to_string(k),
                                   .body = k,
                                   .radius = 0.1,
                                   .plane_body = k + 1,
                                   .plane_point = {-0.1, 0.0, 0.0},
                                   .plane_normal = {-1.0, 0.0, 0.0},
                                   .restitution = 1.0};
    settings.actions.constraints.push_back(c);
  }
  State s = m.default_state();
  s.v[0] = 1.0;
  const Ran ran = run(m, s, settings);
  EXPECT_NEAR(ran.result.state.v[0], 0.0, 1e-9);
  EXPECT_NEAR(ran.result.state.v[1], 0.0, 1e-9);
  EXPECT_NEAR(ran.result.state.v[2], 1.0, 1e-9);
  // 0.1 to the first, 0.0001 to the second, the rest by the third.
  EXPECT_NEAR(ran.result.state.q[2], 0.5 - 0.1 - 0.0001, 1e-6);
  EXPECT_LT(ran.result.audit.energy_drift, 1e-12);
}

// A pendulum with dry friction that swings against a stop: the same as by events, to first order.
TEST(TimeStepping, StopsAndDryFrictionLikeEvents) {
  const Mechanism m = from_yaml(R"(
bodies: {a: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}}
hinges: {A: {type: revolute, parent: world, child: a, axis: y, limits: [-1, 1.2], friction: 0.4, damping: 0.05}}
)");
  SimulationSettings events;
  events.duration = 0.7;  // on the way back from the stop
  events.integrator.relative_tolerance = 1e-11;
  events.integrator.absolute_tolerance = 1e-13;
  events.actions.restitution = 0.5;
  const Ran exact = run(m, m.default_state(), events);
  expect_first_order(
      "pendulum with stop and dry friction",
      [&](double h) {
        SimulationSettings settings = stepping(0.7, h);
        settings.actions.restitution = 0.5;
        const Ran ran = run(m, m.default_state(), settings);
        EXPECT_LT(ran.result.audit.energy_drift, 1e-8);
        return std::abs(ran.result.state.q[0] - exact.result.state.q[0]);
      },
      5e-3);
}

// A four-bar linkage, and a prescribed crank: loops by multipliers, of second order.
TEST(TimeStepping, ClosedLoopsLikeEvents) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 0.0);
  SimulationSettings accurate;
  accurate.duration = 1.0;
  accurate.integrator.relative_tolerance = 1e-10;
  accurate.integrator.absolute_tolerance = 1e-12;
  const Ran exact = run(m, s, accurate);
  for (const double h : {1e-3, 5e-4}) {
    const Ran ran = run(m, s, stepping(1.0, h));
    EXPECT_LT((ran.result.state.q - exact.result.state.q).lpNorm<Eigen::Infinity>(), 20.0 * h * h)
        << h;
    EXPECT_LT(ran.result.audit.closure_residual, 1e-8);
    EXPECT_LT(ran.result.audit.energy_drift, 1e-6);
  }
}

TEST(TimeStepping, PrescribedMotionTakesTheSameEffort) {
  const Mechanism m = from_yaml(R"(
bodies:
  a: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}
  b: {mass: 2, center_of_mass: [0.4, 0, 0], inertia: [0.01, 0.1, 0.1]}
hinges:
  A: {type: revolute, parent: world, child: a, axis: y}
  B: {type: revolute, parent: a, child: b, axis: y, at: [1, 0, 0]}
)");
  SimulationSettings accurate;
  accurate.duration = 1.0;
  accurate.integrator.relative_tolerance = 1e-10;
  accurate.integrator.absolute_tolerance = 1e-12;
  accurate.actions.motions = {{"A", "0.5*sin(3*t)"}};
  const Ran exact = run(m, m.default_state(), accurate);
  SimulationSettings settings = stepping(1.0);
  settings.actions.motions = accurate.actions.motions;
  const Ran ran = run(m, m.default_state(), settings);
  EXPECT_NEAR(ran.result.state.q[0], 0.5 * std::sin(3.0), 1e-12);
  EXPECT_NEAR(ran.result.state.q[1], exact.result.state.q[1], 1e-4);
  EXPECT_NEAR(ran.result.audit.work[0].work, exact.result.audit.work[0].work, 1e-3);
}

// ---- Random drops. ----

// What issue and audit ask of a run.
void expect_good(const SimulationResult& r, const std::string& what) {
  EXPECT_TRUE(r.complete) << what;
  ASSERT_TRUE(r.audit.contact.has_value()) << what;
  EXPECT_LT(r.audit.contact->residual, 1e-6) << what;
  EXPECT_LT(r.audit.contact->penetration, 1e-4) << what;
  EXPECT_LT(r.audit.contact->creep, 1e-5) << what;
  EXPECT_LT(r.audit.energy_drift, 1e-6 * r.simulated_time) << what;
}

constexpr const char* kFeet = R"(
limit_efforts: false
constraints:
  fl: {type: contact, body: front_left_shank, point: [0, 0, -0.25], radius: 0.025, friction: 0.7}
  fr: {type: contact, body: front_right_shank, point: [0, 0, -0.25], radius: 0.025, friction: 0.7}
  hl: {type: contact, body: hind_left_shank, point: [0, 0, -0.25], radius: 0.025, friction: 0.7}
  hr: {type: contact, body: hind_right_shank, point: [0, 0, -0.25], radius: 0.025, friction: 0.7}
)";

SimulationSettings quadruped_settings(const Mechanism& m) {
  StateInput input = default_input(m);
  SimulationSettings settings;
  read_settings_text(kFeet, "feet.yaml", m, input, settings);
  for (const std::string leg : {"front_left", "front_right", "hind_left", "hind_right"}) {
    settings.actions.controllers.push_back({.freedom = leg + "_roll", .kp = 150, .kd = 5});
    settings.actions.controllers.push_back(
        {.freedom = leg + "_pitch", .kp = 150, .kd = 5, .target = "0.7"});
    settings.actions.controllers.push_back(
        {.freedom = leg + "_knee", .kp = 150, .kd = 5, .target = "-1.3 - 0.2*sin(4*t)"});
  }
  return settings;
}

TEST(TimeStepping, QuadrupedsDropped) {
  const Mechanism m = test::model("quadruped");
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  double slowest = kInfinity;
  for (int k = 0; k < 10; ++k) {
    SimulationSettings settings = quadruped_settings(m);
    settings.duration = 3.0;
    settings.integrator.method = Method::time_stepping;
    State s = m.default_state();
    s.q[6] = 0.6;
    for (int i = 0; i < 6; ++i) s.v[i] = normal(random);
    const Ran ran = run(m, s, settings);
    expect_good(ran.result, "quadruped " + std::to_string(k));
    slowest = std::min(slowest, ran.result.simulated_time / ran.result.processor_time);
  }
  std::printf("  quadruped with PD at 1 ms: %.1f times real time at least\n", slowest);
}

// Boxes of eight corners, thrown; they come to rest on a face.
TEST(TimeStepping, BoxesDroppedComeToRest) {
  const Mechanism m = from_yaml(R"(
base: free
bodies: {box: {mass: 2, inertia: [0.02, 0.03, 0.04]}}
)");
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 10; ++k) {
    SimulationSettings settings = stepping(4.0);
    for (int i = 0; i < 8; ++i) {
      ConstraintSettings c;
      c.constraint =
          ContactSettings{.name = "c" + std::to_string(i),
                          .body = 0,
                          .center = {(i & 1) != 0 ? 0.2 : -0.2, (i & 2) != 0 ? 0.15 : -0.15,
                                     (i & 4) != 0 ? 0.1 : -0.1},
                          .friction = 0.6,
                          .restitution = k % 2 == 0 ? 0.0 : 0.4};
      settings.actions.constraints.push_back(c);
    }
    State s = m.default_state();
    s.q[6] = 1.0;
    for (int i = 0; i < 6; ++i) s.v[i] = 2.0 * normal(random);
    const Ran ran = run(m, s, settings);
    expect_good(ran.result, "box " + std::to_string(k));
    EXPECT_LT(ran.result.state.v.lpNorm<Eigen::Infinity>(), 1e-5) << k;
    // On a face: the middle is at one of the half heights.
    const double z = ran.result.state.q[6];
    EXPECT_LT(std::min({std::abs(z - 0.1), std::abs(z - 0.15), std::abs(z - 0.2)}), 1e-6)
        << k << " " << z;
  }
}

}  // namespace
}  // namespace catena
