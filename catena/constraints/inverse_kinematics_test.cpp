// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/inverse_kinematics.h"

#include <numbers>

#include <gtest/gtest.h>

#include "catena/closure/assembly.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

constexpr double kPi = std::numbers::pi;

BodySettings some_body() { return {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)}; }
Transformd shift(double x, double y, double z) { return Transformd::from_translation({x, y, z}); }

Mechanism two_links(double lower = -kInfinity) {
  MechanismBuilder b("arm");
  b.add_body("upper", some_body()).add_body("fore", some_body());
  b.add_hinge("shoulder", kWorld, "upper", {});
  b.add_hinge("elbow", "upper", "fore",
              {.frame_on_parent = shift(1, 0, 0), .freedoms = {{.lower = lower}}});
  return b.finish();
}

// Closed form: cos(elbow) = (d² − 2) / 2 for two links of length one.
TEST(InverseKinematics, OfTwoLinksKeepsTheElbowOfTheGuess) {
  const Mechanism m = two_links();
  const Vec3d target{1.1, 0.6, 0.0};
  const double elbow = std::acos((1.1 * 1.1 + 0.6 * 0.6 - 2.0) / 2.0);
  for (const double sign : {1.0, -1.0}) {
    const InverseKinematics r = inverse_kinematics(m, Eigen::Vector2d(0.1, 0.5 * sign),
                                                   {.points = {{1, {1, 0, 0}, target}}});
    EXPECT_TRUE(r.reached);
    EXPECT_NEAR(r.q[1], sign * elbow, 1e-9);
    EXPECT_NEAR(r.q[0], std::atan2(0.6, 1.1) - 0.5 * sign * elbow, 1e-9);
  }
}

TEST(InverseKinematics, LimitsSendItToTheOtherElbow) {
  const Mechanism m = two_links(0.0);
  for (const double guess : {0.1, -0.5, -2.0}) {  // from outside too
    const InverseKinematics r = inverse_kinematics(m, Eigen::Vector2d(0.1, guess),
                                                   {.points = {{1, {1, 0, 0}, {1.1, 0.6, 0.0}}}});
    EXPECT_TRUE(r.reached) << guess;
    EXPECT_GT(r.q[1], 0.0) << guess;
  }
}

TEST(InverseKinematics, OutOfReachPointsAtTheGoal) {
  const Mechanism m = two_links();
  const InverseKinematics r = inverse_kinematics(m, Eigen::Vector2d(0.3, 0.4),
                                                 {.points = {{1, {1, 0, 0}, {3.0, 4.0, 0.0}}}});
  EXPECT_FALSE(r.reached);
  EXPECT_NEAR(r.distance, 3.0, 1e-6);
}

TEST(InverseKinematics, AFrameOfASixAxisArm) {
  MechanismBuilder b("six");
  const Vec3d axes[] = {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  std::string parent = kWorld;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "l" + std::to_string(i);
    b.add_body(name, some_body());
    b.add_hinge("j" + std::to_string(i), parent, name,
                {.axes = {axes[i]}, .frame_on_parent = shift(i == 0 ? 0 : 0.3, 0, 0.1)});
    parent = name;
  }
  const Mechanism m = b.finish();
  Eigen::VectorXd q(6);
  q << 0.3, -0.7, 1.1, 0.4, 0.8, -0.2;
  const Transformd tool = shift(0.1, 0.02, 0.0);
  const Transformd target = body_pose(m, q, 5) * tool;
  const InverseKinematics r =
      inverse_kinematics(m, Eigen::VectorXd::Constant(6, 0.2), {.frames = {{5, tool, target}}});
  ASSERT_TRUE(r.reached);
  const Transformd reached = body_pose(m, r.q, 5) * tool;
  EXPECT_LT(norm(reached.translation - target.translation), 1e-9);
  EXPECT_LT(norm(log(reached.rotation * target.rotation.inverse())), 1e-9);
}

// The coupler point of a closed four-bar: one freedom, so only points of its curve are reached.
TEST(InverseKinematics, OfAClosedFourBar) {
  MechanismBuilder b("four_bar");
  for (const char* name : {"crank", "coupler", "rocker"}) b.add_body(name, some_body());
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler", {.frame_on_parent = shift(1, 0, 0)});
  b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = shift(4, 0, 0)});
  b.add_hinge(
      "C", "coupler", "rocker",
      {.frame_on_parent = shift(4.8, 0, 0), .frame_on_child = shift(2, 0, 0), .cut = Cut::always});
  const Mechanism m = b.finish();
  const Eigen::VectorXd there =
      assemble(m, Eigen::Vector3d(kPi / 3.0, -0.9, 0.9), {.fixed = {1, 0, 0}});
  const Vec3d point{2.0, 0.7, 0.0};
  const Vec3d target = point_position(m, there, 1, point);
  const Eigen::VectorXd start =
      assemble(m, Eigen::Vector3d(kPi / 2.0, -1.4, 1.2), {.fixed = {1, 0, 0}});
  const InverseKinematics r = inverse_kinematics(m, start, {.points = {{1, point, target}}});
  EXPECT_TRUE(r.reached);
  EXPECT_NEAR(r.q[0], kPi / 3.0, 1e-8);
  EXPECT_LT(r.closure_residual, 1e-12);
  // Off the curve: the loop stays closed, and no position along it is nearer.
  const Vec3d off = target + Vec3d{0.05, -0.1, 0.0};
  const InverseKinematics near = inverse_kinematics(m, start, {.points = {{1, point, off}}});
  EXPECT_FALSE(near.reached);
  EXPECT_LT(near.closure_residual, 1e-12);
  for (const double step : {-0.02, 0.02}) {
    Eigen::VectorXd q = near.q;
    q[0] += step;
    const Eigen::VectorXd beside = assemble(m, q, {.fixed = {1, 0, 0}});
    EXPECT_GT(norm(point_position(m, beside, 1, point) - off), near.distance);
  }
}

}  // namespace
}  // namespace catena
