// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/polynomial_matrix.h"

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/testing/random_systems.h"
#include "catena/linear/analysis.h"
#include "catena/linear/minreal.h"

namespace catena {
namespace {

PolynomialMatrix scalar(const std::string& coefficients) {
  PolynomialMatrix m(1, 1);
  m.set(0, 0, coefficients);
  return m;
}

// s + 2 and s² + 3 s + 2 = (s + 1)(s + 2): common divisor s + 2. s and s + 1: coprime, (s+1) − s
// = 1.
TEST(PolynomialMatrix, ScalarsByHand) {
  const Bezout b = bezout(scalar("2 1"), scalar("2 3 1"));
  EXPECT_FALSE(b.coprime);
  EXPECT_EQ(b.G.get(0, 0), "2 1");
  EXPECT_EQ(b.D1.get(0, 0), "1 1");
  EXPECT_EQ(b.N1.get(0, 0), "1");
  const Bezout c = bezout(scalar("0 1"), scalar("1 1"));
  EXPECT_TRUE(c.coprime);
  EXPECT_TRUE(c.X * scalar("0 1") + c.Y * scalar("1 1") == PolynomialMatrix::identity(1));
  EXPECT_EQ(scalar("1/2 -2/4 0").get(0, 0), "1/2 -1/2");
  EXPECT_THROW(scalar("1 two"), NumericalError);
  EXPECT_THROW(scalar("1/0"), NumericalError);
}

PolynomialMatrix random_matrix(test::RandomNumbers& random, int rows, int cols, int degree) {
  PolynomialMatrix m(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      std::string text;
      for (int k = 0; k <= degree; ++k)
        text += std::to_string(random.integer(-9, 9)) + "/" + std::to_string(random.integer(1, 5)) +
                " ";
      m.set(i, j, text);
    }
  return m;
}

TEST(PolynomialMatrix, HermiteFormIsExact) {
  test::RandomNumbers random(101);
  for (int trial = 0; trial < 5; ++trial) {
    const PolynomialMatrix a = random_matrix(random, 4, 3, 2);
    const HermiteForm f = hermite_form(a);
    EXPECT_TRUE(f.U * a == f.H);
    EXPECT_TRUE(f.U * f.U_inverse == PolynomialMatrix::identity(4));
    EXPECT_EQ(f.rank, 3);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) {
        if (i > j) {
          EXPECT_EQ(f.H.degree(i, j), -1);
        } else if (i < j) {
          EXPECT_LT(f.H.degree(i, j), f.H.degree(j, j));
        }
      }
    EXPECT_GT(f.largest_bits, 3);
  }
}

// N = N₁ G, D = D₁ G with a known common divisor: found up to a unimodular factor, and the fraction
// N₁ D₁⁻¹ is the same transfer matrix in floating point.
TEST(PolynomialMatrix, CoprimeFraction) {
  test::RandomNumbers random(102);
  PolynomialMatrix divisor(2, 2);
  divisor.set(0, 0, "1 1");
  divisor.set(0, 1, "3");
  divisor.set(1, 1, "2 1");
  const PolynomialMatrix n = random_matrix(random, 2, 2, 1) * divisor,
                         d = random_matrix(random, 2, 2, 2) * divisor;
  const Bezout b = bezout(n, d);
  EXPECT_FALSE(b.coprime);
  EXPECT_TRUE(b.X * n + b.Y * d == b.G);
  EXPECT_TRUE(b.N1 * b.G == n);
  EXPECT_TRUE(b.D1 * b.G == d);
  EXPECT_EQ(b.G.degree(0, 0) + b.G.degree(1, 1), 2);  // det of the divisor: (s + 1)(s + 2)
  EXPECT_TRUE(bezout(b.N1, b.D1).coprime);
  const std::complex<double> s(0.3, 1.7);
  const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(2, 2);
  const Eigen::MatrixXcd full = n.at(s) * lapack::solve(d.at(s), one),
                         reduced = b.N1.at(s) * lapack::solve(b.D1.at(s), one);
  EXPECT_LT((full - reduced).norm(), 1e-10 * full.norm());
  PolynomialMatrix zero(2, 2);
  EXPECT_THROW(bezout(zero, zero), NumericalError);
}

// Exact fractions beside the state-space route: the same transfer matrix, the same order as minreal
// finds with a tolerance, the same zeros as the QZ algorithm.
TEST(PolynomialMatrix, FractionOfAStateSpaceSystem) {
  test::RandomNumbers random(103);
  const auto integers = [&](int rows, int cols) {
    Eigen::MatrixXd m(rows, cols);
    for (Eigen::Index i = 0; i < m.size(); ++i) m(i) = random.integer(-4, 4) / 2.0;
    return m;
  };
  for (int trial = 0; trial < 4; ++trial) {
    const int n = 4;
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n + 2, n + 2), b(n + 2, 2), c(2, n + 2);
    a.topLeftCorner(n, n) = integers(n, n);
    a(n, n) = -1.0;          // not driven, seen
    a(n + 1, n + 1) = -3.0;  // driven, not seen
    b << integers(n, 2), Eigen::RowVector2d::Zero(), Eigen::RowVector2d::Ones();
    c << integers(2, n), Eigen::Vector2d::Ones(), Eigen::Vector2d::Zero();
    const Eigen::MatrixXd d = integers(2, 2);
    const StateSpace g = ss(a, b, c, d);
    const MatrixFraction f = coprime_fraction(exact_constants(a), exact_constants(b),
                                              exact_constants(c), exact_constants(d));
    EXPECT_TRUE(bezout(f.N, f.D).coprime);
    EXPECT_EQ(f.degree, minreal(g).order());
    for (const std::complex<double>& s : {std::complex<double>(0.3, 1.7), {-2.0, 9.0}}) {
      Eigen::MatrixXcd pencil = -a.cast<std::complex<double>>();
      pencil.diagonal().array() += s;
      const Eigen::MatrixXcd expected =
          c * lapack::solve(pencil, Eigen::MatrixXcd(b.cast<std::complex<double>>())) + d;
      const Eigen::MatrixXcd found =
          f.N.at(s) * lapack::solve(f.D.at(s), Eigen::MatrixXcd(Eigen::MatrixXcd::Identity(2, 2)));
      EXPECT_LT((found - expected).norm(), 1e-9 * expected.norm());
    }
    for (const std::complex<double>& zero : zeros(minreal(g)))
      EXPECT_LT(lapack::singular_values(f.N.at(zero)).minCoeff(),
                1e-6 * lapack::singular_values(f.N.at(zero + 1.0)).maxCoeff());
  }
  // By hand: 1/(s + 1) with a state −2 that is not seen. 0.1 is not a tenth.
  const MatrixFraction f = coprime_fraction(
      exact_constants((Eigen::MatrixXd(2, 2) << -1, 0, 0, -2).finished()),
      exact_constants((Eigen::MatrixXd(2, 1) << 1, 1).finished()),
      exact_constants((Eigen::MatrixXd(1, 2) << 1, 0).finished()), PolynomialMatrix(1, 1));
  EXPECT_EQ(f.degree, 1);
  const std::complex<double> ratio = f.D.at(5.0)(0, 0) / f.N.at(5.0)(0, 0);
  EXPECT_DOUBLE_EQ(ratio.real(), 6.0);
  EXPECT_EQ(exact_constants(Eigen::MatrixXd::Constant(1, 1, 0.1)).get(0, 0),
            "3602879701896397/36028797018963968");
  EXPECT_THROW(coprime_fraction(scalar("0 1"), scalar("1"), scalar("1"), scalar("0")),
               NumericalError);
}

}  // namespace
}  // namespace catena
