// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/rotation.h"

#include <gtest/gtest.h>

#include "catena/spatial/testing/test_support.h"

namespace catena::test {
namespace {

// What the library promises: 1e-14 from the angle 0 on, 1e-10 within 1e-6 of π. The quaternion in
// the middle of log keeps the first promise near π, too.
constexpr Real kExact = 1e-14L;

template <class Scalar>
class RotationTest : public testing::Test {};
using Scalars = testing::Types<double, Pack, Dual<double, 2>, Dual<Pack, 1>>;
TYPED_TEST_SUITE(RotationTest, Scalars);

Matrix3R exponential(const Vector3R& w) { return matrix_exponential(cross_matrix(w)); }

// (cos φ/2, sin φ/2 · axis), without division by a vanishing angle.
Eigen::Matrix<Real, 4, 1> unit_quaternion(const Vector3R& w) {
  const Real half = w.stableNorm() / 2;
  const Real sinc = half < 1e-12L ? 1 : std::sin(half) / half;
  return {std::cos(half), sinc * w[0] / 2, sinc * w[1] / 2, sinc * w[2] / 2};
}

template <class Scalar>
Quaternion<Scalar> quaternion(const Eigen::Matrix<Real, 4, 1>& q) {
  return {Scalar(double(q[0])), Scalar(double(q[1])), Scalar(double(q[2])), Scalar(double(q[3]))};
}
template <class Scalar>
Real error(const Quaternion<Scalar>& a, const Eigen::Matrix<Real, 4, 1>& b) {
  return std::max({test::error(a.w, b[0]), test::error(a.x, b[1]), test::error(a.y, b[2]),
                   test::error(a.z, b[3])});
}
using test::error;

// Calls f(w) with rotation vectors of these angles about all axes, rounded to double.
void for_rotation_vectors(const std::vector<Real>& angles, const auto& f) {
  for (const Real angle : angles)
    for (const Vector3R& axis : axes()) {
      SCOPED_TRACE(testing::Message() << "angle " << angle << " axis " << axis.transpose());
      f(rounded(angle * axis));
    }
}

std::vector<Real> all_angles() {
  std::vector<Real> all = kAngles;
  all.insert(all.end(), kAnglesNearPi.begin(), kAnglesNearPi.end());
  all.insert(all.end(), kAnglesBeyondPi.begin(), kAnglesBeyondPi.end());
  return all;
}

// The function Σ (−1)ᵏ φ²ᵏ/(2k+n)!, whose members n = 1, 2, 3 are the coefficients of exp.
Real exp_coefficient(int n, Real angle) {
  Real term = 1;
  for (int k = 2; k <= n; ++k) term /= k;
  Real sum = 0;
  for (int k = n; k < 80; k += 2) {
    sum += term;
    term *= -angle * angle / ((k + 1) * (k + 2));
  }
  return sum;
}

TYPED_TEST(RotationTest, CoefficientsOfExpMatchTheirSeriesInExtendedPrecision) {
  for (Real angle : {0.0L, 1e-300L, 1e-9L, 1e-3L, 0.1L, 0.5L, 0.9L, 0.999999L, 1.0L, 1.000001L,
                     1.5L, 2.0L, 3.0L, 4.0L, 6.0L}) {
    const double squared = double(angle * angle);
    angle = std::sqrt(Real(squared));
    const ExpCoefficients<TypeParam> k = exp_coefficients(TypeParam(squared));
    EXPECT_LE(error(k.a, exp_coefficient(1, angle)), 4e-16L) << angle;
    EXPECT_LE(error(k.b, exp_coefficient(2, angle)), 4e-16L) << angle;
    EXPECT_LE(error(k.c, exp_coefficient(3, angle)), 4e-16L) << angle;
  }
}

TYPED_TEST(RotationTest, ExpIsTheMatrixExponential) {
  for_rotation_vectors(all_angles(), [](const Vector3R& w) {
    EXPECT_LE(error(exp_rotation(vec3<TypeParam>(w)).matrix, exponential(w)), kExact);
  });
}

TYPED_TEST(RotationTest, LogRecoversTheRotationVector) {
  for_rotation_vectors(kAngles, [](const Vector3R& w) {
    const Rotation<TypeParam> r{mat3<TypeParam>(exponential(w))};
    // A tiny angle keeps its relative accuracy.
    EXPECT_LE(error(log(r), w), kExact * std::min(Real(1), w.stableNorm()));
  });
}

TYPED_TEST(RotationTest, LogRecoversTheRotationVectorNearPi) {
  for_rotation_vectors(kAnglesNearPi, [](const Vector3R& w) {
    const Rotation<TypeParam> r{mat3<TypeParam>(exponential(w))};
    // At π itself both directions of the axis are right.
    const bool at_pi = std::abs(w.norm() - kPi) < 1e-14L;
    const Real one_way = error(log(r), w);
    const Real other_way = error(log(r), -w);
    EXPECT_LE(at_pi ? std::min(one_way, other_way) : one_way, kExact);
  });
}

TYPED_TEST(RotationTest, LogOfMoreThanHalfATurnIsTheShorterWayRound) {
  for_rotation_vectors(kAnglesBeyondPi, [](const Vector3R& w) {
    const Real turns = std::round(w.norm() / (2 * kPi));
    const Vector3R shorter = w * (1 - 2 * kPi * turns / w.norm());
    const Rotation<TypeParam> r{mat3<TypeParam>(exponential(w))};
    EXPECT_LE(error(log(r), shorter), kExact);
  });
}

TYPED_TEST(RotationTest, ExpOfAQuaternionHasTheHalfAngle) {
  for_rotation_vectors(all_angles(), [](const Vector3R& w) {
    // The half angle is rounded twice (its square, its root), then sine and cosine.
    const Real half_angle = w.stableNorm() / 2;
    const Real tolerance = 2.3e-16L * (2 + half_angle);
    EXPECT_LE(error(exp_quaternion(vec3<TypeParam>(w)), unit_quaternion(w)), tolerance);
  });
}

TYPED_TEST(RotationTest, LogOfAQuaternionIsTheSameForBothItsSigns) {
  for_rotation_vectors(kAngles, [](const Vector3R& w) {
    const auto q = unit_quaternion(w);
    const Real tolerance = kExact * std::min(Real(1), w.stableNorm());
    EXPECT_LE(error(log(quaternion<TypeParam>(q)), w), tolerance);
    EXPECT_LE(error(log(quaternion<TypeParam>(-q)), w), tolerance);
  });
}

TYPED_TEST(RotationTest, QuaternionToMatrixIsTheMatrixExponential) {
  for_rotation_vectors(all_angles(), [](const Vector3R& w) {
    const auto r = Rotation<TypeParam>::from_quaternion(quaternion<TypeParam>(unit_quaternion(w)));
    EXPECT_LE(error(r.matrix, exponential(w)), 1e-15L);
  });
}

TYPED_TEST(RotationTest, MatrixToQuaternionHasTheHalfAngleAndANonnegativeScalarPart) {
  for_rotation_vectors(all_angles(), [](const Vector3R& w) {
    auto expected = unit_quaternion(w);
    if (expected[0] < 0) expected = -expected;
    const Quaternion<TypeParam> q =
        to_quaternion(Rotation<TypeParam>{mat3<TypeParam>(exponential(w))});
    const bool at_pi = expected[0] < 1e-14L;
    EXPECT_LE(at_pi ? std::min(error(q, expected), error(q, -expected)) : error(q, expected),
              1e-15L);
    EXPECT_LE(error(q.squared_norm(), 1), 1e-15L);
  });
}

TEST(Quaternion, ProductsOfTheUnitsAreHamiltons) {
  const Quaterniond i{0, 1, 0, 0}, j{0, 0, 1, 0}, k{0, 0, 0, 1};
  const auto is = [](const Quaterniond& a, const Quaterniond& b) {
    return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
  };
  EXPECT_TRUE(is(i * j, k));
  EXPECT_TRUE(is(j * k, i));
  EXPECT_TRUE(is(k * i, j));
  EXPECT_TRUE(is(j * i, k.conjugate()));
  EXPECT_TRUE(is(i * i, {-1, 0, 0, 0}));
  EXPECT_TRUE(is(j * j, {-1, 0, 0, 0}));
  EXPECT_TRUE(is(k * k, {-1, 0, 0, 0}));
  EXPECT_TRUE(is(Quaterniond::identity() * k, k));
  EXPECT_TRUE(is(normalized(Quaterniond{0, 0, 0, -4}), k.conjugate()));
}

TYPED_TEST(RotationTest, ProductOfQuaternionsIsTheProductOfTheRotations) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Vector3R a = 3 * random.vector();
    const Vector3R b = 3 * random.vector();
    const auto q =
        quaternion<TypeParam>(unit_quaternion(a)) * quaternion<TypeParam>(unit_quaternion(b));
    const Matrix3R expected = exponential(a) * exponential(b);
    EXPECT_LE(error(Rotation<TypeParam>::from_quaternion(q).matrix, expected), 2e-15L);
  }
}

TYPED_TEST(RotationTest, ElementaryRotationsTurnAboutTheirAxis) {
  using R = Rotation<TypeParam>;
  for (const double angle : {-2.5, -1e-9, 0.0, 0.3, 1.0, 3.0, 1000.0}) {
    const Real s = std::sin(Real(angle));
    const Real c = std::cos(Real(angle));
    const TypeParam a(angle);
    EXPECT_LE(error(R::about_x(a) * vec3<TypeParam>({0, 1, 0}), {0, c, s}), 4e-16L);
    EXPECT_LE(error(R::about_x(a) * vec3<TypeParam>({0, 0, 1}), {0, -s, c}), 4e-16L);
    EXPECT_LE(error(R::about_x(a) * vec3<TypeParam>({1, 0, 0}), {1, 0, 0}), 0);
    EXPECT_LE(error(R::about_y(a) * vec3<TypeParam>({0, 0, 1}), {s, 0, c}), 4e-16L);
    EXPECT_LE(error(R::about_y(a) * vec3<TypeParam>({1, 0, 0}), {c, 0, -s}), 4e-16L);
    EXPECT_LE(error(R::about_y(a) * vec3<TypeParam>({0, 1, 0}), {0, 1, 0}), 0);
    EXPECT_LE(error(R::about_z(a) * vec3<TypeParam>({1, 0, 0}), {c, s, 0}), 4e-16L);
    EXPECT_LE(error(R::about_z(a) * vec3<TypeParam>({0, 1, 0}), {-s, c, 0}), 4e-16L);
    EXPECT_LE(error(R::about_z(a) * vec3<TypeParam>({0, 0, 1}), {0, 0, 1}), 0);
  }
}

// Multiplied out by hand from Rz(yaw) Ry(pitch) Rx(roll), as the URDF specification has it.
TYPED_TEST(RotationTest, RollPitchYawIsTheProductWrittenOut) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const double roll = 3 * random.number(), pitch = 3 * random.number(), yaw = 3 * random.number();
    const Real sr = std::sin(Real(roll)), cr = std::cos(Real(roll));
    const Real sp = std::sin(Real(pitch)), cp = std::cos(Real(pitch));
    const Real sy = std::sin(Real(yaw)), cy = std::cos(Real(yaw));
    const Matrix3R expected =
        (Matrix3R() << cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, sy * cp,
         sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,  //
         -sp, cp * sr, cp * cr)
            .finished();
    const auto r = Rotation<TypeParam>::from_rpy(TypeParam(roll), TypeParam(pitch), TypeParam(yaw));
    EXPECT_LE(error(r.matrix, expected), 1e-15L);
  }
}

TYPED_TEST(RotationTest, InverseUndoesAndAxesAreTheColumns) {
  Random random;
  const Matrix3R r = exponential(2 * random.vector());
  const Vector3R x = random.vector();
  const Rotation<TypeParam> rotation{mat3<TypeParam>(r)};
  EXPECT_LE(error(rotation.inverse_times(vec3<TypeParam>(x)), r.inverse() * x), 1e-15L);
  EXPECT_LE(error(rotation.inverse().matrix, r.inverse()), 1e-15L);
  for (int i = 0; i < 3; ++i) EXPECT_LE(error(rotation.axis(i), r.col(i)), 1e-16L);
}

TEST(RotationFromZ, IsARotationThatTakesZToTheAxis) {
  std::vector<Vector3R> all = axes();
  for (const Real tiny : {1e-3L, 1e-7L, 1e-9L, 1e-16L, 1e-155L, 1e-162L, 1e-300L, 1e-310L})
    for (const Real z : {1.0L, -1.0L}) {
      all.emplace_back(tiny, 0, z);
      all.emplace_back(0, -tiny, z);
      all.emplace_back(tiny, 2 * tiny, z);
    }
  // Rounding shows only in many samples: all round the sphere, and at every distance from ±z.
  Random random;
  for (int k = 0; k < 20000; ++k) {
    all.push_back(random.vector());
    const Real distance = std::pow(Real(10), -160 * (1 + Real(random.number())));
    all.emplace_back(distance * random.number(), distance * random.number(), k % 2 ? 1 : -1);
  }
  Real worst = 0;
  Vector3R worst_axis = Vector3R::Zero();
  for (const Vector3R& axis : all) {
    const Vec3d unit = vec3<double>(axis.normalized());
    const Mat3d r = rotation_from_z_to(unit).matrix;
    Matrix3R m;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m(i, j) = r.m[i][j];
    ASSERT_TRUE(m.array().isFinite().all()) << axis.transpose();
    ASSERT_EQ(r.column(2), unit);
    ASSERT_GT(m.determinant(), 0) << axis.transpose();
    const Real defect = (m.transpose() * m - Matrix3R::Identity()).cwiseAbs().maxCoeff();
    if (defect > worst) {
      worst = defect;
      worst_axis = axis;
    }
  }
  EXPECT_LE(worst, 1e-15L) << worst_axis.transpose();
}

TEST(RotationFromZ, IsTheShortestTurn) {
  for (const Vector3R& axis : axes()) {
    const Vector3R u = rounded(axis);
    const Real sine = std::hypot(u[0], u[1]);
    if (sine < 1e-3L) continue;  // the axis of the turn is checked where it is well defined
    const Vector3R w = Vector3R(-u[1], u[0], 0) / sine * std::atan2(sine, u[2]);
    EXPECT_LE(error(rotation_from_z_to(vec3<double>(u)).matrix, exponential(w)), 1e-15L);
  }
  EXPECT_LE(error(rotation_from_z_to({0, 0, 1}).matrix, Matrix3R::Identity()), 0);
  EXPECT_LE(error(rotation_from_z_to({0, 0, -1}).matrix, exponential({kPi, 0, 0})), 1e-18L);
}

}  // namespace
}  // namespace catena::test
