// SPDX-License-Identifier: BSD-3-Clause
// One run of a solver from one start, with the best point so far; shared by the solvers.
#pragma once

#include <chrono>

#include "catena/optimal/solve.h"

namespace catena {

struct Attempt {
  Attempt(Transcription& t, const SolverSettings& s) : problem(t), settings(s) {}

  Transcription& problem;
  const SolverSettings& settings;
  std::chrono::steady_clock::time_point deadline;
  int start = 0;

  // Feasible points by their cost, others by their violation.
  Eigen::VectorXd best;
  double best_cost = std::numeric_limits<double>::infinity();
  double best_violation = std::numeric_limits<double>::infinity();
  void offer(const Eigen::VectorXd& x, double cost, double violation);

  SolverEnd end = SolverEnd::failed;
  std::string message;
  double stationarity = 0.0;
  int iterations = 0;
  std::int64_t evaluations = 0;

  // The limit of the settings, from the start of the whole search on.
  static std::chrono::steady_clock::time_point deadline_of(
      std::chrono::steady_clock::time_point began, double limit);
  bool late() const { return std::chrono::steady_clock::now() >= deadline; }
};

// Bounds and conditions as costs: weight · d², d the distance of a value plus its shift from its
// bounds (augmented Lagrangian; the shifts are the multipliers over twice the weight).
struct Penalty {
  double weight = 0.0;
  Eigen::VectorXd variables, constraints;  // shifts
  bool rough = true;                       // just come near
};
// Returns the last point.
Eigen::VectorXd levenberg_marquardt(Attempt& attempt, const Eigen::VectorXd& from,
                                    const Penalty* penalty = nullptr);
void augmented_lagrangian(Attempt& attempt, const Eigen::VectorXd& from);
void ipopt(Attempt& attempt, const Eigen::VectorXd& from);

}  // namespace catena
