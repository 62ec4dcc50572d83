// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/parameter_search.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "catena/base/index.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/robust/uncertain_system.h"

namespace catena {
namespace {

constexpr int kModes = 12;          // that are followed
constexpr int kCorners = 12;        // changes of the corner
constexpr double kLargest = 1e3;    // size of the box at which a mode is given up
constexpr double kBoxGrowth = 1.3;  // of the box while no eigenvalue has crossed
constexpr int kCrossingBisections = 60;

class ParameterSearch {
 public:
  ParameterSearch(const StateSpace& m, const BlockStructure& s) : m_(m), s_(s) {}

  Destabilizing sampled(double size) const {
    constexpr int kMostCorners = 8, kInside = 150;  // corners of the first ones
    const auto count = std::count_if(s_.blocks().begin(), s_.blocks().end(),
                                     [](const Block& b) { return b.kind == BlockKind::real; });
    const int corners = 1 << std::min<int>(static_cast<int>(count), kMostCorners);
    Destabilizing best;
    for (int n = 0; n < corners + kInside; ++n) {
      const Eigen::VectorXd x = point(n, corners);
      const double reach = best.size > 0.0 ? best.size : size;
      if (abscissa(reach * x) < 0.0) continue;
      const double least = crossing(x, reach);
      if (least > 0.0) record(least, x, mode(least * x, {}, true).value, best);
    }
    return best;
  }

  Destabilizing run() {
    Destabilizing best;
    const Eigen::VectorXcd poles = lapack::eigenvalues(m_.A);
    std::vector<int> order(to_size(static_cast<int>(poles.size())));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return -poles[a].real() / std::abs(poles[a]) < -poles[b].real() / std::abs(poles[b]);
    });
    int left = kModes;
    for (const int i : order) {
      if (poles[i].imag() < 0.0) continue;
      if (left-- == 0) break;
      follow(poles[i], best);
    }
    return best;
  }

 private:
  struct Mode {
    std::complex<double> value{};
    Eigen::VectorXd slope{};  // of Re λ by each block
  };

  Eigen::MatrixXd delta(const Eigen::VectorXd& x) const {
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(s_.rows(), s_.columns());
    for (int k = 0; k < s_.size(); ++k)
      if (s_[k].kind == BlockKind::real)
        d.block(s_.row_offset(k), s_.column_offset(k), s_[k].rows, s_[k].columns)
            .diagonal()
            .setConstant(x[k]);
    return d;
  }

  // (1 − D Δ)⁻¹ C and the closed A; false if the loop is not well posed.
  bool close(const Eigen::VectorXd& x, Eigen::MatrixXd& a, Eigen::MatrixXd& c) const {
    const Eigen::MatrixXd d = delta(x);
    const Eigen::MatrixXd loop = Eigen::MatrixXd::Identity(m_.D.rows(), m_.D.rows()) - m_.D * d;
    try {
      c = lapack::solve(loop, m_.C, "1 - D Delta");
    } catch (const std::exception&) {
      return false;
    }
    a = m_.A + m_.B * (d * c);
    return true;
  }

  // The largest real part, and whether it can be formed.
  double abscissa(const Eigen::VectorXd& x) const {
    Eigen::MatrixXd a, c;
    if (!close(x, a, c)) return 1e300;
    return lapack::eigenvalues(a).real().maxCoeff();
  }

  // The eigenvalue nearest to `target` (or the rightmost), with its slopes.
  Mode mode(const Eigen::VectorXd& x, std::complex<double> target, bool rightmost) const {
    Mode result;
    Eigen::MatrixXd a, c;
    result.slope = Eigen::VectorXd::Zero(s_.size());
    if (!close(x, a, c)) return result;
    const lapack::EigenSystem e = lapack::eig(a, lapack::Vectors::both);
    Eigen::Index i = 0;
    if (rightmost)
      e.values.real().maxCoeff(&i);
    else
      (e.values.array() - target).abs().minCoeff(&i);
    result.value = e.values[i];
    const Eigen::VectorXcd v = e.right.col(i), w = e.left.col(i);
    const std::complex<double> wv = w.dot(v);
    if (std::abs(wv) < 1e-14) return result;
    // dA = B (1 − Δ D)⁻¹ dΔ (1 − D Δ)⁻¹ C.
    const Eigen::MatrixXd d = delta(x);
    const Eigen::MatrixXd left = lapack::solve(
        Eigen::MatrixXd(Eigen::MatrixXd::Identity(d.rows(), d.rows()) - d * m_.D).transpose(),
        Eigen::MatrixXd(m_.B.transpose()), "1 - Delta D");
    const Eigen::VectorXcd wb = left * w, cv = c * v;
    for (int k = 0; k < s_.size(); ++k) {
      if (s_[k].kind != BlockKind::real) continue;
      std::complex<double> sum{};
      for (int i2 = 0; i2 < s_[k].rows; ++i2)
        sum += std::conj(wb[s_.row_offset(k) + i2]) * cv[s_.column_offset(k) + i2];
      result.slope[k] = (sum / wv).real();
    }
    return result;
  }

  static Eigen::VectorXd corner(const Eigen::VectorXd& slope) {
    return slope.unaryExpr([](double g) { return g > 0.0 ? 1.0 : g < 0.0 ? -1.0 : 0.0; });
  }

  // The least size along a direction at which the loop is not stable, up to `largest`; 0: none.
  double crossing(const Eigen::VectorXd& direction, double largest) const {
    double low = 0.0, high = std::min(0.05, largest);
    while (abscissa(high * direction) < 0.0) {
      low = high;
      if (high >= largest) return 0.0;
      high = std::min(largest, kBoxGrowth * high);
    }
    for (int i = 0; i < kCrossingBisections && high - low > 1e-14 * high; ++i) {
      const double middle = 0.5 * (low + high);
      (abscissa(middle * direction) < 0.0 ? low : high) = middle;
    }
    return high;
  }

  void record(double size, const Eigen::VectorXd& direction, std::complex<double> value,
              Destabilizing& best) const {
    best.size = size;
    best.frequency = std::abs(value.imag());
    best.values.assign(to_size(s_.size()), BlockValue{});
    for (int k = 0; k < s_.size(); ++k) {
      best.values[to_size(k)].scalar = size * direction[k];
      if (s_[k].kind == BlockKind::full)
        best.values[to_size(k)].matrix = Eigen::MatrixXcd::Zero(s_[k].rows, s_[k].columns);
    }
  }

  // A point of the box, by the counter `n`: first the corners, then points inside.
  Eigen::VectorXd point(int n, int corners) const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(s_.size());
    if (n >= corners) {
      const std::vector<BlockValue> random = sample(s_, static_cast<std::uint64_t>(n));
      for (int k = 0; k < s_.size(); ++k)
        if (s_[k].kind == BlockKind::real) x[k] = random[to_size(k)].scalar.real();
      return x;
    }
    int bit = 0;
    for (int k = 0; k < s_.size(); ++k)
      if (s_[k].kind == BlockKind::real) x[k] = ((n >> bit++) & 1) != 0 ? 1.0 : -1.0;
    return x;
  }

  void follow(std::complex<double> pole, Destabilizing& best) const {
    Mode at = mode(Eigen::VectorXd::Zero(s_.size()), pole, false);
    Eigen::VectorXd direction = corner(at.slope);
    for (int i = 0; i < kCorners && direction.cwiseAbs().maxCoeff() > 0.0; ++i) {
      const double size = crossing(direction, best.size > 0.0 ? best.size : kLargest);
      if (size == 0.0) return;
      const Mode there = mode(size * direction, {}, true);
      if (best.size == 0.0 || size < best.size) record(size, direction, there.value, best);
      const Eigen::VectorXd next = corner(there.slope);
      if (next == direction) return;
      direction = next;
    }
  }

  const StateSpace& m_;
  const BlockStructure& s_;
};

}  // namespace

Destabilizing destabilizing_parameters(const StateSpace& m, const BlockStructure& structure) {
  return ParameterSearch(m, structure).run();
}

Destabilizing destabilizing_samples(const StateSpace& m, const BlockStructure& structure,
                                    double size) {
  return ParameterSearch(m, structure).sampled(size);
}

}  // namespace catena
