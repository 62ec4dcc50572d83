// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/chart.h"

#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/closure/testing/test_support.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Eigen::VectorXd four_bar_at(const Mechanism& m, double driver) {
  return assemble(m, Eigen::Vector3d(driver, 0.3 - driver, 1.0), {.fixed = {1, 0, 0}});
}

TEST(Chart, TheRockerIsNotIndependentAtItsLimit) {
  const Mechanism m = FourBar{}.build();
  // The rocker turns back where the driver is at 3.657720141606 rad (constraint-embedding case V4).
  const Eigen::VectorXd q = four_bar_at(m, 3.657720141606);
  const Chart chart = choose_chart(m, q);
  ASSERT_EQ(chart.loops.size(), 1u);
  EXPECT_EQ(chart.loops[0].rank, 2);
  EXPECT_EQ(chart.loops[0].redundant, 3);
  ASSERT_EQ(chart.loops[0].independent.size(), 1u);
  EXPECT_NE(chart.loops[0].independent[0], 2);
  EXPECT_GT(chart.loops[0].quality, 0.1);
  try {
    choose_chart(m, q, {.pinned = {0, 0, 1}});
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'D'"));
    EXPECT_THAT(e.what(), HasSubstr("dead centre"));
  }
}

TEST(Chart, PinnedFreedomsAreIndependent) {
  const Mechanism m = FourBar{}.build();
  const Eigen::VectorXd q = four_bar_at(m, 1.0);
  for (int k = 0; k < 3; ++k) {
    std::vector<std::uint8_t> pinned(3, 0);
    pinned[index(k)] = 1;
    EXPECT_THAT(choose_chart(m, q, {.pinned = pinned}).independent(3), ElementsAre(k));
  }
  try {
    choose_chart(m, q, {.pinned = {1, 1, 0}});
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("the loop has only 1"));
  }
}

TEST(Chart, QualityFallsTowardsADeadCentre) {
  const Mechanism m = FourBar{}.build();
  const Chart rocker = choose_chart(m, four_bar_at(m, 1.0), {.pinned = {0, 0, 1}});
  EXPECT_GT(chart_quality(m, rocker, four_bar_at(m, 1.0)), kPoorChart);
  EXPECT_LT(chart_quality(m, rocker, four_bar_at(m, 3.65)), 0.05);
}

// A parallelogram stretched flat: its equations have rank 1 there and 2 elsewhere.
TEST(Chart, ASingularPositionIsNamed) {
  const Mechanism m = FourBar{.crank = 1.0, .coupler = 3.0, .rocker = 1.0, .ground = 3.0}.build();
  try {
    choose_chart(m, Eigen::Vector3d::Zero());
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("singular"));
    EXPECT_THAT(e.what(), HasSubstr("'crank', 'coupler' and 'rocker'"));
  }
}

// A hinge between the ground and what is welded to it: nothing to close and nothing that moves.
TEST(Chart, OfAClosureWithoutFreedoms) {
  MechanismBuilder b("table");
  b.add_body("base", some_body()).add_body("arm", some_body());
  b.add_hinge("feet", kWorld, "base", {.type = HingeType::weld});
  b.add_hinge("turn", "base", "arm", {});
  b.add_hinge("ball", kWorld, "base", {.type = HingeType::spherical, .cut = Cut::always});
  const Mechanism m = b.finish();
  const Chart chart = choose_chart(m, m.default_state().q);
  EXPECT_THAT(chart.independent(1), ElementsAre(0));
}

// Bodies that are welded together and jointed once more: a loop without a freedom.
TEST(Chart, OfWeldedBodiesIsEmpty) {
  MechanismBuilder b("welded");
  b.add_body("one", some_body()).add_body("other", some_body());
  b.add_hinge("pin", kWorld, "one", {});
  b.add_hinge("weld", "one", "other", {.type = HingeType::weld});
  b.add_hinge("again", "one", "other", {.type = HingeType::translation, .cut = Cut::always});
  const Mechanism m = b.finish();
  const Chart chart = choose_chart(m, Eigen::VectorXd::Zero(1));
  for (const LoopChart& loop : chart.loops) {
    EXPECT_EQ(loop.rank, 0);
    EXPECT_TRUE(loop.dependent.empty());
  }
}

TEST(Chart, OfAGearIsConstant) {
  MechanismBuilder b("gear");
  b.add_body("link", some_body()).add_body("rotor", some_body());
  b.add_hinge("link", kWorld, "link", {});
  b.add_hinge("rotor", kWorld, "rotor", {});
  b.add_coupling({.name = "gear", .terms = {{"rotor", 0, 1.0}, {"link", 0, -50.0}}});
  const Mechanism m = b.finish();
  const Chart chart = choose_chart(m, Eigen::Vector2d::Zero(), {.pinned = {1, 0}});
  ASSERT_EQ(chart.loops[0].map.size(), 1u);
  EXPECT_NEAR(chart.loops[0].map[0], 50.0, 1e-13);
}

}  // namespace
}  // namespace catena
