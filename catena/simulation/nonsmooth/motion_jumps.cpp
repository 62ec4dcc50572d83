// SPDX-License-Identifier: BSD-3-Clause
// Prescribed motions whose velocity jumps, among stops (stops_and_friction.h).
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/nonsmooth/stops_and_friction.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Velocities of a prescribed motion that differ by less are the same.
constexpr double kSameSpeed = 1e-9;

}  // namespace

bool StopsAndFriction::jump_motions(double t, const State& before, Eigen::VectorXd& y,
                                    std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  State after = equations_.at(t, y).state;
  ImpulseInput input;
  input.locked.assign(index(m.freedoms()), 0);
  input.target = before.v;
  bool any = false;
  for (int i = 0; i < m.freedoms(); ++i) {
    if (!equations_.prescribed(i)) continue;
    const std::string& name = m.velocity_names()[index(i)];
    const int c = m.coordinate_of_freedom()[index(i)];
    if (c >= 0 && std::abs(after.q[c] - before.q[c]) > kTouching * (1.0 + std::abs(before.q[c])))
      throw NumericalError("the prescribed motion of '" + name + "' jumps from " +
                           number(before.q[c]) + " to " + number(after.q[c]) + " at " + number(t) +
                           " s; a position cannot jump: give it a way in between");
    input.locked[index(i)] = 1;
    input.target[i] = after.v[i];
    any = any || std::abs(after.v[i] - before.v[i]) > kSameSpeed * (1.0 + std::abs(before.v[i]));
  }
  if (!any) return false;
  const auto apply = [&] {
    if (equations_.constraints() != nullptr) return equations_.impulse(before, input);
    ImpulseResult result;
    apply_impulse(m, before, input, workspace_, result);
    return result;
  };
  ImpulseResult result = apply();
  // Stops only push.
  const std::vector<Candidate> at = at_limits(before);
  if (!at.empty()) {
    const Eigen::MatrixXd response = responses(before, at, evaluate_free(t, y));
    const BoundedSolution stops = solve(problem_of(at, response, result.velocity));
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (stops.between[k] == 0) continue;
      input.locked[index(at[k].freedom)] = 1;
      input.target[at[k].freedom] = 0.0;
    }
    result = apply();
  }
  for (int i = 0; i < m.freedoms(); ++i) {
    const double work = 0.5 * result.impulse[i] * (before.v[i] + input.target[i]);
    if (input.locked[index(i)] != 0 && !equations_.prescribed(i))
      equations_.work().add_impact(i, work, y);
    if (!equations_.prescribed(i)) continue;
    equations_.work().add_motion(i, work, y);
    log.push_back({t, "motion", m.velocity_names()[index(i)],
                   fmt::format("its velocity jumps from {:.6g} to {:.6g}: impulse {:.6g}, energy "
                               "{:.6g} J",
                               before.v[i], after.v[i], result.impulse[i], work)});
  }
  after.v = result.velocity;
  slide_what_moves(after);
  equations_.set_state(after, y);
  return true;
}

}  // namespace catena
