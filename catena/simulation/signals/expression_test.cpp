// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/expression.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/model/builder.h"

namespace catena {
namespace {

using testing::HasSubstr;

Mechanism two_hinges() {
  MechanismBuilder b("arm");
  b.add_body("upper", {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  b.add_body("lower", {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  b.add_hinge("shoulder", "world", "upper");
  b.add_hinge("left-elbow", "upper", "lower");
  return b.finish();
}

double at(const std::string& text, double t) { return Expression(text).jet(t).value; }

std::string problem(const std::string& text, const Mechanism* m = nullptr) {
  try {
    Expression expression(text, m);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(Expression, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(at("1 + 2*3", 0), 7.0);
  EXPECT_EQ(at("(1 + 2)*3", 0), 9.0);
  EXPECT_EQ(at("2^3^2", 0), 512.0);
  EXPECT_EQ(at("-2^2", 0), -4.0);
  EXPECT_EQ(at("2^-1", 0), 0.5);
  EXPECT_EQ(at("8/4/2", 0), 1.0);
  EXPECT_EQ(at("1 - 2 - 3", 0), -4.0);
  EXPECT_EQ(at("1.5e-3*2E3", 0), 3.0);
  EXPECT_EQ(at("+t", 4.0), 4.0);
  EXPECT_EQ(at("clamp(t, -1, 2)", 5.0), 2.0);
  EXPECT_EQ(at("clamp(t, -1, 2)", -5.0), -1.0);
  EXPECT_EQ(at("min(t, 3) + max(t, 3)", 1.0), 4.0);
  EXPECT_DOUBLE_EQ(at("sin(2*pi*t)", 0.125), std::sin(0.25 * std::numbers::pi));
  EXPECT_DOUBLE_EQ(at("pow(e, t)", 2.0), std::exp(2.0));
}

// Derivatives against differences of second order of the values themselves.
TEST(Expression, HasExactDerivatives) {
  for (const char* text :
       {"sin(3*t)*exp(-t)", "tan(t)/(1 + t^2)", "asin(t/2) - acos(t/3)", "atan(t)*sinh(t)",
        "cosh(t) + tanh(2*t)", "log(1 + t)*sqrt(2 + t)", "t^2.5", "(1 + t)^t", "atan2(t, 1 + t^2)",
        "abs(t - 2)^3", "min(t, 5)*max(t^2, -1)", "cos(t)^3"}) {
    SCOPED_TRACE(text);
    const Expression f(text);
    const double t = 0.7, h = 1e-4;
    const double before = f.jet(t - h).value, here = f.jet(t).value, after = f.jet(t + h).value;
    const Jet jet = f.jet(t);
    EXPECT_NEAR(jet.rate, (after - before) / (2.0 * h), 1e-6);
    EXPECT_NEAR(jet.acceleration, (after - 2.0 * here + before) / (h * h), 1e-6);
  }
}

TEST(Expression, ReadsTheStateByName) {
  const Mechanism m = two_hinges();
  State state = m.default_state();
  state.q[m.position_index("left-elbow")] = 0.25;
  state.v[m.velocity_index("shoulder")] = 3.0;
  const Expression f("2*q.left-elbow - v.shoulder*t", &m);
  EXPECT_TRUE(f.uses_state());
  EXPECT_EQ(f.value(2.0, state), -5.5);
  EXPECT_EQ(Expression("q.left-elbow-1", &m).value(0.0, state), -0.75);
  EXPECT_TRUE(Expression("2*pi").constant());
  EXPECT_FALSE(Expression("2*t").constant());
}

TEST(Expression, KeepsTheSideOfItsJumps) {
  const State none;
  Expression f("3*step(t - 1) + sign(2 - t) + pulse(t, 4, 5)");
  ASSERT_EQ(f.switches(), 4);
  f.set_switches(0.0, none);
  EXPECT_EQ(f.value(0.0, none), 1.0);
  EXPECT_EQ(f.value(1.5, none), 1.0);  // until it is told
  f.set_switches(1.0, none);           // the value from there on
  EXPECT_EQ(f.value(1.0, none), 4.0);
  f.set_switches(4.5, none);
  EXPECT_EQ(f.value(4.5, none), 3.0);
  f.set_switches(5.0, none);
  EXPECT_EQ(f.value(5.0, none), 2.0);
  double arguments[4];
  f.switch_arguments(3.0, none, arguments);
  EXPECT_EQ(arguments[0], 2.0);
  EXPECT_EQ(arguments[1], -1.0);
  EXPECT_EQ(arguments[2], -1.0);
  EXPECT_EQ(arguments[3], -2.0);
}

TEST(Expression, ShowsWhereAMistakeIs) {
  const Mechanism m = two_hinges();
  EXPECT_THAT(problem(""), HasSubstr("is empty"));
  EXPECT_THAT(problem("1 +"), HasSubstr("character 4: ends too early"));
  EXPECT_THAT(problem("2*(t + 1"), HasSubstr("')' is missing for the '(' at character 3"));
  EXPECT_THAT(problem("2 3"), HasSubstr("character 3: '3' is not expected"));
  EXPECT_THAT(problem("sine(t)"), HasSubstr("did you mean 'sin'?"));
  EXPECT_THAT(problem("sin(t, 2)"), HasSubstr("sin needs 1 argument, not 2"));
  EXPECT_THAT(problem("atan2(t)"), HasSubstr("atan2 needs 2 arguments, not 1"));
  EXPECT_THAT(problem("q.shoulder"), HasSubstr("only t, pi and e are known here"));
  EXPECT_THAT(problem("q.sholder", &m), HasSubstr("did you mean 'q.shoulder'?"));
  EXPECT_THAT(problem("2*x", &m), HasSubstr("character 3: there is no 'x'"));
  EXPECT_THAT(problem(std::string(500, '(')), HasSubstr("nested too deeply"));
  std::string deep(501, '-');
  deep.back() = '1';
  EXPECT_THAT(problem(deep), HasSubstr("nested too deeply"));
  std::string pulses = "t";
  for (int k = 0; k < 40; ++k) pulses = "pulse(" + pulses + ",0,1)";
  EXPECT_THAT(problem(pulses), HasSubstr("is too long"));
}

}  // namespace
}  // namespace catena
