// SPDX-License-Identifier: BSD-3-Clause
// Levenberg-Marquardt with Nielsen's damping [Madsen, Nielsen & Tingleff 2004] and
// Marquardt's scaling: (JᵀJ + μ D) δ = −Jᵀ r, D the largest diagonal of JᵀJ seen so far.
// JᵀJ is summed along the motion: J has a row for every instant and is never formed, so
// damped_step() (base/damped_step.h), which takes J, does not serve here.
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

// Violation of the bounds of x, shifted.
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

// One run of the method.
class LevenbergMarquardt {
 public:
  LevenbergMarquardt(Attempt& a, const Penalty* penalty)
      : a_(a),
        penalty_(penalty),
        is_rough_(penalty != nullptr && penalty->rough),
        tolerance_(is_rough_ ? kRoughTolerance : a.settings.tolerance) {}

  VectorXd run(const VectorXd& from) {
    x_ = from;
    if (!evaluate(x_, Want::derivatives, here_)) {
      end(SolverEnd::failed, "no motion can be computed from the start: " + a_.problem.failure());
      return x_;
    }
    const double largest = std::max(here_.hessian.diagonal().maxCoeff(), kLeastDiagonal);
    scale_ = here_.hessian.diagonal().cwiseMax(kLeastScale * largest);
    std::vector<double> costs;
    for (a_.iterations = 0;; ++a_.iterations) {
      costs.push_back(here_.cost);
      if (is_rough_ && costs.size() > kPatience &&
          here_.cost > (1.0 - kRoughGain) * costs[costs.size() - kPatience - 1])
        return x_;
      a_.stationarity = here_.gradient.lpNorm<Eigen::Infinity>();
      if (must_end() || !go_downhill()) return x_;
    }
  }

 private:
  using Want = Transcription::Want;
  // Roughly means: until ten iterations gain less than a hundredth.
  static constexpr std::size_t kPatience = 10;
  static constexpr double kRoughGain = 0.01;
  static constexpr double kRoughTolerance = 1e-5;
  // Entries of the scaling D are at least this fraction of the largest, which is at least
  // kLeastDiagonal (no division by zero).
  static constexpr double kLeastScale = 1e-12;
  static constexpr double kLeastDiagonal = 1e-300;

  bool evaluate(const VectorXd& at, Want want, ProgramValues& e) {
    ++a_.evaluations;
    if (!a_.problem.evaluate(at, want, e)) return false;
    if (want == Want::derivatives) a_.offer(at, e.cost, a_.problem.violation(at, e.constraints));
    if (penalty_ != nullptr) add_penalty(a_.problem, at, *penalty_, want == Want::derivatives, e);
    return true;
  }

  bool end(SolverEnd how, const std::string& message) {
    a_.end = how;
    a_.message = message;
    return true;
  }

  bool is_stopped() {
    if (!a_.settings.progress ||
        a_.settings.progress({a_.start, a_.iterations, here_.cost, 0.0, a_.stationarity,
                              step_length_, a_.evaluations}))
      return false;
    return end(SolverEnd::stopped, "stopped on request");
  }

  bool must_end() {
    if (is_stopped()) return true;
    if (a_.iterations >= a_.settings.iterations)
      return end(SolverEnd::iterations,
                 "the limit of iterations was reached before the cost had settled");
    return a_.late() &&
           end(SolverEnd::time, "the time limit was reached before the cost had settled");
  }

  // Steps with increasing damping until the cost decreases; false: the search has ended.
  bool go_downhill() {
    for (;;) {
      MatrixXd system = here_.hessian;
      system.diagonal() += damping_ * scale_;
      const Cholesky factor(system);
      const VectorXd step = -factor.solve(here_.gradient);
      const double promised = -step.dot(here_.gradient) - 0.5 * step.dot(here_.hessian * step);
      const bool tiny =
          !(promised > 1e-3 * tolerance_ * here_.cost) && promised > -1e-10 * here_.cost;
      // With little damping the predicted decrease is the remaining gain.
      if (factor.succeeded() && tiny && damping_ < 1.0)
        return !end(SolverEnd::converged, "converged: no direction predicts a lower cost");
      const VectorXd next = x_ + step;
      if (factor.succeeded() && next.allFinite() && evaluate(next, Want::values, there_) &&
          there_.cost < here_.cost)
        return take(next, step, promised);
      damping_ *= growth_;
      growth_ *= 2.0;
      if (!(step.norm() > 1e-14 * (x_.norm() + 1e-14)) || !std::isfinite(damping_)) {
        // Rounding hides the remaining gain.
        if (a_.stationarity <= 1e-6 * (1.0 + here_.cost))
          return !end(SolverEnd::converged, "converged: rounding hides any further gain");
        return !end(SolverEnd::stuck,
                    "stuck: no step lowers the cost, though its gradient is not zero");
      }
      if (a_.late()) return true;
      if (is_stopped()) return false;
    }
  }

  // A step that lowers the cost; less damping if the decrease is as predicted (Nielsen).
  bool take(const VectorXd& next, const VectorXd& step, double promised) {
    const double ratio = (here_.cost - there_.cost) / promised;
    x_ = next;
    step_length_ = step.norm();
    const double cube = 2.0 * ratio - 1.0;
    damping_ *= std::max(1.0 / 3.0, 1.0 - cube * cube * cube);
    growth_ = 2.0;
    if (!evaluate(x_, Want::derivatives, here_))
      return !end(SolverEnd::stuck, "stuck: the derivatives of the motion cannot be computed");
    scale_ = scale_.cwiseMax(here_.hessian.diagonal());
    return true;
  }

  Attempt& a_;
  const Penalty* penalty_;
  bool is_rough_;
  double tolerance_;
  VectorXd x_, scale_;  // D
  ProgramValues here_, there_;
  double damping_ = 1e-3, growth_ = 2.0, step_length_ = 0.0;
};

}  // namespace

VectorXd levenberg_marquardt(Attempt& a, const VectorXd& from, const Penalty* penalty) {
  return LevenbergMarquardt(a, penalty).run(from);
}

// Augmented Lagrangian (Hestenes; Powell 1969): the shifts grow by the violation of the conditions
// until there is none; the weight grows where convergence is slow.
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
  a.message = "infeasible: no motion was found that satisfies all bounds and conditions";
}

}  // namespace catena
