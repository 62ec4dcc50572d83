// SPDX-License-Identifier: BSD-3-Clause
// Quantities of linear systems and control design (control_case.h).
#include <algorithm>
#include <cmath>
#include <complex>
#include <sstream>

#include <Eigen/LU>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/control/equations/polynomial_matrix.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/gramians.h"
#include "catena/control/lqg.h"
#include "catena/control/mixsyn.h"
#include "catena/control/norms.h"
#include "catena/control/place.h"
#include "catena/control/reduction.h"
#include "catena/control/wiener_hopf.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/zpk.h"
#include "catena/verification/control_case.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using P = ControlProblem;

MatrixXd one(double x) { return MatrixXd::Constant(1, 1, x); }

std::vector<double> list(const MatrixXd& m) { return {m.data(), m.data() + m.size()}; }

// Columns real and imaginary part, by real part, then imaginary part.
MatrixXd sorted_pairs(const Eigen::VectorXcd& values) {
  std::vector<Complex> all(values.begin(), values.end());
  std::sort(all.begin(), all.end(), [](Complex a, Complex b) {
    const double size = std::max(std::abs(a), std::abs(b));
    return std::abs(a.real() - b.real()) > 1e-9 * size ? a.real() < b.real() : a.imag() < b.imag();
  });
  MatrixXd m(std::ssize(all), 2);
  for (Eigen::Index i = 0; i < m.rows(); ++i) m.row(i) << at(all, i).real(), at(all, i).imag();
  return m;
}

// ---- reduction ----------------------------------------------------------------------------------

Reduction reduced(const P& p, ReductionMethod method) {
  return reduce(p.plant(), {.method = method, .order = static_cast<int>(p.number("order"))});
}

// Rows numerator and denominator of a SISO system, highest power first, denominator monic.
MatrixXd coefficients(const StateSpace& g) {
  const Zpk z = zpk(g);
  const auto polynomial = [&](const std::vector<Complex>& roots) {
    std::vector<Complex> c{1.0};
    for (const Complex r : roots) {
      c.push_back(0.0);
      for (std::size_t k = c.size() - 1; k > 0; --k) c[k] -= r * c[k - 1];
    }
    return c;
  };
  const std::vector<Complex> n = polynomial(z.zeros), d = polynomial(z.poles);
  MatrixXd m = MatrixXd::Zero(2, std::ssize(d));
  for (std::size_t k = 0; k < d.size(); ++k) m(1, static_cast<Eigen::Index>(k)) = d[k].real();
  for (std::size_t k = 0; k < n.size(); ++k)
    m(0, static_cast<Eigen::Index>(d.size() - n.size() + k)) = z.gain * n[k].real();
  return m;
}

// ---- loop shaping -------------------------------------------------------------------------------

Weight weight_of(const P& p, const std::string& name) {
  if (!p.with.contains(name + "_numerator")) return {};
  return rational_weight(list(p.matrix(name + "_numerator")),
                         list(p.matrix(name + "_denominator")));
}

// √(|W1 S|² + |W3 T|²) at the frequencies, of the central controller of level 1.
MatrixXd shaped_loop(const P& p) {
  Weight w1 = weight_of(p, "w1");
  w1.proper = scale(w1.proper, p.number("rho", 1.0));
  const HinfResult r = hinfsyn_at(augw(p.plant(), w1, weight_of(p, "w2"), weight_of(p, "w3")), 1.0);
  const MatrixXd& omega = p.matrix("frequencies");
  MatrixXd c(omega.size(), 1);
  for (Eigen::Index k = 0; k < omega.size(); ++k)
    c(k, 0) = evaluate(r.loop, Complex(0.0, omega(k))).norm();
  return c;
}

// ---- design on samples --------------------------------------------------------------------------

// Deflection by end torque of the simply supported beam y_tt − 2 ζ y_tzz + y_zzzz = 0.
Complex beam(const VectorXd& parameters, Complex s) {
  const double length = parameters[0], zeta = parameters[1], z = parameters[2];
  if (s == 0.0) return length * length * (z * z * z - z) / 6.0;
  const Complex root(0.0, std::sqrt(1.0 - zeta * zeta));
  const Complex l1 = std::sqrt((-zeta + root) * s) * length,
                l2 = std::sqrt((zeta + root) * s) * length;
  const auto ratio = [&](Complex x) {  // sinh(x z)/sinh(x) by decaying exponentials
    if (x.real() < 0.0) x = -x;
    return (std::exp(x * (z - 1.0)) - std::exp(-x * (z + 1.0))) / (1.0 - std::exp(-2.0 * x));
  };
  return length * length * (ratio(l2) - ratio(Complex(0.0, 1.0) * l1)) / (l1 * l1 + l2 * l2);
}

Complex response_of(const P& p, double omega) {
  const Complex s(0.0, omega);
  return p.beam.size() > 0 ? beam(p.beam, s) : evaluate(p.plant(), s)(0, 0);
}

MatrixXd response(const P& p) {
  const MatrixXd& omega = p.matrix("frequencies");
  MatrixXd m(omega.size(), 2);
  for (Eigen::Index k = 0; k < omega.size(); ++k) {
    const Complex g = response_of(p, omega(k));
    m.row(k) << g.real(), g.imag();
  }
  return m;
}

SampleGrid grid_of(const P& p) {
  return {.nodes = static_cast<int>(p.number("nodes", 4096)), .scale = p.number("scale", 1.0)};
}

// Λ with Λ~Λ = G~G + μ at points of the positive real axis, by the series of its samples.
MatrixXd spectral_factor_on_axis(const P& p) {
  const SampleGrid grid = grid_of(p);
  Samples h;
  for (int k = 0; k < grid.nodes / 2; ++k)
    h.push_back(
        MatrixXcd::Constant(1, 1, std::norm(response_of(p, grid.frequency(k))) + p.number("mu")));
  const VectorXd c = taps(spectral_factor(h).factor, 0, 0, grid.nodes * 2 / 5);
  const MatrixXd& points = p.matrix("points");
  MatrixXd found(points.size(), 1);
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    double sum = 0.0, power = 1.0;
    for (const double tap : c) {
      sum += tap * power;
      power *= (grid.scale - points(i)) / (grid.scale + points(i));
    }
    found(i, 0) = sum;
  }
  return found;
}

// Disturbance spectrum d0/(d1 + ω²), white noise.
SampledDesign sampled_design(const P& p) {
  const MatrixXd d = p.matrix("disturbance");
  const double noise = p.number("noise");
  return wiener_hopf([&](double w) { return MatrixXcd::Constant(1, 1, response_of(p, w)); },
                     [&](double w) { return MatrixXcd::Constant(1, 1, d(0) / (d(1) + w * w)); },
                     [&](double) { return MatrixXcd::Constant(1, 1, noise); }, p.number("mu"),
                     grid_of(p));
}

// max |C(jω) (s + pole) − gain| over the nodes: distance of the controller from gain/(s + pole).
MatrixXd first_order_distance(const P& p) {
  const SampledDesign d = sampled_design(p);
  const double pole = p.number("pole"), gain = p.number("gain");
  double most = 0.0;
  for (std::size_t k = 0; k < d.controller_samples.size(); ++k) {
    const Complex s(0.0, d.grid.frequency(static_cast<int>(k)));
    most = std::max(most, std::abs(d.controller_samples[k](0, 0) - gain / (s + pole)));
  }
  return one(gain / pole + most);
}

// The orthogonal U of the matrix factor U F of H = F~F for F = [(s+a)/(s+1), b/(s+1); 0,
// (s+c)/(s+1)] with [a, b, c] under `factor`; the mean over the nodes.
MatrixXd matrix_factor_rotation(const P& p) {
  const MatrixXd f = p.matrix("factor");
  const SampleGrid grid = grid_of(p);
  const Samples exact = sampled(
      [&](double w) {
        const Complex s(0.0, w);
        MatrixXcd m(2, 2);
        m << (s + f(0)) / (s + 1.0), f(1) / (s + 1.0), 0.0, (s + f(2)) / (s + 1.0);
        return m;
      },
      grid);
  Samples h;
  for (const MatrixXcd& m : exact) h.push_back(m.adjoint() * m);
  const SpectralFactor r = spectral_factor(h);
  MatrixXd mean = MatrixXd::Zero(2, 2);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    MatrixXcd inverse(2, 2);
    const MatrixXcd& m = exact[k];
    inverse << m(1, 1), -m(0, 1), -m(1, 0), m(0, 0);
    inverse /= m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
    mean += (r.factor[k] * inverse).real() / static_cast<double>(exact.size());
  }
  return mean;
}

// ---- feedback -----------------------------------------------------------------------------------

RiccatiProblem riccati(const P& p) {
  const StateSpace& g = p.plant();
  RiccatiProblem r{g.A, g.B, p.matrix("Q"), p.matrix("R")};
  if (p.with.contains("S")) r.S = p.matrix("S");
  return r;
}

OutputPlacement output_placement(const P& p) {
  const MatrixXd& poles = p.matrix("poles");
  return place_output(p.plant(), Eigen::VectorXcd(poles.reshaped().cast<Complex>()),
                      {.as_given = true});
}

// M q̈ + K q = B u with force and rate sensing at B, and white noises of densities ds, d0.
StateSpace structure(const P& p) {
  const MatrixXd &m = p.matrix("M"), &k = p.matrix("K"), &b = p.matrix("B");
  const Eigen::Index n = m.rows();
  const MatrixXd inverse = m.inverse();
  MatrixXd a = MatrixXd::Zero(2 * n, 2 * n), input = MatrixXd::Zero(2 * n, b.cols()),
           output = MatrixXd::Zero(b.cols(), 2 * n);
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = -inverse * k;
  input.bottomRows(n) = inverse * b;
  output.rightCols(n) = b.transpose();
  return ss(a, input, output);
}

AttainableError colocated_error(const P& p) {
  const StateSpace g = structure(p);
  const Eigen::Index m = g.input_count();
  const MatrixXd eye = MatrixXd::Identity(m, m);
  MatrixXd z = MatrixXd::Zero(1, g.order());
  z(0, static_cast<Eigen::Index>(p.number("freedom")) - 1) = 1.0;
  return attainable_error(g, z, p.number("ds") * eye, p.number("d0") * eye, g.B);
}

// ---- polynomials --------------------------------------------------------------------------------

PolynomialMatrix polynomial(const MatrixXd& coefficients) {
  std::string text;
  for (const double c : list(coefficients)) text += std::to_string(std::lround(c)) + " ";
  PolynomialMatrix m(1, 1);
  m.set(0, 0, text);
  return m;
}

// Coefficients, lowest power first.
MatrixXd coefficients(const PolynomialMatrix& m) {
  const int degree = std::max(m.degree(0, 0), 0);
  // Exact in double: small numerators and denominators, read from the text.
  std::istringstream words(m.get(0, 0));
  MatrixXd c = MatrixXd::Zero(degree + 1, 1);
  std::string word;
  for (Eigen::Index k = 0; k <= degree && words >> word; ++k) {
    const std::size_t slash = word.find('/');
    c(k, 0) =
        std::stod(word) / (slash == std::string::npos ? 1.0 : std::stod(word.substr(slash + 1)));
  }
  return c;
}

Bezout bezout_of(const P& p) {
  return bezout(polynomial(p.matrix("N")), polynomial(p.matrix("D")));
}

const std::vector<ControlQuantity>& table() {
  using R = ReductionMethod;
  static const std::vector<ControlQuantity> kTable{
      {"poles", "real and imaginary parts",
       [](const P& p) { return sorted_pairs(poles(p.plant())); }},
      {"hinf_norm", "largest gain over frequency",
       [](const P& p) { return one(hinfnorm(p.plant()).value); }},
      {"hinf_frequency", "frequency of the largest gain, rad/s",
       [](const P& p) { return one(hinfnorm(p.plant()).frequency); }},
      {"h2_norm", "root of the output power for white noise",
       [](const P& p) { return one(h2norm(p.plant())); }},
      {"hankel_values", "Hankel singular values, largest first",
       [](const P& p) -> MatrixXd { return hsvd(p.plant()); }, true},
      {"balanced_error", "true error of balanced truncation to `order`",
       [](const P& p) { return one(reduced(p, R::balanced).error.value); }},
      {"balanced_bound", "its a priori bound",
       [](const P& p) { return one(reduced(p, R::balanced).bound); }},
      {"balanced_fraction", "numerator and denominator of the truncated system",
       [](const P& p) { return coefficients(reduced(p, R::balanced).system); }},
      {"stochastic_values", "Hankel values of the phase",
       [](const P& p) -> MatrixXd { return reduced(p, R::stochastic).sigma; }, true},
      {"stochastic_error", "relative error of balanced stochastic truncation to `order`",
       [](const P& p) { return one(reduced(p, R::stochastic).error.value); }},
      {"stochastic_frequency", "frequency of that error, rad/s",
       [](const P& p) { return one(reduced(p, R::stochastic).error.frequency); }},
      {"stochastic_fraction", "numerator and denominator of the truncated system",
       [](const P& p) { return coefficients(reduced(p, R::stochastic).system); }},
      {"largest_weight", "largest factor on W1 with norm 1",
       [](const P& p) {
         return one(maximize_weight(p.plant(), weight_of(p, "w1"), weight_of(p, "w2"),
                                    weight_of(p, "w3"), p.number("tolerance", 1e-5))
                        .rho);
       }},
      {"mixsyn_lower", "a level of mixed sensitivity that fails, `tolerance` below one that holds",
       [](const P& p) {
         return one(mixsyn(p.plant(), weight_of(p, "w1"), weight_of(p, "w2"), weight_of(p, "w3"),
                           {.tolerance = p.number("tolerance")})
                        .hinf.lower);
       }},
      {"shaped_loop", "norm of [W1 S; W3 T] at `frequencies`, factor `rho` on W1, level 1",
       shaped_loop},
      {"care", "X of the continuous Riccati equation",
       [](const P& p) { return care(riccati(p)).X; }},
      {"dare", "X of the discrete Riccati equation", [](const P& p) { return dare(riccati(p)).X; }},
      {"output_gain", "K of u = -K y for `poles` in this order [Miminis 1989]",
       [](const P& p) { return output_placement(p).K; }},
      {"output_spectrum", "all poles of the loop with it",
       [](const P& p) { return sorted_pairs(output_placement(p).spectrum); }},
      {"colocated_filter_error", "mean square of the filter's error at `freedom`",
       [](const P& p) { return one(colocated_error(p).filter); }},
      {"colocated_position_covariance", "of the closed form, at `freedom`",
       [](const P& p) {
         const auto i = static_cast<Eigen::Index>(p.number("freedom")) - 1;
         return one(colocated_filter(p.matrix("M"), p.matrix("K"), p.matrix("B"), p.number("ds"),
                                     p.number("d0"))
                        .position_covariance(i, i));
       }},
      {"attainable_error", "limit of cheap control at `freedom`",
       [](const P& p) { return one(colocated_error(p).limit); }},
      {"response", "real and imaginary part at `frequencies`", response},
      {"spectral_factor", "of |G|² + `mu` at `points` of the real axis", spectral_factor_on_axis},
      {"wiener_hopf_cost", "E e² + mu E u²",
       [](const P& p) { return one(sampled_design(p).cost); }},
      {"wiener_hopf_powers", "E e² and E u²",
       [](const P& p) {
         const SampledDesign d = sampled_design(p);
         MatrixXd m(2, 1);
         m << d.error_power, d.control_power;
         return m;
       }},
      {"wiener_hopf_controller",
       "gain/pole plus the largest distance of the controller from gain/(s + pole)",
       first_order_distance},
      {"matrix_factor_rotation", "U of the factor U F of F~F", matrix_factor_rotation},
      {"bezout_x", "X of X N + Y D = G", [](const P& p) { return coefficients(bezout_of(p).X); }},
      {"bezout_y", "Y", [](const P& p) { return coefficients(bezout_of(p).Y); }},
      {"common_divisor", "G", [](const P& p) { return coefficients(bezout_of(p).G); }}};
  return kTable;
}

}  // namespace

std::span<const ControlQuantity> control_quantities() { return table(); }

}  // namespace catena
