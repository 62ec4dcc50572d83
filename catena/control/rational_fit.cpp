// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/rational_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/linear/analysis.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

// Samples as columns of entries.
struct SampleTable {
  VectorXd omega;
  MatrixXcd values;  // entries × samples
  Eigen::Index rows = 0, cols = 0;
};

SampleTable table_of(const std::vector<double>& omega, const std::vector<MatrixXcd>& samples) {
  if (omega.empty() || omega.size() != samples.size())
    throw NumericalError("rational fit: " + std::to_string(omega.size()) + " frequencies for " +
                         std::to_string(samples.size()) + " samples; give one for each");
  SampleTable t;
  t.rows = samples[0].rows();
  t.cols = samples[0].cols();
  t.omega.resize(std::ssize(omega));
  t.values.resize(t.rows * t.cols, std::ssize(omega));
  for (std::size_t k = 0; k < omega.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    if (samples[k].rows() != t.rows || samples[k].cols() != t.cols || !samples[k].allFinite())
      throw NumericalError("rational fit: sample " + std::to_string(k + 1) +
                           " has another size than the first, or entries that are not finite");
    if (!(omega[k] >= 0.0) || !std::isfinite(omega[k]) || (k > 0 && !(omega[k] > omega[k - 1])))
      throw NumericalError(
          "rational fit: frequencies must be finite, not negative and ascending; "
          "number " +
          std::to_string(k + 1) + " is " + number(omega[k]));
    t.omega[i] = omega[k];
    t.values.col(i) = samples[k].reshaped();
  }
  return t;
}

SampleTable thinned(const SampleTable& all, Eigen::Index most) {
  const Eigen::Index n = all.omega.size();
  if (n <= most) return all;
  SampleTable t{VectorXd(most), MatrixXcd(all.values.rows(), most), all.rows, all.cols};
  for (Eigen::Index k = 0; k < most; ++k) {
    const Eigen::Index from = k * (n - 1) / (most - 1);
    t.omega[k] = all.omega[from];
    t.values.col(k) = all.values.col(from);
  }
  return t;
}

// Support points jω_j with weights w_j, their conjugates with the conjugate weights; a point at
// zero stands alone with a real weight.
struct Barycentric {
  std::vector<Eigen::Index> support{};  // samples
  VectorXcd weight{};
};

// Real columns of a row of the Loewner matrix or of the denominator: Re w_j and Im w_j.
template <class Entry>
void put_columns(const SampleTable& t, const Barycentric& b, const Entry& entry,
                 const std::function<void(Eigen::Index, Complex)>& put) {
  Eigen::Index column = 0;
  for (const Eigen::Index j : b.support) {
    const Complex plus = entry(j, false);
    if (t.omega[j] == 0.0) {
      put(column++, plus);
      continue;
    }
    const Complex minus = entry(j, true);
    put(column++, plus + minus);
    put(column++, Complex(0.0, 1.0) * (plus - minus));
  }
}

Eigen::Index unknowns(const SampleTable& t, const Barycentric& b) {
  Eigen::Index n = 0;
  for (const Eigen::Index j : b.support) n += t.omega[j] == 0.0 ? 1 : 2;
  return n;
}

// The weights that make numerator less f times denominator least at the other samples.
void find_weights(const SampleTable& t, Barycentric& b) {
  const Eigen::Index n = t.omega.size(), entries = t.values.rows(), columns = unknowns(t, b);
  std::vector<Eigen::Index> others;
  for (Eigen::Index i = 0; i < n; ++i)
    if (std::find(b.support.begin(), b.support.end(), i) == b.support.end()) others.push_back(i);
  MatrixXd loewner(2 * entries * std::ssize(others), columns);
  Eigen::Index row = 0;
  for (const Eigen::Index i : others)
    for (Eigen::Index e = 0; e < entries; ++e, row += 2) {
      const auto entry = [&](Eigen::Index j, bool conjugate) {
        const Complex f = conjugate ? std::conj(t.values(e, j)) : t.values(e, j);
        const double w = conjugate ? -t.omega[j] : t.omega[j];
        return (t.values(e, i) - f) / Complex(0.0, t.omega[i] - w);
      };
      put_columns(t, b, entry, [&](Eigen::Index c, Complex x) {
        loewner(row, c) = x.real();
        loewner(row + 1, c) = x.imag();
      });
    }
  const lapack::Svd svd = lapack::svd(lapack::qr(loewner).R, lapack::Columns::full);
  const VectorXd w = svd.V.col(columns - 1);
  b.weight.resize(std::ssize(b.support));
  Eigen::Index c = 0;
  for (std::size_t k = 0; k < b.support.size(); ++k) {
    const bool real = t.omega[b.support[k]] == 0.0;
    b.weight[static_cast<Eigen::Index>(k)] = {w[c], real ? 0.0 : w[c + 1]};
    c += real ? 1 : 2;
  }
}

VectorXcd interpolated(const SampleTable& t, const Barycentric& b, double omega) {
  VectorXcd numerator = VectorXcd::Zero(t.values.rows());
  Complex denominator = 0.0;
  for (std::size_t k = 0; k < b.support.size(); ++k) {
    const Eigen::Index j = b.support[k];
    const Complex w = b.weight[static_cast<Eigen::Index>(k)];
    const Complex plus = w / Complex(0.0, omega - t.omega[j]);
    numerator += plus * t.values.col(j);
    denominator += plus;
    if (t.omega[j] == 0.0) continue;
    const Complex minus = std::conj(w) / Complex(0.0, omega + t.omega[j]);
    numerator += minus * t.values.col(j).conjugate();
    denominator += minus;
  }
  return numerator / denominator;
}

// Zeros of the denominator: w/(s − jω) + w̄/(s + jω) has the realization [0 1; −ω² 0], [0; 1],
// [−2ω Im w, 2 Re w].
VectorXcd poles_of(const SampleTable& t, const Barycentric& b) {
  const Eigen::Index n = unknowns(t, b);
  MatrixXd a = MatrixXd::Zero(n, n), in = MatrixXd::Zero(n, 1), out = MatrixXd::Zero(1, n);
  Eigen::Index at = 0;
  for (std::size_t k = 0; k < b.support.size(); ++k) {
    const double w = t.omega[b.support[k]];
    const Complex weight = b.weight[static_cast<Eigen::Index>(k)];
    if (w == 0.0) {
      in(at, 0) = 1.0;
      out(0, at++) = weight.real();
      continue;
    }
    // Scaled so that the block is [0 ω; −ω 0].
    a(at, at + 1) = w, a(at + 1, at) = -w;
    in(at + 1, 0) = 1.0;
    out(0, at) = -2.0 * weight.imag();
    out(0, at + 1) = 2.0 * weight.real();
    at += 2;
  }
  return zeros(ss(a, in, out));
}

Barycentric aaa(const SampleTable& t, const RationalFitSettings& settings) {
  Barycentric b;
  const double scale = t.values.cwiseAbs().maxCoeff();
  const VectorXcd mean = t.values.rowwise().sum() / static_cast<double>(t.omega.size());
  MatrixXcd model = mean.real().cast<Complex>().replicate(1, t.omega.size());
  while (unknowns(t, b) + 2 <= std::min<Eigen::Index>(settings.most_poles + 1, t.omega.size())) {
    Eigen::Index worst = 0;
    const double error = (t.values - model).colwise().norm().maxCoeff(&worst);
    if (error <= settings.tolerance * scale && !b.support.empty()) break;
    if (std::find(b.support.begin(), b.support.end(), worst) != b.support.end()) break;
    b.support.push_back(worst);
    find_weights(t, b);
    for (Eigen::Index i = 0; i < t.omega.size(); ++i)
      model.col(i) = std::find(b.support.begin(), b.support.end(), i) != b.support.end()
                         ? t.values.col(i)
                         : interpolated(t, b, t.omega[i]);
  }
  return b;
}

// Poles in the left half plane, one of each pair.
std::vector<Complex> stable_poles(const VectorXcd& found, int& mirrored) {
  std::vector<Complex> poles;
  const double size = found.size() > 0 ? found.cwiseAbs().maxCoeff() : 0.0;
  for (Complex p : found) {
    if (!std::isfinite(std::abs(p)) || p.imag() < -1e-12 * size) continue;
    if (std::abs(p.imag()) <= 1e-12 * std::max(size, std::abs(p))) p = p.real();
    if (p.real() > 0.0) p = {-p.real(), p.imag()}, mirrored += p.imag() == 0.0 ? 1 : 2;
    if (p.real() == 0.0) p = {-1e-12 * std::max(std::abs(p), 1e-300), p.imag()};
    poles.push_back(p);
  }
  return poles;
}

// Real basis functions of the poles and the constant at jω.
VectorXcd basis_at(const std::vector<Complex>& poles, double omega, bool constant) {
  std::vector<Complex> values;
  const Complex s(0.0, omega);
  for (const Complex& p : poles) {
    const Complex f = 1.0 / (s - p);
    if (p.imag() == 0.0) {
      values.push_back(f);
      continue;
    }
    const Complex g = 1.0 / (s - std::conj(p));
    values.push_back(f + g);
    values.push_back(Complex(0.0, 1.0) * (f - g));
  }
  if (constant) values.emplace_back(1.0);
  return Eigen::Map<const VectorXcd>(values.data(), std::ssize(values));
}

// Least squares for residues and feedthrough: basis × entries.
MatrixXd residues_of(const SampleTable& t, const std::vector<Complex>& poles, bool constant) {
  const Eigen::Index n = t.omega.size(), k = basis_at(poles, 1.0, constant).size();
  MatrixXd left(2 * n, k), right(2 * n, t.values.rows());
  for (Eigen::Index i = 0; i < n; ++i) {
    const VectorXcd f = basis_at(poles, t.omega[i], constant);
    left.row(2 * i) = f.real().transpose();
    left.row(2 * i + 1) = f.imag().transpose();
    right.row(2 * i) = t.values.col(i).real().transpose();
    right.row(2 * i + 1) = t.values.col(i).imag().transpose();
  }
  const VectorXd scale = left.colwise().norm().transpose().cwiseMax(1e-300);
  const MatrixXd x = lapack::least_squares(left * scale.cwiseInverse().asDiagonal(), right, 1e-13);
  return scale.cwiseInverse().asDiagonal() * x;
}

// Gilbert's realization: one block for each pole, as large as the rank of its residue.
StateSpace realized(const SampleTable& t, const std::vector<Complex>& poles, const MatrixXd& x,
                    bool constant) {
  constexpr double kRank = 1e-9;
  StateSpace g = ss(constant ? MatrixXd(x.row(x.rows() - 1).transpose().reshaped(t.rows, t.cols))
                             : MatrixXd::Zero(t.rows, t.cols));
  MatrixXd a(0, 0), b(0, t.cols), c(t.rows, 0);
  Eigen::Index row = 0;
  for (const Complex& p : poles) {
    const bool pair = p.imag() != 0.0;
    MatrixXcd residue = x.row(row).transpose().reshaped(t.rows, t.cols).cast<Complex>();
    if (pair)
      residue += Complex(0.0, 1.0) * MatrixXd(x.row(row + 1).transpose().reshaped(t.rows, t.cols));
    row += pair ? 2 : 1;
    const lapack::ComplexSvd svd = lapack::svd(residue);
    Eigen::Index rank = 0;
    while (rank < svd.values.size() && svd.values[rank] > kRank * svd.values[0]) ++rank;
    const MatrixXd one = MatrixXd::Identity(rank, rank);
    const MatrixXcd in = svd.V.leftCols(rank).adjoint();
    const MatrixXcd out = svd.U.leftCols(rank) * svd.values.head(rank).asDiagonal();
    if (!pair) {
      a = block_diagonal(a, p.real() * one);
      b = vstack(b, in.real());
      c = hstack(c, out.real());
      continue;
    }
    MatrixXd block(2 * rank, 2 * rank);
    block << p.real() * one, -p.imag() * one, p.imag() * one, p.real() * one;
    a = block_diagonal(a, block);
    b = vstack(b, vstack(in.real(), in.imag()));
    c = hstack(c, hstack(2.0 * out.real(), -2.0 * out.imag()));
  }
  return a.rows() > 0 ? ss(a, b, c, g.D) : g;
}

}  // namespace

RationalFit rational_fit(const std::vector<double>& omega, const std::vector<MatrixXcd>& samples,
                         const RationalFitSettings& settings) {
  const lapack::OneThread one;
  const SampleTable all = table_of(omega, samples);
  const SampleTable t = thinned(all, std::max(8, settings.most_samples));
  RationalFit fit;
  const std::vector<Complex> poles = stable_poles(poles_of(t, aaa(t, settings)), fit.mirrored);
  const bool constant = !settings.strictly_proper;
  const MatrixXd x = residues_of(t, poles, constant);
  fit.system = realized(t, poles, x, constant);
  fit.poles = fit.system.order() > 0 ? spectrum(fit.system.A) : VectorXcd();
  const double scale = all.values.colwise().norm().maxCoeff();
  for (Eigen::Index i = 0; i < all.omega.size(); ++i) {
    const VectorXcd model = x.transpose().cast<Complex>() * basis_at(poles, all.omega[i], constant);
    const double error = (model - all.values.col(i)).norm() / std::max(scale, 1e-300);
    if (error >= fit.error) fit.error = error, fit.frequency = all.omega[i];
  }
  return fit;
}

RationalFit rational_fit(const FrequencyData& data, const RationalFitSettings& settings) {
  std::vector<double> omega;
  std::vector<MatrixXcd> samples;
  for (int k = 0; k < data.size(); ++k) {
    MatrixXcd g(data.output_count, data.input_count);
    for (int i = 0; i < data.output_count; ++i)
      for (int j = 0; j < data.input_count; ++j) g(i, j) = data.value(i, j, k);
    omega.push_back(data.omega[k]);
    samples.push_back(std::move(g));
  }
  return rational_fit(omega, samples, settings);
}

}  // namespace catena
