// SPDX-License-Identifier: BSD-3-Clause
// Solves motion problems (problem.h): trajectory optimization by direct single shooting with
// B-splines.
//
//   const OptimalMotion best = solve(problem, {.starts = 5});
//   if (best.converged) std::cout << best.cost << " " << best.message << "\n";
//
//   levenberg_marquardt   costs that are sums of squares, no bounds and no conditions that the
//                         splines do not hold by themselves: the most reliable here (it reaches
//                         every optimum of [Sohl & Bobrow 2001])
//   ipopt                 everything else: the interior-point method of [Wächter & Biegler 2006],
//                         with exact gradients. Where it does not converge, an augmented
//                         Lagrangian method follows ([Nocedal & Wright 2006], chapter 17):
//                         Levenberg-Marquardt on the cost and the squares of shifted conditions
//
// The result is a local optimum. Several starts, spread around the guess with a given seed, search
// for others. Nothing else is random: the same problem gives the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catena/optimal/transcription.h"

namespace catena {

enum class Solver { automatic, levenberg_marquardt, ipopt };
enum class HessianModel { automatic, gauss_newton, limited_memory };

struct SolverProgress {
  int start = 0;  // number of the start, from 0
  int iteration = 0;
  double cost = 0.0;
  double violation = 0.0;     // of bounds and conditions
  double stationarity = 0.0;  // largest entry of the (Lagrangian's) gradient
  double step = 0.0;          // length of the last
  std::int64_t evaluations = 0;
};

struct SolverSettings {
  Solver solver = Solver::automatic;
  HessianModel hessian = HessianModel::automatic;
  double tolerance = 1e-9;    // of the cost, relative
  double feasibility = 1e-8;  // of bounds and conditions, in their own units
  // Accuracy of the grid: of the final state in its units, and of the cost, relative. If a grid
  // twice as fine differs by more, the search continues on it, up to four times. 0: the given grid
  // alone.
  double accuracy = 1e-6;
  int iterations = 500;
  double time_limit = std::numeric_limits<double>::infinity();  // s, of all starts together
  int starts = 1;
  std::uint64_t seed = 1;
  double spread = 1.0;  // of the starts: each coefficient moves by up to this much
  // Called after each iteration; false: stop with the best so far.
  std::function<bool(const SolverProgress&)> progress = {};
};

enum class SolverEnd { converged, iterations, time, stopped, stuck, infeasible, failed };

struct Minimum {
  double cost = 0.0;
  int starts = 0;  // that ended there
  Eigen::VectorXd variables;
};

struct OptimalMotion {
  bool converged = false;
  bool feasible = false;
  SolverEnd end = SolverEnd::failed;
  std::string message;                // how it ended, in words
  Solver solver = Solver::automatic;  // the one that was used

  Eigen::VectorXd variables, guess;
  double duration = 0.0;
  double cost = 0.0, guess_cost = 0.0;  // NaN: no motion could be computed from the guess
  double refined_cost = 0.0;            // on a grid twice as fine as
  MotionGrid grid;                      // the one of the result
  double refined_change = 0.0;          // of the final state, there
  Eigen::VectorXd parts;                // of the cost
  std::vector<std::string> part_names;
  double violation = 0.0;
  double overshoot = 0.0;  // of bounds on the path, between the points at which they are kept
  std::string worst;       // the largest violation, in words
  double stationarity = 0.0;
  int iterations = 0;
  std::int64_t evaluations = 0;  // of the motion, with derivatives and without
  double wall_time = 0.0;        // s
  double processor_time = 0.0;   // s
  std::vector<Minimum> minima;   // of several starts, least first
  State final_state;
};

// Mistakes of the settings, one sentence each.
std::vector<std::string> mistakes(const SolverSettings& settings);

// Throws Error with all mistakes of the problem and of the settings.
OptimalMotion solve(const MotionProblem& problem, const SolverSettings& settings = {});
// From these variables instead of the guess: a warm start.
OptimalMotion solve(const MotionProblem& problem, const SolverSettings& settings,
                    const Eigen::VectorXd& from);

const std::vector<std::string>& solver_names();

}  // namespace catena
