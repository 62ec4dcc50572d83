// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/transform.h"

#include <gtest/gtest.h>

#include "catena/spatial/eigen.h"
#include "catena/spatial/testing/test_support.h"

namespace catena::test {
namespace {

constexpr Real kExactTransform = 1e-14L;  // what exp and log promise
constexpr Real kRounding = 4e-15L;        // a dozen operations on numbers up to four

template <class Scalar>
class TransformTest : public testing::Test {};
using Scalars = testing::Types<double, Pack, Dual<double, 2>, Dual<Pack, 1>>;
TYPED_TEST_SUITE(TransformTest, Scalars);

Matrix4R exponential(const Vector6R& g) { return matrix_exponential(twist_matrix(g)); }

// The twist of a 4 x 4 matrix [[w] v; 0 0].
Vector6R six_vector(const Matrix4R& m) {
  return (Vector6R() << m(2, 1), m(0, 2), m(1, 0), m(0, 3), m(1, 3), m(2, 3)).finished();
}

// A wrench as what it is: forces at points, with their moments about the origin.
struct PointForces {
  std::vector<Vector3R> points;
  std::vector<Vector3R> forces;

  explicit PointForces(Random& random) {
    for (int k = 0; k < 3; ++k) {
      points.push_back(random.vector());
      forces.push_back(random.vector());
    }
  }
  // The sum seen from another frame, x taking coordinates to that frame.
  Vector6R sum(const Matrix4R& x) const {
    const Matrix3R r = x.topLeftCorner<3, 3>();
    const Vector3R p = x.topRightCorner<3, 1>();
    Vector6R total = Vector6R::Zero();
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Vector3R force = r * forces[k];
      total.head<3>() += Vector3R(r * points[k] + p).cross(force);
      total.tail<3>() += force;
    }
    return total;
  }
};

TYPED_TEST(TransformTest, ProductInverseAndActionAreThoseOfHomogeneousMatrices) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4R a = random.transform();
    const Matrix4R b = random.transform();
    const Vector3R point = random.vector();
    const Transform<TypeParam> x = transform<TypeParam>(a);
    const Transform<TypeParam> y = transform<TypeParam>(b);
    const Matrix4R inverse = a.inverse();
    EXPECT_LE(error(x * y, a * b), kRounding);
    EXPECT_LE(error(x.inverse(), inverse), kRounding);
    EXPECT_LE(error(x * vec3<TypeParam>(point), (a * point.homogeneous()).head(3)), kRounding);
    EXPECT_LE(
        error(x.inverse_times(vec3<TypeParam>(point)), (inverse * point.homogeneous()).head(3)),
        kRounding);
  }
  EXPECT_LE(error(Transform<TypeParam>::identity(), Matrix4R::Identity()), 0);
  const auto shift = Transform<TypeParam>::from_translation(vec3<TypeParam>({1, 2, 3}));
  EXPECT_LE(error(shift * vec3<TypeParam>({10, 20, 30}), {11, 22, 33}), 0);
}

// Ad_X is conjugation of the twist's matrix: [Ad_X V] = X [V] X⁻¹.
TYPED_TEST(TransformTest, AdIsConjugation) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4R x = random.transform();
    const Vector6R v = random.six();
    const Transform<TypeParam> t = transform<TypeParam>(x);
    const Matrix4R to_parent = x * twist_matrix(v) * x.inverse();
    const Matrix4R to_child = x.inverse() * twist_matrix(v) * x;
    EXPECT_LE(error(Ad(t, twist<TypeParam>(v)), six_vector(to_parent)), kRounding);
    EXPECT_LE(error(Ad_inverse(t, twist<TypeParam>(v)), six_vector(to_child)), kRounding);
  }
}

TYPED_TEST(TransformTest, AdOfAProductIsTheProduct) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4R x = random.transform();
    const Matrix4R y = random.transform();
    const Vector6R v = random.six();
    const Matrix4R expected = x * y * twist_matrix(v) * (x * y).inverse();
    const Transform<TypeParam> a = transform<TypeParam>(x);
    const Transform<TypeParam> b = transform<TypeParam>(y);
    EXPECT_LE(error(Ad(a * b, twist<TypeParam>(v)), six_vector(expected)), 2 * kRounding);
    EXPECT_LE(error(Ad(a, Ad(b, twist<TypeParam>(v))), six_vector(expected)), 2 * kRounding);
  }
}

TYPED_TEST(TransformTest, WrenchesMoveLikeForcesAtPoints) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix4R x = random.transform();
    const Transform<TypeParam> t = transform<TypeParam>(x);
    const PointForces forces(random);
    const Wrench<TypeParam> here = wrench<TypeParam>(forces.sum(Matrix4R::Identity()));
    EXPECT_LE(error(Ad_star_inverse(t, here), forces.sum(x)), 2 * kRounding);
    EXPECT_LE(error(Ad_star(t, here), forces.sum(x.inverse())), 2 * kRounding);
  }
}

TYPED_TEST(TransformTest, PowerIsTheSameInEveryFrame) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Transform<TypeParam> x = transform<TypeParam>(random.transform());
    const Vector6R v = random.six();
    const Vector6R f = random.six();
    const Twist<TypeParam> twist_here = twist<TypeParam>(v);
    const Wrench<TypeParam> wrench_here = wrench<TypeParam>(f);
    const Real power = v.dot(f);
    EXPECT_LE(error(dot(wrench_here, twist_here), power), kRounding);
    EXPECT_LE(error(dot(twist_here, wrench_here), power), kRounding);
    EXPECT_LE(error(dot(Ad_star_inverse(x, wrench_here), Ad(x, twist_here)), power), 2 * kRounding);
    EXPECT_LE(error(dot(Ad_star(x, wrench_here), Ad_inverse(x, twist_here)), power), 2 * kRounding);
  }
}

// [V, W] of matrices is the commutator.
TYPED_TEST(TransformTest, AdOfTwistsIsTheCommutator) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Vector6R v = random.six();
    const Vector6R w = random.six();
    const Matrix4R a = twist_matrix(v);
    const Matrix4R b = twist_matrix(w);
    EXPECT_LE(error(ad(twist<TypeParam>(v), twist<TypeParam>(w)), six_vector(a * b - b * a)),
              kRounding);
  }
}

TYPED_TEST(TransformTest, AdStarOfTwistsIsTheTransposeOfAd) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Vector6R v = random.six();
    const Vector6R f = random.six();
    Vector6R expected;  // fᵀ ad_V e_i, column by column
    for (int i = 0; i < 6; ++i) {
      const Matrix4R a = twist_matrix(v);
      const Matrix4R b = twist_matrix(Vector6R::Unit(i));
      expected[i] = f.dot(six_vector(a * b - b * a));
    }
    EXPECT_LE(error(ad_star(twist<TypeParam>(v), wrench<TypeParam>(f)), expected), kRounding);
  }
}

// d/dt Ad_exp(tV) W at t = 0, the motion given by its dual parts 1 + t [V].
TEST(Transform, AdOfTwistsIsTheDerivativeOfAd) {
  using D = Dual<double, 1>;
  Random random;
  const Vector6R v = random.six();
  const Vector6R w = random.six();
  const Matrix4R commutator = twist_matrix(v) * twist_matrix(w) - twist_matrix(w) * twist_matrix(v);
  Twist<D> motion = twist<D>(Vector6R::Zero());
  for (int i = 0; i < 6; ++i) motion[i].derivative[0] = double(v[i]);
  const Twist<D> moved = Ad(exp_transform(motion), twist<D>(w));
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(moved[i].derivative[0], double(six_vector(commutator)[i]), 1e-15);
}

TYPED_TEST(TransformTest, SixVectorArithmeticIsComponentwise) {
  using Scalar = TypeParam;
  const Vector6R a = (Vector6R() << 1, 2, 3, 4, 5, 6).finished();
  const Vector6R b = (Vector6R() << 30, -10, 20, 60, 50, -40).finished();
  EXPECT_LE(error(twist<Scalar>(a) + twist<Scalar>(b), a + b), 0);
  EXPECT_LE(error(twist<Scalar>(a) - twist<Scalar>(b), a - b), 0);
  EXPECT_LE(error(-twist<Scalar>(a), -a), 0);
  EXPECT_LE(error(Scalar(2.0) * twist<Scalar>(a), 2 * a), 0);
  EXPECT_LE(error(wrench<Scalar>(a) + wrench<Scalar>(b), a + b), 0);
  EXPECT_LE(error(wrench<Scalar>(a) - wrench<Scalar>(b), a - b), 0);
  EXPECT_LE(error(-wrench<Scalar>(a), -a), 0);
  EXPECT_LE(error(Scalar(2.0) * wrench<Scalar>(a), 2 * a), 0);
  for (int i = 0; i < 6; ++i) {
    EXPECT_LE(error(twist<Scalar>(a)[i], a[i]), 0);
    EXPECT_LE(error(wrench<Scalar>(a)[i], a[i]), 0);
  }
}

// Calls f(g) with twists that turn by these angles and move by up to 2.5.
void for_twists(const std::vector<Real>& angles, const auto& f) {
  Random random;
  for (const Real angle : angles)
    for (const Vector3R& axis : axes()) {
      SCOPED_TRACE(testing::Message() << "angle " << angle << " axis " << axis.transpose());
      f((Vector6R() << rounded(angle * axis), 1.5L * random.vector()).finished());
    }
}

TYPED_TEST(TransformTest, ExpIsTheMatrixExponential) {
  for (const auto& angles : {kAngles, kAnglesNearPi, kAnglesBeyondPi})
    for_twists(angles, [](const Vector6R& g) {
      EXPECT_LE(error(exp_transform(twist<TypeParam>(g)), exponential(g)), kExactTransform);
    });
}

TYPED_TEST(TransformTest, LogRecoversTheTwist) {
  for_twists(kAngles, [](const Vector6R& g) {
    const Twist<TypeParam> found = log(transform<TypeParam>(exponential(g)));
    EXPECT_LE(error(found, g), kExactTransform);
  });
}

// The twist of angle at most π with the same exp: its angular part is known, its linear part
// solves V(w) v = p, V being what exp makes of unit translations.
Vector6R shortest_twist(const Vector3R& w, const Vector3R& p) {
  Matrix3R v;
  for (int i = 0; i < 3; ++i)
    v.col(i) = exponential((Vector6R() << w, Vector3R::Unit(i)).finished()).topRightCorner<3, 1>();
  return (Vector6R() << w, v.fullPivLu().solve(p)).finished();
}

TYPED_TEST(TransformTest, LogRecoversTheTwistNearPi) {
  for_twists(kAnglesNearPi, [](const Vector6R& g) {
    const Matrix4R x = exponential(g);
    const Twist<TypeParam> found = log(transform<TypeParam>(x));
    const bool at_pi = std::abs(g.head<3>().norm() - kPi) < 1e-14L;
    const Vector6R other = shortest_twist(-g.head<3>(), x.topRightCorner<3, 1>());
    EXPECT_LE(at_pi ? std::min(error(found, g), error(found, other)) : error(found, g),
              kExactTransform);
  });
}

TYPED_TEST(TransformTest, LogOfMoreThanHalfATurnIsTheShorterWayRound) {
  for_twists(kAnglesBeyondPi, [](const Vector6R& g) {
    const Matrix4R x = exponential(g);
    const Vector3R w = g.head<3>();
    const Real turns = std::round(w.norm() / (2 * kPi));
    const Vector3R shorter = w * (1 - 2 * kPi * turns / w.norm());
    const Twist<TypeParam> found = log(transform<TypeParam>(x));
    EXPECT_LE(error(found, shortest_twist(shorter, x.topRightCorner<3, 1>())), kExactTransform);
  });
}

// Sohl and Bobrow, spec/08_hybrid_sensitivity.md section 3.1, twelve digits.
TEST(Transform, ExpOfTheTextsExample) {
  const Twistd g{{0.3, -0.5, 0.7}, {1, 2, -1}};
  const Matrix4R expected = (Matrix4R() << 0.654894028489, -0.677060656889, -0.335712195702,
                             0.380420117832,  //
                             0.537152830601, 0.729511535843, -0.423414401798, 2.312869703224,
                             0.531583152505, 0.096962807126, 0.841437796873, -0.510987405339,  //
                             0, 0, 0, 1)
                                .finished();
  EXPECT_LE(error(exp_transform(g), expected), 1e-12L);
  EXPECT_LE(
      error(log(transform<double>(expected)), (Vector6R() << 0.3, -0.5, 0.7, 1, 2, -1).finished()),
      1e-11L);
}

TEST(Transform, DerivativesOfExpAndLogAtZeroAreExactlyTheIdentity) {
  using D = Dual<double, 6>;
  Twist<D> v = twist<D>(Vector6R::Zero());
  for (int i = 0; i < 6; ++i) v[i].derivative[i] = 1.0;
  const Transform<D> x = exp_transform(v);
  const Twist<D> back = log(x);
  for (int k = 0; k < 6; ++k) {
    const Matrix4R expected = twist_matrix(Vector6R::Unit(k));
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        EXPECT_EQ(x.rotation.matrix.m[i][j].derivative[k], double(expected(i, j)));
      EXPECT_EQ(x.translation[i].derivative[k], double(expected(i, 3)));
    }
    for (int i = 0; i < 6; ++i) EXPECT_EQ(back[i].derivative[k], i == k ? 1.0 : 0.0);
  }
}

// Entry (i, j) of a transform's 4 x 4 matrix, i < 3.
template <class Scalar>
Scalar& entry(Transform<Scalar>& x, int i, int j) {
  return j < 3 ? x.rotation.matrix.m[i][j] : x.translation[i];
}

const std::vector<Real> kAnglesOfDerivatives = {0,    1e-300L, 1e-160L, 1e-9L, 1e-3L, 0.2L,
                                                0.9L, 1,       1.1L,    2,     3,     kPi - 1e-6L};

// First and second derivatives through the whole range, log's along the curve that exp draws,
// where log is linear: its first derivative is the direction, its second is zero.
TEST(Transform, DualNumbersDifferentiateExpAndLogTwice) {
  using D = Dual<Dual<double, 1>, 1>;
  constexpr double kTolerance = 2e-14;
  Random random;
  for (const Real angle : kAnglesOfDerivatives)
    for (std::size_t a = 0; a < 34; a += 3) {
      SCOPED_TRACE(testing::Message() << "angle " << angle << " axis " << a);
      const Vector6R g = (Vector6R() << rounded(angle * axes()[a]), random.vector()).finished();
      const Vector6R e = random.six();
      const Vector6R f = random.six();
      const Matrix4R value = exponential(g);
      const Matrix4R de = matrix_exponential_derivative(twist_matrix(g), twist_matrix(e));
      const Matrix4R df = matrix_exponential_derivative(twist_matrix(g), twist_matrix(f));
      const Matrix4R def =
          matrix_exponential_derivative(twist_matrix(g), twist_matrix(e), twist_matrix(f));

      Twist<D> v = twist<D>(g);
      for (int i = 0; i < 6; ++i) {
        v[i].value.derivative[0] = double(e[i]);
        v[i].derivative[0].value = double(f[i]);
      }
      Transform<D> x = exp_transform(v);
      Transform<D> given = transform<D>(value);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) {
          const D& y = entry(x, i, j);
          EXPECT_NEAR(y.value.derivative[0], double(de(i, j)), kTolerance);
          EXPECT_NEAR(y.derivative[0].value, double(df(i, j)), kTolerance);
          EXPECT_NEAR(y.derivative[0].derivative[0], double(def(i, j)), kTolerance);
          entry(given, i, j).value.derivative[0] = double(de(i, j));
          entry(given, i, j).derivative[0].value = double(df(i, j));
          entry(given, i, j).derivative[0].derivative[0] = double(def(i, j));
        }
      const Twist<D> back = log(given);
      for (int i = 0; i < 6; ++i) {
        EXPECT_NEAR(back[i].value.derivative[0], double(e[i]), kTolerance);
        EXPECT_NEAR(back[i].derivative[0].value, double(f[i]), kTolerance);
        EXPECT_NEAR(back[i].derivative[0].derivative[0], 0.0, kTolerance);
      }
    }
}

TEST(Eigen, DenseAdIsConjugationColumnByColumn) {
  Random random;
  const Matrix4R x = random.transform();
  const Vector6R v = random.six();
  const Matrix6d Ad_x = matrix_Ad(transform<double>(x));
  const Matrix6d ad_v = matrix_ad(twist<double>(v));
  for (int k = 0; k < 6; ++k) {
    const Matrix4R e = twist_matrix(Vector6R::Unit(k));
    const Matrix4R conjugate = x * e * x.inverse();
    const Matrix4R commutator = twist_matrix(v) * e - e * twist_matrix(v);
    EXPECT_LE((Ad_x.col(k).cast<Real>() - six_vector(conjugate)).norm(), kRounding);
    EXPECT_LE((ad_v.col(k).cast<Real>() - six_vector(commutator)).norm(), kRounding);
  }
  const Vector6d six = (Vector6d() << 1, 2, 3, 4, 5, 6).finished();
  EXPECT_EQ(twist_from_eigen(six).linear, (Vec3d{4, 5, 6}));
  EXPECT_EQ(wrench_from_eigen(six).moment, (Vec3d{1, 2, 3}));
  EXPECT_EQ(to_eigen(twist_from_eigen(six)), six);
  EXPECT_EQ(to_eigen(wrench_from_eigen(six)), six);
}

}  // namespace
}  // namespace catena::test
