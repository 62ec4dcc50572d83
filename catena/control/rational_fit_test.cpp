// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/rational_fit.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/testing/random_systems.h"
#include "catena/control/wiener_hopf.h"
#include "catena/linear/analysis.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using test::RandomNumbers;

MatrixXcd response(const StateSpace& g, double w) {
  MatrixXcd a = -g.A.cast<Complex>();
  a.diagonal().array() += Complex(0.0, w);
  return g.C * lapack::solve(a, MatrixXcd(g.B.cast<Complex>())) + g.D;
}

std::vector<double> logarithmic(double from, double to, int count) {
  std::vector<double> w;
  for (int k = 0; k < count; ++k) w.push_back(from * std::pow(to / from, k / (count - 1.0)));
  return w;
}

// Samples of a rational system give the system back: same poles, same response elsewhere.
TEST(RationalFit, RecoversARationalSystem) {
  RandomNumbers random(3);
  MatrixXd a = MatrixXd::Zero(7, 7);
  const double modes[3][2] = {{1.0, 0.02}, {4.0, 0.01}, {9.0, 0.1}};
  for (int k = 0; k < 3; ++k) {
    a(2 * k, 2 * k + 1) = 1.0;
    a(2 * k + 1, 2 * k) = -modes[k][0] * modes[k][0];
    a(2 * k + 1, 2 * k + 1) = -2.0 * modes[k][1] * modes[k][0];
  }
  a(6, 6) = -2.5;
  const StateSpace g = ss(a, random.matrix(7, 2), random.matrix(2, 7), random.matrix(2, 2));
  const std::vector<double> w = logarithmic(0.05, 100.0, 200);
  std::vector<MatrixXcd> samples;
  for (const double x : w) samples.push_back(response(g, x));
  const RationalFit fit = rational_fit(w, samples, {.tolerance = 1e-10});
  EXPECT_LT(fit.error, 1e-8);
  EXPECT_TRUE(is_stable(fit.system));
  for (const Complex& pole : lapack::eigenvalues(a)) {
    const double nearest = (fit.poles.array() - pole).abs().minCoeff();
    EXPECT_LT(nearest, 1e-6 * std::abs(pole)) << pole;
  }
  for (const double x : {0.01, 0.7, 3.99, 8.1, 400.0})
    EXPECT_LT((response(fit.system, x) - response(g, x)).norm(), 1e-6 * response(g, x).norm()) << x;
}

// A delay and a lag: no rational function; the fit is right between its samples.
TEST(RationalFit, DelayBetweenTheSamples) {
  const auto g = [](double w) {
    const Complex s(0.0, w);
    return MatrixXcd::Constant(1, 1, std::exp(-0.3 * s) / (1.0 + s));
  };
  const std::vector<double> w = logarithmic(0.01, 30.0, 300);
  std::vector<MatrixXcd> samples;
  for (const double x : w) samples.push_back(g(x));
  const RationalFit fit = rational_fit(w, samples, {.tolerance = 1e-7});
  EXPECT_TRUE(is_stable(fit.system));
  for (double x = 0.013; x < 29.0; x *= 1.37)
    EXPECT_LT((response(fit.system, x) - g(x)).norm(), 1e-5) << x;
}

// G = 1/(s + 1), Φ_d = 3/(1 − s²), Φ_n = 1, μ = 1/3: the controller on samples is 1/(s + 3).
TEST(RationalFit, WienerHopfControllerInClosedForm) {
  const auto one = [](Complex v) { return MatrixXcd::Constant(1, 1, v); };
  const SampledDesign d = wiener_hopf([&](double w) { return one(1.0 / Complex(1.0, w)); },
                                      [&](double w) { return one(3.0 / (1.0 + w * w)); },
                                      [&](double) { return one(1.0); }, 1.0 / 3.0, {.nodes = 1024});
  std::vector<double> w;
  for (int k = 0; k < 512; ++k) w.push_back(d.grid.frequency(k));
  const RationalFit fit =
      rational_fit(w, d.controller_samples, {.tolerance = 1e-8, .strictly_proper = true});
  ASSERT_EQ(fit.system.order(), 1);
  EXPECT_NEAR(fit.system.A(0, 0), -3.0, 1e-6);
  EXPECT_NEAR(fit.system.B(0, 0) * fit.system.C(0, 0), 1.0, 1e-6);
}

TEST(RationalFit, BadInput) {
  const MatrixXcd one = MatrixXcd::Ones(1, 1);
  EXPECT_THROW(rational_fit({1.0, 2.0}, {one}), NumericalError);
  EXPECT_THROW(rational_fit({2.0, 1.0}, {one, one}), NumericalError);
  EXPECT_THROW(rational_fit({1.0, 2.0}, {one, MatrixXcd::Ones(2, 1)}), NumericalError);
  MatrixXcd nan = one;
  nan(0, 0) = std::nan("");
  EXPECT_THROW(rational_fit({1.0, 2.0}, {one, nan}), NumericalError);
}

}  // namespace
}  // namespace catena
