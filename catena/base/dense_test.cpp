// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/dense.h"

#include <gtest/gtest.h>

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounding = 1e-12;

// Well conditioned, without symmetry.
MatrixXd sample(Index rows, Index cols) {
  MatrixXd a(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < cols; ++k)
      a(i, k) = std::sin(1.0 + 3.0 * static_cast<double>(i) + 7.0 * static_cast<double>(k * k)) +
                (i == k ? 3.0 : 0.0);
  return a;
}
MatrixXd symmetric_sample(Index n) { return sample(n, n) * sample(n, n).transpose(); }
// Rank `rank`.
MatrixXd deficient(Index rows, Index cols, Index rank) {
  return sample(rows, rank) * sample(rank, cols);
}
// What is off, over the size of what it should be.
double off(const MatrixXd& a, const MatrixXd& b) {
  return (a - b).norm() / std::max(b.norm(), 1e-300);
}

TEST(Dense, SquareSystems) {
  for (const Index n : {1, 2, 5, 9, 40, 100}) {
    const MatrixXd a = sample(n, n), s = symmetric_sample(n), b = sample(n, 3);
    const VectorXd c = b.col(1);
    EXPECT_LT(off(a * Lu(a).solve(b), b), kRounding);
    EXPECT_LT(off(a * Lu(a).solve(c), c), kRounding);
    EXPECT_LT(off(a * FullLu(a).solve(b), b), kRounding);
    EXPECT_LT(off(a * FullLu(a).solve(c), c), kRounding);
    EXPECT_LT(off(a * inverse(a), MatrixXd::Identity(n, n)), kRounding);
    EXPECT_LT(off(a * Lu(a).inverse(), MatrixXd::Identity(n, n)), kRounding);
    EXPECT_LT(off(s * Cholesky(s).solve(b), b), kRounding);
    EXPECT_LT(off(s * Cholesky(s).solve(c), c), kRounding);
    EXPECT_LT(off(s * PivotedCholesky(s).solve(b), b), kRounding);
    EXPECT_LT(off(s * PivotedCholesky(s).solve(c), c), kRounding);
    EXPECT_LT(off(a * Qr(a).solve(b), b), kRounding);
    EXPECT_LT(off(a * PivotedQr(a).solve(c), c), kRounding);
    EXPECT_LT(off(a * CompleteOrthogonal(a).solve(b), b), kRounding);
  }
}

TEST(Dense, SolveTakesExpressionsOfAnySize) {
  const MatrixXd a = sample(3, 3);
  const Lu lu(2.0 * a);
  const VectorXd by_expression = lu.solve(a.col(0) + a.col(1));
  EXPECT_LT(off(by_expression, Eigen::Vector3d(0.5, 0.5, 0.0)), kRounding);
  const Eigen::Vector3d fixed(1.0, 2.0, 3.0);
  const Eigen::Vector3d by_fixed = lu.solve(fixed);
  EXPECT_LT(off(2.0 * a * by_fixed, fixed), kRounding);
  const MatrixXd by_transposed = lu.solve(a.transpose());
  EXPECT_LT(off(2.0 * a * by_transposed, a.transpose()), kRounding);
  const std::vector<int> kept{0, 2};
  EXPECT_LT(off(2.0 * a * lu.solve(a(Eigen::all, kept)), a(Eigen::all, kept)), kRounding);
}

TEST(Dense, LuKeepsItsFactorsAndTheirSign) {
  const MatrixXd a{{0.0, 2.0}, {3.0, 1.0}};
  const Lu lu(a);
  EXPECT_EQ(lu.sign_of_exchanges(), -1);
  EXPECT_EQ(lu.factors()(0, 0), 3.0);
  EXPECT_EQ(lu.factors()(1, 1), 2.0);
  EXPECT_EQ(lu.determinant(), -6.0);
  EXPECT_EQ(determinant(a), -6.0);
}

TEST(Dense, FullLuTellsRankKernelAndPivots) {
  const MatrixXd a = deficient(6, 5, 3);
  const FullLu lu(a);
  EXPECT_EQ(lu.rank(), 3);
  EXPECT_FALSE(lu.invertible());
  EXPECT_EQ(lu.kernel().cols(), 2);
  EXPECT_LT((a * lu.kernel()).norm(), kRounding * a.norm());
  EXPECT_TRUE(FullLu(sample(4, 4)).invertible());
  const MatrixXd nearly{{1.0, 0.0}, {0.0, 1e-6}};
  EXPECT_EQ(FullLu(nearly).rank(), 2);
  EXPECT_EQ(FullLu(nearly, 1e-5).rank(), 1);
  const MatrixXd turned{{0.0, 1.0}, {5.0, 0.0}};
  EXPECT_EQ(FullLu(turned).pivot_column(0), 0);
  EXPECT_EQ(FullLu(turned).place_of_row(1), 0);
}

TEST(Dense, CholeskyShowsItsPivots) {
  const MatrixXd a{{4.0, 2.0}, {2.0, 10.0}};
  const Cholesky factor(a);
  EXPECT_TRUE(factor.succeeded());
  EXPECT_EQ(factor.pivot_root(0), 2.0);
  EXPECT_EQ(factor.pivot_root(1), 3.0);
  EXPECT_FALSE(Cholesky(-a).succeeded());
  VectorXd x = a.col(1);
  factor.solve_in_place(x);
  EXPECT_LT(off(x, Eigen::Vector2d(0.0, 1.0)), kRounding);
  MatrixXd own = a;
  factor.solve_in_place(own);
  EXPECT_LT(off(own, MatrixXd::Identity(2, 2)), kRounding);

  own = a;
  EXPECT_TRUE(cholesky_in_place(own));
  EXPECT_EQ(own(1, 0), 1.0);
  EXPECT_EQ(own(1, 1), 3.0);
  x = a.col(0);
  solve_by_cholesky(own, x);
  EXPECT_LT(off(x, Eigen::Vector2d(1.0, 0.0)), kRounding);
  own = -a;
  EXPECT_FALSE(cholesky_in_place(own));
}

TEST(Dense, SmallCholeskyIsTheLargeOne) {
  for (Index n = 1; n <= 6; ++n) {
    const MatrixXd a = symmetric_sample(n);
    const SmallCholesky small(a);
    const Cholesky large(a);
    EXPECT_TRUE(small.succeeded());
    for (Index i = 0; i < n; ++i) EXPECT_EQ(small.pivot_root(i), large.pivot_root(i));
    SmallVector x = sample(n, 1);
    SmallSquare y = a;
    small.solve_in_place(x);
    small.solve_in_place(y);
    EXPECT_LT(off(x, large.solve(sample(n, 1).col(0))), kRounding);
    EXPECT_LT(off(y, MatrixXd::Identity(n, n)), kRounding);
  }
}

TEST(Dense, QrSpansTheColumnsAndSolvesLeastSquares) {
  const MatrixXd a = sample(7, 4);
  const VectorXd b = sample(7, 5).col(4);
  const Qr qr(a);
  const MatrixXd q = qr.q_columns(4);
  EXPECT_LT(off(q.transpose() * q, MatrixXd::Identity(4, 4)), kRounding);
  EXPECT_LT(off(q * q.transpose() * a, a), kRounding);
  EXPECT_NEAR(std::abs(qr.r_diagonal(0)), a.col(0).norm(), kRounding);
  EXPECT_LT((a.transpose() * (a * qr.solve(b) - b)).norm(), 1e-11);
  EXPECT_LT(off(PivotedQr(a).solve(b), qr.solve(b)), kRounding);
}

TEST(Dense, PivotedQrTellsTheRank) {
  const MatrixXd a = deficient(7, 5, 3);
  const PivotedQr qr(a);
  EXPECT_EQ(qr.rank(), 3);
  EXPECT_EQ(qr.rank(1e-10), 3);
  EXPECT_EQ(qr.rank(2.0), 0);
  EXPECT_EQ(qr.pivots().size(), 5);
  EXPECT_EQ(qr.largest_pivot(), qr.pivots()[0]);
  EXPECT_NEAR(a.col(qr.pivot_column(0)).norm(), qr.largest_pivot(), kRounding);
  const MatrixXd q = qr.q();
  EXPECT_LT((q.rightCols(4).transpose() * a).norm(), kRounding * a.norm());
  EXPECT_LT(off(qr.q_columns(3), q.leftCols(3)), kRounding);
  EXPECT_LT(off(qr.q_times(sample(7, 2)), q * sample(7, 2)), kRounding);
}

TEST(Dense, CompleteOrthogonalTakesTheShortest) {
  const MatrixXd a = deficient(6, 8, 3);
  const VectorXd b = a * sample(8, 2).col(1);
  const CompleteOrthogonal solver(a);
  EXPECT_EQ(solver.rank(), 3);
  const VectorXd x = solver.solve(b);
  EXPECT_LT(off(a * x, b), kRounding);
  EXPECT_LT((FullLu(a, 1e-10).kernel().transpose() * x).norm(), 1e-10 * x.norm());
  EXPECT_GT(solver.pivot(2), 0.0);

  CompleteOrthogonal coarse(1e-5);
  coarse.compute(MatrixXd{{1.0, 0.0}, {0.0, 1e-6}});
  EXPECT_EQ(coarse.rank(), 1);
}

TEST(Dense, SingularValues) {
  for (const auto& [rows, cols] : {std::pair{5, 3}, {3, 5}, {4, 4}}) {
    const MatrixXd a = sample(rows, cols);
    const Svd full = full_svd(a), thin = thin_svd(a);
    EXPECT_EQ(full.values, singular_values(a));
    EXPECT_EQ(full.u.cols(), rows);
    EXPECT_EQ(full.v.cols(), cols);
    EXPECT_EQ(thin.u.cols(), std::min(rows, cols));
    EXPECT_LT(off(thin.u * thin.values.asDiagonal() * thin.v.transpose(), a), kRounding);
    EXPECT_GE(full.values[0], full.values[1]);
  }
}

TEST(Dense, EigenvaluesOfSymmetricMatrices) {
  const MatrixXd a = symmetric_sample(6);
  const SymmetricEigen parts = symmetric_eigen(a);
  EXPECT_LE(parts.values[0], parts.values[1]);
  EXPECT_LT(off(a * parts.vectors, parts.vectors * parts.values.asDiagonal()), kRounding);
  const Eigen::Matrix3d small = symmetric_sample(3);
  EXPECT_LT(off(symmetric_eigenvalues(small), symmetric_eigen(small).values), kRounding);
}

TEST(Dense, EigenvaluesOfAnyMatrix) {
  const MatrixXd a{{0.0, -2.0, 0.0}, {2.0, 0.0, 0.0}, {0.0, 0.0, 5.0}};
  const GeneralEigen parts = general_eigen(a);
  ASSERT_TRUE(parts.converged);
  EXPECT_LT((a * parts.vectors - parts.vectors * parts.values.asDiagonal()).norm(), kRounding);
  EXPECT_NEAR(parts.values[0].imag(), 2.0, kRounding);
  EXPECT_NEAR(parts.values[1].imag(), -2.0, kRounding);
  EXPECT_LT((eigenvalues(a) - parts.values).norm(), kRounding);
}

}  // namespace
}  // namespace catena
