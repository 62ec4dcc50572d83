// SPDX-License-Identifier: BSD-3-Clause
// Families whose boundaries are known: third order by Hurwitz's inequality, and grids.
#include "catena/robust/interval_polynomials.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/error.h"

namespace catena {
namespace {

using Eigen::VectorXd;

VectorXd ascending(std::initializer_list<double> list) {
  VectorXd p(static_cast<Eigen::Index>(list.size()));
  std::copy(list.begin(), list.end(), p.begin());
  return p;
}

// a0 + a1 s + a2 s² + a3 s³ with a_i in m_i ± t h_i is stable exactly while
// (a1 − t h1)(a2 − t h2) > (a0 + t h0)(a3 + t h3).
TEST(IntervalPolynomials, ThirdOrderByHurwitz) {
  const VectorXd m = ascending({2.0, 5.0, 4.0, 1.0}), h = ascending({0.3, 1.5, 1.0, 0.2});
  double low = 0.0, high = 4.0;
  for (int i = 0; i < 100; ++i) {
    const double t = 0.5 * (low + high);
    const bool stable =
        (m[1] - t * h[1]) * (m[2] - t * h[2]) > (m[0] + t * h[0]) * (m[3] + t * h[3]) &&
        m[0] - t * h[0] > 0.0;
    (stable ? low : high) = t;
  }
  EXPECT_NEAR(interval_margin({m - h, m + h}), low, 1e-9);
  // The same family as a box of four parameters: the edges say the same.
  AffinePolynomial box{m, {}};
  for (int i = 0; i < 4; ++i) box.parts.push_back(h[i] * VectorXd::Unit(4, i));
  EXPECT_NEAR(edge_margin(box), low, 1e-9);
}

// (s² + ...)(s² + ...) of frequencies² 1 and 3, and 10 and 30: both stable, s⁴ + s³ + 22 s² + 11 s
// + 151.5 between them is not.
TEST(IntervalPolynomials, StableEndsOfAnUnstableEdge) {
  const VectorXd p = ascending({3.0, 2.0, 4.0, 1.0, 1.0}),
                 q = ascending({300.0, 20.0, 40.0, 1.0, 1.0});
  EXPECT_TRUE(is_hurwitz(p));
  EXPECT_TRUE(is_hurwitz(q));
  EXPECT_FALSE(is_hurwitz(0.5 * (p + q)));
  EXPECT_FALSE(edges_stable({0.5 * (p + q), {0.5 * (q - p)}}));
  EXPECT_TRUE(edges_stable({p, {0.001 * (q - p)}}));
}

TEST(IntervalPolynomials, EdgesBesideAGrid) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int trial = 0; trial < 20; ++trial) {
    AffinePolynomial f{ascending({1.3, 3.6, 4.0, 2.7, 1.0}), {}};
    for (int k = 0; k < 2; ++k) {
      VectorXd part(5);
      for (double& x : part) x = uniform(random);
      part[4] = 0.0;
      f.parts.push_back(part);
    }
    double low = 0.0, high = 8.0;
    for (int i = 0; i < 25; ++i) {
      const double t = 0.5 * (low + high);
      bool stable = true;
      constexpr int kGrid = 12;
      for (int a = 0; a <= kGrid && stable; ++a)
        for (int b = 0; b <= kGrid && stable; ++b)
          stable = is_hurwitz(f.base + t * (2.0 * a / kGrid - 1.0) * f.parts[0] +
                              t * (2.0 * b / kGrid - 1.0) * f.parts[1]);
      (stable ? low : high) = t;
    }
    const double margin = edge_margin(f);
    EXPECT_LE(margin, low * (1.0 + 1e-6));
    EXPECT_GE(margin, low * 0.9);
  }
}

TEST(IntervalPolynomials, MistakesAreNamed) {
  EXPECT_THROW(interval_margin({ascending({-1.0, 1.0}), ascending({-0.5, 1.0})}), Error);
  EXPECT_THROW(kharitonov_stable({ascending({1.0}), ascending({1.0, 2.0})}), Error);
  EXPECT_THROW(kharitonov_stable({ascending({1.0, 2.0}), ascending({0.0, 2.0})}), Error);
}

}  // namespace
}  // namespace catena
