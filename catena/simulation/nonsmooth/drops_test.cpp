// SPDX-License-Identifier: BSD-3-Clause
// Ten of each kind of the random drops and trees of benchmarks/contact_study.cpp, in both modes:
// all come to their end, and the audit holds what is asked of it. How redundant contacts share
// their load, against statics.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/io/models/yaml.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

Mechanism dropped(const std::string& text) {
  return MechanismBuilder(read_yaml_text("catena: 1\n" + text, "test.yaml").description).finish();
}

SimulationSettings with(const Mechanism& m, const std::string& text) {
  StateInput input = default_input(m);
  SimulationSettings settings;
  read_settings_text(text, "test.yaml", m, input, settings);
  return settings;
}

constexpr Method kBoth[] = {Method::time_stepping, Method::dop853};

void expect_good(const SimulationResult& r, Method method, const std::string& name) {
  const std::string what = name + " by " + std::string(to_string(method));
  EXPECT_TRUE(r.complete) << what;
  EXPECT_LT(r.audit.energy_drift, 1e-6 * r.simulated_time) << what;
  EXPECT_LT(r.events, 2000) << what;
  if (method != Method::time_stepping)
    EXPECT_LT(r.audit.closure_residual, 1e-8) << what;
  else
    ASSERT_TRUE(r.audit.contact.has_value()) << what;
  if (!r.audit.contact) return;
  EXPECT_LT(r.audit.contact->residual, 1e-6) << what;
  EXPECT_LT(r.audit.contact->penetration, 1e-4) << what;
  EXPECT_LT(r.audit.contact->creep, 1e-5) << what;
  // What scaling the velocities restores is a small part of the energy (a second, at 1 ms), and so
  // is the net work of bringing positions back.
  EXPECT_LT(r.audit.contact->restored, 5e-6 * r.audit.energy_scale * r.simulated_time) << what;
  for (const ElementWork& e : r.audit.work) {
    if (e.element != "penetration") continue;
    EXPECT_LT(std::abs(e.work), 1e-6 * r.audit.energy_scale * r.simulated_time) << what;
  }
}

const char* const kCar = R"(
base: free
bodies:
  chassis: {mass: 20, center_of_mass: [0, 0, 0.05], inertia: [0.4, 0.8, 1.0]}
  fl: &w {mass: 1, inertia: [0.003, 0.005, 0.003]}
  fr: *w
  rl: *w
  rr: *w
hinges:
  jfl: {type: revolute, parent: chassis, child: fl, axis: y, at: [0.25, 0.2, 0]}
  jfr: {type: revolute, parent: chassis, child: fr, axis: y, at: [0.25, -0.2, 0]}
  jrl: {type: revolute, parent: chassis, child: rl, axis: y, at: [-0.25, 0.2, 0]}
  jrr: {type: revolute, parent: chassis, child: rr, axis: y, at: [-0.25, -0.2, 0]}
)";
const char* const kWheels = R"(
constraints:
  cfl: {type: contact, body: fl, radius: 0.1, friction: 0.8}
  cfr: {type: contact, body: fr, radius: 0.1, friction: 0.8}
  crl: {type: contact, body: rl, radius: 0.1, friction: 0.8}
  crr: {type: contact, body: rr, radius: 0.1, friction: 0.8}
inputs: {jrl: 5*sin(t), jrr: -5*sin(2*t), jfl: 3, jfr: 3*cos(t)}
)";

TEST(Drops, Cars) {
  const Mechanism m = dropped(kCar);
  for (const Method method : kBoth)
    for (unsigned k = 0; k < 10; ++k) {
      std::mt19937 random(k);
      std::normal_distribution<double> normal;
      SimulationSettings settings = with(m, kWheels);
      settings.duration = 1.0;
      settings.integrator.method = method;
      State s = m.default_state();
      s.q[6] = 0.3;
      for (int i = 0; i < m.freedoms(); ++i)
        s.v[i] = (i < 3 ? 0.5 : i < 6 ? 1.0 : 5.0) * normal(random);
      MemoryRecorder record;
      expect_good(simulate(m, s, settings, record), method, "car " + std::to_string(k));
    }
}

// A car that lands, skids and is driven by wheels at their friction limit goes the same way by
// events and by steps. A model of it with springs of 1e7 N/m under the wheels and friction that
// grows over 1 mm/s, integrated by RK4 with steps of 5 µs, ends with 587.4 J: while it lands its
// friction follows the slip, which the laws of impact take at the end of the impact only. Without
// the landing both agree (verification/skidding_car).
TEST(Drops, SkiddingCarInBothModes) {
  const Mechanism m = dropped(kCar);
  State s = m.default_state();
  s.q[6] = 0.15;
  s.v[0] = 1.0;
  s.v[2] = 2.0;
  s.v[3] = 0.5;
  s.v[4] = 1.0;
  double energy[2];
  for (int k = 0; k < 2; ++k) {
    SimulationSettings settings = with(m, kWheels);
    settings.duration = 4.0;
    settings.integrator.method = kBoth[k];
    MemoryRecorder record;
    const SimulationResult r = simulate(m, s, settings, record);
    expect_good(r, kBoth[k], "skidding car");
    energy[k] = r.audit.final_energy;
    EXPECT_NEAR(energy[k], 587.4, 0.01 * 587.4);
  }
  EXPECT_NEAR(energy[0], energy[1], 0.02);
}

// A plate on four feet at (±a, ±b), its mass centre at (x, y) in the plane of the feet, slides; one
// foot has friction. Springs of one stiffness under the feet share the weight as
// m g (1/4 + x x_i/(4 a²) + y y_i/(4 b²)), so that the foot's friction and the turning it causes
// are known.
TEST(Drops, FeetShareTheirLoadAsSpringsDo) {
  const double a = 0.5, b = 0.3, x = 0.1, y = -0.05, mass = 3.0, mu = 0.4, inertia = 0.5;
  const Mechanism m = dropped(
      "base: free\nbodies: {plate: {mass: 3, center_of_mass: [0.1, -0.05, 0], inertia: [0.2, 0.3, "
      "0.5]}}\n");
  State s = m.default_state();
  s.v[3] = 1.0;
  for (const Method method : kBoth) {
    SimulationSettings settings = with(m, R"(
constraints:
  f0: {type: contact, body: plate, point: [0.5, 0.3, 0], friction: 0.4}
  f1: {type: contact, body: plate, point: [0.5, -0.3, 0]}
  f2: {type: contact, body: plate, point: [-0.5, 0.3, 0]}
  f3: {type: contact, body: plate, point: [-0.5, -0.3, 0]}
)");
    settings.duration = 0.01;
    settings.outputs = {"a.*"};
    settings.integrator.method = method;
    settings.integrator.step = 1e-5;
    MemoryRecorder record;
    simulate(m, s, settings, record);
    const double normal = mass * 9.81 * (0.25 + x / (4.0 * a) + y / (4.0 * b));
    // About the mass centre the force −μ N along x acts at b − y.
    const double turns = mu * normal * (b - y) / inertia;
    EXPECT_NEAR(record.value(0, "a.base.wz"), turns, 1e-4 * turns) << to_string(method);
  }
}

// A tree of 3 to 8 links with stops and dry friction, some joints coupled.
Mechanism random_tree(unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  const int links = std::uniform_int_distribution<int>(3, 8)(random);
  std::string bodies = "  b0: {mass: 10, inertia: [0.3, 0.4, 0.5]}\n", hinges, couplings;
  for (int k = 1; k <= links; ++k) {
    const std::string i = std::to_string(k);
    bodies += "  b" + i + ": {mass: " + std::to_string(uniform(0.5, 3.0)) + ", center_of_mass: [" +
              std::to_string(uniform(0.1, 0.5)) + ", 0.05, " + std::to_string(uniform(-0.1, 0.1)) +
              "], inertia: [0.02, 0.05, 0.05]}\n";
    const int parent = std::uniform_int_distribution<int>(std::max(0, k - 3), k - 1)(random);
    hinges += "  J" + i + ": {type: revolute, parent: b" + std::to_string(parent) + ", child: b" +
              i + ", axis: " + "xyz"[k % 3] + ", at: [" + std::to_string(uniform(0.1, 0.6)) +
              ", 0.1, -0.1], limits: [" + std::to_string(k % 4 == 0 ? 0.0 : uniform(-1.0, 0.0)) +
              ", " + std::to_string(k % 5 == 0 ? 0.0 : uniform(0.0, 1.0)) +
              "], damping: " + std::to_string(uniform(0.0, 0.5)) +
              ", friction: " + std::to_string(k % 2 == 0 ? uniform(0.0, 1.0) : 0.0) + "}\n";
    if (k % 6 == 5) couplings = "couplings: {c: {follower: J5, leader: J4, ratio: -1}}\n";
  }
  return dropped(std::string("base: ") + (links % 2 == 0 ? "free" : "fixed") + "\nbodies:\n" +
                 bodies + "hinges:\n" + hinges + couplings);
}

TEST(Drops, TreesWithStopsFrictionAndCouplings) {
  for (const Method method : kBoth)
    for (unsigned k = 0; k < 10; ++k) {
      const Mechanism m = random_tree(k);
      SimulationSettings settings;
      settings.duration = 2.0;
      settings.integrator.method = method;
      MemoryRecorder record;
      const SimulationResult r = simulate(m, m.default_state(), settings, record);
      expect_good(r, method, "tree " + std::to_string(k));
      // The work of stops and friction, in evaluations, beside that of the motion without stops.
      settings.actions.stops = false;
      MemoryRecorder free;
      const SimulationResult without = simulate(m, m.default_state(), settings, free);
      EXPECT_LT(r.steps.evaluations, 8 * without.steps.evaluations) << k;
    }
}

// A robot on two wheels that tumbles: its wheels share the side force of the axle.
TEST(Drops, TwoWheeledRobotsByTimeStepping) {
  const Mechanism m = dropped(R"(
base: free
bodies:
  chassis: {mass: 5, center_of_mass: [0, 0, 0.3], inertia: [0.2, 0.2, 0.05]}
  left: &w {mass: 0.5, inertia: [0.002, 0.0035, 0.002]}
  right: *w
hinges:
  L: {type: revolute, parent: chassis, child: left, axis: y, at: [0, 0.2, 0], friction: 0.05}
  R: {type: revolute, parent: chassis, child: right, axis: y, at: [0, -0.2, 0], friction: 0.05}
)");
  SimulationSettings settings = with(m, R"(
constraints:
  l: {type: contact, body: left, radius: 0.12, friction: 0.8}
  r: {type: contact, body: right, radius: 0.12, friction: 0.8}
  h: {type: contact, body: chassis, point: [0, 0, 0.75], radius: 0.1, friction: 0.5}
)");
  settings.duration = 5.0;
  settings.integrator.method = Method::time_stepping;
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 10; ++k) {
    State s = m.default_state();
    s.q[6] = 0.5;
    for (int i = 0; i < m.freedoms(); ++i)
      s.v[i] = (i < 3 ? 4.0 : i < 6 ? 1.0 : 8.0) * normal(random);
    MemoryRecorder record;
    expect_good(simulate(m, s, settings, record), Method::time_stepping,
                "robot " + std::to_string(k));
  }
}

// Boxes that are thrown onto a plane and onto each other.
Mechanism random_boxes(std::mt19937& random, int count) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> side(0.1, 0.25);
  std::string bodies, hinges;
  for (int k = 0; k < count; ++k) {
    const double x = side(random), y = side(random), z = side(random), mass = 500.0 * x * y * z;
    const auto list = [](double a, double b, double c) {
      return "[" + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c) + "]";
    };
    const std::string i = std::to_string(k);
    bodies += "  b" + i + ": {mass: " + std::to_string(mass) + ", inertia: " +
              list(mass * (y * y + z * z) / 12.0, mass * (x * x + z * z) / 12.0,
                   mass * (x * x + y * y) / 12.0) +
              ", collisions: [{shape: box, size: " + list(x, y, z) + "}]}\n";
    hinges += "  J" + i + ": {type: free, parent: world, child: b" + i +
              ", at: {xyz: " + list(0.1 * normal(random), 0.1 * normal(random), 0.3 + 0.35 * k) +
              ", rpy: " + list(normal(random), normal(random), normal(random)) + "}}\n";
  }
  return dropped("bodies:\n" + bodies + "hinges:\n" + hinges);
}

TEST(Drops, PilesOfTwentyBoxes) {
  for (unsigned k = 0; k < 10; ++k) {
    std::mt19937 random(k);
    const Mechanism m = random_boxes(random, 20);
    SimulationSettings settings =
        with(m, "{ground: {height: 0, friction: 0.6}, collisions: {friction: 0.6}}");
    settings.duration = 1.0;
    settings.integrator.method = Method::time_stepping;
    std::normal_distribution<double> normal;
    State s = m.default_state();
    for (int i = 0; i < m.freedoms(); ++i) s.v[i] = (i % 6 < 3 ? 2.0 : 0.3) * normal(random);
    MemoryRecorder record;
    expect_good(simulate(m, s, settings, record), Method::time_stepping,
                "pile " + std::to_string(k));
  }
}

// A run that is resumed within a stretch by time-stepping has the same bits.
TEST(Drops, ResumeWithinAStretch) {
  const Mechanism m = dropped(R"(
base: free
bodies:
  a: {mass: 15, center_of_mass: [0.01, 0.02, 0.1], inertia: [0.1, 0.12, 0.13]}
  b: {mass: 1.7, center_of_mass: [0.5, 0.03, 0.01], inertia: [0.01, 0.1, 0.1]}
  c: {mass: 1.3, center_of_mass: [0.4, 0, 0.02], inertia: [0.01, 0.1, 0.1]}
hinges:
  B: {type: revolute, parent: a, child: b, axis: y, at: [1, 0, 0], limits: [0, 1], damping: 1}
  C: {type: revolute, parent: b, child: c, axis: x, at: [0.3, 0.2, 0.3], limits: [-1, 0], damping: 1}
)");
  // The ground 0.1 m in the box: the run by events starts with a stretch.
  SimulationSettings settings = with(m, R"(
constraints: {box: {type: contact, body: a, shape: box, size: [0.4, 0.3, 0.2], friction: 0.5}}
)");
  settings.duration = 0.05;
  settings.checkpoint_interval = 0.005;
  State s = m.default_state();
  s.q[6] = 0.09;
  MemoryRecorder whole;
  const SimulationResult a = simulate(m, s, settings, whole);
  ASSERT_TRUE(a.audit.contact.has_value());
  ASSERT_GE(whole.checkpoints().size(), 5u);
  for (const std::size_t k : {0u, 1u, 4u}) {
    MemoryRecorder rest;
    rest.begin(whole.columns());
    const SimulationResult b = resume_simulation(m, whole.checkpoints()[k], settings, rest);
    EXPECT_EQ((a.state.q - b.state.q).norm(), 0.0) << k;
    EXPECT_EQ((a.state.v - b.state.v).norm(), 0.0) << k;
    EXPECT_EQ(a.audit.contact->residual, b.audit.contact->residual) << k;
  }
}

// So has one by time-stepping alone, at any checkpoint, and its audit too.
TEST(Drops, ResumedStepsHaveTheSameBits) {
  const auto expect_same = [](const Mechanism& m, const State& s, SimulationSettings settings) {
    settings.integrator.method = Method::time_stepping;
    settings.checkpoint_interval = settings.duration / 9.7;
    MemoryRecorder whole;
    const SimulationResult a = simulate(m, s, settings, whole);
    EXPECT_EQ(whole.checkpoints().size(), 9U);
    for (const RunCheckpoint& checkpoint : whole.checkpoints()) {
      MemoryRecorder rest;
      rest.begin(whole.columns());
      const SimulationResult b = resume_simulation(m, checkpoint, settings, rest);
      EXPECT_EQ((a.state.q - b.state.q).norm(), 0.0) << checkpoint.time;
      EXPECT_EQ((a.state.v - b.state.v).norm(), 0.0) << checkpoint.time;
      EXPECT_EQ(a.events, b.events) << checkpoint.time;
      EXPECT_EQ(a.audit.energy_drift, b.audit.energy_drift) << checkpoint.time;
      EXPECT_EQ(a.audit.contact->residual, b.audit.contact->residual) << checkpoint.time;
      EXPECT_EQ(a.audit.contact->penetration, b.audit.contact->penetration) << checkpoint.time;
      EXPECT_EQ(a.audit.contact->creep, b.audit.contact->creep) << checkpoint.time;
      EXPECT_EQ(a.audit.contact->restored, b.audit.contact->restored) << checkpoint.time;
    }
  };
  const Mechanism car = dropped(kCar);
  SimulationSettings settings = with(car, kWheels);
  settings.duration = 0.5;
  State s = car.default_state();
  s.q[6] = 0.15;
  s.v.head(5) << 1.0, 0.0, 2.0, 0.5, 1.0;
  expect_same(car, s, settings);
  std::mt19937 random(3);
  const Mechanism boxes = random_boxes(random, 4);
  settings = with(boxes, "{ground: {height: 0, friction: 0.6}, collisions: {friction: 0.6}}");
  settings.duration = 1.0;
  expect_same(boxes, boxes.default_state(), settings);
}

// A box that is thrown onto the ground stays where it is with infinite friction (but for what it
// tips by), and slides on without any.
TEST(Drops, InfiniteAndZeroFriction) {
  const Mechanism m =
      dropped("base: free\nbodies: {box: {mass: 2, inertia: [0.02, 0.03, 0.04]}}\n");
  for (const Method method : kBoth)
    for (const std::string friction : {"0", ".inf"}) {
      SimulationSettings settings =
          with(m,
               "constraints: {box: {type: contact, body: box, shape: box, size: [0.4, 0.3, "
               "0.02], friction: " +
                   friction + "}}\n");
      settings.duration = 0.5;
      settings.integrator.method = method;
      State s = m.default_state();
      s.q[6] = 0.01;
      s.v[3] = 1.0;
      MemoryRecorder record;
      const SimulationResult r = simulate(m, s, settings, record);
      expect_good(r, method, "box with friction " + friction);
      if (friction == "0") {
        EXPECT_NEAR(r.state.q[4], 0.5, 1e-6);
      } else {
        EXPECT_LT(r.state.q[4], 0.02);
      }
    }
}

// Bounces with e = 0.995 follow each other faster and faster; the log has the first thousand, and
// tells how many more there were.
TEST(Drops, LogOfManyBouncesIsShort) {
  const Mechanism m = dropped(R"(
bodies: {ball: {mass: 1, inertia: [0.01, 0.01, 0.01]}}
hinges: {at: {type: prismatic, parent: world, child: ball, axis: z, limits: [0, 10], initial_position: 0.001}}
)");
  SimulationSettings settings;
  settings.duration = 7.0;
  settings.checkpoint_interval = 10.0;
  settings.actions.restitution = 0.995;
  MemoryRecorder record;
  simulate(m, m.default_state(), settings, record);
  // Bounces are followed down to 1 µs: e^n 2 √(2 h/g) ≈ 1e-6 at n ≈ 2047.
  int told = 0, skipped = 0;
  for (const RunEvent& e : record.events()) {
    if (e.kind != "limit") continue;
    ++told;
    if (const std::size_t at = e.detail.find(" more of these"); at != std::string::npos) {
      const std::size_t from = e.detail.find_last_of(' ', at - 1);
      skipped += std::atoi(e.detail.c_str() + (from == std::string::npos ? 0 : from));
    }
  }
  EXPECT_LT(told, 1050);
  EXPECT_GT(told + skipped, 1900);
}

}  // namespace
}  // namespace catena
