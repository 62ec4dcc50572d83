// SPDX-License-Identifier: BSD-3-Clause
// Interpolation of a sparse structure: the iterative rational Krylov algorithm (IRKA).
#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/control/sparse/structure_parts.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;

struct Bases {
  MatrixXd right, left;
};

// Real columns that span (σ E − A)⁻¹ B b and (σ E − A)⁻ᵀ Cᵀ c for every point and its direction.
Bases krylov_bases(StructureParts& p, const VectorXcd& points, const MatrixXcd& b,
                   const MatrixXcd& c) {
  const SecondOrder& s = p.structure;
  const Eigen::Index n = s.freedom_count(), r = points.size();
  Bases bases{MatrixXd(2 * n, r), MatrixXd(2 * n, r)};
  Eigen::Index column = 0;
  for (Eigen::Index i = 0; i < r; ++i) {
    const Complex sigma = points[i];
    if (sigma.imag() < 0.0) continue;
    p.stiffness.factor(sigma);
    MatrixXcd f(n, 2);
    f.col(0) = p.B * b.col(i);
    f.col(1) = p.Cq.transpose() * c.col(i) + sigma * (p.Cv.transpose() * c.col(i));
    const MatrixXcd x = p.stiffness.solve(f);
    VectorXcd v(2 * n), w(2 * n);
    v << x.col(0), sigma * x.col(0);
    // y₂ = P⁻¹ (Cq + σ Cv)ᵀ c, y₁ = (σ M + D) y₂ − Cvᵀ c.
    VectorXcd first = sigma * (s.M * x.col(1)) - p.Cv.transpose() * c.col(i);
    if (s.D.nonZeros() > 0) first += s.D * x.col(1);
    w << first, x.col(1);
    v /= v.norm(), w /= w.norm();
    bases.right.col(column) = v.real();
    bases.left.col(column++) = w.real();
    if (sigma.imag() > 0.0 && column < r) {
      bases.right.col(column) = v.imag();
      bases.left.col(column++) = w.imag();
    }
  }
  bases.right.conservativeResize(Eigen::NoChange, column);
  bases.left.conservativeResize(Eigen::NoChange, column);
  return bases;
}

StateSpace petrov_galerkin(const StructureParts& p, const Bases& bases) {
  const SecondOrder& s = p.structure;
  const Eigen::Index n = s.freedom_count();
  const MatrixXd v = lapack::qr(bases.right).Q, w = lapack::qr(bases.left).Q;
  const lapack::Lu lu(times_tn(w, times_e(s, v)));
  return ss(lu.solve(times_tn(w, times_a(s, v))), lu.solve(w.bottomRows(n).transpose() * p.B),
            p.Cq * v.topRows(n) + p.Cv * v.bottomRows(n), MatrixXd::Zero(p.Cq.rows(), p.B.cols()));
}

// Points −λ_i, mirrored poles, with the directions of their residues, G_r = Σ c_i b_iᵀ/(s − λ_i).
// Poles that became unstable on the way are mirrored twice.
struct Points {
  VectorXcd sigma;
  MatrixXcd b, c;
};
Points mirrored(const StateSpace& g) {
  const lapack::EigenSystem e = lapack::eig(g.A);
  const Eigen::Index r = g.A.rows();
  const MatrixXcd left =
      lapack::solve(e.right, MatrixXcd(MatrixXcd::Identity(r, r)), "modal matrix");
  Points p{VectorXcd(r), (left * g.B).transpose(), g.C * e.right};
  for (Eigen::Index i = 0; i < r; ++i)
    p.sigma[i] = {std::abs(e.values[i].real()), -e.values[i].imag()};
  return p;
}

double moved(VectorXcd a, VectorXcd b) {
  if (a.size() != b.size()) return 1.0;
  const auto by_size = [](const Complex& x, const Complex& y) {
    return std::pair(x.imag(), x.real()) < std::pair(y.imag(), y.real());
  };
  std::sort(a.begin(), a.end(), by_size);
  std::sort(b.begin(), b.end(), by_size);
  return (a - b).cwiseAbs().cwiseQuotient(b.cwiseAbs()).maxCoeff();
}

}  // namespace

StateSpace interpolation_reduction(StructureParts& p, const StateSpace& start, int most,
                                   StructureReduction& result) {
  StateSpace g = start, best = start;
  bool found = false;
  double change = 1.0;
  VectorXcd before;
  for (int round = 0; round < most; ++round) {
    const Points points = mirrored(g);
    if (round > 0) {
      change = moved(points.sigma, before);
      if (change < 1e-3) break;
    }
    before = points.sigma;
    g = petrov_galerkin(p, krylov_bases(p, points.sigma, points.b, points.c));
    result.iterations = round + 1;
    if (has_stable_poles(g)) best = g, found = true;
  }
  if (!found)
    throw NumericalError(
        "interpolation: no round gave a stable system; use the methods modal or balanced");
  result.certificate.remarks.push_back(
      std::to_string(result.iterations) + " rounds; the points moved by " +
      short_number(change, 2) + " of their size in the last" +
      (change < 1e-3 ? "" : ": not at rest, more `iterations` may give a better system"));
  return best;
}

}  // namespace catena
