// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/modal_peak.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "catena/control/equations/kernels.h"

namespace catena {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kConditionLimit = 1e8;   // of the eigenvectors, columns of length one
constexpr double kBackwardError = 1e-12;  // ‖A T − T Λ‖ ‖T⁻¹‖ / ‖A‖
constexpr double kLeastDamping = 1e-10;   // |Re λ|/|λ| of a pole that is not on the axis
constexpr std::size_t kMostIntervals = 60000;
constexpr std::size_t kBatch = 128;  // intervals at once
constexpr double kOuter = 2.0;       // 1/ω from so many times the largest |λ| on

// σ_max(g) < level, by Cholesky of level² − g gᴴ.
bool below(const Eigen::MatrixXcd& g, double level) {
  if (!(level > 0.0)) return false;
  if (g.norm() < level) return true;
  const bool wide = g.rows() < g.cols();
  Eigen::MatrixXcd square =
      wide ? Eigen::MatrixXcd(-g * g.adjoint()) : Eigen::MatrixXcd(-g.adjoint() * g);
  square.diagonal().array() += level * level;
  return square.llt().info() == Eigen::Success;
}

double largest(const Eigen::MatrixXcd& g) {
  if (!g.allFinite()) return kInfinity;
  if (g.rows() == 1 || g.cols() == 1) return g.norm();
  return lapack::norm2(g);
}

}  // namespace

ModalPeak::ModalPeak(const StateSpace& system)
    : system_(system), feedthrough_(system.D.cast<Complex>()) {
  const Eigen::Index n = system.A.rows(), m = system.B.cols(), p = system.C.rows();
  const lapack::RealEigenSystem e = lapack::real_eig(system.A);
  poles_ = e.values;
  const lapack::Lu lu(e.T);
  condition_ = lu.rcond() > 0.0 ? 1.0 / lu.rcond() : kInfinity;
  if (!(condition_ < kConditionLimit) || m == 0 || p == 0) return;
  // A T − T Λ, Λ with blocks [re im; −im re].
  Eigen::MatrixXd defect = times(system.A, e.T);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double re = poles_[k].real(), im = poles_[k].imag();
    defect.col(k) -= re * e.T.col(k);
    if (im > 0.0) defect.col(k) += im * e.T.col(k + 1);
    if (im < 0.0) defect.col(k) += im * e.T.col(k - 1);
  }
  backward_error_ = lu.solve_transposed(defect.transpose()).norm() / system.A.norm();
  if (!(backward_error_ < kBackwardError)) return;
  const Eigen::MatrixXd c = times(system.C, e.T), b = lu.solve(system.B);
  residues_.resize(2 * p * m, 2 * n);
  weight_.resize(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double im = poles_[k].imag();
    Eigen::VectorXcd ck = c.col(k).cast<Complex>(), bk = b.row(k).transpose().cast<Complex>();
    if (im != 0.0) {  // the pair's columns are x ± i y, its rows (u ∓ i v)/2
      const Eigen::Index x = im > 0.0 ? k : k - 1;
      const Complex i(0.0, im > 0.0 ? 1.0 : -1.0);
      ck = c.col(x).cast<Complex>() + i * c.col(x + 1).cast<Complex>();
      bk = 0.5 * (b.row(x).cast<Complex>() - i * b.row(x + 1).cast<Complex>()).transpose();
    }
    const Eigen::MatrixXcd residue = ck * bk.transpose();
    const Eigen::Map<const Eigen::VectorXcd> entries(residue.data(), p * m);
    residues_.col(k) << entries.real(), entries.imag();
    residues_.col(n + k) << -entries.imag(), entries.real();
    weight_[k] = residue.norm();
    if (std::abs(poles_[k].real()) <= kLeastDamping * std::abs(poles_[k])) return;
  }
  usable_ = true;
}

std::vector<ModalPeak::Terms> ModalPeak::terms(const std::vector<Interval>& list) const {
  const Eigen::Index n = poles_.size(), count = static_cast<Eigen::Index>(list.size());
  const Eigen::Index p = feedthrough_.rows(), m = feedthrough_.cols();
  Eigen::MatrixXd factors(2 * n, 2 * count);
  std::vector<Terms> result(list.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const Interval& at = list[static_cast<std::size_t>(i)];
    double rest = 0.0;
    for (Eigen::Index k = 0; k < n; ++k) {
      const double re = poles_[k].real(), im = poles_[k].imag();
      const double x = at.centre, low = x - at.radius, high = x + at.radius;
      double f_re, f_im, slope_re, slope_im;
      if (!at.reciprocal) {
        // f = 1/(jx − λ), f' = −j f².
        const double z_re = -re, z_im = x - im, square = z_re * z_re + z_im * z_im;
        f_re = z_re / square, f_im = -z_im / square;
        const double s_re = f_re * f_re - f_im * f_im, s_im = 2.0 * f_re * f_im;
        slope_re = s_im, slope_im = -s_re;
        const double off = std::max({0.0, low - im, im - high});
        rest += weight_[k] / (square * std::sqrt(re * re + off * off));
      } else {
        // f = x/(j − λ x), f' = j/(j − λ x)².
        const double z_re = -re * x, z_im = 1.0 - im * x, square = z_re * z_re + z_im * z_im;
        const double i_re = z_re / square, i_im = -z_im / square;
        f_re = x * i_re, f_im = x * i_im;
        const double s_re = i_re * i_re - i_im * i_im, s_im = 2.0 * i_re * i_im;
        slope_re = -s_im, slope_im = s_re;
        const double modulus = re * re + im * im;
        const double nearest = modulus > 0.0 ? std::clamp(im / modulus, low, high) : low;
        const double least = std::hypot(re * nearest, 1.0 - im * nearest);
        rest += weight_[k] * std::sqrt(modulus) / (square * least);
      }
      factors(k, i) = f_re, factors(n + k, i) = f_im;
      factors(k, count + i) = slope_re, factors(n + k, count + i) = slope_im;
    }
    result[static_cast<std::size_t>(i)].rest = rest;
  }
  const Eigen::MatrixXd sums = times(residues_, factors);
  const auto matrix = [&](Eigen::Index column) {
    Eigen::MatrixXcd g(p, m);
    Eigen::Map<Eigen::VectorXcd> entries(g.data(), p * m);
    entries.real() = sums.col(column).head(p * m);
    entries.imag() = sums.col(column).tail(p * m);
    return g;
  };
  for (Eigen::Index i = 0; i < count; ++i) {
    Terms& t = result[static_cast<std::size_t>(i)];
    t.value = matrix(i) + feedthrough_;
    t.slope = matrix(count + i);
  }
  evaluations_ += static_cast<int>(count);
  return result;
}

Eigen::MatrixXcd ModalPeak::response(double omega) const {
  if (std::isinf(omega)) return feedthrough_;
  return terms({{omega, 0.0, false}})[0].value;
}

double ModalPeak::gain(double omega) const { return largest(response(omega)); }

std::vector<double> ModalPeak::gains(const std::vector<double>& omega) const {
  std::vector<double> result;
  for (std::size_t first = 0; first < omega.size(); first += kBatch) {
    std::vector<Interval> list;
    for (std::size_t k = first; k < std::min(first + kBatch, omega.size()); ++k)
      list.push_back({omega[k], 0.0, false});
    for (const Terms& t : terms(list)) result.push_back(largest(t.value));
  }
  return result;
}

// Between the frequencies of the poles, each of which is in the middle of an interval of its
// half-power width, then from the largest to infinity.
std::vector<ModalPeak::Interval> ModalPeak::first_intervals() const {
  std::vector<double> ends{0.0};
  double last = 0.0;
  for (const Complex& s : poles_) {
    last = std::max(last, kOuter * std::abs(s));
    if (s.imag() <= 0.0) continue;
    ends.push_back(std::max(0.0, s.imag() - std::abs(s.real())));
    ends.push_back(s.imag() + std::abs(s.real()));
  }
  ends.push_back(last);
  std::sort(ends.begin(), ends.end());
  std::vector<Interval> list;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    if (ends[i + 1] > ends[i])
      list.push_back({0.5 * (ends[i] + ends[i + 1]), 0.5 * (ends[i + 1] - ends[i]), false});
  list.push_back({0.5 / last, 0.5 / last, true});
  return list;
}

// Golden sections on the gain: `width` is that of the peak.
void ModalPeak::climb(double omega, double width, PeakGain& best) const {
  constexpr double kGolden = 0.6180339887498949;
  double low = std::max(0.0, omega - width), high = omega + width;
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double ga = gain(a), gb = gain(b);
  const auto take = [&](double g, double w) {
    if (g > best.value) best.value = g, best.frequency = w;
  };
  for (int k = 0; k < 80 && high - low > 1e-7 * width && high - low > 1e-14 * high; ++k) {
    take(ga, a), take(gb, b);
    if (std::abs(ga - gb) < 1e-14 * ga && k > 20) break;
    if (ga > gb) {
      high = b, b = a, gb = ga;
      a = high - kGolden * (high - low), ga = gain(a);
    } else {
      low = a, a = b, ga = gb;
      b = low + kGolden * (high - low), gb = gain(b);
    }
  }
}

// The gain at the peak by a factorization of jω − A.
bool ModalPeak::confirmed(const PeakGain& peak, double tolerance) const {
  if (std::isinf(peak.frequency)) return true;
  Eigen::MatrixXcd s = -system_.A.cast<Complex>();
  s.diagonal().array() += Complex(0.0, peak.frequency);
  const Eigen::MatrixXcd direct =
      system_.C * lapack::ComplexLu(s).solve(system_.B.cast<Complex>()) + feedthrough_;
  return (direct - response(peak.frequency)).norm() <= tolerance * peak.value;
}

std::optional<PeakGain> ModalPeak::peak(double tolerance) const {
  PeakGain best;
  best.value = largest(feedthrough_), best.frequency = kInfinity;
  std::vector<double> looks{0.0};
  std::vector<double> widths{0.0};
  for (const Complex& s : poles_) {
    if (s.imag() < 0.0) continue;
    const double square = std::norm(s) - 2.0 * s.real() * s.real();
    looks.push_back(square > 0.0 ? std::sqrt(square) : std::abs(s));
    widths.push_back(std::abs(s.real()));
  }
  const std::vector<double> first = gains(looks);
  const auto most =
      static_cast<std::size_t>(std::max_element(first.begin(), first.end()) - first.begin());
  if (first[most] >= best.value) best.value = first[most], best.frequency = looks[most];
  if (widths[most] > 0.0) climb(looks[most], widths[most], best);
  if (!std::isfinite(best.value)) return std::nullopt;
  if (best.value == 0.0) return best;

  std::vector<Interval> open = first_intervals();
  std::size_t bounded = 0;
  while (!open.empty()) {
    if ((bounded += std::min(kBatch, open.size())) > kMostIntervals) return std::nullopt;
    const std::size_t count = std::min(kBatch, open.size());
    const std::vector<Interval> batch(open.end() - static_cast<std::ptrdiff_t>(count), open.end());
    open.resize(open.size() - count);
    const std::vector<Terms> found = terms(batch);
    for (std::size_t i = 0; i < count; ++i) {
      const Interval& at = batch[i];
      const Terms& t = found[i];
      const double level = best.value * (1.0 + tolerance);
      if (!below(t.value, level)) {  // a higher gain: climb, the level rises
        const double omega = at.reciprocal ? 1.0 / at.centre : at.centre;
        const double g = largest(t.value);
        if (g > best.value) best.value = g, best.frequency = omega;
        const double width =
            at.reciprocal ? 0.5 * omega * std::min(1.0, at.radius / at.centre) : at.radius;
        climb(omega, width, best);
        if (!std::isfinite(best.value)) return std::nullopt;
      }
      const double limit = best.value * (1.0 + tolerance) - t.rest * at.radius * at.radius;
      if (below(t.value + at.radius * t.slope, limit) &&
          below(t.value - at.radius * t.slope, limit))
        continue;
      const double half = 0.5 * at.radius;
      if (!(half > 1e-15 * at.centre)) return std::nullopt;
      open.push_back({at.centre - half, half, at.reciprocal});
      open.push_back({at.centre + half, half, at.reciprocal});
    }
  }
  if (!confirmed(best, std::max(0.1 * tolerance, 1e-11))) return std::nullopt;
  best.certificate.lower = best.value;
  best.certificate.upper = best.value * (1.0 + tolerance);
  best.certificate.intervals = static_cast<int>(bounded);
  best.certificate.evaluations = evaluations_;
  best.certificate.condition = condition_;
  best.certificate.backward_error = backward_error_;
  return best;
}

}  // namespace catena
