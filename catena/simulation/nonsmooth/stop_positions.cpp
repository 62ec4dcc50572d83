// SPDX-License-Identifier: BSD-3-Clause
// Where freedoms are that are at their limits, and that they stay there (stops_and_friction.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/nonsmooth/stops_and_friction.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// What is held in a loop is brought back when it is this far off (rad, m), or this fast.
constexpr double kHeldOff = 1e-8;
constexpr double kHeldSpeed = 1e-6;

}  // namespace

double StopsAndFriction::beyond_limit(const Candidate& c, const State& state) const {
  if (c.side == 0) return 0.0;
  const Stop& stop = stop_of(c.freedom);
  return state.q[stop.coordinate] - (c.side < 0 ? stop.lower : stop.upper);
}

// What is at a limit to rounding, exactly there. In a loop the position of a freedom is not its
// own: all move, as velocities do. Otherwise it would sink a little with every bounce.
void StopsAndFriction::bring_to_limits(std::span<const Candidate> at, State& state,
                                       Eigen::VectorXd& y) {
  Eigen::VectorXd off(static_cast<Eigen::Index>(at.size()));
  for (std::size_t k = 0; k < at.size(); ++k)
    off[static_cast<Eigen::Index>(k)] = beyond_limit(at[k], state);
  if (off.isZero(0.0)) return;
  if (equations_.coordinates().chart() != nullptr) {
    move_back(at, responses(state, at, found_), off, state, y);
    return;
  }
  for (const Candidate& c : at) {
    const Stop& stop = stop_of(c.freedom);
    state.q[stop.coordinate] = c.side < 0 ? stop.lower : stop.upper;
  }
  equations_.set_state(state, y);
}

void StopsAndFriction::move_back(std::span<const Candidate> at, const Eigen::MatrixXd& response,
                                 const Eigen::VectorXd& off, State& state, Eigen::VectorXd& y) {
  const Mechanism& m = equations_.mechanism();
  Eigen::VectorXd by_freedom = Eigen::VectorXd::Zero(m.freedoms());
  for (std::size_t k = 0; k < at.size(); ++k)
    by_freedom[at[k].freedom] = off[static_cast<Eigen::Index>(k)];
  BoundedProblem problem = problem_of(at, response, by_freedom);
  problem.least.setConstant(-kInfinity);
  Eigen::VectorXd back = solve(problem).push;
  for (Eigen::Index k = 0; k < back.size(); ++k) back[k] *= at[index(k)].sense();
  const Eigen::VectorXd way = response * back;
  for (int i = 0; i < m.freedoms(); ++i)
    if (const int c = m.coordinate_of_freedom()[index(i)]; c >= 0) state.q[c] += way[i];
  equations_.set_state(state, y);
  state = state_of(y);
}

bool StopsAndFriction::hold(const Instant& here, Eigen::VectorXd& y) {
  if (equations_.coordinates().chart() == nullptr || equations_.steps()) return false;
  const Mechanism& m = equations_.mechanism();
  State state = here.state;
  std::vector<Candidate> held;
  bool any = false;
  for (int i = 0; i < m.freedoms(); ++i) {
    const FreedomMode& mode = equations_.modes()[index(i)];
    if (!mode.held()) continue;
    held.push_back({i, mode.stop});
    any = any || std::abs(state.v[i]) > kHeldSpeed ||
          std::abs(beyond_limit(held.back(), state)) > kHeldOff;
  }
  if (!any) return false;
  const Eigen::MatrixXd response = responses(state, held, found_);
  Eigen::VectorXd off(static_cast<Eigen::Index>(held.size()));
  for (std::size_t k = 0; k < held.size(); ++k)
    off[static_cast<Eigen::Index>(k)] = beyond_limit(held[k], state);
  move_back(held, response, off, state, y);
  BoundedProblem problem = problem_of(held, response, state.v);
  problem.least.setConstant(-kInfinity);
  push(held, response, solve(problem), Eigen::VectorXd::Zero(off.size()), state, y);
  return true;
}

void StopsAndFriction::check(const Instant& here) const {
  if (equations_.steps()) return;
  const State& state = here.state;
  for (const Stop& stop : stops_) {
    const double q = state.q[stop.coordinate];
    const double beyond =
        std::max(stop.outside < 0 ? 0.0 : stop.lower - q, stop.outside > 0 ? 0.0 : q - stop.upper);
    if (!(beyond > kDeepest)) continue;
    const auto& names = equations_.mechanism().velocity_names();
    throw NonsmoothError(fmt::format(
        "'{}' is at {:.6g} at time {} s, {:.3g} beyond its limits {:.6g} to {:.6g}; smaller "
        "tolerances or a shorter step may help",
        names[index(stop.freedom)], q, number(here.time), beyond, stop.lower, stop.upper));
  }
}

}  // namespace catena
