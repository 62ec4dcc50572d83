// SPDX-License-Identifier: BSD-3-Clause
// Balanced truncation of a sparse structure by low-rank factors of its Gramians (ADI).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/reduction/reduction_parts.h"
#include "catena/control/sparse/structure_parts.h"

namespace catena {

Eigen::MatrixXd times_a(const SecondOrder& s, const Eigen::MatrixXd& x) {
  const Eigen::Index n = s.freedom_count();
  Eigen::MatrixXd y(2 * n, x.cols());
  y.topRows(n) = x.bottomRows(n);
  y.bottomRows(n) = -(s.K * x.topRows(n));
  if (s.D.nonZeros() > 0) y.bottomRows(n) -= s.D * x.bottomRows(n);
  return y;
}

Eigen::MatrixXd times_e(const SecondOrder& s, const Eigen::MatrixXd& x) {
  const Eigen::Index n = s.freedom_count();
  Eigen::MatrixXd y(2 * n, x.cols());
  y.topRows(n) = x.topRows(n);
  y.bottomRows(n) = s.M * x.bottomRows(n);
  return y;
}

namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;

// Poles of a reduced model, one of each pair, the largest gain ‖C x‖ ‖yᴴ B‖/|Re λ| first; then real
// shifts for what lies above the band.
std::vector<Complex> adi_shifts(const StateSpace& start, double highest) {
  const lapack::EigenSystem e = lapack::eig(start.A);
  const Eigen::Index n = start.A.rows();
  const MatrixXcd left =
      lapack::solve(e.right, MatrixXcd(MatrixXcd::Identity(n, n)), "modal matrix");
  std::vector<std::pair<double, Complex>> ranked;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Complex pole = e.values[i];
    if (pole.imag() < 0.0 || !(pole.real() < 0.0)) continue;
    const double gain = (start.C * e.right.col(i)).norm() * (left.row(i) * start.B).norm();
    ranked.emplace_back(-gain / -pole.real(), pole);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Complex> shifts;
  for (const auto& [rank, pole] : ranked) shifts.push_back(pole);
  for (const double factor : {1.0, 3.0, 10.0, 30.0, 100.0})
    shifts.emplace_back(-factor * highest, 0.0);
  return shifts;
}

// One Lyapunov equation A P Eᵀ + E P Aᵀ + B Bᵀ = 0, or its dual, in low-rank form: columns of Z are
// appended, W is the factor of the residual [Benner, Kürschner & Saak 2013].
struct AdiFactor {
  MatrixXd W, Z;
  Eigen::Index used = 0;
  bool dual = false;

  // V of (A + p E) V = W, or (A + p E)ᵀ V = W, after the stiffness was factored at −p.
  MatrixXcd solved(const StructureParts& parts, Complex p) const {
    const SecondOrder& s = parts.structure;
    const Eigen::Index n = s.freedom_count();
    const auto damping_less_mass = [&](const MatrixXcd& x) -> MatrixXcd {
      MatrixXcd y = -p * (s.M * x);
      if (s.D.nonZeros() > 0) y += s.D * x;
      return y;
    };
    const MatrixXcd top = W.topRows(n).cast<Complex>(), bottom = W.bottomRows(n).cast<Complex>();
    MatrixXcd v(2 * n, W.cols());
    if (dual) {
      v.bottomRows(n) = parts.stiffness.solve(p * bottom - top);
      v.topRows(n) = bottom + damping_less_mass(v.bottomRows(n));
    } else {
      v.topRows(n) = parts.stiffness.solve(-bottom - damping_less_mass(top));
      v.bottomRows(n) = top - p * v.topRows(n);
    }
    return v;
  }
  void step(const StructureParts& parts, Complex p) {
    const MatrixXcd v = solved(parts, p);
    const SecondOrder& s = parts.structure;
    const Eigen::Index m = W.cols();
    if (p.imag() == 0.0) {
      Z.middleCols(used, m) = std::sqrt(-2.0 * p.real()) * v.real();
      W -= 2.0 * p.real() * times_e(s, v.real());
      used += m;
      return;
    }
    const double gamma = 2.0 * std::sqrt(-p.real()), delta = p.real() / p.imag();
    const MatrixXd first = v.real() + delta * v.imag();
    Z.middleCols(used, m) = gamma * first;
    Z.middleCols(used + m, m) = gamma * std::hypot(1.0, delta) * v.imag();
    W += gamma * gamma * times_e(s, first);
    used += 2 * m;
  }
};

// Cq K⁻¹ B of the elastic part.
MatrixXd static_gain(const StructureParts& p) {
  const double w = p.modes.rigid > 0 ? p.modes.frequency[p.modes.rigid] : 0.0;
  return p.Cq * ShiftedStiffness(p.stiffness, -1e-6 * w * w).solve(p.B);
}

}  // namespace

StateSpace balanced_reduction(StructureParts& p, const StateSpace& start,
                              StructureReduction& result) {
  const SecondOrder& s = p.structure;
  const Eigen::Index n = s.freedom_count(), inputs = p.B.cols(), outputs = p.Cq.rows();
  const std::vector<Complex> shifts = adi_shifts(start, p.highest);
  const Eigen::Index steps = 2 * std::ssize(shifts);
  AdiFactor reach{MatrixXd(2 * n, inputs), MatrixXd(2 * n, steps * inputs)};
  AdiFactor see{MatrixXd(2 * n, outputs), MatrixXd(2 * n, steps * outputs), 0, true};
  reach.W << MatrixXd::Zero(n, inputs), p.B;
  see.W << p.Cq.transpose(), p.Cv.transpose();
  const double reach_start = reach.W.norm(), see_start = see.W.norm();
  for (const Complex& shift : shifts) {
    p.stiffness.factor(-shift);
    reach.step(p, shift);
    see.step(p, shift);
    ++result.iterations;
  }
  const auto zc = reach.Z.leftCols(reach.used), zo = see.Z.leftCols(see.used);
  const lapack::Svd svd = lapack::svd(MatrixXd(zo.transpose() * times_e(s, zc)));
  result.sigma = svd.values;
  Eigen::Index rank = 0;
  while (rank < svd.values.size() && svd.values[rank] > 1e-10 * svd.values[0]) ++rank;
  const Eigen::VectorXd root = svd.values.head(rank).cwiseSqrt().cwiseInverse();
  const MatrixXd right = zc * (svd.V.leftCols(rank) * root.asDiagonal()),
                 left = zo * (svd.U.leftCols(rank) * root.asDiagonal());
  StateSpace g =
      ss(left.transpose() * times_a(s, right), left.bottomRows(n).transpose() * p.B,
         p.Cq * right.topRows(n) + p.Cv * right.bottomRows(n), MatrixXd::Zero(outputs, inputs));
  // The static response of what the factors miss.
  g.D = static_gain(p) + times(g.C, lapack::solve(g.A, g.B, "A of the balanced system"));
  result.certificate.remarks.push_back(
      "low-rank Gramians of rank " + std::to_string(rank) + ": residuals " +
      short_number(reach.W.norm() / reach_start, 2) + " (inputs) and " +
      short_number(see.W.norm() / see_start, 2) + " (outputs) of the start");
  return residualized(g, std::min<Eigen::Index>(start.order(), rank));
}

}  // namespace catena
