// SPDX-License-Identifier: BSD-3-Clause
// Both routes against the definition (a dense solve at each frequency); grids against the known
// peak of lightly damped modes; Nyquist counts, singular values and loci against closed forms.
#include "catena/linear/freqresp.h"

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::random_system;
using test::value;

// k modes of damping ζ in mixed coordinates.
StateSpace flexible(unsigned seed, int modes, double zeta, int inputs, int outputs) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  MatrixXd A = MatrixXd::Zero(2 * modes, 2 * modes);
  for (int i = 0; i < modes; ++i) {
    const double w = std::pow(10.0, -1.0 + 3.0 * uniform(random));
    A(2 * i, 2 * i + 1) = w;
    A(2 * i + 1, 2 * i) = -w;
    A(2 * i + 1, 2 * i + 1) = -2.0 * zeta * w;
  }
  const StateSpace g = ss(A, test::random_matrix(random, 2 * modes, inputs),
                          test::random_matrix(random, outputs, 2 * modes));
  const MatrixXd mix =
      MatrixXd::Identity(2 * modes, 2 * modes) +
      0.3 / std::sqrt(2.0 * modes) * test::random_matrix(random, 2 * modes, 2 * modes);
  return similarity(g, mix);
}

void expect_definition(const StateSpace& g, const FrequencyData& data, double tolerance) {
  for (int k = 0; k < data.size(); ++k) {
    const Complex s =
        g.is_continuous() ? Complex(0.0, data.omega[k]) : std::polar(1.0, data.omega[k] * g.dt);
    const MatrixXcd expected = value(g, s);
    EXPECT_LT((data.matrix(k) - expected).norm(), tolerance * expected.norm()) << data.omega[k];
  }
}

TEST(FrequencyResponse, BothRoutesAgreeWithTheDefinition) {
  const VectorXd omega = logspace(0.01, 300.0, 137);
  for (const auto& [m, p] : {std::pair{1, 1}, std::pair{3, 2}, std::pair{2, 3}})
    for (const StateSpace& g :
         {flexible(1, 12, 0.005, m, p), random_system(2, 7, m, p), random_system(3, 1, m, p)}) {
      ResponseCertificate certificate;
      expect_definition(g, freqresp(g, omega, certificate, {.route = ResponseRoute::modal}), 1e-11);
      EXPECT_EQ(certificate.route, ResponseRoute::modal);
      EXPECT_LT(certificate.backward_error, 1e-11);
      expect_definition(g, freqresp(g, omega, {.route = ResponseRoute::hessenberg}), 1e-11);
    }
}

TEST(FrequencyResponse, SampledDelayedAndDescriptor) {
  const VectorXd omega = logspace(0.01, 31.0, 50);
  StateSpace sampled = random_system(4, 6, 2, 2, 0.1);
  sampled.input_delay = Eigen::Vector2d(0.2, 0.0);
  expect_definition(sampled, freqresp(sampled, omega), 1e-12);
  StateSpace delayed = random_system(5, 6, 2, 2);
  delayed.input_delay = Eigen::Vector2d(0.13, 0.0);
  delayed.output_delay = Eigen::Vector2d(0.5, 0.02);
  expect_definition(delayed, freqresp(delayed, omega), 1e-12);
  std::mt19937 random(6);
  StateSpace d = random_system(7, 9, 2, 3);
  d.E = test::random_matrix(random, 9, 9);
  d.E.row(2).setZero();  // singular
  ResponseCertificate certificate;
  expect_definition(d, freqresp(d, omega, certificate), 1e-10);
  EXPECT_EQ(certificate.route, ResponseRoute::hessenberg);
  expect_definition(ss(MatrixXd::Ones(2, 3)), freqresp(ss(MatrixXd::Ones(2, 3)), omega), 1e-15);
}

TEST(FrequencyResponse, DefectiveSystemsTakeTheHessenbergRoute) {
  // A chain of equal lags has one eigenvector.
  MatrixXd A = -MatrixXd::Identity(8, 8);
  for (int i = 0; i < 7; ++i) A(i + 1, i) = 1.0;
  MatrixXd B = MatrixXd::Zero(8, 1), C = MatrixXd::Zero(1, 8);
  B(0, 0) = C(0, 7) = 1.0;
  const StateSpace g = ss(A, B, C);
  ResponseCertificate certificate;
  const FrequencyData data = freqresp(g, logspace(0.1, 10.0, 30), certificate);
  EXPECT_EQ(certificate.route, ResponseRoute::hessenberg);
  for (int k = 0; k < data.size(); ++k) {
    const Complex expected = std::pow(1.0 / (1.0 + Complex(0.0, data.omega[k])), 8.0);
    EXPECT_LT(std::abs(data.value(0, 0, k) - expected), 1e-13 * std::abs(expected));
  }
  EXPECT_THROW(freqresp(g, logspace(0.1, 1.0, 3), {.route = ResponseRoute::modal}), NumericalError);
}

TEST(FrequencyResponse, APoleOnTheAxisIsNamed) {
  const StateSpace g = ss(Eigen::Matrix2d{{0.0, 2.0}, {-2.0, 0.0}}, Eigen::Vector2d(0.0, 1.0),
                          Eigen::RowVector2d(1.0, 0.0));
  EXPECT_THROW(freqresp(g, VectorXd::Constant(1, 2.0)), NumericalError);
  EXPECT_NO_THROW(bode(g));
}

TEST(FrequencyGrid, MissesNoPeak) {
  for (const double zeta : {1e-3, 1e-5}) {
    // Six decades of modes, of which the peaks of the modal sum are found independently near each
    // pole.
    const StateSpace g = flexible(8, 15, zeta, 1, 1);
    const Bode plot = bode(g);
    for (const Complex p : poles(g)) {
      if (p.imag() <= 0.0) continue;
      double peak = 0.0;
      for (int i = -200; i <= 200; ++i)
        peak = std::max(peak, std::abs(value(g, Complex(0.0, p.imag() - 0.02 * i * p.real()))(0)));
      double found = 0.0;
      for (int k = 0; k < plot.response.size(); ++k)
        if (std::abs(plot.response.omega[k] - p.imag()) < 5.0 * std::abs(p.real()))
          found = std::max(found, plot.magnitude(0, k));
      EXPECT_GT(found, 0.98 * peak) << p;
    }
    // Between the samples the plot is right too.
    std::mt19937 random(9);
    std::uniform_real_distribution<double> uniform(
        std::log(plot.response.omega[0] * 1.001),
        std::log(plot.response.omega[plot.response.size() - 1]));
    for (int i = 0; i < 500; ++i) {
      const double w = std::exp(uniform(random));
      const Complex exact = value(g, Complex(0.0, w))(0);
      EXPECT_LT(std::abs(plot.response.at(w)(0) - exact), 0.05 * std::abs(exact)) << w;
    }
  }
}

TEST(FrequencyGrid, OfSystemsWithoutDynamicsAndSampled) {
  EXPECT_GE(frequency_grid(ss(MatrixXd::Ones(1, 1))).size(), 2);
  const StateSpace d = random_system(10, 4, 1, 1, 0.01);
  const VectorXd grid = frequency_grid(d);
  EXPECT_LE(grid[grid.size() - 1], M_PI / 0.01 * (1.0 + 1e-12));
  EXPECT_THROW(frequency_grid(d, {.from = 10.0, .to = 1.0}), Error);
}

TEST(Bode, PhaseOfDelayAndLags) {
  StateSpace g = ss(MatrixXd::Constant(1, 1, -1.0), MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1));
  g.input_delay = VectorXd::Constant(1, 2.0);
  const Bode plot = bode(g, {.from = 0.01, .to = 20.0});
  for (int k = 0; k < plot.response.size(); ++k) {
    const double w = plot.response.omega[k];
    EXPECT_NEAR(plot.phase(0, k), -(std::atan(w) + 2.0 * w) * 180.0 / M_PI, 1e-9);
    EXPECT_NEAR(plot.magnitude(0, k), 1.0 / std::hypot(1.0, w), 1e-14);
  }
  const Nichols n = nichols(g, {.from = 0.01, .to = 20.0});
  EXPECT_NEAR(n.gain_db(0, 0), 20.0 * std::log10(plot.magnitude(0, 0)), 1e-12);
}

TEST(Nyquist, CountsEncirclements) {
  // k/(s − 1): the loop is stable for k > 1, by one counterclockwise turn.
  const auto unstable = [](double k) {
    return ss(MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Constant(1, 1, k));
  };
  EXPECT_EQ(nyquist(unstable(2.0)).encirclements, 1);
  EXPECT_TRUE(nyquist(unstable(2.0)).closed_loop_stable);
  EXPECT_EQ(nyquist(unstable(0.5)).encirclements, 0);
  EXPECT_FALSE(nyquist(unstable(0.5)).closed_loop_stable);
  // e^{−s} k/(s + 1) is stable up to k = 2.2617: ω + atan ω = π at ω = 2.02876.
  const auto delayed = [](double k) {
    StateSpace g = ss(-MatrixXd::Ones(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Constant(1, 1, k));
    g.input_delay = VectorXd::Ones(1);
    return g;
  };
  EXPECT_TRUE(nyquist(delayed(2.2), {.from = 1e-3, .to = 1e3}).closed_loop_stable);
  EXPECT_FALSE(nyquist(delayed(2.3), {.from = 1e-3, .to = 1e3}).closed_loop_stable);
  EXPECT_EQ(nyquist(delayed(2.3), {.from = 1e-3, .to = 1e3}).encirclements, -2);
}

TEST(Sigma, AndCharacteristicLociOfDiagonalSystems) {
  // Diagonal loci 1/(s+1) and 2/(s+3), hidden by an orthogonal and by a similarity transformation.
  const Eigen::Matrix2d turn{{0.8, -0.6}, {0.6, 0.8}}, mix{{1.0, 0.5}, {0.2, 1.0}};
  const Eigen::Matrix2d A = Eigen::Vector2d(-1.0, -3.0).asDiagonal(),
                        C = Eigen::Vector2d(1.0, 2.0).asDiagonal();
  const StateSpace diagonal = ss(A, Eigen::Matrix2d::Identity(), C);
  const SingularValues s = sigma(diagonal * MatrixXd(turn));
  const CharacteristicLoci loci =
      characteristic_loci(MatrixXd(mix) * diagonal * MatrixXd(mix.inverse()));
  for (Eigen::Index k = 0; k < s.omega.size(); ++k) {
    const Complex a = 1.0 / Complex(1.0, s.omega[k]), b = 2.0 / Complex(3.0, s.omega[k]);
    EXPECT_NEAR(s.values(0, k), std::max(std::abs(a), std::abs(b)), 1e-13);
    EXPECT_NEAR(s.values(1, k), std::min(std::abs(a), std::abs(b)), 1e-13);
  }
  for (Eigen::Index k = 0; k < loci.omega.size(); ++k) {
    EXPECT_LT(std::abs(loci.values(0, k) - 1.0 / Complex(1.0, loci.omega[k])), 1e-12) << k;
    EXPECT_LT(std::abs(loci.values(1, k) - 2.0 / Complex(3.0, loci.omega[k])), 1e-12) << k;
  }
}

}  // namespace
}  // namespace catena
