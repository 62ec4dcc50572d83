// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/zero_reduction.h"

#include "catena/base/error.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Quadruple {
  MatrixXd A, B, C, D;
};

Eigen::Index numerical_rank(const VectorXd& singular_values, double least) {
  return (singular_values.array() > least).count();
}

// Removes infinite zeros until D has full row rank: where no input acts, C x = 0 leaves the states
// orthogonal to it, and the equations of the others become outputs.
Quadruple with_full_row_rank(Quadruple g, double least) {
  while (g.C.rows() > 0) {
    const Eigen::Index p = g.C.rows(), n = g.A.rows(), m = g.B.cols();
    // Rows: Uᵀ D = (D̃; 0).
    const lapack::Svd d = lapack::svd(g.D, lapack::Columns::full);
    const Eigen::Index rho = numerical_rank(d.values, least);
    if (rho == p) break;
    const MatrixXd c = d.U.transpose() * g.C;
    const MatrixXd d_kept = (d.U.transpose() * g.D).topRows(rho);
    const MatrixXd silent = c.bottomRows(p - rho);
    // Columns: C̄ V = (S 0), so the first nu states are zero.
    const lapack::Svd s = lapack::svd(silent, lapack::Columns::full);
    const Eigen::Index nu = numerical_rank(s.values, least);
    const MatrixXd c_kept = c.topRows(rho) * s.V;
    if (nu == 0) return {g.A, g.B, c.topRows(rho), d_kept};
    const MatrixXd a = s.V.transpose() * g.A * s.V, b = s.V.transpose() * g.B;
    Quadruple next;
    next.A = a.bottomRightCorner(n - nu, n - nu);
    next.B = b.bottomRows(n - nu);
    next.C.resize(rho + nu, n - nu);
    next.C << c_kept.rightCols(n - nu), a.topRightCorner(nu, n - nu);
    next.D.resize(rho + nu, m);
    next.D << d_kept, b.topRows(nu);
    g = std::move(next);
  }
  return g;
}

Quadruple transposed(const Quadruple& g) {
  return {g.A.transpose(), g.C.transpose(), g.B.transpose(), g.D.transpose()};
}

// Rows and columns of [A B; C D] scaled by powers of two to comparable norms, states by A's
// balancing. Zeros do not change: A is transformed by similarity, D by factors on either side.
Quadruple scaled(const StateSpace& g) {
  Quadruple q{g.A, g.B, g.C, g.D};
  if (q.A.rows() > 0) {
    const lapack::Balanced balanced = lapack::balance(q.A);
    q.A = balanced.scaled;
    q.B = balanced.scale.cwiseInverse().asDiagonal() * g.B;
    q.C = g.C * balanced.scale.asDiagonal();
  }
  const double target = std::max(q.A.norm(), 1e-300);
  const auto factor = [&](double length) {
    return length > 0.0
               ? std::exp2(std::round(std::log2((q.A.norm() > 0.0 ? target : 1.0) / length)))
               : 1.0;
  };
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (Eigen::Index j = 0; j < q.B.cols(); ++j) {
      const double f = factor(std::hypot(q.B.col(j).norm(), q.D.col(j).norm()));
      q.B.col(j) *= f;
      q.D.col(j) *= f;
    }
    for (Eigen::Index i = 0; i < q.C.rows(); ++i) {
      const double f = factor(std::hypot(q.C.row(i).norm(), q.D.row(i).norm()));
      q.C.row(i) *= f;
      q.D.row(i) *= f;
    }
  }
  return q;
}

}  // namespace

StateSpace with_identity_descriptor(const StateSpace& system) {
  if (!system.is_descriptor()) return system;
  const Eigen::Index n = system.order();
  const lapack::Svd svd = lapack::svd(system.E, lapack::Columns::full);
  const double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const Eigen::Index r = numerical_rank(svd.values, rounding * (n > 0 ? svd.values[0] : 0.0));
  const MatrixXd a = svd.U.transpose() * system.A * svd.V, b = svd.U.transpose() * system.B;
  const MatrixXd c = system.C * svd.V;
  const VectorXd inverse_s = svd.values.head(r).cwiseInverse();
  const Eigen::Index k = n - r, m = system.input_count(), p = system.output_count();
  StateSpace result;
  result.dt = system.dt;
  result.A = inverse_s.asDiagonal() * a.topLeftCorner(r, r);
  result.B.resize(r, k + m);
  result.B << inverse_s.asDiagonal() * a.topRightCorner(r, k),
      inverse_s.asDiagonal() * b.topRows(r);
  result.C.resize(k + p, r);
  result.C << a.bottomLeftCorner(k, r), c.leftCols(r);
  result.D.resize(k + p, k + m);
  result.D << a.bottomRightCorner(k, k), b.bottomRows(k), c.rightCols(k), system.D;
  return result;
}

ReducedPencil reduce_zeros(const StateSpace& system) {
  const StateSpace plain = with_identity_descriptor(system);
  const Eigen::Index algebraic = plain.D.rows() - system.output_count();
  Quadruple g = scaled(plain);
  const double size =
      std::sqrt(g.A.squaredNorm() + g.B.squaredNorm() + g.C.squaredNorm() + g.D.squaredNorm());
  const double count = static_cast<double>(g.A.rows() + g.B.cols() + g.C.rows());
  // Rounding errors of the orthogonal transformations that follow one another.
  const double least = 10.0 * count * std::numeric_limits<double>::epsilon() * size;
  g = with_full_row_rank(g, least);
  g = transposed(with_full_row_rank(transposed(g), least));
  // D is square and regular now. Columns W with [C D] W = [0 X] leave the pencil of order n.
  const Eigen::Index n = g.A.rows(), m = g.D.cols();
  ReducedPencil result;
  result.normal_rank = static_cast<int>(m - algebraic);
  if (n == 0) {
    result.A.resize(0, 0);
    result.E.resize(0, 0);
    return result;
  }
  MatrixXd cd(n + m, m);
  cd << g.C.transpose(), g.D.transpose();
  const MatrixXd w = lapack::qr(cd, lapack::Columns::full).Q.rightCols(n);
  MatrixXd ab(n, n + m);
  ab << g.A, g.B;
  result.A = lapack::multiply(ab, w);
  result.E = w.topRows(n);
  return result;
}

}  // namespace catena
