// SPDX-License-Identifier: BSD-3-Clause
// Evaluation of frequency responses; grids and plots are in frequency_plots.cpp.
#include "catena/linear/freqresp.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/kernels/response_kernels.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

double one_norm(const MatrixXd& a) {
  return a.size() == 0 ? 0.0 : a.cwiseAbs().colwise().sum().maxCoeff();
}

// A T − T Λ for the real form of the eigenvectors.
MatrixXd eigen_residual(const MatrixXd& a, const lapack::RealEigenSystem& e) {
  MatrixXd residual = lapack::multiply(a, e.T);
  for (Eigen::Index k = 0; k < e.values.size(); ++k) {
    const double re = e.values[k].real(), im = e.values[k].imag();
    residual.col(k) -= re * e.T.col(k);
    if (im == 0.0) continue;
    residual.col(k) += im * e.T.col(k + 1);
    residual.col(k + 1) -= im * e.T.col(k) + re * e.T.col(k + 1);
    ++k;
  }
  return residual;
}

}  // namespace

const char* to_string(ResponseRoute route) {
  switch (route) {
    case ResponseRoute::modal:
      return "modal";
    case ResponseRoute::hessenberg:
      return "hessenberg";
    default:
      return "automatic";
  }
}

struct FrequencyEvaluator::Prepared {
  StateSpace system;
  ResponseCertificate certificate;
  mutable std::optional<VectorXcd> poles;
  // Modal: eigenvalues, and residues by entry (rows: states, columns: entries of G).
  VectorXd lambda_re, lambda_im;
  MatrixXd residues;
  // Hessenberg: of the transposed system if that has fewer inputs.
  bool transposed = false;
  MatrixXd H, T, B, C;

  bool prepare_modal(const ResponseSettings& settings);
  void prepare_hessenberg();
  void modal_values(const VectorXcd& s, MatrixXcd& y) const;
  void hessenberg_values(const VectorXcd& s, MatrixXcd& y) const;
};

bool FrequencyEvaluator::Prepared::prepare_modal(const ResponseSettings& settings) {
  const StateSpace plain = explicit_form(system);
  const Eigen::Index n = plain.order(), m = plain.input_count(), p = plain.output_count();
  const lapack::Balanced balanced = lapack::balance(plain.A);
  const lapack::RealEigenSystem eigen = lapack::real_eig(balanced.scaled);
  if (!system.is_descriptor()) poles = eigen.values;
  const lapack::Lu lu(eigen.T);
  certificate.condition =
      lu.rcond() > 0.0 ? 1.0 / lu.rcond() : std::numeric_limits<double>::infinity();
  if (!(certificate.condition < settings.condition_limit)) return false;
  system = plain;
  certificate.route = ResponseRoute::modal;
  const double inverse_norm = certificate.condition / std::max(one_norm(eigen.T), 1e-300);
  const double size = std::max(one_norm(balanced.scaled), std::numeric_limits<double>::min());
  certificate.backward_error =
      one_norm(eigen_residual(balanced.scaled, eigen)) * inverse_norm / size +
      std::numeric_limits<double>::epsilon() * certificate.condition;
  const MatrixXd b = lu.solve(balanced.scale.cwiseInverse().asDiagonal() * plain.B);
  const MatrixXd c = lapack::multiply(plain.C * balanced.scale.asDiagonal(), eigen.T);
  lambda_re = eigen.values.real();
  lambda_im = eigen.values.imag();
  residues.resize(n, p * m);
  for (Eigen::Index k = 0; k < n; ++k) {
    const bool pair = lambda_im[k] != 0.0;
    for (Eigen::Index j = 0; j < m; ++j)
      for (Eigen::Index i = 0; i < p; ++i) {
        if (!pair) {
          residues(k, i + j * p) = c(i, k) * b(k, j);
          continue;
        }
        // (c_re + i c_im)(b_1 − i b_2)/2 for the eigenvalue with positive imaginary part.
        residues(k, i + j * p) = 0.5 * (c(i, k) * b(k, j) + c(i, k + 1) * b(k + 1, j));
        residues(k + 1, i + j * p) = 0.5 * (c(i, k + 1) * b(k, j) - c(i, k) * b(k + 1, j));
      }
    if (pair) ++k;
  }
  return true;
}

void FrequencyEvaluator::Prepared::prepare_hessenberg() {
  certificate.route = ResponseRoute::hessenberg;
  certificate.condition = 1.0;
  // Orthogonal transformations: backward stable.
  certificate.backward_error =
      static_cast<double>(system.order()) * std::numeric_limits<double>::epsilon();
  transposed = system.output_count() < system.input_count();
  const StateSpace g = transposed ? transpose(system) : system;
  if (g.is_descriptor()) {
    const lapack::HessenbergTriangular reduced = lapack::hessenberg_triangular(g.A, g.E);
    H = reduced.H;
    T = reduced.T;
    B = lapack::multiply(reduced.Q, g.B, true);
    C = lapack::multiply(g.C, reduced.Z);
    return;
  }
  const lapack::Balanced balanced = lapack::balance(g.A);
  const lapack::Hessenberg reduced = lapack::hessenberg(balanced.scaled);
  H = reduced.H;
  B = lapack::multiply(reduced.Q, balanced.scale.cwiseInverse().asDiagonal() * g.B, true);
  C = lapack::multiply(g.C * balanced.scale.asDiagonal(), reduced.Q);
}

void FrequencyEvaluator::Prepared::modal_values(const VectorXcd& s, MatrixXcd& y) const {
  // Points at a time: their basis functions stay in the second-level cache.
  constexpr Eigen::Index kChunk = 64;
  const Eigen::Index n = lambda_re.size();
  // Closer to a pole than its own rounding errors the response has no digit.
  constexpr double kOnPole = 4.0 * std::numeric_limits<double>::epsilon();
  const VectorXcd lambda = lambda_re + Complex(0.0, 1.0) * lambda_im;
  const Eigen::ArrayXd least = (kOnPole * lambda.cwiseAbs()).array().square();
  for (Eigen::Index k = 0; k < s.size(); ++k)
    if (((lambda.array() - s[k]).abs2() <= least).any()) y.col(k).setConstant(NAN);
  VectorXd s_re(kChunk), s_im(kChunk);
  MatrixXd basis(2 * kChunk, n);
  for (Eigen::Index first = 0; first < s.size(); first += kChunk) {
    const Eigen::Index count = std::min(kChunk, s.size() - first);
    for (Eigen::Index i = 0; i < kChunk; ++i) {
      const Complex point = s[first + std::min(i, count - 1)];
      s_re[i] = point.real();
      s_im[i] = point.imag();
    }
    ModalArguments arguments;
    arguments.n = static_cast<int>(n);
    arguments.re = lambda_re.data();
    arguments.im = lambda_im.data();
    arguments.points = kChunk;
    arguments.s_re = s_re.data();
    arguments.s_im = s_im.data();
    arguments.basis = basis.data();
    response_kernels().modal_basis(arguments);
    const MatrixXd sums = lapack::multiply(basis, residues);
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index e = 0; e < y.rows(); ++e)
        y(e, first + i) += Complex(sums(i, e), sums(kChunk + i, e));
  }
}

void FrequencyEvaluator::Prepared::hessenberg_values(const VectorXcd& s, MatrixXcd& y) const {
  const ResponseKernels& kernels = response_kernels();
  const VectorXd s_re = s.real(), s_im = s.imag();
  HessenbergArguments arguments;
  arguments.n = static_cast<int>(H.rows());
  arguments.inputs = static_cast<int>(B.cols());
  arguments.outputs = static_cast<int>(C.rows());
  arguments.H = H.data();
  arguments.T = T.size() > 0 ? T.data() : nullptr;
  arguments.B = B.data();
  arguments.C = C.data();
  arguments.points = static_cast<int>(s.size());
  arguments.s_re = s_re.data();
  arguments.s_im = s_im.data();
  MatrixXcd sums = MatrixXcd::Zero(B.cols() * C.rows(), s.size());
  arguments.y = reinterpret_cast<double*>(sums.data());
  VectorXd scratch(
      hessenberg_scratch(arguments.n, arguments.inputs, arguments.outputs, kernels.lanes));
  arguments.scratch = scratch.data();
  kernels.hessenberg(arguments);
  if (!transposed) {
    y += sums;
    return;
  }
  const Eigen::Index p = system.output_count(), m = system.input_count();
  for (Eigen::Index j = 0; j < m; ++j)
    for (Eigen::Index i = 0; i < p; ++i) y.row(i + j * p) += sums.row(j + i * m);
}

FrequencyEvaluator::FrequencyEvaluator(const StateSpace& system, const ResponseSettings& settings)
    : prepared_(std::make_unique<Prepared>()) {
  system.validate();
  prepared_->system = system;
  prepared_->system.fill_names();
  if (system.order() == 0) return;
  const bool wants_modal = settings.route == ResponseRoute::modal ||
                           (settings.route == ResponseRoute::automatic && !system.is_descriptor());
  if (wants_modal && prepared_->prepare_modal(settings)) return;
  if (settings.route == ResponseRoute::modal)
    throw NumericalError("frequency response: the eigenvectors have the condition " +
                         short_number(prepared_->certificate.condition) + ", above the limit " +
                         short_number(settings.condition_limit) +
                         " of the modal route; use the route hessenberg");
  prepared_->prepare_hessenberg();
}

FrequencyEvaluator::~FrequencyEvaluator() = default;
FrequencyEvaluator::FrequencyEvaluator(FrequencyEvaluator&&) noexcept = default;
FrequencyEvaluator& FrequencyEvaluator::operator=(FrequencyEvaluator&&) noexcept = default;

const ResponseCertificate& FrequencyEvaluator::certificate() const {
  return prepared_->certificate;
}

const StateSpace& FrequencyEvaluator::system() const { return prepared_->system; }

const VectorXcd& FrequencyEvaluator::poles() const {
  if (!prepared_->poles) prepared_->poles = catena::poles(prepared_->system);
  return *prepared_->poles;
}

MatrixXcd FrequencyEvaluator::values(const VectorXcd& s) const {
  const StateSpace& g = prepared_->system;
  const Eigen::Map<const VectorXd> d(g.D.data(), g.D.size());
  MatrixXcd y = d.cast<Complex>().replicate(1, s.size());
  if (s.size() == 0 || y.rows() == 0) return y;
  if (prepared_->residues.size() > 0)
    prepared_->modal_values(s, y);
  else if (prepared_->H.size() > 0)
    prepared_->hessenberg_values(s, y);
  for (Eigen::Index k = 0; k < s.size(); ++k)
    if (!y.col(k).allFinite())
      throw NumericalError("frequency response: the system has a pole at " +
                           short_number(s[k].real(), 8) + " + " + short_number(s[k].imag(), 8) +
                           "i, where the response is infinite; leave this frequency out");
  if (!g.has_delay()) return y;
  const MatrixXd delays = g.delays();
  for (Eigen::Index k = 0; k < s.size(); ++k)
    for (Eigen::Index e = 0; e < y.rows(); ++e) {
      const double delay = delays.data()[e];
      if (delay == 0.0) continue;
      y(e, k) *=
          g.is_continuous() ? std::exp(-s[k] * delay) : std::pow(s[k], -std::round(delay / g.dt));
    }
  return y;
}

FrequencyData FrequencyEvaluator::at(const VectorXd& omega) const {
  const StateSpace& g = prepared_->system;
  FrequencyData data;
  data.omega = omega;
  data.dt = g.dt;
  data.output_count = g.output_count();
  data.input_count = g.input_count();
  data.inputs = g.inputs;
  data.outputs = g.outputs;
  data.input_units = g.input_units;
  data.output_units = g.output_units;
  for (Eigen::Index k = 0; k < omega.size(); ++k)
    if (!std::isfinite(omega[k]))
      throw Error("frequency response: frequency " + std::to_string(k + 1) + " is not finite");
  VectorXcd s(omega.size());
  for (Eigen::Index k = 0; k < omega.size(); ++k)
    s[k] = g.is_continuous() ? Complex(0.0, omega[k]) : std::polar(1.0, omega[k] * g.dt);
  data.values = values(s);
  return data;
}

MatrixXcd FrequencyEvaluator::at(double omega) const {
  const FrequencyData data = at(VectorXd::Constant(1, omega));
  return data.matrix(0);
}

FrequencyData freqresp(const StateSpace& system, const VectorXd& omega,
                       ResponseCertificate& certificate, const ResponseSettings& settings) {
  ResponseSettings chosen = settings;
  // For few frequencies the eigenvalues cost more than they save.
  if (settings.route == ResponseRoute::automatic && 8 * omega.size() < system.order())
    chosen.route = ResponseRoute::hessenberg;
  const FrequencyEvaluator evaluator(system, chosen);
  certificate = evaluator.certificate();
  return evaluator.at(omega);
}

FrequencyData freqresp(const StateSpace& system, const VectorXd& omega,
                       const ResponseSettings& settings) {
  ResponseCertificate certificate;
  return freqresp(system, omega, certificate, settings);
}

}  // namespace catena
