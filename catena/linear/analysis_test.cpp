// SPDX-License-Identifier: BSD-3-Clause
// Zeros against constructions that have them by definition: rank of the system matrix at the zeros,
// known factors; poles and gains of descriptor systems against their explicit form; modes by name.
#include "catena/linear/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using test::random_system;

// The smallest singular value of [A − sE B; C D] that counts for its normal rank, by its size.
double rank_loss(const StateSpace& g, Complex s, int rank) {
  const Eigen::Index n = g.order(), m = g.input_count(), p = g.output_count();
  MatrixXcd pencil(n + p, n + m);
  const MatrixXd e = g.is_descriptor() ? g.E : MatrixXd::Identity(n, n);
  pencil << g.A.cast<Complex>() - s * e.cast<Complex>(), g.B.cast<Complex>(), g.C.cast<Complex>(),
      g.D.cast<Complex>();
  return lapack::singular_values(pencil)[rank - 1] / pencil.norm();
}

void expect_same_set(VectorXcd found, VectorXcd expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  std::vector<bool> used(static_cast<std::size_t>(found.size()), false);
  for (const Complex e : expected) {
    double best = 1e300;
    std::size_t which = 0;
    for (std::size_t i = 0; i < used.size(); ++i)
      if (const double d = std::abs(found[static_cast<Eigen::Index>(i)] - e);
          !used[i] && d < best) {
        best = d;
        which = i;
      }
    used[which] = true;
    EXPECT_LT(best, tolerance * (1.0 + std::abs(e))) << e << " in " << found.transpose();
  }
}

TEST(Zeros, OfASquareSystemWithFeedthroughArePolesOfItsInverse) {
  const StateSpace g = random_system(1, 6, 2, 2);
  expect_same_set(zeros(g), poles(inverse(g)), 1e-10);
  EXPECT_EQ(zero_structure(g).normal_rank, 2);
}

TEST(Zeros, OfASquareSystemWithoutFeedthrough) {
  for (const auto& [n, m] : {std::pair{5, 1}, std::pair{7, 2}, std::pair{8, 3}}) {
    StateSpace g = random_system(2, n, m, m);
    g.D.setZero();
    const ZeroStructure z = zero_structure(g);
    EXPECT_EQ(z.normal_rank, m);
    // C B is regular, so there are n − m of them.
    ASSERT_EQ(z.zeros.size(), n - m);
    for (const Complex s : z.zeros) EXPECT_LT(rank_loss(g, s, n + m), 1e-13);
  }
}

TEST(Zeros, OfHigherRelativeDegree) {
  // A chain of four masses driven at one end and seen at the other: no zero at all.
  const int n = 4;
  MatrixXd k = MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    k(i, i) = 2.0;
    if (i > 0) k(i, i - 1) = k(i - 1, i) = -1.0;
  }
  MatrixXd A = MatrixXd::Zero(2 * n, 2 * n);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = -k;
  MatrixXd B = MatrixXd::Zero(2 * n, 1), C = MatrixXd::Zero(1, 2 * n);
  B(n, 0) = 1.0;
  C(0, n - 1) = 1.0;
  EXPECT_EQ(zeros(ss(A, B, C)).size(), 0);
  // Co-located: the zeros are the modes with the driven mass held, ω = 2 sin(kπ/8).
  C.setZero();
  C(0, 0) = 1.0;
  VectorXcd expected(6);
  for (int i = 1; i <= 3; ++i) {
    const double w = 2.0 * std::sin(i * M_PI / 8.0);
    expected[2 * i - 2] = Complex(0.0, w);
    expected[2 * i - 1] = Complex(0.0, -w);
  }
  expect_same_set(zeros(ss(A, B, C)), expected, 1e-10);
}

TEST(Zeros, OfNonsquareSystems) {
  // Generic nonsquare systems have none; a common factor (s + 2) at the input is one.
  const StateSpace g = random_system(3, 5, 2, 3);
  EXPECT_EQ(zeros(g).size(), 0);
  const StateSpace lead = ss(MatrixXd::Constant(1, 1, -7.0), MatrixXd::Ones(1, 1),
                             MatrixXd::Constant(1, 1, -5.0), MatrixXd::Ones(1, 1));  // (s+2)/(s+7)
  StateSpace tall = random_system(4, 4, 1, 3);
  VectorXcd expected(1);
  expected << -2.0;
  expect_same_set(zeros(series(lead, tall)), expected, 1e-10);
  expect_same_set(zeros(transpose(series(lead, tall))), expected, 1e-10);
  // Outputs that repeat one another lower the normal rank.
  StateSpace twin = random_system(5, 4, 2, 2);
  twin.C.row(1) = 3.0 * twin.C.row(0);
  twin.D.row(1) = 3.0 * twin.D.row(0);
  EXPECT_EQ(zero_structure(twin).normal_rank, 1);
}

TEST(Zeros, OfDescriptorSystems) {
  std::mt19937 random(6);
  StateSpace g = random_system(7, 5, 2, 2);
  g.D.setZero();
  const MatrixXd e = test::random_matrix(random, 5, 5);
  StateSpace d = g;
  d.A = e * g.A;
  d.B = e * g.B;
  d.E = e;
  expect_same_set(zeros(d), zeros(g), 1e-9);
  expect_same_set(poles(d), poles(g), 1e-9);
  // The improper PD element 1 + s/4 times 1/(s + 3): one pole, a zero at −4.
  MatrixXd E = MatrixXd::Zero(3, 3), A = MatrixXd::Identity(3, 3);
  E(0, 1) = 1.0;  // x2 = −u, x1 = ẋ2
  E(2, 2) = 1.0;
  A(2, 2) = -3.0;
  MatrixXd B = MatrixXd::Zero(3, 1), C = MatrixXd::Zero(1, 3);
  B(1, 0) = 1.0;
  A(2, 0) = -0.25;
  A(2, 1) = -1.0;
  C(0, 2) = 1.0;
  const StateSpace pd = dss(A, B, C, MatrixXd::Zero(1, 1), E);
  VectorXcd pole(1), zero(1);
  pole << -3.0;
  zero << -4.0;
  expect_same_set(poles(pd), pole, 1e-12);
  expect_same_set(zeros(pd), zero, 1e-12);
  const Complex s(0.5, 2.0);
  EXPECT_LT(std::abs(evaluate(pd, s)(0) - (1.0 + s / 4.0) / (s + 3.0)), 1e-14);
}

TEST(Zeros, OfBadlyScaledSystems) {
  StateSpace g = random_system(8, 4, 1, 1);
  g.D.setZero();
  const VectorXcd expected = zeros(g);
  const Eigen::Vector4d scale(1e6, 1.0, 1e-5, 1e3);
  StateSpace badly = similarity(g, scale.asDiagonal().toDenseMatrix());
  badly.B *= 1e9;
  badly.C *= 1e-7;
  expect_same_set(zeros(badly), expected, 1e-8);
}

TEST(Damp, ContinuousAndSampled) {
  const double w = 3.0, zeta = 0.2;
  const StateSpace g = ss(Eigen::Matrix2d{{0.0, 1.0}, {-w * w, -2.0 * zeta * w}},
                          Eigen::Vector2d(0.0, 1.0), Eigen::RowVector2d(1.0, 0.0));
  for (const StateSpace& system : {g, c2d(g, 0.1)}) {
    const std::vector<PoleInfo> info = damp(system);
    ASSERT_EQ(info.size(), 2u);
    EXPECT_NEAR(info[0].frequency, w, 1e-12);
    EXPECT_NEAR(info[0].damping, zeta, 1e-12);
    EXPECT_NEAR(info[0].time_constant, 1.0 / (zeta * w), 1e-12);
  }
  EXPECT_TRUE(is_stable(g));
  EXPECT_NEAR(spectral_abscissa(g), -zeta * w, 1e-13);
  const double tau =
      damp(ss(MatrixXd::Zero(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1)))[0].time_constant;
  EXPECT_TRUE(std::isinf(tau));
}

TEST(DcGain, FiniteAndInfinite) {
  const StateSpace g = random_system(9, 4, 2, 2), d = random_system(10, 4, 2, 2, 0.1);
  EXPECT_LT((dcgain(g) - test::value(g, 0.0).real()).norm(), 1e-12);
  EXPECT_LT((dcgain(d) - test::value(d, 1.0).real()).norm(), 1e-12);
  // Position and speed of a mass with damping: only the position integrates.
  const StateSpace mass = ss(Eigen::Matrix2d{{0.0, 1.0}, {0.0, -0.5}}, Eigen::Vector2d(0.0, 1.0),
                             MatrixXd::Identity(2, 2));
  EXPECT_TRUE(std::isinf(dcgain(mass)(0, 0)));
  EXPECT_NEAR(dcgain(mass)(1, 0), 2.0, 1e-12);
  // Free masses: every position and every speed drifts, whatever the masses are.
  for (const double a : {1.0, 0.02, 7.3, 1e3}) {
    MatrixXd A = MatrixXd::Zero(6, 6), B = MatrixXd::Zero(6, 3);
    A.topRightCorner(3, 3).setIdentity();
    B.bottomRows(3).diagonal() << a, 0.03, 2.0 * a;
    const MatrixXd gain = dcgain(ss(A, B, MatrixXd::Identity(6, 6)));
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_EQ(gain(i, j), i % 3 == j ? std::numeric_limits<double>::infinity() : 0.0)
            << i << " " << j;
  }
}

TEST(ModeTests, NameTheModeThatIsNotReached) {
  // Two equal masses with a spring between, pushed apart: the drift of both is not controllable.
  MatrixXd A = MatrixXd::Zero(4, 4);
  A.topRightCorner(2, 2).setIdentity();
  A.bottomLeftCorner(2, 2) << -1.0, 1.0, 1.0, -1.0;
  MatrixXd B = MatrixXd::Zero(4, 1), C = MatrixXd::Zero(1, 4);
  B(2, 0) = 1.0;
  B(3, 0) = -1.0;
  C(0, 0) = 1.0;
  StateSpace g = ss(A, B, C);
  g.states = {"left", "right", "left rate", "right rate"};
  const std::vector<ModeTest> c = controllability(g);
  ASSERT_EQ(c.size(), 2u);
  EXPECT_NEAR(std::abs(c[0].eigenvalue), 0.0, 1e-7);
  EXPECT_EQ(c[0].multiplicity, 2);
  EXPECT_FALSE(c[0].passed);
  EXPECT_FALSE(c[0].stable);
  EXPECT_TRUE(c[1].passed);
  EXPECT_NEAR(std::abs(c[1].eigenvalue), std::sqrt(2.0), 1e-12);
  EXPECT_THAT(c[0].text(), testing::HasSubstr("not controllable"));
  EXPECT_THAT(c[0].text(), testing::HasSubstr("left"));
  EXPECT_FALSE(is_stabilizable(g));
  EXPECT_TRUE(is_detectable(g));
  // Seen by the difference of the positions alone, the drift is not observable.
  g.C << 1.0, -1.0, 0.0, 0.0;
  EXPECT_FALSE(is_detectable(g));
}

TEST(ModeTests, RepeatedEigenvaluesNeedAsManyInputs) {
  const StateSpace one =
      ss(-2.0 * MatrixXd::Identity(2, 2), Eigen::Vector2d(1.0, 1.0), MatrixXd::Identity(2, 2));
  EXPECT_FALSE(controllability(one)[0].passed);
  const StateSpace two =
      ss(-2.0 * MatrixXd::Identity(2, 2), MatrixXd::Identity(2, 2), MatrixXd::Identity(2, 2));
  EXPECT_TRUE(controllability(two)[0].passed);
  EXPECT_TRUE(is_stabilizable(one));
}

}  // namespace
}  // namespace catena
