// SPDX-License-Identifier: BSD-3-Clause
// Runs by events never end because of contacts, stops or friction: where events chatter, accumulate
// or have no solution, time-stepping takes over for a stretch, and the log says so.
#include <random>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/io/models/yaml.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

Mechanism stretched(const std::string& text) {
  const Reading reading = read_yaml_text("catena: 1\n" + text, "test.yaml");
  return MechanismBuilder(reading.description).finish();
}

SimulationResult run_by_events(const Mechanism& m, const State& s,
                               const SimulationSettings& settings) {
  MemoryRecorder record;
  return simulate(m, s, settings, record);
}

TEST(Stretches, StopsWithFrictionInFreeFall) {
  const Mechanism m = stretched(R"(
base: free
bodies:
  a: {mass: 15, center_of_mass: [0.01, 0.02, 0.1], inertia: [0.1, 0.12, 0.13]}
  b: {mass: 1.7, center_of_mass: [0.5, 0.03, 0.01], inertia: [0.01, 0.1, 0.1]}
  c: {mass: 1.3, center_of_mass: [0.4, 0, 0.02], inertia: [0.01, 0.1, 0.1]}
hinges:
  B: {type: revolute, parent: a, child: b, axis: y, at: [1, 0, 0], limits: [0, 1], damping: 1, friction: 1}
  C: {type: revolute, parent: b, child: c, axis: x, at: [0.3, 0.2, 0.3], limits: [-1, 0], damping: 1, friction: 1}
)");
  const SimulationResult r = run_by_events(m, m.default_state(), {.duration = 2.0});
  EXPECT_TRUE(r.complete);
  EXPECT_LT(r.events, 5000);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

// One hinge can only move down where the other can only move up: both rest, blocked.
TEST(Stretches, CoupledHingesBlockedBothWays) {
  const Mechanism m = stretched(R"(
bodies:
  a: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}
  b: {mass: 3, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}
hinges:
  A: {type: revolute, parent: world, child: a, axis: y, limits: [0, 0.5]}
  B: {type: revolute, parent: world, child: b, axis: y, at: [0, 1, 0], limits: [0, 0.5]}
couplings: {m: {follower: B, leader: A, ratio: -1}}
)");
  const SimulationResult r = run_by_events(m, m.default_state(), {.duration = 1.0});
  EXPECT_TRUE(r.complete);
  EXPECT_NEAR(r.state.q[0], 0.0, 1e-6);
  EXPECT_NEAR(r.state.q[1], 0.0, 1e-6);
}

TEST(Stretches, LimitsThatLeaveNoRoom) {
  const Mechanism m = stretched(R"(
bodies:
  a: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}
  b: {mass: 3, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}
hinges:
  A: {type: revolute, parent: world, child: a, axis: y, limits: [0, 0]}
  B: {type: revolute, parent: a, child: b, axis: y, at: [1, 0, 0]}
)");
  State s = m.default_state();
  s.v[1] = 3.0;
  const SimulationResult r = run_by_events(m, s, {.duration = 2.0});
  EXPECT_TRUE(r.complete);
  EXPECT_NEAR(r.state.q[0], 0.0, 1e-6);
  // The rest is a pendulum of its own: energy of b is kept.
  EXPECT_LT(r.audit.energy_drift, 1e-6);
}

// Two wheels on one axle share their side force: the contact problem is rank-deficient.
TEST(Stretches, TwoWheeledRobotsTumble) {
  const Mechanism m = stretched(R"(
base: free
bodies:
  chassis: {mass: 5, center_of_mass: [0, 0, 0.3], inertia: [0.2, 0.2, 0.05]}
  left: &w {mass: 0.5, inertia: [0.002, 0.0035, 0.002]}
  right: *w
hinges:
  L: {type: revolute, parent: chassis, child: left, axis: y, at: [0, 0.2, 0], friction: 0.05}
  R: {type: revolute, parent: chassis, child: right, axis: y, at: [0, -0.2, 0], friction: 0.05}
)");
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 10; ++k) {
    StateInput input = default_input(m);
    SimulationSettings settings;
    read_settings_text(R"(
constraints:
  l: {type: contact, body: left, radius: 0.12, friction: 0.8}
  r: {type: contact, body: right, radius: 0.12, friction: 0.8}
  h: {type: contact, body: chassis, point: [0, 0, 0.75], radius: 0.1, friction: 0.5}
)",
                       "contacts.yaml", m, input, settings);
    settings.duration = 5.0;
    State s = m.default_state();
    s.q[6] = 0.5;
    for (int i = 0; i < m.freedoms(); ++i)
      s.v[i] = (i < 3 ? 4.0 : i < 6 ? 1.0 : 8.0) * normal(random);
    const SimulationResult r = run_by_events(m, s, settings);
    EXPECT_TRUE(r.complete) << k;
    EXPECT_LT(r.audit.energy_drift, 1e-5) << k;
  }
}

// A box that starts 2 cm in the ground is pushed out, and rests there; the log names it.
TEST(Stretches, InterpenetratingStartIsPushedApart) {
  const Mechanism m = stretched(R"(
base: free
bodies: {box: {mass: 2, inertia: [0.02, 0.03, 0.04]}}
)");
  for (const Method method : {Method::dop853, Method::time_stepping}) {
    StateInput input = default_input(m);
    SimulationSettings settings;
    read_settings_text(
        "constraints: {box: {type: contact, body: box, shape: box, size: [0.4, 0.3, 0.2], "
        "friction: 0.5}}\n",
        "box.yaml", m, input, settings);
    settings.duration = 1.0;
    settings.integrator.method = method;
    State s = m.default_state();
    s.q[6] = 0.08;
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    EXPECT_TRUE(r.complete);
    EXPECT_NEAR(r.state.q[6], 0.1, 1e-6);
    EXPECT_LT(r.state.v.norm(), 1e-6);
    EXPECT_LT(r.audit.energy_drift, 1e-8);
    bool named = false;
    for (const RunEvent& e : record.events())
      named = named || (e.kind == "penetration" && e.name == "box.0" &&
                        e.detail.find("0.02 m") != std::string::npos);
    EXPECT_TRUE(named);
  }
}

// Only user's functions end a run: they cannot be stepped over.
TEST(Stretches, UsersEventsAreNotSteppedOver) {
  const Mechanism m = stretched(R"(
bodies: {a: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}}
hinges: {A: {type: revolute, parent: world, child: a, axis: y, limits: [-3, 3]}}
)");
  SimulationSettings settings{.duration = 3.0};
  EventSettings chatter;
  chatter.name = "chatter";
  chatter.signal = "v.A";
  chatter.respond = [](double, State& s) { s.v[0] = s.v[0] > 0.0 ? -1e-12 : 1e-12; };
  settings.actions.events = {chatter};
  EXPECT_NE(test::problem(m, settings).find("Zeno"), std::string::npos);
}

}  // namespace
}  // namespace catena
