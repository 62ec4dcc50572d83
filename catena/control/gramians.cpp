// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/gramians.h"

#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/lyapunov.h"

namespace catena {
namespace {

Decomposition split_by(const StateSpace& given, const lapack::Select& first) {
  const StateSpace system = explicit_form(given);
  const lapack::OneThread one;
  const lapack::Schur s = lapack::schur(system.A, first);
  const Eigen::Index n = system.A.rows(), k = s.selected;
  // [T11 T12; 0 T22]: X with T11 X − X T22 + T12 = 0 makes it block diagonal, x = U [1 X; 0 1] z.
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(k, n - k);
  if (k > 0 && k < n)
    x = sylvester(s.T.topLeftCorner(k, k), -s.T.bottomRightCorner(n - k, n - k),
                  s.T.topRightCorner(k, n - k));
  Decomposition d;
  d.T = s.U;
  d.T.rightCols(n - k) += times(s.U.leftCols(k), x);
  const Eigen::MatrixXd ub = times_tn(s.U, system.B);
  const Eigen::MatrixXd b1 = ub.topRows(k) - times(x, ub.bottomRows(n - k));
  const Eigen::MatrixXd c = times(system.C, d.T);
  const auto part = [&](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                        const Eigen::MatrixXd& cc, const Eigen::MatrixXd& feed) {
    StateSpace p = ss(a, b, cc, feed, system.dt);
    p.inputs = system.inputs;
    p.outputs = system.outputs;
    p.input_units = system.input_units;
    p.output_units = system.output_units;
    return p;
  };
  d.first = part(s.T.topLeftCorner(k, k), b1, c.leftCols(k),
                 Eigen::MatrixXd::Zero(system.D.rows(), system.D.cols()));
  d.second =
      part(s.T.bottomRightCorner(n - k, n - k), ub.bottomRows(n - k), c.rightCols(n - k), system.D);
  return d;
}

}  // namespace

Eigen::MatrixXd gram_factor(const StateSpace& given, GramianKind kind) {
  const StateSpace system = explicit_form(given);
  const bool controllability = kind == GramianKind::controllability;
  const Eigen::MatrixXd a = controllability ? system.A : Eigen::MatrixXd(system.A.transpose());
  const Eigen::MatrixXd b = controllability ? system.B : Eigen::MatrixXd(system.C.transpose());
  return system.is_discrete() ? dlyap_factor(a, b) : lyap_factor(a, b);
}

Eigen::MatrixXd gram(const StateSpace& system, GramianKind kind) {
  const Eigen::MatrixXd s = gram_factor(system, kind);
  return times_nt(s, s);
}

Eigen::VectorXd hsvd(const StateSpace& given) {
  const Decomposition parts = split_unstable(given);
  const Eigen::Index unstable = parts.first.order();
  Eigen::VectorXd sigma = Eigen::VectorXd::Zero(unstable + parts.second.order());
  sigma.head(unstable).setConstant(std::numeric_limits<double>::infinity());
  if (parts.second.order() > 0) {
    const Eigen::MatrixXd s = gram_factor(parts.second, GramianKind::controllability);
    const Eigen::MatrixXd t = gram_factor(parts.second, GramianKind::observability);
    sigma.tail(parts.second.order()) = lapack::singular_values(times_tn(t, s));
  }
  return sigma;
}

BalancedRealization balreal(const StateSpace& given, double tolerance) {
  const StateSpace system = explicit_form(given);
  const Eigen::MatrixXd s = gram_factor(system, GramianKind::controllability);
  const Eigen::MatrixXd t = gram_factor(system, GramianKind::observability);
  const lapack::Svd svd = lapack::svd(times_tn(t, s));
  BalancedRealization r;
  r.sigma = svd.values;
  Eigen::Index k = 0;
  while (k < svd.values.size() && svd.values[k] > tolerance * svd.values[0]) ++k;
  const Eigen::VectorXd root = svd.values.head(k).cwiseSqrt().cwiseInverse();
  r.left = root.asDiagonal() * times_nt(svd.U.leftCols(k).transpose(), t);
  r.right = times(s, svd.V.leftCols(k)) * root.asDiagonal();
  r.system = ss(times(r.left, times(system.A, r.right)), times(r.left, system.B),
                times(system.C, r.right), system.D, system.dt);
  r.system.inputs = system.inputs;
  r.system.outputs = system.outputs;
  return r;
}

Decomposition split_unstable(const StateSpace& system, double margin) {
  if (system.is_discrete())
    return split_by(system, [margin](Complex z) { return std::abs(z) >= 1.0 - margin; });
  return split_by(system, [margin](Complex s) { return s.real() >= -margin; });
}

Decomposition split_slow(const StateSpace& system, double frequency) {
  const double dt = system.dt;
  if (system.is_discrete())
    return split_by(system,
                    [=](Complex z) { return z != 0.0 && std::abs(std::log(z)) / dt < frequency; });
  return split_by(system, [=](Complex s) { return std::abs(s) < frequency; });
}

}  // namespace catena
