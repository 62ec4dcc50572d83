// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/control/gramians.h"
#include "catena/control/hinf.h"
#include "catena/control/testing/flexible_plants.h"
#include "catena/control/testing/load_plant.h"
#include "catena/linear/algebra.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::compleib;
using test::RandomNumbers;

// V1.3 [Chiang & Safonov 1989]: seven states to three. Reference values recomputed in 80 digits.
StateSpace chiang_safonov_seven() {
  const double num[8] = {1, 801, 1024, 599, 451, 119, 49, 5.55};
  const double den[8] = {1, 12.6, 53.48, 90.94, 71.83, 27.22, 4.75, 0.3};
  MatrixXd a = MatrixXd::Zero(7, 7), b = MatrixXd::Zero(7, 1), c(1, 7);
  for (int i = 0; i < 7; ++i) {
    a(0, i) = -den[i + 1];
    if (i > 0) a(i, i - 1) = 1.0;
    c(0, i) = 0.05 * (num[i + 1] - den[i + 1]);
  }
  b(0, 0) = 1.0;
  return ss(a, b, c, 0.05 * MatrixXd::Identity(1, 1));
}

double gain_at(const StateSpace& g, double omega) {
  Eigen::MatrixXcd m = -g.A.cast<std::complex<double>>();
  m.diagonal().array() += std::complex<double>(0.0, omega);
  const Eigen::MatrixXcd b = g.B.cast<std::complex<double>>();
  return lapack::norm2(Eigen::MatrixXcd(g.C * lapack::solve(m, b) + g.D));
}

TEST(Reduction, ChiangSafonovBalanced) {
  const Reduction r = reduce(chiang_safonov_seven(), {.order = 3});
  const double sigma[7] = {2.2931741,   1.9140107,    0.66088908, 0.2489057,
                           0.091903433, 0.0012273936, 5.525e-7};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(r.sigma[i] / sigma[i], 1.0, 1e-7) << i;
  EXPECT_NEAR(r.sigma[6], sigma[6], 1e-9);
  EXPECT_NEAR(r.error.value, 0.345096, 1e-6);
  EXPECT_NEAR(r.error.frequency, 0.223, 1e-3);
  EXPECT_NEAR(r.bound, 0.684074, 1e-6);
  // Denominator s³ + 10.821513 s² + 35.074663 s + 20.559515.
  EXPECT_NEAR(-r.system.A.trace(), 10.821513, 1e-5);
  EXPECT_NEAR(-determinant(r.system.A), 20.559515, 1e-5);
  EXPECT_NEAR(r.robust_frequency, 0.468, 0.01);
}

TEST(Reduction, ChiangSafonovStochastic) {
  const Reduction r =
      reduce(chiang_safonov_seven(), {.method = ReductionMethod::stochastic, .order = 3});
  const double sigma[6] = {0.99973409, 0.99819431, 0.97341791,
                           0.71460479, 0.55841703, 0.0026044685};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(r.sigma[i], sigma[i], 2e-7) << i;
  EXPECT_NEAR(r.error.value, 4.208, 1e-3);  // relative; a peak that a grid of 0.5 % misses
  EXPECT_NEAR(r.error.frequency, 0.5001, 1e-3);
  EXPECT_NEAR(r.bound, 20.31, 0.01);
  EXPECT_NEAR(-r.system.A.trace(), 10.689417, 1e-5);
  EXPECT_NEAR(-determinant(r.system.A), 16.577804, 1e-5);
}

TEST(Reduction, ChiangSafonovHankel) {
  const StateSpace g = chiang_safonov_seven();
  const Reduction r = reduce(g, {.method = ReductionMethod::hankel, .order = 3});
  EXPECT_EQ(r.system.order(), 3);
  EXPECT_NEAR(hankelnorm(g - r.system), r.sigma[3], 1e-6 * r.sigma[3]);  // optimal
  EXPECT_LE(r.error.value, 0.342037 * (1.0 + 1e-5));
  EXPECT_GE(r.error.value, 0.2489);
}

// Several channels, not square: the Hankel error is σ_{k+1}, which no system of order k betters.
TEST(Reduction, HankelOfSeveralChannels) {
  RandomNumbers random(61);
  const StateSpace g = ss(random.stable(6), random.matrix(6, 2), random.matrix(3, 6));
  for (const int k : {1, 3, 5}) {
    const Reduction r = reduce(g, {.method = ReductionMethod::hankel, .order = k});
    EXPECT_EQ(r.system.order(), k);
    EXPECT_NEAR(hankelnorm(g - r.system) / r.sigma[k], 1.0, 1e-6);
    EXPECT_LE(r.error.value, r.bound * (1.0 + 1e-6));
    EXPECT_TRUE(r.certificate.passed());
  }
}

TEST(Reduction, CompleibTrueErrors) {
  EXPECT_NEAR(reduce(compleib("lah"), {.order = 20}).error.value / 1.61488e-4, 1.0, 1e-5);
  EXPECT_NEAR(reduce(compleib("cdp"), {.order = 20}).error.value / 0.763106, 1.0, 1e-5);
  EXPECT_NEAR(reduce(compleib("iss1"), {.order = 10}).error.value / 4.58634e-3, 1.0, 1e-5);
  EXPECT_NEAR(reduce(compleib("iss1"), {.order = 26}).error.value / 6.48336e-4, 1.0, 1e-5);
}

// A chain of masses on springs, free to drift, with an uncontrollable state beside it: rigid mode
// kept, reduction succeeds, the robust frequency is reported.
TEST(Reduction, RigidModesAndNonMinimalStates) {
  const int masses = 8, n = 2 * masses;
  MatrixXd k = MatrixXd::Zero(masses, masses);
  for (int i = 0; i + 1 < masses; ++i) {
    k(i, i) += 100;
    k(i + 1, i + 1) += 100;
    k(i, i + 1) -= 100;
    k(i + 1, i) -= 100;
  }
  MatrixXd a = MatrixXd::Zero(n + 1, n + 1), b = MatrixXd::Zero(n + 1, 1),
           c = MatrixXd::Zero(1, n + 1);
  a.block(0, masses, masses, masses).setIdentity();
  a.block(masses, 0, masses, masses) = -k;
  a.block(masses, masses, masses, masses) = -0.002 * k;
  a(n, n) = -3.0;  // no input reaches it
  c(0, n) = 1.0;
  b(masses, 0) = 1.0;
  c(0, masses - 1) = 1.0;
  RandomNumbers random(62);
  const MatrixXd t = random.matrix(n + 1, n + 1) + 5.0 * MatrixXd::Identity(n + 1, n + 1);
  const StateSpace g = similarity(ss(a, b, c), t);
  for (const ReductionMethod method :
       {ReductionMethod::balanced, ReductionMethod::modal, ReductionMethod::hankel}) {
    const Reduction r = reduce(g, {.method = method, .order = 12});
    EXPECT_EQ(r.kept_unstable, 2);
    EXPECT_TRUE(r.certificate.passed()) << r.certificate.text();
    EXPECT_GT(r.robust_frequency, 5.0);
    EXPECT_NEAR(gain_at(r.system, 0.05) / gain_at(g, 0.05), 1.0, 1e-2);
  }
  EXPECT_THROW(reduce(g, {.order = 1}), NumericalError);
}

TEST(Reduction, WeightsAndDcGain) {
  RandomNumbers random(63);
  const StateSpace g = ss(random.stable(10), random.matrix(10, 1), random.matrix(1, 10));
  const Reduction dc = reduce(g, {.order = 4, .match_dc = true});
  EXPECT_NEAR(gain_at(dc.system, 0.0), gain_at(g, 0.0), 1e-9 * gain_at(g, 0.0));
  // A low-pass weight moves the error to where it does not count.
  const MatrixXd one = MatrixXd::Identity(1, 1);
  const StateSpace low = ss(-0.1 * one, one, 0.1 * one);
  ReductionSettings weighted{.order = 4};
  weighted.output_weight = low;
  const Reduction w = reduce(g, weighted), plain = reduce(g, {.order = 4});
  EXPECT_LE(w.error.value, linfnorm(series(g - plain.system, low)).value * (1.0 + 1e-9));
  ReductionSettings bad{.order = 4};
  bad.output_weight = ss(one, one, one);
  EXPECT_THROW(reduce(g, bad), NumericalError);
}

TEST(Reduction, ControllerInItsLoop) {
  const GeneralizedPlant p = test::flexible_plant(3, 5);
  const HinfResult h = hinfsyn(p);
  const StateSpace g = ss(p.system.A, p.B2(), p.C2(), p.D22());
  const ControllerReduction r = reduce_controller(g, h.controller, 8);
  EXPECT_EQ(r.controller.order(), 8);
  EXPECT_LT(lapack::eigenvalues(feedback(g, r.controller, +1).A).real().maxCoeff(), 0.0);
}

}  // namespace
}  // namespace catena
