// SPDX-License-Identifier: BSD-3-Clause
// Attachments, locks, contacts and servo constraints against closed forms and dense matrices.
#include "catena/constraints/constraint_set.h"

#include <array>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/constraints/testing/test_arms.h"
#include "catena/dynamics/energy.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/momentum.h"

namespace catena::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Two free bodies in space.
Mechanism two_bodies() {
  MechanismBuilder b("two");
  b.set_gravity({});
  b.add_body("one", body(2.0, {0.1, 0, 0}, {0.1, 0.2, 0.3}));
  b.add_body("two", body(3.0, {0, 0.2, 0}, {0.3, 0.2, 0.4}));
  b.add_hinge("one", kWorld, "one", {.type = HingeType::free});
  b.add_hinge("two", kWorld, "two", {.type = HingeType::free});
  return b.finish();
}

State some_state(const Mechanism& m) {
  State s = m.default_state();
  s.q << 0.5, 0.5, -0.5, 0.5, 0.3, -0.2, 0.1, 0.5, -0.5, 0.5, 0.5, 1.0, 0.4, -0.3;
  s.v << 0.4, -0.3, 0.8, 1.0, 0.2, -0.5, -0.7, 0.2, 0.5, -0.3, 0.6, 0.1;
  return s;
}

// Momentum of the pair is kept by the impulse of an attachment, energy falls by ½ Δvᵀ M Δv.
TEST(Attachment, KeepsMomentumAndLosesCarnotsEnergy) {
  const Mechanism m = two_bodies();
  const State s = some_state(m);
  for (const HingeType type : {HingeType::weld, HingeType::spherical, HingeType::revolute,
                               HingeType::prismatic, HingeType::cylindrical}) {
    ConstraintSet set(m);
    const int grip = set.add(AttachmentSettings{.name = "grip",
                                                .body_a = 0,
                                                .body_b = 1,
                                                .frame_a = catena::shift(0.5, 0.1, 0),
                                                .type = type,
                                                .axis = {0.6, 0.0, 0.8},
                                                .as_it_is = true});
    set.activate(grip, s);
    const ConstraintSet::Jump jump = set.impulse(s);
    const State after{s.q, jump.velocity};
    const Momentum p0 = momentum(m, s), p1 = momentum(m, after);
    EXPECT_LT(norm(p1.linear - p0.linear), 1e-13);
    EXPECT_LT(norm(p1.angular - p0.angular), 1e-13);
    const VectorXd change = jump.velocity - s.v;
    const double carnot = -0.5 * change.dot(mass_matrix(m, s.q) * change);
    EXPECT_NEAR(jump.energy_change, carnot, 1e-12);
    EXPECT_NEAR(energy(m, after).kinetic - energy(m, s).kinetic, carnot, 1e-12);
    EXPECT_LT(carnot, -1e-3);
    // And again nothing happens.
    EXPECT_LT((set.impulse(after).velocity - after.v).norm(), 1e-13);
  }
}

// Welded together, the two move as the one rigid body that the builder makes of them.
TEST(Attachment, MovesAsOneBody) {
  const Mechanism m = two_bodies();
  State s = some_state(m);
  ConstraintSet set(m);
  const int grip =
      set.add(AttachmentSettings{.name = "grip", .body_a = 0, .body_b = 1, .as_it_is = true});
  set.activate(grip, s);
  s.v = set.impulse(s).velocity;
  const ExternalWrench push{
      .body = 1, .wrench = {{0.3, 0.1, -0.2}, {1.0, 2.0, -1.5}}, .point = {0.2, 0.1, 0.0}};
  const VectorXd a = set.forward(s, VectorXd::Zero(12), std::span(&push, 1));
  const Transformd X_one_two = body_pose(m, s.q, 0).inverse() * body_pose(m, s.q, 1);
  MechanismBuilder b("one");
  b.set_gravity({});
  b.add_body("one", body(2.0, {0.1, 0, 0}, {0.1, 0.2, 0.3}));
  b.add_body("two", body(3.0, {0, 0.2, 0}, {0.3, 0.2, 0.4}));
  b.add_hinge("one", kWorld, "one", {.type = HingeType::free});
  b.add_hinge("weld", "one", "two", {.type = HingeType::weld, .frame_on_parent = X_one_two});
  const Mechanism rigid = b.finish();
  const State same{s.q.head(7), s.v.head(6)};
  const VectorXd expected = forward_dynamics(rigid, same, VectorXd::Zero(6), std::span(&push, 1));
  EXPECT_LT((a.head(6) - expected).norm(), 1e-12);
  // The wrench at the weld, in the frame of the second body.
  set.close(s);
  EXPECT_LT(set.gap(s), 1e-14);
}

TEST(Attachment, ClosesPositionsAndVelocities) {
  const Mechanism m = two_bodies();
  State s = some_state(m);
  ConstraintSet set(m);
  const int grip =
      set.add(AttachmentSettings{.name = "grip", .body_a = 0, .body_b = 1, .as_it_is = true});
  set.activate(grip, s);
  s.q[11] += 1e-3;
  s.q[4] -= 2e-3;
  EXPECT_GT(set.gap(s), 1e-4);
  EXPECT_LT(set.close(s), 1e-14);
  EXPECT_LT((set.impulse(s).velocity - s.v).norm(), 1e-13);
}

TEST(Lock, BringsAFreedomToRestAndHoldsIt) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.5);
  ConstraintSet set(m);
  const int latch = set.add(LockSettings{"latch", 2});
  set.activate(latch, s);
  const ConstraintSet::Jump jump = set.impulse(s);
  EXPECT_LT(jump.velocity.norm(), 1e-13);  // one freedom: all comes to rest
  EXPECT_NEAR(jump.energy_change, -energy(m, s).kinetic, 1e-12);
  const State rest{s.q, jump.velocity};
  const VectorXd a = set.forward(rest, VectorXd::Zero(3));
  EXPECT_LT(a.norm(), 1e-12);
  // What holds it does the work of gravity along a virtual motion: dV/dq along the mechanism.
  const VectorXd along = consistent_velocity(m, s.q, vector({1, 0, 0}), {1, 0, 0});
  const double h = 1e-6;
  const auto potential = [&](double t) {
    return energy(m, {assemble(m, VectorXd(s.q + t * along), {.fixed = {1, 0, 0}}), rest.v})
        .potential();
  };
  const double slope = (potential(h) - potential(-h)) / (2 * h);
  EXPECT_NEAR(set.effort(latch) * along[2], slope, 1e-6);
}

// A solid sphere on an inclined plane: it rolls with 5/7 g sin α, or slides if friction cannot
// hold.
struct Sphere {
  Mechanism m;
  double incline;
};
Sphere sphere_on(double incline) {
  MechanismBuilder b("sphere");
  b.set_gravity({9.81 * std::sin(incline), 0.0, -9.81 * std::cos(incline)});
  const double i = 0.4 * 2.0 * 0.3 * 0.3;
  b.add_body("ball", body(2.0, {}, {i, i, i}));
  b.add_hinge("free", kWorld, "ball", {.type = HingeType::free});
  return {b.finish(), incline};
}

TEST(Contact, RollsAndSlides) {
  const Sphere ball = sphere_on(0.3);
  State s = ball.m.default_state();
  s.q[6] = 0.3;
  const double g = 9.81, sine = std::sin(0.3), cosine = std::cos(0.3);
  ConstraintSet set(ball.m);
  const double mu = 0.2;
  const int c = set.add(ContactSettings{.name = "floor", .body = 0, .radius = 0.3, .friction = mu});
  set.set_mode(c, ContactMode::sticking);
  VectorXd a = set.forward(s, VectorXd::Zero(6));
  EXPECT_NEAR(a[3], 5.0 / 7.0 * g * sine, 1e-12);
  EXPECT_NEAR(a[1], 5.0 / 7.0 * g * sine / 0.3, 1e-12);
  ConstraintSet::ContactForce f = set.contact_force(c);
  EXPECT_NEAR(f.normal, 2.0 * g * cosine, 1e-12);
  EXPECT_NEAR(f.friction.x, -2.0 / 7.0 * 2.0 * g * sine, 1e-12);
  // Sliding down with spin, friction against the slip of the lowest point.
  s.v[3] = 1.0;
  s.v[1] = 0.5;  // rad/s: the lowest point slips with 1 − 0.15
  set.set_mode(c, ContactMode::sliding);
  a = set.forward(s, VectorXd::Zero(6));
  EXPECT_NEAR(a[3], g * (sine - mu * cosine), 1e-12);
  EXPECT_NEAR(a[1], mu * 2.0 * g * cosine * 0.3 / (0.4 * 2.0 * 0.09), 1e-12);
  f = set.contact_force(c);
  EXPECT_NEAR(f.normal, 2.0 * g * cosine, 1e-12);
  EXPECT_NEAR(f.friction.x, -mu * f.normal, 1e-12);
  set.look(s);
  EXPECT_NEAR(set.slip(c).x, 0.85, 1e-15);
  EXPECT_NEAR(set.contact_gap(c), 0.0, 1e-15);
}

// A ball thrown at the floor: closed forms of Newton's and Coulomb's laws for a sphere. Friction
// either just stops the slip (2/7 of it) or is μ times the normal impulse.
TEST(Contact, TouchDown) {
  const Sphere ball = sphere_on(0.0);
  const double e = 0.6;
  for (const double speed : {0.5, 6.0}) {
    const double mu = 0.25;
    State s = ball.m.default_state();
    s.q[6] = 0.3;
    s.v[5] = -2.0;
    s.v[3] = speed;
    ConstraintSet set(ball.m);
    const int c = set.add(ContactSettings{
        .name = "floor", .body = 0, .radius = 0.3, .friction = mu, .restitution = e});
    const ConstraintSet::Jump jump = set.collide(s, std::array{c}, std::array{e});
    const double normal = 2.0 * 2.0 * (1.0 + e);  // impulse
    const double stops = 2.0 * speed * 2.0 / 7.0;
    const double friction = std::min(stops, mu * normal);
    EXPECT_NEAR(jump.velocity[5], 2.0 * e, 1e-13);
    EXPECT_NEAR(jump.velocity[3], speed - friction / 2.0, 1e-13);
    EXPECT_NEAR(jump.velocity[1], friction * 0.3 / (0.4 * 2.0 * 0.09), 1e-12);
    EXPECT_NEAR(jump.energy_change,
                energy(ball.m, {s.q, jump.velocity}).kinetic - energy(ball.m, s).kinetic, 1e-12);
    EXPECT_EQ(stops < mu * normal, speed < 1.0);
  }
}

// Ider's three-link arm (case V07.6): torques at the start.
Mechanism three_links() {
  MechanismBuilder b("arm");
  b.set_gravity({});
  const double masses[3] = {30, 18, 18}, inertias[3] = {10, 8.64, 8.64};
  for (int i = 0; i < 3; ++i) {
    // The inertia is about the lower joint; the mass centre half way.
    const double central = inertias[i] - masses[i] * 0.25;
    b.add_body("link" + std::to_string(i + 1),
               body(masses[i], {0.5, 0, 0}, {central, central, central}));
    b.add_hinge("joint" + std::to_string(i + 1), i == 0 ? kWorld : "link" + std::to_string(i),
                "link" + std::to_string(i + 1),
                {.frame_on_parent = i == 0 ? Transformd{} : catena::shift(1, 0, 0)});
  }
  return b.finish();
}

TEST(Servo, TorquesOfIdersArm) {
  const Mechanism m = three_links();
  const double degree = std::numbers::pi / 180.0;
  const State s{vector({60 * degree, -10 * degree, -90 * degree}),
                vector({0.385954, 0.0, -0.961721})};
  const ServoSettings tip{
      .name = "tip", .body = 2, .point = {1, 0, 0}, .rows = {{Vec3d::unit_x()}, {Vec3d::unit_y()}}};
  const auto torques = [&](std::vector<int> actuators) {
    ConstraintSet set(m);
    ServoSettings own = tip;
    own.actuators = std::move(actuators);
    const int servo = set.add(own);
    set.activate(servo, s);
    set.set_target(servo, {{1.9088, 0.9893}, {-1.0, 0.0}, {0.0, 0.0}});
    const VectorXd a = set.forward(s, VectorXd::Zero(3));
    VectorXd effort = VectorXd::Zero(3);
    set.add_servo_efforts(effort);
    // They do produce the motion, by inverse dynamics.
    EXPECT_LT((inverse_dynamics(m, s, a) - effort).norm(), 1e-10 * (1.0 + effort.norm()));
    const Twistd tip_acceleration = body_acceleration(m, s, a, 2, Axes::ground);
    EXPECT_EQ(tip_acceleration.linear.z, 0.0);
    return effort;
  };
  // The reference has four digits behind the point; rates of six digits.
  expect_near(torques({}), {-11.7403, -5.9757, -0.1038}, 2e-4);
  expect_near(torques({1, 2}), {0.0, -5.8028, -0.1408}, 2e-4);
}

// Actuators that cannot do it: the first joint alone cannot turn the tip about itself and back.
TEST(Servo, ActuatorsThatCannotAreNamed) {
  const Mechanism m = three_links();
  // Stretched out: no joint moves the tip along the arm.
  const State s{vector({0.3, 0.0, 0.0}), vector({0.0, 0.0, 0.0})};
  ConstraintSet set(m);
  const int servo = set.add(ServoSettings{.name = "tip",
                                          .body = 2,
                                          .point = {1, 0, 0},
                                          .rows = {{Vec3d::unit_x()}, {Vec3d::unit_y()}},
                                          .actuators = {0, 1}});
  set.activate(servo, s);
  set.set_target(servo, {{3 * std::cos(0.3), 3 * std::sin(0.3)}, {}, {1.0, 0.0}});
  try {
    set.forward(s, VectorXd::Zero(3));
    FAIL();
  } catch (const NumericalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("servo 'tip'"), std::string::npos) << text;
    EXPECT_NE(text.find("'joint1' and 'joint2'"), std::string::npos) << text;
  }
  EXPECT_THROW(set.add(ServoSettings{
                   .name = "bad", .body = 2, .rows = {{Vec3d::unit_x()}}, .actuators = {0, 1}}),
               Error);
}

}  // namespace
}  // namespace catena::test
