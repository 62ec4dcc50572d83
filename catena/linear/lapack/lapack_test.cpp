// SPDX-License-Identifier: BSD-3-Clause
// Each factorization is checked by what defines it: products, orthogonality, residuals.
#include "catena/linear/lapack/lapack.h"

#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "catena/base/error.h"

namespace catena {
namespace {

Eigen::MatrixXd random_matrix(int rows, int cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

double orthogonality(const Eigen::MatrixXd& q) {
  return (q.transpose() * q - Eigen::MatrixXd::Identity(q.cols(), q.cols())).norm();
}

TEST(Lapack, SchurFormIsOrdered) {
  const Eigen::MatrixXd a = random_matrix(25, 25, 1);
  const auto stable = [](std::complex<double> s) { return s.real() < 0.0; };
  const lapack::Schur schur = lapack::schur(a, stable);
  EXPECT_LT(orthogonality(schur.U), 1e-13);
  EXPECT_LT((schur.U * schur.T * schur.U.transpose() - a).norm(), 1e-12);
  EXPECT_GT(schur.selected, 0);
  EXPECT_LT(schur.selected, 25);
  for (int i = 0; i < 25; ++i) EXPECT_EQ(stable(schur.values[i]), i < schur.selected);
  // The leading columns span an invariant subspace.
  const Eigen::MatrixXd u = schur.U.leftCols(schur.selected);
  EXPECT_LT((a * u - u * (u.transpose() * a * u)).norm(), 1e-12);
}

TEST(Lapack, GeneralizedSchurFormIsOrdered) {
  const Eigen::MatrixXd a = random_matrix(20, 20, 2);
  Eigen::MatrixXd b = random_matrix(20, 20, 3);
  b.row(4).setZero();  // an infinite eigenvalue
  const auto inside = [](std::complex<double> alpha, double beta) {
    return std::abs(alpha) < std::abs(beta);
  };
  const lapack::GeneralizedSchur g = lapack::generalized_schur(a, b, inside);
  EXPECT_LT((g.Q * g.S * g.Z.transpose() - a).norm(), 1e-12);
  EXPECT_LT((g.Q * g.T * g.Z.transpose() - b).norm(), 1e-12);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(inside(g.alpha[i], g.beta[i]), i < g.selected);
}

TEST(Lapack, EigenvectorsFromBothSides) {
  const Eigen::MatrixXd a = random_matrix(15, 15, 4);
  const lapack::EigenSystem e = lapack::eig(a, lapack::Vectors::both);
  EXPECT_LT((a * e.right - e.right * e.values.asDiagonal()).norm(), 1e-12);
  EXPECT_LT((e.left.adjoint() * a - e.values.asDiagonal() * e.left.adjoint()).norm(), 1e-12);
  const Eigen::MatrixXcd c = a * std::complex<double>(0.3, 1.0) + Eigen::MatrixXd::Identity(15, 15);
  const lapack::EigenSystem f = lapack::eig(c, lapack::Vectors::both);
  EXPECT_LT((c * f.right - f.right * f.values.asDiagonal()).norm(), 1e-12);
  EXPECT_LT((f.left.adjoint() * c - f.values.asDiagonal() * f.left.adjoint()).norm(), 1e-12);
}

TEST(Lapack, GeneralizedEigenvectors) {
  const Eigen::MatrixXd a = random_matrix(12, 12, 5), b = random_matrix(12, 12, 6);
  const lapack::GeneralizedEigenSystem e = lapack::generalized_eig(a, b, lapack::Vectors::both);
  const Eigen::MatrixXcd right = a * e.right * e.beta.cast<std::complex<double>>().asDiagonal() -
                                 b * e.right * e.alpha.asDiagonal();
  EXPECT_LT(right.norm(), 1e-11);
}

TEST(Lapack, SymmetricAndHermitian) {
  const Eigen::MatrixXd r = random_matrix(14, 14, 7), a = r + r.transpose();
  const lapack::SymmetricEigenSystem e = lapack::symmetric_eig(a);
  EXPECT_LT((e.vectors * e.values.asDiagonal() * e.vectors.transpose() - a).norm(), 1e-12);
  EXPECT_LT((lapack::symmetric_eigenvalues(a) - e.values).norm(), 1e-12);
  const Eigen::MatrixXd b = r * r.transpose() + Eigen::MatrixXd::Identity(14, 14);
  const lapack::SymmetricEigenSystem g = lapack::symmetric_generalized_eig(a, b);
  EXPECT_LT((a * g.vectors - b * g.vectors * g.values.asDiagonal()).norm(), 1e-10);
  EXPECT_THROW(lapack::symmetric_generalized_eig(a, -b), NumericalError);
  const Eigen::MatrixXcd c = a + std::complex<double>(0.0, 1.0) * (r - r.transpose());
  const lapack::HermitianEigenSystem h = lapack::hermitian_eig(c);
  EXPECT_LT((h.vectors * h.values.asDiagonal() * h.vectors.adjoint() - c).norm(), 1e-12);
}

TEST(Lapack, SingularValues) {
  for (const auto& [rows, cols] : {std::pair{9, 5}, std::pair{5, 9}, std::pair{6, 6}}) {
    const Eigen::MatrixXd a = random_matrix(rows, cols, 8);
    for (const lapack::Columns columns : {lapack::Columns::thin, lapack::Columns::full}) {
      const lapack::Svd s = lapack::svd(a, columns);
      const Eigen::Index r = s.values.size();
      EXPECT_LT((s.U.leftCols(r) * s.values.asDiagonal() * s.V.leftCols(r).transpose() - a).norm(),
                1e-13);
      EXPECT_LT(orthogonality(s.U) + orthogonality(s.V), 1e-13);
      EXPECT_EQ(s.U.cols(), columns == lapack::Columns::full ? rows : r);
    }
    const Eigen::MatrixXcd c = a + std::complex<double>(0.0, 1.0) * random_matrix(rows, cols, 9);
    const lapack::ComplexSvd s = lapack::svd(c);
    EXPECT_LT((s.U * s.values.asDiagonal() * s.V.adjoint() - c).norm(), 1e-13);
    EXPECT_NEAR(lapack::norm2(c),
                std::sqrt(lapack::hermitian_eig(c.adjoint() * c).values.maxCoeff()), 1e-12);
  }
}

TEST(Lapack, SolutionsAndConditions) {
  const Eigen::MatrixXd a = random_matrix(11, 11, 10), b = random_matrix(11, 3, 11);
  const lapack::Lu lu(a);
  EXPECT_LT((a * lu.solve(b) - b).norm(), 1e-11);
  EXPECT_LT((a.transpose() * lu.solve_transposed(b) - b).norm(), 1e-11);
  const Eigen::MatrixXcd c = a + std::complex<double>(0.0, 1.0) * random_matrix(11, 11, 12);
  const lapack::ComplexLu clu(c);
  EXPECT_LT((c * clu.solve(b) - b).norm(), 1e-11);
  EXPECT_LT((c.adjoint() * clu.solve_adjoint(b) - b).norm(), 1e-11);
  // The condition of a diagonal matrix is known.
  const Eigen::MatrixXd d = Eigen::Vector3d(1.0, 1e-3, 1e2).asDiagonal();
  EXPECT_NEAR(lapack::Lu(d).rcond(), 1e-5, 1e-18);
  Eigen::MatrixXd singular = a;
  singular.col(3) = singular.col(5);
  EXPECT_THROW(lapack::solve(singular, b), NumericalError);
  EXPECT_EQ(lapack::Lu(Eigen::MatrixXd::Zero(3, 3)).rcond(), 0.0);
}

TEST(Lapack, OrthogonalFactors) {
  for (const auto& [rows, cols] : {std::pair{9, 5}, std::pair{5, 9}, std::pair{4, 0}}) {
    const Eigen::MatrixXd a = random_matrix(rows, cols, 13);
    const lapack::Qr thin = lapack::qr(a), full = lapack::qr(a, lapack::Columns::full);
    EXPECT_LT((thin.Q * thin.R - a).norm() + (full.Q * full.R - a).norm(), 1e-13);
    EXPECT_LT(orthogonality(full.Q), 1e-13);
    EXPECT_EQ(full.Q.cols(), rows);
  }
  Eigen::MatrixXd a = random_matrix(8, 6, 14);
  a.col(2) = a.col(0) - 2.0 * a.col(5);
  const lapack::PivotedQr pivoted = lapack::pivoted_qr(a);
  EXPECT_EQ(pivoted.rank(1e-12), 5);
  for (int j = 0; j < 6; ++j)
    EXPECT_LT(
        (pivoted.Q * pivoted.R.col(j) - a.col(pivoted.columns[static_cast<unsigned>(j)])).norm(),
        1e-13);
  // The shortest least-squares solution is orthogonal to the null vector.
  const Eigen::MatrixXd x = lapack::least_squares(a, random_matrix(8, 1, 15), 1e-12);
  EXPECT_NEAR(x(2) - x(0) + 2.0 * x(5), 0.0, 1e-12);
}

TEST(Lapack, Cholesky) {
  const Eigen::MatrixXd r = random_matrix(7, 7, 16), a = r * r.transpose();
  const auto l = lapack::cholesky(a);
  ASSERT_TRUE(l);
  EXPECT_LT((*l * l->transpose() - a).norm(), 1e-13);
  EXPECT_LT((a * lapack::cholesky_solve(*l, r) - r).norm(), 1e-9);
  EXPECT_FALSE(lapack::cholesky(Eigen::MatrixXd(-a)));
}

TEST(Lapack, Reductions) {
  const Eigen::MatrixXd a = random_matrix(10, 10, 17), b = random_matrix(10, 10, 18);
  const lapack::Hessenberg h = lapack::hessenberg(a);
  EXPECT_LT((h.Q * h.H * h.Q.transpose() - a).norm(), 1e-13);
  EXPECT_EQ(h.H(2, 0), 0.0);
  const lapack::HessenbergTriangular ht = lapack::hessenberg_triangular(a, b);
  EXPECT_LT((ht.Q * ht.H * ht.Z.transpose() - a).norm(), 1e-12);
  EXPECT_LT((ht.Q * ht.T * ht.Z.transpose() - b).norm(), 1e-12);
  EXPECT_EQ(ht.H(9, 7), 0.0);
  EXPECT_EQ(ht.T(9, 8), 0.0);
  Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(10, -6.0, 6.0);
  scale = scale.unaryExpr([](double e) { return std::exp2(std::round(2.0 * e)); });
  const Eigen::MatrixXd badly = scale.asDiagonal() * a * scale.cwiseInverse().asDiagonal();
  const lapack::Balanced balanced = lapack::balance(badly);
  EXPECT_LT(balanced.scaled.norm(), 10.0 * a.norm());
  EXPECT_LT((balanced.scale.asDiagonal() * balanced.scaled *
                 balanced.scale.cwiseInverse().asDiagonal().toDenseMatrix() -
             badly)
                .norm(),
            1e-12 * badly.norm());
}

TEST(Lapack, Sylvester) {
  const lapack::Schur a = lapack::schur(random_matrix(6, 6, 19));
  const lapack::Schur b = lapack::schur(random_matrix(4, 4, 20));
  const Eigen::MatrixXd c = random_matrix(6, 4, 21);
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const int sign : {1, -1}) {
        const lapack::TriangularSylvester s =
            lapack::triangular_sylvester(a.T, b.T, c, ta, tb, sign);
        const Eigen::MatrixXd left = ta ? Eigen::MatrixXd(a.T.transpose()) : a.T;
        const Eigen::MatrixXd right = tb ? Eigen::MatrixXd(b.T.transpose()) : b.T;
        EXPECT_LT((left * s.X + sign * s.X * right - s.scale * c).norm(),
                  1e-12 * s.X.norm() + 1e-12);
      }
}

TEST(Lapack, Products) {
  const Eigen::MatrixXd a = random_matrix(4, 6, 22), b = random_matrix(6, 3, 23);
  EXPECT_LT((lapack::multiply(a, b) - a * b).norm(), 1e-13);
  EXPECT_LT((lapack::multiply(b, a, true, true) - b.transpose() * a.transpose()).norm(), 1e-13);
  EXPECT_THROW(lapack::multiply(a, a), NumericalError);
}

TEST(Lapack, BadInputIsNamed) {
  Eigen::MatrixXd a = random_matrix(5, 5, 24);
  a(1, 3) = std::nan("");
  try {
    lapack::schur(a);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("(2, 4)"), std::string::npos) << e.what();
  }
  EXPECT_THROW(lapack::eig(Eigen::MatrixXd(random_matrix(3, 4, 25))), NumericalError);
  EXPECT_EQ(lapack::eigenvalues(Eigen::MatrixXd(0, 0)).size(), 0);
}

TEST(Lapack, OneThreadAndTheSameBits) {
  EXPECT_FALSE(lapack::blas_name().empty());
  const Eigen::MatrixXd a = random_matrix(300, 300, 26);
  const Eigen::MatrixXd first = lapack::multiply(a, a);
  std::vector<Eigen::MatrixXd> results(4);
  std::vector<std::thread> threads;
  for (Eigen::MatrixXd& result : results)
    threads.emplace_back([&] { result = lapack::multiply(a, a); });
  for (std::thread& thread : threads) thread.join();
  for (const Eigen::MatrixXd& result : results) EXPECT_EQ((result - first).norm(), 0.0);
}

}  // namespace
}  // namespace catena
