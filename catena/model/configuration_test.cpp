// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/configuration.h"

#include "catena/base/index.h"
#include "catena/model/testing/test_support.h"

namespace catena {
namespace {

using namespace test;

// One body on each type of hinge, in a star.
Mechanism star() {
  Random random(21);
  MechanismBuilder b;
  for (const HingeType type : kMovingTypes) {
    const std::string name(to_string(type));
    b.add_body(name, random.body()).add_hinge("on_" + name, kWorld, name, random.hinge(type));
  }
  return b.finish();
}

const HingePlace& hinge_of(const Mechanism& m, const std::string& type) {
  return m.hinges()[index(m.hinge_index("on_" + type))];
}

// exp of a 4 x 4 matrix by its series, after scaling.
Matrix4d exponential(Matrix4d a) {
  int squarings = 0;
  for (; a.norm() > 0.1; a /= 2.0) ++squarings;
  Matrix4d sum = Matrix4d::Identity(), term = sum;
  for (int k = 1; k < 15; ++k) {
    term = (term * a / k).eval();
    sum += term;
  }
  for (; squarings > 0; --squarings) sum = (sum * sum).eval();
  return sum;
}

TEST(Configuration, IntegrateAndDifferenceAreInverse) {
  const Mechanism m = star();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const VectorXd a = random_position(m, seed), b = random_position(m, seed + 1000);
    const VectorXd v = difference(m, a, b);
    const VectorXd back = integrate(m, a, v);
    EXPECT_LT(difference(m, back, b).norm(), 1e-12);
    const VectorXd w = random_vector(m.freedoms(), seed);  // angles below π
    EXPECT_LT((difference(m, a, integrate(m, a, w)) - w).norm(), 1e-12);
  }
}

TEST(Configuration, IntegrateIsTheExponentialOnTheGroup) {
  const Mechanism m = star();
  const VectorXd q = random_position(m, 3);
  for (const double scale : {0.0, 1e-9, 0.5, 3.0, 20.0}) {
    const VectorXd v = scale * random_vector(m.freedoms(), 4);
    const VectorXd next = integrate(m, q, v);
    const HingePlace& free = hinge_of(m, "free");
    const VectorXd g = v.segment(free.v_index, 6);
    Matrix4d twist = Matrix4d::Zero();
    twist.topLeftCorner<3, 3>() = cross_matrix(g.head<3>());
    twist.topRightCorner<3, 1>() = g.tail<3>();
    HingeSettings settings;
    settings.type = HingeType::free;
    const Matrix4d expected = displacement(settings, q.data() + free.q_index) * exponential(twist);
    EXPECT_LT((displacement(settings, next.data() + free.q_index) - expected).norm(), 1e-12);

    const HingePlace& ball_joint = hinge_of(m, "spherical");
    settings.type = HingeType::spherical;
    Matrix4d spin = Matrix4d::Zero();
    spin.topLeftCorner<3, 3>() = cross_matrix(v.segment<3>(ball_joint.v_index));
    EXPECT_LT((displacement(settings, next.data() + ball_joint.q_index) -
               displacement(settings, q.data() + ball_joint.q_index) * exponential(spin))
                  .norm(),
              1e-12);
    const HingePlace& planar = hinge_of(m, "planar");
    EXPECT_EQ(next.segment<3>(planar.q_index),
              q.segment<3>(planar.q_index) + v.segment<3>(planar.v_index));
    EXPECT_NEAR(next.segment<4>(free.q_index).norm(), 1.0, 1e-15);
  }
}

TEST(Configuration, DifferenceTakesTheShortWayRound) {
  const Mechanism m = star();
  const HingePlace& place = hinge_of(m, "spherical");
  VectorXd a = zero_position(m), b = a;
  // 350° about z is −10°; q and −q are the same rotation.
  const double half = 350.0 * std::numbers::pi / 360.0;
  b.segment<4>(place.q_index) << std::cos(half), 0.0, 0.0, std::sin(half);
  EXPECT_NEAR(difference(m, a, b)[place.v_index + 2], -10.0 * std::numbers::pi / 180.0, 1e-14);
  b.segment<4>(place.q_index) *= -1.0;
  EXPECT_NEAR(difference(m, a, b)[place.v_index + 2], -10.0 * std::numbers::pi / 180.0, 1e-14);
}

TEST(Configuration, PositionRateIsTheDerivativeOfIntegrate) {
  const Mechanism m = star();
  constexpr double kStep = 1e-5;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const VectorXd q = random_position(m, seed);
    const VectorXd v = random_vector(m.freedoms(), seed + 7);
    const VectorXd rate =
        (integrate(m, q, kStep * v) - integrate(m, q, -kStep * v)) / (2.0 * kStep);
    EXPECT_LT((rate - position_rate(m, q, v)).norm(), 1e-9);
  }
}

TEST(Configuration, NormalizeQuaternionsReportsTheWorstAndNamesTheHopeless) {
  const Mechanism m = star();
  const HingePlace& place = hinge_of(m, "free");
  VectorXd q = random_position(m, 1);
  EXPECT_LT(normalize_quaternions(m, q), 1e-15);
  const VectorXd before = q;
  q.segment<4>(place.q_index) *= 1.25;
  EXPECT_NEAR(normalize_quaternions(m, q), 0.25, 1e-14);
  EXPECT_LT((q - before).norm(), 1e-15);
  for (const double bad : {0.0, std::nan("")}) {
    q.segment<4>(place.q_index).setConstant(bad);
    try {
      normalize_quaternions(m, q);
      FAIL();
    } catch (const NumericalError& error) {
      EXPECT_NE(std::string(error.what()).find("'on_free'"), std::string::npos);
    }
  }
}

TEST(Configuration, RandomPositionsAreRepeatableAndWithinLimits) {
  MechanismBuilder b;
  const double limits[][2] = {{-0.2, 0.3},      {4.0, 5.0},         {-7.0, -6.0},
                              {0.5, kInfinity}, {-kInfinity, -2.0}, {0.4, 0.4}};
  int i = 0;
  for (const auto& [lower, upper] : limits) {
    const std::string name = "b" + std::to_string(i++);
    HingeSettings h;
    h.freedoms = {{.lower = lower, .upper = upper}};
    b.add_body(name, ball()).add_hinge("h_" + name, kWorld, name, h);
  }
  const Mechanism m = b.finish();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const VectorXd q = random_position(m, seed);
    EXPECT_EQ(q, random_position(m, seed));
    for (int k = 0; k < q.size(); ++k) {
      EXPECT_GE(q[k], limits[k][0]);
      EXPECT_LE(q[k], limits[k][1]);
    }
  }
  EXPECT_NE(random_position(m, 1), random_position(m, 2));
  const VectorXd free = random_position(star(), 5);
  EXPECT_EQ(free, random_position(star(), 5));
  EXPECT_NEAR(free.segment<4>(hinge_of(star(), "free").q_index).norm(), 1.0, 1e-15);
  // SplitMix64 from seed 0 begins with 0xe220a8397b1dcdaf (Steele, Lea, Flood 2014).
  EXPECT_DOUBLE_EQ(random_vector(1, 0)[0],
                   -1.0 + 2.0 * static_cast<double>(0xe220a8397b1dcdafULL >> 11) * 0x1p-53);
}

TEST(Configuration, WrongSizesAreRefused) {
  const Mechanism m = star();
  const VectorXd q = zero_position(m), v = VectorXd::Zero(m.freedoms());
  VectorXd short_q = q.head(q.size() - 1);
  EXPECT_THROW(integrate(m, short_q, v), NumericalError);
  EXPECT_THROW(integrate(m, q, q), NumericalError);
  EXPECT_THROW(difference(m, q, short_q), NumericalError);
  EXPECT_THROW(position_rate(m, v, v), NumericalError);
  EXPECT_THROW(normalize_quaternions(m, short_q), NumericalError);
}

}  // namespace
}  // namespace catena
