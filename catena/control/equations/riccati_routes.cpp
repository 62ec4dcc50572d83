// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "catena/control/equations/kernels.h"
#include "catena/control/equations/riccati_detail.h"

namespace catena {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Hamiltonian eigenvalues closer to the axis than this, relative to their modulus or to the root of
// the rounding of the matrix, count as on it: a double eigenvalue moves by the root of the
// rounding.
constexpr double kAxis = 1e-13;

// From this order of the Hamiltonian matrix on, eigenvectors are tried before the Schur form is
// reordered, which for large matrices takes longer than all the rest.
constexpr Eigen::Index kEigenvectorOrder = 128;
// Reciprocal condition of U11 below which the orthonormal basis is taken instead: the Newton step
// that follows gains these digits back.
constexpr double kBasisCondition = 1e-9;

// X = U21 U11⁻¹ from a basis of the stable subspace.
RawRiccati from_subspace(const Eigen::MatrixXd& u, RawRiccati raw, double least_rcond = kEpsilon) {
  const Eigen::Index n = u.cols();
  const lapack::Lu lu(Eigen::MatrixXd(u.topRows(n).transpose()));
  if (lu.rcond() < least_rcond) {
    raw.status = RiccatiStatus::no_graph_subspace;
    return raw;
  }
  raw.X = symmetrized(lu.solve(u.bottomRows(n).transpose()).transpose());
  if (!raw.X.allFinite()) raw.status = RiccatiStatus::no_graph_subspace;
  return raw;
}

// Scaling diag(d, 1/d) that keeps a matrix Hamiltonian, from LAPACK's balancing of moduli.
Eigen::VectorXd symplectic_scale(const Eigen::MatrixXd& h) {
  const Eigen::Index n = h.rows() / 2;
  Eigen::MatrixXd moduli = h.cwiseAbs();
  moduli.diagonal().setZero();
  const Eigen::VectorXd s = lapack::balance(moduli).scale;
  Eigen::VectorXd d(n);
  for (Eigen::Index i = 0; i < n; ++i)
    d[i] = std::exp2(std::round(0.5 * std::log2(s[i] / s[n + i])));
  return d;
}

double relative_size(const Eigen::MatrixXd& change, const Eigen::MatrixXd& whole) {
  return change.norm() / std::max(whole.norm(), std::numeric_limits<double>::min());
}

// One step of structured doubling for X = Aᵀ X (1 + G X)⁻¹ A + Q, starting from (A, G, H = Q):
//   W = 1 + G H,  A' = A W⁻¹ A,  G' = G + A W⁻¹ G Aᵀ,  H' = H + Aᵀ H W⁻¹ A.
constexpr int kMostDoublings = 60;

RawRiccati doubling(Eigen::MatrixXd a, Eigen::MatrixXd g, Eigen::MatrixXd h) {
  RawRiccati raw;
  raw.status = RiccatiStatus::axis_eigenvalues;
  const Eigen::Index n = a.rows();
  double before = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMostDoublings; ++k) {
    Eigen::MatrixXd w = times(g, h);
    w.diagonal().array() += 1.0;
    const lapack::Lu lu(w);
    if (lu.rcond() < kEpsilon) return raw;
    const Eigen::MatrixXd solved = lu.solve(hstack(a, g));
    const Eigen::MatrixXd wa = solved.leftCols(n);
    const Eigen::MatrixXd step = symmetrized(times_tn(a, times(h, wa)));
    g += symmetrized(times(a, times_nt(solved.rightCols(n), a)));
    h += step;
    a = times(a, wa);
    if (!h.allFinite() || !a.allFinite() || !g.allFinite()) return raw;
    const double change = relative_size(step, h);
    // Quadratic convergence: a small change means that the next is rounding.
    if (change < 1e-9 || (change < 1e-7 && change >= before)) {
      raw.status = RiccatiStatus::solved;
      raw.X = h;
      return raw;
    }
    before = change;
  }
  return raw;
}

}  // namespace

RawRiccati care_by_schur(const ReducedRiccati& p) {
  const Eigen::Index n = p.A.rows();
  // X = r Y makes G r and Q / r equally large.
  const double gn = p.G.norm(), qn = p.Q.norm();
  const double r = gn > 0.0 && qn > 0.0 ? std::exp2(std::round(0.5 * std::log2(qn / gn))) : 1.0;
  Eigen::MatrixXd h(2 * n, 2 * n);
  h << p.A, -r * p.G, -p.Q / r, -p.A.transpose();
  const Eigen::VectorXd d = symplectic_scale(h);
  Eigen::VectorXd dd(2 * n);
  dd << d, d.cwiseInverse();
  h = dd.cwiseInverse().asDiagonal() * h * dd.asDiagonal();

  const auto stable = [](Complex s) { return s.real() < 0.0; };
  lapack::Schur schur = lapack::schur(h);
  RawRiccati raw;
  raw.axis_distance = std::numeric_limits<double>::infinity();
  const double floor = kEpsilon * h.norm();
  for (const Complex& s : schur.values) {
    const double distance = std::abs(s.real()) / std::max(std::abs(s), floor);
    if (distance < raw.axis_distance) {
      raw.axis_distance = distance;
      raw.axis_frequency = std::abs(s.imag());
    }
  }
  if ((schur.values.real().array() < 0.0).count() != n || raw.axis_distance < kAxis) {
    raw.status = RiccatiStatus::axis_eigenvalues;
    return raw;
  }
  RawRiccati found = raw;
  found.status = RiccatiStatus::no_graph_subspace;
  if (2 * n >= kEigenvectorOrder)
    found = from_subspace(lapack::eigenvector_basis(schur, stable), raw, kBasisCondition);
  if (found.status != RiccatiStatus::solved) {
    lapack::reorder(schur, stable);
    found = raw;
    if (schur.selected != n) found.status = RiccatiStatus::axis_eigenvalues;
    if (schur.selected == n) found = from_subspace(schur.U.leftCols(n), raw);
  }
  raw = found;
  if (raw.status == RiccatiStatus::solved)
    raw.X = r * (d.cwiseInverse().asDiagonal() * raw.X * d.cwiseInverse().asDiagonal());
  return raw;
}

// The Cayley transform with shift σ > 0 makes the Hamiltonian symplectic:
//   V = (A − σ) + G (A − σ)⁻ᵀ Q,  A₀ = 1 + 2σ V⁻¹,
//   G₀ = 2σ (A − σ)⁻¹ G V⁻ᵀ,  H₀ = 2σ V⁻ᵀ Q (A − σ)⁻¹
RawRiccati care_by_doubling(const ReducedRiccati& p) {
  const Eigen::Index n = p.A.rows();
  const double gn = p.G.norm(), qn = p.Q.norm();
  const double r = gn > 0.0 && qn > 0.0 ? std::exp2(std::round(0.5 * std::log2(qn / gn))) : 1.0;
  const Eigen::MatrixXd g = r * p.G, q = p.Q / r;
  RawRiccati raw;
  raw.status = RiccatiStatus::axis_eigenvalues;
  // The mean modulus of the Hamiltonian's eigenvalues is a good shift.
  double sigma =
      std::sqrt(p.A.squaredNorm() + g.norm() * q.norm()) / std::sqrt(static_cast<double>(n));
  if (!(sigma > 0.0)) sigma = 1.0;
  for (int attempt = 0; attempt < 4; ++attempt, sigma *= 1.7) {
    Eigen::MatrixXd shifted = p.A;
    shifted.diagonal().array() -= sigma;
    const lapack::Lu lu(shifted);
    if (lu.rcond() < 1e-12) continue;
    const Eigen::MatrixXd v = shifted + times(g, lu.solve_transposed(q));
    const lapack::Lu lv(v);
    if (lv.rcond() < 1e-12) continue;
    Eigen::MatrixXd a0 = 2.0 * sigma * lv.solve(Eigen::MatrixXd::Identity(n, n));
    const Eigen::MatrixXd vi = a0;  // 2σ V⁻¹
    a0.diagonal().array() += 1.0;
    const Eigen::MatrixXd g0 = symmetrized(times_nt(lu.solve(g), vi));
    const Eigen::MatrixXd h0 = symmetrized(times_tn(vi, lu.solve_transposed(q).transpose()));
    raw = doubling(a0, g0, h0);
    if (raw.status == RiccatiStatus::solved) {
      raw.X *= r;
      return raw;
    }
  }
  return raw;
}

RawRiccati dare_by_doubling(const ReducedRiccati& p) { return doubling(p.A, p.G, p.Q); }

namespace {

// The stable deflating subspace of M − z L, |z| < 1, its first 2n rows.
RawRiccati stable_deflating(const Eigen::MatrixXd& m, const Eigen::MatrixXd& l, Eigen::Index n) {
  const lapack::GeneralizedSchur qz = lapack::generalized_schur(
      m, l, [](Complex alpha, double beta) { return std::abs(alpha) < std::abs(beta); });
  RawRiccati raw;
  raw.axis_distance = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < qz.alpha.size(); ++i) {
    const double a = std::abs(qz.alpha[i]), b = std::abs(qz.beta[i]);
    const double distance = std::abs(a - b) / std::max(a, b);
    if (distance < raw.axis_distance) {
      raw.axis_distance = distance;
      raw.axis_frequency = std::abs(std::arg(qz.alpha[i]));
    }
  }
  if (qz.selected != n || raw.axis_distance < kAxis) {
    raw.status = RiccatiStatus::axis_eigenvalues;
    return raw;
  }
  return from_subspace(qz.Z.topRows(2 * n).leftCols(n), raw);
}

}  // namespace

RawRiccati dare_by_schur(const ReducedRiccati& p) {
  const Eigen::Index n = p.A.rows();
  const double gn = p.G.norm(), qn = p.Q.norm();
  const double r = gn > 0.0 && qn > 0.0 ? std::exp2(std::round(0.5 * std::log2(qn / gn))) : 1.0;
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(2 * n, 2 * n), l = m;
  m.topLeftCorner(n, n) = p.A;
  m.bottomLeftCorner(n, n) = -p.Q / r;
  m.bottomRightCorner(n, n).setIdentity();
  l.topLeftCorner(n, n).setIdentity();
  l.topRightCorner(n, n) = r * p.G;
  l.bottomRightCorner(n, n) = p.A.transpose();
  RawRiccati raw = stable_deflating(m, l, n);
  if (raw.status == RiccatiStatus::solved) raw.X *= r;
  return raw;
}

RawRiccati dare_by_extended_pencil(const RiccatiProblem& p) {
  const Eigen::Index n = p.A.rows(), m = p.B.cols();
  // [A 0 B; −Q Eᵀ −S; Sᵀ 0 R] − z [E 0 0; 0 Aᵀ 0; 0 −Bᵀ 0]; orthogonal rows that annihilate the
  // last column leave a pencil of order 2n.
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(2 * n + m, 2 * n + m), right = left;
  left.topLeftCorner(n, n) = p.A;
  left.topRightCorner(n, m) = p.B;
  left.block(n, 0, n, n) = -p.Q;
  left.block(n, n, n, n).setIdentity();
  left.block(2 * n, 2 * n, m, m) = p.R;
  right.topLeftCorner(n, n).setIdentity();
  right.block(n, n, n, n) = p.A.transpose();
  right.block(2 * n, n, m, n) = -p.B.transpose();
  if (p.S.size() > 0) {
    left.block(n, 2 * n, n, m) = -p.S;
    left.block(2 * n, 0, m, n) = p.S.transpose();
  }
  const lapack::Qr qr = lapack::qr(left.rightCols(m), lapack::Columns::full);
  const Eigen::MatrixXd rows = qr.Q.rightCols(2 * n);
  return stable_deflating(times_tn(rows, left.leftCols(2 * n)),
                          times_tn(rows, right.leftCols(2 * n)), n);
}

}  // namespace catena
