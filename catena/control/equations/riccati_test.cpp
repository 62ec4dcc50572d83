// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/riccati.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/control/testing/cantilever.h"
#include "catena/control/testing/matrix.h"
#include "catena/control/testing/random_systems.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using test::Cantilever;
using test::cantilever;
using test::matrix;
using test::RandomNumbers;

void expect_near(const MatrixXd& found, const MatrixXd& expected, double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  EXPECT_LT((found - expected).norm(), tolerance * expected.norm()) << found;
}

// carex [Benner, Laub & Mehrmann 1995]: problems with solutions in closed form.
TEST(Care, Carex) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  // 1.1: double integrator.
  expect_near(care(matrix(2, {0, 1, 0, 0}), matrix(2, {0, 1}), matrix(2, {1, 0, 0, 2}), one).X,
              matrix(2, {2, 1, 1, 2}), 1e-14);
  // 1.2: unstabilizable-looking, rank-one Q.
  expect_near(
      care(matrix(2, {4, 3, -4.5, -3.5}), matrix(2, {1, -1}), matrix(2, {9, 6, 6, 4}), one).X,
      (1.0 + std::sqrt(2.0)) * matrix(2, {9, 6, 6, 4}), 1e-13);
  // 2.1: nearly uncontrollable as ε falls; the solution grows like 1/ε².
  for (const double e : {1.0, 1e-2, 1e-4, 1e-6}) {
    const double x11 = (1.0 + std::sqrt(1.0 + e * e)) / (e * e);
    const double x12 = 1.0 / (2.0 + std::sqrt(1.0 + e * e));
    const double x22 = 0.25 * (1.0 - e * e * x12 * x12);
    const RiccatiSolution s =
        care(matrix(2, {1, 0, 0, -2}), matrix(2, {e, 0}), matrix(2, {1, 1, 1, 1}), one);
    expect_near(s.X, matrix(2, {x11, x12, x12, x22}), 1e-11);
    EXPECT_LT(s.residual, 1e-13);
  }
  // 2.5: X = [2 1; 1 1] for every ε, eigenvalues of the Hamiltonian towards the axis.
  for (const double e : {1.0, 1e-2, 1e-4}) {
    const MatrixXd q = matrix(2, {4 * e - 11, 2 * e - 5, 2 * e - 5, 2 * e - 2});
    const RiccatiSolution s = care(matrix(2, {3 - e, 1, 4, 2 - e}), matrix(2, {1, 1}), q, one);
    expect_near(s.X, matrix(2, {2, 1, 1, 1}), 1e-9 / e);
  }
  // 2.6: badly scaled, mixed by a reflection V; x_k = k ε² + √(k² ε⁴ + 1).
  const MatrixXd v = MatrixXd::Identity(3, 3) - (2.0 / 3.0) * MatrixXd::Ones(3, 3);
  for (const double e : {1e-3, 1.0, 1e3}) {
    Eigen::Vector3d a, x;
    for (int k = 1; k <= 3; ++k) {
      a[k - 1] = e * k;
      x[k - 1] = k * e * e + std::sqrt(k * k * e * e * e * e + 1.0);
    }
    const MatrixXd aa = v * a.asDiagonal() * v, id = MatrixXd::Identity(3, 3);
    expect_near(care(aa, id, id / e, e * id).X, v * x.asDiagonal() * v, 1e-12);
  }
}

// Large problems take X from eigenvectors where these are well conditioned, else from the reordered
// Schur form; both against the equation and the doubling route.
TEST(Care, LargeProblems) {
  RandomNumbers random(23);
  const int n = 80, m = 20;
  MatrixXd modes = MatrixXd::Zero(n, n);
  for (int k = 0; k < n; k += 2) {
    const double w = 1.0 + k;
    modes(k, k + 1) = w, modes(k + 1, k) = -w, modes(k + 1, k + 1) = -0.02 * w;
  }
  // Chains of equal poles: no basis of eigenvectors.
  MatrixXd chains = -MatrixXd::Identity(n, n);
  for (int k = 0; k + 1 < n; ++k) chains(k, k + 1) = (k + 1) % 8 == 0 ? 0.0 : 1.0;
  const MatrixXd unstable = random.matrix(n, n);
  for (const MatrixXd& a : {modes, chains, unstable}) {
    const MatrixXd b = random.matrix(n, m), c = random.matrix(m, n), q = c.transpose() * c;
    const RiccatiSolution s = care(a, b, q, MatrixXd::Identity(m, m));
    const MatrixXd xa = s.X * a, xb = s.X * b;
    const MatrixXd defect = xa + xa.transpose() - xb * xb.transpose() + q;
    EXPECT_LT(defect.norm(), 1e-11 * (2.0 * xa.norm() + xb.squaredNorm() + q.norm()));
    EXPECT_LT(lapack::eigenvalues(MatrixXd(a - b * s.K)).real().maxCoeff(), 0.0);
    const RiccatiSolution other =
        care({a, b, q, MatrixXd::Identity(m, m)}, {.route = RiccatiRoute::doubling});
    expect_near(s.X, other.X, 1e-8);
  }
}

TEST(Care, EigenvectorBasisIsInvariant) {
  RandomNumbers random(24);
  const MatrixXd a = random.matrix(30, 30);
  const auto stable = [](std::complex<double> s) { return s.real() < 0.0; };
  const lapack::Schur schur = lapack::schur(a);
  const MatrixXd u = lapack::eigenvector_basis(schur, stable);
  EXPECT_EQ(u.cols(), (schur.values.real().array() < 0.0).count());
  const MatrixXd inside = lapack::least_squares(u, a * u);
  EXPECT_LT((a * u - u * inside).norm(), 1e-11 * a.norm());
  EXPECT_LT(lapack::eigenvalues(inside).real().maxCoeff(), 0.0);
}

// darex [Benner, Laub & Mehrmann 1995].
TEST(Dare, Darex) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  for (const RiccatiRoute route : {RiccatiRoute::schur, RiccatiRoute::doubling}) {
    const RiccatiSettings settings{.route = route};
    expect_near(
        dare({matrix(2, {4, 3, -4.5, -3.5}), matrix(2, {1, -1}), matrix(2, {9, 6, 6, 4}), one},
             settings)
            .X,
        0.5 * (1.0 + std::sqrt(5.0)) * matrix(2, {9, 6, 6, 4}), 1e-13);
    // Singular A.
    expect_near(
        dare({matrix(2, {0, 1, 0, 0}), matrix(2, {0, 1}), matrix(2, {1, 2, 2, 4}), one}, settings)
            .X,
        matrix(2, {1, 2, 2, 2 + std::sqrt(5.0)}), 1e-13);
  }
  // Singular R: u = 0 is best, the cost x1² + x2² + (x1[1])² = x1² + 2 x2².
  expect_near(dare(matrix(2, {0, 1, 0, 0}), matrix(2, {0, 1}), MatrixXd::Identity(2, 2),
                   MatrixXd::Zero(1, 1))
                  .X,
              matrix(2, {1, 0, 0, 2}), 1e-13);
}

MatrixXd positive(RandomNumbers& random, int n) {
  const MatrixXd a = random.matrix(n, n);
  return a * a.transpose() + 0.1 * MatrixXd::Identity(n, n);
}

// Both routes and the equation itself, written out here with S and E.
TEST(Care, GeneralFormByBothRoutes) {
  RandomNumbers random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = random.integer(2, 12), m = random.integer(1, 3);
    RiccatiProblem p{random.matrix(n, n), random.matrix(n, m), positive(random, n),
                     positive(random, m)};
    p.S = 0.1 * random.matrix(n, m);
    p.E = 0.2 * random.matrix(n, n) + 2.0 * MatrixXd::Identity(n, n);
    const RiccatiSolution a = care(p, {.route = RiccatiRoute::schur});
    const RiccatiSolution b = care(p, {.route = RiccatiRoute::doubling});
    expect_near(a.X, b.X, 1e-8);
    const MatrixXd w = p.E.transpose() * a.X * p.B + p.S;
    const MatrixXd axe = p.A.transpose() * a.X * p.E;
    const MatrixXd r = axe + axe.transpose() - w * Lu(p.R).solve(MatrixXd(w.transpose())) + p.Q;
    EXPECT_LT(r.norm(), 1e-11 * (2.0 * axe.norm() + p.Q.norm() + w.norm()));
    expect_near(p.R * a.K, w.transpose(), 1e-10);
    const Eigen::VectorXcd poles = lapack::eigenvalues(Lu(p.E).solve(MatrixXd(p.A - p.B * a.K)));
    EXPECT_LT(poles.real().maxCoeff(), 0.0);
    EXPECT_NEAR(-poles.real().maxCoeff(), a.stability_margin, 1e-9 * (1.0 + a.stability_margin));
  }
}

TEST(Dare, GeneralFormByBothRoutes) {
  RandomNumbers random(6);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = random.integer(2, 12), m = random.integer(1, 3);
    RiccatiProblem p{random.matrix(n, n), random.matrix(n, m), positive(random, n),
                     positive(random, m)};
    p.S = 0.1 * random.matrix(n, m);
    p.E = 0.2 * random.matrix(n, n) + 2.0 * MatrixXd::Identity(n, n);
    const RiccatiSolution a = dare(p, {.route = RiccatiRoute::schur});
    const RiccatiSolution b = dare(p, {.route = RiccatiRoute::doubling});
    expect_near(a.X, b.X, 1e-8);
    const MatrixXd w = p.A.transpose() * a.X * p.B + p.S;
    const MatrixXd r = p.A.transpose() * a.X * p.A - p.E.transpose() * a.X * p.E -
                       w * Lu(p.R + p.B.transpose() * a.X * p.B).solve(MatrixXd(w.transpose())) +
                       p.Q;
    EXPECT_LT(r.norm(), 1e-10 * (p.Q.norm() + a.X.norm() * p.A.squaredNorm()));
    const Eigen::VectorXcd poles = lapack::eigenvalues(Lu(p.E).solve(MatrixXd(p.A - p.B * a.K)));
    EXPECT_LT(poles.cwiseAbs().maxCoeff(), 1.0);
  }
}

// The bounded-real Riccati equation, R = −γ²: solvable above the H-infinity norm of C (s − A)⁻¹ B
// and only there. For 1/(s + 1) the norm is 1 and X = (1 − √(1 − 1/γ²)) γ².
TEST(Care, IndefiniteWeight) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  const double g = 1.25;
  const RiccatiSolution s = care(-one, one, one, -g * g * one);
  EXPECT_NEAR(s.X(0, 0), g * g * (1.0 - std::sqrt(1.0 - 1.0 / (g * g))), 1e-14);
  const RiccatiSolution none = solve_care({-one, one, one, -0.9 * 0.9 * one});
  EXPECT_EQ(none.status, RiccatiStatus::axis_eigenvalues);
  EXPECT_NEAR(none.axis_frequency, std::sqrt(1.0 / 0.81 - 1.0), 1e-12);
}

// More than a hundred states: both routes.
TEST(Care, LargeSystem) {
  RandomNumbers random(7);
  const int n = 150;
  // A few unstable modes: stabilizing many by three inputs is beyond double precision.
  const MatrixXd a = random.stable(n, -0.3), b = random.matrix(n, 3), c = random.matrix(2, n);
  const MatrixXd q = c.transpose() * c, r = MatrixXd::Identity(3, 3);
  const RiccatiSolution s = care(a, b, q, r);
  EXPECT_LT(s.residual, 1e-12);
  const RiccatiSolution other = care({a, b, q, r}, {.route = RiccatiRoute::doubling});
  expect_near(s.X, other.X, 1e-7);
}

TEST(Care, FailuresSayWhy) {
  const MatrixXd one = MatrixXd::Identity(1, 1), zero = MatrixXd::Zero(1, 1);
  // An unstable mode without an input.
  const RiccatiSolution s =
      solve_care({matrix(2, {1, 0, 0, -1}), matrix(2, {0, 1}), MatrixXd::Identity(2, 2), one});
  EXPECT_FALSE(s.ok());
  EXPECT_THAT(explained(s), ::testing::HasSubstr("stabilizable"));
  // An integrator that the cost does not see.
  EXPECT_EQ(solve_care({zero, one, zero, one}).status, RiccatiStatus::axis_eigenvalues);
  EXPECT_EQ(solve_care({one, one, one, zero}).status, RiccatiStatus::singular_weight);
  EXPECT_THROW(care(one, MatrixXd::Ones(2, 1), one, one), NumericalError);
  EXPECT_THROW(care(one * std::nan(""), one, one, one), NumericalError);
  EXPECT_THROW(care(matrix(2, {1, 0, 0, -1}), matrix(2, {0, 1}), MatrixXd::Identity(2, 2), one),
               NumericalError);
}

// V07.11: closed form √(d_s d_0) L³/(3 EI) for the tip, for every mesh and mass.
TEST(Care, ColocatedRateSensors) {
  const double ds = 0.3, d0 = 0.07;
  for (const int elements : {1, 2, 3}) {
    const Cantilever beam = cantilever(elements);
    const Eigen::Index n = beam.mass.rows();
    const ColocatedFilter f = colocated_filter(beam.mass, beam.stiffness, beam.input, ds, d0);
    EXPECT_NEAR(f.position_covariance(n - 2, n - 2), std::sqrt(ds * d0) / 6.0, 1e-13);
    // The filter equation by the general solver: A P + P Aᵀ − P Cᵀ C P/d_0 + d_s B Bᵀ = 0.
    MatrixXd a = MatrixXd::Zero(2 * n, 2 * n), b = MatrixXd::Zero(2 * n, 2);
    a.topRightCorner(n, n).setIdentity();
    a.bottomLeftCorner(n, n) = -Lu(beam.mass).solve(beam.stiffness);
    b.bottomRows(n) = Lu(beam.mass).solve(beam.input);
    MatrixXd c = MatrixXd::Zero(2, 2 * n);
    c.rightCols(n) = beam.input.transpose();
    const RiccatiSolution s =
        care(a.transpose(), c.transpose(), ds * b * b.transpose(), d0 * MatrixXd::Identity(2, 2));
    EXPECT_NEAR(s.X(n - 2, n - 2), 0.02415229, 1e-8);
    EXPECT_LT((s.X.topLeftCorner(n, n) - f.position_covariance).norm(),
              1e-8 * f.position_covariance.norm());
    EXPECT_LT((s.K.transpose() - f.gain).norm(), 1e-8 * f.gain.norm());
    EXPECT_GT(s.stability_margin, 0.0);
  }
  // Co-located damping: the equation itself.
  const Cantilever beam = cantilever(2);
  const Eigen::Index n = beam.mass.rows();
  const double g = 0.4;
  const ColocatedFilter f = colocated_filter(beam.mass, beam.stiffness, beam.input, ds, d0, g);
  EXPECT_NEAR(f.p * f.p / d0 + 2.0 * g * f.p, ds, 1e-15);
  const MatrixXd minv = Lu(beam.mass).inverse();
  MatrixXd a = MatrixXd::Zero(2 * n, 2 * n), b = MatrixXd::Zero(2 * n, 2), p = a;
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = -minv * beam.stiffness;
  a.bottomRightCorner(n, n) = -g * minv * beam.input * beam.input.transpose();
  b.bottomRows(n) = minv * beam.input;
  p.topLeftCorner(n, n) = f.position_covariance;
  p.bottomRightCorner(n, n) = f.rate_covariance;
  const MatrixXd ap = a * p, gain = f.gain;
  EXPECT_LT((ap + ap.transpose() - d0 * gain * gain.transpose() + ds * b * b.transpose()).norm(),
            1e-10 * ap.norm());
  EXPECT_THROW(colocated_filter(beam.mass, beam.stiffness, beam.input, -1.0, d0), NumericalError);
}

}  // namespace
}  // namespace catena
