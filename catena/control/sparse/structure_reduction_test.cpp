// SPDX-License-Identifier: BSD-3-Clause
// Reduced structures against the dense response of the full one, computed by LAPACK.
#include "catena/control/sparse/structure_reduction.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/gramians.h"
#include "catena/control/norms.h"
#include "catena/control/reduction.h"
#include "catena/control/testing/random_systems.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/testing/lattice_boom.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using test::lattice_boom;

MatrixXcd dense_response(const SecondOrder& s, double w) {
  const Complex jw(0.0, w);
  const MatrixXcd p = jw * jw * MatrixXd(s.M).cast<Complex>() + jw * MatrixXd(s.D).cast<Complex>() +
                      MatrixXd(s.K).cast<Complex>();
  const MatrixXcd x = lapack::solve(p, MatrixXcd(s.B.cast<Complex>()));
  MatrixXcd g = MatrixXcd::Zero(s.output_count(), s.input_count());
  if (s.Cq.size() > 0) g += s.Cq * x;
  if (s.Cv.size() > 0) g += jw * (s.Cv * x);
  return g;
}

MatrixXcd response(const StateSpace& g, double w) {
  MatrixXcd a = -g.A.cast<Complex>();
  a.diagonal().array() += Complex(0.0, w);
  return g.C * lapack::solve(a, MatrixXcd(g.B.cast<Complex>())) + g.D;
}

// The largest relative error at fresh frequencies of the band.
double fresh_error(const SecondOrder& s, const StructureReduction& r, int count) {
  test::RandomNumbers random(11);
  double worst = 0.0;
  for (int i = 0; i < count; ++i) {
    const double w = r.highest * random.uniform(0.01, 1.0);
    const MatrixXcd g = dense_response(s, w);
    worst = std::max(worst, lapack::norm2(MatrixXcd(response(r.system, w) - g)) / lapack::norm2(g));
  }
  return worst;
}

TEST(StructureReduction, ModalWithStaticCorrection) {
  const SecondOrder boom = lattice_boom({.bays = 25, .side = 2});
  const StructureReduction r = reduce(boom, {.order = 60});
  EXPECT_EQ(r.system.order(), 60);
  EXPECT_EQ(r.modes_in_band, 20);
  EXPECT_TRUE(is_stable(r.system));
  EXPECT_TRUE(r.certificate.passed());
  const double fresh = fresh_error(boom, r, 40);
  EXPECT_LT(fresh, 1e-3);
  EXPECT_TRUE(r.error.settled);
  // The estimate between samples holds at frequencies that were not sampled.
  EXPECT_LT(fresh, 1.1 * r.error.between);
}

// Hankel values do not bound a relative error at antiresonances: the estimate is compared, not its
// size.
TEST(StructureReduction, BalancedByLowRankFactors) {
  const SecondOrder boom = lattice_boom({.bays = 12, .side = 2});
  const StructureReduction r =
      reduce(boom, {.method = StructureMethod::balanced, .order = 60, .tolerance = 5e-3});
  EXPECT_EQ(r.system.order(), 60);
  EXPECT_LT(fresh_error(boom, r, 40), 1.1 * r.error.between);
  // Hankel values of the dense system; the largest are those of the low-rank factors.
  const Eigen::VectorXd exact = hsvd(state_space(boom));
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(r.sigma[i] / exact[i], 1.0, 1e-3) << i;
}

// Tangential interpolation: at a point of rest the H2 error is locally least, so it is not worse
// than balanced truncation by much; the dense route computes both norms.
TEST(StructureReduction, InterpolationIsNearlyBestInH2) {
  const SecondOrder boom = lattice_boom({.bays = 12, .side = 2});
  const StructureReduction r = reduce(
      boom,
      {.method = StructureMethod::interpolation, .order = 12, .iterations = 40, .tolerance = 1.0});
  const StateSpace full = state_space(boom);
  ASSERT_TRUE(is_stable(r.system));
  const Reduction balanced = reduce(full, ReductionSettings{.order = 12, .true_error = false});
  const double mine = h2norm(full - r.system), other = h2norm(full - balanced.system);
  EXPECT_LT(mine, 1.01 * other);
  EXPECT_LT(mine, 0.1 * h2norm(full));
}

// So few freedoms that all modes are known: nothing is left to correct, and all states are the
// structure itself.
TEST(StructureReduction, SmallStructuresKeepTheirModes) {
  SecondOrder chain;
  const int n = 6;
  MatrixXd k = 2.0 * MatrixXd::Identity(n, n);
  for (int i = 0; i + 1 < n; ++i) k(i, i + 1) = k(i + 1, i) = -1.0;
  k(n - 1, n - 1) = 1.0;
  chain.M = MatrixXd(MatrixXd::Identity(n, n)).sparseView();
  chain.K = k.sparseView();
  chain.D = MatrixXd(0.01 * k).sparseView();
  chain.B = MatrixXd::Zero(n, 1);
  chain.B(n - 1, 0) = 1.0;
  chain.Cq = chain.B.transpose();
  for (const int order : {4, 10, 12}) {
    const StructureReduction r = reduce(chain, {.order = order, .tolerance = 0.3});
    EXPECT_EQ(r.system.order(), order);
    EXPECT_TRUE(is_stable(r.system));
    if (order == 2 * n) {
      EXPECT_LT(fresh_error(chain, r, 20), 1e-10);
    }
  }
}

TEST(StructureReduction, RigidModesAreKept) {
  const SecondOrder boom = lattice_boom({.bays = 25, .side = 2, .free = true});
  for (const StructureMethod method :
       {StructureMethod::modal, StructureMethod::balanced, StructureMethod::interpolation}) {
    const StructureReduction r = reduce(boom, {.method = method, .order = 60, .tolerance = 0.05});
    EXPECT_EQ(r.rigid, 6);
    EXPECT_EQ(r.system.order(), 60);
    EXPECT_LT(fresh_error(boom, r, 20), method == StructureMethod::modal ? 1e-3 : 0.05);
  }
}

TEST(StructureReduction, VelocitySensorsAndFeedthrough) {
  SecondOrder boom = lattice_boom({.bays = 25, .side = 2});
  boom.Cv = boom.Cq;
  boom.Cq.resize(0, 0);
  const StructureReduction r = reduce(boom, {.order = 60});
  EXPECT_LT(fresh_error(boom, r, 30), 2e-3);
}

TEST(StructureReduction, RobustFrequencyIsWhereTheErrorReachesTheModel) {
  const SecondOrder boom = lattice_boom({.bays = 25, .side = 2});
  const StructureReduction r = reduce(boom, {.order = 12, .highest = 300.0, .tolerance = 10.0});
  ASSERT_TRUE(std::isfinite(r.robust_frequency));
  const auto ratio = [&](double w) {
    const MatrixXcd gr = response(r.system, w);
    const Eigen::VectorXd v = lapack::singular_values(gr);
    return lapack::norm2(MatrixXcd(gr - dense_response(boom, w))) / v[v.size() - 1];
  };
  EXPECT_GT(ratio(1.02 * r.robust_frequency), 0.9);
  for (int k = 1; k <= 30; ++k) EXPECT_LT(ratio(0.9 * r.robust_frequency * k / 30.0), 1.05) << k;
}

void expect_message(const SecondOrder& s, const StructureReductionSettings& settings,
                    const std::string& part) {
  try {
    reduce(s, settings);
    FAIL() << part;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr(part));
  }
}

TEST(StructureReduction, BadInput) {
  const SecondOrder boom = lattice_boom({.bays = 6, .side = 2});
  expect_message(boom, {.order = 1}, "at least 2 states");
  expect_message(boom, {.order = 1000}, "more than the structure's 144 states");
  expect_message(boom, {.order = 10, .highest = 5.0, .lowest = 9.0}, "0 <= lowest < highest");
  SecondOrder undamped = boom;
  undamped.D.resize(0, 0);
  expect_message(undamped, {.order = 10}, "has no damping");
  SecondOrder light = boom;
  light.M.coeffRef(4, 4) = 0.0;
  expect_message(light, {.order = 10}, "entry (5, 5) is 0; give the freedom a mass");
  light.M.coeffRef(4, 4) = -1.0;
  expect_message(light, {.order = 10}, "entry (5, 5) is -1");
  light.M.coeffRef(4, 4) = 1.0;
  light.M.coeffRef(4, 5) = light.M.coeffRef(5, 4) = 2.0;
  expect_message(light, {.order = 10}, "1 eigenvalues are negative");
  light.M.coeffRef(4, 5) = light.M.coeffRef(5, 4) = 1.0;
  expect_message(light, {.order = 10}, "singular to rounding");
  SecondOrder compressed = boom;
  compressed.K.coeffRef(7, 7) *= -1.0;
  expect_message(compressed, {.order = 10}, "K is not positive semidefinite");
  SecondOrder blind = boom;
  blind.Cq.resize(0, boom.freedom_count());
  expect_message(blind, {.order = 10}, "0 outputs");
  SecondOrder nan = boom;
  nan.K.coeffRef(0, 0) = std::nan("");
  expect_message(nan, {.order = 10}, "entry (1, 1) of K is not a finite number");
  const SecondOrder free = lattice_boom({.bays = 6, .side = 2, .free = true});
  expect_message(free, {.order = 10}, "12 states of the rigid modes");
}

}  // namespace
}  // namespace catena
