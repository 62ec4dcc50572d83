// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/pack.h"

#include <functional>

#include <gtest/gtest.h>

#include "catena/spatial/testing/test_support.h"

namespace catena::test {
namespace {

constexpr int kLanes = Pack::kLanes;

// Lanes that differ.
Pack ramp(double first, double step) {
  double lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = first + i * step;
  return Pack::load(lanes);
}

TEST(Pack, LoadAndStoreKeepTheOrderOfTheLanes) {
  double in[kLanes + 1], out[kLanes + 1] = {};
  for (int i = 0; i <= kLanes; ++i) in[i] = 10.0 + i;
  Pack::load(in + 1).store(out + 1);  // no alignment asked
  for (int i = 1; i <= kLanes; ++i) {
    EXPECT_EQ(out[i], in[i]);
    EXPECT_EQ(Pack::load(in + 1).lane(i - 1), in[i]);
  }
}

TEST(Pack, ArithmeticIsThatOfEachLane) {
  const Pack a = ramp(1.5, 0.7);
  const Pack b = ramp(-3.1, 1.3);
  Pack sum = a, difference = a, product = a, quotient = a;
  sum += b;
  difference -= b;
  product *= b;
  quotient /= b;
  for (int i = 0; i < kLanes; ++i) {
    const double x = a.lane(i), y = b.lane(i);
    EXPECT_EQ((a + b).lane(i), x + y);
    EXPECT_EQ((a - b).lane(i), x - y);
    EXPECT_EQ((a * b).lane(i), x * y);
    EXPECT_EQ((a / b).lane(i), x / y);
    EXPECT_EQ((-a).lane(i), -x);
    EXPECT_EQ((2.0 * a).lane(i), 2.0 * x);
    EXPECT_EQ(abs(b).lane(i), std::abs(y));
    EXPECT_EQ(sqrt(a).lane(i), std::sqrt(x));
    EXPECT_EQ(sum.lane(i), x + y);
    EXPECT_EQ(difference.lane(i), x - y);
    EXPECT_EQ(product.lane(i), x * y);
    EXPECT_EQ(quotient.lane(i), x / y);
  }
}

TEST(Pack, SelectChoosesLaneByLane) {
  const Pack a = ramp(0.0, 1.0);
  const Pack yes(1.0), no(0.0);
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(select(a < Pack(1.0), yes, no).lane(i), i < 1 ? 1.0 : 0.0);
    EXPECT_EQ(select(a <= Pack(1.0), yes, no).lane(i), i <= 1 ? 1.0 : 0.0);
    EXPECT_EQ(select(a > Pack(0.0), yes, no).lane(i), i > 0 ? 1.0 : 0.0);
    EXPECT_EQ(select(a >= Pack(1.0), yes, no).lane(i), i >= 1 ? 1.0 : 0.0);
  }
  EXPECT_TRUE(any(a > Pack(0.5)));
  EXPECT_FALSE(any(a > Pack(double(kLanes))));
}

// The largest error of f over the range, in units of the last place of max(1, |reference|) if
// absolute, else of the reference.
void expect_accurate(const std::function<Pack(Pack)>& f, const std::function<Real(Real)>& reference,
                     double low, double high, bool absolute) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> numbers(low, high);
  Real worst = 0;
  double worst_at = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    double x[kLanes];
    for (double& lane : x) lane = numbers(generator);
    const Pack y = f(Pack::load(x));
    for (int i = 0; i < kLanes; ++i) {
      const Real expected = reference(Real(x[i]));
      const Real scale = absolute ? std::max(Real(1), std::abs(expected)) : std::abs(expected);
      const Real e = error(y.lane(i), expected) / scale;
      if (e > worst) {
        worst = e;
        worst_at = x[i];
      }
    }
  }
  EXPECT_LE(worst, 8e-16L) << "on [" << low << ", " << high << "], at " << worst_at;
}

TEST(Pack, SineAndCosineAreAccurateAlsoForManyTurns) {
  for (const double range : {1e-8, 1.0, 3.2, 60.0, 1e3, 1e6, 1e9, 1e15}) {
    expect_accurate([](Pack x) { return sin(x); }, [](Real x) { return std::sin(x); }, -range,
                    range, range > 1);
    expect_accurate([](Pack x) { return cos(x); }, [](Real x) { return std::cos(x); }, -range,
                    range, true);
  }
}

TEST(Pack, ExpAndTanhAreAccurateRelatively) {
  for (const double range : {1e-8, 1.0, 20.0, 700.0}) {
    expect_accurate([](Pack x) { return exp(x); }, [](Real x) { return std::exp(x); }, -range,
                    range, false);
    expect_accurate([](Pack x) { return tanh(x); }, [](Real x) { return std::tanh(x); }, -range,
                    range, false);
  }
}

TEST(Pack, Atan2IsAccurateAllRoundTheCircleAndAtTinyAngles) {
  const auto sine = [](Real a) { return double(std::sin(a)); };
  const auto cosine = [](Real a) { return double(std::cos(a)); };
  const auto angle = [&](Pack a) {
    double y[kLanes], x[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      y[i] = sine(a.lane(i));
      x[i] = cosine(a.lane(i));
    }
    return atan2(Pack::load(y), Pack::load(x));
  };
  const auto reference = [&](Real a) { return std::atan2(Real(sine(a)), Real(cosine(a))); };
  expect_accurate(angle, reference, -3.1415926, 3.1415926, false);
  expect_accurate(angle, reference, -1e-9, 1e-9, false);
}

TEST(Pack, Atan2OnTheAxesIsThatOfTheStandardLibrary) {
  for (const double y : {-1.0, 0.0, 1.0})
    for (const double x : {-1.0, 0.0, 1.0})
      EXPECT_EQ(atan2(Pack(y), Pack(x)).lane(kLanes - 1), std::atan2(y, x)) << y << " " << x;
}

TEST(Pack, OneLaneThatIsNotANumberLeavesTheOthersAlone) {
  double x[kLanes];
  for (int i = 0; i < kLanes; ++i) x[i] = 0.5 + i;
  x[0] = std::numeric_limits<double>::quiet_NaN();
  const SinCos<Pack> y = sincos(Pack::load(x));
  EXPECT_TRUE(std::isnan(y.sin.lane(0)));
  for (int i = 1; i < kLanes; ++i) {
    EXPECT_NEAR(y.sin.lane(i), std::sin(x[i]), 4e-16);
    EXPECT_NEAR(y.cos.lane(i), std::cos(x[i]), 4e-16);
  }
}

// Lanes on different sides of every choice of formula: at 0, below and above 1, near π.
TEST(Pack, ExpAndLogServeLanesOfVeryDifferentAngles) {
  std::vector<Real> angles = kAngles;
  angles.insert(angles.end(), kAnglesNearPi.begin(), kAnglesNearPi.end() - 1);
  const std::vector<Vector3R> directions = axes();
  Random random;
  for (std::size_t trial = 0; trial < 400; ++trial) {
    Vector6R g[kLanes];
    Twist<Pack> v;
    double lanes[6][kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const auto pick = [&](std::size_t n) {
        return std::min(n - 1, std::size_t((random.number() + 1) / 2 * double(n)));
      };
      const Vector3R w = rounded(angles[pick(angles.size())] * directions[pick(directions.size())]);
      g[i] << w, random.vector();
      for (int k = 0; k < 6; ++k) lanes[k][i] = double(g[i][k]);
    }
    for (int k = 0; k < 6; ++k) v[k] = Pack::load(lanes[k]);
    const Transform<Pack> x = exp_transform(v);
    const Twist<Pack> back = log(x);
    for (int i = 0; i < kLanes; ++i) {
      const Matrix4R expected = matrix_exponential(twist_matrix(g[i]));
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column)
          EXPECT_LE(error(x.rotation.matrix.m[row][column].lane(i), expected(row, column)), 1e-14L);
        EXPECT_LE(error(x.translation[row].lane(i), expected(row, 3)), 1e-14L);
      }
      for (int k = 0; k < 6; ++k) EXPECT_LE(error(back[k].lane(i), g[i][k]), 1e-14L);
    }
  }
}

TEST(Pack, EveryLaneOfAChainOfSpatialOperationsIsTheChainOnDoubles) {
  Random random;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> in[kLanes];
    std::vector<Pack> packed;
    for (int k = 0; k < 18; ++k) {
      double lanes[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        lanes[i] = (i + 1) * 0.5 * random.number();
        in[i].push_back(lanes[i]);
      }
      packed.push_back(Pack::load(lanes));
    }
    const std::vector<Pack> out = spatial_medley(packed);
    for (int i = 0; i < kLanes; ++i) {
      const std::vector<double> expected = spatial_medley(in[i]);
      double largest = 1;
      for (const double e : expected) largest = std::max(largest, std::abs(e));
      for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(out[k].lane(i), expected[k], 1e-13 * largest) << "output " << k;
    }
  }
}

}  // namespace
}  // namespace catena::test
