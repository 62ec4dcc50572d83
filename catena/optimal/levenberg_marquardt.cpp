// Levenberg and Marquardt's method with Nielsen's damping (Madsen, Nielsen & Tingleff 2004) and
// Marquardt's scaling: (JᵀJ + μ D) δ = −Jᵀ r, D the largest diagonal of JᵀJ seen so far.
#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Cholesky>

#include "catena/optimal/attempt.h"

namespace catena {
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Adds what leaves the bounds of variables and constraints as costs.
void add_penalty(const Transcription& t, const VectorXd& x, double penalty, bool derivatives,
                 Evaluation& e) {
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double off = x[i] - std::clamp(x[i], t.lower()[i], t.upper()[i]);
    if (off == 0.0) continue;
    e.cost += penalty * off * off;
    if (!derivatives) continue;
    e.gradient[i] += 2.0 * penalty * off;
    e.hessian(i, i) += 2.0 * penalty;
  }
  for (Eigen::Index i = 0; i < e.constraints.size(); ++i) {
    const double c = e.constraints[i];
    const double off = c - std::clamp(c, t.constraint_lower()[i], t.constraint_upper()[i]);
    if (off == 0.0) continue;
    e.cost += penalty * off * off;
    if (!derivatives) continue;
    e.gradient += 2.0 * penalty * off * e.jacobian.row(i).transpose();
    e.hessian.noalias() += 2.0 * penalty * e.jacobian.row(i).transpose() * e.jacobian.row(i);
  }
}

}  // namespace

VectorXd levenberg_marquardt(Attempt& a, const VectorXd& from, double penalty) {
  using Want = Transcription::Want;
  Transcription& problem = a.problem;
  const bool rough = penalty > 0.0;
  const double tolerance = rough ? 1e-5 : a.settings.tolerance;
  const int most = a.settings.iterations;
  const auto evaluate = [&](const VectorXd& at, Want want, Evaluation& e) {
    ++a.evaluations;
    if (!problem.evaluate(at, want, e)) return false;
    if (want == Want::derivatives) a.offer(at, e.cost, problem.violation(at, e.constraints));
    if (rough) add_penalty(problem, at, penalty, want == Want::derivatives, e);
    return true;
  };
  VectorXd x = from;
  Evaluation here, there;
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
      const Eigen::LLT<MatrixXd> factor(system);
      const VectorXd step = -factor.solve(here.gradient);
      const double promised = -step.dot(here.gradient) - 0.5 * step.dot(here.hessian * step);
      const bool tiny = !(promised > 1e-3 * tolerance * here.cost) && promised > -1e-10 * here.cost;
      // With little damping the promise is what is left to gain.
      if (factor.info() == Eigen::Success && tiny && damping < 1.0) {
        a.end = SolverEnd::converged;
        a.message = "converged: no direction promises a lower cost";
        return x;
      }
      const VectorXd next = x + step;
      const bool computed = factor.info() == Eigen::Success && next.allFinite() &&
                            evaluate(next, Want::values, there);
      if (computed && there.cost < here.cost) {
        const double ratio = (here.cost - there.cost) / promised;
        x = next;
        step_length = step.norm();
        const double cube = 2.0 * ratio - 1.0;
        damping *= std::max(1.0 / 3.0, 1.0 - cube * cube * cube);
        growth = 2.0;
        evaluate(x, Want::derivatives, here);
        scale = scale.cwiseMax(here.hessian.diagonal());
        break;
      }
      damping *= growth;
      growth *= 2.0;
      if (step.norm() <= 1e-14 * (x.norm() + 1e-14)) {
        // Rounding hides what is left.
        a.end =
            a.stationarity <= 1e-6 * (1.0 + here.cost) ? SolverEnd::converged : SolverEnd::stuck;
        a.message = a.end == SolverEnd::converged
                        ? "converged: rounding hides any further gain"
                        : "stuck: no step lowers the cost, though its gradient is not zero";
        return x;
      }
      if (a.late()) break;
    }
  }
}

}  // namespace catena
