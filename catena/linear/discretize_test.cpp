// SPDX-License-Identifier: BSD-3-Clause
// Discretization against closed forms, against a fine simulation of the continuous system, and
// there and back; Padé approximants against their own polynomials and e^{−sT}.
#include "catena/linear/discretize.h"

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"
#include "catena/linear/matrix_functions.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::random_system;
using test::value;
using Complex = std::complex<double>;

TEST(MatrixFunctions, ExponentialAndLogarithm) {
  // A rotation, a nilpotent block, a stiff diagonal.
  const MatrixXd turn = expm(MatrixXd(Eigen::Matrix2d{{0.0, -2.0}, {2.0, 0.0}}));
  EXPECT_NEAR(turn(0, 0), std::cos(2.0), 1e-15);
  EXPECT_NEAR(turn(1, 0), std::sin(2.0), 1e-15);
  const MatrixXd shift = expm(MatrixXd(Eigen::Matrix2d{{0.0, 7.0}, {0.0, 0.0}}));
  EXPECT_NEAR(shift(0, 1), 7.0, 1e-14);
  EXPECT_NEAR(expm(MatrixXd::Constant(1, 1, -50.0))(0), std::exp(-50.0), 1e-13 * std::exp(-50.0));
  std::mt19937 random(1);
  const MatrixXd a = 0.4 * test::random_matrix(random, 6, 6);
  EXPECT_LT((logm(expm(a)) - a).norm(), 1e-12);
  EXPECT_LT((expm(a) * expm(-a) - MatrixXd::Identity(6, 6)).norm(), 1e-12);
  EXPECT_LT((a * integral_of_expm(a, 0.7) - expm(0.7 * a) + MatrixXd::Identity(6, 6)).norm(),
            1e-13);
  EXPECT_THROW(logm(MatrixXd::Constant(1, 1, -0.5)), NumericalError);
  EXPECT_THROW(expm(MatrixXd::Constant(1, 1, 1e6)), NumericalError);
}

// y(t) of a piecewise constant input by many exact steps of dt/parts, delays included.
VectorXd fine_simulation(const StateSpace& g, double dt, const VectorXd& input, int samples,
                         int parts) {
  const StateSpace inner = [&] {
    StateSpace s = g;
    s.input_delay.resize(0);
    s.output_delay.resize(0);
    return s;
  }();
  const double h = dt / parts;
  const MatrixXd phi = expm(inner.A * h), gamma = integral_of_expm(inner.A, h) * inner.B;
  const int in_steps =
      static_cast<int>(std::lround((g.input_delay.size() ? g.input_delay[0] : 0.0) / h));
  const int out_steps =
      static_cast<int>(std::lround((g.output_delay.size() ? g.output_delay[0] : 0.0) / h));
  const auto u = [&](int fine) {
    const int at = fine - in_steps;
    return at < 0 ? 0.0 : input[std::min<Eigen::Index>(at / parts, input.size() - 1)];
  };
  VectorXd x = VectorXd::Zero(g.order());
  std::vector<double> y;
  for (int k = 0; k < samples * parts; ++k) {
    y.push_back((inner.C * x)(0) + inner.D(0) * u(k));
    x = phi * x + gamma * u(k);
  }
  VectorXd result(samples);
  for (int k = 0; k < samples; ++k) {
    const int at = k * parts - out_steps;
    result[k] = at < 0 ? 0.0 : y[static_cast<std::size_t>(at)];
  }
  return result;
}

VectorXd run(const StateSpace& with_delays, const VectorXd& input) {
  const StateSpace g = absorb_delays(with_delays);
  VectorXd x = VectorXd::Zero(g.order()), y(input.size());
  for (Eigen::Index k = 0; k < input.size(); ++k) {
    y[k] = (g.C * x)(0) + g.D(0) * input[k];
    x = g.A * x + g.B * input[k];
  }
  return y;
}

TEST(Discretize, ZeroOrderHoldOfFirstOrderLag) {
  const double a = 3.0, dt = 0.2;
  const StateSpace g =
      c2d(ss(MatrixXd::Constant(1, 1, -a), MatrixXd::Ones(1, 1), MatrixXd::Constant(1, 1, a)), dt);
  EXPECT_NEAR(g.A(0), std::exp(-a * dt), 1e-15);
  EXPECT_NEAR(g.C(0) * g.B(0), 1.0 - std::exp(-a * dt), 1e-15);
  EXPECT_EQ(g.dt, dt);
}

TEST(Discretize, DelaysAreExactWhateverTheirFraction) {
  std::mt19937 random(2);
  const VectorXd input = test::random_matrix(random, 40, 1);
  const double dt = 0.1;
  // Delays in hundredths of a sample time, at the input, at the output, at both.
  for (const auto& [in, out] :
       {std::pair{0, 0}, std::pair{300, 0}, std::pair{37, 0}, std::pair{0, 41}, std::pair{0, 250},
        std::pair{163, 218}, std::pair{50, 50}, std::pair{80, 75}}) {
    StateSpace g = random_system(3, 4, 1, 1);
    g.input_delay = VectorXd::Constant(1, in * dt / 100.0);
    g.output_delay = VectorXd::Constant(1, out * dt / 100.0);
    const StateSpace d = c2d(g, dt);
    const VectorXd expected = fine_simulation(g, dt, input, 40, 100);
    EXPECT_LT((run(d, input) - expected).norm(), 1e-11 * expected.norm()) << in << " " << out;
    EXPECT_EQ(d.order(), 4 + (in % 100 != 0 ? 1 : 0));
  }
}

TEST(Discretize, FirstOrderHoldIsExactForRamps) {
  const StateSpace g = random_system(4, 3, 1, 1);
  const double dt = 0.3;
  const StateSpace d = c2d(g, dt, {.method = Hold::foh});
  // Response of g to u = t from rest: by g/s with zoh of a unit step is exact, y of integrated
  // input.
  const StateSpace integrator =
      ss(MatrixXd::Zero(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1));
  const VectorXd expected = run(c2d(series(integrator, g), dt), VectorXd::Ones(20));
  VectorXd ramp(20);
  for (int k = 0; k < 20; ++k) ramp[k] = k * dt;
  EXPECT_LT((run(d, ramp) - expected).norm(), 1e-12);
}

TEST(Discretize, TustinMapsFrequencies) {
  const StateSpace g = random_system(5, 4, 2, 2);
  const double dt = 0.1, w = 7.0;
  const StateSpace plain = c2d(g, dt, {.method = Hold::tustin});
  const StateSpace warped = c2d(g, dt, {.method = Hold::tustin, .prewarp = w});
  const Complex z = std::exp(Complex(0.0, w * dt));
  EXPECT_LT((value(plain, z) - value(g, 2.0 / dt * (z - 1.0) / (z + 1.0))).norm(), 1e-13);
  EXPECT_LT((value(warped, z) - value(g, Complex(0.0, w))).norm(), 1e-13);
  EXPECT_THROW(c2d(g, dt, {.method = Hold::tustin, .prewarp = 40.0}), Error);
}

TEST(Discretize, ThereAndBack) {
  StateSpace g = random_system(6, 5, 2, 2);
  g.A(0, 0) += 0.3;
  const double dt = 0.05;
  for (const Hold method : {Hold::zoh, Hold::foh, Hold::tustin}) {
    const StateSpace back = d2c(c2d(g, dt, {.method = method}), {.method = method});
    EXPECT_LT((back.A - g.A).norm(), 1e-11 * g.A.norm()) << to_string(method);
    const Complex s(0.2, 1.5);
    EXPECT_LT((value(back, s) - value(g, s)).norm(), 1e-11) << to_string(method);
  }
  EXPECT_THROW(d2c(ss(MatrixXd::Constant(1, 1, -0.5), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1),
                      MatrixXd::Zero(1, 1), dt)),
               NumericalError);
  EXPECT_THROW(d2c(g), Error);
  EXPECT_THROW(c2d(g, 0.0), Error);
}

TEST(Pade, IsTheDiagonalApproximant) {
  // The coefficients of the (n, n) approximant of e^{−x}: (2n−k)! n! / ((2n)! k! (n−k)!).
  for (int n = 1; n <= 6; ++n) {
    const StateSpace p = pade(0.7, n);
    EXPECT_EQ(p.order(), n);
    for (const Complex s : {Complex(0.0, 1.3), Complex(2.0, 5.0)}) {
      const Complex x = 0.7 * s;
      Complex numerator = 0.0, denominator = 0.0, power = 1.0;
      double coefficient = 1.0;
      for (int k = 0; k <= n; ++k) {
        numerator += coefficient * (k % 2 ? -1.0 : 1.0) * power;
        denominator += coefficient * power;
        coefficient *= static_cast<double>(n - k) / ((2.0 * n - k) * (k + 1));
        power *= x;
      }
      EXPECT_LT(std::abs(value(p, s)(0) - numerator / denominator), 1e-13) << n;
    }
  }
}

TEST(Pade, HighOrdersAreWellConditioned) {
  const StateSpace p = pade(1.0, 40);
  // All-pass, and e^{−jω} far beyond what order 40 in polynomials would give.
  for (const double w : {0.5, 5.0, 25.0})
    EXPECT_LT(std::abs(value(p, Complex(0.0, w))(0) - std::exp(Complex(0.0, -w))), 1e-12) << w;
  EXPECT_NEAR(std::abs(value(p, Complex(0.0, 300.0))(0)), 1.0, 1e-13);
  // Lossless: the outflow of the energy |x|²/2 without input is y²/4, so A + Aᵀ = −CᵀC/2.
  EXPECT_LT((p.A + p.A.transpose() + p.C.transpose() * p.C / 2.0).norm(), 1e-11);
  EXPECT_LT(std::abs(value(pade(1.0, 12, 4), Complex(0.0, 3.0))(0) - std::exp(Complex(0.0, -3.0))),
            1e-5);
}

TEST(Pade, OfSystems) {
  StateSpace g = random_system(7, 3, 2, 2);
  g.input_delay = Eigen::Vector2d(0.2, 0.0);
  g.output_delay = Eigen::Vector2d(0.0, 0.4);
  const StateSpace r = pade(g, 6);
  EXPECT_EQ(r.order(), 3 + 6 + 6);
  EXPECT_FALSE(r.has_delay());
  EXPECT_LT((value(r, Complex(0.0, 3.0)) - value(g, Complex(0.0, 3.0))).norm(), 1e-9);
  EXPECT_THROW(pade(-1.0, 2), Error);
}

}  // namespace
}  // namespace catena
