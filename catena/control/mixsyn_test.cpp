// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/mixsyn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/testing/random_systems.h"
#include "catena/linear/algebra.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::RandomNumbers;

std::complex<double> at(const StateSpace& g, double omega) {
  Eigen::MatrixXcd m = -g.A.cast<std::complex<double>>();
  m.diagonal().array() += std::complex<double>(0.0, omega);
  const Eigen::MatrixXcd b = g.B.cast<std::complex<double>>();
  return Eigen::MatrixXcd(g.C * lapack::solve(m, b) + g.D)(0, 0);
}

TEST(Weights, RationalAndMakeweight) {
  // (2s² + 3s + 5)/(s + 1) = 2s + 1 + 4/(s + 1).
  const Weight w = rational_weight({2, 3, 5}, {1, 1});
  ASSERT_EQ(w.polynomial.size(), 1u);
  EXPECT_DOUBLE_EQ(w.polynomial[0](0, 0), 2.0);
  EXPECT_NEAR(std::abs(at(w.proper, 1.0) - (1.0 + 4.0 / std::complex<double>(1.0, 1.0))), 0.0,
              1e-14);
  const Weight m = makeweight(100.0, 3.0, 0.2);
  EXPECT_NEAR(std::abs(at(m.proper, 0.0)), 100.0, 1e-10);
  EXPECT_NEAR(std::abs(at(m.proper, 3.0)), 1.0, 1e-12);
  EXPECT_NEAR(std::abs(at(m.proper, 1e9)), 0.2, 1e-6);
  EXPECT_THROW(makeweight(10.0, 3.0, 2.0), NumericalError);
}

// V1.2 [Chiang & Safonov 1989]: W3 = s²/40000 is improper; ρ of W1 is maximized: 3.160423.
TEST(Mixsyn, ChiangSafonov) {
  const StateSpace g = rational_weight({400}, {1, 2, 400}).proper;
  const Weight w1 = rational_weight({100 * 2.5e-5, 100 * 1e-2, 100}, {4e-2, 4e-1, 1}),
               w3 = polynomial_weight({0.0, 0.0, 1.0 / 40000.0});
  const MixsynResult r = mixsyn(g, w1, {}, w3, {.tolerance = 1e-4});
  EXPECT_EQ(r.augmented.system.order(), 4);
  EXPECT_NEAR(r.hinf.gamma, 0.525446, 2e-4 * 0.525446);
  // [W1 S; W3 T] from S and T themselves.
  for (const double w : {1.0, 20.0, 300.0}) {
    const std::complex<double> s(0.0, w);
    const auto weight1 = 100.0 * std::pow(0.005 * s + 1.0, 2) / std::pow(0.2 * s + 1.0, 2);
    const double stack =
        std::hypot(std::abs(weight1 * at(r.S, w)), std::abs(s * s / 40000.0 * at(r.T, w)));
    EXPECT_LE(stack, r.hinf.gamma * (1.0 + 1e-6));
    EXPECT_NEAR(std::abs(at(r.S, w) + at(r.T, w) - 1.0), 0.0, 1e-9);
  }
  const WeightMaximum best = maximize_weight(g, w1, {}, w3);
  EXPECT_NEAR(best.rho, 3.160423, 1e-4);
  EXPECT_LE(best.design.hinf.gamma, 1.0 + 1e-4);
}

// Constant weights on a plant with poles on the axis: no disturbance reaches its states. S tends to
// 1, so no level below |W1| exists; zeros of P21 on the axis get a little noise.
TEST(Mixsyn, RigidPlantWithConstantWeights) {
  for (const double stiffness : {0.0, 4.0}) {  // double integrator, undamped oscillator
    const StateSpace g =
        ss((MatrixXd(2, 2) << 0, 1, -stiffness, 0).finished(), (MatrixXd(2, 1) << 0, 1).finished(),
           (MatrixXd(1, 2) << 1, 0).finished());
    const MixsynResult r = mixsyn(g, weight(0.5), weight(0.1), {});
    EXPECT_TRUE(r.hinf.peak.stable);
    EXPECT_GE(r.hinf.gamma, 0.5 - 1e-9);
    EXPECT_LE(r.hinf.gamma, 1.0);
    ASSERT_FALSE(r.hinf.certificate.remarks.empty());
    EXPECT_THAT(r.hinf.certificate.remarks.back(), testing::HasSubstr("zeros on the stability"));
    for (int k = 0; k <= 400; ++k) {
      const double w = std::pow(10.0, -4.0 + 0.015 * k);
      const std::complex<double> s = at(r.S, w), l = 1.0 / s - 1.0;
      const double u = std::abs(s * (l / at(g, w)));
      EXPECT_LE(std::hypot(0.5 * std::abs(s), 0.1 * u), r.hinf.gamma * (1.0 + 1e-6)) << w;
    }
  }
}

TEST(Mixsyn, BadWeights) {
  const StateSpace g = rational_weight({1}, {1, 1}).proper;
  EXPECT_THROW(mixsyn(g, rational_weight({1}, {1, 0})), NumericalError);  // integrator
  EXPECT_THROW(mixsyn(g, weight(1.0), {}, polynomial_weight({0, 0, 1})), NumericalError);  // s² G
  EXPECT_THROW(augw(g, {}), NumericalError);
  EXPECT_THROW(augw(g, weight(0.0)), NumericalError);
  EXPECT_EQ(augw(g, weight(ss(-MatrixXd::Identity(1, 1), MatrixXd::Identity(1, 1),
                              MatrixXd::Identity(1, 1))))
                .system.states,
            (std::vector<std::string>{"x1", "W1.x1"}));
  EXPECT_THROW(augw(g, weight(ss(MatrixXd::Identity(2, 2)))), NumericalError);
}

// P = 1/s: X = Y = 1, best margin 1/√2, reached by C = 1 (closed form).
TEST(Ncfsyn, IntegratorAndRandomPlants) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  const NcfsynResult r = ncfsyn(ss(0.0 * one, one, one), {}, {}, 1.001);
  EXPECT_NEAR(r.best_margin, 1.0 / std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(r.margin, r.best_margin, 2e-3);
  RandomNumbers random(91);
  for (int trial = 0; trial < 10; ++trial) {
    const StateSpace g = ss(random.matrix(5, 5), random.matrix(5, 2), random.matrix(3, 5));
    const NcfsynResult c = ncfsyn(g);
    EXPECT_TRUE(c.certificate.passed()) << c.certificate.text();
    EXPECT_LE(c.margin, c.best_margin * (1.0 + 1e-6));
    EXPECT_LT(lapack::eigenvalues(feedback(g, c.controller).A).real().maxCoeff(), 0.0);
  }
}

}  // namespace
}  // namespace catena
