// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/lqg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/control/hinf.h"
#include "catena/control/testing/cantilever.h"
#include "catena/control/testing/matrix.h"
#include "catena/control/testing/random_systems.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::matrix;
using test::RandomNumbers;

const MatrixXd kOne = MatrixXd::Identity(1, 1);

TEST(Lqr, DoubleIntegratorInClosedForm) {
  const StateSpace g = ss(matrix(2, {0, 1, 0, 0}), matrix(2, {0, 1}), MatrixXd::Identity(2, 2));
  const LqrResult r = lqr(g, matrix(2, {1, 0, 0, 0}), kOne);
  EXPECT_NEAR(r.K(0, 0), 1.0, 1e-13);
  EXPECT_NEAR(r.K(0, 1), std::sqrt(2.0), 1e-13);
  EXPECT_TRUE(r.certificate.passed());
  // Output weights: the same problem.
  const StateSpace position = ss(g.A, g.B, matrix(1, {1, 0}));
  EXPECT_LT((lqry(position, kOne, kOne).K - r.K).norm(), 1e-13);
}

// As the interval falls the sampled regulator becomes the continuous one; for any interval its cost
// xᵀXx is the integral along the motion, summed here with small steps.
TEST(Lqr, SampledCostIsTheIntegral) {
  RandomNumbers random(51);
  const StateSpace g = ss(random.matrix(3, 3), random.matrix(3, 1), MatrixXd::Identity(3, 3));
  const MatrixXd q = MatrixXd::Identity(3, 3);
  EXPECT_LT((lqrd(g, q, kOne, 1e-5).K - lqr(g, q, kOne).K).norm(), 1e-3 * lqr(g, q, kOne).K.norm());
  const double dt = 0.1;
  const LqrResult r = lqrd(g, q, kOne, dt);
  Eigen::Vector3d x(1.0, -0.5, 0.3);
  const double expected = x.dot(r.X * x);
  const int parts = 400;
  const StateSpace fine = c2d(g, dt / parts);
  double cost = 0.0;
  for (int k = 0; k < 600; ++k) {
    const Eigen::VectorXd u = -r.K * x;
    for (int i = 0; i < parts; ++i) {  // trapezoid
      const double before = x.squaredNorm() + u.squaredNorm();
      x = fine.A * x + fine.B * u;
      cost += 0.5 * dt / parts * (before + x.squaredNorm() + u.squaredNorm());
    }
  }
  EXPECT_NEAR(cost, expected, 1e-5 * expected);
}

TEST(Kalman, DualOfTheRegulator) {
  RandomNumbers random(52);
  const MatrixXd a = random.matrix(4, 4), c = random.matrix(2, 4), w = MatrixXd::Identity(4, 4),
                 v = 0.3 * MatrixXd::Identity(2, 2);
  for (const double dt : {0.0, 0.1}) {
    const StateSpace dual =
        ss(a.transpose(), c.transpose(), MatrixXd::Identity(4, 4), MatrixXd::Zero(4, 2), dt);
    EXPECT_LT((lqe(a, w, c, w, v, dt).L - lqr(dual, w, v).K.transpose()).norm(), 1e-9);
  }
}

// The cost of the loop by its covariance against the H2 norm of the same problem as a generalized
// plant: another synthesis, another norm.
TEST(Lqg, IsTheH2Controller) {
  RandomNumbers random(53);
  for (const double dt : {0.0, 0.1}) {
    const int n = 4;
    const MatrixXd a = random.matrix(n, n), b = random.matrix(n, 2), c = random.matrix(1, n),
                   g = random.matrix(n, 2);
    const StateSpace plant = ss(a, b, c, MatrixXd::Zero(1, 2), dt);
    const MatrixXd q = MatrixXd::Identity(n, n), r = 0.5 * MatrixXd::Identity(2, 2),
                   w = 2.0 * MatrixXd::Identity(2, 2), v = 0.1 * kOne;
    const LqgResult lqg_result = lqg(plant, q, r, w, v, g);
    EXPECT_TRUE(lqg_result.certificate.passed());
    MatrixXd bb(n, 5), cc(n + 3, n), d = MatrixXd::Zero(n + 3, 5);
    bb << g * std::sqrt(2.0), MatrixXd::Zero(n, 1), b;
    cc << MatrixXd::Identity(n, n), MatrixXd::Zero(2, n), c;
    d.block(n, 3, 2, 2) = std::sqrt(0.5) * MatrixXd::Identity(2, 2);
    d(n + 2, 2) = std::sqrt(0.1);
    const H2Result h2 = h2syn({ss(a, bb, cc, d, dt), 1, 2});
    EXPECT_NEAR(lqg_result.cost, h2.norm * h2.norm, 1e-8 * lqg_result.cost) << dt;
    EXPECT_NEAR(h2norm(lft(ss(a, bb, cc, d, dt), lqg_result.controller)), h2.norm, 1e-8 * h2.norm);
  }
}

TEST(Lqi, TracksSteps) {
  const StateSpace g = ss(matrix(2, {0, 1, -4, -0.4}), matrix(2, {0, 1}), matrix(1, {1, 0}));
  const LqiResult r = lqi(g, MatrixXd::Identity(3, 3), 0.1 * kOne);
  // Closed loop with the reference: steady state of y is r.
  MatrixXd a = r.augmented.A - r.augmented.B * r.regulator.K;
  EXPECT_LT(lapack::eigenvalues(a).real().maxCoeff(), 0.0);
  const MatrixXd x = lapack::solve(a, MatrixXd(-matrix(3, {0, 0, 1})));
  EXPECT_NEAR(x(0, 0), 1.0, 1e-12);
}

// A minimum-phase plant: the error falls like 1/√q; at the output side alike.
TEST(Ltr, RecoversTheTarget) {
  const StateSpace g = ss(matrix(2, {0, 1, -3, -4}), matrix(2, {0, 1}), matrix(1, {2, 1}));
  const MatrixXd q = 80.0 * matrix(2, {35, std::sqrt(35.0) * 1.0, std::sqrt(35.0), 1}),
                 w = matrix(2, {1225, -2135, -2135, 3721});
  Eigen::VectorXd frequencies(5);
  frequencies << 0.1, 0.5, 1, 3, 10;
  for (const RecoverySide side : {RecoverySide::input, RecoverySide::output}) {
    const LtrResult r = ltr(g, q, kOne, w, kOne, {0.0, 1e4, 1e6, 1e8}, frequencies, side);
    EXPECT_LT(r.steps[3].error, 0.02);
    EXPECT_LT(r.steps[3].error, r.steps[2].error);
    EXPECT_LT(r.steps[2].error, r.steps[0].error);
  }
}

// V07.11: as control becomes cheap the tip's mean-square error falls to the filter's, in closed
// form √(d_s d_0) L³/(3 EI); the sweep by an independent program.
TEST(Lqg, AttainableErrorOfTheCantilever) {
  const test::Cantilever beam = test::cantilever(2);
  const Eigen::Index n = beam.mass.rows();
  MatrixXd a = MatrixXd::Zero(2 * n, 2 * n), b = MatrixXd::Zero(2 * n, 2),
           c = MatrixXd::Zero(2, 2 * n);
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = -lapack::solve(beam.mass, beam.stiffness);
  b.bottomRows(n) = lapack::solve(beam.mass, beam.input);
  c.rightCols(n) = beam.input.transpose();
  MatrixXd cz = MatrixXd::Zero(1, 2 * n);
  cz(0, n - 2) = 1.0;
  const MatrixXd two = MatrixXd::Identity(2, 2);
  const AttainableError e = attainable_error(ss(a, b, c), cz, 0.3 * two, 0.07 * two, b);
  EXPECT_NEAR(e.filter, std::sqrt(0.021) / 6.0, 1e-9);
  ASSERT_GE(e.errors.size(), 4u);
  const double expected[4] = {0.03089103, 0.02439986, 0.02415804, 0.02415244};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(e.errors[k], expected[k], 1e-7) << k;
  EXPECT_TRUE(e.attained);
}

TEST(Lqg, BadInputIsExplained) {
  StateSpace g = ss(matrix(2, {1, 0, 0, -1}), matrix(2, {0, 1}), matrix(1, {1, 1}));
  g.states = {"tower", "arm"};
  const MatrixXd q = MatrixXd::Identity(2, 2);
  try {
    lqr(g, q, kOne);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("tower"));
  }
  EXPECT_THROW(lqr(g, MatrixXd::Identity(3, 3), kOne), NumericalError);
  EXPECT_THROW(lqr(g, -q, kOne), NumericalError);
  EXPECT_THROW(lqr(g, q, 0.0 * kOne), NumericalError);
}

}  // namespace
}  // namespace catena
