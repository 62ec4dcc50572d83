// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/solve.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include "catena/optimal/attempt.h"

namespace catena {
using Eigen::VectorXd;

// In units of the cost by those of the conditions, squared: the weight of the published swing-ups.
static constexpr double kPenalty = 1000.0;

void Attempt::offer(const VectorXd& x, double cost, double violation) {
  const bool feasible = violation <= settings.feasibility;
  const bool had_feasible = best_violation <= settings.feasibility;
  const bool better =
      feasible ? !had_feasible || cost < best_cost : !had_feasible && violation < best_violation;
  if (!better) return;
  best = x;
  best_cost = cost;
  best_violation = violation;
}

std::chrono::steady_clock::time_point Attempt::deadline_of(
    std::chrono::steady_clock::time_point began, double limit) {
  using Clock = std::chrono::steady_clock;
  constexpr double kForEver = 1e8;  // s
  if (!(limit < kForEver)) return Clock::time_point::max();
  return began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit));
}

std::vector<std::string> mistakes(const SolverSettings& s) {
  std::vector<std::string> found;
  const auto need = [&](bool good, const std::string& text) {
    if (!good) found.push_back(text);
  };
  need(s.tolerance > 0.0 && s.tolerance < 1.0, "tolerance: must lie between 0 and 1");
  need(s.feasibility > 0.0 && std::isfinite(s.feasibility), "feasibility: must be above 0");
  need(s.accuracy >= 0.0, "accuracy: must not be negative");
  need(s.time_limit > 0.0, "time limit: must be above 0");
  need(s.iterations >= 0, "iterations: must not be negative");
  need(s.starts >= 1, "starts: must be 1 or more");
  need(s.spread >= 0.0 && std::isfinite(s.spread), "spread: must not be negative");
  return found;
}

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> kNames{"auto", "lm", "ipopt"};
  return kNames;
}

// An interior-point method that starts far from the conditions takes the first motion that meets
// them, however costly. So Levenberg-Marquardt, with the conditions as costs, approaches a good one
// first.
static VectorXd approached(Attempt& a, const VectorXd& start) {
  ProgramValues e;
  ++a.evaluations;
  if (a.problem.constraints() == 0 || !a.problem.evaluate(start, Transcription::Want::values, e) ||
      a.problem.violation(start, e.constraints) < 1e-2)
    return start;
  VectorXd x = start;
  Penalty penalty;
  penalty.weight = kPenalty;
  penalty.variables = VectorXd::Zero(a.problem.variables());
  penalty.constraints = VectorXd::Zero(a.problem.constraints());
  for (int round = 0; round < 3; ++round, penalty.weight *= 30.0) {
    x = levenberg_marquardt(a, x, &penalty);
    ++a.evaluations;
    if (a.late() || a.end == SolverEnd::stopped ||
        !a.problem.evaluate(x, Transcription::Want::values, e) ||
        a.problem.violation(x, e.constraints) < 0.05)
      break;
  }
  return x.cwiseMax(a.problem.lower()).cwiseMin(a.problem.upper());
}

OptimalMotion solve(const MotionProblem& problem, const SolverSettings& settings) {
  return solve(problem, settings, {});
}

namespace {

using Clock = std::chrono::steady_clock;

// IPOPT; if it does not converge, augmented Lagrangians from its best point.
void by_ipopt(Attempt& a, const VectorXd& start) {
  // Bounds on the variables alone, usually of the duration: Gauss-Newton steps converge faster.
  if (a.problem.constraints() == 0 && a.settings.solver != Solver::ipopt) {
    augmented_lagrangian(a, start);
    if (a.end == SolverEnd::converged || a.end == SolverEnd::stopped || a.end == SolverEnd::time)
      return;
  }
  ipopt(a, approached(a, start));
  if (a.end == SolverEnd::converged || a.end == SolverEnd::stopped || a.end == SolverEnd::time ||
      a.best.size() == 0 || a.settings.solver == Solver::ipopt)
    return;
  const SolverEnd end = a.end;
  const std::string message = a.message;
  const int iterations = a.iterations;
  const VectorXd best = a.best;
  augmented_lagrangian(a, best);
  a.iterations += iterations;
  if (a.end == SolverEnd::converged || a.end == SolverEnd::stopped || a.end == SolverEnd::time)
    return;
  a.end = end;
  a.message = message;
}

// One solver from one point.
Attempt attempt(Transcription& t, const SolverSettings& settings, Solver solver,
                Clock::time_point began, int number, const VectorXd& start) {
  Attempt a(t, settings);
  a.start = number;
  a.deadline = Attempt::deadline_of(began, settings.time_limit);
  if (number > 0 && a.late()) {
    a.end = SolverEnd::time;
    return a;
  }
  if (solver == Solver::levenberg_marquardt)
    levenberg_marquardt(a, start);
  else
    by_ipopt(a, start);
  return a;
}

// Takes over the result of an attempt if it is better, or the first. Converged ranks before not
// converged, feasible before infeasible, then the lower cost or violation.
void consider(const Attempt& a, const VectorXd& start, bool first, OptimalMotion& out) {
  const bool feasible = a.best.size() > 0 && a.best_violation <= a.settings.feasibility;
  const bool converged = a.end == SolverEnd::converged && feasible;
  if (converged) {
    const auto same = std::find_if(out.minima.begin(), out.minima.end(), [&](const Minimum& m) {
      return std::abs(m.cost - a.best_cost) <= 1e-5 * std::abs(m.cost);
    });
    if (same == out.minima.end())
      out.minima.push_back({a.best_cost, 1, a.best});
    else
      ++same->starts;
  }
  const auto rank = [](bool settled, bool kept) { return settled ? 2 : kept ? 1 : 0; };
  const int mine = rank(converged, feasible), held = rank(out.converged, out.feasible);
  if (!first && (mine < held || (mine == held && !(feasible ? a.best_cost < out.cost
                                                            : a.best_violation < out.violation))))
    return;
  out.converged = converged;
  out.feasible = feasible;
  out.end = a.end;
  out.message = a.message;
  out.stationarity = a.stationarity;
  out.variables = a.best.size() > 0 ? a.best : start;
  out.cost = a.best_cost;
  out.violation = a.best_violation;
}

// Cost, parts, conditions and end of the motion that was found, and their change on a finer grid:
// the largest of the final state and the relative one of the cost.
double measure(Transcription& t, OptimalMotion& out) {
  ProgramValues e;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  out.duration = t.duration(out.variables);
  out.grid = t.problem().grid;
  if (!t.evaluate(out.variables, Transcription::Want::values, e)) {
    out.parts = VectorXd::Zero(static_cast<Eigen::Index>(out.part_names.size()));
    out.final_state = t.problem().start;
    out.refined_cost = out.refined_change = kNaN;
    return 0.0;
  }
  out.cost = e.cost;
  out.parts = e.parts;
  int worst = -1;
  out.violation = t.violation(out.variables, e.constraints, &worst);
  out.worst = worst >= 0 ? t.constraint_name(worst, out.duration) : "";
  const auto end_on = [&](int finer) {
    State end;
    t.visit(
        out.variables,
        [&](const MotionPoint& p) {
          out.overshoot = std::max(out.overshoot, t.overshoot(p));
          if (p.last) end = p.state;
        },
        finer);
    return end;
  };
  out.overshoot = 0.0;
  out.final_state = end_on(1);
  try {
    const State finer = end_on(2);
    out.refined_change = std::max((finer.q - out.final_state.q).lpNorm<Eigen::Infinity>(),
                                  (finer.v - out.final_state.v).lpNorm<Eigen::Infinity>());
    out.refined_cost = t.refined_cost(out.variables);
  } catch (const NumericalError&) {
    out.refined_cost = out.refined_change = kNaN;
    return std::numeric_limits<double>::infinity();
  }
  if (std::isnan(out.refined_cost)) return std::numeric_limits<double>::infinity();
  return std::max(out.refined_change,
                  std::abs(out.refined_cost - out.cost) / std::max(std::abs(out.cost), 1e-12));
}

}  // namespace

OptimalMotion solve(const MotionProblem& problem, const SolverSettings& settings,
                    const VectorXd& from) {
  const auto began = Clock::now();
  const std::clock_t processor = std::clock();
  const std::vector<std::string> wrong = mistakes(settings);
  if (!wrong.empty()) {
    std::string text = "the settings of the solver are wrong:";
    for (const std::string& line : wrong) text += "\n  " + line;
    throw Error(text);
  }
  auto t = std::make_unique<Transcription>(problem);
  const VectorXd guess = from.size() > 0 ? from : t->guess();
  if (guess.size() != t->variables())
    throw Error("the warm start has " + std::to_string(guess.size()) +
                " numbers, but the problem has " + std::to_string(t->variables()));
  const bool plain = !t->bounded() && t->constraints() == 0;
  if (settings.solver == Solver::levenberg_marquardt && !plain)
    throw Error(
        "the solver lm (Levenberg-Marquardt) takes no bounds and no conditions, and a free "
        "duration has bounds; use ipopt for this problem");
  OptimalMotion out;
  out.solver = settings.solver != Solver::automatic ? settings.solver
               : plain                              ? Solver::levenberg_marquardt
                                                    : Solver::ipopt;
  out.guess = guess;
  out.part_names = t->cost_names();
  ProgramValues e;
  out.guess_cost = t->evaluate(guess, Transcription::Want::values, e)
                       ? e.cost
                       : std::numeric_limits<double>::quiet_NaN();
  ++out.evaluations;

  std::mt19937_64 random(settings.seed);
  // The same numbers on every machine, which std::uniform_real_distribution does not guarantee.
  const auto uniform = [&] {
    return 2.0 * std::ldexp(static_cast<double>(random() >> 11), -53) - 1.0;
  };
  for (int s = 0; s < std::max(1, settings.starts); ++s) {
    VectorXd start = guess;
    for (Eigen::Index i = 0; i < start.size() && s > 0; ++i) {
      const bool time = problem.duration.free() && i + 1 == start.size();
      start[i] += settings.spread * uniform() * (time ? 0.1 * guess[i] : 1.0);
    }
    start = start.cwiseMax(t->lower()).cwiseMin(t->upper());
    const Attempt a = attempt(*t, settings, out.solver, began, s, start);
    if (s > 0 && a.evaluations == 0) break;  // no time was left
    out.evaluations += a.evaluations;
    out.iterations += a.iterations;
    consider(a, start, s == 0, out);
    if (a.end == SolverEnd::stopped || a.end == SolverEnd::time) break;
  }
  std::sort(out.minima.begin(), out.minima.end(),
            [](const Minimum& a, const Minimum& b) { return a.cost < b.cost; });

  // An optimizer exploits a coarse grid; if a finer grid gives other results, the problem is solved
  // again there.
  constexpr int kFinest = 4;
  for (int round = 0; measure(*t, out) > settings.accuracy && settings.accuracy > 0.0 &&
                      out.converged && round < kFinest;
       ++round) {
    MotionProblem finer = t->problem();
    finer.grid.steps *= 2;
    finer.grid.parts *= 2;
    auto next = std::make_unique<Transcription>(finer);
    const VectorXd start = out.variables;
    const Attempt a = attempt(*next, settings, out.solver, began, 0, start);
    out.evaluations += a.evaluations;
    out.iterations += a.iterations;
    if (a.end != SolverEnd::converged || a.best_violation > settings.feasibility) break;
    t = std::move(next);
    const std::vector<Minimum> minima = std::move(out.minima);
    consider(a, start, true, out);
    out.minima = minima;  // of the starts, on the first grid
  }
  if (!out.feasible && !out.worst.empty()) out.message += "; the worst is the " + out.worst;
  out.processor_time = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  out.wall_time = std::chrono::duration<double>(Clock::now() - began).count();
  return out;
}

}  // namespace catena
