// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/lyapunov.h"

#include <cmath>
#include <string>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"

namespace catena {
namespace {

void require_sizes(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, const Eigen::MatrixXd& c,
                   const char* equation) {
  if (a.rows() == a.cols() && b.rows() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows())
    return;
  const auto shape = [](const Eigen::MatrixXd& m) {
    return std::to_string(m.rows()) + " x " + std::to_string(m.cols());
  };
  throw NumericalError(std::string(equation) + ": coefficients of " + shape(a) + " and " +
                       shape(b) + " do not fit a right-hand side of " + shape(c));
}

std::string complex_text(Complex s) {
  return short_number(s.real(), 6) + (s.imag() < 0 ? " - " : " + ") +
         short_number(std::abs(s.imag()), 6) + "i";
}

// Names the pair of eigenvalues that makes the equation singular: the smallest |combine(a, b)|.
template <class Combine>
[[noreturn]] void throw_singular(const Eigen::VectorXcd& a, const Eigen::VectorXcd& b,
                                 const Combine& combine, const char* equation,
                                 const char* condition) {
  Complex first = 0.0, second = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (const Complex& x : a)
    for (const Complex& y : b)
      if (const double distance = std::abs(combine(x, y)); distance < least) {
        least = distance;
        first = x;
        second = y;
      }
  throw NumericalError(std::string(equation) + " is singular: the eigenvalues " +
                       complex_text(first) + " and " + complex_text(second) + " have " + condition +
                       " to rounding");
}

// Complex triangular T x b_jj... of the Stein equation column by column:
// T Σ_k Y_k conj(R_jk) − Y_j = F_j for upper triangular T and R, from the last column.
Eigen::MatrixXcd triangular_stein(const Eigen::MatrixXcd& t, const Eigen::MatrixXcd& r,
                                  const Eigen::MatrixXcd& f, double& least_pivot) {
  const Eigen::Index m = t.rows(), n = r.rows();
  Eigen::MatrixXcd y(m, n);
  for (Eigen::Index j = n - 1; j >= 0; --j) {
    const Eigen::Index known = n - 1 - j;
    Eigen::VectorXcd right = f.col(j);
    if (known > 0) {
      const Eigen::VectorXcd sum = y.rightCols(known) * r.row(j).tail(known).adjoint();
      right -= t.triangularView<Eigen::Upper>() * sum;
    }
    Eigen::MatrixXcd pivot = std::conj(r(j, j)) * t;
    pivot.diagonal().array() -= 1.0;
    least_pivot = std::min(least_pivot, pivot.diagonal().cwiseAbs().minCoeff());
    y.col(j) = pivot.triangularView<Eigen::Upper>().solve(right);
  }
  return y;
}

// Hammarling's recursion for T U Uᴴ + U Uᴴ Tᴴ + B Bᴴ = 0, or T U Uᴴ Tᴴ − U Uᴴ + B Bᴴ = 0, T upper
// triangular and stable. Row k, from the last: reflect the row of B onto its last column (r, ρ);
// then
//   continuous  α² = −2 Re λ,   (T₁ + λ̄) u = −t τ − r α,        y = r − α u
//   discrete    α² = 1 − |λ|²,  (λ̄ T₁ − 1) u = −λ̄ t τ − r α,   y = α (T₁ u + t τ) − λ r
// with τ = ρ/α, and y takes the place of r in what is left.
Eigen::MatrixXcd hammarling(const Eigen::MatrixXcd& t, Eigen::MatrixXcd b, bool discrete) {
  const Eigen::Index n = t.rows(), m = b.cols();
  Eigen::MatrixXcd u = Eigen::MatrixXcd::Zero(n, n);
  // Rows far below the rounding of B are zero; their squares would be no numbers.
  constexpr double kNothing = 1e-100;
  const double nothing = kNothing * b.norm();
  for (Eigen::Index k = n - 1; k >= 0; --k) {
    // A reflection from the right makes the row (0, …, 0, ρ) with ρ ≥ 0.
    Eigen::RowVectorXcd row = b.row(k);
    const double size = row.norm(), rho = size > nothing ? size : 0.0;
    if (rho > 0.0) {
      const Complex last = row[m - 1];
      const Complex phase = last == 0.0 ? Complex(1.0) : last / std::abs(last);
      Eigen::VectorXcd v = row.adjoint();
      v[m - 1] += std::conj(phase) * rho;
      const double scale = 2.0 / v.squaredNorm();
      b.topRows(k + 1) -= (scale * (b.topRows(k + 1) * v)) * v.adjoint();
      b.col(m - 1).head(k + 1) *= -std::conj(phase);
    }
    const Complex lambda = t(k, k);
    const double alpha = std::sqrt(discrete ? 1.0 - std::norm(lambda) : -2.0 * lambda.real());
    const double tau = rho / alpha;
    u(k, k) = tau;
    if (k == 0) break;
    const auto t1 = t.topLeftCorner(k, k);
    const auto r = b.col(m - 1).head(k);
    if (discrete) {
      Eigen::MatrixXcd pivot = std::conj(lambda) * t1;
      pivot.diagonal().array() -= 1.0;
      const Eigen::VectorXcd right = -std::conj(lambda) * tau * t.col(k).head(k) - alpha * r;
      u.col(k).head(k) = pivot.triangularView<Eigen::Upper>().solve(right);
      const Eigen::VectorXcd w =
          t1.triangularView<Eigen::Upper>() * u.col(k).head(k) + tau * t.col(k).head(k);
      b.col(m - 1).head(k) = (alpha * w - lambda * r).eval();
    } else {
      Eigen::MatrixXcd pivot = t1;
      pivot.diagonal().array() += std::conj(lambda);
      const Eigen::VectorXcd right = -tau * t.col(k).head(k) - alpha * r;
      u.col(k).head(k) = pivot.triangularView<Eigen::Upper>().solve(right);
      b.col(m - 1).head(k) -= alpha * u.col(k).head(k);
    }
  }
  return u;
}

Eigen::MatrixXd gramian_factor(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool discrete) {
  const char* equation = discrete ? "Stein equation" : "Lyapunov equation";
  if (a.rows() != a.cols() || b.rows() != a.rows())
    throw NumericalError(std::string(equation) + ": A is " + std::to_string(a.rows()) + " x " +
                         std::to_string(a.cols()) + " and B has " + std::to_string(b.rows()) +
                         " rows");
  const Eigen::Index n = a.rows();
  if (n == 0 || b.cols() == 0) return Eigen::MatrixXd::Zero(n, n);
  const lapack::Schur real = lapack::schur(a);
  for (const Complex& s : real.values)
    if (discrete ? std::abs(s) >= 1.0 : s.real() >= 0.0)
      throw NumericalError(std::string(equation) + ": a factored solution needs a stable system; " +
                           complex_text(s) + " is an eigenvalue");
  const ComplexSchur schur = complex_schur(real);
  const Eigen::MatrixXcd u = hammarling(schur.T, schur.U.adjoint() * b, discrete);
  // X = Re(S Sᴴ) = Sr Srᵀ + Si Siᵀ with S = V u: one LQ factorization makes it n×n again.
  const Eigen::MatrixXd vr = schur.U.real(), vi = schur.U.imag(), ur = u.real(), ui = u.imag();
  const Eigen::MatrixXd wide = hstack(times(vr, ur) - times(vi, ui), times(vr, ui) + times(vi, ur));
  return lapack::qr(wide.transpose()).R.transpose();
}

}  // namespace

Eigen::MatrixXd sylvester(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                          const Eigen::MatrixXd& C) {
  require_sizes(A, B, C, "Sylvester equation");
  const lapack::OneThread one;
  const lapack::Schur a = lapack::schur(A), b = lapack::schur(Eigen::MatrixXd(B.transpose()));
  Eigen::MatrixXd f = -times(times_tn(a.U, C), b.U);
  if (!solve_triangular_sylvester(a.T, b.T, f))
    throw_singular(
        a.values, b.values, [](Complex x, Complex y) { return x + y; }, "Sylvester equation",
        "a sum of zero");
  return times_nt(times(a.U, f), b.U);
}

Eigen::MatrixXd lyap(const Eigen::MatrixXd& A, const Eigen::MatrixXd& Q) {
  require_sizes(A, A, Q, "Lyapunov equation");
  const lapack::OneThread one;
  const lapack::Schur a = lapack::schur(A);
  Eigen::MatrixXd f = -times(times_tn(a.U, Q), a.U);
  if (!solve_triangular_sylvester(a.T, a.T, f))
    throw_singular(
        a.values, a.values, [](Complex x, Complex y) { return x + y; }, "Lyapunov equation",
        "a sum of zero");
  Eigen::MatrixXd x = times_nt(times(a.U, f), a.U);
  if (Q == Q.transpose()) x = symmetrized(x);
  return x;
}

Eigen::MatrixXd dsylvester(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                           const Eigen::MatrixXd& C) {
  require_sizes(A, B, C, "Stein equation");
  if (C.size() == 0) return C;
  const lapack::OneThread one;
  const lapack::Schur ra = lapack::schur(A), rb = lapack::schur(Eigen::MatrixXd(B.transpose()));
  const ComplexSchur a = complex_schur(ra), b = complex_schur(rb);
  double least = std::numeric_limits<double>::infinity();
  // B = conj(Ub) Tbᵀ Ubᵀ, so with Y = Uaᴴ X conj(Ub): Ta Y Tbᵀ − Y = −Uaᴴ C conj(Ub).
  const Eigen::MatrixXcd f = -(a.U.adjoint() * C * b.U.conjugate());
  const Eigen::MatrixXcd y = triangular_stein(a.T, b.T.conjugate(), f, least);
  const double size = 1.0 + ra.values.cwiseAbs().maxCoeff() * rb.values.cwiseAbs().maxCoeff();
  if (least <= std::numeric_limits<double>::epsilon() * size || !y.allFinite())
    throw_singular(
        ra.values, rb.values, [](Complex x, Complex z) { return x * z - 1.0; }, "Stein equation",
        "a product of one");
  return (a.U * y * b.U.transpose()).real();
}

Eigen::MatrixXd dlyap(const Eigen::MatrixXd& A, const Eigen::MatrixXd& Q) {
  Eigen::MatrixXd x = dsylvester(A, A.transpose(), Q);
  if (Q == Q.transpose()) x = symmetrized(x);
  return x;
}

Eigen::MatrixXd lyap_factor(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  const lapack::OneThread one;
  return gramian_factor(A, B, false);
}

Eigen::MatrixXd dlyap_factor(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  const lapack::OneThread one;
  return gramian_factor(A, B, true);
}

}  // namespace catena
