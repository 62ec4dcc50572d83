// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/response.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/linear/kernels/response_kernels.h"

namespace catena {

namespace {

// Up to this order the factors of s − A are computed at each frequency: a Hessenberg form mixes
// poles that are many decades apart (as of a loop near the least H-infinity norm), and the slow
// ones lose their digits.
constexpr Eigen::Index kDirectOrder = 32;

}  // namespace

PeakSearch::PeakSearch(const StateSpace& system) : dt_(system.dt) {
  dual_ = system.output_count() < system.input_count();
  Eigen::MatrixXd a = system.A;
  b_ = system.B;
  c_ = system.C;
  d_ = system.D;
  if (dual_) {
    a.transposeInPlace();
    b_ = system.C.transpose();
    c_ = system.B.transpose();
    d_.transposeInPlace();
  }
  if (a.rows() == 0) return;
  const lapack::Balanced balanced = lapack::balance(a);
  if (a.rows() <= kDirectOrder) {
    h_ = balanced.scaled;
    b_ = balanced.scale.cwiseInverse().asDiagonal() * b_;
    c_ *= balanced.scale.asDiagonal();
    poles_ = spectrum(h_);
    return;
  }
  const lapack::Hessenberg h = lapack::hessenberg(balanced.scaled);
  h_ = h.H;
  b_ = times_tn(h.Q, balanced.scale.cwiseInverse().asDiagonal() * b_);
  c_ = times(c_ * balanced.scale.asDiagonal(), h.Q);
  poles_ = spectrum(h_);
}

Eigen::MatrixXcd PeakSearch::response(double omega) const {
  ++evaluations_;
  const Eigen::Index n = h_.rows(), m = b_.cols();
  Eigen::MatrixXcd g = d_.cast<Complex>();
  if (n == 0 || std::isinf(omega)) return dual_ ? Eigen::MatrixXcd(g.transpose()) : g;
  const Complex s = dt_ == 0.0 ? Complex(0.0, omega) : std::polar(1.0, omega * dt_);
  if (n <= kDirectOrder) {
    Eigen::MatrixXcd pencil = -h_.cast<Complex>();
    pencil.diagonal().array() += s;
    const lapack::ComplexLu lu(pencil);
    if (lu.rcond() == 0.0)
      g.setConstant(std::numeric_limits<double>::infinity());
    else
      g += c_ * lu.solve(b_.cast<Complex>());
    return dual_ ? Eigen::MatrixXcd(g.transpose()) : g;
  }
  // Elimination of the subdiagonal of s − H, rows contiguous, with exchange of neighbours.
  using Rows = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows w(n, n + m);
  w.leftCols(n) = -h_.cast<Complex>();
  w.rightCols(m) = b_.cast<Complex>();
  for (Eigen::Index i = 0; i < n; ++i) w(i, i) += s;
  for (Eigen::Index k = 0; k + 1 < n; ++k) {
    if (std::abs(w(k + 1, k)) > std::abs(w(k, k)))
      w.row(k).tail(n + m - k).swap(w.row(k + 1).tail(n + m - k));
    if (w(k, k) == 0.0) continue;
    const Complex factor = w(k + 1, k) / w(k, k);
    w.row(k + 1).tail(n + m - k) -= factor * w.row(k).tail(n + m - k);
  }
  // Back substitution: rows of the triangle times columns of the solution, both contiguous.
  Eigen::MatrixXcd x(n, m);
  for (Eigen::Index k = n - 1; k >= 0; --k) {
    const Eigen::Index known = n - 1 - k;
    for (Eigen::Index j = 0; j < m; ++j) {
      Complex sum = w(k, n + j);
      if (known > 0)
        sum -= w.row(k).segment(k + 1, known).transpose().cwiseProduct(x.col(j).tail(known)).sum();
      x(k, j) = sum / w(k, k);
    }
  }
  g += c_ * x;
  return dual_ ? Eigen::MatrixXcd(g.transpose()) : g;
}

// From this order on the kernel of the frequency response is faster even for one point.
constexpr Eigen::Index kKernelOrder = 48;

double PeakSearch::gain(double omega) const {
  if (h_.rows() >= kKernelOrder && std::isfinite(omega)) return gains({omega})[0];
  return gain_of(response(omega));
}

std::vector<double> PeakSearch::gains(const std::vector<double>& omega) const {
  std::vector<double> result;
  result.reserve(omega.size());
  const Eigen::Index n = h_.rows(), m = b_.cols(), p = c_.rows();
  if (n < kKernelOrder || m == 0 || p == 0) {
    for (const double w : omega) result.push_back(gain_of(response(w)));
    return result;
  }
  const ResponseKernels& kernels = response_kernels();
  const auto lanes = static_cast<std::size_t>(kernels.lanes);
  std::vector<double> re(lanes), im(lanes), y(lanes * 2 * static_cast<std::size_t>(m * p)),
      scratch(static_cast<std::size_t>(hessenberg_scratch(static_cast<int>(n), static_cast<int>(m),
                                                          static_cast<int>(p), kernels.lanes)));
  for (std::size_t first = 0; first < omega.size(); first += lanes) {
    const std::size_t count = std::min(lanes, omega.size() - first);
    for (std::size_t k = 0; k < lanes; ++k) {
      const double w = omega[first + std::min(k, count - 1)];
      const Complex s = dt_ == 0.0 ? Complex(0.0, w) : std::polar(1.0, w * dt_);
      re[k] = s.real(), im[k] = s.imag();
    }
    std::fill(y.begin(), y.end(), 0.0);  // the kernel adds
    kernels.hessenberg({.n = static_cast<int>(n),
                        .inputs = static_cast<int>(m),
                        .outputs = static_cast<int>(p),
                        .H = h_.data(),
                        .B = b_.data(),
                        .C = c_.data(),
                        .points = kernels.lanes,
                        .s_re = re.data(),
                        .s_im = im.data(),
                        .y = y.data(),
                        .scratch = scratch.data()});
    for (std::size_t k = 0; k < count; ++k) {
      Eigen::MatrixXcd g = d_.cast<Complex>();
      const double* from = y.data() + k * 2 * static_cast<std::size_t>(m * p);
      for (Eigen::Index j = 0; j < m; ++j)
        for (Eigen::Index i = 0; i < p; ++i, from += 2) g(i, j) += Complex(from[0], from[1]);
      ++evaluations_;
      result.push_back(gain_of(g));
    }
  }
  return result;
}

double PeakSearch::gain_of(const Eigen::MatrixXcd& g) const {
  if (!g.allFinite()) return std::numeric_limits<double>::infinity();
  if (g.size() == 0) return 0.0;
  if (g.rows() == 1 || g.cols() == 1) return g.norm();
  return lapack::norm2(g);
}

double PeakSearch::climb(double omega, double width, double& value) const {
  const double last = dt_ == 0.0 ? std::numeric_limits<double>::infinity() : M_PI / dt_;
  const auto clamp = [&](double w) { return std::min(std::max(w, 0.0), last); };
  double x = omega, fx = gain(x);
  double step = width;
  double left = clamp(x - step), right = clamp(x + step);
  double fl = gain(left), fr = gain(right);
  // A bracket left < x < right with the largest value at x (or at an end of the axis).
  for (int k = 0; k < 60 && (fl > fx || fr > fx); ++k) {
    step *= 2.0;
    if (fl > fr) {
      right = x, fr = fx;
      x = left, fx = fl;
      if (x <= 0.0) break;
      left = clamp(x - step), fl = gain(left);
    } else {
      left = x, fl = fx;
      x = right, fx = fr;
      if (x >= last) break;
      right = clamp(x + step), fr = gain(right);
    }
  }
  // Parabola through the three points, golden section where it does not help.
  constexpr double kGolden = 0.3819660112501051;
  for (int k = 0; k < 60 && right - left > 1e-7 * width && right - left > 1e-14 * x; ++k) {
    const double p = (x - left) * (fx - fr), q = (x - right) * (fx - fl);
    double next = p == q ? x : x - 0.5 * ((x - left) * p - (x - right) * q) / (p - q);
    const double smallest = 1e-3 * (right - left);
    const bool stuck = k % 3 == 2;  // now and then the longer part, so that both ends move
    if (stuck || !(next > left && next < right) || std::abs(next - x) < smallest) {
      next = x - left > right - x ? x - (stuck ? kGolden : 0.01) * (x - left)
                                  : x + (stuck ? kGolden : 0.01) * (right - x);
    }
    const double f = gain(next);
    if (f > fx) {
      (next > x ? left : right) = x;
      (next > x ? fl : fr) = fx;
      if (f - fx < 1e-14 * f && k > 4) {
        x = next, fx = f;
        break;
      }
      x = next, fx = f;
    } else {
      (next > x ? right : left) = next;
      (next > x ? fr : fl) = f;
    }
    // The gain is flat to rounding across the bracket.
    if (fx - std::min(fl, fr) < 1e-13 * fx) break;
  }
  value = fx;
  return x;
}

}  // namespace catena
