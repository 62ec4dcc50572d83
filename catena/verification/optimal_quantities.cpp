// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <mutex>

#include "catena/optimal/problem_file.h"
#include "catena/verification/quantity_tables.h"

namespace catena {
namespace {

using Request = const QuantityRequest&;
using Matrix = Eigen::MatrixXd;

// A problem is solved once for all quantities of it.
const OptimalMotion& solved(const std::string& path) {
  static std::map<std::string, OptimalMotion> known;
  static std::mutex lock;
  const std::lock_guard guard(lock);
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  const ProblemFile file = read_problem_file(path);
  OptimalMotion motion = solve(file.problem, file.solver);
  if (!motion.converged) throw NumericalError(path + ": " + motion.message);
  return known.emplace(path, std::move(motion)).first->second;
}

Matrix guess_cost(Request r) { return scalar(solved(r.of).guess_cost); }
Matrix least_cost(Request r) { return scalar(solved(r.of).cost); }
Matrix least_duration(Request r) { return scalar(solved(r.of).duration); }
Matrix final_position(Request r) { return coordinates_of_freedoms(r, solved(r.of).final_state.q); }
Matrix final_velocity(Request r) { return solved(r.of).final_state.v; }
Matrix final_violation(Request r) { return scalar(solved(r.of).violation); }
Matrix optimal_coefficients(Request r) { return solved(r.of).variables; }

}  // namespace

std::vector<Quantity> optimal_quantities() {
  using Of = Quantity::Of;
  return {
      scalar_row("guess_cost", "of the guess", guess_cost, Of::problem),
      scalar_row("least_cost", "of the optimal motion", least_cost, Of::problem),
      scalar_row("least_duration", "of the optimal motion", least_duration, Of::problem),
      freedom_row("final_position", "where it ends", final_position, Of::problem),
      freedom_row("final_velocity", "how it ends", final_velocity, Of::problem),
      scalar_row("final_violation", "of its conditions", final_violation, Of::problem),
      list_row("optimal_coefficients", "free, of all splines", optimal_coefficients, Of::problem)};
}

}  // namespace catena
