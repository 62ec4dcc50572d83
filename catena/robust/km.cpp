// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/km.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/robust/complex_dense.h"
#include "catena/robust/mu_scaling.h"

namespace catena {
namespace {

using complex_dense::product;
using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;

constexpr int kMostChannels = 12;     // of real margins
constexpr double kTolerance = 1e-11;  // of λ, relative to the size of M
constexpr double kShrink = 0.2;       // of the distance between λ and what the center proves
constexpr int kMostCenters = 120;
constexpr int kNewtonSteps = 30;
constexpr double kDecrement = 1e-3;
constexpr double kExactUpTo = 3;

void check(const Matrix& m, int most) {
  if (m.rows() != m.cols() || m.rows() == 0)
    throw Error(
        fmt::format("the margin of diagonal perturbations needs a square matrix; this one is "
                    "{} x {}",
                    m.rows(), m.cols()));
  if (!m.allFinite()) throw NumericalError("the matrix of a stability margin has NaN");
  if (m.rows() > most)
    throw Error(
        fmt::format("the real margin visits every choice of signs and takes up to {} channels, not "
                    "{}; use mu() "
                    "with real blocks",
                    most, m.rows()));
}

BlockStructure scalar_blocks(Eigen::Index n) {
  BlockStructure s;
  for (Eigen::Index i = 0; i < n; ++i) s.add_full("", 1, 1);
  return s;
}

Eigen::VectorXd geometric(Eigen::VectorXd d) { return d / std::exp(d.array().log().mean()); }

// min over x > 0 of the largest λ_max(X^½ M_i X^-½ + (.)ᴴ) over several matrices.
class OneSided {
 public:
  explicit OneSided(const std::vector<Matrix>& all) : all_(all), n_(all[0].rows()) {
    x_ = Eigen::VectorXd::Ones(n_);
  }

  double run() {
    double size = 0.0;
    for (const Matrix& m : all_) size = std::max(size, m.norm());
    if (size == 0.0) return 0.0;
    double level = value();
    best_ = level;
    best_x_ = x_;
    double lambda = level + 0.1 * size;
    for (int i = 0; i < kMostCenters; ++i) {
      if (!center(lambda)) break;
      level = value();
      if (level < best_) {
        best_ = level;
        best_x_ = x_;
      }
      if (lambda - level < kTolerance * size) break;
      lambda = level + kShrink * (lambda - level);
    }
    return best_;
  }

  Eigen::VectorXd scaling() const { return geometric(best_x_.cwiseSqrt()); }

 private:
  // The least λ for x.
  double value() const {
    const Eigen::VectorXd d = x_.cwiseSqrt();
    double largest = -1e300;
    for (const Matrix& m : all_) {
      const Matrix s = d.asDiagonal() * m * d.cwiseInverse().asDiagonal();
      largest = std::max(largest, lapack::hermitian_eig(s + s.adjoint()).values.maxCoeff());
    }
    return largest;
  }

  Matrix form(const Matrix& m, const Eigen::VectorXd& x, double lambda) const {
    const Matrix xm = x.asDiagonal() * m;
    Matrix f = -(xm + xm.adjoint());
    f.diagonal().array() += lambda * x.array();
    return f;
  }

  // −Σ log det F − Σ log x; nothing outside of the domain.
  std::optional<double> barrier(const Eigen::VectorXd& x, double lambda) const {
    if (!(x.minCoeff() > 0.0)) return std::nullopt;
    double sum = -x.array().log().sum();
    for (const Matrix& m : all_) {
      const std::optional<Matrix> l = lapack::cholesky(form(m, x, lambda));
      if (!l) return std::nullopt;
      sum -= 2.0 * l->diagonal().real().array().log().sum();
    }
    return sum;
  }

  bool center(double lambda) {
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double decrement = step(lambda);
      if (decrement < 0.0) return i > 0;
      if (decrement < kDecrement) break;
    }
    return true;
  }

  double step(double lambda) {
    const std::optional<double> now = barrier(x_, lambda);
    if (!now) return -1.0;
    Eigen::VectorXd g = -x_.cwiseInverse();
    Eigen::MatrixXd h = x_.cwiseAbs2().cwiseInverse().asDiagonal();
    for (const Matrix& m : all_) add(m, lambda, g, h);
    // In relative changes of x; the sum of x is held.
    const Eigen::MatrixXd scaled = x_.asDiagonal() * h * x_.asDiagonal();
    const Eigen::VectorXd gs = x_.cwiseProduct(g);
    const Cholesky factor(scaled);
    const Eigen::VectorXd hg = factor.solve(gs), hc = factor.solve(x_);
    const Eigen::VectorXd dx = -x_.cwiseProduct(hg - x_.dot(hg) / x_.dot(hc) * hc);
    const double slope = g.dot(dx);
    if (!(slope < 0.0)) return 0.0;
    for (double alpha = 1.0; alpha > 1e-9; alpha *= 0.5) {
      const std::optional<double> then = barrier(x_ + alpha * dx, lambda);
      if (!then || *then > *now + 0.1 * alpha * slope) continue;
      x_ += alpha * dx;
      return std::sqrt(-slope);
    }
    return -1.0;
  }

  // F_i = λ E_i − E_i M − Mᴴ E_i: with Y = F⁻¹ and Z = M Y, W = M Y Mᴴ.
  void add(const Matrix& m, double lambda, Eigen::VectorXd& g, Eigen::MatrixXd& h) const {
    const Matrix y = lapack::solve(form(m, x_, lambda), Matrix(Matrix::Identity(n_, n_)), "F");
    const Matrix z = product(m, y);
    const Matrix w = product(z, m.adjoint());
    for (Eigen::Index i = 0; i < n_; ++i) {
      g[i] -= lambda * y(i, i).real() - 2.0 * z(i, i).real();
      for (Eigen::Index j = 0; j < n_; ++j) {
        // tr(Y F_i Y F_j), each F a sum of e_i (λ e_iᵀ/2 − e_iᵀ M) and its adjoint.
        const Complex half = 0.5 * lambda;
        const Complex a = half * y(i, j) - z(i, j);  // row i of (λ/2 − M) Y, entry j
        const Complex b = half * y(j, i) - z(j, i);
        const Complex c = half * half * y(i, j) - half * (z(i, j) + std::conj(z(j, i))) + w(i, j);
        h(i, j) += 2.0 * (a * b + c * y(j, i)).real();
      }
    }
  }

  const std::vector<Matrix>& all_;
  Eigen::Index n_;
  Eigen::VectorXd x_, best_x_;
  double best_ = 0.0;
};

Margin one_sided(const std::vector<Matrix>& all, const Eigen::VectorXd& start) {
  // In coordinates in which the start is one.
  std::vector<Matrix> scaled;
  for (const Matrix& m : all)
    scaled.push_back(start.asDiagonal() * m * start.cwiseInverse().asDiagonal());
  OneSided search(scaled);
  Margin result;
  result.inverse = std::max(0.0, 0.5 * search.run());
  result.scaling = geometric(start.cwiseProduct(search.scaling()));
  return result;
}

Eigen::VectorXd balanced(const Matrix& m) {
  return balance_blocks(m, scalar_blocks(m.rows())).d_rows.diagonal().real().cwiseSqrt();
}

// Every Φ; a common sign matters, because the margins are one-sided in M Φ.
template <class F>
void each_sign(Eigen::Index n, F f) {
  for (int bits = 0; bits < (1 << n); ++bits) {
    Eigen::VectorXd signs(n);
    for (Eigen::Index i = 0; i < n; ++i) signs[i] = (bits >> i) & 1 ? -1.0 : 1.0;
    f(signs);
  }
}

}  // namespace

Margin km_two_sided(const Matrix& m) {
  check(m, 1 << 20);
  const ScalingSearch search = find_scaling(m, scalar_blocks(m.rows()), false, kTolerance, nullptr);
  Margin result;
  result.inverse = search.level;
  result.scaling = geometric(search.scaling.d_rows.diagonal().real().cwiseSqrt());
  result.exact = static_cast<double>(m.rows()) <= kExactUpTo;
  return result;
}

Margin km_one_sided(const Matrix& m) {
  check(m, 1 << 20);
  return one_sided({m}, balanced(m));
}

Margin km_real(const Matrix& m) {
  check(m, kMostChannels);
  Margin best;
  best.inverse = -1.0;
  const Eigen::VectorXd start = balanced(m);
  each_sign(m.rows(), [&](const Eigen::VectorXd& signs) {
    Margin found = one_sided({Matrix(m * signs.asDiagonal())}, start);
    if (found.inverse <= best.inverse) return;
    best = std::move(found);
    best.signs = signs;
  });
  return best;
}

Margin km_jones(const Matrix& m) {
  check(m, kMostChannels);
  std::vector<Matrix> all;
  each_sign(m.rows(), [&](const Eigen::VectorXd& signs) { all.push_back(m * signs.asDiagonal()); });
  return one_sided(all, balanced(m));
}

}  // namespace catena
