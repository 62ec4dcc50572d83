// SPDX-License-Identifier: BSD-3-Clause
#include "catena/spatial/inertia.h"

#include <array>

#include <gtest/gtest.h>

#include "catena/spatial/eigen.h"
#include "catena/spatial/testing/test_support.h"

namespace catena::test {
namespace {

constexpr Real kRounding = 1e-14L;  // sums of a dozen products of numbers up to ten

template <class Scalar>
class InertiaTest : public testing::Test {};
using Scalars = testing::Types<double, Pack, Dual<double, 2>, Dual<Pack, 1>>;
TYPED_TEST_SUITE(InertiaTest, Scalars);

// A rigid body as what it is: point masses that move together.
struct PointMasses {
  std::vector<Real> masses;
  std::vector<Vector3R> points;

  explicit PointMasses(Random& random) {
    for (int k = 0; k < 6; ++k) {
      masses.push_back(1.1L + random.number());
      points.push_back(random.vector());
    }
  }
  PointMasses seen_from(const Matrix4R& x) const {
    PointMasses moved = *this;
    for (Vector3R& r : moved.points) r = (x * r.homogeneous()).head(3);
    return moved;
  }
  Real mass() const {
    Real sum = 0;
    for (const Real m : masses) sum += m;
    return sum;
  }
  Vector3R center() const {
    Vector3R sum = Vector3R::Zero();
    for (std::size_t k = 0; k < masses.size(); ++k) sum += masses[k] * points[k];
    return sum / mass();
  }
  // Σ m (|r|² 1 − r rᵀ), r from the given point.
  Matrix3R inertia_about(const Vector3R& point) const {
    Matrix3R sum = Matrix3R::Zero();
    for (std::size_t k = 0; k < masses.size(); ++k) {
      const Vector3R r = points[k] - point;
      sum += masses[k] * (r.squaredNorm() * Matrix3R::Identity() - r * r.transpose());
    }
    return sum;
  }
  Vector3R velocity(std::size_t k, const Vector6R& v) const {
    return v.tail<3>() + Vector3R(v.head<3>()).cross(points[k]);
  }
  Real kinetic_energy(const Vector6R& v) const {
    Real sum = 0;
    for (std::size_t k = 0; k < masses.size(); ++k)
      sum += masses[k] * velocity(k, v).squaredNorm() / 2;
    return sum;
  }
  // Σ (r × m u, m u): a wrench if u is the acceleration, the momentum if it is the velocity.
  Vector6R total(const auto& u) const {
    Vector6R sum = Vector6R::Zero();
    for (std::size_t k = 0; k < masses.size(); ++k) {
      const Vector3R mu = masses[k] * u(k);
      sum.head<3>() += points[k].cross(mu);
      sum.tail<3>() += mu;
    }
    return sum;
  }
  Vector6R momentum(const Vector6R& v) const {
    return total([&](std::size_t k) { return velocity(k, v); });
  }

  template <class Scalar>
  SpatialInertia<Scalar> inertia() const {
    return SpatialInertia<Scalar>::from_central(Scalar(double(mass())), vec3<Scalar>(center()),
                                                sym_mat3<Scalar>(inertia_about(center())));
  }
};

template <class Scalar>
Real error(const SpatialInertia<Scalar>& a, const PointMasses& b) {
  return std::max({test::error(a.mass, b.mass()),
                   test::error(a.mass_moment, Vector3R(b.mass() * b.center())),
                   test::error(a.inertia, b.inertia_about(Vector3R::Zero()))});
}
template <class Scalar>
Real error(const ArticulatedInertia<Scalar>& a, const Matrix6R& b) {
  return std::max({test::error(a.angular, Matrix3R(b.topLeftCorner<3, 3>())),
                   test::error(a.coupling, Matrix3R(b.topRightCorner<3, 3>())),
                   test::error(a.linear, Matrix3R(b.bottomRightCorner<3, 3>()))});
}
using test::error;

// [R 0; [p]R R], from the definition.
Matrix6R dense_Ad(const Matrix4R& x) {
  const Matrix3R r = x.topLeftCorner<3, 3>();
  Matrix6R a;
  a << r, Matrix3R::Zero(), cross_matrix(x.topRightCorner<3, 1>()) * r, r;
  return a;
}

// Any symmetric 6 x 6 matrix, rounded to double.
Matrix6R random_articulated(Random& random) {
  const Matrix3R b = random.matrix();
  Matrix6R a;
  a << random.symmetric(), b, b.transpose(), random.symmetric();
  return a.cast<double>().cast<Real>();
}
template <class Scalar>
ArticulatedInertia<Scalar> articulated(const Matrix6R& a) {
  return {sym_mat3<Scalar>(a.topLeftCorner<3, 3>()), mat3<Scalar>(a.topRightCorner<3, 3>()),
          sym_mat3<Scalar>(a.bottomRightCorner<3, 3>())};
}

TYPED_TEST(InertiaTest, SteinerIsTheInertiaOfAPoint) {
  Random random;
  const Vector3R c = random.vector();
  const Matrix3R expected = -cross_matrix(c) * cross_matrix(c);
  EXPECT_LE(error(SpatialInertia<TypeParam>::steiner(vec3<TypeParam>(c)), expected), 1e-15L);
}

TYPED_TEST(InertiaTest, FromCentralIsTheSumOverPointMasses) {
  Random random;
  for (int trial = 0; trial < 10; ++trial) {
    const PointMasses body(random);
    EXPECT_LE(error(body.inertia<TypeParam>(), body), kRounding);
  }
}

TYPED_TEST(InertiaTest, CentralQuantitiesComeBack) {
  Random random;
  for (int trial = 0; trial < 10; ++trial) {
    const PointMasses body(random);
    const SpatialInertia<TypeParam> i = body.inertia<TypeParam>();
    EXPECT_LE(error(i.center_of_mass(), body.center()), kRounding);
    EXPECT_LE(error(i.central_inertia(), body.inertia_about(body.center())), kRounding);
  }
}

TYPED_TEST(InertiaTest, MomentumAndEnergyAreSumsOverPointMasses) {
  Random random;
  for (int trial = 0; trial < 10; ++trial) {
    const PointMasses body(random);
    const Vector6R v = random.six();
    const SpatialInertia<TypeParam> i = body.inertia<TypeParam>();
    const Twist<TypeParam> t = twist<TypeParam>(v);
    EXPECT_LE(error(i * t, body.momentum(v)), kRounding);
    EXPECT_LE(error(TypeParam(0.5) * dot(i * t, t), body.kinetic_energy(v)), kRounding);
    const auto same = ArticulatedInertia<TypeParam>::from(i);
    EXPECT_LE(error(same * t, body.momentum(v)), kRounding);
  }
}

TYPED_TEST(InertiaTest, BodiesAddUpLikeTheirPoints) {
  Random random;
  const PointMasses a(random);
  const PointMasses b(random);
  PointMasses both = a;
  both.masses.insert(both.masses.end(), b.masses.begin(), b.masses.end());
  both.points.insert(both.points.end(), b.points.begin(), b.points.end());
  EXPECT_LE(error(a.inertia<TypeParam>() + b.inertia<TypeParam>(), both), 2 * kRounding);
  EXPECT_LE(error(SpatialInertia<TypeParam>::zero() + b.inertia<TypeParam>(), b), kRounding);
}

// J V̇ − ad*_V (J V) is the sum of mass times acceleration of the points,
// a = v̇ + ω × v + ω̇ × r + ω × (ω × r).
TYPED_TEST(InertiaTest, EquationOfMotionIsNewtonsForThePoints) {
  Random random;
  for (int trial = 0; trial < 10; ++trial) {
    const PointMasses body(random);
    const Vector6R v = random.six();
    const Vector6R v_dot = random.six();
    const Vector3R w = v.head<3>();
    const Vector6R expected = body.total([&](std::size_t k) -> Vector3R {
      return body.velocity(k, v_dot) + w.cross(Vector3R(v.tail<3>())) +
             w.cross(w.cross(body.points[k]));
    });
    const SpatialInertia<TypeParam> i = body.inertia<TypeParam>();
    const Twist<TypeParam> t = twist<TypeParam>(v);
    EXPECT_LE(error(i * twist<TypeParam>(v_dot) - ad_star(t, i * t), expected), 2 * kRounding);
  }
}

TYPED_TEST(InertiaTest, ShiftedBodyIsTheBodyOfTheShiftedPoints) {
  Random random;
  for (int trial = 0; trial < 10; ++trial) {
    const PointMasses body(random);
    const Matrix4R x = random.transform();
    const auto shifted = shift_to_parent(transform<TypeParam>(x), body.inertia<TypeParam>());
    EXPECT_LE(error(shifted, body.seen_from(x)), 1e-13L);  // entries up to a hundred
  }
}

TYPED_TEST(InertiaTest, ShiftedArticulatedInertiaIsTheDenseCongruence) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix6R i = random_articulated(random);
    const Matrix4R x = random.transform();
    const Matrix6R inverse = dense_Ad(x).inverse();
    const Matrix6R expected = inverse.transpose() * i * inverse;
    EXPECT_LE(error(shift_to_parent(transform<TypeParam>(x), articulated<TypeParam>(i)), expected),
              2 * kRounding);
  }
}

TYPED_TEST(InertiaTest, ArticulatedAlgebraIsThatOfDenseMatrices) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix6R a = random_articulated(random);
    const Matrix6R b = random_articulated(random);
    const Vector6R v = random.six();
    const Vector6R f = random.six();
    const double s = random.number();
    const ArticulatedInertia<TypeParam> p = articulated<TypeParam>(a);
    const ArticulatedInertia<TypeParam> q = articulated<TypeParam>(b);
    EXPECT_LE(error(p * twist<TypeParam>(v), a * v), kRounding);
    EXPECT_LE(error(p + q, a + b), kRounding);
    EXPECT_LE(error(p - q, a - b), kRounding);
    EXPECT_LE(error(outer(wrench<TypeParam>(f), TypeParam(s)), s * f * f.transpose()), kRounding);
  }
  EXPECT_LE(error(ArticulatedInertia<TypeParam>::zero(), Matrix6R::Zero()), 0);
}

TEST(Eigen, DenseInertiasGiveMomentumAndKeepTheirBlocks) {
  Random random;
  const PointMasses body(random);
  const Vector6R v = random.six();
  const Matrix6d dense = to_eigen(body.inertia<double>());
  EXPECT_LE((dense.cast<Real>() * v - body.momentum(v)).norm(), kRounding);
  const Matrix6R a = random_articulated(random);
  EXPECT_EQ(to_eigen(articulated<double>(a)), a.cast<double>());
}

// The ten-body tree, case T of spec/00_chain_recursion.md section 3.7. Its numbers come from
// point masses and dense Schur complements in 40 digits, not from these recursions.
struct TreeBody {
  int parent;
  Vector3R axis;  // revolute, in body axes
  double mass;
  Vec3d center;
  SymMat3d central_inertia;  // listed as xx yy zz xy xz yz in the text
  Vec3d hinge;               // in parent axes
  double angle;
  double rate;
};

const std::array<TreeBody, 10> kTree = {{
    {-1, {0, 0, 1}, 5.0, {.10, -.20, .05}, {.40, .02, -.03, .35, .01, .30}, {0, 0, 0}, .3, .4},
    {0,
     {1, 0, 0},
     1.2,
     {.15, .02, -.04},
     {.020, .002, .001, .030, -.003, .025},
     {.30, .10, -.15},
     -.5,
     -.6},
    {0,
     {0, 1, 0},
     3.5,
     {-.05, .22, .08},
     {.16, -.01, .005, .09, .012, .14},
     {-.20, .35, .10},
     .8,
     .5},
    {2,
     {.6L, .8L, 0},
     2.0,
     {.12, .06, -.10},
     {.050, .004, -.006, .045, .002, .060},
     {.15, .40, .05},
     -.4,
     .9},
    {2,
     {0, .6L, -.8L},
     1.8,
     {-.14, .03, .07},
     {.040, -.003, .005, .055, .004, .048},
     {-.25, .30, -.10},
     .6,
     -.3},
    {4,
     {2 / 3.0L, 1 / 3.0L, 2 / 3.0L},
     0.9,
     {.02, -.16, .05},
     {.015, .001, .0008, .010, -.0012, .018},
     {.10, -.35, .12},
     1.1,
     .7},
    {3,
     {1 / 3.0L, 2 / 3.0L, -2 / 3.0L},
     1.1,
     {.09, .11, .01},
     {.022, -.0015, .002, .019, .001, .025},
     {.20, .15, -.22},
     -.9,
     -.8},
    {6,
     {.8L, 0, .6L},
     0.6,
     {-.03, .08, .12},
     {.008, .0004, -.0006, .009, .0005, .006},
     {-.12, .24, .16},
     .2,
     1.0},
    {0,
     {-6 / 7.0L, 2 / 7.0L, 3 / 7.0L},
     2.4,
     {.18, -.07, .02},
     {.070, .005, -.004, .085, .006, .060},
     {.35, -.30, .08},
     -.7,
     .2},
    {8,
     {0, 0, 1},
     1.3,
     {.04, .05, -.13},
     {.018, -.001, .0015, .020, .0009, .012},
     {.26, -.14, .18},
     .5,
     -.5},
}};

// The parts of the tree that these types can compute: poses, twists, articulated inertias.
struct Tree {
  std::array<Transformd, 10> pose;  // from the parent
  std::array<Rotationd, 10> orientation;
  std::array<Vec3d, 10> position;
  std::array<Twistd, 10> twist;
  std::array<ArticulatedInertiad, 10> articulated_inertia;
  std::array<double, 10> hinge_inertia;
  double kinetic_energy = 0;

  Tree() {
    for (std::size_t n = 0; n < 10; ++n) {
      const TreeBody& b = kTree[n];
      const Vec3d axis = vec3<double>(b.axis);
      const auto inertia = SpatialInertiad::from_central(b.mass, b.center, b.central_inertia);
      pose[n] = {exp_rotation(b.angle * axis), b.hinge};
      twist[n] = {b.rate * axis, Vec3d::zero()};
      orientation[n] = pose[n].rotation;
      position[n] = b.hinge;
      if (b.parent >= 0) {
        const auto p = static_cast<std::size_t>(b.parent);
        twist[n] += Ad_inverse(pose[n], twist[p]);
        position[n] = position[p] + orientation[p] * b.hinge;
        orientation[n] = orientation[p] * pose[n].rotation;
      }
      kinetic_energy += 0.5 * dot(inertia * twist[n], twist[n]);
      articulated_inertia[n] = ArticulatedInertiad::from(inertia);
    }
    for (std::size_t n = 10; n-- > 0;) {
      const TreeBody& b = kTree[n];
      const Twistd hinge{vec3<double>(b.axis), Vec3d::zero()};
      const Wrenchd column = articulated_inertia[n] * hinge;
      hinge_inertia[n] = dot(column, hinge);
      if (b.parent >= 0)
        articulated_inertia[static_cast<std::size_t>(b.parent)] += shift_to_parent(
            pose[n], articulated_inertia[n] - outer(column, 1.0 / hinge_inertia[n]));
    }
  }
};

TEST(TenBodyTree, KineticEnergyIsThatOfTheText) {
  EXPECT_NEAR(Tree().kinetic_energy, 1.38447180609747, 1e-13);
}

TEST(TenBodyTree, PositionsAndVelocitiesAreThoseOfTheText) {
  const Tree tree;
  const auto expect = [&](std::size_t n, const Vector3R& position, const Vector3R& angular,
                          const Vector3R& linear) {
    EXPECT_LE(error(tree.position[n], position), 1e-14L);
    EXPECT_LE(error(tree.orientation[n] * tree.twist[n].angular, angular), 1e-14L);
    EXPECT_LE(error(tree.orientation[n] * tree.twist[n].linear, linear), 1e-14L);
  };
  expect(7, {-0.554147274447791L, 0.835895012124876L, -0.203953059336326L},
         {0.394434510616095L, 1.73476210893693L, 1.23207193721602L},
         {-0.655831498858909L, -0.348028178141952L, 0.176418336226138L});
  expect(9, {0.666101952139977L, -0.412301768276761L, 0.169505000058087L},
         {-0.12881145834424L, 0.293898902610754L, 0.0816970664144945L},
         {0.184912428737981L, 0.303445917546268L, 0.0404395733925742L});
}

TEST(TenBodyTree, HingeInertiasAreTheSchurComplementsOfTheText) {
  const Tree tree;
  const double expected[] = {6.02582670202106,  0.0224,  0.632606763721787, 0.208255431807260,
                             0.230496969993512, 0.04201, 0.155265700531332, 0.0183416,
                             0.149585064324485, 0.01733};
  for (std::size_t n = 0; n < 10; ++n)
    EXPECT_NEAR(tree.hinge_inertia[n], expected[n], 1e-13) << "body " << n + 1;
}

// J_9 and J_3 in inertial axes, upper triangle by rows.
TEST(TenBodyTree, ArticulatedInertiasAreTheSchurComplementsOfTheText) {
  const Tree tree;
  const auto expect = [&](std::size_t n, const std::array<double, 21>& upper) {
    const Matrix6d j = to_eigen(shift_to_parent(Transformd{tree.orientation[n], Vec3d::zero()},
                                                tree.articulated_inertia[n]));
    std::size_t k = 0;
    for (int row = 0; row < 6; ++row)
      for (int column = row; column < 6; ++column)
        EXPECT_NEAR(j(row, column), upper[k++], 1e-13) << row << " " << column;
  };
  expect(8, {0.118004085150222,   0.0707185851518710,  -0.00414995162305163, -0.00367096139216731,
             -0.0115331308727329, -0.316289580781681,  0.251461964581651,    0.0222915680316738,
             -0.0241045533934328, 0.00674180762792644, -0.774291979938046,   0.283794946778003,
             0.345972568000407,   0.768963225702263,   -1.45283627565247e-4, 3.31350015187077,
             0.0717448019553145,  0.00189287319646322, 3.68668222864117,     -3.51368346621883e-4,
             3.69999072970156});
  expect(2, {1.92220497159097,     0.108027234281571,   -0.0288829370340506, 0.212297996235355,
             -0.00729152138751659, 2.99984074121747,    0.576039989025607,   0.00154776459261701,
             0.610815766913705,    -0.0583928575885895, 0.697653370461917,   1.10416675470388,
             -2.06782009511789,    -0.575684889717950,  -0.0755750294306792, 7.68992658878799,
             0.263696192511554,    0.0194436681803743,  9.00684449353885,    0.0303614986779614,
             9.28146068666762});
}

}  // namespace
}  // namespace catena::test
