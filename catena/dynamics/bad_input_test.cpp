// SPDX-License-Identifier: BSD-3-Clause
// Bad input: every mistake is a NumericalError that says what is wrong and where; never a NaN.
#include <gmock/gmock.h>

#include "catena/base/index.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const NumericalError& error) {
    return error.what();
  }
  return "no error";
}

// base: free; elbow: revolute; ball: spherical.
class BadInput : public ::testing::Test {
 protected:
  static Mechanism make() {
    Random random(51);
    MechanismBuilder builder("arm");
    for (const char* name : {"hull", "arm", "hand"}) builder.add_body(name, random.body());
    builder.add_hinge("base", kWorld, "hull", {.type = HingeType::free});
    builder.add_hinge("elbow", "hull", "arm", random.hinge(HingeType::revolute));
    builder.add_hinge("ball", "arm", "hand", random.hinge(HingeType::spherical));
    return builder.finish();
  }
  // Every algorithm says the same about this input.
  void expect_everywhere(const ::testing::Matcher<const std::string&>& matcher,
                         bool needs_v = true) {
    EXPECT_THAT(message_of([&] { forward_dynamics(m, s, x, w, external); }), matcher);
    EXPECT_THAT(message_of([&] { forward_dynamics(m, s, x, w, external, Route::dense); }), matcher);
    EXPECT_THAT(message_of([&] { inverse_dynamics(m, s, x, w, external); }), matcher);
    EXPECT_THAT(message_of([&] { bias_effort(m, s, w, external); }), matcher);
    if (!needs_v) {
      EXPECT_THAT(message_of([&] { mass_matrix(m, s.q, w); }), matcher);
    }
    HybridInput hybrid{std::vector<std::uint8_t>(10, 0), x, x};
    EXPECT_THAT(message_of([&] { hybrid_dynamics(m, s, hybrid, external); }), matcher);
  }

  const Mechanism m = make();
  Workspace w{m};
  State s = m.default_state();
  VectorXd x = VectorXd::Zero(10);
  std::vector<ExternalWrench> external;
};

TEST_F(BadInput, SizeOfTheState) {
  s.q.conservativeResize(10);
  expect_everywhere(AllOf(HasSubstr("position"), HasSubstr("10"), HasSubstr("12")), false);
  s = m.default_state();
  s.v.resize(0);
  expect_everywhere(AllOf(HasSubstr("velocity"), HasSubstr("0"), HasSubstr("10")));
}

TEST_F(BadInput, SizeOfEffortAndAcceleration) {
  x.resize(9);
  for (const Route route : {Route::automatic, Route::dense})
    EXPECT_THAT(message_of([&] { forward_dynamics(m, s, x, w, {}, route); }),
                AllOf(HasSubstr("effort"), HasSubstr("9"), HasSubstr("10")));
  EXPECT_THAT(message_of([&] { inverse_dynamics(m, s, x, w); }),
              AllOf(HasSubstr("acceleration"), HasSubstr("9"), HasSubstr("10")));
  HybridInput hybrid{std::vector<std::uint8_t>(10, 0), x, VectorXd::Zero(10)};
  EXPECT_THAT(message_of([&] { hybrid_dynamics(m, s, hybrid); }), HasSubstr("effort"));
  hybrid.effort = VectorXd::Zero(10);
  hybrid.motion_driven.pop_back();
  EXPECT_THAT(message_of([&] { hybrid_dynamics(m, s, hybrid); }), HasSubstr("motion_driven"));
}

TEST_F(BadInput, NotANumber) {
  s.q[m.position_index("elbow")] = kNaN;
  expect_everywhere(AllOf(HasSubstr("position"), HasSubstr("elbow"), HasSubstr("nan")), false);
  s = m.default_state();
  s.v[m.velocity_index("base.vy")] = kInfinity;
  expect_everywhere(AllOf(HasSubstr("velocity"), HasSubstr("base.vy"), HasSubstr("inf")));
  s = m.default_state();
  x[m.velocity_index("ball.wz")] = -kInfinity;
  for (const Route route : {Route::automatic, Route::dense})
    EXPECT_THAT(message_of([&] { forward_dynamics(m, s, x, w, {}, route); }),
                AllOf(HasSubstr("effort"), HasSubstr("ball.wz"), HasSubstr("inf")));
  EXPECT_THAT(message_of([&] { inverse_dynamics(m, s, x, w); }),
              AllOf(HasSubstr("acceleration"), HasSubstr("ball.wz")));
  // Hybrid: an entry that is read must be finite, the others may be anything.
  HybridInput hybrid{std::vector<std::uint8_t>(10, 0), VectorXd::Zero(10),
                     VectorXd::Constant(10, kNaN)};
  EXPECT_TRUE(hybrid_dynamics(m, s, hybrid).acceleration.allFinite());
  hybrid.motion_driven[index(m.velocity_index("elbow"))] = 1;
  EXPECT_THAT(message_of([&] { hybrid_dynamics(m, s, hybrid); }),
              AllOf(HasSubstr("acceleration"), HasSubstr("elbow"), HasSubstr("nan")));
}

TEST_F(BadInput, ExternalWrench) {
  external = {{.body = 3}};
  expect_everywhere(AllOf(HasSubstr("external wrench"), HasSubstr("3")));
  external = {{.body = -2}};
  expect_everywhere(AllOf(HasSubstr("external wrench"), HasSubstr("-2")));
  external = {{.body = 1, .wrench = {{0, 0, 0}, {1, kNaN, 0}}}};
  expect_everywhere(AllOf(HasSubstr("external wrench"), HasSubstr("arm")));
  external = {{.body = 1, .wrench = {{0, 0, 0}, {1, 0, 0}}, .point = {kInfinity, 0, 0}}};
  expect_everywhere(AllOf(HasSubstr("external wrench"), HasSubstr("arm")));
  external = {{.body = -1, .wrench = {{0, 0, 0}, {1, 0, 0}}}};  // the ground bears it
  EXPECT_TRUE(forward_dynamics(m, s, x, w, external).allFinite());
}

// Off by rounding: normalized. Off by more: an error that names the hinge.
TEST_F(BadInput, Quaternions) {
  Random random(52);
  s.q = random_position(m, 3);
  s.v = random_values(random, 10);
  const VectorXd right = forward_dynamics(m, s, x);
  const State good = s;
  const int ball = m.position_index("ball.qw");
  s.q.segment(ball, 4) *= 1.0 + 0.9e-6;
  s.q.segment(m.position_index("base.qw"), 4) *= 1.0 - 0.9e-6;
  EXPECT_LT(error(forward_dynamics(m, s, x, w), right), 1e-13);
  EXPECT_LT(error(forward_dynamics(m, s, x, w, {}, Route::dense), right), 1e-12);
  const VectorXd one = VectorXd::Ones(10);
  EXPECT_LT(error(inverse_dynamics(m, s, one, w), inverse_dynamics(m, good, one)), 1e-13);
  EXPECT_LT((mass_matrix(m, s.q) - mass_matrix(m, good.q)).norm(), 1e-13);
  EXPECT_NE(s.q[ball], good.q[ball]);  // the caller's state is not touched

  s = good;
  s.q.segment(ball, 4) *= 1.0 + 2e-6;
  expect_everywhere(AllOf(HasSubstr("quaternion"), HasSubstr("ball")), false);
  s = good;
  s.q.segment(m.position_index("base.qw"), 4).setZero();
  expect_everywhere(AllOf(HasSubstr("quaternion"), HasSubstr("base")), false);
}

TEST(SingularHinge, GimbalLockNamesTheHinge) {
  const double half_turn = std::acos(-1.0);
  for (int i = 0; i < 20; ++i) {
    Random random(static_cast<unsigned>(60 + i));
    MechanismBuilder builder("wrist");
    builder.add_body("arm", random.body()).add_body("hand", random.body());
    builder.add_hinge("shoulder", kWorld, "arm", random.hinge(HingeType::revolute));
    HingeSettings gimbal = random.hinge(HingeType::gimbal);
    gimbal.axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    builder.add_hinge("wrist", "arm", "hand", gimbal);
    const Mechanism m = builder.finish();
    State s = m.default_state();
    s.q << random.number(), random.number(), 0.5 * half_turn, random.number();
    const VectorXd effort = random_values(random, 4);
    EXPECT_THAT(message_of([&] { forward_dynamics(m, s, effort); }),
                AllOf(HasSubstr("wrist"), HasSubstr("gimbal")));
    HybridInput hybrid{std::vector<std::uint8_t>(4, 0), effort, VectorXd::Zero(4)};
    EXPECT_THAT(message_of([&] { hybrid_dynamics(m, s, hybrid); }), HasSubstr("wrist"));
    EXPECT_THAT(message_of([&] { forward_dynamics(m, s, effort, {}, Route::dense); }),
                HasSubstr("wrist"));
    // Inverse dynamics has no trouble there, nor hybrid dynamics that drives one of the two.
    EXPECT_TRUE(inverse_dynamics(m, s, effort).allFinite());
    hybrid.motion_driven[1] = 1;
    EXPECT_TRUE(hybrid_dynamics(m, s, hybrid).acceleration.allFinite());
    // A little off it, all is well.
    s.q[2] += 1e-3;
    EXPECT_LT(error(inverse_dynamics(m, s, forward_dynamics(m, s, effort)), effort), 1e-7);
  }
}

// Two sliders in a row along the same line by one position of the hinge between them: the inner one
// moves no mass that the outer one does not, but no hinge is without inertia by itself.
TEST(SingularHinge, MasslessBodyBetweenParallelSliders) {
  MechanismBuilder builder("sliders");
  BodySettings nothing;
  builder.add_body("frame", nothing).add_body("mount", nothing).add_body("load", ball());
  builder.add_hinge("first", kWorld, "frame", {.type = HingeType::prismatic, .axes = {{1, 0, 0}}});
  builder.add_hinge("turn", "frame", "mount", {.type = HingeType::revolute});
  builder.add_hinge("second", "mount", "load", {.type = HingeType::prismatic, .axes = {{1, 0, 0}}});
  const Mechanism m = builder.finish({.strict = false});
  State s = m.default_state();
  s.q << 0.0, 0.3, 0.1;
  const VectorXd effort = VectorXd::Ones(3);
  EXPECT_LT(error(inverse_dynamics(m, s, forward_dynamics(m, s, effort)), effort), 1e-12);
  s.q[1] = 0.0;
  EXPECT_THAT(message_of([&] { forward_dynamics(m, s, effort); }),
              AllOf(HasSubstr("first"), HasSubstr("inertia")));
}

// The same in any attitude, where the directions agree only to rounding: what is left of the
// inertia is then a rounding error, positive or not, and must not be divided by.
TEST(SingularHinge, SlidersParallelToRounding) {
  for (int i = 0; i < 50; ++i) {
    Random random(static_cast<unsigned>(400 + i));
    MechanismBuilder builder("sliders");
    BodySettings nothing;
    builder.add_body("frame", nothing).add_body("mount", nothing).add_body("load", ball());
    const Vec3d along = random.vector();
    const Vec3d across = cross(along, random.vector());
    builder.add_hinge("first", kWorld, "frame", {.type = HingeType::prismatic, .axes = {along}});
    builder.add_hinge("turn", "frame", "mount", {.type = HingeType::revolute, .axes = {across}});
    builder.add_hinge("second", "mount", "load", {.type = HingeType::prismatic, .axes = {along}});
    builder.set_gravity({0.0, 0.0, 0.0});
    const Mechanism m = builder.finish({.strict = false});
    const VectorXd effort = VectorXd::Ones(3);
    State s = m.default_state();
    for (const double angle : {0.0, 1e-16, -1e-15, 2e-15}) {
      s.q << 0.0, angle, 0.1;
      EXPECT_THAT(message_of([&] { forward_dynamics(m, s, effort); }),
                  AllOf(HasSubstr("first"), HasSubstr("inertia")))
          << "attitude " << i << ", angle " << angle;
    }
    // A small angle is no mistake: the hinge inertia, angle² of the mass, is then right to rounding
    // of the mass, 2e-16 / angle². The load's acceleration across the second slider is (cos − 1) /
    // (m sin) by the two sliders' efforts, that of the turn follows from its own, and the first
    // slider makes up the difference.
    const double angle = 1e-3, reach = 0.1, mass = ball().mass, inertia = ball().inertia.xx;
    s.q << 0.0, angle, reach;
    const double over = (std::cos(angle) - 1.0) / (mass * std::sin(angle));
    const double turning = (1.0 - mass * reach * over) / inertia;
    const VectorXd a = forward_dynamics(m, s, effort);
    EXPECT_NEAR(a[1] / turning, 1.0, 1e-8) << i;
    EXPECT_NEAR(std::abs(a[0]) * std::sin(angle) / (turning * reach - over), 1.0, 1e-8) << i;
  }
}

TEST(SingularSpring, CoincidingEndsNameTheSpring) {
  MechanismBuilder builder("springs");
  builder.add_body("mass", ball());
  builder.add_hinge("slide", kWorld, "mass", {.type = HingeType::translation});
  SpringDamper spring;
  spring.name = "coil";
  spring.body_a = kWorld;
  spring.body_b = "mass";
  spring.stiffness = 10.0;
  builder.add_spring(spring);
  builder.set_gravity({0.0, 0.0, 0.0});
  const Mechanism gentle = builder.finish();
  // Without rest length and damping there is no force, whatever the direction.
  EXPECT_EQ(forward_dynamics(gentle, gentle.default_state(), VectorXd::Zero(3)), VectorXd::Zero(3));
  builder.description().springs[0].rest_length = 0.5;
  const Mechanism stiff = builder.finish();
  EXPECT_THAT(
      message_of([&] { forward_dynamics(stiff, stiff.default_state(), VectorXd::Zero(3)); }),
      HasSubstr("coil"));
}

}  // namespace
}  // namespace catena::test
