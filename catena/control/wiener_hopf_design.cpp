// SPDX-License-Identifier: BSD-3-Clause
// The optimal controller on samples (wiener_hopf.h), for stable plants and by coprime factors.
#include <cmath>
#include <memory>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/wiener_hopf.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/freqresp.h"

namespace catena {
namespace {

using CMatrix = Eigen::MatrixXcd;

CMatrix unit(Eigen::Index n) { return CMatrix::Identity(n, n); }
CMatrix inverted(const CMatrix& a) { return lapack::ComplexLu(a).solve(unit(a.rows())); }

// Samples of everything that the formulas need; for a stable plant M = M̃ = V = 1, U = 0.
struct FactorProblem {
  Samples M, N, U, V, M_left, disturbance, noise;
  std::size_t size() const { return N.size(); }
};

FactorProblem factor_problem(const PlantFactors& plant, const ResponseFunction& disturbance,
                             const ResponseFunction& noise, const SampleGrid& grid) {
  return {sampled(plant.M, grid), sampled(plant.N, grid),      sampled(plant.U, grid),
          sampled(plant.V, grid), sampled(plant.M_left, grid), sampled(disturbance, grid),
          sampled(noise, grid)};
}

// Powers, controller samples and windings of R = (U + M Q) M̃, 1 − G R = (V − N Q) M̃.
void evaluate(const FactorProblem& p, double mu, int axis_poles, SampledDesign& r) {
  double turned = 0.0, controller_turned = 0.0;
  Complex before = 0.0, controller_before = 0.0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const CMatrix over = p.U[k] + p.M[k] * r.Q[k], under = p.V[k] - p.N[k] * r.Q[k];
    const CMatrix sensitivity = under * p.M_left[k];
    const CMatrix complement = unit(sensitivity.rows()) - sensitivity;
    const CMatrix both = p.disturbance[k] + p.noise[k];
    r.R.push_back(over * p.M_left[k]);
    r.controller_samples.push_back(over * inverted(under));
    const CMatrix error = sensitivity * p.disturbance[k] * sensitivity.adjoint() +
                          complement * p.noise[k] * complement.adjoint();
    const CMatrix effort = r.R[k] * both * r.R[k].adjoint();
    // dω = a/2 (1 + tan²) dθ over both halves, /2π.
    const double t = std::tan(M_PI * (static_cast<double>(k) + 0.5) / r.grid.nodes);
    const double width = r.grid.scale * (1.0 + t * t) / r.grid.nodes;
    r.error_power += width * error.trace().real();
    r.control_power += width * effort.trace().real();
    const Complex now = 1.0 / lapack::eigenvalues(sensitivity).prod();
    const Complex controller_now = lapack::eigenvalues(under).prod();
    if (k > 0) {
      const double turn = std::arg(now / before);
      r.largest_turn = std::max(r.largest_turn, std::abs(turn));
      turned += turn;
      controller_turned += std::arg(controller_now / controller_before);
    }
    before = now;
    controller_before = controller_now;
  }
  r.cost = r.error_power + mu * r.control_power;
  // Half circles; each pole on the axis turns a quarter there, which is not an encirclement.
  r.winding = static_cast<int>(std::lround(turned / M_PI - 0.5 * axis_poles));
  r.controller_unstable_poles = static_cast<int>(std::lround(-controller_turned / M_PI));
}

SampledDesign designed(const FactorProblem& p, double mu, int axis_poles, const SampleGrid& grid) {
  const lapack::OneThread one_thread;
  if (!(mu > 0.0))
    throw NumericalError("Wiener-Hopf design: the control weight mu is " + number(mu) +
                         "; it must be positive");
  Samples control(p.size()), measured(p.size());
  for (std::size_t k = 0; k < p.size(); ++k) {
    control[k] = p.N[k].adjoint() * p.N[k] + mu * (p.M[k].adjoint() * p.M[k]);
    // Ω Ω~ = H is the factor of Hᵀ, transposed.
    const CMatrix both = p.disturbance[k] + p.noise[k];
    measured[k] = (p.M_left[k] * both * p.M_left[k].adjoint()).transpose();
  }
  const SpectralFactor lambda = spectral_factor(control), omega = spectral_factor(measured);
  Samples inside(p.size());
  for (std::size_t k = 0; k < p.size(); ++k) {
    const CMatrix left = p.M_left[k], w = omega.factor[k].transpose();
    const CMatrix both = p.disturbance[k] + p.noise[k];
    const CMatrix present = p.N[k].adjoint() * (unit(left.rows()) - p.V[k] * left) +
                            mu * (p.M[k].adjoint() * p.U[k] * left);  // (N~ G + μ M~) U M̃
    const CMatrix wanted = p.N[k].adjoint() * p.disturbance[k] - present * both;
    inside[k] =
        inverted(lambda.factor[k]).adjoint() * wanted * left.adjoint() * inverted(w).adjoint();
  }
  const Samples causal = causal_part(inside, ConstantPart::strictly_proper);
  SampledDesign r;
  r.grid = grid;
  r.factor_residual = std::max(lambda.residuals.back(), omega.residuals.back());
  for (std::size_t k = 0; k < p.size(); ++k)
    r.Q.push_back(inverted(lambda.factor[k]) * causal[k] * inverted(omega.factor[k].transpose()));
  evaluate(p, mu, axis_poles, r);
  return r;
}

}  // namespace

SampledDesign wiener_hopf(const ResponseFunction& plant, const ResponseFunction& disturbance,
                          const ResponseFunction& noise, double mu, const SampleGrid& grid) {
  FactorProblem p;
  p.N = sampled(plant, grid);
  p.disturbance = sampled(disturbance, grid);
  p.noise = sampled(noise, grid);
  const Eigen::Index outputs = p.N[0].rows(), inputs = p.N[0].cols();
  p.M.assign(p.size(), unit(inputs));
  p.M_left.assign(p.size(), unit(outputs));
  p.V = p.M_left;
  p.U.assign(p.size(), CMatrix::Zero(inputs, outputs));
  return designed(p, mu, 0, grid);
}

SampledDesign wiener_hopf(const PlantFactors& plant, const ResponseFunction& disturbance,
                          const ResponseFunction& noise, double mu, const SampleGrid& grid) {
  return designed(factor_problem(plant, disturbance, noise, grid), mu, plant.axis_poles, grid);
}

// With F and L that stabilize A + B F and A + L C:
//   [M U; −N V] = (A + B F, [B L], [F; −(C + D F)], [1 0; −D 1]),  M̃ = (A + L C, L, C, 1).
PlantFactors plant_factors(const StateSpace& given) {
  given.validate();
  if (given.is_discrete() || given.has_delay())
    throw NumericalError("coprime factors on samples: the plant must be continuous without delays");
  const StateSpace g = explicit_form(given);
  const Eigen::Index m = g.D.cols(), p = g.D.rows();
  const Eigen::MatrixXd one_m = Eigen::MatrixXd::Identity(m, m),
                        one_p = Eigen::MatrixXd::Identity(p, p);
  PlantFactors factors;
  constexpr double kAxis = 1e-9;
  for (const Complex& s : spectrum(g.A)) {
    const bool on_axis = std::abs(s.real()) <= kAxis * std::max(std::abs(s), g.A.norm());
    factors.axis_poles += on_axis;
    factors.unstable_poles += !on_axis && s.real() > 0.0;
  }
  const Eigen::MatrixXd F = -care({.A = g.A,
                                   .B = g.B,
                                   .Q = times_tn(g.C, g.C),
                                   .R = one_m + times_tn(g.D, g.D),
                                   .S = times_tn(g.C, g.D)})
                                 .K;
  const Eigen::MatrixXd L = -care({.A = g.A.transpose(),
                                   .B = g.C.transpose(),
                                   .Q = times_nt(g.B, g.B),
                                   .R = one_p + times_nt(g.D, g.D),
                                   .S = times_nt(g.B, g.D)})
                                 .K.transpose();
  const Eigen::MatrixXd cf = g.C + times(g.D, F);
  Eigen::MatrixXd d(m + p, m + p);
  d << one_m, Eigen::MatrixXd::Zero(m, p), -g.D, one_p;
  factors.together = ss(g.A + times(g.B, F), hstack(g.B, L), vstack(F, -cf), d);
  const auto all = std::make_shared<FrequencyEvaluator>(factors.together);
  const auto left = std::make_shared<FrequencyEvaluator>(ss(g.A + times(L, g.C), L, g.C, one_p));
  factors.M = [all, m](double w) { return CMatrix(all->at(w).topLeftCorner(m, m)); };
  factors.U = [all, m, p](double w) { return CMatrix(all->at(w).topRightCorner(m, p)); };
  factors.N = [all, m, p](double w) { return CMatrix(-all->at(w).bottomLeftCorner(p, m)); };
  factors.V = [all, p](double w) { return CMatrix(all->at(w).bottomRightCorner(p, p)); };
  factors.M_left = [left](double w) { return left->at(w); };
  return factors;
}

StateSpace controller_of(const PlantFactors& plant, const StateSpace& Q) {
  const Eigen::Index m = Q.D.rows(), p = Q.D.cols();
  if (plant.together.D.rows() != m + p)
    throw NumericalError(
        "controller of a Wiener-Hopf design: the factors have no state-space form, or Q has other "
        "sizes than the plant");
  // [U + M Q; V − N Q] = [M U; −N V] [Q; 1].
  const StateSpace q = ss(Q.A, Q.B, vstack(Q.C, Eigen::MatrixXd::Zero(p, Q.A.rows())),
                          vstack(Q.D, Eigen::MatrixXd::Identity(p, p)));
  const StateSpace both = series(q, plant.together);
  const Eigen::MatrixXd c_over = both.C.topRows(m), c_under = both.C.bottomRows(p),
                        d_over = both.D.topRows(m), d_under = both.D.bottomRows(p);
  const lapack::Lu lu(d_under);
  const Eigen::MatrixXd gain = lu.solve(c_under);
  const Eigen::MatrixXd b = lu.solve_transposed(both.B.transpose()).transpose(),
                        d = lu.solve_transposed(d_over.transpose()).transpose();
  return ss(both.A - times(both.B, gain), b, c_over - times(d_over, gain), d);
}

RealizedDesign realize(const StateSpace& plant, const PlantFactors& factors,
                       const SampledDesign& design, const RationalFitSettings& settings) {
  std::vector<double> omega;
  for (int k = 0; k < static_cast<int>(design.Q.size()); ++k)
    omega.push_back(design.grid.frequency(k));
  RealizedDesign r;
  r.fit = rational_fit(omega, design.Q, settings);
  r.controller = controller_of(factors, r.fit.system);
  r.slowest_pole = poles(feedback(explicit_form(plant), r.controller)).real().maxCoeff();
  r.stable = r.slowest_pole < 0.0;
  return r;
}

}  // namespace catena
