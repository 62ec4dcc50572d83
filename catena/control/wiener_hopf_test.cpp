// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/wiener_hopf.h"

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/hinf.h"
#include "catena/control/norms.h"
#include "catena/control/reduction.h"
#include "catena/control/standard_problem.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Value = std::complex<double>;
using Eigen::MatrixXcd;

MatrixXcd scalar(Value v) { return MatrixXcd::Constant(1, 1, v); }

// G = 1/(s + 1), Φ_d = 3/(1 − s²), Φ_n = 1, μ = 1/3: C = 1/(s + 3), E e² = 5/4, E u² = 1/4, J =
// 4/3.
TEST(WienerHopf, ClosedForm) {
  const SampledDesign d =
      wiener_hopf([](double w) { return scalar(1.0 / Value(1.0, w)); },
                  [](double w) { return scalar(3.0 / (1.0 + w * w)); },
                  [](double) { return scalar(1.0); }, 1.0 / 3.0, {.nodes = 1024});
  for (int k = 0; k < 512; k += 37) {
    const Value expected = 1.0 / Value(3.0, d.grid.frequency(k));
    EXPECT_NEAR(std::abs(d.controller_samples[static_cast<std::size_t>(k)](0, 0) - expected), 0.0,
                1e-10);
  }
  EXPECT_NEAR(d.error_power, 1.25, 1e-9);
  EXPECT_NEAR(d.control_power, 0.25, 1e-9);
  EXPECT_NEAR(d.cost, 4.0 / 3.0, 1e-9);
  EXPECT_EQ(d.winding, 0);
  // The taps as a rational system, reduced: one state, pole −3.
  const StateSpace long_series = realization(d.controller_samples, d.grid, 40);
  const Reduction r = reduce(long_series, {.order = 1});
  EXPECT_NEAR(r.system.A(0, 0), -3.0, 1e-6);
  EXPECT_LT(r.error.value, 1e-6);
}

// F = [(s+2)/(s+1), 1/(s+1); 0, (s+3)/(s+1)]: residuals as published, result U F with constant U.
TEST(WienerHopf, MatrixFactor) {
  const SampleGrid grid{.nodes = 512};
  const auto f = [](double w) {
    const Value s(0.0, w);
    MatrixXcd m(2, 2);
    m << (s + 2.0) / (s + 1.0), 1.0 / (s + 1.0), 0.0, (s + 3.0) / (s + 1.0);
    return m;
  };
  const Samples exact = sampled(f, grid);
  Samples h;
  for (const MatrixXcd& m : exact) h.push_back(m.adjoint() * m);
  const SpectralFactor r = spectral_factor(h);
  EXPECT_LT(r.residuals.back(), 1e-13);
  EXPECT_LE(r.residuals.size(), 7u);
  Eigen::Matrix2d u;
  u << 0.99264950, -0.12102468, 0.12102468, 0.99264950;
  for (std::size_t k = 0; k < exact.size(); k += 17) {
    const MatrixXcd found =
        r.factor[k] * lapack::solve(exact[k], MatrixXcd(MatrixXcd::Identity(2, 2)));
    EXPECT_LT((found - u).norm(), 2e-8) << found;
  }
  Samples bad = h;
  bad[3].setZero();
  EXPECT_THROW(spectral_factor(bad), NumericalError);
}

// The simply supported beam with end torque of [Bennett 1989]: irrational response by sines, the
// spectral factor of |G|² + 0.1 on the real axis by its integral.
Value beam(Value s) {
  const double length = 10.0, zeta = 0.01, z = 0.7;
  const Value root(0.0, std::sqrt(1.0 - zeta * zeta));
  const Value l1 = std::sqrt((-zeta + root) * s) * length,
              l2 = std::sqrt((zeta + root) * s) * length;
  // sin(l1 z)/sin(l1) and sinh(l2 z)/sinh(l2) by decaying exponentials.
  const auto ratio = [&](Value x) {  // sinh(x z)/sinh(x), Re x ≥ 0
    if (x.real() < 0.0) x = -x;
    return (std::exp(x * (z - 1.0)) - std::exp(-x * (z + 1.0))) / (1.0 - std::exp(-2.0 * x));
  };
  const Value i(0.0, 1.0);
  return length * length * (ratio(l2) - ratio(i * l1)) / (l1 * l1 + l2 * l2);
}
TEST(WienerHopf, Beam) {
  EXPECT_NEAR(std::abs(beam({0.0, 0.05}) - Value(-7.763053912, 0.097698722)), 0.0, 1e-8);
  EXPECT_NEAR(std::abs(beam({0.0, 1.0}) - Value(0.626711470, 0.021777869)), 0.0, 1e-8);
  const SampleGrid grid{.nodes = 1 << 17, .scale = 1.0};
  Samples h;
  for (int k = 0; k < grid.nodes / 2; ++k)
    h.push_back(scalar(std::norm(beam({0.0, grid.frequency(k)})) + 0.1));
  const SpectralFactor r = spectral_factor(h);
  const Eigen::VectorXd c = taps(r.factor, 0, 0, 60000);
  // Λ(σ) = Σ c_l ((1 − σ)/(1 + σ))^l at real σ.
  const auto at = [&](double sigma) {
    double sum = 0.0, power = 1.0;
    for (const double v : c) {
      sum += v * power;
      power *= (1.0 - sigma) / (1.0 + sigma);
    }
    return sum;
  };
  EXPECT_NEAR(at(0.1), 4.22636, 1e-4);
  EXPECT_NEAR(at(1.0), 0.8921308, 1e-5);
  EXPECT_NEAR(at(10.0), 0.3851652, 1e-5);
}

// An unstable plant with an integrator, one of two inputs and outputs with an unstable mode: the
// cost is the optimum of the state-space route (two Riccati equations, no samples), and the
// controller realized by AAA reaches it.
struct UnstablePlant {
  StateSpace plant;
  int unstable, on_axis;
};
void check_unstable(const UnstablePlant& c, double mu, double sigma) {
  const StateSpace& g = c.plant;
  const Eigen::Index n = g.A.rows(), m = g.D.cols(), p = g.D.rows();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(p, p);
  // d = 2/(s + 1) w₁ at each output + G q w₃ from the plant's inputs, noise of density σ².
  constexpr double kProcess = 0.3;
  const auto disturbance = [&](double w) {
    Eigen::MatrixXcd pencil = -g.A.cast<Value>();
    pencil.diagonal().array() += Value(0.0, w);
    const MatrixXcd response = g.C * lapack::solve(pencil, MatrixXcd(g.B.cast<Value>()));
    return MatrixXcd(MatrixXcd::Identity(p, p) * (4.0 / (1.0 + w * w)) +
                     kProcess * kProcess * response * response.adjoint());
  };
  const auto noise = [&](double) { return MatrixXcd(MatrixXcd::Identity(p, p) * (sigma * sigma)); };
  const PlantFactors factors = plant_factors(g);
  EXPECT_EQ(factors.unstable_poles, c.unstable);
  EXPECT_EQ(factors.axis_poles, c.on_axis);
  const SampledDesign d = wiener_hopf(factors, disturbance, noise, mu, {.nodes = 8192});
  EXPECT_EQ(d.winding, c.unstable + d.controller_unstable_poles);
  GeneralizedPlant h2{.measurements = static_cast<int>(p), .controls = static_cast<int>(m)};
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n + p, n + p),
                  b = Eigen::MatrixXd::Zero(n + p, 2 * p + 2 * m),
                  cc = Eigen::MatrixXd::Zero(2 * p + m, n + p),
                  dd = Eigen::MatrixXd::Zero(2 * p + m, 2 * p + 2 * m);
  a.topLeftCorner(n, n) = g.A;
  a.bottomRightCorner(p, p) = -one;
  b.block(n, 0, p, p) = 2.0 * one;
  b.block(0, 2 * p, n, m) = kProcess * g.B;
  b.block(0, 2 * p + m, n, m) = g.B;
  for (const Eigen::Index row : {Eigen::Index{0}, p + m}) {
    cc.block(row, 0, p, n) = -g.C;
    cc.block(row, n, p, p) = one;
  }
  dd.block(p, 2 * p + m, m, m) = std::sqrt(mu) * Eigen::MatrixXd::Identity(m, m);
  dd.block(p + m, p, p, p) = sigma * one;
  h2.system = ss(a, b, cc, dd);
  const double best = h2syn(h2).norm;
  EXPECT_NEAR(d.cost / (best * best), 1.0, 1e-6);
  const RealizedDesign r = realize(g, factors, d, {.tolerance = 1e-8, .strictly_proper = true});
  EXPECT_TRUE(r.stable);
  EXPECT_LT(r.slowest_pole, 0.0);
  const double reached = h2norm(closed_loop(h2, r.controller));
  EXPECT_NEAR(reached / best, 1.0, 1e-4);
}
TEST(WienerHopf, UnstablePlants) {
  Eigen::MatrixXd a(2, 2), b(2, 1), c(1, 2);
  a << 0, 1, 0, 1;  // 1/(s (s − 1))
  b << 0, 1;
  c << 1, 0;
  check_unstable({ss(a, b, c), 1, 1}, 0.2, 0.5);
  Eigen::MatrixXd a2(3, 3), b2(3, 2), c2(2, 3);
  a2 << 0.5, 1, 0, -1, 0.5, 0, 0, 0, -2;  // a growing oscillation
  b2 << 1, 0, 0.3, 1, 0, 1;
  c2 << 1, 0, 0.5, 0, 1, 1;
  check_unstable({ss(a2, b2, c2), 2, 0}, 0.1, 0.3);
  // The unstable mode cannot be moved.
  b << 0, 0;
  EXPECT_THROW(plant_factors(ss(a, b, c)), NumericalError);
}

}  // namespace
}  // namespace catena
