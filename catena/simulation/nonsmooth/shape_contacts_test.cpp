// SPDX-License-Identifier: BSD-3-Clause
// Shapes that collide with each other, against closed forms: impacts of balls, stacks, a box that
// slides on a box, a ball that rolls down a height field, a pile of boxes, and bad input.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/collision/collisions.h"
#include "catena/collision/fcl_scene.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/testing/linkage_parts.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::from_yaml;
using test::kGravity;

struct Collided {
  SimulationResult result;
  MemoryRecorder record;
  double work(const std::string& element) const {
    for (const ElementWork& w : result.audit.work)
      if (w.element == element) return w.work;
    return 0.0;
  }
};

struct Scene {
  Mechanism mechanism;
  State state;
  SimulationSettings settings;

  Scene(const std::string& model, const std::string& text) : mechanism(from_yaml(model)) {
    StateInput input = default_input(mechanism);
    read_settings_text(text, "settings.yaml", mechanism, input, settings);
    state = mechanism.default_state();
  }
  // Position and velocity of a free body whose joint is the k-th.
  void put(int k, const Vec3d& at, const Vec3d& velocity = {}, const Vec3d& spin = {}) {
    for (int i = 0; i < 3; ++i) {
      state.q[7 * k + 4 + i] = at[i];
      state.v[6 * k + i] = spin[i];
      state.v[6 * k + 3 + i] = velocity[i];
    }
  }
  Vec3d position(const State& s, int k) const {
    return {s.q[7 * k + 4], s.q[7 * k + 5], s.q[7 * k + 6]};
  }
  Collided run() {
    Collided ran;
    ran.result = simulate(mechanism, state, settings, ran.record);
    return ran;
  }
};

constexpr const char* kTwoBalls = R"(
gravity: [0, 0, 0]
bodies:
  a: {mass: 2, inertia: [0.01, 0.01, 0.01], collisions: [{shape: sphere, radius: 0.1, restitution: 0.6, friction: 0}]}
  b: {mass: 3, inertia: [0.01, 0.01, 0.01], collisions: [{shape: sphere, radius: 0.2, restitution: 0.8, friction: 0.5}]}
hinges:
  A: {type: free, parent: world, child: a}
  B: {type: free, parent: world, child: b}
)";

// Along the line of centres the velocities are those of Newton's law with the smaller restitution,
// across it they stay (the smaller friction is none); momentum is kept.
TEST(ShapeContacts, BallsCollide) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  Scene s(kTwoBalls, "{method: time-stepping, step: 1e-3, duration: 0.5, collisions: true}");
  // They touch at an angle of 30 degrees to the x axis.
  const double angle = M_PI / 6.0;
  const Vec3d n{std::cos(angle), std::sin(angle), 0.0};
  const double meets = 0.2345;
  const Vec3d va{1.0, 0.0, 0.0}, vb{-0.5, 0.0, 0.0};
  s.put(1, {});
  s.put(0, -0.3 * n - meets * (va - vb));
  s.put(0, -0.3 * n - meets * va, va);
  s.put(1, -meets * vb, vb);
  const Collided ran = s.run();
  const double approach = dot(va - vb, n), e = 0.6, ma = 2.0, mb = 3.0;
  const double impulse = (1.0 + e) * approach * ma * mb / (ma + mb);
  const Vec3d after_a = va - (impulse / ma) * n, after_b = vb + (impulse / mb) * n;
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(ran.result.state.v[3 + i], after_a[i], 2e-6);
    EXPECT_NEAR(ran.result.state.v[9 + i], after_b[i], 2e-6);
    EXPECT_NEAR(2.0 * ran.result.state.v[3 + i] + 3.0 * ran.result.state.v[9 + i],
                2.0 * va[i] + 3.0 * vb[i], 1e-12);
  }
  EXPECT_NEAR(ran.work("collisions"),
              -0.5 * (1.0 - e * e) * approach * approach * ma * mb / (ma + mb), 2e-6);
  EXPECT_LT(ran.result.audit.contact->penetration, 1e-6);
}

constexpr const char* kStack = R"(
bodies:
  base: {mass: 1, inertia: [1, 1, 1], collisions: [{shape: box, size: [1, 1, 0.2], friction: 0.7}]}
  a: {mass: 2, inertia: [0.01, 0.01, 0.01], collisions: [{shape: box, size: [0.3, 0.3, 0.2]}]}
  b: {mass: 3, inertia: [0.02, 0.02, 0.02], collisions: [{shape: box, size: [0.4, 0.2, 0.2]}]}
hinges:
  W: {type: weld, parent: world, child: base}
  A: {type: free, parent: world, child: a}
  B: {type: free, parent: world, child: b}
)";

// Two boxes on a box of the ground: they rest, and the impulses carry their weights.
TEST(ShapeContacts, Stack) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  Scene s(kStack,
          "{method: time-stepping, step: 1e-3, duration: 0.5, collisions: {friction: 0.5}}");
  s.put(0, {0.0, 0.0, 0.2});
  s.put(1, {0.05, 0.02, 0.4});
  const Collided ran = s.run();
  EXPECT_NEAR(norm(s.position(ran.result.state, 0) - Vec3d{0.0, 0.0, 0.2}), 0.0, 1e-8);
  EXPECT_NEAR(norm(s.position(ran.result.state, 1) - Vec3d{0.05, 0.02, 0.4}), 0.0, 1e-8);
  EXPECT_LT(ran.result.state.v.lpNorm<Eigen::Infinity>(), 1e-8);
  EXPECT_LT(ran.result.audit.contact->residual, 1e-9);
  EXPECT_LT(ran.result.audit.contact->creep, 1e-8);
}

// v = v0 − μ g t until it rests; the lower box is pushed along by the same friction.
TEST(ShapeContacts, BoxSlidesOnBox) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  Scene s(R"(
bodies:
  floor: {mass: 1, inertia: [1, 1, 1], collisions: [{shape: box, size: [9, 9, 0.2], friction: 0}]}
  sledge: {mass: 4, inertia: [0.1, 0.1, 0.1], collisions: [{shape: box, size: [2, 0.5, 0.1]}]}
  top: {mass: 1, inertia: [0.01, 0.01, 0.01], collisions: [{shape: box, size: [0.2, 0.2, 0.1], friction: 0.3}]}
hinges:
  W: {type: weld, parent: world, child: floor}
  S: {type: free, parent: world, child: sledge}
  T: {type: free, parent: world, child: top}
)",
          "{method: time-stepping, step: 1e-3, duration: 0.3, collisions: {friction: 0.8}}");
  s.put(0, {0.0, 0.0, 0.15});
  s.put(1, {-0.3, 0.0, 0.25}, {2.0, 0.0, 0.0});
  const Collided ran = s.run();
  const double t = 0.3, a = 0.3 * kGravity;
  EXPECT_NEAR(ran.result.state.v[9], 2.0 - a * t, 1e-6);
  EXPECT_NEAR(ran.result.state.v[3], a * t / 4.0, 1e-6);
  EXPECT_NEAR(ran.result.state.q[11] + 0.3, 2.0 * t - 0.5 * a * t * t, 1e-5);
  EXPECT_NEAR(ran.result.state.q[13], 0.25, 1e-7);
  EXPECT_LT(ran.result.audit.contact->penetration, 1e-6);
}

constexpr const char* kBall = R"(
bodies: {ball: {mass: 2, inertia: [0.008, 0.008, 0.008], collisions: [{shape: sphere, radius: 0.1}]}}
hinges: {B: {type: free, parent: world, child: ball}}
)";

std::string slope_field(double slope, int columns) {
  std::string rows;
  for (int r = 0; r < 5; ++r) {
    rows += r == 0 ? "[" : ", [";
    for (int c = 0; c < columns; ++c)
      rows += (c == 0 ? "" : ", ") + std::to_string(slope * 0.15 * c);
    rows += "]";
  }
  return "ground: {height_field: {heights: [" + rows +
         "], spacing: 0.15, origin: [0, -0.3]}, friction: 0.9}";
}

// A ball that rolls down a slope of triangles moves as on a plane, over all the edges between them:
// a = g sin / (1 + I/(m r²)), to first order in the step.
TEST(ShapeContacts, BallRollsDownAHeightField) {
  const double slope = 0.2, angle = std::atan(slope);
  const std::string common = "method: time-stepping\nstep: 1e-3\nduration: 1.0\n";
  const Vec3d n{-std::sin(angle), 0.0, std::cos(angle)};
  const Vec3d start = Vec3d{2.5, 0.02, slope * 2.5} + 0.1 * n;
  Scene field(kBall, common + slope_field(slope, 20));
  field.put(0, start);
  const Collided ran = field.run();
  Scene plane(kBall, common + "ground: {height: 0, normal: [-0.2, 0, 1], friction: 0.9}");
  plane.put(0, start);
  const Vec3d moved = field.position(ran.result.state, 0) - start;
  const Vec3d on_plane = plane.position(plane.run().result.state, 0) - start;
  // Gaps below 1e-6 m are closed with the rows of the middle of the step on a plane and with those
  // of its end on shapes: 1e-11 m apart a step.
  EXPECT_NEAR(norm(moved - on_plane), 0.0, 1e-7);
  const double a = kGravity * std::sin(angle) / (1.0 + 0.008 / (2.0 * 0.01));
  const Vec3d down{-std::cos(angle), 0.0, -std::sin(angle)};
  EXPECT_NEAR(dot(moved, down), 0.5 * a, 1e-4);
  EXPECT_NEAR(dot(moved, n), 0.0, 1e-9);
  EXPECT_LT(ran.result.audit.contact->penetration, 1e-9);
}

// A box and a ball come to rest on a field with hills, above its surface.
TEST(ShapeContacts, RestOnHills) {
  Scene s(R"(
bodies:
  box: {mass: 2, inertia: [0.02, 0.02, 0.02], collisions: [{shape: box, size: [0.3, 0.3, 0.2]}]}
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], collisions: [{shape: sphere, radius: 0.1}]}
hinges:
  A: {type: free, parent: world, child: box, damping: 0}
  B: {type: free, parent: world, child: ball}
)",
          R"(
method: time-stepping
step: 1e-3
duration: 1.5
ground:
  friction: 0.9
  height_field: {spacing: 0.5, origin: [-1, -1], heights: [[0.5, 0.4, 0.4, 0.4, 0.5], [0.4, 0.1, 0, 0.1, 0.4], [0.4, 0, 0.05, 0, 0.4], [0.4, 0.1, 0, 0.1, 0.4], [0.5, 0.4, 0.4, 0.4, 0.5]]}
)");
  s.put(0, {0.1, 0.05, 0.5}, {}, {0.5, 0.2, 0.1});
  s.put(1, {-0.5, 0.4, 0.4});
  const Collided ran = s.run();
  EXPECT_LT(ran.result.audit.contact->penetration, 1e-4);
  EXPECT_GT(ran.result.state.q[6], 0.1);
  EXPECT_LT(ran.result.state.q[6], 0.5);
  EXPECT_GT(ran.result.state.q[13], 0.1);
  EXPECT_LT(ran.result.state.q[13], 0.4);
}

// What the drop of a pile must hold, of which `make contact-study` has larger ones.
TEST(ShapeContacts, PileOfBoxes) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  constexpr int kBoxes = 4;
  std::string bodies, hinges;
  for (int k = 0; k < kBoxes; ++k) {
    const std::string n = std::to_string(k);
    bodies += "  box" + n +
              ": {mass: 1, inertia: [0.0027, 0.0042, 0.0052], collisions: [{shape: box, size: "
              "[0.2, 0.15, 0.1]}]}\n";
    hinges += "  J" + n + ": {type: free, parent: world, child: box" + n + "}\n";
  }
  Scene s("bodies:\n" + bodies + "hinges:\n" + hinges,
          "{method: time-stepping, step: 1e-3, duration: 1.5, ground: 0, collisions: {friction: "
          "0.6}}");
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int k = 0; k < kBoxes; ++k)
    s.put(k, {0.03 * normal(random), 0.03 * normal(random), 0.1 + 0.15 * k}, {},
          {normal(random), normal(random), normal(random)});
  const Collided ran = s.run();
  const Audit& audit = ran.result.audit;
  EXPECT_LT(audit.contact->penetration, 1e-4);
  EXPECT_LT(audit.contact->residual, 1e-6);
  EXPECT_LT(audit.contact->creep, 1e-5);
  // At rest, with its energy lost to contact alone.
  EXPECT_LT(ran.result.state.v.lpNorm<Eigen::Infinity>(), 1e-5);
  EXPECT_LT(audit.final_energy, audit.initial_energy);
  for (int k = 0; k < kBoxes; ++k) EXPECT_GT(ran.result.state.q[7 * k + 6], 0.05 - 1e-4);
}

TEST(ShapeContacts, OverlapIsPushedApart) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  Scene s(kStack, "{method: time-stepping, step: 1e-3, duration: 0.2, collisions: true}");
  s.put(0, {0.0, 0.0, 0.195});
  s.put(1, {0.0, 0.0, 0.395});
  const Collided ran = s.run();
  EXPECT_NEAR(ran.result.state.q[6], 0.2, 1e-6);
  EXPECT_NEAR(ran.result.state.q[13], 0.4, 1e-6);
  bool told = false;
  for (const RunEvent& event : ran.record.events())
    told = told || (event.kind == "penetration" &&
                    event.detail.find("'base.collision'") != std::string::npos &&
                    event.detail.find("0.005 m") != std::string::npos);
  EXPECT_TRUE(told);
}

// A plate on 301 points: the cost is told, and the plate stays where it is.
TEST(ShapeContacts, CostOfManyContactsIsTold) {
  std::string constraints = "constraints:\n";
  for (int k = 0; k < 301; ++k) {
    const double angle = 2.0 * M_PI * k / 301;
    constraints += "  p" + std::to_string(k) + ": {type: contact, body: plate, point: [" +
                   std::to_string(std::cos(angle)) + ", " + std::to_string(std::sin(angle)) +
                   ", 0], friction: 0.5}\n";
  }
  Scene s(R"(
bodies: {plate: {mass: 2, inertia: [1, 1, 2]}}
hinges: {P: {type: free, parent: world, child: plate}}
)",
          "method: time-stepping\nstep: 1e-3\nduration: 0.001\n" + constraints);
  const Collided ran = s.run();
  int told = 0;
  for (const RunEvent& event : ran.record.events())
    told += event.detail.find("301 contacts touch: a step is a problem of 903 unknowns") !=
                    std::string::npos
                ? 1
                : 0;
  EXPECT_EQ(told, 1);
  EXPECT_NEAR(ran.result.state.q[6], 0.0, 1e-9);
}

// The car of the examples drives over hills: its wheels stay on the ground, and it gets on.
TEST(ShapeContacts, CarOnHills) {
  const std::string folder = std::string(CATENA_SOURCE_DIR) + "/examples/";
  const Mechanism m = load(folder + "car.yaml");
  StateInput input = default_input(m);
  SimulationSettings settings;
  read_settings_file(folder + "car_on_hills.yaml", m, input, settings);
  settings.duration = 1.0;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, input.state, settings, record);
  const HeightField& field = *settings.actions.collisions->height_field;
  // Driven from 0.3 s on by 4 x 1.2 N m at wheels of 0.1 m: 24 kg, and the wheels that turn.
  EXPECT_NEAR(r.state.q[4], 0.5 * (48.0 / (24.0 + 4.0 * 0.005 / 0.01)) * 0.7 * 0.7, 0.05);
  const double ground = field.height_at(r.state.q[4], r.state.q[5]).value();
  EXPECT_NEAR(r.state.q[6], ground + 0.1, 0.03);
  EXPECT_LT(r.audit.contact->penetration, 1e-4);
  EXPECT_LT(r.audit.contact->residual, 1e-6);
}

TEST(ShapeContacts, EventMethodsAreRefusedOrReplaced) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  Scene s(kStack, "{duration: 0.01, collisions: true}");
  s.put(0, {0.0, 0.0, 0.2});
  s.put(1, {0.0, 0.0, 0.5});
  EXPECT_TRUE(completed(s.settings).integrator.method == Method::time_stepping);
  s.settings.integrator.method = Method::dop853;
  s.settings.integrator.keep_method = true;
  EXPECT_THROW(completed(s.settings), Error);
}

}  // namespace
}  // namespace catena
