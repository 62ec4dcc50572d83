// SPDX-License-Identifier: BSD-3-Clause
// The absolute form has the same accelerations of all bodies as the mechanism itself.
#include "catena/constraints/absolute_form.h"

#include <gtest/gtest.h>

#include "catena/dynamics/forward.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/testing/closed_cases.h"

namespace catena::test {
namespace {

using Eigen::VectorXd;

// Rods with some inertia about themselves: a free body without is singular.
Mechanism thick_four_bar() {
  MechanismBuilder b = four_bar().edit();
  for (const char* name : {"driver", "coupler", "rocker"}) b.body(name).inertia.xx = 0.01;
  return b.finish();
}

void expect_same_motion(const Mechanism& m, const State& s, double tolerance) {
  const Mechanism absolute = absolute_form(m);
  const State state = absolute_state(m, s, absolute);
  const VectorXd a = forward_dynamics(m, s, VectorXd::Zero(m.freedoms()));
  const VectorXd b = forward_dynamics(absolute, state, VectorXd::Zero(absolute.freedoms()), {},
                                      Route::multipliers);
  for (std::size_t i = 0; i < m.bodies().size(); ++i) {
    const int body = static_cast<int>(i);
    const Twistd one = body_acceleration(m, s, a, body, Axes::ground);
    const Twistd other = body_acceleration(absolute, state, b, body, Axes::ground);
    EXPECT_LT(norm(one.linear - other.linear), tolerance) << m.bodies()[i].name;
    EXPECT_LT(norm(one.angular - other.angular), tolerance) << m.bodies()[i].name;
  }
}

TEST(AbsoluteForm, OfATree) {
  MechanismBuilder b("pendulum");
  b.add_body("upper", rod(1.0, 1.0, 0.01));
  b.add_body("lower", rod(2.0, 0.7, 0.02));
  b.add_body("weight", body(0.5, {0.1, 0, 0}, {0.01, 0.01, 0.01}));
  b.add_hinge("shoulder", kWorld, "upper", {.type = HingeType::spherical});
  b.add_hinge("elbow", "upper", "lower",
              {.axes = {Vec3d::unit_y()}, .frame_on_parent = catena::shift(1, 0, 0)});
  b.add_hinge("weld", "lower", "weight",
              {.type = HingeType::weld, .frame_on_parent = catena::shift(0.7, 0, 0)});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q << 0.5, 0.5, -0.5, 0.5, 0.8;
  s.v << 0.4, -1.0, 0.7, 1.3;
  const Mechanism absolute = absolute_form(m);
  EXPECT_EQ(absolute.freedoms(), 12);  // two groups
  expect_same_motion(m, s, 1e-11);
}

// A wheel turns an arm through a gear, and a sun a planet on a carrier.
TEST(AbsoluteForm, OfGears) {
  MechanismBuilder b("gears");
  b.set_gravity({0, -9.81, 0});
  b.add_body("wheel", body(1.0, {}, {0.1, 0.1, 0.2}));
  b.add_body("arm", rod(1.5, 0.8, 0.01)).add_body("planet", body(0.4, {}, {0.02, 0.02, 0.04}));
  b.add_hinge("w", kWorld, "wheel", {});
  b.add_hinge("a", kWorld, "arm", {.frame_on_parent = catena::shift(0.5, 0, 0)});
  b.add_hinge("p", "arm", "planet", {.frame_on_parent = catena::shift(0.8, 0, 0)});
  b.add_coupling({.name = "gear", .terms = {{"w", 0, 1.0}, {"a", 0, 2.5}}});
  b.add_coupling({.name = "mesh", .terms = {{"p", 0, 1.0}, {"a", 0, -1.5}}});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.q << -1.0, 0.4, 0.6;
  s.v << -2.0, 0.8, 1.2;
  expect_same_motion(m, s, 1e-10);
}

TEST(AbsoluteForm, OfAClosedMechanism) {
  const Mechanism m = thick_four_bar();
  expect_same_motion(m, four_bar_state(m, 0.7, 1.5), 1e-10);
}

}  // namespace
}  // namespace catena::test
