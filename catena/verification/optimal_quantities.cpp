// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/optimal_quantities.h"

#include <map>
#include <mutex>

#include "catena/optimal/problem_file.h"

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

}  // namespace

Matrix guess_cost(Request r) { return scalar(solved(r.of).guess_cost); }
Matrix least_cost(Request r) { return scalar(solved(r.of).cost); }
Matrix least_duration(Request r) { return scalar(solved(r.of).duration); }
Matrix final_position(Request r) { return coordinates_of_freedoms(r, solved(r.of).final_state.q); }
Matrix final_velocity(Request r) { return solved(r.of).final_state.v; }
Matrix final_violation(Request r) { return scalar(solved(r.of).violation); }
Matrix optimal_coefficients(Request r) { return solved(r.of).variables; }

}  // namespace catena
