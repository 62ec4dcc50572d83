// SPDX-License-Identifier: BSD-3-Clause
// Against closed forms: oscillators, Hurwitz's criterion, a table of a published example, and the
// H-infinity norm where the block is one full one.
#include "catena/robust/robust_analysis.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/norms.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

// Three modes of damping ratio `zeta`, measured and driven at the same place.
StateSpace three_modes(double zeta) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(6, 6), B = Eigen::MatrixXd::Zero(6, 1),
                  C = Eigen::MatrixXd::Zero(1, 6);
  const double omega[] = {1.0, 7.3, 41.0}, gain[] = {0.3, 1.0, 0.6};
  for (int i = 0; i < 3; ++i) {
    A(2 * i, 2 * i + 1) = 1.0;
    A(2 * i + 1, 2 * i) = -omega[i] * omega[i];
    A(2 * i + 1, 2 * i + 1) = -2.0 * zeta * omega[i];
    B(2 * i + 1, 0) = gain[i];
    C(0, 2 * i) = gain[i] * omega[i];
  }
  return ss(A, B, C);
}

void expect_cover(const MuPeak& peak) {
  EXPECT_TRUE(peak.covered);
  std::vector<MuBand> bands = peak.bands;
  std::sort(bands.begin(), bands.end(),
            [](const MuBand& a, const MuBand& b) { return a.low < b.low; });
  double reached = 0.0;
  for (const MuBand& b : bands) {
    EXPECT_LE(b.low, reached * (1.0 + 1e-9) + 1e-300);
    reached = std::max(reached, b.high);
    EXPECT_LE(b.bound, peak.upper * (1.0 + 1e-12));
  }
  EXPECT_TRUE(std::isinf(reached));
}

TEST(MuPeak, OneBlockIsTheNormOfTheSystem) {
  for (const double zeta : {0.001, 0.02, 0.3}) {
    const StateSpace g = three_modes(zeta);
    const double norm = hinfnorm(g).value;
    BlockStructure s;
    s.add_full("all");
    const MuPeak peak = mu_peak(g, s);
    expect_cover(peak);
    EXPECT_GE(peak.upper, norm * (1.0 - 1e-12));
    EXPECT_LE(peak.upper, norm * 1.001);
    EXPECT_NEAR(peak.lower, norm, 1e-3 * norm);
  }
}

TEST(MuPeak, SampledSystems) {
  const StateSpace g = c2d(three_modes(0.02), 0.01);
  BlockStructure s;
  s.add_full("all");
  const PeakGain norm = hinfnorm(g);
  const MuPeak peak = mu_peak(g, s);
  EXPECT_GE(peak.upper, norm.value * (1.0 - 1e-12));
  EXPECT_LE(peak.upper, norm.value * 1.001);
  EXPECT_NEAR(peak.frequency, norm.frequency, 1e-2 * norm.frequency);
}

// G = [4/(s+4), 0; 4s/(s+4) + 8s/(s+8), 8/(s+8)], T = G (1 + G)⁻¹ with two uncertain inputs:
// K_m = 2 where singular values guarantee 1/12 [Chiang & Safonov 1989].
TEST(MuPeak, MarginOfAPublishedExample) {
  Eigen::MatrixXd A(2, 2), B(2, 2), C(2, 2), D(2, 2);
  // Outputs: 4/(s+4) u1, and 4 − 16/(s+4) + 8 − 64/(s+8) of u1.
  A << -4.0, 0.0, 0.0, -8.0;
  B << 1.0, 0.0, 1.0, -0.125;
  C << 4.0, 0.0, -16.0, -64.0;
  D << 0.0, 0.0, 12.0, 0.0;
  const StateSpace g = ss(A, B, C, D);
  const StateSpace t = feedback(g, ss(Eigen::MatrixXd::Identity(2, 2)));
  BlockStructure s;
  s.add_full("input 1");
  s.add_full("input 2");
  const MuPeak peak = mu_peak(t, s);
  expect_cover(peak);
  EXPECT_GE(peak.upper, 0.5 * (1.0 - 1e-9));
  EXPECT_LE(peak.upper, 0.5 * 1.0011);
  EXPECT_NEAR(peak.lower, 0.5, 1e-6);
  EXPECT_NEAR(hinfnorm(t).value, 12.0, 1e-6);  // the unstructured bound
}

// m ẍ + d ẋ + k x with integral control: m s³ + d s² + k s + ki is stable exactly if d k > m ki.
UncertainSystem integral_control(double d_range, double k_range) {
  const double m = 2.0, d = 0.8, k = 5.0, ki = 1.0;
  UncertainSystem u;
  Eigen::MatrixXd A(3, 3), B(3, 3), C(3, 3);
  A << 0, 1, 0, -k / m, -d / m, -ki / m, 1, 0, 0;
  B << 0, 0, 0, -d_range / m, -k_range / m, 1 / m, 0, 0, 0;
  C << 0, 1, 0, 1, 0, 0, 1, 0, 0;
  u.system = ss(A, B, C);
  u.blocks.add_real("damping");
  u.blocks.add_real("stiffness");
  u.parameters = {UncertainParameter{"damping", d, d - d_range, d + d_range},
                  UncertainParameter{"stiffness", k, k - k_range, k + k_range}};
  return u;
}

TEST(RobustStability, RealParametersByHurwitz) {
  for (const auto& [dr, kr] : {std::pair{0.2, 1.0}, {0.4, 0.5}, {0.05, 2.0}}) {
    const RobustStability r = robstab(integral_control(dr, kr));
    // (0.8 − t dr)(5 − t kr) = 2: the smaller root.
    const double a = dr * kr, b = -(0.8 * kr + 5.0 * dr), c = 4.0 - 2.0;
    const double t = (-b - std::sqrt(b * b - 4.0 * a * c)) / (2.0 * a);
    EXPECT_NEAR(r.margin_high, t, 1e-9 * t);
    EXPECT_LE(r.margin_low, t * (1.0 + 1e-9));
    EXPECT_GE(r.margin_low, 0.95 * t);
    EXPECT_NEAR(r.frequency, std::sqrt(1.0 / (0.8 - t * dr)), 1e-6);
    EXPECT_NEAR(r.parameters.at("damping"), 0.8 - t * dr, 1e-9);
    EXPECT_NEAR(r.parameters.at("stiffness"), 5.0 - t * kr, 1e-8);
  }
}

// One real parameter: μ is positive at a single frequency, which no sample would hit.
TEST(RobustStability, OneRealParameterAtASingleFrequency) {
  const UncertainSystem both = integral_control(0.2, 1.0);
  // 0.8 - 0.2 t = 2/5, and 5 - t = 2/0.8.
  for (const auto& [block, margin] : {std::pair{0, 2.0}, {1, 2.5}}) {
    const RobustStability r = robstab(with_blocks(both, {block}));
    EXPECT_LE(r.margin_low, margin * (1.0 + 1e-9));
    EXPECT_GE(r.margin_low, margin * 0.995);
    EXPECT_NEAR(r.margin_high, margin, 1e-9);
  }
}

// Proof from the other side: random parameters within the guaranteed margin leave the loop stable,
// and the destabilizing ones take it to the axis.
TEST(RobustStability, SamplesWithinTheMarginAreStable) {
  const UncertainSystem u = integral_control(0.3, 2.0);
  const RobustStability r = robstab(u);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const StateSpace closed = close(u, sample(u.blocks, seed, 0.999 * r.margin_low));
    EXPECT_LT(lapack::eigenvalues(closed.A).real().maxCoeff(), 0.0);
  }
  const StateSpace limit = close(u, r.worst);
  EXPECT_NEAR(lapack::eigenvalues(limit.A).real().maxCoeff(), 0.0, 1e-9);
}

// The gain of an oscillator is 1/(d ω_d), largest at the least stiffness.
TEST(WorstCaseGain, Oscillator) {
  const double m = 1.5, d = 0.05, k = 7.0, range = 2.0;
  UncertainSystem u;
  Eigen::MatrixXd A(2, 2), B(2, 2), C(2, 2);
  A << 0, 1, -k / m, -d / m;
  B << 0, 0, -range / m, 1 / m;
  C << 1, 0, 1, 0;
  u.system = ss(A, B, C);
  u.blocks.add_real("stiffness");
  u.parameters = {UncertainParameter{"stiffness", k, k - range, k + range}};
  const auto gain = [&](double stiffness) {
    return 1.0 / (d * std::sqrt(stiffness / m - d * d / (4.0 * m * m)));
  };
  const WorstCaseGain g = wcgain(u);
  EXPECT_NEAR(g.nominal, gain(k), 1e-6 * gain(k));
  EXPECT_GE(g.upper, gain(k - range) * (1.0 - 1e-9));
  EXPECT_LE(g.upper, gain(k - range) * 1.005);
  EXPECT_GE(g.lower, gain(k - range) * 0.99);
  EXPECT_LE(g.lower, g.upper);
}

TEST(RobustStability, MistakesAreNamed) {
  UncertainSystem u = integral_control(0.2, 1.0);
  u.system.A(1, 1) = 1.0;
  try {
    robstab(u);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("not stable"));
  }
  EXPECT_THROW(robgain(integral_control(0.2, 1.0), -1.0), Error);
}

}  // namespace
}  // namespace catena
