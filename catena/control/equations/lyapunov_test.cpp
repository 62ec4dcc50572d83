// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/lyapunov.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/control/testing/random_systems.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::RandomNumbers;

// vec of the solution by the Kronecker matrix, n⁶: another route.
MatrixXd kronecker(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd k(a.rows() * b.rows(), a.cols() * b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      k.block(i * b.rows(), j * b.cols(), b.rows(), b.cols()) = a(i, j) * b;
  return k;
}

MatrixXd by_kronecker(const MatrixXd& operation, const MatrixXd& c) {
  const Eigen::VectorXd right = -c.reshaped();
  return Lu(operation).solve(right).reshaped(c.rows(), c.cols());
}

TEST(Lyapunov, AgreesWithTheKroneckerForm) {
  RandomNumbers random(1);
  for (const int n : {1, 2, 5, 9}) {
    const MatrixXd a = random.matrix(n, n), q = random.matrix(n, n);
    const MatrixXd one = MatrixXd::Identity(n, n);
    const MatrixXd x = lyap(a, q), y = by_kronecker(kronecker(one, a) + kronecker(a, one), q);
    EXPECT_LT((x - y).norm(), 1e-10 * y.norm()) << n;
    const MatrixXd xd = dlyap(a, q),
                   yd = by_kronecker(kronecker(a, a) - MatrixXd::Identity(n * n, n * n), q);
    EXPECT_LT((xd - yd).norm(), 1e-10 * yd.norm()) << n;
  }
}

TEST(Lyapunov, SylvesterOfTwoSizes) {
  RandomNumbers random(2);
  const MatrixXd a = random.matrix(6, 6), b = random.matrix(4, 4), c = random.matrix(6, 4);
  const MatrixXd x = sylvester(a, b, c);
  EXPECT_LT((a * x + x * b + c).norm(), 1e-12 * x.norm() * a.norm());
  const MatrixXd y = dsylvester(a, b, c);
  EXPECT_LT((a * y * b - y + c).norm(), 1e-12 * y.norm() * a.norm() * b.norm());
}

// Sizes above the one at which the triangular equation is halved, 2×2 blocks in the middle
// included.
TEST(Lyapunov, LargeByHalves) {
  RandomNumbers random(3);
  for (const int n : {97, 150}) {
    const MatrixXd a = random.stable(n), b = random.stable(n / 2), c = random.matrix(n, n / 2);
    const MatrixXd x = sylvester(a, b, c);
    EXPECT_LT((a * x + x * b + c).norm(), 1e-11 * (a.norm() + b.norm()) * x.norm()) << n;
    const MatrixXd q = random.matrix(n, n), y = lyap(a, q * q.transpose());
    EXPECT_LT((a * y + y * a.transpose() + q * q.transpose()).norm(), 1e-11 * a.norm() * y.norm());
  }
}

TEST(Lyapunov, FactorsOfGramians) {
  RandomNumbers random(4);
  for (const int n : {1, 2, 7, 60}) {
    for (const int m : {1, 3}) {
      const MatrixXd a = random.stable(n), b = random.matrix(n, m);
      const MatrixXd s = lyap_factor(a, b), x = lyap(a, b * b.transpose());
      EXPECT_LT((s * s.transpose() - x).norm(), 1e-10 * x.norm()) << n << ' ' << m;
      const MatrixXd d = random.contraction(n);
      const MatrixXd sd = dlyap_factor(d, b), xd = dlyap(d, b * b.transpose());
      EXPECT_LT((sd * sd.transpose() - xd).norm(), 1e-10 * xd.norm()) << n << ' ' << m;
    }
  }
}

// A chain of first-order lags: Hankel values fall below the root of the rounding. The factored form
// keeps them, the product of the Gramians does not.
TEST(Lyapunov, FactorKeepsSmallHankelValues) {
  // G = Σ c_i b_i/(s + a_i) with equal b and c: P = Q = [b_i b_j/(a_i + a_j)], a Cauchy matrix with
  // a determinant in closed form, Π_{i<j} (a_i − a_j)² / Π_{i,j} (a_i + a_j).
  const int n = 12;
  Eigen::VectorXd pole(n);
  for (int i = 0; i < n; ++i) pole[i] = 1.0 + i;
  const MatrixXd a = -MatrixXd(pole.asDiagonal());
  const MatrixXd s = lyap_factor(a, MatrixXd::Ones(n, 1));
  double log_determinant = 0.0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      log_determinant -= std::log(pole[i] + pole[j]);
      if (i < j) log_determinant += 2.0 * std::log(std::abs(pole[i] - pole[j]));
    }
  const double found = 2.0 * singular_values(s).array().log().sum();
  EXPECT_NEAR(found, log_determinant, 1e-3 * std::abs(log_determinant));
}

TEST(Lyapunov, SingularEquationsNameTheEigenvalues) {
  const MatrixXd a = (MatrixXd(2, 2) << 1.0, 0.0, 0.0, -1.0).finished();
  try {
    lyap(a, MatrixXd::Identity(2, 2));
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("a sum of zero"));
  }
  const MatrixXd d = (MatrixXd(2, 2) << 2.0, 0.0, 0.0, 0.5).finished();
  EXPECT_THROW(dlyap(d, MatrixXd::Identity(2, 2)), NumericalError);
  EXPECT_THROW(lyap_factor(a, MatrixXd::Ones(2, 1)), NumericalError);
  EXPECT_THROW(lyap(a, MatrixXd::Ones(3, 3)), NumericalError);
}

}  // namespace
}  // namespace catena
