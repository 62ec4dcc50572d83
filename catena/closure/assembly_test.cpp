// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/assembly.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/closure/chart.h"
#include "catena/closure/testing/test_support.h"
#include "catena/model/configuration.h"
#include "catena/model/with_coordinates.h"

namespace catena {
namespace {

using testing::HasSubstr;

Eigen::Vector3d q_of(double a, double b, double c) { return {a, b, c}; }

AssemblySettings driver_fixed() { return {.fixed = {1, 0, 0}}; }

// Numbers of the reference solutions for [Jain 2009], case V15 (four-bar, relative coordinates).
TEST(Assembly, KeepsTheBranchOfTheGuess) {
  const Mechanism m = FourBar{}.build();
  const Eigen::VectorXd open = assemble(m, q_of(kPi / 3.0, 0.0, kPi / 4.0), driver_fixed());
  EXPECT_NEAR(open[0], kPi / 3.0, 0.0);
  EXPECT_NEAR(open[1], -0.9017306763859, 1e-12);
  EXPECT_NEAR(open[2], 0.8961104962995, 1e-12);
  const Eigen::VectorXd crossed = assemble(m, q_of(kPi / 3.0, -2.5, -1.0), driver_fixed());
  EXPECT_NEAR(crossed[1], -1.6777921741983, 1e-12);
  EXPECT_NEAR(crossed[2], -1.3812382444905, 1e-12);
}

TEST(Assembly, TheClosestPositionIsClosest) {
  const Mechanism m = FourBar{}.build();
  const Eigen::VectorXd guess = q_of(1.0, -0.5, 1.0);
  const Eigen::VectorXd q = assemble(m, guess, {.closest = true});
  EXPECT_NEAR(q[0], 0.8773871401828, 1e-12);
  EXPECT_NEAR(q[1], -0.7381150587072, 1e-12);
  EXPECT_NEAR(q[2], 0.8005069676082, 1e-12);
  EXPECT_NEAR((q - guess).norm(), 0.3339613219350, 1e-12);
}

// Against all closed positions, from the crank's angle by the law of cosines.
TEST(Assembly, TheClosestPositionIsClosestFromAnywhere) {
  const FourBar bar{.crank = 0.3, .coupler = 1.0, .rocker = 0.8, .ground = 1.0};
  const Mechanism m = bar.build();
  const auto nearest = [](double angle, double to) {
    constexpr double kTurn = 2.0 * std::numbers::pi;
    return angle + kTurn * std::round((to - angle) / kTurn);
  };
  for (int k = 0; k < 30; ++k) {
    const Eigen::VectorXd guess = 3.0 * random_vector(3, static_cast<std::uint64_t>(100 + k));
    double least = kInfinity;
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double a = 2.0 * std::numbers::pi * i / kSteps;
      const double bx = bar.crank * std::cos(a), by = bar.crank * std::sin(a);
      const double dx = bx - bar.ground, reach = std::hypot(dx, by);
      const double cosine = (bar.rocker * bar.rocker + reach * reach - bar.coupler * bar.coupler) /
                            (2.0 * bar.rocker * reach);
      if (std::abs(cosine) > 1.0) continue;
      for (const double side : {-1.0, 1.0}) {
        const double d = std::atan2(by, dx) + side * std::acos(cosine);
        const double cx = bar.ground + bar.rocker * std::cos(d), cy = bar.rocker * std::sin(d);
        const double b = std::atan2(cy - by, cx - bx) - a;
        least = std::min(
            least, std::hypot(nearest(a, guess[0]) - guess[0], nearest(b, guess[1]) - guess[1],
                              nearest(d, guess[2]) - guess[2]));
      }
    }
    const Eigen::VectorXd q = assemble(m, guess, {.closest = true});
    EXPECT_LT((q - guess).norm(), least + 1e-6) << guess.transpose();
  }
}

// In a file with few digits the rows that count are closed to the last digit, wherever the loop is.
TEST(Assembly, RoundedAxes) {
  const Mechanism m = FourBar{.axis = {2e-6, 3e-6, 1.0}}.build();
  const LoopClosure loop(m, 0);
  for (const double crank : {0.3, 1.2, 2.5}) {
    const State s =
        assemble(m, State{q_of(crank, -0.5, 1.0), q_of(1.0, 0.0, 0.0)}, {.fixed = {1, 0, 0}});
    const Eigen::VectorXd gap = loop.residual(s.q);
    EXPECT_GT(gap.norm(), 1e-8);
    EXPECT_LT(gap.norm(), kClosed);
    const Eigen::VectorXd rate = loop.velocity_rows(s.q) * s.v;
    const Chart chart = choose_chart(m, s.q);
    for (const ChartRow& row : chart.loops[0].rows)
      for (int r = 0; r < loop.rows(); ++r)
        if (loop.row(r).row == row.row) {
          EXPECT_LT(std::abs(gap[r]), 1e-13);
          EXPECT_LT(std::abs(rate[r]), 1e-13);
        }
  }
}

TEST(Assembly, AnImpossibleLoopNamesTheJointAndTheGap) {
  const Mechanism m = FourBar{.ground = 9.0}.build();
  const Assembly a = find_assembly(m, q_of(0.3, -0.2, 2.8));
  EXPECT_FALSE(a.closed);
  // The smallest gap is 1.2 m, at (0, 0, pi); the residual is divided by the
  // loop's length, that of the coupler.
  EXPECT_NEAR(a.loops[0].gap * 4.8, 1.2, 1e-6);
  try {
    assemble(m, q_of(0.3, -0.2, 2.8));
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("'crank', 'coupler' and 'rocker'"));
    EXPECT_THAT(e.what(), HasSubstr("hinge 'C' is open by 1.2 m"));
  }
}

TEST(Assembly, LimitsAreKept) {
  MechanismBuilder b = FourBar{}.builder();
  Description d = b.description();
  d.hinges[2].freedoms = {{.lower = -2.0, .upper = -0.5}};  // the rocker, below the ground line
  const Mechanism m = MechanismBuilder(d).finish();
  const Eigen::VectorXd q = assemble(m, q_of(kPi / 3.0, -0.9, -0.6));
  EXPECT_LE(q[2], -0.5);
  EXPECT_GE(q[2], -2.0);
  EXPECT_LT(closure_gap(m, q), 1e-12);
}

// A guess outside the limits is no reason to end there.
TEST(Assembly, LimitsAreKeptFromAGuessOutside) {
  Description d = FourBar{}.builder().description();
  d.hinges[2].freedoms = {{.lower = -2.0, .upper = -0.5}};
  const Mechanism m = MechanismBuilder(d).finish();
  for (const double rocker : {0.4, 1.2, 2.5, -3.0}) {
    const Eigen::VectorXd q = assemble(m, q_of(kPi / 3.0, -0.9, rocker));
    EXPECT_LE(q[2], -0.5) << rocker;
    EXPECT_GE(q[2], -2.0) << rocker;
    EXPECT_LT(closure_gap(m, q), 1e-12);
  }
  // What is fixed stays, and so does what is given closed.
  const Mechanism free = FourBar{}.build();
  const Eigen::VectorXd closed = assemble(free, free.default_state().q);
  ASSERT_GT(closed[2], -0.5);
  EXPECT_LT((assemble(m, closed) - closed).norm(), 1e-12);
  EXPECT_EQ(outside_limits(m, closed).size(), 1u);
  EXPECT_EQ(assemble(m, q_of(kPi / 3.0, -0.9, 1.0), {.fixed = {0, 0, 1}})[2], 1.0);
}

// No position is closed within the limits: never one outside, from any start.
TEST(Assembly, LimitsThatForbidClosingAreAnError) {
  Description d = FourBar{}.builder().description();
  const Mechanism free = MechanismBuilder(d).finish();
  // What the coupler and the rocker can include: the crank folded and stretched.
  double least = kPi;
  for (int i = 0; i < 360; ++i) {
    const Eigen::VectorXd q =
        assemble(free, q_of(i * kPi / 180.0, -0.9, 0.9), {.fixed = {1, 0, 0}});
    least = std::min(least, std::abs(std::remainder(q[2] - q[0] - q[1], 2.0 * kPi)));
  }
  ASSERT_GT(least, 0.3);
  d.hinges[3].freedoms = {{.lower = -0.5 * least, .upper = 0.5 * least}};
  const Mechanism m = MechanismBuilder(d).finish();
  EXPECT_THROW(assemble(m, m.default_state().q), NumericalError);
  const int cut = m.position_index("C");
  for (const double start : {-2.0, -1.0, 1.0, 2.0}) {
    Eigen::VectorXd guess = m.default_state().q;
    guess[0] += 0.3;
    guess[cut] = start;
    try {
      assemble(m, guess);
      ADD_FAILURE() << start;
    } catch (const NumericalError& e) {
      EXPECT_THAT(e.what(), HasSubstr("It closes if joint limits are ignored, with 'C' at "));
    }
  }
}

// A slider-crank, crank 0.1 and rod 0.3, cut at its slider, which might turn as well. Only how far
// it is out is given: crank and rod follow by the law of cosines, and the turn is free.
TEST(Assembly, OneGivenCoordinateOfACutHingeIsKept) {
  MechanismBuilder b("slider_crank");
  const BodySettings rod{.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)};
  const Vec3d y = Vec3d::unit_y();
  for (const char* name : {"crank", "rod", "slider"}) b.add_body(name, rod);
  b.add_hinge("crank", kWorld, "crank", {.axes = {y}});
  b.add_hinge("rod", "crank", "rod",
              {.axes = {y}, .frame_on_parent = Transformd::from_translation({0.1, 0.0, 0.0})});
  b.add_hinge("pin", "rod", "slider",
              {.axes = {y}, .frame_on_parent = Transformd::from_translation({0.3, 0.0, 0.0})});
  b.add_hinge("slide", kWorld, "slider",
              {.type = HingeType::cylindrical, .axes = {Vec3d::unit_x()}, .cut = Cut::always});
  const Mechanism m = with_coordinates(b.finish(), std::vector<std::string>{"slide"});
  const HingePlace& slide = m.hinges()[index(m.hinge_index("slide"))];
  State guess = m.default_state();
  guess.q[m.position_index("crank")] = 1.0;
  guess.q[m.position_index("rod")] = -1.4;
  guess.q[m.position_index("pin")] = 0.3;
  guess.q[slide.q_index + 1] = 0.36;
  GivenFreedoms given;
  given.position.assign(to_size(m.freedoms()), 0);
  given.position[index(slide.v_index + 1)] = 1;
  given.velocity = std::vector<std::uint8_t>(given.position.size(), 0);
  const State found = assemble_near(m, guess, given);
  EXPECT_EQ(found.q[slide.q_index + 1], 0.36);
  const double angle = std::acos((0.36 * 0.36 + 0.1 * 0.1 - 0.3 * 0.3) / (2.0 * 0.36 * 0.1));
  EXPECT_NEAR(found.q[m.position_index("crank")], angle, 1e-9);
  EXPECT_NEAR(found.q[slide.q_index], 0.0, 1e-9);
  // Nothing given at all: any closed position will do.
  EXPECT_LT(closure_gap(m, assemble_near(m, guess, {}).q), 1e-9);
}

// Crank and rod of a slider-crank are equally long: with the crank across the slide the slider is
// at the axle, where it might also stay while both turn. Slightly beside it, it may not.
TEST(Assembly, VelocitiesNextToASingularPositionAreThoseOfItsOwnBranch) {
  for (const double aside : {1e-3, 1e-6, 1e-8, 1e-9}) {
    const double angle = 0.5 * kPi - aside;
    MechanismBuilder b("slider_crank");
    for (const char* name : {"crank", "rod", "slider"}) b.add_body(name, some_body());
    b.add_hinge("A", kWorld, "crank", {.initial_position = {angle}});
    b.add_hinge("B", "crank", "rod",
                {.frame_on_parent = moved(1, 0, 0), .initial_position = {-2.0 * angle}});
    b.add_hinge("D", kWorld, "slider",
                {.type = HingeType::prismatic,
                 .axes = {Vec3d::unit_x()},
                 .initial_position = {2.0 * std::sin(aside)}});
    b.add_hinge("C", "rod", "slider", {.frame_on_parent = moved(1, 0, 0), .cut = Cut::always});
    const Mechanism m = b.finish();
    std::vector<std::uint8_t> fixed(3, 0);
    fixed[index(m.velocity_index("A"))] = 1;
    Eigen::VectorXd v = Eigen::VectorXd::Zero(3);
    v[m.velocity_index("A")] = 3.0;
    v = consistent_velocity(m, m.default_state().q, v, fixed);
    EXPECT_EQ(v[m.velocity_index("A")], 3.0);
    EXPECT_NEAR(v[m.velocity_index("B")], -6.0, 1e-5) << aside;
    EXPECT_NEAR(v[m.velocity_index("D")], -6.0, 1e-5) << aside;
  }
}

TEST(Assembly, VelocitiesAreProjected) {
  const Mechanism m = FourBar{}.build();
  const Eigen::VectorXd q = assemble(m, q_of(kPi / 3.0, -0.9, 0.9), driver_fixed());
  const Eigen::VectorXd free = consistent_velocity(m, q, q_of(1.0, 0.5, -0.2));
  EXPECT_NEAR(free[0], 0.1820747046065, 1e-12);
  EXPECT_NEAR(free[1], -0.1737046566044, 1e-12);
  EXPECT_NEAR(free[2], 0.1046896932449, 1e-12);
  const Eigen::VectorXd driven = consistent_velocity(m, q, q_of(2.0, 0.0, 0.0), {1, 0, 0});
  EXPECT_NEAR(driven[0], 2.0, 0.0);
  EXPECT_NEAR(driven[1], 2.0 * -0.9540295944999, 1e-12);
  EXPECT_NEAR(driven[2], 2.0 * 0.574982084805, 1e-12);
  EXPECT_THROW(consistent_velocity(m, q, q_of(1.0, 1.0, 1.0), {1, 1, 0}), NumericalError);
}

}  // namespace
}  // namespace catena
