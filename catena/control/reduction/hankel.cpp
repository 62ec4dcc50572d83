// SPDX-License-Identifier: BSD-3-Clause
// Optimal Hankel-norm approximation [Glover 1984] by the all-pass embedding of a balanced
// realization.
#include <cmath>

#include "catena/base/error.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/gramians.h"
#include "catena/control/modes.h"
#include "catena/control/reduction/reduction_parts.h"

namespace catena {
namespace {

// Hankel values closer than this to σ_{k+1}, relative, are the same.
constexpr double kSameValue = 1e-8;

// U unitary with B2 = −C2ᵀ U, from C2ᵀC2 = B2 B2ᵀ = Z S² Zᵀ.
Eigen::MatrixXd balancing_rotation(const Eigen::MatrixXd& b2, const Eigen::MatrixXd& c2) {
  const lapack::Svd svd = lapack::svd(c2, lapack::Columns::full);
  Eigen::Index rank = 0;
  while (rank < svd.values.size() && svd.values[rank] > 1e-10 * svd.values[0]) ++rank;
  const Eigen::MatrixXd vc = svd.U.leftCols(rank);
  const Eigen::MatrixXd wb = times(b2.transpose(), svd.V.leftCols(rank)) *
                             svd.values.head(rank).cwiseInverse().asDiagonal();
  const Eigen::Index m = b2.cols();
  const lapack::Qr qr = lapack::qr(wb, lapack::Columns::full);
  return -(times_nt(vc, wb) + times_nt(svd.U.rightCols(m - rank), qr.Q.rightCols(m - rank)));
}

// The embedding: σ_{k+1} all-pass distance, order n less the multiplicity, k stable poles.
StateSpace embedding(const StateSpace& g, Eigen::Index k) {
  const BalancedRealization b = balreal(g, 1e-14);
  const Eigen::Index n = b.system.A.rows();
  if (k >= n) return b.system;
  const double sigma = b.sigma[k];
  Eigen::Index same = 1;
  while (k + same < n && b.sigma[k + same] > sigma * (1.0 - kSameValue)) ++same;
  // States with σ last.
  std::vector<Eigen::Index> order;
  for (Eigen::Index i = 0; i < n; ++i)
    if (i < k || i >= k + same) order.push_back(i);
  const Eigen::Index rest = n - same;
  for (Eigen::Index i = k; i < k + same; ++i) order.push_back(i);
  Eigen::MatrixXd a(n, n), bb(n, b.system.B.cols()), c(b.system.C.rows(), n);
  Eigen::VectorXd s1(rest);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index oi = order[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < n; ++j)
      a(i, j) = b.system.A(oi, order[static_cast<std::size_t>(j)]);
    bb.row(i) = b.system.B.row(oi);
    c.col(i) = b.system.C.col(oi);
    if (i < rest) s1[i] = b.sigma[oi];
  }
  const Eigen::MatrixXd a11 = a.topLeftCorner(rest, rest), b1 = bb.topRows(rest),
                        c1 = c.leftCols(rest);
  const Eigen::MatrixXd u = balancing_rotation(bb.bottomRows(same), c.rightCols(same));
  const Eigen::VectorXd gamma = (s1.array().square() - sigma * sigma).inverse();
  const Eigen::MatrixXd ah = gamma.asDiagonal() * (sigma * sigma * a11.transpose() +
                                                   s1.asDiagonal() * a11 * s1.asDiagonal() -
                                                   sigma * times_tn(c1, times_nt(u, b1)));
  const Eigen::MatrixXd bh = gamma.asDiagonal() * (s1.asDiagonal() * b1 + sigma * times_tn(c1, u));
  const Eigen::MatrixXd ch = c1 * s1.asDiagonal() + sigma * times_nt(u, b1);
  return ss(ah, bh, ch, b.system.D - sigma * u);
}

// A constant within the sum of the Hankel values of a stable system: one state less at a time.
Eigen::MatrixXd near_constant(StateSpace g) {
  while (g.order() > 0) {
    const Eigen::Index n = balreal(g, 1e-14).system.A.rows();
    if (n == 0) break;
    const Eigen::Index before = g.A.rows();
    g = split_unstable(embedding(g, n - 1)).second;
    if (g.A.rows() >= before) break;  // rounding; what is left is negligible
  }
  return g.D;
}

}  // namespace

StateSpace hankel_approximation(const StateSpace& given, Eigen::Index k) {
  if (given.is_discrete())
    return bilinear_to_discrete(hankel_approximation(bilinear_to_continuous(given), k), given.dt);
  // Square by channels of zeros: U is then unitary.
  const Eigen::Index m = given.B.cols(), p = given.C.rows(), q = std::max(m, p), n = given.A.rows();
  if (k >= n) return given;
  StateSpace g = ss(given.A, hstack(given.B, Eigen::MatrixXd::Zero(n, q - m)),
                    vstack(given.C, Eigen::MatrixXd::Zero(q - p, n)),
                    block_diagonal(given.D, Eigen::MatrixXd::Zero(q - p, q - m)));
  const Decomposition parts = split_unstable(embedding(g, k));
  StateSpace r = parts.second;
  // The antistable part F is dropped but for a constant near it: F(−s) is stable.
  if (parts.first.order() > 0) {
    const StateSpace mirrored = ss(-parts.first.A, parts.first.B, -parts.first.C, parts.first.D);
    r.D += near_constant(mirrored);
  }
  r.B = r.B.leftCols(m).eval();
  r.C = r.C.topRows(p).eval();
  r.D = r.D.topLeftCorner(p, m).eval();
  r.inputs.clear();
  r.outputs.clear();
  return r;
}

}  // namespace catena
