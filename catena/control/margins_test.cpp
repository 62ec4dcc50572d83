// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/margins.h"

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/testing/random_systems.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::RandomNumbers;

// k/(s (s + 1) (s + 2)): phase crossover √2 with L = −k/6; at k = 1 crossover from a cubic in ω².
StateSpace third_order(double k) {
  MatrixXd a(3, 3), b(3, 1), c(1, 3);
  a << 0, 1, 0, 0, 0, 1, 0, -2, -3;
  b << 0, 0, k;
  c << 1, 0, 0;
  return ss(a, b, c);
}

TEST(Margins, ThirdOrderInClosedForm) {
  const Margins m = margin(third_order(1.0));
  EXPECT_TRUE(m.stable);
  ASSERT_EQ(m.gain.size(), 1u);
  EXPECT_NEAR(m.gain[0].frequency, std::sqrt(2.0), 1e-10);
  EXPECT_NEAR(m.gain_margin_up, 6.0, 1e-9);
  ASSERT_EQ(m.phase.size(), 1u);
  const double w = m.phase[0].frequency;
  EXPECT_NEAR(w * w * (w * w + 1.0) * (w * w + 4.0), 1.0, 1e-10);
  const double expected = M_PI / 2 - std::atan(w) - std::atan(w / 2.0);
  EXPECT_NEAR(m.phase_margin, expected, 1e-9);
  EXPECT_NEAR(m.delay_margin, expected / w, 1e-9);
  EXPECT_FALSE(margin(third_order(7.0)).stable);
  EXPECT_NEAR(margin(third_order(12.0)).gain_margin_down, 0.5, 1e-9);
}

// A lightly damped resonance above the bandwidth crosses unity twice more within 2 % of frequency:
// a coarse grid sees neither.
TEST(Margins, NarrowResonance) {
  const double zeta = 1e-4, wr = 20.0;
  MatrixXd a = MatrixXd::Zero(3, 3), b(3, 1), c(1, 3);
  a << 0, 0, 0, 0, 0, 1, 0, -wr * wr, -2 * zeta * wr;
  b << 1, 0, 1;
  c << 1, 0, 0.05;
  const Margins m = margin(ss(a, b, c));
  ASSERT_EQ(m.phase.size(), 3u);
  for (const PhaseCrossing& p : m.phase) {
    const std::complex<double> s(0.0, p.frequency);
    EXPECT_NEAR(std::abs(1.0 / s + 0.05 * s / (s * s + 2.0 * zeta * wr * s + wr * wr)), 1.0, 1e-7);
  }
  EXPECT_NEAR(m.phase[1].frequency, 20.0, 0.5);
}

// Every margin is true: the loop changed by it has a pole on the boundary.
TEST(Margins, AreAttained) {
  RandomNumbers random(81);
  for (int trial = 0; trial < 30; ++trial) {
    const double dt = trial % 2 == 0 ? 0.0 : 0.1;
    const MatrixXd a = dt > 0.0 ? random.contraction(5, 0.95) : random.stable(5);
    const StateSpace g = ss(a, random.matrix(5, 1), random.matrix(1, 5), MatrixXd::Zero(1, 1), dt);
    for (const GainCrossing& c : margin(g).gain) {
      const Eigen::VectorXcd p = lapack::eigenvalues(feedback(c.gain_margin * g).A);
      double nearest = 1e9;
      for (const auto& s : p)
        nearest = std::min(nearest, dt > 0.0 ? std::abs(std::abs(s) - 1.0) : std::abs(s.real()));
      EXPECT_LT(nearest, 1e-6) << trial;
    }
  }
}

// A phase that tends to 180° and crosses it nowhere has no gain margins; rounding gave 1e14 and
// 1e-15.
TEST(Margins, PhaseThatOnlyTendsTo180) {
  // (s + 1)/s²: −180° at zero, −90° at infinity; |L| = 1 at ω² = (1 + √5)/2.
  MatrixXd a(2, 2), b(2, 1), c(1, 2);
  a << 0, 1, 0, 0;
  b << 0, 1;
  c << 1, 1;
  const Margins lead = margin(ss(a, b, c));
  EXPECT_TRUE(lead.stable);
  EXPECT_TRUE(lead.gain.empty());
  EXPECT_TRUE(std::isinf(lead.gain_margin_up));
  EXPECT_EQ(lead.gain_margin_down, 0.0);
  EXPECT_NEAR(lead.phase_margin, std::atan(std::sqrt((1.0 + std::sqrt(5.0)) / 2.0)), 1e-9);
  // 1/(s² + 2 ζ s + 1): −180° at infinity only.
  c << 1, 0;
  a << 0, 1, -1, -0.02;
  const Margins lag = margin(5.0 * ss(a, b, c));
  EXPECT_TRUE(lag.gain.empty());
  // Undamped: the open-loop pole is no crossing, whatever its residue.
  a << 0, 1, -1, 0;
  for (const GainCrossing& g : margin(ss(a, b, c)).gain)
    EXPECT_LT(std::abs(std::log(g.gain_margin)), 20.0) << g.frequency;
  // Random realizations of (s + 1)/s² and its sampled form.
  RandomNumbers random(5);
  for (int trial = 0; trial < 20; ++trial) {
    MatrixXd t = random.matrix(2, 2) + 3.0 * MatrixXd::Identity(2, 2);
    a << 0, 1, 0, 0;
    c << 1, 1;
    const StateSpace g = similarity(ss(a, b, c), t);
    for (const StateSpace& loop : {g, c2d(g, 0.01)})
      for (const GainCrossing& x : margin(loop).gain) {
        EXPECT_LT(x.gain_margin, 1e4) << trial;
        EXPECT_GT(x.gain_margin, 1e-4) << trial;
      }
  }
}

TEST(Margins, Disk) {
  // L = 1/s: S − T over two is (s − 1)/(2 (s + 1)), norm ½, α = 2: any gain, 90 degrees.
  const MatrixXd one = MatrixXd::Identity(1, 1);
  const DiskMargin d = diskmargin(ss(0.0 * one, one, one));
  EXPECT_NEAR(d.alpha, 2.0, 1e-6);
  EXPECT_NEAR(d.phase, M_PI / 2, 1e-3);
  // Not larger than the classical margins, and attained by gain alone where the disk touches.
  const StateSpace g = third_order(1.0);
  const DiskMargin t = diskmargin(g);
  const Margins m = margin(g);
  EXPECT_LE(t.gain_up, m.gain_margin_up);
  EXPECT_LE(t.phase, m.phase_margin);
  EXPECT_NEAR(diskmargin(g, 1.0).alpha, 1.0 / hinfnorm(feedback(ss(one), g)).value, 1e-6);
  EXPECT_EQ(diskmargin(third_order(7.0)).alpha, 0.0);
  EXPECT_EQ(diskmargin_loop_at_a_time(append(g, g)).size(), 2u);
  EXPECT_NEAR(diskmargin_loop_at_a_time(append(g, g))[1].alpha, t.alpha, 1e-8);
}

TEST(Margins, Ncf) {
  // P = 1/s, C = 1: [1; 1] s/(s + 1) [1 1/s]: norm √2 · sup |[s 1]|/|s + 1| = √2.
  const MatrixXd one = MatrixXd::Identity(1, 1);
  EXPECT_NEAR(ncfmargin(ss(0.0 * one, one, one), ss(one)).value, 1.0 / std::sqrt(2.0), 1e-8);
  EXPECT_EQ(ncfmargin(ss(0.0 * one, one, one), ss(-one)).value, 0.0);
  EXPECT_THROW(margin(ss(MatrixXd::Ones(2, 2))), NumericalError);
}

}  // namespace
}  // namespace catena
