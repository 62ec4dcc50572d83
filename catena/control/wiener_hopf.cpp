// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/wiener_hopf.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"

namespace catena {
namespace {

// In place, radix two; sign −1: Σ x_k e^{−2πi kl/N}.
void fourier(std::vector<Complex>& x, double sign) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= n; length <<= 1) {
    const double step = sign * 2.0 * M_PI / static_cast<double>(length);
    for (std::size_t k = 0; k < length / 2; ++k) {
      const Complex w = std::polar(1.0, step * static_cast<double>(k));
      for (std::size_t i = k; i < n; i += length) {
        const Complex u = x[i], v = x[i + length / 2] * w;
        x[i] = u + v;
        x[i + length / 2] = u - v;
      }
    }
  }
}

// Lags h_l, l = 0 … N−1 (N − l stands for −l), of the function whose upper half is given:
// H(θ_k) = Σ h_l e^{−jθ_k l}, θ_k = 2π (k + ½)/N.
std::vector<Complex> lags(const Samples& samples, Eigen::Index i, Eigen::Index j) {
  const std::size_t half = samples.size(), n = 2 * half;
  std::vector<Complex> x(n);
  for (std::size_t k = 0; k < half; ++k) {
    x[k] = samples[k](i, j);
    x[n - 1 - k] = std::conj(samples[k](i, j));
  }
  fourier(x, +1.0);
  for (std::size_t l = 0; l < n; ++l) {
    const double signed_lag =
        l < half ? static_cast<double>(l) : static_cast<double>(l) - static_cast<double>(n);
    x[l] *= std::polar(1.0, M_PI * signed_lag / static_cast<double>(n)) / static_cast<double>(n);
  }
  return x;
}

// Back to the upper half from causal lags.
void from_lags(std::vector<Complex> x, Samples& out, Eigen::Index i, Eigen::Index j) {
  const std::size_t n = x.size(), half = n / 2;
  for (std::size_t l = 0; l < n; ++l) {
    const double signed_lag =
        l < half ? static_cast<double>(l) : static_cast<double>(l) - static_cast<double>(n);
    x[l] *= std::polar(1.0, -M_PI * signed_lag / static_cast<double>(n));
  }
  fourier(x, -1.0);
  for (std::size_t k = 0; k < half; ++k) out[k](i, j) = x[k];
}

Eigen::MatrixXcd inverse_of(const Eigen::MatrixXcd& a) {
  return lapack::ComplexLu(a).solve(Eigen::MatrixXcd::Identity(a.rows(), a.cols()));
}

void require_positive(const Samples& h) {
  for (std::size_t k = 0; k < h.size(); ++k) {
    const Eigen::VectorXd v = lapack::hermitian_eig(h[k]).values;
    if (!(v[0] > 0.0))
      throw NumericalError("spectral factor: the matrix is not positive definite at node " +
                           std::to_string(k) + " of " + std::to_string(h.size()) +
                           " (least eigenvalue " + short_number(v[0]) +
                           "); raise the control weight "
                           "or the noise");
  }
}

Samples scalar_factor(const Samples& h) {
  Samples log_h = h;
  for (Eigen::MatrixXcd& m : log_h) m(0, 0) = std::log(m(0, 0).real());
  Samples f = causal_part(log_h, ConstantPart::half);
  for (Eigen::MatrixXcd& m : f) m(0, 0) = std::exp(m(0, 0));
  return f;
}

}  // namespace

double SampleGrid::frequency(int k) const {
  return scale * std::tan(M_PI * (k + 0.5) / static_cast<double>(nodes));
}

Samples sampled(const ResponseFunction& response, const SampleGrid& grid) {
  if (grid.nodes < 8 || (grid.nodes & (grid.nodes - 1)) != 0 || !(grid.scale > 0.0))
    throw NumericalError(
        "frequency samples: the number of nodes must be a power of two (8 or more) and "
        "the scale positive");
  Samples s;
  for (int k = 0; k < grid.nodes / 2; ++k) {
    s.push_back(response(grid.frequency(k)));
    if (!s.back().allFinite())
      throw NumericalError("frequency samples: the response at " +
                           short_number(grid.frequency(k), 6) + " rad/s is not a finite number");
  }
  return s;
}

Samples causal_part(const Samples& samples, ConstantPart constant) {
  Samples out = samples;
  const std::size_t half = samples.size();
  for (Eigen::Index i = 0; i < samples[0].rows(); ++i)
    for (Eigen::Index j = 0; j < samples[0].cols(); ++j) {
      std::vector<Complex> x = lags(samples, i, j);
      for (std::size_t l = half + 1; l < 2 * half; ++l) x[l] = 0.0;
      x[half] *= 0.5;  // lag N/2 and −N/2 are the same sample
      if (constant == ConstantPart::half) x[0] *= 0.5;
      if (constant == ConstantPart::strictly_proper) {
        // Zero at z = −1.
        Complex sum = 0.0;
        for (std::size_t l = 1; l <= half; ++l) sum += l % 2 == 0 ? x[l] : -x[l];
        x[0] = -sum;
      }
      from_lags(std::move(x), out, i, j);
    }
  return out;
}

SpectralFactor spectral_factor(const Samples& h) {
  require_positive(h);
  const Eigen::Index n = h[0].rows();
  SpectralFactor r;
  r.factor = h;
  if (n == 1) {
    r.factor = scalar_factor(h);
    double worst = 0.0;
    for (std::size_t k = 0; k < h.size(); ++k)
      worst = std::max(worst, std::abs(std::norm(r.factor[k](0, 0)) / h[k](0, 0).real() - 1.0));
    r.residuals = {worst};
    return r;
  }
  for (Eigen::MatrixXcd& m : r.factor) m.setZero();
  for (Eigen::Index i = 0; i < n; ++i) {
    Samples entry;
    for (const Eigen::MatrixXcd& m : h) entry.push_back(m.block(i, i, 1, 1));
    const Samples f = scalar_factor(entry);
    for (std::size_t k = 0; k < h.size(); ++k) r.factor[k](i, i) = f[k](0, 0);
  }
  // F := (1 + {F⁻~ H F⁻¹ − 1}₊) F, half of the constant.
  const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(n, n);
  for (int step = 0; step < 40; ++step) {
    Samples defect = h;
    double worst = 0.0;
    for (std::size_t k = 0; k < h.size(); ++k) {
      const Eigen::MatrixXcd inverse = inverse_of(r.factor[k]);
      defect[k] = inverse.adjoint() * h[k] * inverse - one;
      worst = std::max(worst, defect[k].norm());
    }
    if (!r.residuals.empty() && worst > 0.5 * r.residuals.back() && worst < 1e-8) break;
    r.residuals.push_back(worst);
    if (worst < 1e-14) break;
    const Samples change = causal_part(defect, ConstantPart::half);
    for (std::size_t k = 0; k < h.size(); ++k)
      r.factor[k] = ((one + change[k]) * r.factor[k]).eval();
  }
  if (r.residuals.back() > 1e-6)
    throw NumericalError("spectral factor: the iteration stopped at a residual of " +
                         short_number(r.residuals.back()) + "; use more nodes");
  return r;
}

Eigen::VectorXd taps(const Samples& samples, Eigen::Index row, Eigen::Index column, int count) {
  const std::vector<Complex> x = lags(samples, row, column);
  if (count < 1 || count > static_cast<int>(samples.size()))
    throw NumericalError("taps: between 1 and " + std::to_string(samples.size()) + " can be had");
  Eigen::VectorXd c(count);
  for (int l = 0; l < count; ++l) c[l] = x[index(l)].real();
  return c;
}

StateSpace realization(const Samples& samples, const SampleGrid& grid, int count) {
  const Eigen::Index p = samples[0].rows(), m = samples[0].cols(), chain = count - 1;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(chain * m, chain * m),
                  b = Eigen::MatrixXd::Zero(chain * m, m), c(p, chain * m), d(p, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    for (Eigen::Index l = 0; l + 1 < chain; ++l) a(j * chain + l + 1, j * chain + l) = 1.0;
    if (chain > 0) b(j * chain, j) = 1.0;
    for (Eigen::Index i = 0; i < p; ++i) {
      const Eigen::VectorXd t = taps(samples, i, j, count);
      d(i, j) = t[0];
      c.block(i, j * chain, 1, chain) = t.tail(chain).transpose();
    }
  }
  StateSpace k = bilinear_to_continuous(ss(a, b, c, d, 1.0));
  // z = (1 + s)/(1 − s) there, (a + s)/(a − s) here: time runs faster by the scale.
  k.A *= grid.scale;
  k.B *= grid.scale;
  return k;
}

}  // namespace catena
