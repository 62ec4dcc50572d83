// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/matrix_functions.h"

#include <array>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/lapack/lapack_support.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;

double norm1(const MatrixXd& a) {
  return a.size() == 0 ? 0.0 : a.cwiseAbs().colwise().sum().maxCoeff();
}

// √T of an upper triangular matrix [Björck & Hammarling 1983].
MatrixXcd triangular_root(const MatrixXcd& t) {
  const Eigen::Index n = t.rows();
  MatrixXcd r = MatrixXcd::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    r(j, j) = std::sqrt(t(j, j));
    for (Eigen::Index i = j - 1; i >= 0; --i) {
      std::complex<double> sum = t(i, j);
      for (Eigen::Index k = i + 1; k < j; ++k) sum -= r(i, k) * r(k, j);
      r(i, j) = sum / (r(i, i) + r(j, j));
    }
  }
  return r;
}

// Nodes and weights of Gauss-Legendre quadrature on (0, 1), 8 points: by Newton's method.
struct GaussLegendre {
  static constexpr int kPoints = 8;
  std::array<double, kPoints> node, weight;
  GaussLegendre() {
    for (std::size_t i = 0; i < kPoints; ++i) {
      double x = std::cos(M_PI * (static_cast<double>(i) + 0.75) / (kPoints + 0.5)), slope = 1.0;
      for (int step = 0; step < 100; ++step) {
        double p = 1.0, before = 0.0;
        for (int k = 1; k <= kPoints; ++k) {
          const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
          before = p;
          p = next;
        }
        slope = kPoints * (x * p - before) / (x * x - 1.0);
        const double change = p / slope;
        x -= change;
        if (std::abs(change) < 1e-16) break;
      }
      node[i] = 0.5 * (1.0 + x);
      weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
  }
};

}  // namespace

MatrixXd expm(const MatrixXd& a) {
  const Eigen::Index n = a.rows();
  lapack::require_square_and_finite(a, "matrix exponential");
  if (n == 0) return a;
  constexpr double kTheta13 = 5.371920351148152;  // [Higham 2005, table 2.3]
  constexpr std::array<double, 14> b = {64764752532480000.0,
                                        32382376266240000.0,
                                        7771770303897600.0,
                                        1187353796428800.0,
                                        129060195264000.0,
                                        10559470521600.0,
                                        670442572800.0,
                                        33522128640.0,
                                        1323241920.0,
                                        40840800.0,
                                        960960.0,
                                        16380.0,
                                        182.0,
                                        1.0};
  const double norm = norm1(a);
  int squarings = 0;
  if (norm > kTheta13) squarings = static_cast<int>(std::ceil(std::log2(norm / kTheta13)));
  if (squarings > 1000)
    throw NumericalError("matrix exponential: the norm " + short_number(norm) + " is too large");
  const MatrixXd x = a * std::exp2(-squarings), identity = MatrixXd::Identity(n, n);
  const MatrixXd x2 = lapack::multiply(x, x), x4 = lapack::multiply(x2, x2);
  const MatrixXd x6 = lapack::multiply(x4, x2);
  const MatrixXd odd =
      lapack::multiply(x, lapack::multiply(x6, b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 +
                              b[5] * x4 + b[3] * x2 + b[1] * identity);
  const MatrixXd even = lapack::multiply(x6, b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 +
                        b[4] * x4 + b[2] * x2 + b[0] * identity;
  MatrixXd result = lapack::Lu(even - odd).solve(even + odd);
  for (int i = 0; i < squarings; ++i) result = lapack::multiply(result, result);
  if (!result.allFinite())
    throw NumericalError("matrix exponential: the result overflows (norm of the matrix " +
                         short_number(norm) + "); shorten the time or scale the system");
  return result;
}

MatrixXd logm(const MatrixXd& a) {
  const Eigen::Index n = a.rows();
  lapack::require_square_and_finite(a, "matrix logarithm");
  if (n == 0) return a;
  const lapack::OneThread one;
  MatrixXcd t = a.cast<std::complex<double>>(), u(n, n);
  Eigen::VectorXcd values(n);
  lapack_int count = 0;
  lapack::require_success(
      LAPACKE_zgees(LAPACK_COL_MAJOR, 'V', 'N', nullptr, lapack::size(n), t.data(),
                    lapack::leading(t), &count, values.data(), u.data(), lapack::leading(u)),
      "zgees");
  const double rounding = 10.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  for (Eigen::Index i = 0; i < n; ++i)
    if (values[i].real() <= rounding * std::abs(values[i]) &&
        std::abs(values[i].imag()) <= rounding * (std::abs(values[i]) + norm1(a)))
      throw NumericalError("matrix logarithm: the eigenvalue " + short_number(values[i].real(), 6) +
                           " is not positive, so there is no real principal logarithm");
  // The quadrature of order 8 is exact to rounding for ‖T − 1‖ ≤ 0.25: (x/2)^17-like remainder.
  constexpr double kClose = 0.25;
  constexpr int kMostRoots = 100;
  int roots = 0;
  const MatrixXcd identity = MatrixXcd::Identity(n, n);
  while ((t - identity).cwiseAbs().colwise().sum().maxCoeff() > kClose && roots < kMostRoots) {
    t = triangular_root(t);
    ++roots;
  }
  static const GaussLegendre rule;
  const MatrixXcd x = t - identity;
  MatrixXcd log = MatrixXcd::Zero(n, n);
  for (std::size_t i = 0; i < GaussLegendre::kPoints; ++i)
    log += rule.weight[i] * lapack::ComplexLu(identity + rule.node[i] * x).solve(x);
  return std::exp2(roots) * (u * log * u.adjoint()).real();
}

MatrixXd integral_of_expm(const MatrixXd& a, double h) {
  const Eigen::Index n = a.rows();
  MatrixXd block = MatrixXd::Zero(2 * n, 2 * n);
  block.topLeftCorner(n, n) = h * a;
  block.topRightCorner(n, n) = h * MatrixXd::Identity(n, n);
  return expm(block).topRightCorner(n, n);
}

}  // namespace catena
