// Levenberg and Marquardt's method with Nielsen's damping (Madsen, Nielsen & Tingleff 2004) and
// Marquardt's scaling: (JᵀJ + μ D) δ = −Jᵀ r, D the largest diagonal of JᵀJ seen so far.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catena/base/dense.h"
#include "catena/optimal/attempt.h"

namespace catena {
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// How far x, shifted, leaves its bounds.
double off(double x, double shift, double lower, double upper) {
  return x + shift - std::clamp(x + shift, lower, upper);
}

void add_penalty(const Transcription& t, const VectorXd& x, const Penalty& penalty,
                 bool derivatives, ProgramValues& e) {
  const double w = penalty.weight;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double d = off(x[i], penalty.variables[i], t.lower()[i], t.upper()[i]);
    if (d == 0.0) continue;
    e.cost += w * d * d;
    if (!derivatives) continue;
    e.gradient[i] += 2.0 * w * d;
    e.hessian(i, i) += 2.0 * w;
  }
  for (Eigen::Index i = 0; i < e.constraints.size(); ++i) {
    const double d = off(e.constraints[i], penalty.constraints[i], t.constraint_lower()[i],
                         t.constraint_upper()[i]);
    if (d == 0.0) continue;
    e.cost += w * d * d;
    if (!derivatives) continue;
    e.gradient += 2.0 * w * d * e.jacobian.row(i).transpose();
    e.hessian.noalias() += 2.0 * w * e.jacobian.row(i).transpose() * e.jacobian.row(i);
  }
}

}  // namespace

VectorXd levenberg_marquardt(Attempt& a, const VectorXd& from, const Penalty* penalty) {
  using Want = Transcription::Want;
  Transcription& problem = a.problem;
  const bool rough = penalty != nullptr && penalty->rough;
  const double tolerance = rough ? 1e-5 : a.settings.tolerance;
  const int most = a.settings.iterations;
  const auto evaluate = [&](const VectorXd& at, Want want, ProgramValues& e) {
    ++a.evaluations;
    if (!problem.evaluate(at, want, e)) return false;
    if (want == Want::derivatives) a.offer(at, e.cost, problem.violation(at, e.constraints));
    if (penalty != nullptr) add_penalty(problem, at, *penalty, want == Want::derivatives, e);
    return true;
  };
  VectorXd x = from;
  ProgramValues here, there;
  if (!evaluate(x, Want::derivatives, here)) {
    a.end = SolverEnd::failed;
    a.message = "no motion can be computed from the start: " + problem.failure();
    return x;
  }
  VectorXd scale = here.hessian.diagonal();
  const double least = 1e-12 * std::max(scale.maxCoeff(), 1e-300);
  scale = scale.cwiseMax(least);
  double damping = 1e-3, growth = 2.0;
  double step_length = 0.0;
  // Roughly means: until ten iterations gain less than a hundredth.
  constexpr int kPatience = 10;
  std::vector<double> costs;
  for (a.iterations = 0;; ++a.iterations) {
    costs.push_back(here.cost);
    if (rough && costs.size() > kPatience && here.cost > 0.99 * costs[costs.size() - kPatience - 1])
      return x;
    a.stationarity = here.gradient.lpNorm<Eigen::Infinity>();
    if (a.settings.progress && !a.settings.progress({a.start, a.iterations, here.cost, 0.0,
                                                     a.stationarity, step_length, a.evaluations})) {
      a.end = SolverEnd::stopped;
      a.message = "stopped on request";
      return x;
    }
    if (a.iterations >= most) {
      a.end = SolverEnd::iterations;
      a.message = "the number of iterations was used up before the cost had settled";
      return x;
    }
    if (a.late()) {
      a.end = SolverEnd::time;
      a.message = "the time limit was reached before the cost had settled";
      return x;
    }
    // Downhill until the cost falls.
    for (;;) {
      MatrixXd system = here.hessian;
      system.diagonal() += damping * scale;
      const Cholesky factor(system);
      const VectorXd step = -factor.solve(here.gradient);
      const double promised = -step.dot(here.gradient) - 0.5 * step.dot(here.hessian * step);
      const bool tiny = !(promised > 1e-3 * tolerance * here.cost) && promised > -1e-10 * here.cost;
      // With little damping the promise is what is left to gain.
      if (factor.succeeded() && tiny && damping < 1.0) {
        a.end = SolverEnd::converged;
        a.message = "converged: no direction promises a lower cost";
        return x;
      }
      const VectorXd next = x + step;
      const bool computed =
          factor.succeeded() && next.allFinite() && evaluate(next, Want::values, there);
      if (computed && there.cost < here.cost) {
        const double ratio = (here.cost - there.cost) / promised;
        x = next;
        step_length = step.norm();
        const double cube = 2.0 * ratio - 1.0;
        damping *= std::max(1.0 / 3.0, 1.0 - cube * cube * cube);
        growth = 2.0;
        if (!evaluate(x, Want::derivatives, here)) {
          a.end = SolverEnd::stuck;
          a.message = "stuck: the derivatives of the motion cannot be computed";
          return x;
        }
        scale = scale.cwiseMax(here.hessian.diagonal());
        break;
      }
      damping *= growth;
      growth *= 2.0;
      if (!(step.norm() > 1e-14 * (x.norm() + 1e-14)) || !std::isfinite(damping)) {
        // Rounding hides what is left.
        a.end =
            a.stationarity <= 1e-6 * (1.0 + here.cost) ? SolverEnd::converged : SolverEnd::stuck;
        a.message = a.end == SolverEnd::converged
                        ? "converged: rounding hides any further gain"
                        : "stuck: no step lowers the cost, though its gradient is not zero";
        return x;
      }
      if (a.late()) break;
      if (a.settings.progress &&
          !a.settings.progress({a.start, a.iterations, here.cost, 0.0, a.stationarity, step_length,
                                a.evaluations})) {
        a.end = SolverEnd::stopped;
        a.message = "stopped on request";
        return x;
      }
    }
  }
}

// The shifts grow by what the conditions are off, until nothing is; the weight grows where that is
// slow (Hestenes; Powell 1969).
void augmented_lagrangian(Attempt& a, const VectorXd& from) {
  Transcription& t = a.problem;
  Penalty penalty;
  penalty.rough = false;
  penalty.weight = 1000.0;
  penalty.variables = VectorXd::Zero(t.variables());
  penalty.constraints = VectorXd::Zero(t.constraints());
  VectorXd x = from;
  double before = std::numeric_limits<double>::infinity();
  int iterations = 0;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    x = levenberg_marquardt(a, x, &penalty);
    iterations += a.iterations;
    a.iterations = iterations;
    if (a.end == SolverEnd::failed || a.end == SolverEnd::time || a.end == SolverEnd::stopped)
      return;
    ProgramValues e;
    ++a.evaluations;
    if (!t.evaluate(x, Transcription::Want::values, e)) break;
    const double violation = t.violation(x, e.constraints);
    if (violation <= a.settings.feasibility && a.end == SolverEnd::converged) {
      a.best = x;
      a.best_cost = e.cost;
      a.best_violation = violation;
      a.message = "converged: the conditions of an optimum hold (augmented Lagrangian)";
      return;
    }
    for (Eigen::Index i = 0; i < x.size(); ++i)
      penalty.variables[i] = off(x[i], penalty.variables[i], t.lower()[i], t.upper()[i]);
    for (Eigen::Index i = 0; i < e.constraints.size(); ++i)
      penalty.constraints[i] = off(e.constraints[i], penalty.constraints[i],
                                   t.constraint_lower()[i], t.constraint_upper()[i]);
    if (violation > 0.25 * before) {
      constexpr double kGrowth = 10.0;
      penalty.weight *= kGrowth;
      penalty.variables /= kGrowth;
      penalty.constraints /= kGrowth;
    }
    before = violation;
    if (penalty.weight > 1e10) break;
  }
  a.end = SolverEnd::infeasible;
  a.message = "no motion was found that keeps all bounds and conditions";
}

}  // namespace catena
