// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/mobility.h"

#include <cmath>
#include <map>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/closure/testing/test_support.h"

namespace catena {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

MobilityReport report_of(const Mechanism& m) { return analyse_mobility(m, m.default_state().q); }

TEST(Mobility, OfATreeIsItsFreedoms) {
  MechanismBuilder b("tree");
  b.add_body("a", some_body()).add_body("b", some_body());
  b.add_hinge("free", kWorld, "a", {.type = HingeType::free});
  b.add_hinge("ball", "a", "b", {.type = HingeType::spherical});
  const MobilityReport report = report_of(b.finish());
  EXPECT_EQ(report.mobility, 9);
  EXPECT_THAT(report.loops, IsEmpty());
}

TEST(Mobility, OfAFourBarIsOneAlthoughItsCountIsMinusTwo) {
  const MobilityReport report = report_of(FourBar{}.build());
  EXPECT_EQ(report.mobility, 1);
  ASSERT_EQ(report.loops.size(), 1u);
  EXPECT_EQ(report.loops[0].gruebler, -2);
  EXPECT_EQ(report.loops[0].constraints, 5);
  EXPECT_EQ(report.loops[0].redundant, 3);
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(Mobility, ABallInAPlanarLoopLeavesOneRedundantRow) {
  const MobilityReport report = report_of(FourBar{.closing = HingeType::spherical}.build());
  EXPECT_EQ(report.mobility, 1);
  EXPECT_EQ(report.loops[0].redundant, 1);  // along z
}

TEST(Mobility, AnOpenLoopIsClosedFirst) {
  const MobilityReport report = report_of(FourBar{.guess = {1.0, -0.5, 1.0}}.build());
  EXPECT_EQ(report.mobility, 1);
  EXPECT_LT(report.loops[0].closed_gap, 1e-12);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("not closed"));
  EXPECT_THAT(report.warnings[0], HasSubstr("'C'"));
  // Closed: the coupler's tip and the rocker's coincide.
  const double a = report.q[0], b = report.q[0] + report.q[1], c = report.q[2];
  EXPECT_NEAR(std::cos(a) + 4.8 * std::cos(b), 4.0 + 2.0 * std::cos(c), 1e-11);
  EXPECT_NEAR(std::sin(a) + 4.8 * std::sin(b), 2.0 * std::sin(c), 1e-11);
}

TEST(Mobility, OfALoopThatCannotBeClosedIsNotKnown) {
  const MobilityReport report = report_of(FourBar{.ground = 9.0}.build());
  EXPECT_FALSE(report.mobility.has_value());
  EXPECT_FALSE(report.loops[0].closed);
  ASSERT_EQ(report.warnings.size(), 1u);
  // Stretched out it lacks 9 - (1 + 4.8 + 2) = 1.2 m.
  EXPECT_THAT(report.warnings[0], HasSubstr("open by 1.2 m"));
}

TEST(Mobility, AxesRoundedInTheFileAreTakenAsParallel) {
  const MobilityReport report = report_of(FourBar{.axis = {0.0, 3e-6, 1.0}}.build());
  EXPECT_EQ(report.mobility, 1);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("rounding"));
}

// A linkage in a plane across all axes, as a file gives it that was written with five digits: poses
// of the links, and the joints where they lie on their children.
class RoundedLinkage {
 public:
  explicit RoundedLinkage(const std::string& name) : b_(name) {}

  // From one point of the plane to another.
  void link(const std::string& name, double x, double y, double to_x, double to_y) {
    const Transformd there =
        plane_ * Transformd{Rotationd::about_z(std::atan2(to_y - y, to_x - x)), {x, y, 0.0}};
    poses_[name] = rounded(there);
    b_.add_body(name, some_body());
  }
  void joint(const std::string& name, const std::string& parent, const std::string& child, double x,
             double y, HingeType type = HingeType::revolute, const Vec3d& axis = Vec3d::unit_z()) {
    const Transformd there = plane_ * moved(x, y, 0.0);
    const Transformd on_child = rounded(poses_.at(child).inverse() * there);
    b_.add_hinge(name, parent, child,
                 {.type = type,
                  .axes = {rounded(axis)},
                  .frame_on_parent = poses_[parent].inverse() * poses_.at(child) * on_child,
                  .frame_on_child = on_child});
  }
  Mechanism finish() { return b_.finish(); }

 private:
  static double rounded(double x) { return 1e-5 * std::round(1e5 * x); }
  static Vec3d rounded(const Vec3d& v) { return {rounded(v.x), rounded(v.y), rounded(v.z)}; }
  static Transformd rounded(const Transformd& pose) {
    const auto& r = pose.rotation.matrix;
    return {Rotationd::from_rpy(rounded(std::atan2(r(2, 1), r(2, 2))), rounded(std::asin(-r(2, 0))),
                                rounded(std::atan2(r(1, 0), r(0, 0)))),
            rounded(pose.translation)};
  }

  const Transformd plane_{Rotationd::from_rpy(1.2, 0.3, -0.7), {0.3, -0.2, 0.5}};
  std::map<std::string, Transformd> poses_;
  MechanismBuilder b_;
};

// The bucket of an excavator: a cylinder moves a lever, and a rod takes the bucket along. Exactly
// closed, its rounded axes hold it fast, but it is not shaky: it moves within the digits.
TEST(Mobility, ALoopThatIsRedundantWithinItsDigitsIsNotShaky) {
  RoundedLinkage bucket("bucket");
  const double way = std::hypot(3.0 - 2.1, 0.75 - 1.9);
  const double ex = (3.0 - 2.1) / way, ey = (0.75 - 1.9) / way;
  bucket.link("lever", 2.75, 0.55, 3.0, 0.75);
  bucket.link("bucket", 3.0, 0.2, 3.3, 0.3);
  bucket.link("rod", 3.0, 0.75, 3.3, 0.3);
  bucket.link("tube", 2.1, 1.9, 2.1 + 0.6 * ex, 1.9 + 0.6 * ey);
  bucket.link("piston", 3.0, 0.75, 3.0 - 0.6 * ex, 0.75 - 0.6 * ey);
  bucket.joint("A", kWorld, "lever", 2.75, 0.55);
  bucket.joint("B", kWorld, "bucket", 3.0, 0.2);
  bucket.joint("C", "lever", "rod", 3.0, 0.75);
  bucket.joint("D", "rod", "bucket", 3.3, 0.3);
  bucket.joint("E", kWorld, "tube", 2.1, 1.9);
  bucket.joint("F", "lever", "piston", 3.0, 0.75);
  bucket.joint("G", "tube", "piston", 2.1, 1.9, HingeType::prismatic, {ex, ey, 0.0});
  const MobilityReport report = report_of(bucket.finish());
  EXPECT_EQ(report.mobility, 1);
  EXPECT_FALSE(report.loops[0].shaky);
  EXPECT_EQ(report.loops[0].redundant, 6);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("rounding"));
}

// Four digits are not enough to take axes for parallel; the warning says what more would give.
TEST(Mobility, AxesWithFourDigitsAreNotParallelButSuspicious) {
  // Closed where all coordinates are zero, so that one axis may be off.
  MechanismBuilder b("four_bar");
  for (const char* name : {"crank", "coupler", "rocker"}) b.add_body(name, some_body());
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler",
              {.axes = {{0.0, 1e-4, 1.0}}, .frame_on_parent = moved(0.3, 0.5, 0)});
  b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = moved(1.2, 0, 0)});
  b.add_hinge("C", "coupler", "rocker",
              {.frame_on_parent = moved(1.1, 0.4, 0),
               .frame_on_child = moved(0.2, 0.9, 0),
               .cut = Cut::always});
  const MobilityReport report = report_of(b.finish());
  EXPECT_EQ(report.mobility, 0);
  EXPECT_EQ(report.loops[0].nearly_redundant, 1);
  EXPECT_GT(report.loops[0].off, 1e-5);
  EXPECT_LT(report.loops[0].off, 2e-4);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("nearly redundant"));
  EXPECT_THAT(report.warnings[0], HasSubstr("more digits; the mobility is then 1, not 0"));
  // Another may not even close.
  const MobilityReport open = report_of(FourBar{.axis = {0.0, 1e-4, 1.0}}.build());
  EXPECT_FALSE(open.mobility.has_value());
  ASSERT_EQ(open.warnings.size(), 1u);
  EXPECT_THAT(open.warnings[0], HasSubstr("more digits"));
}

// Two links of length 1 between pins 2 apart: the pin in the middle can start to move, and no
// further.
TEST(Mobility, OfTwoLinksInLineIsInstantaneous) {
  MechanismBuilder b("in_line");
  b.add_body("one", some_body()).add_body("two", some_body());
  b.add_hinge("A", kWorld, "one", {});
  b.add_hinge("B", "one", "two", {.frame_on_parent = moved(1, 0, 0)});
  b.add_hinge(
      "C", kWorld, "two",
      {.frame_on_parent = moved(2, 0, 0), .frame_on_child = moved(1, 0, 0), .cut = Cut::always});
  const MobilityReport report = report_of(b.finish());
  EXPECT_EQ(report.mobility, 0);
  EXPECT_EQ(report.loops[0].instantaneous, 1);
  EXPECT_TRUE(report.loops[0].shaky);
  EXPECT_TRUE(report.loops[0].singular);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("shaky"));
  // A parallelogram stretched flat is singular too, but it moves on.
  const LoopMobility flat =
      report_of(
          FourBar{
              .crank = 1.0, .coupler = 3.0, .rocker = 1.0, .ground = 3.0, .guess = {0.0, 0.0, 0.0}}
              .build())
          .loops[0];
  EXPECT_EQ(flat.mobility, 1);
  EXPECT_EQ(flat.instantaneous, 2);
  EXPECT_TRUE(flat.singular);
  EXPECT_FALSE(flat.shaky);
}

TEST(Mobility, OfADoor) {
  const auto door = [](const Vec3d& second_axis) {
    MechanismBuilder b("door");
    b.add_body("door", some_body());
    b.add_hinge("lower", kWorld, "door", {});
    b.add_hinge("upper", kWorld, "door",
                {.axes = {second_axis},
                 .frame_on_parent = moved(0, 0, 2),
                 .frame_on_child = moved(0, 0, 2)});
    return report_of(b.finish());
  };
  EXPECT_EQ(door({0, 0, 1}).mobility, 1);
  EXPECT_EQ(door({0, 0, 1}).loops[0].redundant, 5);
  EXPECT_EQ(door({0, 1, 0}).mobility, 0);
}

TEST(Mobility, OfTwoPendulumsJoinedByARod) {
  MechanismBuilder b("rod");
  b.add_body("left", some_body()).add_body("right", some_body());
  b.add_hinge("a", kWorld, "left", {.initial_position = {0.3}});
  b.add_hinge("b", kWorld, "right", {.frame_on_parent = moved(2, 0, 0), .initial_position = {0.3}});
  b.add_rod({.name = "rod",
             .body_a = "left",
             .point_a = {0, 1, 0},
             .body_b = "right",
             .point_b = {0, 1, 0},
             .length = 2.0});
  const MobilityReport report = report_of(b.finish());
  EXPECT_EQ(report.mobility, 1);
  EXPECT_EQ(report.loops[0].redundant, 0);
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(Mobility, OfANonlinearCoupling) {
  MechanismBuilder b("cam");
  b.add_body("cam", some_body()).add_body("follower", some_body());
  b.add_hinge("turn", kWorld, "cam", {.initial_position = {0.4}});
  b.add_hinge("lift", kWorld, "follower", {.type = HingeType::prismatic});
  Coupling cam{.name = "cam", .terms = {{"lift", 0, 1.0}, {"turn", 0, 1.0}}};
  cam.function = [](std::span<const double> q, double& value, std::span<double> gradient,
                    std::span<double> hessian) {
    value = q[0] - 0.1 * std::sin(q[1]);
    gradient[0] = 1.0;
    gradient[1] = -0.1 * std::cos(q[1]);
    hessian[0] = hessian[1] = hessian[2] = 0.0;
    hessian[3] = 0.1 * std::sin(q[1]);
  };
  b.add_coupling(cam);
  const MobilityReport report = report_of(b.finish());
  EXPECT_EQ(report.mobility, 1);
  EXPECT_NEAR(report.q[1], 0.1 * std::sin(report.q[0]), 1e-12);
}

// Six legs, each universal - prismatic - ball: the platform has six freedoms and nothing is
// redundant.
TEST(Mobility, OfAStewartPlatform) {
  MechanismBuilder b("stewart");
  b.add_body("platform", some_body());
  for (int leg = 0; leg < 6; ++leg) {
    const std::string n = std::to_string(leg);
    b.add_body("lower_" + n, some_body()).add_body("upper_" + n, some_body());
    const double on_ground = leg * kPi / 3.0 + (leg % 2 == 0 ? 0.2 : -0.2);
    const double on_platform = leg * kPi / 3.0 + (leg % 2 == 0 ? -0.3 : 0.3);
    const Vec3d foot{1.5 * std::cos(on_ground), 1.5 * std::sin(on_ground), 0.0};
    const Vec3d head{std::cos(on_platform), std::sin(on_platform), 0.0};
    b.add_hinge(
        "u_" + n, kWorld, "lower_" + n,
        {.type = HingeType::universal, .frame_on_parent = Transformd::from_translation(foot)});
    b.add_hinge("p_" + n, "lower_" + n, "upper_" + n,
                {.type = HingeType::prismatic, .initial_position = {1.2}});
    b.add_hinge(
        "s_" + n, "upper_" + n, "platform",
        {.type = HingeType::spherical, .frame_on_child = Transformd::from_translation(head)});
  }
  const Mechanism m = b.finish();
  const MobilityReport report = report_of(m);
  EXPECT_EQ(report.mobility, 6);
  ASSERT_EQ(report.loops.size(), 1u);
  EXPECT_EQ(report.loops[0].redundant, 0);
}

// Two free bodies and a hinge between them that closes a loop through the ground: 12 freedoms less
// 6 - f constraints, whatever the hinge.
class EveryHinge : public testing::TestWithParam<HingeType> {};

TEST_P(EveryHinge, AsACutLeavesSixAndItsOwnFreedoms) {
  HingeSettings settings{.type = GetParam(), .pitch = 0.3, .cut = Cut::always};
  if (GetParam() == HingeType::custom)
    settings.custom = make_custom_hinge<2>([](const auto* q) {  // rolls along a parabola
      using Scalar = std::decay_t<decltype(q[0])>;
      Transform<Scalar> x = Transform<Scalar>::identity();
      x.rotation = Rotation<Scalar>::about_z(q[1]);
      x.translation = {q[0], q[0] * q[0], Scalar(0.1) * q[1]};
      return x;
    });
  settings.frame_on_parent = {Rotationd::from_rpy(0.2, -0.4, 0.7), {0.3, 0.1, -0.2}};
  settings.frame_on_child = {Rotationd::from_rpy(-1.0, 0.5, 0.1), {-0.1, 0.4, 0.6}};
  MechanismBuilder b("pair");
  b.add_body("a", some_body()).add_body("b", some_body());
  b.add_hinge("free_a", kWorld, "a", {.type = HingeType::free});
  b.add_hinge(
      "free_b", kWorld, "b",
      {.type = HingeType::free, .initial_position = {0.8, 0.36, 0.48, 0.0, 0.3, -0.2, 0.5}});
  b.add_hinge("cut", "a", "b", settings);
  const Mechanism m = b.finish();
  // A custom hinge keeps its coordinates when it is cut.
  ASSERT_EQ(m.freedoms(), GetParam() == HingeType::custom ? 14 : 12);
  const int own = GetParam() == HingeType::custom ? 2 : freedoms_of(GetParam());
  const MobilityReport report = report_of(m);
  EXPECT_EQ(report.mobility, 6 + own);
  EXPECT_EQ(report.loops[0].redundant, 0);
  EXPECT_LT(report.loops[0].closed_gap, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Types, EveryHinge,
                         testing::Values(HingeType::revolute, HingeType::prismatic,
                                         HingeType::screw, HingeType::cylindrical,
                                         HingeType::universal, HingeType::planar,
                                         HingeType::spherical, HingeType::gimbal,
                                         HingeType::translation, HingeType::custom),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace catena
