// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/state_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/linearize.h"

namespace catena {
namespace {

StateSpace oscillator() {
  return ss(Eigen::Matrix2d{{0.0, 1.0}, {-4.0, -0.4}}, Eigen::Vector2d(0.0, 1.0),
            Eigen::RowVector2d(1.0, 0.0));
}

template <class Change>
std::string complaint(const Change& change) {
  StateSpace system = oscillator();
  change(system);
  try {
    system.validate();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(StateSpace, DefaultNamesAndSizes) {
  const StateSpace system = oscillator();
  EXPECT_THAT(system.states, testing::ElementsAre("x1", "x2"));
  EXPECT_THAT(system.inputs, testing::ElementsAre("u1"));
  EXPECT_THAT(system.outputs, testing::ElementsAre("y1"));
  EXPECT_EQ(system.order(), 2);
  EXPECT_TRUE(system.is_continuous());
  EXPECT_TRUE(system.is_siso());
  EXPECT_EQ(system.D, Eigen::MatrixXd::Zero(1, 1));
  EXPECT_EQ(ss(Eigen::MatrixXd::Ones(2, 3)).order(), 0);
}

TEST(StateSpace, WhatDoesNotFitIsNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(complaint([](StateSpace& s) { s.A.resize(2, 3); }), HasSubstr("A is 2 x 3"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.B.resize(3, 1); }), HasSubstr("B is 3 x 1"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.C.resize(2, 2); }), HasSubstr("C is 2 x 2"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.E.setIdentity(3, 3); }), HasSubstr("E is 3 x 3"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.A(1, 0) = NAN; }), HasSubstr("A(2, 1)"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.dt = -1.0; }), HasSubstr("dt is -1"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.states = {"a"}; }), HasSubstr("1 states"));
  EXPECT_THAT(complaint([](StateSpace& s) {
                s.states = {"a", "a"};
              }),
              HasSubstr("'a' appears twice"));
  EXPECT_THAT(complaint([](StateSpace& s) { s.input_delay = Eigen::VectorXd::Constant(1, -1.0); }),
              HasSubstr("input_delay(1)"));
  EXPECT_THAT(complaint([](StateSpace& s) {
                s.point = SystemPoint{};
                s.point->u0 = Eigen::VectorXd::Zero(3);
              }),
              HasSubstr("u0"));
}

TEST(StateSpace, NamesAreFoundOrSuggested) {
  StateSpace system = oscillator();
  system.inputs = {"torque"};
  EXPECT_EQ(system.input_index("torque"), 0);
  try {
    system.input_index("torqe");
    FAIL();
  } catch (const NameError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("'torque'"));
  }
  system.states.clear();
  EXPECT_EQ(system.state_index("x2"), 1);
  EXPECT_EQ(system.state_name(1), "x2");
}

TEST(StateSpace, DelaysAddUp) {
  StateSpace system = ss(Eigen::MatrixXd::Ones(2, 2));
  EXPECT_FALSE(system.has_delay());
  system.input_delay = Eigen::Vector2d(0.1, 0.0);
  system.output_delay = Eigen::Vector2d(0.0, 0.5);
  EXPECT_TRUE(system.has_delay());
  EXPECT_TRUE(system.delays().isApprox(Eigen::Matrix2d{{0.1, 0.0}, {0.6, 0.5}}));
}

TEST(StateSpace, ExplicitFormOfDescriptor) {
  const Eigen::Matrix2d e{{2.0, 1.0}, {0.0, 4.0}};
  const StateSpace o = oscillator();
  const StateSpace d = dss(e * o.A, e * o.B, o.C, o.D, e);
  EXPECT_TRUE(explicit_form(d).A.isApprox(o.A));
  EXPECT_TRUE(explicit_form(d).B.isApprox(o.B));
  EXPECT_FALSE(explicit_form(d).is_descriptor());
}

// m ẍ = f with the algebraic relation f = u − k x written as a state of its own.
TEST(StateSpace, AlgebraicStatesAreSolvedFor) {
  const Eigen::Matrix3d e = Eigen::Vector3d(1.0, 2.0, 0.0).asDiagonal();
  const Eigen::Matrix3d a{{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {-8.0, 0.0, -1.0}};
  const StateSpace d = dss(a, Eigen::Vector3d(0.0, 0.0, 1.0), Eigen::RowVector3d(1.0, 0.0, 3.0),
                           Eigen::MatrixXd::Zero(1, 1), e);
  const StateSpace x = explicit_form(d);
  ASSERT_EQ(x.order(), 2);
  EXPECT_NEAR(x.A.trace(), 0.0, 1e-14);
  EXPECT_NEAR(x.A(0, 0) * x.A(1, 1) - x.A(0, 1) * x.A(1, 0), 4.0, 1e-14);  // ω² = 8/2
  EXPECT_NEAR(x.D(0, 0), 3.0, 1e-14);
  // Index two: the algebraic state does not appear in the algebraic equation.
  Eigen::Matrix3d index_two = a;
  index_two(2, 2) = 0.0;
  EXPECT_THROW(explicit_form(dss(index_two, d.B, d.C, d.D, e)), NumericalError);
}

// A pendulum held at 0.4 rad, m l = 1, J = 1: A = [0 1; −g cos q 0].
TEST(StateSpace, FromAMechanism) {
  MechanismBuilder builder("pendulum");
  builder.set_gravity({0.0, -9.80665, 0.0});
  BodySettings bob;
  bob.mass = 2.0;
  bob.inertia = SymMat3d::diagonal(0.5, 0.5, 0.5);
  bob.center_of_mass = {0.0, -0.5, 0.0};
  builder.add_body("bob", bob);
  builder.add_hinge("pivot", kWorld, "bob", {});
  const Mechanism m = builder.finish();
  State tilted = m.default_state();
  tilted.q[0] = 0.4;
  // Held by a motor: m g l sin q.
  const Eigen::VectorXd effort = Eigen::VectorXd::Constant(1, 9.80665 * std::sin(0.4));
  const StateSpace g = state_space(linearize(m, {tilted, effort}), m);
  EXPECT_NEAR(g.A(1, 0), -9.80665 * std::cos(0.4), 1e-9);
  EXPECT_NEAR(g.B(1, 0), 1.0 / (0.5 + 2.0 * 0.25), 1e-9);
  EXPECT_EQ(g.point->mechanism, "pendulum");
  EXPECT_EQ(g.point->q, tilted.q);
  EXPECT_EQ(g.point->x0, Eigen::Vector2d(0.4, 0.0));
  EXPECT_EQ(g.point->u0, effort);
  EXPECT_EQ(g.point->y0, Eigen::Vector2d(0.4, 0.0));
  EXPECT_EQ(g.input_index("effort.pivot"), 0);
}

}  // namespace
}  // namespace catena
