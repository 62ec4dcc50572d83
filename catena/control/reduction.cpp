// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/lyapunov.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/gramians.h"
#include "catena/control/modes.h"
#include "catena/control/reduction/reduction_parts.h"
#include "catena/control/response.h"
#include "catena/linear/algebra.h"

namespace catena {
namespace {

// Rigid modes drift with the rounding: poles this near to the boundary, relative to the largest,
// stay.
constexpr double kRigid = 1e-10;

Decomposition stable_part(const StateSpace& g) {
  if (g.order() == 0) return split_unstable(g);
  const double largest = g.is_discrete() ? 1.0 : spectrum(g.A).cwiseAbs().maxCoeff();
  return split_unstable(g, kRigid * largest);
}

// How many of the falling values to keep.
Eigen::Index chosen_order(const Eigen::VectorXd& sigma, const ReductionSettings& s,
                          Eigen::Index unstable) {
  if (s.order >= 0) {
    if (s.order < unstable)
      throw NumericalError("reduction: order " + std::to_string(s.order) + " is less than the " +
                           std::to_string(unstable) +
                           " unstable and rigid modes, which must be kept");
    return std::min<Eigen::Index>(s.order - unstable, sigma.size());
  }
  Eigen::Index k = 0;
  while (k < sigma.size() && sigma[k] > s.tolerance * sigma[0]) ++k;
  return k;
}

// States beyond the numerical rank of the factors carry nothing.
Eigen::Index numerical_rank(const Eigen::VectorXd& sigma) {
  Eigen::Index k = 0;
  while (k < sigma.size() && sigma[k] > 1e-15 * static_cast<double>(sigma.size()) * sigma[0]) ++k;
  return k;
}

}  // namespace

StateSpace project(const StateSpace& g, const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  StateSpace r = g;
  r.states.clear();
  r.state_units.clear();
  // Orthonormal bases of both subspaces: (Lᵀ R)⁻¹ Lᵀ A R needs no balancing.
  const Eigen::MatrixXd ql = lapack::qr(left).Q, qr = lapack::qr(right).Q;
  const lapack::Lu lu(times_tn(ql, qr));
  r.A = lu.solve(times_tn(ql, times(g.A, qr)));
  r.B = lu.solve(times_tn(ql, g.B));
  r.C = times(g.C, qr);
  return r;
}

StateSpace residualized(const StateSpace& g, Eigen::Index keep) {
  const Eigen::Index n = g.A.rows(), rest = n - keep;
  if (rest == 0) return g;
  Eigen::MatrixXd a22 = g.A.bottomRightCorner(rest, rest);
  if (g.is_discrete()) a22.diagonal().array() -= 1.0;
  const lapack::Lu lu(a22);
  const Eigen::MatrixXd a21 = lu.solve(g.A.bottomLeftCorner(rest, keep)),
                        b2 = lu.solve(g.B.bottomRows(rest));
  StateSpace r = g;
  r.states.clear();
  r.A = g.A.topLeftCorner(keep, keep) - times(g.A.topRightCorner(keep, rest), a21);
  r.B = g.B.topRows(keep) - times(g.A.topRightCorner(keep, rest), b2);
  r.C = g.C.leftCols(keep) - times(g.C.rightCols(rest), a21);
  r.D = g.D - times(g.C.rightCols(rest), b2);
  return r;
}

namespace {

struct StableReduction {
  StateSpace system;
  Eigen::VectorXd sigma;
  double bound = std::numeric_limits<double>::quiet_NaN();
};

// From factors P = S Sᵀ, Q = T Tᵀ of whatever Gramians the method has.
StableReduction by_factors(const StateSpace& g, const Eigen::MatrixXd& s, const Eigen::MatrixXd& t,
                           const ReductionSettings& settings, Eigen::Index unstable) {
  const lapack::Svd svd = lapack::svd(times_tn(t, s));
  StableReduction r;
  r.sigma = svd.values;
  const Eigen::Index k =
      std::min(chosen_order(svd.values, settings, unstable), numerical_rank(svd.values));
  if (settings.match_dc) {
    const Eigen::Index all = numerical_rank(svd.values);
    const Eigen::VectorXd root = svd.values.head(all).cwiseSqrt().cwiseInverse();
    const Eigen::MatrixXd left = times(t, svd.U.leftCols(all)) * root.asDiagonal(),
                          right = times(s, svd.V.leftCols(all)) * root.asDiagonal();
    StateSpace b = g;
    b.states.clear();
    b.A = times_tn(left, times(g.A, right));
    b.B = times_tn(left, g.B);
    b.C = times(g.C, right);
    r.system = residualized(b, k);
    return r;
  }
  r.system = project(g, times(t, svd.U.leftCols(k)), times(s, svd.V.leftCols(k)));
  return r;
}

// Gramian of the plant's states in the series connection with a weight: P of G W_i (block of the
// plant), Q of W_o G.
Eigen::MatrixXd weighted_factor(const StateSpace& g, const std::optional<StateSpace>& weight,
                                GramianKind kind) {
  if (!weight) return gram_factor(g, kind);
  const bool input = kind == GramianKind::controllability;
  const StateSpace w = explicit_form(*weight);
  if (!has_stable_poles(w))
    throw NumericalError(std::string("reduction: the ") + (input ? "input" : "output") +
                         " weight is not stable");
  if (input ? w.output_count() != g.input_count() : w.input_count() != g.output_count())
    throw NumericalError(std::string("reduction: the ") + (input ? "input" : "output") +
                         " weight does not fit the system's signals");
  const Eigen::Index n = g.A.rows(), k = w.A.rows();
  // States [x; w] with x first in both cases.
  Eigen::MatrixXd a = block_diagonal(g.A, w.A);
  StateSpace whole = g;
  whole.states.clear();
  if (input) {
    a.topRightCorner(n, k) = times(g.B, w.C);
    whole = ss(a, vstack(times(g.B, w.D), w.B), Eigen::MatrixXd::Zero(1, n + k),
               Eigen::MatrixXd::Zero(1, w.B.cols()), g.dt);
  } else {
    a.bottomLeftCorner(k, n) = times(w.B, g.C);
    whole = ss(a, Eigen::MatrixXd::Zero(n + k, 1), hstack(times(w.D, g.C), w.C),
               Eigen::MatrixXd::Zero(w.C.rows(), 1), g.dt);
  }
  return gram_factor(whole, kind).topRows(n);
}

StableReduction balanced(const StateSpace& g, const ReductionSettings& s, Eigen::Index unstable) {
  StableReduction r =
      by_factors(g, weighted_factor(g, s.input_weight, GramianKind::controllability),
                 weighted_factor(g, s.output_weight, GramianKind::observability), s, unstable);
  if (!s.input_weight && !s.output_weight)
    r.bound = 2.0 * r.sigma.tail(r.sigma.size() - r.system.A.rows()).sum();
  return r;
}

// Q of Aᵀ Q + Q A + (C − Bwᵀ Q)ᵀ (D Dᵀ)⁻¹ (C − Bwᵀ Q) = 0, Bw = P Cᵀ + B Dᵀ: a Riccati equation
// with an indefinite weight, R = −D Dᵀ, S = −Cᵀ... brought to the general form with X = Q.
StableReduction stochastic(const StateSpace& g, const ReductionSettings& s, Eigen::Index unstable) {
  if (g.is_discrete())
    throw NumericalError("stochastic reduction: map the sampled system by d2c(tustin) first");
  const Eigen::MatrixXd dd = times_nt(g.D, g.D);
  if (g.D.rows() > g.D.cols() || lapack::Lu(dd).rcond() < 1e-14)
    throw NumericalError(
        "stochastic reduction: D must have full row rank (relative errors are "
        "infinite at high frequency); add a small D, such as 1e-3 of the DC gain");
  const Eigen::MatrixXd factor = gram_factor(g, GramianKind::controllability);
  const Eigen::MatrixXd bw = times(factor, times_tn(factor, g.C.transpose())) + times_nt(g.B, g.D);
  // AᵀX + XA − (X Bw − Cᵀ)(−D Dᵀ)⁻¹(Bwᵀ X − C) = 0.
  const RiccatiSolution q = solve_care(
      {g.A, bw, Eigen::MatrixXd::Zero(g.A.rows(), g.A.rows()), -dd, -g.C.transpose(), {}});
  if (!q.ok())
    throw NumericalError("stochastic reduction: the system has zeros on the stability boundary (" +
                         explained(q) + ")");
  const Eigen::MatrixXd t = symmetric_root(q.X);
  StableReduction r = by_factors(g, factor, t, s, unstable);
  double product = 1.0;
  for (Eigen::Index i = r.system.A.rows(); i < r.sigma.size(); ++i) {
    const double v = std::min(r.sigma[i], 1.0);
    product *= (1.0 + v) / (1.0 - v);
  }
  r.bound = product - 1.0;
  return r;
}

// The modes with the largest ‖C v‖ ‖wᴴ B‖/|Re λ|, pairs together; the others by their DC gain if
// asked.
StableReduction modal(const StateSpace& g, const ReductionSettings& s, Eigen::Index unstable) {
  const lapack::EigenSystem e = lapack::eig(g.A);
  const Eigen::Index n = g.A.rows();
  const Eigen::MatrixXcd left =
      lapack::solve(e.right, Eigen::MatrixXcd(Eigen::MatrixXcd::Identity(n, n)), "modal matrix");
  std::vector<std::pair<double, int>> rank;
  for (int i = 0; i < n; ++i) {
    if (e.values[i].imag() < 0.0) continue;
    const double distance = g.is_discrete() ? 1.0 - std::abs(e.values[i]) : -e.values[i].real();
    const double size = (g.C * e.right.col(i)).norm() * (left.row(i) * g.B).norm() / distance;
    rank.emplace_back(size, i);
  }
  std::sort(rank.rbegin(), rank.rend());
  StableReduction r;
  r.sigma.resize(static_cast<Eigen::Index>(rank.size()));
  for (std::size_t i = 0; i < rank.size(); ++i)
    r.sigma[static_cast<Eigen::Index>(i)] = rank[i].first;
  const Eigen::Index wanted =
      s.order >= 0 ? s.order - unstable : chosen_order(r.sigma, s, unstable);
  if (wanted < 0) chosen_order(r.sigma, s, unstable);
  Eigen::MatrixXd t(n, n), ti(n, n);
  Eigen::Index at = 0, keep = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    const int k = rank[i].second;
    const bool pair = e.values[k].imag() > 0.0;
    const Eigen::Index width = pair ? 2 : 1;
    if (s.order >= 0 ? at + width <= wanted && keep == at : static_cast<Eigen::Index>(i) < wanted)
      keep = at + width;
    t.col(at) = e.right.col(k).real();
    if (pair) t.col(at + 1) = e.right.col(k).imag();
    at += width;
  }
  const lapack::Lu lu(t);
  StateSpace m = g;
  m.states.clear();
  m.A = lu.solve(times(g.A, t));
  m.B = lu.solve(g.B);
  m.C = times(g.C, t);
  if (s.match_dc) {
    r.system = residualized(m, keep);
  } else {
    r.system = m;
    r.system.A = m.A.topLeftCorner(keep, keep).eval();
    r.system.B = m.B.topRows(keep).eval();
    r.system.C = m.C.leftCols(keep).eval();
  }
  return r;
}

StableReduction reduce_stable(const StateSpace& g, const ReductionSettings& s,
                              Eigen::Index unstable) {
  switch (s.method) {
    case ReductionMethod::balanced:
      return balanced(g, s, unstable);
    case ReductionMethod::stochastic:
      return stochastic(g, s, unstable);
    case ReductionMethod::modal:
      return modal(g, s, unstable);
    case ReductionMethod::hankel: {
      const Eigen::VectorXd sigma = hsvd(g);
      const Eigen::Index k = std::min(chosen_order(sigma, s, unstable), numerical_rank(sigma));
      // Beyond the minimal order σ_{k+1} is rounding, which the embedding divides by; truncation is
      // as good there.
      constexpr double kNegligible = 1e-8;
      if (k < sigma.size() && sigma[k] < kNegligible * sigma[0]) return balanced(g, s, unstable);
      StableReduction r{hankel_approximation(g, k), sigma};
      r.bound = sigma.tail(sigma.size() - k).sum();
      return r;
    }
  }
  return {};
}

double robust_frequency(const StateSpace& difference, const StateSpace& reduced) {
  const PeakSearch error(difference), model(reduced);
  const double end = reduced.is_discrete() ? M_PI / reduced.dt : 1e6;
  // Frequencies of all poles of both, and between: first crossing refined by bisection.
  std::vector<double> looks{0.0};
  for (const Complex& s : error.poles()) {
    const Complex c = reduced.is_discrete() && s != 0.0 ? std::log(s) / reduced.dt : s;
    for (const double f : {0.7, 0.98, 1.0, 1.02, 1.4}) looks.push_back(f * std::abs(c));
  }
  std::sort(looks.begin(), looks.end());
  const auto exceeds = [&](double w) {
    const Eigen::MatrixXcd at = model.response(w);
    if (!at.allFinite()) return false;  // a pole of both, which the reduction kept
    const Eigen::VectorXd v = lapack::singular_values(at);
    return error.gain(w) > v[v.size() - 1];
  };
  double before = 0.0;
  for (const double w : looks) {
    if (w > end) break;
    if (exceeds(w)) {
      double low = before, high = w;
      for (int k = 0; k < 40 && high - low > 1e-6 * high; ++k)
        (exceeds(0.5 * (low + high)) ? high : low) = 0.5 * (low + high);
      return high;
    }
    before = w;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

Reduction reduce(const StateSpace& given, const ReductionSettings& settings) {
  const lapack::OneThread one;
  given.validate();
  const StateSpace g = explicit_form(given);
  if (g.has_delay())
    throw NumericalError("reduction: the system has delays; approximate them with pade() first");
  const Decomposition parts = stable_part(g);
  const Eigen::Index unstable = parts.first.A.rows();
  Reduction r;
  r.kept_unstable = static_cast<int>(unstable);
  const StableReduction s = reduce_stable(parts.second, settings, unstable);
  r.sigma = s.sigma;
  r.bound = s.bound;
  r.system = ss(block_diagonal(parts.first.A, s.system.A), vstack(parts.first.B, s.system.B),
                hstack(parts.first.C, s.system.C), s.system.D, g.dt);
  r.system.inputs = g.inputs;
  r.system.outputs = g.outputs;
  const bool stable = has_stable_poles(s.system);
  r.certificate.add("reduced stable part is stable", stable, stable ? 1.0 : 0.0, 1.0);
  if (!settings.true_error) return r;
  // The unstable parts are the same and cancel exactly: the difference of the stable parts.
  StateSpace difference = parts.second - s.system;
  r.robust_frequency = robust_frequency(difference, r.system);
  if (settings.method == ReductionMethod::stochastic)
    difference = series(difference, inverse(parts.second));
  if (settings.input_weight) difference = series(*settings.input_weight, difference);
  if (settings.output_weight) difference = series(difference, *settings.output_weight);
  r.error = linfnorm(difference);
  r.certificate.worst_frequency = r.error.frequency;
  const double limit = std::isnan(r.bound) ? std::numeric_limits<double>::infinity() : r.bound;
  const double floor = 1e-10 * (r.sigma.size() > 0 ? r.sigma[0] : 0.0);
  r.certificate.add("true error",
                    r.error.value <= limit * (1.0 + 1e-6) + floor || settings.match_dc,
                    r.error.value, limit, "at " + short_number(r.error.frequency, 5) + " rad/s");
  return r;
}

ControllerReduction reduce_controller(const StateSpace& plant, const StateSpace& controller,
                                      int order) {
  const lapack::OneThread one;
  const StateSpace g = explicit_form(plant), k = explicit_form(controller);
  const auto loop_stable = [&](const StateSpace& c) {
    return has_stable_poles(feedback(g, c, +1));
  };
  if (!loop_stable(k))
    throw NumericalError(
        "controller reduction: the loop of plant and full controller is not stable");
  // Small gain: ‖(1 − G K)⁻¹ G (K − Kr)‖∞ < 1 keeps the loop stable.
  const StateSpace weight = feedback(g, k, +1);
  ReductionSettings s;
  s.order = order;
  s.output_weight = weight;
  const Reduction r = reduce(k, s);
  ControllerReduction c;
  c.controller = r.system;
  c.controller.inputs = k.inputs;
  c.controller.outputs = k.outputs;
  c.sigma = r.sigma;
  c.loop_error = r.error;
  const bool stable = loop_stable(r.system);
  c.certificate.add("closed loop stable with the reduced controller", stable, stable ? 1.0 : 0.0,
                    1.0);
  c.certificate.add("weighted error (below 1: stability follows)", true, r.error.value, 1.0,
                    "at " + short_number(r.error.frequency, 5) + " rad/s");
  if (stable) return c;
  int enough = order + 1;
  for (; enough <= k.order(); ++enough) {
    s.order = enough;
    s.true_error = false;
    if (loop_stable(reduce(k, s).system)) break;
  }
  throw NumericalError(
      "controller reduction: with " + std::to_string(order) +
      " states the loop is not stable; the least order that is: " + std::to_string(enough));
}

}  // namespace catena
