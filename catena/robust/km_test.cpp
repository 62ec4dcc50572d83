// SPDX-License-Identifier: BSD-3-Clause
// A table of matrices whose margins were found by another convex search of an independent program,
// and the order of the margins on random ones.
#include "catena/robust/km.h"

#include <cmath>
#include <complex>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Complex = std::complex<double>;

struct Row {
  Eigen::MatrixXcd m;
  double sigma, two_sided, one_sided, real, jones;
};

std::vector<Row> margin_table() {
  const Complex j(0, 1);
  Eigen::MatrixXcd t1(2, 2), t2(2, 2), t3(2, 2), t4(3, 3), t5(3, 3), t6(2, 2), t7(3, 3);
  t1 << 0, 10, 0.1, 0;
  t2 << 0, 1, -1, 0;
  t3 << j, 0, 0, j;
  t4 << 1, 2, 0, 0.5, -1, 3, j, 0, 2;
  t5 << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  t6 << 1.0 + j, 2, 0.5, -1.0 + 0.5 * j;
  t7 << 1.0 + 2.0 * j, -2.0 - 3.0 * j, 2.0 - 2.0 * j, -3.0 - j, -3.0 - j, 3.0 + j, -2, 1.0 + j,
      2.0 - j;
  return {{t1, 10.0, 1.0, 1.0, 1.0, 1.0},
          {t2, 1.0, 1.0, 0.0, 1.0, 1.0},
          {t3, 1.0, 1.0, 0.0, 0.0, 0.0},
          {t4, 3.7924992, 3.0978691, 2.7044044, 2.9020287, 2.9020287},
          {t5, 1.0, 1.0, 1.0, 1.0, 1.0},
          {t6, 2.5495098, 1.8027756, 1.4142136, 1.4142136, 1.4142136},
          {t7, 6.3924242, 5.6303383, 3.7852429, 4.6873064, 4.8689100}};
}

TEST(Km, Table) {
  for (const Row& row : margin_table()) {
    EXPECT_NEAR(lapack::norm2(row.m), row.sigma, 1e-7);
    EXPECT_NEAR(km_two_sided(row.m).inverse, row.two_sided, 1e-7);
    EXPECT_NEAR(km_one_sided(row.m).inverse, row.one_sided, 1e-7);
    EXPECT_NEAR(km_real(row.m).inverse, row.real, 1e-7);
    EXPECT_NEAR(km_jones(row.m).inverse, row.jones, 1e-7);
  }
}

TEST(Km, ScalingsOfTheTable) {
  const Eigen::MatrixXcd m = margin_table()[3].m;
  const Eigen::VectorXd d2 = km_two_sided(m).scaling, d1 = km_one_sided(m).scaling;
  EXPECT_NEAR(std::log(d2[1] / d2[0]), -0.15502, 2e-5);
  EXPECT_NEAR(std::log(d2[2] / d2[0]), 0.47180, 2e-5);
  EXPECT_NEAR(std::log(d1[1] / d1[0]), -0.33356, 2e-5);
  EXPECT_NEAR(std::log(d1[2] / d1[0]), 0.18845, 2e-5);
}

TEST(Km, OrderOfTheMargins) {
  std::mt19937 generator(8);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 20; ++k) {
    const Eigen::MatrixXcd m = Eigen::MatrixXcd::NullaryExpr(
        4, 4, [&] { return Complex(normal(generator), normal(generator)); });
    const double one = km_one_sided(m).inverse, real = km_real(m).inverse;
    const double jones = km_jones(m).inverse, two = km_two_sided(m).inverse;
    EXPECT_LE(one, real * (1.0 + 1e-8));
    EXPECT_LE(real, jones * (1.0 + 1e-8));
    EXPECT_LE(jones, two * (1.0 + 1e-8));
    EXPECT_LE(two, lapack::norm2(m) * (1.0 + 1e-8));
  }
}

// 1 − Δ M stays regular for every Δ in the sector below the margin: |δ − K/2| < K/2.
TEST(Km, SectorBelowTheMargin) {
  std::mt19937 generator(9);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const Eigen::MatrixXcd m = Eigen::MatrixXcd::NullaryExpr(
      3, 3, [&] { return Complex(normal(generator), normal(generator)); });
  const double k = 0.999 / km_one_sided(m).inverse;
  for (int i = 0; i < 500; ++i) {
    Eigen::VectorXcd delta(3);
    for (int j = 0; j < 3; ++j)
      delta[j] = 0.5 * k + std::polar(0.5 * k * uniform(generator), 6.2831853 * uniform(generator));
    const Eigen::MatrixXcd loop = Eigen::MatrixXcd::Identity(3, 3) - delta.asDiagonal() * m;
    EXPECT_GT(lapack::singular_values(loop).minCoeff(), 1e-6);
  }
}

TEST(Km, MistakesAreNamed) {
  EXPECT_THROW(km_one_sided(Eigen::MatrixXcd::Zero(2, 3)), Error);
  EXPECT_THROW(km_real(Eigen::MatrixXcd::Identity(13, 13)), Error);
}

}  // namespace
}  // namespace catena
