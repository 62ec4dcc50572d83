// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/zpk.h"

#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/minreal.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXcd;

// Roots in groups: a conjugate pair, or one or two real ones.
struct Roots {
  Complex first, second;
  int count = 0;
  double distance(const Roots& other) const { return std::abs(first - other.first); }
  // s² + linear s + constant, or s + constant.
  double linear() const { return -(first + second).real(); }
  double constant() const { return count == 2 ? (first * second).real() : -first.real(); }
};

void require_conjugates(const std::vector<Complex>& roots, const char* what) {
  std::vector<Complex> left;
  for (const Complex r : roots) {
    if (!std::isfinite(r.real()) || !std::isfinite(r.imag()))
      throw Error(std::string("zpk: a ") + what + " is not a finite number");
    if (r.imag() != 0.0) left.push_back(r);
  }
  while (!left.empty()) {
    const Complex r = left.back();
    left.pop_back();
    const auto partner = std::min_element(left.begin(), left.end(), [&](Complex a, Complex b) {
      return std::abs(a - std::conj(r)) < std::abs(b - std::conj(r));
    });
    if (partner == left.end() || std::abs(*partner - std::conj(r)) > 1e-6 * std::abs(r))
      throw Error(std::string("zpk: the ") + what + " " + short_number(r.real(), 6) + " + " +
                  short_number(r.imag(), 6) + "i has no conjugate");
    left.erase(partner);
  }
}

// Pairs first, then real roots two by two, closest moduli together; one may remain.
std::vector<Roots> grouped(const std::vector<Complex>& roots) {
  std::vector<Roots> groups;
  std::vector<double> reals;
  for (const Complex r : roots) {
    if (r.imag() > 0.0) groups.push_back({r, std::conj(r), 2});
    if (r.imag() == 0.0) reals.push_back(r.real());
  }
  std::sort(reals.begin(), reals.end());
  for (std::size_t i = 0; i + 1 < reals.size(); i += 2)
    groups.push_back({reals[i], reals[i + 1], 2});
  if (reals.size() % 2 == 1) groups.push_back({reals.back(), 0.0, 1});
  return groups;
}

// (s² + b1 s + b0)/(s² + a1 s + a0) and its relatives, states scaled alike.
StateSpace section(const Roots& p, const Roots* z, double dt) {
  if (p.count == 1) {
    MatrixXd one = MatrixXd::Ones(1, 1);
    if (!z) return ss(one * p.first.real(), one, one, MatrixXd::Zero(1, 1), dt);
    const double c = p.first.real() - z->first.real();
    const double root = std::sqrt(std::abs(c));
    return ss(one * p.first.real(), one * root, one * std::copysign(root, c), one, dt);
  }
  const double a1 = p.linear(), a0 = p.constant();
  double d = 0.0, c1 = 0.0, c0 = 1.0;
  if (z && z->count == 2) {
    d = 1.0;
    c1 = z->linear() - a1;
    c0 = z->constant() - a0;
  } else if (z) {
    c1 = 1.0;
    c0 = z->constant();
  }
  // Companion form with the second state scaled by the modulus of the poles.
  const double w = a0 != 0.0 ? std::sqrt(std::abs(a0)) : 1.0;
  MatrixXd A(2, 2), B(2, 1), C(1, 2);
  A << 0.0, w, -a0 / w, -a1;
  B << 0.0, 1.0;
  C << c0 / w, c1;
  return ss(A, B, C, MatrixXd::Constant(1, 1, d), dt);
}

// s − z as a descriptor system.
StateSpace differentiator(double zero, double dt) {
  MatrixXd E = MatrixXd::Zero(2, 2), B(2, 1), C(1, 2);
  E(0, 1) = 1.0;
  B << 0.0, 1.0;
  C << -1.0, 0.0;
  return dss(MatrixXd::Identity(2, 2), B, C, MatrixXd::Constant(1, 1, -zero), E, dt);
}

// s² + b1 s + b0.
StateSpace double_differentiator(const Roots& z, double dt) {
  if (z.count == 1) return differentiator(z.first.real(), dt);
  // (s + b1) s + b0.
  const StateSpace product = series(differentiator(0.0, dt), differentiator(-z.linear(), dt));
  StateSpace result = product;
  result.D(0, 0) += z.constant();
  return result;
}

}  // namespace

Complex Zpk::at(Complex s) const {
  // Zeros and poles in turn, so that no product overflows.
  Complex value = gain;
  const std::size_t count = std::max(zeros.size(), poles.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (i < zeros.size()) value *= s - zeros[i];
    if (i < poles.size()) value /= s - poles[i];
  }
  if (delay > 0.0) value *= dt == 0.0 ? std::exp(-s * delay) : std::pow(s, -std::round(delay / dt));
  return value;
}

void Zpk::validate() const {
  require_conjugates(zeros, "zero");
  require_conjugates(poles, "pole");
  if (!std::isfinite(gain)) throw Error("zpk: the gain is " + number(gain));
  if (!(dt >= 0.0) || !std::isfinite(dt))
    throw Error("zpk: the sample time is " + number(dt) + " s");
  if (!(delay >= 0.0) || !std::isfinite(delay))
    throw Error("zpk: the delay is " + number(delay) + " s");
}

Zpk zpk(const std::vector<Complex>& zeros, const std::vector<Complex>& poles, double gain,
        double dt) {
  Zpk result{zeros, poles, gain, dt};
  result.validate();
  return result;
}

Zpk tf(const std::vector<double>& numerator, const std::vector<double>& denominator, double dt) {
  const auto roots = [](std::vector<double> c, double& leading, const char* what) {
    while (!c.empty() && c[0] == 0.0) c.erase(c.begin());
    if (c.empty()) throw Error(std::string("tf: the ") + what + " is zero");
    leading = c[0];
    const Eigen::Index n = std::ssize(c) - 1;
    std::vector<Complex> result;
    if (n == 0) return result;
    MatrixXd companion = MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      companion(0, i) = -at(c, i + 1) / c[0];
      if (i > 0) companion(i, i - 1) = 1.0;
    }
    for (const Complex r : lapack::eigenvalues(companion)) result.push_back(r);
    return result;
  };
  double above = 1.0, below = 1.0;
  if (std::all_of(numerator.begin(), numerator.end(), [](double c) { return c == 0.0; }))
    return zpk({}, roots(denominator, below, "denominator"), 0.0, dt);
  const std::vector<Complex> z = roots(numerator, above, "numerator");
  const std::vector<Complex> p = roots(denominator, below, "denominator");
  return zpk(z, p, above / below, dt);
}

Zpk zpk_entry(const StateSpace& system, int output, int input) {
  const StateSpace entry = minreal(select(system, std::vector{output}, std::vector{input}));
  Zpk result;
  result.dt = system.dt;
  result.delay = entry.has_delay() ? entry.delays()(0, 0) : 0.0;
  for (const Complex p : poles(entry)) result.poles.push_back(p);
  const ZeroStructure z = zero_structure(entry);
  if (z.normal_rank == 0) {
    result.poles.clear();
    result.gain = 0.0;
    return result;
  }
  for (const Complex r : z.zeros) result.zeros.push_back(r);
  // The gain by the value at a real point farther out than all poles and zeros.
  double size = 1.0;
  for (const Complex r : result.poles) size = std::max(size, std::abs(r));
  for (const Complex r : result.zeros) size = std::max(size, std::abs(r));
  const double s = 2.0 * size;
  StateSpace plain = entry;
  plain.input_delay.resize(0);
  plain.output_delay.resize(0);
  Zpk unit = result;
  unit.gain = 1.0;
  unit.delay = 0.0;
  result.gain = (evaluate(plain, s)(0, 0) / unit.at(s)).real();
  return result;
}

Zpk zpk(const StateSpace& system) {
  if (!system.is_siso())
    throw Error("zpk: the system has " + std::to_string(system.output_count()) + " outputs and " +
                std::to_string(system.input_count()) +
                " inputs; name one of each, or use transfer_matrix()");
  return zpk_entry(system, 0, 0);
}

StateSpace state_space(const Zpk& transfer) {
  transfer.validate();
  std::vector<Roots> p = grouped(transfer.poles), z = grouped(transfer.zeros);
  // Poles closest to the axis (or circle) choose first.
  std::sort(p.begin(), p.end(), [&](const Roots& a, const Roots& b) {
    const auto margin = [&](const Roots& r) {
      return transfer.dt == 0.0 ? std::abs(r.first.real()) : std::abs(std::abs(r.first) - 1.0);
    };
    if (a.count != b.count) return a.count > b.count;
    return margin(a) < margin(b);
  });
  StateSpace result = ss(MatrixXd::Constant(1, 1, transfer.gain), transfer.dt);
  for (const Roots& pole : p) {
    const Roots* chosen = nullptr;
    for (const Roots& zero : z)
      if (zero.count <= pole.count &&
          (!chosen || zero.count > chosen->count ||
           (zero.count == chosen->count && zero.distance(pole) < chosen->distance(pole))))
        chosen = &zero;
    result = series(result, section(pole, chosen, transfer.dt));
    if (chosen) z.erase(z.begin() + (chosen - z.data()));
  }
  for (const Roots& zero : z) result = series(result, double_differentiator(zero, transfer.dt));
  result.states.clear();
  result.fill_names();
  if (transfer.delay > 0.0) result.input_delay = Eigen::VectorXd::Constant(1, transfer.delay);
  return result;
}

Zpk series(const Zpk& a, const Zpk& b) {
  if (a.dt != b.dt)
    throw Error("series: sample times " + number(a.dt) + " s and " + number(b.dt) + " s differ");
  Zpk result = a;
  result.zeros.insert(result.zeros.end(), b.zeros.begin(), b.zeros.end());
  result.poles.insert(result.poles.end(), b.poles.begin(), b.poles.end());
  result.gain *= b.gain;
  result.delay += b.delay;
  return result;
}

Zpk inverse(const Zpk& a) {
  if (a.delay > 0.0) throw Error("inverse: a delay has no causal inverse");
  if (a.gain == 0.0) throw Error("inverse: the gain is zero");
  return {a.poles, a.zeros, 1.0 / a.gain, a.dt, 0.0};
}

TransferMatrix transfer_matrix(const StateSpace& system) {
  StateSpace named = system;
  named.fill_names();
  TransferMatrix result{
      system.output_count(), system.input_count(), {}, named.inputs, named.outputs};
  for (int j = 0; j < system.input_count(); ++j)
    for (int i = 0; i < system.output_count(); ++i)
      result.entries.push_back(zpk_entry(system, i, j));
  return result;
}

StateSpace state_space(const TransferMatrix& matrix) {
  const int p = matrix.output_count, m = matrix.input_count;
  if (std::ssize(matrix.entries) != static_cast<std::ptrdiff_t>(p) * m || p == 0 || m == 0)
    throw Error("transfer matrix: " + std::to_string(matrix.entries.size()) + " entries for " +
                std::to_string(p) + " outputs and " + std::to_string(m) + " inputs");
  std::vector<StateSpace> blocks;
  MatrixXd delays(p, m);
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < p; ++i) {
      Zpk entry = matrix(i, j);
      delays(i, j) = entry.delay;
      entry.delay = 0.0;
      blocks.push_back(state_space(entry));
    }
  // Entry (i, j) hears input j and adds to output i.
  MatrixXd W = MatrixXd::Zero(p * m, m), S = MatrixXd::Zero(p, p * m);
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < p; ++i) W(i + j * p, j) = S(i, i + j * p) = 1.0;
  StateSpace result = close_loops(append(blocks), MatrixXd::Zero(p * m, p * m), W, S);
  if (!result.is_descriptor()) result = minreal(result);
  if (delays.maxCoeff() > 0.0) {
    result.input_delay = delays.colwise().minCoeff().transpose();
    const MatrixXd rest = delays.rowwise() - result.input_delay.transpose();
    result.output_delay = rest.col(0);
    if ((rest.colwise() - result.output_delay).cwiseAbs().maxCoeff() > 1e-12 * delays.maxCoeff())
      throw Error(
          "transfer matrix: the delays of the entries are not sums of one for the output and one "
          "for "
          "the input; approximate them by pade() entry by entry");
  }
  if (!matrix.inputs.empty()) result.inputs = matrix.inputs;
  if (!matrix.outputs.empty()) result.outputs = matrix.outputs;
  result.validate();
  return result;
}

}  // namespace catena
