// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/mixsyn.h"

#include <cmath>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/coprime.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/modes.h"
#include "catena/linear/algebra.h"

namespace catena {

Weight weight(const StateSpace& proper) { return {proper, {}}; }

Weight weight(double gain) { return {ss(Eigen::MatrixXd::Constant(1, 1, gain)), {}}; }

Weight polynomial_weight(const std::vector<double>& coefficients) {
  return rational_weight({coefficients.rbegin(), coefficients.rend()}, {1.0});
}

Weight rational_weight(const std::vector<double>& numerator,
                       const std::vector<double>& denominator) {
  if (denominator.empty() || denominator[0] == 0.0)
    throw NumericalError("weight: the first coefficient of the denominator is zero");
  std::vector<double> num = numerator, den = denominator;
  for (double& v : num) v /= denominator[0];
  for (double& v : den) v /= denominator[0];
  // Polynomial division: quotient from the highest power down.
  std::vector<double> quotient;
  while (num.size() >= den.size()) {
    const double q = num[0];
    quotient.push_back(q);
    for (std::size_t i = 0; i < den.size(); ++i) num[i] -= q * den[i];
    num.erase(num.begin());
  }
  Weight w;
  const Eigen::Index n = static_cast<Eigen::Index>(den.size()) - 1;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n), b = Eigen::MatrixXd::Zero(n, 1),
                  c = Eigen::MatrixXd::Zero(1, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    a(0, i) = -den[static_cast<std::size_t>(i + 1)];
    if (i > 0) a(i, i - 1) = 1.0;
  }
  if (n > 0) b(0, 0) = 1.0;
  for (std::size_t i = 0; i < num.size(); ++i)
    c(0, n - static_cast<Eigen::Index>(num.size() - i)) = num[i];
  const double direct = quotient.empty() ? 0.0 : quotient.back();
  w.proper = ss(a, b, c, Eigen::MatrixXd::Constant(1, 1, direct));
  for (std::size_t k = 1; k < quotient.size(); ++k)
    w.polynomial.push_back(Eigen::MatrixXd::Constant(1, 1, quotient[quotient.size() - 1 - k]));
  return w;
}

Weight makeweight(double low, double crossover, double high) {
  if (!(crossover > 0.0) || !((std::abs(low) - 1.0) * (std::abs(high) - 1.0) < 0.0))
    throw NumericalError("makeweight: the gains at zero (" + number(low) + ") and infinity (" +
                         number(high) + ") must lie on different sides of 1, and the crossover (" +
                         number(crossover) + " rad/s) must be positive");
  // high + (low − high) p/(s + p), modulus 1 at the crossover.
  const double p = crossover * std::sqrt((1.0 - high * high) / (low * low - 1.0));
  return weight(ss(Eigen::MatrixXd::Constant(1, 1, -p), Eigen::MatrixXd::Constant(1, 1, 1.0),
                   Eigen::MatrixXd::Constant(1, 1, (low - high) * p),
                   Eigen::MatrixXd::Constant(1, 1, high)));
}

namespace {

// A 1×1 weight on each of k channels.
StateSpace on_channels(const StateSpace& w, int k, const char* name) {
  if (w.input_count() == k) return w;
  if (!w.is_siso())
    throw NumericalError(std::string("weight ") + name + " has " + std::to_string(w.input_count()) +
                         " inputs, the signal it weights has " + std::to_string(k));
  StateSpace all = w;
  for (int i = 1; i < k; ++i) all = append(all, w);
  return all;
}

// Rows of a matrix coefficient for k channels.
Eigen::MatrixXd spread(const Eigen::MatrixXd& coefficient, Eigen::Index k) {
  if (coefficient.size() == 1 && k != 1) return coefficient(0, 0) * Eigen::MatrixXd::Identity(k, k);
  return coefficient;
}

void require_same_sampling(const Weight& w, const StateSpace& g, const std::string& name) {
  if (w.proper.order() == 0 || w.proper.dt == g.dt) return;
  const auto kind = [](const StateSpace& s) {
    return s.is_continuous() ? std::string("continuous") : "sampled at " + number(s.dt) + " s";
  };
  throw NumericalError("weight " + name + " is " + kind(w.proper) + ", the plant is " + kind(g) +
                       "; convert the weight first (c2d or d2c with tustin)");
}

void require_weight(const Weight& w, const char* name) {
  if (w.present() && w.polynomial.empty() && w.proper.D.isZero(0.0) &&
      (w.proper.order() == 0 || w.proper.B.isZero(0.0) || w.proper.C.isZero(0.0)))
    throw NumericalError(std::string("weight ") + name +
                         " is zero; leave it out, or give a gain other than zero");
  if (w.present() && !has_stable_poles(w.proper))
    throw NumericalError(
        std::string("weight ") + name +
        " is not stable; no controller moves its poles. Replace an integrator by a "
        "slow pole, such as 1/(s + 1e-4)");
}

}  // namespace

StateSpace weighted(const Weight& w, const StateSpace& plant) {
  StateSpace g = explicit_form(plant);
  if (!w.polynomial.empty() && g.is_discrete())
    throw NumericalError("weight: a polynomial in s needs a continuous plant");
  const Eigen::Index k = g.C.rows();
  // s^j G = C A^j x + Σ C A^{j-1} B …: each power needs the feedthrough before it to vanish.
  Eigen::MatrixXd c = g.C, d = g.D, sum_c = Eigen::MatrixXd::Zero(k, g.A.rows()),
                  sum_d = Eigen::MatrixXd::Zero(k, g.B.cols());
  for (std::size_t j = 0; j < w.polynomial.size(); ++j) {
    if (d.norm() > 1e-12 * (g.D.norm() + c.norm() * g.B.norm()))
      throw NumericalError(
          "weight: s^" + std::to_string(j + 1) +
          " times the plant is not proper; lower the degree of W3 or add a roll-off");
    d = times(c, g.B);
    c = times(c, g.A);
    const Eigen::MatrixXd coefficient = spread(w.polynomial[j], k);
    sum_c += times(coefficient, c);
    sum_d += times(coefficient, d);
  }
  const StateSpace proper = on_channels(w.proper, static_cast<int>(k), "of the plant's output");
  const Eigen::Index n = g.A.rows(), nw = proper.A.rows();
  Eigen::MatrixXd a = block_diagonal(g.A, proper.A);
  a.bottomLeftCorner(nw, n) = times(proper.B, g.C);
  return ss(a, vstack(g.B, times(proper.B, g.D)), hstack(times(proper.D, g.C) + sum_c, proper.C),
            times(proper.D, g.D) + sum_d, g.dt);
}

GeneralizedPlant augw(const StateSpace& plant, const Weight& w1, const Weight& w2,
                      const Weight& w3) {
  plant.validate();
  const StateSpace g = explicit_form(plant);
  const int m = g.input_count(), p = g.output_count();
  if (!w1.present() && !w2.present() && !w3.present())
    throw NumericalError("augw: give at least one weight");
  if (!w1.polynomial.empty() || !w2.polynomial.empty())
    throw NumericalError("augw: only W3 may be improper; W1 and W2 must be proper");
  require_weight(w1, "W1");
  require_weight(w2, "W2");
  require_weight(w3, "W3");
  require_same_sampling(w1, g, "W1");
  require_same_sampling(w2, g, "W2");
  require_same_sampling(w3, g, "W3");
  const StateSpace none = ss(Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, p), Eigen::MatrixXd(0, 0),
                             Eigen::MatrixXd(0, p), g.dt);
  const StateSpace a1 = w1.present() ? on_channels(w1.proper, p, "W1") : none;
  const StateSpace none_u = ss(Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, m), Eigen::MatrixXd(0, 0),
                               Eigen::MatrixXd(0, m), g.dt);
  const StateSpace a2 = w2.present() ? on_channels(w2.proper, m, "W2") : none_u;
  const StateSpace a3 = w3.present() ? on_channels(w3.proper, p, "W3") : none;
  // States [x; x1; x2; x3]; e = w − G u.
  const Eigen::Index n = g.A.rows(), n1 = a1.A.rows(), n2 = a2.A.rows(), n3 = a3.A.rows();
  const Eigen::Index total = n + n1 + n2 + n3, z1 = a1.C.rows(), z2 = a2.C.rows(), z3 = a3.C.rows();
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(total, total), b = Eigen::MatrixXd::Zero(total, p + m);
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(z1 + z2 + z3 + p, total),
                  d = Eigen::MatrixXd::Zero(z1 + z2 + z3 + p, p + m);
  a.topLeftCorner(n, n) = g.A;
  b.topRightCorner(n, m) = g.B;
  a.block(n, 0, n1, n) = -times(a1.B, g.C);
  a.block(n, n, n1, n1) = a1.A;
  b.block(n, 0, n1, p) = a1.B;
  b.block(n, p, n1, m) = -times(a1.B, g.D);
  a.block(n + n1, n + n1, n2, n2) = a2.A;
  b.block(n + n1, p, n2, m) = a2.B;
  a.block(n + n1 + n2, 0, n3, n) = times(a3.B, g.C);
  a.block(n + n1 + n2, n + n1 + n2, n3, n3) = a3.A;
  b.block(n + n1 + n2, p, n3, m) = times(a3.B, g.D);
  c.block(0, 0, z1, n) = -times(a1.D, g.C);
  c.block(0, n, z1, n1) = a1.C;
  d.block(0, 0, z1, p) = a1.D;
  d.block(0, p, z1, m) = -times(a1.D, g.D);
  c.block(z1, n + n1, z2, n2) = a2.C;
  d.block(z1, p, z2, m) = a2.D;
  if (w3.present()) {
    // Direct and polynomial part on the states of G; the rest on the states of W3.
    Weight direct = w3;
    direct.proper = ss(a3.D, g.dt);
    const StateSpace part = weighted(direct, g);
    c.block(z1 + z2, 0, z3, n) = part.C;
    d.block(z1 + z2, p, z3, m) = part.D;
    c.block(z1 + z2, n + n1 + n2, z3, n3) = a3.C;
  }
  c.block(z1 + z2 + z3, 0, p, n) = -g.C;
  d.block(z1 + z2 + z3, 0, p, p).setIdentity();
  d.block(z1 + z2 + z3, p, p, m) = -g.D;
  GeneralizedPlant r;
  r.system = ss(a, b, c, d, g.dt);
  r.system.states.clear();  // those of the plant by their names
  for (int i = 0; i < n; ++i) r.system.states.push_back(g.state_name(i));
  for (const auto& [name, count] : {std::pair("W1", n1), std::pair("W2", n2), std::pair("W3", n3)})
    for (Eigen::Index i = 0; i < count; ++i)
      r.system.states.push_back(std::string(name) + ".x" + std::to_string(i + 1));
  r.measurements = p;
  r.controls = m;
  return r;
}

MixsynResult mixsyn(const StateSpace& plant, const Weight& w1, const Weight& w2, const Weight& w3,
                    const HinfSettings& settings) {
  MixsynResult r;
  r.augmented = augw(plant, w1, w2, w3);
  r.hinf = hinfsyn(r.augmented, settings);
  r.controller = r.hinf.controller;
  const StateSpace loop = series(r.controller, explicit_form(plant));
  r.T = feedback(loop);
  r.S = feedback(ss(Eigen::MatrixXd::Identity(loop.D.rows(), loop.D.rows()), loop.dt), loop);
  return r;
}

WeightMaximum maximize_weight(const StateSpace& plant, const Weight& w1, const Weight& w2,
                              const Weight& w3, double tolerance) {
  if (!w1.present()) throw NumericalError("maximize_weight: there is no W1 to scale");
  const auto scaled = [&](double rho) {
    Weight w = w1;
    w.proper.C *= rho;
    w.proper.D *= rho;
    return w;
  };
  const auto exists = [&](double rho) {
    return hinf_tests(augw(plant, scaled(rho), w2, w3), 1.0).exists;
  };
  double low = 1.0, high = 1.0;
  int steps = 0;
  if (exists(1.0)) {
    while (exists(high *= 2.0))
      if (low = high; ++steps > 60)
        throw NumericalError(
            "maximize_weight: every factor up to 1e18 can be reached; the weights do "
            "not bound the loop (add W2 or W3)");
  } else {
    while (!exists(low /= 2.0))
      if (high = low; ++steps > 60)
        throw NumericalError(
            "maximize_weight: no factor can be reached; W2 and W3 alone already "
            "exceed 1 for every controller: lower them");
  }
  while (high - low > tolerance * low) {
    const double middle = 0.5 * (low + high);
    (exists(middle) ? low : high) = middle;
  }
  WeightMaximum r;
  r.rho = low;
  r.infeasible = high;
  // A little below the limit, where the controller keeps its digits.
  const double safe = low * (1.0 - std::max(tolerance, 1e-4));
  r.design.augmented = augw(plant, scaled(safe), w2, w3);
  r.design.hinf = hinfsyn_at(r.design.augmented, 1.0);
  r.design.controller = r.design.hinf.controller;
  const StateSpace loop = series(r.design.controller, explicit_form(plant));
  r.design.T = feedback(loop);
  r.design.S = feedback(ss(Eigen::MatrixXd::Identity(loop.D.rows(), loop.D.rows()), loop.dt), loop);
  return r;
}

NcfsynResult ncfsyn(const StateSpace& plant, const std::optional<StateSpace>& w1,
                    const std::optional<StateSpace>& w2, double suboptimality) {
  const lapack::OneThread one;
  if (!(suboptimality > 1.0))
    throw NumericalError("ncfsyn: the suboptimality is " + number(suboptimality) +
                         "; it must exceed 1, such as 1.02");
  NcfsynResult r;
  r.shaped = explicit_form(plant);
  if (w1) r.shaped = series(*w1, r.shaped);
  if (w2) r.shaped = series(r.shaped, *w2);
  r.shaped = explicit_form(r.shaped);
  const StateSpace& g = r.shaped;
  if (g.is_discrete()) throw NumericalError("ncfsyn: map the sampled plant by d2c(tustin) first");
  if (g.D.norm() > 1e-12 * g.C.norm() * g.B.norm() / std::max(g.A.norm(), 1e-300))
    throw NumericalError("ncfsyn: the shaped plant has a feedthrough; add a fast pole to a weight");
  require_stabilizable(g, g.B, "ncfsyn");
  require_detectable(g, g.C, "ncfsyn");
  const CoprimeFactors f = ncf(g);
  const Eigen::MatrixXd root = symmetric_root(f.X);
  const double radius =
      lapack::symmetric_eigenvalues(symmetrized(times(root, times(f.Y, root)))).maxCoeff();
  const double least = std::sqrt(1.0 + radius), gamma = suboptimality * least, g2 = gamma * gamma;
  // Central controller [McFarlane & Glover 1992]; F = −Bᵀ X, E = (1 − γ²) 1 + X Y (transposed).
  const Eigen::Index n = g.A.rows();
  const Eigen::MatrixXd e = (1.0 - g2) * Eigen::MatrixXd::Identity(n, n) + times(f.X, f.Y);
  const lapack::Lu lu(Eigen::MatrixXd(e.transpose()));
  const Eigen::MatrixXd injection = g2 * lu.solve(times_nt(f.Y, g.C));  // γ² E⁻ᵀ Y Cᵀ
  // The reference has positive feedback, C_K = Bᵀ X = −F; here u = −K y.
  const StateSpace k = ss(g.A + times(g.B, f.F) + times(injection, g.C), injection, f.F);
  const NcfMargin m = ncfmargin(g, k);
  r.margin = m.value;
  r.certificate.worst_frequency = m.frequency;
  r.best_margin = 1.0 / least;
  r.certificate.add("Riccati residual", f.residual < 1e-8, f.residual, 1e-8);
  r.certificate.add("margin of the shaped loop", r.margin >= (1.0 - 1e-6) / gamma, r.margin,
                    1.0 / gamma);
  if (r.margin == 0.0)
    throw NumericalError("ncfsyn: the loop computed is not stable; scale the shaped plant");
  r.controller = k;
  if (w2) r.controller = series(*w2, r.controller);
  if (w1) r.controller = series(r.controller, *w1);
  return r;
}

}  // namespace catena
