// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/equations/riccati.h"

#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/equations/lyapunov.h"
#include "catena/control/equations/riccati_detail.h"

namespace catena {
namespace {

constexpr double kGoodResidual = 1e-13;  // relative, of large problems: no Newton step needed
constexpr double kSingular = 1e-13;      // reciprocal condition of a weight that counts as singular

void require_shape(const Eigen::MatrixXd& a, Eigen::Index rows, Eigen::Index cols,
                   const char* name) {
  if (a.rows() != rows || a.cols() != cols)
    throw NumericalError(std::string("Riccati equation: ") + name + " is " +
                         std::to_string(a.rows()) + " x " + std::to_string(a.cols()) +
                         ", it must be " + std::to_string(rows) + " x " + std::to_string(cols));
  if (!a.allFinite())
    throw NumericalError(std::string("Riccati equation: ") + name +
                         " has an entry that is not a finite number");
}

void require_symmetric(const Eigen::MatrixXd& a, const char* name) {
  if ((a - a.transpose()).norm() > 1e-10 * a.norm())
    throw NumericalError(std::string("Riccati equation: ") + name + " must be symmetric");
}

void check_riccati(const RiccatiProblem& p) {
  const Eigen::Index n = p.A.rows(), m = p.B.cols();
  require_shape(p.A, n, n, "A");
  require_shape(p.B, n, m, "B");
  require_shape(p.Q, n, n, "Q");
  require_shape(p.R, m, m, "R");
  if (p.S.size() > 0) require_shape(p.S, n, m, "S");
  if (p.E.size() > 0) require_shape(p.E, n, n, "E");
  require_symmetric(p.Q, "Q");
  require_symmetric(p.R, "R");
}

// The same problem with E = 1 and a symmetric Q. Continuous and discrete alike: z = E x as state
// gives A E⁻¹, E⁻ᵀ Q E⁻¹, E⁻ᵀ S and the same X.
RiccatiProblem without_descriptor(const RiccatiProblem& p) {
  RiccatiProblem r = p;
  r.Q = symmetrized(p.Q);
  r.R = symmetrized(p.R);
  if (p.E.size() == 0) return r;
  const lapack::Lu lu(p.E);
  if (lu.rcond() < kSingular)
    throw NumericalError("Riccati equation: E is singular (reciprocal condition " +
                         short_number(lu.rcond()) + "); remove algebraic states first");
  r.A = lu.solve_transposed(p.A.transpose()).transpose();
  r.Q = symmetrized(lu.solve_transposed(lu.solve_transposed(r.Q).transpose()));
  if (p.S.size() > 0) r.S = lu.solve_transposed(p.S);
  r.E.resize(0, 0);
  return r;
}

std::optional<ReducedRiccati> reduced(const RiccatiProblem& p) {
  if (p.B.cols() == 0)
    return ReducedRiccati{p.A, Eigen::MatrixXd::Zero(p.A.rows(), p.A.rows()), p.Q};
  const lapack::Lu lu(p.R);
  if (lu.rcond() < kSingular) return std::nullopt;
  ReducedRiccati r{p.A, symmetrized(times(p.B, lu.solve(p.B.transpose()))), p.Q};
  if (p.S.size() > 0) {
    const Eigen::MatrixXd w = lu.solve(p.S.transpose());
    r.A -= times(p.B, w);
    r.Q -= symmetrized(times(p.S, w));
  }
  return r;
}

Eigen::MatrixXd cross(const RiccatiProblem& p) {
  return p.S.size() > 0 ? p.S : Eigen::MatrixXd::Zero(p.A.rows(), p.B.cols());
}

// Small problems near the limit of solvability (H-infinity) need more digits in the residual than
// double precision leaves: long double up to this order.
constexpr Eigen::Index kExtendedOrder = 40;
using Extended = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

// R⁻¹ w with corrections of the same precision.
Extended extended_solve(const Eigen::MatrixXd& r, const Extended& w) {
  const lapack::Lu lu(r);
  const Extended rl = r.cast<long double>();
  Extended x = lu.solve(w.cast<double>()).cast<long double>();
  for (int k = 0; k < 3; ++k) {
    const Extended rest = w - rl * x;
    x += lu.solve(rest.cast<double>()).cast<long double>();
  }
  return x;
}

Extended extended_gain(const RiccatiProblem& p, const Extended& x) {
  Extended w = x * p.B.cast<long double>();
  if (p.S.size() > 0) w += p.S.cast<long double>();
  return extended_solve(p.R, w.transpose());
}

Eigen::MatrixXd extended_defect(const RiccatiProblem& p, const Extended& x, double& scale) {
  const Extended xa = x * p.A.cast<long double>();
  const Extended k = extended_gain(p, x);
  const Extended quadratic = k.transpose() * p.R.cast<long double>() * k;
  scale = static_cast<double>(2.0L * xa.norm() + quadratic.norm()) + p.Q.norm();
  const Extended sum = xa + xa.transpose() - quadratic + p.Q.cast<long double>();
  return symmetrized(sum.cast<double>());
}

// The residual of the equation as given: the reduced one loses digits where S R⁻¹ Sᵀ is large.
Eigen::MatrixXd care_defect(const RiccatiProblem& p, const Eigen::MatrixXd& x, double& scale) {
  if (p.B.cols() > 0 && p.A.rows() <= kExtendedOrder)
    return extended_defect(p, x.cast<long double>(), scale);
  const Eigen::MatrixXd xa = times(x, p.A);
  Eigen::MatrixXd quadratic = Eigen::MatrixXd::Zero(p.A.rows(), p.A.rows());
  if (p.B.cols() > 0) {
    const Eigen::MatrixXd w = times(x, p.B) + cross(p);
    quadratic = times(w, lapack::Lu(p.R).solve(w.transpose()));
  }
  scale = 2.0 * xa.norm() + quadratic.norm() + p.Q.norm();
  return symmetrized(xa + xa.transpose() - quadratic + p.Q);
}

Eigen::MatrixXd care_gain(const RiccatiProblem& p, const Eigen::MatrixXd& x) {
  if (p.B.cols() == 0) return Eigen::MatrixXd(0, p.A.rows());
  return lapack::Lu(p.R).solve(times_tn(p.B, x) + cross(p).transpose());
}

// Newton steps (A − B K)ᵀ Δ + Δ (A − B K) + residual = 0: up to two after a Schur form (the first
// makes good for eigenvectors of a poor condition), three after doubling, while each gains a digit.
void newton_steps(const RiccatiProblem& p, Eigen::MatrixXd& x, int most) {
  double scale = 0.0;
  Eigen::MatrixXd r = care_defect(p, x, scale);
  for (int step = 0; step < most; ++step) {
    const double before = r.norm();
    if (before <= kGoodResidual * scale) return;
    const lapack::Schur schur = lapack::schur(p.A - times(p.B, care_gain(p, x)));
    Eigen::MatrixXd f = -times(times_tn(schur.U, r), schur.U);
    if (!solve_triangular_sylvester(schur.T, schur.T, f, true)) return;
    const Eigen::MatrixXd better = symmetrized(x + times_nt(times(schur.U, f), schur.U));
    if (!better.allFinite()) return;
    r = care_defect(p, better, scale);
    const double after = r.norm();
    if (!(after < before)) return;
    x = better;
    if (after > 0.1 * before) return;
  }
}

// The same in extended precision for small problems: X keeps its low digits until the gain, which
// close to the limit of solvability needs them, is formed.
void extended_newton(const RiccatiProblem& p, RiccatiSolution& s) {
  Extended x = s.X.cast<long double>();
  double scale = 0.0;
  Eigen::MatrixXd r = extended_defect(p, x, scale);
  for (int step = 0; step < 5; ++step) {
    const double before = r.norm();
    if (before <= 1e-19 * scale) break;
    const lapack::Schur schur = lapack::schur(p.A - times(p.B, extended_gain(p, x).cast<double>()));
    Eigen::MatrixXd f = -times(times_tn(schur.U, r), schur.U);
    if (!solve_triangular_sylvester(schur.T, schur.T, f, true)) break;
    const Eigen::MatrixXd change = symmetrized(times_nt(times(schur.U, f), schur.U));
    const Extended better = x + change.cast<long double>();
    r = extended_defect(p, better, scale);
    if (!r.allFinite() || !(r.norm() < before)) break;
    x = better;
  }
  s.X = x.cast<double>();
  s.K = extended_gain(p, x).cast<double>();
}

void finish_care(const RiccatiProblem& p, const RiccatiSettings& settings, RiccatiSolution& s) {
  if (s.K.size() == 0) s.K = care_gain(p, s.X);
  s.residual = care_residual(p, s.X);
  s.poles = spectrum(p.A - times(p.B, s.K));
  s.stability_margin = s.poles.size() > 0 ? -s.poles.real().maxCoeff() : 1.0;
  if (!(s.residual <= settings.residual_tolerance))
    s.status = RiccatiStatus::inaccurate;
  else if (s.stability_margin <= 0.0)
    s.status = RiccatiStatus::not_stabilizing;
}

void finish_dare(const RiccatiProblem& p, const RiccatiSettings& settings, RiccatiSolution& s) {
  const Eigen::MatrixXd xb = times(s.X, p.B);
  const lapack::Lu lu(symmetrized(p.R + times_tn(p.B, xb)));
  if (lu.rcond() < kSingular) {
    s.status = RiccatiStatus::singular_weight;
    return;
  }
  s.K = lu.solve(times_tn(xb, p.A) + cross(p).transpose());
  s.residual = dare_residual(p, s.X);
  s.poles = spectrum(p.A - times(p.B, s.K));
  s.stability_margin = s.poles.size() > 0 ? 1.0 - s.poles.cwiseAbs().maxCoeff() : 1.0;
  if (!(s.residual <= settings.residual_tolerance))
    s.status = RiccatiStatus::inaccurate;
  else if (s.stability_margin <= 0.0)
    s.status = RiccatiStatus::not_stabilizing;
}

// Newton [Hewer 1971]: X = Acᵀ X Ac + (Q + Kᵀ R K − S K − Kᵀ Sᵀ) with the present gain.
void dare_newton_step(const RiccatiProblem& p, Eigen::MatrixXd& x) {
  const Eigen::MatrixXd s = cross(p), xb = times(x, p.B);
  const lapack::Lu lu(symmetrized(p.R + times_tn(p.B, xb)));
  if (lu.rcond() < kSingular) return;
  const Eigen::MatrixXd k = lu.solve(times_tn(xb, p.A) + s.transpose());
  const Eigen::MatrixXd ac = p.A - times(p.B, k);
  if (spectrum(ac).cwiseAbs().maxCoeff() >= 1.0) return;
  const Eigen::MatrixXd sk = times(s, k);
  Eigen::MatrixXd q = p.Q + times_tn(k, times(p.R, k)) - sk - sk.transpose();
  // Smith's doubling: q + Acᵀ q Ac + … .
  Eigen::MatrixXd better = symmetrized(q), a = ac;
  for (int i = 0; i < 40; ++i) {
    const Eigen::MatrixXd step = symmetrized(times_tn(a, times(better, a)));
    better += step;
    if (step.norm() <= 1e-17 * better.norm()) break;
    a = times(a, a);
  }
  if (better.allFinite() && dare_residual(p, better) < dare_residual(p, x)) x = better;
}

// The Schur form decides; doubling, which takes a step for each doubling of the spread of the
// closed loop's poles, is the second opinion where that fails.
template <class Solve>
RiccatiSolution by_routes(const Solve& solve, const RiccatiSettings& settings) {
  if (settings.route != RiccatiRoute::automatic) return solve(settings.route);
  const RiccatiSolution s = solve(RiccatiRoute::schur);
  if (s.ok() || s.status == RiccatiStatus::axis_eigenvalues) return s;
  const RiccatiSolution other = solve(RiccatiRoute::doubling);
  return other.ok() ? other : s;
}

}  // namespace

double care_residual(const RiccatiProblem& problem, const Eigen::MatrixXd& X) {
  double scale = 0.0;
  const double defect = care_defect(without_descriptor(problem), X, scale).norm();
  return scale > 0.0 ? defect / scale : 0.0;
}

double dare_residual(const RiccatiProblem& problem, const Eigen::MatrixXd& X) {
  const RiccatiProblem p = without_descriptor(problem);
  const Eigen::MatrixXd axa = times_tn(p.A, times(X, p.A)), xb = times(X, p.B);
  const Eigen::MatrixXd w = times_tn(p.A, xb) + cross(p);
  const Eigen::MatrixXd quadratic =
      times(w, lapack::Lu(symmetrized(p.R + times_tn(p.B, xb))).solve(w.transpose()));
  const double scale = axa.norm() + X.norm() + quadratic.norm() + p.Q.norm();
  return scale > 0.0 ? (axa - X - quadratic + p.Q).norm() / scale : 0.0;
}

RiccatiSolution solve_care(const RiccatiProblem& problem, const RiccatiSettings& settings) {
  check_riccati(problem);
  const lapack::OneThread one;
  const RiccatiProblem p = without_descriptor(problem);
  RiccatiSolution failed;
  const std::optional<ReducedRiccati> r = reduced(p);
  if (!r) {
    failed.status = RiccatiStatus::singular_weight;
    return failed;
  }
  RiccatiSolution solution = by_routes(
      [&](RiccatiRoute route) {
        const RawRiccati raw =
            route == RiccatiRoute::doubling ? care_by_doubling(*r) : care_by_schur(*r);
        RiccatiSolution s;
        s.status = raw.status;
        s.axis_distance = raw.axis_distance;
        s.axis_frequency = raw.axis_frequency;
        s.route = route;
        if (!s.ok()) return s;
        s.X = raw.X;
        if (settings.newton && p.A.rows() <= kExtendedOrder && p.B.cols() > 0)
          extended_newton(p, s);
        else if (settings.newton)
          newton_steps(p, s.X, route == RiccatiRoute::doubling ? 3 : 2);
        finish_care(p, settings, s);
        return s;
      },
      settings);
  if (problem.E.size() > 0 && solution.K.size() > 0) solution.K = times(solution.K, problem.E);
  return solution;
}

RiccatiSolution solve_dare(const RiccatiProblem& problem, const RiccatiSettings& settings) {
  check_riccati(problem);
  const lapack::OneThread one;
  const RiccatiProblem p = without_descriptor(problem);
  const std::optional<ReducedRiccati> r = reduced(p);
  RiccatiSolution solution = by_routes(
      [&](RiccatiRoute route) {
        const RawRiccati raw = !r                                ? dare_by_extended_pencil(p)
                               : route == RiccatiRoute::doubling ? dare_by_doubling(*r)
                                                                 : dare_by_schur(*r);
        RiccatiSolution s;
        s.status = raw.status;
        s.axis_distance = raw.axis_distance;
        s.axis_frequency = raw.axis_frequency;
        s.route = r ? route : RiccatiRoute::schur;
        if (!s.ok()) return s;
        s.X = raw.X;
        if (settings.newton) dare_newton_step(p, s.X);
        finish_dare(p, settings, s);
        return s;
      },
      settings);
  if (problem.E.size() > 0 && solution.K.size() > 0) solution.K = times(solution.K, problem.E);
  return solution;
}

std::string explained(const RiccatiSolution& s) {
  switch (s.status) {
    case RiccatiStatus::solved:
      return "stabilizing solution, relative residual " + short_number(s.residual);
    case RiccatiStatus::axis_eigenvalues:
      return "no stabilizing solution: the Hamiltonian matrix has eigenvalues on the stability "
             "boundary, near " +
             short_number(s.axis_frequency, 6) +
             " rad/s; weight the mode there (it is not seen by Q) or make it stabilizable";
    case RiccatiStatus::no_graph_subspace:
      return "no stabilizing solution: an unstable mode is not stabilizable by B; add an actuator "
             "that moves it";
    case RiccatiStatus::singular_weight:
      return "the weight R is singular; every input needs a weight of its own";
    case RiccatiStatus::inaccurate:
      return "the solution found has a relative residual of " + short_number(s.residual) +
             "; scale states and inputs, or weight modes near the stability boundary";
    case RiccatiStatus::not_stabilizing:
      return "the solution found leaves a closed-loop pole " + short_number(-s.stability_margin) +
             " beyond the stability boundary; the mode is not stabilizable or not weighted";
  }
  return {};
}

RiccatiSolution care(const RiccatiProblem& problem, const RiccatiSettings& settings) {
  RiccatiSolution s = solve_care(problem, settings);
  if (!s.ok()) throw NumericalError("continuous Riccati equation: " + explained(s));
  return s;
}

RiccatiSolution dare(const RiccatiProblem& problem, const RiccatiSettings& settings) {
  RiccatiSolution s = solve_dare(problem, settings);
  if (!s.ok()) throw NumericalError("discrete Riccati equation: " + explained(s));
  return s;
}

RiccatiSolution care(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& Q,
                     const Eigen::MatrixXd& R) {
  return care(RiccatiProblem{A, B, Q, R});
}

RiccatiSolution dare(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, const Eigen::MatrixXd& Q,
                     const Eigen::MatrixXd& R) {
  return dare(RiccatiProblem{A, B, Q, R});
}

ColocatedFilter colocated_filter(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& stiffness,
                                 const Eigen::MatrixXd& input, double actuator_noise,
                                 double sensor_noise, double damping_gain) {
  if (!(actuator_noise > 0.0) || !(sensor_noise > 0.0) || !(damping_gain >= 0.0))
    throw NumericalError(
        "co-located filter: noise densities must be positive and the damping gain "
        "not negative (given " +
        number(actuator_noise) + ", " + number(sensor_noise) + ", " + number(damping_gain) + ")");
  const Eigen::Index n = mass.rows();
  ColocatedFilter f;
  // Root of p²/d_0 + 2 g p − d_s = 0 without cancellation.
  const double gd = damping_gain * sensor_noise;
  f.p = actuator_noise * sensor_noise / (gd + std::sqrt(gd * gd + actuator_noise * sensor_noise));
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  f.position_covariance = f.p * symmetrized(lapack::solve(stiffness, one, "the stiffness matrix"));
  f.rate_covariance = f.p * symmetrized(lapack::solve(mass, one, "the mass matrix"));
  f.gain = Eigen::MatrixXd::Zero(2 * n, input.cols());
  f.gain.bottomRows(n) = times(f.rate_covariance, input) / sensor_noise;
  return f;
}

}  // namespace catena
