// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/margins.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/control/response.h"
#include "catena/linear/algebra.h"

namespace catena {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Zeros this near to the axis, relative to their modulus, are tried; the response decides.
constexpr double kNear = 1e-6;

// Frequencies of zeros of (A, B, C, D) near the axis: finite eigenvalues of the system pencil.
std::vector<double> axis_zeros(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                               const Eigen::MatrixXd& c, const Eigen::MatrixXd& d) {
  const Eigen::Index n = a.rows();
  std::vector<double> found;
  const auto take = [&](Complex s, double scale) {
    if (std::abs(s.real()) <= kNear * std::max(std::abs(s), 1e-12 * scale) && s.imag() >= 0.0)
      found.push_back(s.imag());
  };
  if (d.norm() > 1e-12 * (1.0 + c.norm() * b.norm() / std::max(a.norm(), 1e-300))) {
    const Eigen::MatrixXd z = a - times(b, lapack::Lu(d).solve(c));
    for (const Complex& s : spectrum(z)) take(s, z.norm());
    return found;
  }
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(n + 1, n + 1), right = left;
  left << a, b, c, d;
  right.topLeftCorner(n, n).setIdentity();
  const lapack::GeneralizedEigenSystem e = lapack::generalized_eig(left, right);
  for (Eigen::Index i = 0; i < e.alpha.size(); ++i)
    if (std::abs(e.beta[i]) > 1e-13 * std::abs(e.alpha[i]))
      take(e.alpha[i] / e.beta[i], left.norm());
  return found;
}

// A root of `defect` refined by secants from a frequency that eigenvalues gave.
template <class Function>
double refined(double w, const Function& defect) {
  double a = w * (1.0 - 1e-7), b = w * (1.0 + 1e-7), fa = defect(a), fb = defect(b);
  for (int k = 0; k < 20 && fa != fb; ++k) {
    const double c = b - fb * (b - a) / (fb - fa);
    if (!(std::abs(c - w) < 1e-3 * w)) return w;
    a = b, fa = fb;
    b = c, fb = defect(c);
    if (std::abs(b - a) <= 1e-15 * std::abs(b)) break;
  }
  return std::abs(defect(b)) <= std::abs(defect(w)) ? b : w;
}

void sort_unique(std::vector<double>& w) {
  std::sort(w.begin(), w.end());
  w.erase(std::unique(w.begin(), w.end(),
                      [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }),
          w.end());
}

// Whether the response at ω is a number and not rounding: an open-loop pole within rounding of jω
// makes it as large, cancellation in C (jω − A)⁻¹ B as small as rounding errors are.
bool meaningful(const StateSpace& l, double w, Complex value) {
  constexpr double kPole = 1e-13, kCancelled = 1e-12;
  if (!std::isfinite(std::abs(value))) return false;
  const Eigen::Index n = l.A.rows();
  if (n == 0) return value != 0.0;
  const Complex s = l.is_discrete() ? std::polar(1.0, w * l.dt) : Complex(0.0, w);
  Eigen::MatrixXcd pencil = -l.A.cast<Complex>();
  pencil.diagonal().array() += s;
  const Eigen::VectorXd sigma = lapack::singular_values(pencil);
  if (!(sigma[n - 1] > kPole * static_cast<double>(n) * sigma[0])) return false;
  const Eigen::MatrixXcd x = lapack::ComplexLu(pencil).solve(l.B.cast<Complex>());
  return std::abs(value) > kCancelled * (l.C.norm() * x.norm() + l.D.norm());
}

void tightest(Margins& m) {
  m.gain_margin_up = kInfinite;
  m.gain_margin_down = 0.0;
  m.phase_margin = m.delay_margin = kInfinite;
  for (const GainCrossing& g : m.gain) {
    if (g.gain_margin > 1.0) m.gain_margin_up = std::min(m.gain_margin_up, g.gain_margin);
    if (g.gain_margin < 1.0) m.gain_margin_down = std::max(m.gain_margin_down, g.gain_margin);
  }
  for (const PhaseCrossing& p : m.phase) {
    if (std::abs(p.phase_margin) < std::abs(m.phase_margin)) m.phase_margin = p.phase_margin;
    m.delay_margin = std::min(m.delay_margin, p.delay_margin);
  }
}

// Sensitivity (1 + L)⁻¹.
StateSpace sensitivity(const StateSpace& loop) {
  const Eigen::Index k = loop.D.rows();
  return feedback(ss(Eigen::MatrixXd::Identity(k, k), loop.dt), loop);
}

void require_square_loop(const StateSpace& loop, const char* what) {
  loop.validate();
  if (loop.D.rows() != loop.D.cols() || loop.D.rows() == 0)
    throw NumericalError(std::string(what) + ": the loop has " +
                         std::to_string(loop.input_count()) + " inputs and " +
                         std::to_string(loop.output_count()) + " outputs; a loop is square");
  if (loop.has_delay())
    throw NumericalError(std::string(what) +
                         ": the loop has delays; approximate them with pade() or "
                         "sample it with c2d() first");
}

// Channel i opened, the others closed by unit negative feedback.
StateSpace opened(const StateSpace& loop, int i) {
  const int k = loop.input_count();
  Eigen::MatrixXd f = -Eigen::MatrixXd::Identity(k, k);
  f(i, i) = 0.0;
  return close_loops(explicit_form(loop), f, Eigen::MatrixXd::Identity(k, k).col(i),
                     Eigen::MatrixXd::Identity(k, k).row(i));
}

}  // namespace

Margins margin(const StateSpace& given) {
  const lapack::OneThread one;
  require_square_loop(given, "margins");
  if (!given.is_siso())
    throw NumericalError(
        "margins: the loop has several channels; use margin_loop_at_a_time or "
        "diskmargin");
  const StateSpace loop = explicit_form(given);
  // The axis of a sampled loop is the circle: mapped, ω = 2 atan(ν)/dt.
  const StateSpace l = loop.is_discrete() ? bilinear_to_continuous(loop) : loop;
  const auto real = [&](double nu) {
    return loop.is_discrete() ? 2.0 * std::atan(nu) / loop.dt : nu;
  };
  const PeakSearch response(loop);
  const auto at = [&](double w) { return response.response(w)(0, 0); };
  Margins m;
  m.stable = has_stable_poles(feedback(loop));
  const Eigen::MatrixXd twice = block_diagonal(l.A, -l.A);
  std::vector<double> real_axis =
      axis_zeros(twice, vstack(l.B, l.B), hstack(l.C, l.C), Eigen::MatrixXd::Zero(1, 1));
  real_axis.push_back(0.0);
  for (double& w : real_axis) w = real(w);
  if (loop.is_discrete()) real_axis.push_back(M_PI / loop.dt);
  const auto sine = [&](double x) { return at(x).imag() / std::abs(at(x)); };
  for (double& w : real_axis)
    if (w > 0.0) w = refined(w, sine);
  sort_unique(real_axis);
  // Real to 1e-6 and clearly less so beside: a phase that only approaches 180° with rising
  // frequency changes by a thousandth of itself.
  const auto crosses = [&](double w) {
    const double here = std::abs(sine(w));
    if (!(here <= 1e-6)) return false;
    if (w == 0.0 || (loop.is_discrete() && w * loop.dt >= M_PI * (1.0 - 1e-9))) return true;
    return std::max(std::abs(sine(w * 0.999)), std::abs(sine(w * 1.001))) > 2.0 * here;
  };
  for (const double w : real_axis) {
    const Complex v = at(w);
    if (v.real() < 0.0 && crosses(w) && meaningful(loop, w, v))
      m.gain.push_back({w, -1.0 / v.real()});
  }
  // 1 − L(−s) L(s): states of L, then of L(−s) driven by L's output.
  Eigen::MatrixXd a = twice;
  const Eigen::Index n = l.A.rows();
  a.bottomLeftCorner(n, n) = times(l.B, l.C);
  const Eigen::MatrixXd b = vstack(l.B, l.B * l.D(0, 0));
  const Eigen::MatrixXd c = hstack(-l.D(0, 0) * l.C, l.C);
  std::vector<double> unit =
      axis_zeros(a, b, c, Eigen::MatrixXd::Constant(1, 1, 1.0 - l.D(0, 0) * l.D(0, 0)));
  for (double& w : unit) {
    w = real(w);
    if (w > 0.0) w = refined(w, [&](double x) { return std::log(std::abs(at(x))); });
  }
  sort_unique(unit);
  for (const double w : unit) {
    const Complex v = at(w);
    if (!(std::abs(std::abs(v) - 1.0) < 1e-6)) continue;
    const double phase = std::arg(-v);  // from −1: lag until the limit
    const double lag = phase >= 0.0 ? phase : phase + 2.0 * M_PI;
    m.phase.push_back({w, phase, w > 0.0 ? lag / w : kInfinite});
  }
  tightest(m);
  return m;
}

std::vector<Margins> margin_loop_at_a_time(const StateSpace& loop) {
  require_square_loop(loop, "margins");
  std::vector<Margins> all;
  for (int i = 0; i < loop.input_count(); ++i) all.push_back(margin(opened(loop, i)));
  return all;
}

DiskMargin diskmargin(const StateSpace& loop, double skew) {
  const lapack::OneThread one;
  require_square_loop(loop, "disk margin");
  StateSpace s = sensitivity(explicit_form(loop));
  s.D.diagonal().array() += 0.5 * (skew - 1.0);
  DiskMargin d;
  d.peak = hinfnorm(s);
  d.frequency = d.peak.frequency;
  d.alpha = d.peak.stable ? 1.0 / d.peak.certificate.upper : 0.0;
  const double a = d.alpha;
  const double below = 2.0 - a * (1.0 + skew);
  d.gain_down = std::max(0.0, (2.0 - a * (1.0 - skew)) / (2.0 + a * (1.0 + skew)));
  d.gain_up = below > 0.0 ? (2.0 + a * (1.0 - skew)) / below : kInfinite;
  const double cosine = std::isinf(d.gain_up)
                            ? d.gain_down
                            : (1.0 + d.gain_down * d.gain_up) / (d.gain_down + d.gain_up);
  d.phase = std::abs(cosine) <= 1.0 ? std::acos(cosine) : M_PI;
  return d;
}

std::vector<DiskMargin> diskmargin_loop_at_a_time(const StateSpace& loop, double skew) {
  require_square_loop(loop, "disk margin");
  std::vector<DiskMargin> all;
  for (int i = 0; i < loop.input_count(); ++i) all.push_back(diskmargin(opened(loop, i), skew));
  return all;
}

NcfMargin ncfmargin(const StateSpace& plant, const StateSpace& controller) {
  const lapack::OneThread one;
  const StateSpace p = explicit_form(plant), c = explicit_form(controller);
  const int m = p.input_count(), q = p.output_count();
  // Inputs (d1 at the plant's output, d2 at its input), outputs (y, C y) of the loop u = d2 − C y.
  const StateSpace both = append(p, c);
  Eigen::MatrixXd f = Eigen::MatrixXd::Zero(m + q, q + m), w = f.transpose();
  f.topRightCorner(m, m) = -Eigen::MatrixXd::Identity(m, m);
  f.bottomLeftCorner(q, q).setIdentity();
  w = Eigen::MatrixXd::Zero(m + q, q + m);
  w.topRightCorner(m, m).setIdentity();
  w.bottomLeftCorner(q, q).setIdentity();
  const Eigen::MatrixXd s = Eigen::MatrixXd::Identity(q + m, q + m);
  Eigen::MatrixXd v = Eigen::MatrixXd::Zero(q + m, q + m);
  v.topLeftCorner(q, q).setIdentity();  // y itself includes d1
  NcfMargin r;
  r.peak = hinfnorm(close_loops(both, f, w, s, v));
  r.frequency = r.peak.frequency;
  r.value = r.peak.stable ? 1.0 / r.peak.certificate.upper : 0.0;
  return r;
}

}  // namespace catena
