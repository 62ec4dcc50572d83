// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/vec3.h"

#include <gtest/gtest.h>

#include "catena/spatial/eigen.h"
#include "catena/spatial/testing/test_support.h"

namespace catena::test {
namespace {

constexpr Real kRounding = 4e-16L;  // a few operations on numbers of size one

template <class Scalar>
class Vec3Test : public testing::Test {};
using Scalars = testing::Types<double, Pack, Dual<double, 2>, Dual<Pack, 1>>;
TYPED_TEST_SUITE(Vec3Test, Scalars);

TEST(Vec3, CrossProductOfTheAxesIsRightHanded) {
  EXPECT_EQ(cross(Vec3d::unit_x(), Vec3d::unit_y()), Vec3d::unit_z());
  EXPECT_EQ(cross(Vec3d::unit_y(), Vec3d::unit_z()), Vec3d::unit_x());
  EXPECT_EQ(cross(Vec3d::unit_z(), Vec3d::unit_x()), Vec3d::unit_y());
}

TEST(Vec3, ProductsOfSmallIntegersAreThoseOfPaperAndPencil) {
  const Vec3d a{1, 2, 3};
  const Vec3d b{-4, 5, 7};
  EXPECT_EQ(dot(a, b), 27.0);
  EXPECT_EQ(cross(a, b), (Vec3d{-1, -19, 13}));
  EXPECT_EQ(a + b, (Vec3d{-3, 7, 10}));
  EXPECT_EQ(a - b, (Vec3d{5, -3, -4}));
  EXPECT_EQ(-a, (Vec3d{-1, -2, -3}));
  EXPECT_EQ(2.0 * a, (Vec3d{2, 4, 6}));
  EXPECT_EQ(a * 2.0, (Vec3d{2, 4, 6}));
  EXPECT_FALSE(a == (Vec3d{1, 2, 4}));
  EXPECT_EQ(norm(Vec3d{2, 3, 6}), 7.0);
  EXPECT_EQ(squared_norm(Vec3d{2, 3, 6}), 49.0);
  EXPECT_EQ(normalized(Vec3d{0, 3, 4}), (Vec3d{0, 3 * (1.0 / 5), 4 * (1.0 / 5)}));
}

TEST(Vec3, ScalesByItsOwnComponent) {
  Vec3d a{2, 3, 5};
  a *= a.x;
  EXPECT_EQ(a, (Vec3d{4, 6, 10}));
}

TEST(Vec3, IndexReachesTheNamedComponents) {
  Vec3d a{1, 2, 3};
  a[0] += 10;
  a[1] += 20;
  a[2] += 30;
  EXPECT_EQ(a, (Vec3d{11, 22, 33}));
}

TEST(Vec3, SelectTakesAllComponentsFromOneSide) {
  const Vec3d a{1, 2, 3};
  const Vec3d b{4, 5, 6};
  EXPECT_EQ(select(true, a, b), a);
  EXPECT_EQ(select(false, a, b), b);
}

TYPED_TEST(Vec3Test, VectorAlgebraAgreesWithEigen) {
  using Scalar = TypeParam;
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Vector3R a = random.vector();
    const Vector3R b = random.vector();
    const Vec3<Scalar> u = vec3<Scalar>(a);
    const Vec3<Scalar> v = vec3<Scalar>(b);
    EXPECT_LE(error(cross(u, v), a.cross(b)), kRounding);
    EXPECT_LE(error(dot(u, v), a.dot(b)), kRounding);
    EXPECT_LE(error(norm(u), a.norm()), kRounding);
    EXPECT_LE(error(normalized(u), a.normalized()), kRounding);
    EXPECT_LE(error(outer(u, v), a * b.transpose()), kRounding);
    EXPECT_LE(error(outer(u), a * a.transpose()), kRounding);
    EXPECT_LE(error(skew(u), cross_matrix(a)), 0);
  }
}

TYPED_TEST(Vec3Test, MatrixAlgebraAgreesWithEigen) {
  using Scalar = TypeParam;
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix3R a = random.matrix();
    const Matrix3R b = random.matrix();
    const Vector3R x = random.vector();
    const double s = random.number();
    const Mat3<Scalar> p = mat3<Scalar>(a);
    const Mat3<Scalar> q = mat3<Scalar>(b);
    const Vec3<Scalar> v = vec3<Scalar>(x);
    EXPECT_LE(error(p * q, a * b), 2 * kRounding);
    EXPECT_LE(error(p + q, a + b), kRounding);
    EXPECT_LE(error(p - q, a - b), kRounding);
    EXPECT_LE(error(Scalar(s) * p, s * a), kRounding);
    EXPECT_LE(error(p * v, a * x), kRounding);
    EXPECT_LE(error(transpose_times(p, v), a.transpose() * x), kRounding);
    EXPECT_LE(error(transpose(p), a.transpose()), 0);
    EXPECT_LE(error(determinant(p), a.determinant()), 2 * kRounding);
    EXPECT_LE(error(cross(v, p), cross_matrix(x) * a), kRounding);
    EXPECT_LE(error(symmetric_part(p), (a + a.transpose()) / 2), kRounding);
    for (int i = 0; i < 3; ++i) {
      EXPECT_LE(error(p.row(i), a.row(i).transpose()), 0);
      EXPECT_LE(error(p.column(i), a.col(i)), 0);
      EXPECT_LE(error(p(i, 2), a(i, 2)), 0);
    }
  }
}

TYPED_TEST(Vec3Test, SymmetricMatrixAlgebraAgreesWithEigen) {
  using Scalar = TypeParam;
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix3R s = random.symmetric().cast<double>().template cast<Real>();
    const Matrix3R t = random.symmetric().cast<double>().template cast<Real>();
    const Matrix3R a = random.matrix();
    const Vector3R x = random.vector();
    const double k = random.number();
    const SymMat3<Scalar> p = sym_mat3<Scalar>(s);
    const SymMat3<Scalar> q = sym_mat3<Scalar>(t);
    EXPECT_LE(error(p.full(), s), 0);
    EXPECT_LE(error(p.trace(), s.trace()), kRounding);
    EXPECT_LE(error(p + q, s + t), kRounding);
    EXPECT_LE(error(p - q, s - t), kRounding);
    EXPECT_LE(error(Scalar(k) * p, k * s), kRounding);
    EXPECT_LE(error(p * vec3<Scalar>(x), s * x), kRounding);
    EXPECT_LE(error(congruence(mat3<Scalar>(a), p), a * s * a.transpose()), 4 * kRounding);
  }
}

TEST(Mat3, ZeroAndIdentityAndDiagonal) {
  EXPECT_LE(error(Mat3d::zero(), Matrix3R::Zero()), 0);
  EXPECT_LE(error(Mat3d::identity(), Matrix3R::Identity()), 0);
  EXPECT_LE(error(SymMat3d::zero(), Matrix3R::Zero()), 0);
  EXPECT_LE(error(SymMat3d::diagonal(1, 2, 3), Vector3R(1, 2, 3).asDiagonal().toDenseMatrix()), 0);
}

TEST(Eigen, ConversionKeepsEveryEntryInItsPlace) {
  const Eigen::Matrix3d a = (Eigen::Matrix3d() << 1, 2, 3, 4, 5, 6, 7, 8, 9).finished();
  const Eigen::Vector3d v(1, 2, 3);
  EXPECT_EQ(from_eigen(a).m[0][1], 2.0);
  EXPECT_EQ(from_eigen(a).m[2][0], 7.0);
  EXPECT_EQ(to_eigen(from_eigen(a)), a);
  EXPECT_EQ(from_eigen(v), (Vec3d{1, 2, 3}));
  EXPECT_EQ(to_eigen(from_eigen(v)), v);
  const Eigen::Matrix3d s = (Eigen::Matrix3d() << 1, 2, 3, 2, 4, 5, 3, 5, 6).finished();
  EXPECT_EQ(to_eigen(SymMat3d{1, 2, 3, 4, 5, 6}), s);
}

}  // namespace
}  // namespace catena::test
