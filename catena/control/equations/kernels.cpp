// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace catena {
namespace {

// Below this size a BLAS call costs more than Eigen's inlined product.
constexpr Eigen::Index kSmallProduct = 40;
// dtrsyl is level 2; halves above this size are joined by products.
constexpr Eigen::Index kSmallSylvester = 48;

bool small(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.rows() < kSmallProduct && a.cols() < kSmallProduct && b.rows() < kSmallProduct &&
         b.cols() < kSmallProduct;
}

// Half of a quasi-triangular matrix, not through a 2×2 block.
Eigen::Index half(const Eigen::MatrixXd& t) {
  const Eigen::Index k = t.rows() / 2;
  return t(k, k - 1) != 0.0 ? k + 1 : k;
}

}  // namespace

Eigen::MatrixXd times(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return small(a, b) ? Eigen::MatrixXd(a * b) : lapack::multiply(a, b);
}

Eigen::MatrixXd times_tn(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return small(a, b) ? Eigen::MatrixXd(a.transpose() * b) : lapack::multiply(a, b, true);
}

Eigen::MatrixXd times_nt(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return small(a, b) ? Eigen::MatrixXd(a * b.transpose()) : lapack::multiply(a, b, false, true);
}

ComplexSchur complex_schur(const lapack::Schur& real) {
  const Eigen::Index n = real.T.rows();
  ComplexSchur s{real.U.cast<Complex>(), real.T.cast<Complex>()};
  for (Eigen::Index k = n - 1; k > 0; --k) {
    if (real.T(k, k - 1) == 0.0) continue;
    // Rotation that makes the eigenvector of an eigenvalue of the block its first axis.
    const Complex a = s.T(k - 1, k - 1), b = s.T(k - 1, k), c = s.T(k, k - 1), d = s.T(k, k);
    const Complex middle = 0.5 * (a + d);
    const Complex root = std::sqrt(0.25 * (a - d) * (a - d) + b * c);
    const Complex x = middle + root - d, y = c;  // (A − λ) [x; y] = 0
    const double length = std::hypot(std::abs(x), std::abs(y));
    const Complex cs = x / length, sn = y / length;
    Eigen::Matrix2cd g;  // columns: the eigenvector and its complement
    g << cs, -std::conj(sn), sn, std::conj(cs);
    s.T.middleCols(k - 1, 2).topRows(k + 1) = (s.T.middleCols(k - 1, 2).topRows(k + 1) * g).eval();
    s.T.middleRows(k - 1, 2).rightCols(n - k + 1) =
        (g.adjoint() * s.T.middleRows(k - 1, 2).rightCols(n - k + 1)).eval();
    s.U.middleCols(k - 1, 2) = (s.U.middleCols(k - 1, 2) * g).eval();
    s.T(k, k - 1) = 0.0;
  }
  return s;
}

bool solve_triangular_sylvester(const Eigen::MatrixXd& t1, const Eigen::MatrixXd& t2,
                                Eigen::MatrixXd& f, bool transposed) {
  const Eigen::Index m = t1.rows(), n = t2.rows();
  if (m <= kSmallSylvester && n <= kSmallSylvester) {
    const lapack::TriangularSylvester s =
        lapack::triangular_sylvester(t1, t2, f, transposed, !transposed);
    f = s.X / s.scale;
    return !s.close && f.allFinite();
  }
  if (m >= n) {  // halves of t1
    const Eigen::Index k = half(t1);
    const Eigen::MatrixXd t11 = t1.topLeftCorner(k, k), t12 = t1.topRightCorner(k, m - k),
                          t22 = t1.bottomRightCorner(m - k, m - k);
    Eigen::MatrixXd upper = f.topRows(k), lower = f.bottomRows(m - k);
    bool good;
    if (transposed) {
      good = solve_triangular_sylvester(t11, t2, upper, true);
      lower -= times_tn(t12, upper);
      good = solve_triangular_sylvester(t22, t2, lower, true) && good;
    } else {
      good = solve_triangular_sylvester(t22, t2, lower, false);
      upper -= times(t12, lower);
      good = solve_triangular_sylvester(t11, t2, upper, false) && good;
    }
    f << upper, lower;
    return good;
  }
  const Eigen::Index k = half(t2);
  const Eigen::MatrixXd t11 = t2.topLeftCorner(k, k), t12 = t2.topRightCorner(k, n - k),
                        t22 = t2.bottomRightCorner(n - k, n - k);
  Eigen::MatrixXd left = f.leftCols(k), right = f.rightCols(n - k);
  bool good;
  if (transposed) {
    good = solve_triangular_sylvester(t1, t11, left, true);
    right -= times(left, t12);
    good = solve_triangular_sylvester(t1, t22, right, true) && good;
  } else {
    good = solve_triangular_sylvester(t1, t22, right, false);
    left -= times_nt(right, t12);
    good = solve_triangular_sylvester(t1, t11, left, false) && good;
  }
  f << left, right;
  return good;
}

Eigen::MatrixXd hstack(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd r(std::max(a.rows(), b.rows()), a.cols() + b.cols());
  if (a.cols() > 0) r.leftCols(a.cols()) = a;
  if (b.cols() > 0) r.rightCols(b.cols()) = b;
  return r;
}

Eigen::MatrixXd vstack(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd r(a.rows() + b.rows(), std::max(a.cols(), b.cols()));
  if (a.rows() > 0) r.topRows(a.rows()) = a;
  if (b.rows() > 0) r.bottomRows(b.rows()) = b;
  return r;
}

Eigen::MatrixXd block_diagonal(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd r = Eigen::MatrixXd::Zero(a.rows() + b.rows(), a.cols() + b.cols());
  r.topLeftCorner(a.rows(), a.cols()) = a;
  r.bottomRightCorner(b.rows(), b.cols()) = b;
  return r;
}

namespace {

Eigen::MatrixXd of_spectrum(const Eigen::MatrixXd& a, double (*function)(double, double)) {
  const lapack::SymmetricEigenSystem e = lapack::symmetric_eig(symmetrized(a));
  if (e.values.size() == 0) return a;
  const double largest = e.values.cwiseAbs().maxCoeff();
  Eigen::VectorXd values = e.values;
  for (double& v : values) v = function(v, largest);
  return e.vectors * values.asDiagonal() * e.vectors.transpose();
}

}  // namespace

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& a) {
  return of_spectrum(a, [](double v, double) { return std::sqrt(std::max(0.0, v)); });
}

Eigen::MatrixXd symmetric_inverse_root(const Eigen::MatrixXd& a) {
  return of_spectrum(a, [](double v, double largest) {
    return v > std::numeric_limits<double>::epsilon() * largest ? 1.0 / std::sqrt(v) : 0.0;
  });
}

}  // namespace catena
