// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/norms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "catena/base/error.h"
#include "catena/control/coprime.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/gramians.h"
#include "catena/control/modal_peak.h"
#include "catena/control/response.h"

namespace catena {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Hamiltonian eigenvalues this near to the axis, relative to their modulus, are looked at.
constexpr double kNearAxis = 1e-7;
constexpr int kMostLevels = 40;
constexpr double kNearInfinity = 0.999;  // gain at infinite frequency over the level

StateSpace prepared(const StateSpace& system, const char* what) {
  system.validate();
  if (system.has_delay())
    throw NumericalError(std::string(what) +
                         ": the system has delays; approximate them with pade() or sample it with "
                         "c2d() first");
  return explicit_form(system);
}

bool stable_poles(const Eigen::VectorXcd& poles, bool discrete) {
  if (poles.size() == 0) return true;
  return discrete ? poles.cwiseAbs().maxCoeff() < 1.0 : poles.real().maxCoeff() < 0.0;
}

struct Candidate {
  double frequency, width, gain;
};

// The resonance frequency of each pole and its half-power width.
std::vector<Candidate> pole_frequencies(const Eigen::VectorXcd& poles, double dt) {
  std::vector<Candidate> list;
  for (Complex s : poles) {
    if (s.imag() < 0.0) continue;
    if (dt > 0.0) {
      if (s == 0.0) continue;
      s = std::log(s) / dt;
    }
    const double square = std::norm(s) - 2.0 * s.real() * s.real();
    const double frequency = square > 0.0 ? std::sqrt(square) : std::abs(s);
    const double width = std::max({std::abs(s.real()), 1e-9 * std::abs(s), 1e-300});
    list.push_back({dt > 0.0 ? std::min(frequency, M_PI / dt) : frequency, width, 0.0});
  }
  return list;
}

// [A + B R⁻¹ Dᵀ C, B R⁻¹ Bᵀ; −Cᵀ (1 + D R⁻¹ Dᵀ) C, −(…)ᵀ], R = γ² − Dᵀ D, with B and C scaled to
// equal size: imaginary eigenvalues jω where γ is a singular value of G(jω).
Eigen::MatrixXd hamiltonian(const StateSpace& g, double gamma) {
  const Eigen::Index n = g.A.rows(), m = g.D.cols();
  const Eigen::MatrixXd r = gamma * gamma * Eigen::MatrixXd::Identity(m, m) - times_tn(g.D, g.D);
  const double bn = g.B.norm(), cn = g.C.norm();
  const double scale = bn > 0.0 && cn > 0.0 ? std::sqrt(cn / bn) : 1.0;
  const Eigen::MatrixXd b = g.B * scale, c = g.C / scale;
  const lapack::Lu lu(r);
  const Eigen::MatrixXd rb = lu.solve(b.transpose()), rdc = lu.solve(times_tn(g.D, c));
  Eigen::MatrixXd h(2 * n, 2 * n);
  const Eigen::MatrixXd a = g.A + times(b, rdc);
  // Off-diagonal blocks both of size ‖B‖ ‖C‖/γ.
  h.topLeftCorner(n, n) = a;
  h.topRightCorner(n, n) = gamma * times(b, rb);
  h.bottomLeftCorner(n, n) = -(times_tn(c, c) + times_tn(c, times(g.D, rdc))) / gamma;
  h.bottomRightCorner(n, n) = -a.transpose();
  return h;
}

// The same eigenvalues without R⁻¹, for levels near the gain at infinite frequency: unknowns x, λ,
// u, v of s x = A x + B u, s λ = −Aᵀ λ − Cᵀ v, C x + D u = γ v, Bᵀ λ + Dᵀ v = γ u.
Eigen::VectorXcd pencil_spectrum(const StateSpace& g, double gamma) {
  const Eigen::Index n = g.A.rows(), m = g.D.cols(), p = g.D.rows(), k = 2 * n + m + p;
  const double bn = g.B.norm(), cn = g.C.norm();
  const double scale = bn > 0.0 && cn > 0.0 ? std::sqrt(cn / bn) : 1.0;
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(k, k), right = left;
  right.topLeftCorner(2 * n, 2 * n).setIdentity();
  left.topLeftCorner(n, n) = g.A;
  left.block(0, 2 * n, n, m) = scale * g.B;
  left.block(n, n, n, n) = -g.A.transpose();
  left.block(n, 2 * n + m, n, p) = -g.C.transpose() / scale;
  left.block(2 * n, 0, p, n) = g.C / scale;
  left.block(2 * n, 2 * n, p, m) = g.D;
  left.block(2 * n, 2 * n + m, p, p) = -gamma * Eigen::MatrixXd::Identity(p, p);
  left.block(2 * n + p, n, m, n) = scale * g.B.transpose();
  left.block(2 * n + p, 2 * n + m, m, p) = g.D.transpose();
  left.block(2 * n + p, 2 * n, m, m) = -gamma * Eigen::MatrixXd::Identity(m, m);
  const lapack::GeneralizedEigenSystem e = lapack::generalized_eig(left, right);
  std::vector<Complex> finite;
  for (Eigen::Index i = 0; i < k; ++i)
    if (std::abs(e.beta[i]) > 1e-14 * std::abs(e.alpha[i]))
      finite.push_back(e.alpha[i] / e.beta[i]);
  return Eigen::Map<Eigen::VectorXcd>(finite.data(), static_cast<Eigen::Index>(finite.size()));
}

// z = (1 + s)/(1 − s): the same singular values at ν = tan(ω dt/2).
StateSpace mapped_to_continuous(const StateSpace& g) {
  const Eigen::Index n = g.A.rows();
  if (n == 0) return ss(g.A, g.B, g.C, g.D);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  const lapack::Lu lu(g.A + one);
  const Eigen::MatrixXd b = lu.solve(g.B), c = lu.solve_transposed(g.C.transpose()).transpose();
  return ss(lu.solve(g.A - one), std::sqrt(2.0) * b, std::sqrt(2.0) * c, g.D - times(g.C, b));
}

// Large systems by their modal form: the peak over the axis and the poles of the system as given.
constexpr Eigen::Index kModalOrder = 64;

struct ModalAnswer {
  PeakGain peak;
  Eigen::VectorXcd poles;
};
std::optional<ModalAnswer> by_modal_form(const StateSpace& g, const PeakSettings& settings) {
  if (g.order() < kModalOrder) return std::nullopt;
  const ModalPeak modal(g.is_discrete() ? mapped_to_continuous(g) : g);
  if (!modal.usable()) return std::nullopt;
  std::optional<PeakGain> peak = modal.peak(settings.tolerance);
  if (!peak) return std::nullopt;
  Eigen::VectorXcd poles = modal.poles();
  if (g.is_discrete()) {
    peak->frequency = 2.0 * std::atan(peak->frequency) / g.dt;
    poles = ((1.0 + poles.array()) / (1.0 - poles.array())).eval();
  }
  return ModalAnswer{*peak, poles};
}

class Certifier {
 public:
  Certifier(const StateSpace& system, const PeakSettings& settings)
      : search_(system),
        mapped_(system.is_discrete() ? mapped_to_continuous(system) : system),
        dt_(system.dt),
        tolerance_(settings.tolerance) {}

  const Eigen::VectorXcd& poles() const { return search_.poles(); }

  PeakGain run() {
    PeakGain best = first_guess();
    NormCertificate& c = best.certificate;
    for (int level = 0; level < kMostLevels && std::isfinite(best.value); ++level) {
      if (best.value == 0.0 || search_.poles().size() == 0) break;
      const double gamma = best.value * (1.0 + tolerance_);
      c.upper = gamma;
      if (!improve(gamma, best)) break;
    }
    c.lower = best.value;
    c.upper = std::max(c.upper, best.value * (1.0 + tolerance_));
    c.evaluations = search_.evaluations();
    return best;
  }

 private:
  PeakGain first_guess() const {
    PeakGain best;
    const double end = dt_ > 0.0 ? M_PI / dt_ : kInfinity;
    for (const double w : {0.0, end})
      if (const double g = search_.gain(w); g >= best.value) best.value = g, best.frequency = w;
    std::vector<Candidate> list = pole_frequencies(search_.poles(), dt_);
    std::vector<double> looks;
    for (const Candidate& p : list) looks.push_back(p.frequency);
    const std::vector<double> gains = search_.gains(looks);
    for (std::size_t k = 0; k < list.size(); ++k) list[k].gain = gains[k];
    std::sort(list.begin(), list.end(),
              [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    // The best peaks; one alone may lose to its neighbour after the climb.
    for (std::size_t k = 0; k < std::min<std::size_t>(3, list.size()); ++k) {
      if (!(list[k].gain > 0.7 * list[0].gain)) break;
      take_climb(list[k].frequency, list[k].width, best);
    }
    return best;
  }

  void take_climb(double frequency, double width, PeakGain& best) const {
    double value = 0.0;
    const double at = search_.climb(frequency, width, value);
    if (value > best.value) best.value = value, best.frequency = at;
  }

  double real_frequency(double nu) const { return dt_ > 0.0 ? 2.0 * std::atan(nu) / dt_ : nu; }

  // True if a higher gain was found between crossings of the level.
  bool improve(double gamma, PeakGain& best) const {
    NormCertificate& c = best.certificate;
    ++c.eigenproblems;
    // R = γ² − DᵀD loses its digits where the gain at infinite frequency is near the level.
    const bool near_infinity = lapack::norm2(mapped_.D) > kNearInfinity * gamma;
    const Eigen::MatrixXd h = near_infinity ? mapped_.A : hamiltonian(mapped_, gamma);
    const double floor = std::numeric_limits<double>::epsilon() * h.norm();
    std::vector<double> crossings;
    c.axis_distance = 1.0;
    for (const Complex& s : near_infinity ? pencil_spectrum(mapped_, gamma) : spectrum(h)) {
      if (s.imag() < 0.0) continue;
      const double distance = std::abs(s.real()) / std::max(std::abs(s), floor);
      c.axis_distance = std::min(c.axis_distance, distance);
      if (distance < kNearAxis || std::abs(s.real()) < 10.0 * floor)
        crossings.push_back(real_frequency(s.imag()));
    }
    c.clear = crossings.empty();
    if (crossings.empty()) return false;
    std::sort(crossings.begin(), crossings.end());
    std::vector<double> looks = crossings;
    for (std::size_t i = 0; i + 1 < crossings.size(); ++i)
      looks.push_back(0.5 * (crossings[i] + crossings[i + 1]));
    looks.push_back(0.5 * crossings.front());
    looks.push_back(dt_ > 0.0 ? 0.5 * (crossings.back() + M_PI / dt_) : 2.0 * crossings.back());
    double highest = best.value, at = -1.0;
    for (const double w : looks)
      if (const double g = search_.gain(w); g > highest) highest = g, at = w;
    if (at < 0.0) return false;
    // The width of the level set it lies in.
    double width = at > 0.0 ? 0.1 * at : 1.0;
    for (const double w : crossings)
      if (w != at) width = std::min(width, std::abs(w - at));
    const double before = best.value;
    best.value = highest, best.frequency = at;
    take_climb(at, std::max(0.25 * width, 1e-12 * at), best);
    return best.value > gamma || best.value > before * (1.0 + tolerance_);
  }

  PeakSearch search_;
  StateSpace mapped_;
  double dt_, tolerance_;
};

}  // namespace

PeakGain linfnorm(const StateSpace& system, const PeakSettings& settings) {
  const lapack::OneThread one;
  const StateSpace g = prepared(system, "L-infinity norm");
  if (const std::optional<ModalAnswer> modal = by_modal_form(g, settings)) {
    PeakGain peak = modal->peak;
    peak.stable = stable_poles(modal->poles, g.is_discrete());
    return peak;
  }
  Certifier certifier(g, settings);
  PeakGain peak = certifier.run();
  peak.stable = stable_poles(certifier.poles(), g.is_discrete());
  return peak;
}

PeakGain hinfnorm(const StateSpace& system, const PeakSettings& settings) {
  const lapack::OneThread one;
  const StateSpace g = prepared(system, "H-infinity norm");
  if (const std::optional<ModalAnswer> modal = by_modal_form(g, settings);
      modal && stable_poles(modal->poles, g.is_discrete()))
    return modal->peak;
  Certifier certifier(g, settings);
  if (stable_poles(certifier.poles(), g.is_discrete())) return certifier.run();
  PeakGain peak;
  peak.stable = false;
  peak.value = peak.certificate.lower = peak.certificate.upper = kInfinity;
  // The frequency of the most unstable pole.
  double worst = -kInfinity;
  for (const Complex& s : certifier.poles()) {
    const double growth = g.is_discrete() ? std::abs(s) : s.real();
    if (growth > worst) {
      worst = growth;
      peak.frequency = g.is_discrete() ? std::abs(std::arg(s)) / g.dt : std::abs(s.imag());
    }
  }
  return peak;
}

double h2norm(const StateSpace& system) {
  const lapack::OneThread one;
  const StateSpace g = prepared(system, "H2 norm");
  if (!stable_poles(spectrum(g.A), g.is_discrete())) return kInfinity;
  if (g.is_continuous() && g.D.norm() > 0.0) return kInfinity;
  if (g.A.rows() == 0) return g.D.norm();
  const double states = times(g.C, gram_factor(g, GramianKind::controllability)).norm();
  return std::hypot(states, g.D.norm());
}

double hankelnorm(const StateSpace& system) {
  const lapack::OneThread one;
  const Eigen::VectorXd sigma = hsvd(prepared(system, "Hankel norm"));
  return sigma.size() > 0 ? sigma[0] : 0.0;
}

NuGap nugap(const StateSpace& given_a, const StateSpace& given_b) {
  const lapack::OneThread one;
  StateSpace a = prepared(given_a, "nu-gap"), b = prepared(given_b, "nu-gap");
  if (a.dt != b.dt || a.D.rows() != b.D.rows() || a.D.cols() != b.D.cols())
    throw NumericalError(
        "nu-gap: the two systems must have the same sample time and as many inputs "
        "and outputs");
  const double dt = a.dt;
  if (dt > 0.0) a = mapped_to_continuous(a), b = mapped_to_continuous(b);
  const CoprimeFactors fa = ncf(a), fb = ncf(b);
  NuGap gap;
  // Chordal distance: M̃_b N_a − Ñ_b M_a.
  const Eigen::Index n1 = fa.A_right.rows(), n2 = fb.A_left.rows();
  Eigen::MatrixXd left_b(n2, fb.B_M_left.cols() + fb.B_N_left.cols());
  left_b << fb.B_M_left, -fb.B_N_left;
  Eigen::MatrixXd left_d(fb.D_M_left.rows(), left_b.cols());
  left_d << fb.D_M_left, -fb.D_N_left;
  const Eigen::MatrixXd right_c = vstack(fa.C_N_right, fa.C_M_right);
  const Eigen::MatrixXd right_d = vstack(fa.D_N_right, fa.D_M_right);
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n1 + n2, n1 + n2);
  A.topLeftCorner(n1, n1) = fa.A_right;
  A.bottomLeftCorner(n2, n1) = times(left_b, right_c);
  A.bottomRightCorner(n2, n2) = fb.A_left;
  const StateSpace distance = ss(A, vstack(fa.B_right, times(left_b, right_d)),
                                 hstack(times(left_d, right_c), fb.C_left), times(left_d, right_d));
  gap.chordal = hinfnorm(distance);
  gap.frequency = gap.chordal.frequency;
  if (dt > 0.0) gap.frequency = 2.0 * std::atan(gap.frequency) / dt;
  // Encirclements of det(G_b~ G_a), G = [N; M]: zeros in the right half plane less the n_b poles
  // there.
  const Eigen::Index nb = fb.A_right.rows();
  const Eigen::MatrixXd cb = vstack(fb.C_N_right, fb.C_M_right);
  const Eigen::MatrixXd db = vstack(fb.D_N_right, fb.D_M_right);
  Eigen::MatrixXd F = Eigen::MatrixXd::Zero(n1 + nb, n1 + nb);
  F.topLeftCorner(n1, n1) = fa.A_right;
  F.bottomLeftCorner(nb, n1) = -times_tn(cb, right_c);
  F.bottomRightCorner(nb, nb) = -fb.A_right.transpose();
  const Eigen::MatrixXd Fb = vstack(fa.B_right, -times_tn(cb, right_d));
  const Eigen::MatrixXd Fc = hstack(times_tn(db, right_c), fb.B_right.transpose());
  const lapack::Lu lu(times_tn(db, right_d));
  gap.winding = lu.rcond() > 1e-12;
  if (gap.winding && n1 + nb > 0) {
    const Eigen::VectorXcd zeros = spectrum(F - times(Fb, lu.solve(Fc)));
    gap.winding = (zeros.real().array() > 0.0).count() == nb;
  }
  gap.value = gap.winding ? std::min(1.0, gap.chordal.value) : 1.0;
  return gap;
}

}  // namespace catena
