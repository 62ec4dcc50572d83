// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/time_table.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/simulation/testing/test_support.h"

namespace catena {
namespace {

using testing::HasSubstr;

TEST(Table, HoldsAndDrawsLines) {
  const std::vector<double> t{1.0, 2.0, 4.0}, y{10.0, 20.0, 0.0};
  const Table hold(t, y, Interpolation::hold), linear(t, y);
  EXPECT_EQ(hold.at(0.0).value, 10.0);
  EXPECT_EQ(hold.at(1.99).value, 10.0);
  EXPECT_EQ(hold.at(2.0).value, 20.0);
  EXPECT_EQ(hold.at(9.0).value, 0.0);
  EXPECT_EQ(linear.at(1.5).value, 15.0);
  EXPECT_EQ(linear.at(3.0).value, 10.0);
  EXPECT_EQ(linear.at(3.0).rate, -10.0);
  EXPECT_EQ(linear.at(5.0).rate, 0.0);
  EXPECT_EQ(linear.next_corner(0.0), 1.0);
  EXPECT_EQ(linear.next_corner(2.0), 4.0);
  EXPECT_EQ(linear.next_corner(4.0), std::numeric_limits<double>::infinity());
}

// A half period of a sine has no curvature at its ends, as the natural spline.
TEST(Table, SplineIsAsAccurateAsItsTheory) {
  std::vector<double> t, y;
  for (int k = 0; k <= 40; ++k) {
    t.push_back(k * std::numbers::pi / 40.0);
    y.push_back(std::sin(t.back()));
  }
  const Table spline(t, y, Interpolation::spline);
  for (double x = 0.01; x < 3.1; x += 0.037) {
    // Errors of the cubic spline of a function with |f''''| <= 1 and step h: 5/384 h⁴, h³/24, 3/8
    // h².
    const double h = std::numbers::pi / 40.0;
    EXPECT_NEAR(spline.at(x).value, std::sin(x), 5.0 / 384.0 * std::pow(h, 4));
    EXPECT_NEAR(spline.at(x).rate, std::cos(x), std::pow(h, 3) / 24.0);
    EXPECT_NEAR(spline.at(x).acceleration, -std::sin(x), 0.375 * h * h);
  }
}

// Also at its ends, where curvatures that were zero would be wrong by all of the curvature.
TEST(Table, SplineIsAccurateAtItsEnds) {
  const auto error = [](int rows) {
    std::vector<double> t, y;
    for (int i = 0; i <= rows; ++i) {
      t.push_back(2.0 * i / rows);
      y.push_back(std::sin(3.0 * t.back() + 0.4));
    }
    const Table table(t, y, Interpolation::spline);
    double most = 0.0;
    for (const double at : {0.0, 2.0 - 1e-9})
      most = std::max(most, std::abs(table.at(at).acceleration + 9.0 * std::sin(3.0 * at + 0.4)));
    return most;
  };
  EXPECT_LT(error(200), 5e-3);
  EXPECT_GT(std::log2(error(100) / error(200)), 1.7);
  // A parabola is met by three rows already.
  const Table parabola({0.0, 1.0, 3.0}, {0.0, 1.0, 9.0}, Interpolation::spline);
  EXPECT_NEAR(parabola.at(2.0).value, 4.0, 1e-14);
  EXPECT_NEAR(parabola.at(0.5).rate, 1.0, 1e-14);
}

TEST(Table, SplineIsSmoothToTheSecondDerivative) {
  const Table spline({0.0, 0.3, 1.0, 1.2}, {1.0, -2.0, 0.5, 3.0}, Interpolation::spline);
  for (const double knot : {0.3, 1.0}) {
    const Jet left = spline.at(knot - 1e-10), right = spline.at(knot);
    EXPECT_NEAR(left.value, right.value, 1e-8);
    EXPECT_NEAR(left.rate, right.rate, 1e-7);
    EXPECT_NEAR(left.acceleration, right.acceleration, 1e-6);
  }
  EXPECT_NEAR(spline.at(0.3).value, -2.0, 1e-15);
}

// The gain of the smoothing spline is 1 / (1 + (f / cutoff)⁴).
TEST(Table, SmoothingIsAFilterOfKnownGain) {
  const double cutoff = 5.0;
  for (const double f : {1.0, 5.0, 10.0}) {
    std::vector<double> t, y;
    for (int k = 0; k <= 4000; ++k) {
      t.push_back(0.001 * k);
      y.push_back(std::sin(2.0 * std::numbers::pi * f * t.back()));
    }
    const Table smooth(t, y, Interpolation::spline, cutoff);
    double gain = 0.0;  // by the correlation over whole periods far from the ends
    for (int k = 1000; k < 3000; ++k) {
      const std::size_t i = to_size(k);
      gain += smooth.at(t[i]).value * y[i] / 1000.0;
    }
    EXPECT_NEAR(gain, 1.0 / (1.0 + std::pow(f / cutoff, 4)), 2e-3) << f << " Hz";
  }
}

TEST(Table, ReadsAColumnOfAFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("motor.csv", "time,torque,speed\n0,1,5\n1,3,6\n");
  EXPECT_EQ(read_table(path, "", Interpolation::linear, 0.0).at(0.5).value, 2.0);
  EXPECT_EQ(read_table(path, "speed", Interpolation::linear, 0.0).at(0.5).value, 5.5);
  const auto problem = [&](const std::string& file, const std::string& column) -> std::string {
    try {
      read_table(file, column, Interpolation::linear, 0.0);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_THAT(problem(path, "torqe"), HasSubstr("did you mean 'torque'?"));
  EXPECT_THAT(problem(folder.write("one.csv", "time\n0\n"), ""), HasSubstr("needs a column"));
  EXPECT_THAT(problem(folder.write("back.csv", "time,x\n0,1\n0,2\n"), ""),
              HasSubstr("must increase"));
}

TEST(Table, RefusesNonsense) {
  EXPECT_THROW(Table({}, {}), Error);
  EXPECT_THROW(Table({0.0, 1.0}, {1.0}), Error);
  EXPECT_THROW(Table({0.0}, {1.0}, Interpolation::linear, 5.0), Error);
  EXPECT_THROW(Table({0.0}, {1.0}, Interpolation::spline, -5.0), Error);
}

}  // namespace
}  // namespace catena
