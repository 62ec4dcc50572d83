// SPDX-License-Identifier: BSD-3-Clause
// Pole assignment by output feedback with deflation [Miminis 1989], real gains for conjugate pairs
// too.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/control/place.h"
#include "catena/control/placement/place_parts.h"

namespace catena {
namespace {

enum class EigenvectorChoice { nearest_to_outputs, largest_output };

struct OutputProblem {
  Eigen::MatrixXd A, B, C;
};

// x (one column, or real and imaginary part) of a feasible eigenvector: U1ᵀ (A − λ) x = 0.
Eigen::MatrixXd chosen_vector(const OutputProblem& p, Complex pole, EigenvectorChoice choice) {
  const Eigen::Index n = p.A.rows(), m = p.B.cols();
  Eigen::MatrixXcd basis = Eigen::MatrixXcd::Identity(n, n);
  if (m < n) {
    const Eigen::MatrixXd u1 = lapack::qr(p.B, lapack::Columns::full).Q.rightCols(n - m);
    Eigen::MatrixXcd shifted = p.A.cast<Complex>();
    shifted.diagonal().array() -= pole;
    const lapack::ComplexSvd svd =
        lapack::svd(Eigen::MatrixXcd(u1.transpose() * shifted), lapack::Columns::full);
    basis = svd.V.rightCols(m);
  }
  Eigen::MatrixXd rows = p.C;
  if (choice == EigenvectorChoice::nearest_to_outputs)
    rows = lapack::qr(Eigen::MatrixXd(p.C.transpose())).Q.transpose();
  const lapack::ComplexSvd svd = lapack::svd(Eigen::MatrixXcd(rows * basis));
  const Eigen::VectorXcd x = basis * svd.V.col(0);
  if (pole.imag() == 0.0) {
    // A real space: the vector is real but for its phase.
    Eigen::Index largest = 0;
    x.cwiseAbs().maxCoeff(&largest);
    return Eigen::VectorXcd(x * (std::abs(x[largest]) / x[largest])).real().normalized();
  }
  return hstack(x.real(), x.imag());
}

// The gain that assigns `list` from `first` on, as far as rows and columns allow; nothing if a step
// is singular.
std::optional<Eigen::MatrixXd> assign(const OutputProblem& p, const std::vector<Complex>& list,
                                      std::size_t first, EigenvectorChoice choice) {
  const Eigen::Index n = p.A.rows(), m = p.B.cols(), outputs = p.C.rows();
  if (first >= list.size() || n == 0 || m == 0 || outputs == 0)
    return Eigen::MatrixXd::Zero(m, outputs);
  const Complex pole = list[first];
  const Eigen::Index width = pole.imag() == 0.0 ? 1 : 2;
  if (m > outputs) {
    const std::optional<Eigen::MatrixXd> k =
        assign({p.A.transpose(), p.C.transpose(), p.B.transpose()}, list, first, choice);
    if (!k) return std::nullopt;
    return k->transpose();
  }
  if (outputs < width || n < width) return assign(p, list, first + 1, choice);
  const Eigen::MatrixXd x = chosen_vector(p, pole, choice);
  Eigen::MatrixXd block(width, width);
  if (width == 1)
    block(0, 0) = pole.real();
  else
    block << pole.real(), pole.imag(), -pole.imag(), pole.real();
  const lapack::Qr v = lapack::qr(times(p.C, x), lapack::Columns::full);
  const lapack::Lu delta(Eigen::MatrixXd(v.R.topRows(width).transpose()));
  if (delta.rcond() < 1e-12 || v.R(0, 0) == 0.0) return std::nullopt;
  const Eigen::MatrixXd motion = times(p.A, x) - times(x, block);
  const Eigen::MatrixXd k = delta.solve(lapack::least_squares(p.B, motion).transpose()).transpose();
  const Eigen::MatrixXd q = lapack::qr(x, lapack::Columns::full).Q.rightCols(n - width);
  const Eigen::MatrixXd c = times_tn(v.Q, times(p.C, q));
  const Eigen::MatrixXd b = times_tn(q, p.B);
  const std::optional<Eigen::MatrixXd> rest =
      assign({times_tn(q, times(p.A, q)) - times(b, times(k, c.topRows(width))), b,
              c.bottomRows(outputs - width)},
             list, first + 1, choice);
  if (!rest) return std::nullopt;
  return times_nt(hstack(k, *rest), v.Q);
}

void refuse_strong_zeros(const StateSpace& g, const std::vector<Complex>& list) {
  for (const Complex& s : list) {
    Eigen::MatrixXcd m = -g.A.cast<Complex>();
    m.diagonal().array() += s;
    const lapack::ComplexLu lu(m);
    if (lu.rcond() < 1e-13) continue;  // a pole already: assignable by doing nothing
    const Eigen::MatrixXcd x = lu.solve(g.B.cast<Complex>());
    const Eigen::MatrixXcd value = g.C * x;
    if (value.norm() <= 1e-11 * g.C.norm() * x.norm())
      throw NumericalError(
          "output feedback: " + pole_text(s) +
          " is a zero of every channel (G vanishes there), so no feedback makes it "
          "a pole; choose another");
  }
}

// The list cut to the number of poles that can be assigned.
std::vector<Complex> assignable(const std::vector<Complex>& list, Eigen::Index most) {
  std::vector<Complex> cut;
  Eigen::Index count = 0;
  for (const Complex& s : list) {
    const Eigen::Index width = s.imag() == 0.0 ? 1 : 2;
    if (count + width > most) continue;
    cut.push_back(s);
    count += width;
  }
  return cut;
}

Eigen::VectorXcd expanded(const std::vector<Complex>& list) {
  std::vector<Complex> all;
  for (const Complex& s : list) {
    all.push_back(s);
    if (s.imag() != 0.0) all.push_back(std::conj(s));
  }
  return Eigen::Map<Eigen::VectorXcd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

struct Candidate2 {
  Eigen::MatrixXd K;
  double error = 0.0, condition = 0.0;
};

Candidate2 judged(const StateSpace& g, const Eigen::MatrixXd& k, const Eigen::VectorXcd& asked) {
  const Eigen::MatrixXd closed = g.A - times(g.B, times(k, g.C));
  const lapack::EigenSystem e = lapack::eig(closed);
  const Eigen::VectorXd sv = lapack::singular_values(e.right);
  return {k, matching_error(asked, e.values), sv[0] / std::max(sv[sv.size() - 1], 1e-300)};
}

}  // namespace

OutputPlacement place_output(const StateSpace& plant, const Eigen::VectorXcd& poles,
                             const OutputPlacementSettings& settings) {
  const lapack::OneThread one;
  plant.validate();
  const StateSpace g = explicit_form(plant);
  const Eigen::Index n = g.A.rows(), m = g.B.cols(), p = g.C.rows();
  if (m == 0 || p == 0)
    throw NumericalError("output feedback: the system has no inputs or no outputs");
  require_stabilizable(g, g.B, "output feedback");
  require_detectable(g, g.C, "output feedback");
  std::vector<Complex> list = paired(poles);
  refuse_strong_zeros(g, list);
  list = assignable(list, std::min(n, m + p - 1));
  const Eigen::VectorXcd asked = expanded(list);
  std::optional<Candidate2> best;
  const auto consider = [&](const std::vector<Complex>& order, EigenvectorChoice choice) {
    const std::optional<Eigen::MatrixXd> k = assign({g.A, g.B, g.C}, order, 0, choice);
    if (!k || !k->allFinite()) return;
    const Candidate2 c = judged(g, *k, asked);
    const auto measure = [&](const Candidate2& d) {
      const double size =
          settings.choice == PlacementChoice::smallest_gain ? d.K.norm() : d.condition;
      return d.error > 1e-6 ? 1e12 * (1.0 + d.error) : size;  // assigned at all comes first
    };
    if (!best || measure(c) < measure(*best)) best = c;
  };
  consider(list, EigenvectorChoice::nearest_to_outputs);
  if (!settings.as_given) {
    std::vector<std::size_t> order(list.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t state = 88172645463325252ull;
    for (int trial = 0; trial < settings.orders; ++trial) {
      std::vector<Complex> shuffled;
      for (const std::size_t i : order) shuffled.push_back(list[i]);
      consider(shuffled, EigenvectorChoice::largest_output);
      if (trial > 0) consider(shuffled, EigenvectorChoice::nearest_to_outputs);
      if (list.size() < 6) {
        if (!std::next_permutation(order.begin(), order.end())) break;
        continue;
      }
      for (std::size_t i = order.size(); i > 1; --i) {  // Fisher-Yates
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        std::swap(order[i - 1], order[state % i]);
      }
    }
  }
  if (!best)
    throw NumericalError(
        "output feedback: every order of the poles meets a singular step; the "
        "system is not controllable and observable, or a pole is a zero");
  OutputPlacement r;
  r.K = best->K;
  r.condition = best->condition;
  r.largest_error = best->error;
  r.gain_norm = r.K.norm();
  r.assigned = asked;
  r.spectrum = spectrum(g.A - times(g.B, times(r.K, g.C)));
  r.rest_stable =
      g.is_discrete() ? r.spectrum.cwiseAbs().maxCoeff() < 1.0 : r.spectrum.real().maxCoeff() < 0.0;
  if (g.D.norm() > 0.0) {  // u = −K (y − D u)
    const lapack::Lu lu(Eigen::MatrixXd::Identity(m, m) - times(r.K, g.D));
    if (lu.rcond() < 1e-13)
      throw NumericalError("output feedback: the loop with D is not well posed");
    r.K = lu.solve(r.K);
  }
  r.certificate.add("poles as asked for, largest relative error", r.largest_error < 1e-6,
                    r.largest_error, 1e-6,
                    std::to_string(asked.size()) + " of " + std::to_string(n) + " poles assigned");
  r.certificate.add("all poles stable", r.rest_stable, r.rest_stable ? 1.0 : 0.0, 1.0,
                    asked.size() < n ? "those not assigned included" : "");
  return r;
}

}  // namespace catena
