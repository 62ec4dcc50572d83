#include "catena/optimal/solve.h"

#include <algorithm>
#include <cmath>
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

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> kNames{"auto", "lm", "ipopt"};
  return kNames;
}

// An interior-point method that starts far from the conditions takes the first motion that meets
// them, however dear. Levenberg and Marquardt's method, with the conditions as costs, comes closer
// to a good one first.
static VectorXd approached(Attempt& a, const VectorXd& start) {
  Evaluation e;
  ++a.evaluations;
  if (a.problem.constraints() == 0 || !a.problem.evaluate(start, Transcription::Want::values, e) ||
      a.problem.violation(start, e.constraints) < 1e-2)
    return start;
  const VectorXd near = levenberg_marquardt(a, start, kPenalty);
  return near.cwiseMax(a.problem.lower()).cwiseMin(a.problem.upper());
}

OptimalMotion solve(const MotionProblem& problem, const SolverSettings& settings) {
  return solve(problem, settings, {});
}

OptimalMotion solve(const MotionProblem& problem, const SolverSettings& settings,
                    const VectorXd& from) {
  const auto began = std::chrono::steady_clock::now();
  Transcription t(problem);
  const VectorXd guess = from.size() > 0 ? from : t.guess();
  if (guess.size() != t.variables())
    throw Error("a warm start of " + std::to_string(guess.size()) + " numbers for a problem of " +
                std::to_string(t.variables()));
  const bool plain = t.least_squares() && !t.bounded() && t.constraints() == 0;
  if (settings.solver == Solver::levenberg_marquardt && !plain)
    throw Error(
        "Levenberg and Marquardt's method takes sums of squares without bounds and conditions; "
        "use ipopt for this problem");
  OptimalMotion out;
  out.solver = settings.solver != Solver::automatic ? settings.solver
               : plain                              ? Solver::levenberg_marquardt
                                                    : Solver::ipopt;
  out.guess = guess;
  out.part_names = t.cost_names();
  Evaluation e;
  out.guess_cost = t.evaluate(guess, Transcription::Want::values, e)
                       ? e.cost
                       : std::numeric_limits<double>::quiet_NaN();
  ++out.evaluations;

  std::mt19937_64 random(settings.seed);
  // The same numbers on every machine, which std::uniform_real_distribution does not promise.
  const auto uniform = [&] {
    return 2.0 * std::ldexp(static_cast<double>(random() >> 11), -53) - 1.0;
  };
  bool have = false;
  for (int s = 0; s < std::max(1, settings.starts); ++s) {
    VectorXd start = guess;
    if (s > 0)
      for (Eigen::Index i = 0; i < start.size(); ++i) {
        const bool time = problem.duration.free() && i + 1 == start.size();
        start[i] += settings.spread * uniform() * (time ? 0.1 * guess[i] : 1.0);
      }
    start = start.cwiseMax(t.lower()).cwiseMin(t.upper());
    Attempt a(t, settings);
    a.start = s;
    a.deadline = std::isfinite(settings.time_limit)
                     ? began + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                   std::chrono::duration<double>(settings.time_limit))
                     : std::chrono::steady_clock::time_point::max();
    if (s > 0 && a.late()) break;
    if (out.solver == Solver::levenberg_marquardt)
      levenberg_marquardt(a, start);
    else
      ipopt(a, approached(a, start));
    out.evaluations += a.evaluations;
    out.iterations += a.iterations;
    const bool feasible = a.best.size() > 0 && a.best_violation <= settings.feasibility;
    const bool converged = a.end == SolverEnd::converged && feasible;
    if (converged) {
      const auto same = std::find_if(out.minima.begin(), out.minima.end(), [&](const Minimum& m) {
        return std::abs(m.cost - a.best_cost) <= 1e-5 * (std::abs(m.cost) + 1e-300);
      });
      if (same == out.minima.end())
        out.minima.push_back({a.best_cost, 1, a.best});
      else
        ++same->starts;
    }
    // Converged before not, feasible before not, then the lower cost or violation.
    const auto rank = [&](bool conv, bool feas) { return conv ? 2 : feas ? 1 : 0; };
    const int mine = rank(converged, feasible), held = rank(out.converged, out.feasible);
    const bool better =
        !have || mine > held ||
        (mine == held && (feasible ? a.best_cost < out.cost : a.best_violation < out.violation));
    if (better) {
      have = true;
      out.converged = converged;
      out.feasible = feasible;
      out.end = a.end;
      out.message = a.message;
      out.stationarity = a.stationarity;
      out.variables = a.best.size() > 0 ? a.best : start;
      out.cost = a.best_cost;
      out.violation = a.best_violation;
    }
    if (a.end == SolverEnd::stopped) break;
  }
  std::sort(out.minima.begin(), out.minima.end(),
            [](const Minimum& a, const Minimum& b) { return a.cost < b.cost; });

  out.duration = t.duration(out.variables);
  if (t.evaluate(out.variables, Transcription::Want::values, e)) {
    out.cost = e.cost;
    out.parts = e.parts;
    int worst = -1;
    out.violation = t.violation(out.variables, e.constraints, &worst);
    if (worst >= 0) out.worst = t.constraint_name(worst, out.duration);
    t.visit(out.variables, [&](const MotionPoint& p) {
      if (p.last) out.final_state = p.state;
    });
    out.refined_cost = t.refined_cost(out.variables);
  } else {
    out.parts = VectorXd::Zero(static_cast<Eigen::Index>(out.part_names.size()));
    out.final_state = problem.start;
    out.refined_cost = std::numeric_limits<double>::quiet_NaN();
  }
  if (!out.feasible && !out.worst.empty()) out.message += "; the worst is the " + out.worst;
  out.wall_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

}  // namespace catena
