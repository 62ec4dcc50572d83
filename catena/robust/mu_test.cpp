// SPDX-License-Identifier: BSD-3-Clause
// Upper bounds against values computed independently (a table of six matrices by another convex
// search), lower bounds by what they claim, and brute force.
#include "catena/robust/mu.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/robust/mu_scaling.h"

namespace catena {
namespace {

using Complex = std::complex<double>;

BlockStructure scalars(int reals, int complexes) {
  BlockStructure s;
  for (int i = 0; i < reals; ++i) s.add_real("r" + std::to_string(i));
  for (int i = 0; i < complexes; ++i) s.add_full("c" + std::to_string(i));
  return s;
}

double upper(const Eigen::MatrixXcd& m, const BlockStructure& s) {
  return find_scaling(m, s, true, 1e-9, nullptr).level;
}

TEST(MuUpper, TableOfSmallMatrices) {
  Eigen::MatrixXcd t1(2, 2), t2(2, 2), t4(3, 3), t5(3, 3), t6(2, 2), t7(3, 3);
  t1 << 0, 10, 0.1, 0;
  t2 << 0, 1, -1, 0;
  t4 << 1, 2, 0, 0.5, -1, 3, Complex(0, 1), 0, 2;
  t5 << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  t6 << Complex(1, 1), 2, 0.5, Complex(-1, 0.5);
  t7 << Complex(1, 2), Complex(-2, -3), Complex(2, -2), Complex(-3, -1), Complex(-3, -1),
      Complex(3, 1), -2, Complex(1, 1), Complex(2, -1);
  EXPECT_NEAR(upper(t1, scalars(0, 2)), 1.0, 1e-8);
  EXPECT_NEAR(upper(t2, scalars(0, 2)), 1.0, 1e-8);
  EXPECT_NEAR(upper(t4, scalars(0, 3)), 3.0978691, 1e-7);
  EXPECT_NEAR(upper(t5, scalars(0, 3)), 1.0, 1e-8);
  EXPECT_NEAR(upper(t6, scalars(0, 2)), 1.8027756, 1e-7);
  EXPECT_NEAR(upper(t7, scalars(0, 3)), 5.6303383, 1e-7);
}

TEST(MuUpper, RealParametersThatCannotDestabilize) {
  // det(1 − j δ1)(1 − j δ2) ≠ 0 for real δ.
  const Eigen::MatrixXcd m = Complex(0, 1) * Eigen::MatrixXcd::Identity(2, 2);
  EXPECT_NEAR(upper(m, scalars(2, 0)), 0.0, 1e-5);
}

// The bound proves itself: 1 − M Δ is singular and Δ has the size 1/lower.
void expect_bracketed(const Eigen::MatrixXcd& m, const BlockStructure& s, const MuBounds& b) {
  ASSERT_LE(b.lower, b.upper * (1.0 + 1e-9));
  EXPECT_LE(b.upper, lapack::norm2(m) * (1.0 + 1e-9));
  if (b.lower == 0.0) return;
  EXPECT_NEAR(s.norm(b.worst) * b.lower, 1.0, 1e-12);
  const Eigen::MatrixXcd loop =
      Eigen::MatrixXcd::Identity(m.rows(), m.rows()) - m * s.matrix(b.worst);
  const Eigen::VectorXd sigma = lapack::singular_values(loop);
  EXPECT_LT(sigma.minCoeff(), 1e-8 * sigma.maxCoeff());
}

Eigen::MatrixXcd random_matrix(std::mt19937& generator, int rows, int columns) {
  std::normal_distribution<double> normal;
  return Eigen::MatrixXcd::NullaryExpr(
      rows, columns, [&] { return Complex(normal(generator), normal(generator)); });
}

TEST(Mu, ComplexBlocksFromBothSides) {
  std::mt19937 generator(11);
  std::vector<double> ratios;
  for (const int n : {2, 3, 5, 8, 12}) {
    for (int k = 0; k < 6; ++k) {
      const Eigen::MatrixXcd m = random_matrix(generator, n, n);
      const MuBounds b = mu(m, scalars(0, n));
      expect_bracketed(m, scalars(0, n), b);
      ratios.push_back(b.lower / b.upper);
      // Exact up to three blocks [Doyle 1982].
      if (n <= 3) {
        EXPECT_GT(b.lower / b.upper, 1.0 - 1e-5);
      }
    }
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_GT(ratios[ratios.size() / 20], 0.95);
}

TEST(Mu, FullRepeatedAndRealBlocks) {
  BlockStructure s;
  s.add_real("mass", 2);
  s.add_complex("delay", 2);
  s.add_full("actuator", 2, 3);
  s.add_real("stiffness");
  s.add_full("sensor", 2, 1);
  std::mt19937 generator(3);
  for (int k = 0; k < 8; ++k) {
    const Eigen::MatrixXcd m = random_matrix(generator, s.columns(), s.rows());
    const MuBounds b = mu(m, s);
    expect_bracketed(m, s, b);
    EXPECT_GT(b.lower, 0.6 * b.upper);
    // Without G the real parameters count as complex: never a smaller bound.
    EXPECT_GE(mu(m, s, {.use_g = false, .lower = false}).upper, b.upper * (1.0 - 1e-6));
  }
}

// Two real parameters and a complex one by brute force: the largest μ of the complex channel that
// a grid of the parameters finds. Never above the upper bound, and the lower bound reaches it.
TEST(Mu, AgainstAGridOfRealParameters) {
  std::mt19937 generator(21);
  for (int k = 0; k < 6; ++k) {
    const Eigen::MatrixXcd m = random_matrix(generator, 3, 3);
    const MuBounds b = mu(m, scalars(2, 1), {.starts = 12});
    double brute = 0.0;
    constexpr int kGrid = 40;
    for (int i = -kGrid; i <= kGrid; ++i)
      for (int j = -kGrid; j <= kGrid; ++j) {
        // Along the ray Δ = (i, j, .)/kGrid/β: the largest β with |N(β)| ≥ β.
        double high = b.upper * 1.5, low = 0.0;
        const auto gain = [&](double beta) {
          Eigen::Matrix2cd d = Eigen::Matrix2cd::Zero();
          d(0, 0) = i / (kGrid * beta);
          d(1, 1) = j / (kGrid * beta);
          const Eigen::Matrix2cd a = Eigen::Matrix2cd::Identity() - m.topLeftCorner(2, 2) * d;
          const Complex det = a(0, 0) * a(1, 1) - a(0, 1) * a(1, 0);
          Eigen::Matrix2cd inv;
          inv << a(1, 1), -a(0, 1), -a(1, 0), a(0, 0);
          const Eigen::Vector2cd column = inv * m.topRightCorner(2, 1);
          const Complex n = m(2, 2) + (m.bottomLeftCorner(1, 2) * d * column)(0, 0) / det;
          return std::abs(n);
        };
        for (int step = 0; step < 60 && high - low > 1e-6; ++step) {
          const double middle = 0.5 * (low + high);
          (gain(middle) >= middle ? low : high) = middle;
        }
        brute = std::max(brute, low);
      }
    EXPECT_LE(brute, b.upper * (1.0 + 1e-6));
    EXPECT_GE(b.lower, brute * 0.97);
  }
}

TEST(Mu, MistakesAreNamed) {
  EXPECT_THROW(mu(Eigen::MatrixXcd::Zero(2, 3), scalars(0, 2)), Error);
  Eigen::MatrixXcd nan = Eigen::MatrixXcd::Zero(2, 2);
  nan(0, 1) = std::nan("");
  EXPECT_THROW(mu(nan, scalars(1, 1)), NumericalError);
  EXPECT_EQ(mu(Eigen::MatrixXcd::Zero(2, 2), scalars(1, 1)).upper, 0.0);
}

}  // namespace
}  // namespace catena
