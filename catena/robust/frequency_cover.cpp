// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/frequency_cover.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "catena/linear/lapack/lapack.h"
#include "catena/robust/complex_dense.h"

namespace catena {
namespace {

using complex_dense::adjoint_product;
using complex_dense::hermitian_part;
using complex_dense::product;
using Matrix = Eigen::MatrixXcd;

// Eigenvalues with |Re λ| below this part of |λ| (or of the scale of the system's poles) are looked
// at: rounding moves double ones by the root of the precision.
constexpr double kNearAxis = 1e-5;

}  // namespace

FrequencyCover::FrequencyCover(const StateSpace& m, const BlockStructure& structure)
    : m_(m), structure_(structure), evaluator_(m), poles_(lapack::eigenvalues(m.A)) {}

Matrix FrequencyCover::response(double omega) const {
  if (std::isinf(omega)) return m_.D.cast<std::complex<double>>();
  return evaluator_.at(omega);
}

FrequencyCover::Crossings FrequencyCover::crossings(const MuScaling& scaling, double beta,
                                                    double slack) const {
  const std::complex<double> j(0.0, 1.0);
  const Eigen::Index n = m_.A.rows();
  // B and C scaled to equal size.
  const double bn = m_.B.norm(), cn = m_.C.norm();
  const double scale = bn > 0.0 && cn > 0.0 ? std::sqrt(cn / bn) : 1.0;
  const Matrix a = m_.A.cast<std::complex<double>>();
  const Matrix b = (scale * m_.B).cast<std::complex<double>>();
  const Matrix c = (m_.C / scale).cast<std::complex<double>>();
  const Matrix d = m_.D.cast<std::complex<double>>();
  const Matrix dc = product(scaling.d_columns, c), dd = product(scaling.d_columns, d);
  const Matrix q = hermitian_part(adjoint_product(c, dc));
  Matrix s = adjoint_product(c, dd);
  Matrix r = adjoint_product(d, dd);
  if (scaling.g.size() != 0) {
    s -= j * adjoint_product(c, scaling.g.adjoint());
    const Matrix gd = product(scaling.g, d);
    r += j * (gd - gd.adjoint());
  }
  r = beta * beta * scaling.d_rows - hermitian_part(r);  // F at infinite frequency
  Crossings result;
  const Eigen::VectorXd at_infinity = lapack::hermitian_eig(hermitian_part(r)).values;
  result.beyond = !(at_infinity.minCoeff() > 0.0);
  if (std::abs(at_infinity.minCoeff()) < 1e-13 * at_infinity.cwiseAbs().maxCoeff())
    r += 1e-12 * at_infinity.cwiseAbs().maxCoeff() * Matrix::Identity(r.rows(), r.cols());
  const Matrix rb = lapack::solve(r, Matrix(b.adjoint()), "the level of a bound");
  const Matrix rs = lapack::solve(r, Matrix(s.adjoint()), "the level of a bound");
  Matrix h(2 * n, 2 * n);
  h.topLeftCorner(n, n) = a + product(b, rs);
  h.topRightCorner(n, n) = product(b, rb);
  h.bottomLeftCorner(n, n) = -q - product(s, rs);
  h.bottomRightCorner(n, n) = -h.topLeftCorner(n, n).adjoint();
  const Eigen::VectorXcd values = lapack::eigenvalues(h);
  const double size = poles_.size() == 0 ? 0.0 : poles_.cwiseAbs().minCoeff();
  for (const std::complex<double>& v : values) {
    if (std::abs(v.real()) > kNearAxis * std::max(std::abs(v), size)) continue;
    const double omega = std::max(0.0, v.imag());
    if (v.imag() < -kNearAxis * std::max(std::abs(v), size)) continue;
    if (mu_level(response(omega), structure_, scaling) < (1.0 - slack) * beta) continue;
    result.omega.push_back(omega);
  }
  std::sort(result.omega.begin(), result.omega.end());
  return result;
}

}  // namespace catena
