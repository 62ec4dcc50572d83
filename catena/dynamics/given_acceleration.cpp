// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/given_acceleration.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/embedding.h"
#include "catena/model/configuration.h"

namespace catena {

void make_given_independent(const Mechanism& mechanism, const Eigen::VectorXd& q,
                            std::span<const std::uint8_t> given, Workspace& workspace) {
  const auto is_given = [&](int i) { return given[index(i)] != 0; };
  if (std::none_of(given.begin(), given.end(), [](std::uint8_t x) { return x != 0; })) return;
  Eigen::VectorXd position = q;
  normalize_quaternions(mechanism, position);
  ensure_chart(mechanism, position, {}, workspace);
  // In the other loops what is given says it all, and is checked afterwards.
  std::vector<std::uint8_t> wanted(given.begin(), given.end());
  for (const LoopChart& loop : workspace.chart().loops)
    if (std::all_of(loop.independent.begin(), loop.independent.end(), is_given))
      for (const int i : loop.dependent) wanted[index(i)] = 0;
  for (const LoopChart& loop : workspace.chart().loops)
    for (const int i : loop.dependent)
      if (wanted[index(i)] != 0) {
        if (workspace.chart_is_pinned())
          throw NumericalError("the acceleration of '" + mechanism.velocity_names()[index(i)] +
                               "' is given, but follows from others in the pinned chart");
        ensure_chart(mechanism, position, wanted, workspace);
        return;
      }
}

void check_given(const Mechanism& mechanism, const Eigen::VectorXd& acceleration,
                 std::span<const std::uint8_t> given, std::span<const double> found) {
  if (mechanism.loops().empty()) return;
  double largest = 0.0, worst = 0.0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double a = acceleration[static_cast<Eigen::Index>(i)];
    largest = std::max({largest, std::abs(found[i]), given[i] != 0 ? std::abs(a) : 0.0});
    if (given[i] == 0 || !(std::abs(a - found[i]) > worst)) continue;
    worst = std::abs(a - found[i]);
    at = i;
  }
  if (!(worst > kGivenTolerance * (1.0 + largest))) return;
  throw NumericalError("the acceleration of '" + mechanism.velocity_names()[at] + "' is given as " +
                       number(acceleration[static_cast<Eigen::Index>(at)]) +
                       ", but the loops make it " + number(found[at]) +
                       "; give those of independent freedoms alone, by name, or accelerations that "
                       "keep the loops closed, as forward dynamics finds them");
}

const Eigen::VectorXd& inverse_dynamics_given(const Mechanism& mechanism, const State& state,
                                              const Eigen::VectorXd& acceleration,
                                              std::span<const std::uint8_t> given, Workspace& w,
                                              std::span<const ExternalWrench> external) {
  if (given.empty()) return inverse_dynamics(mechanism, state, acceleration, w, external);
  if (given.size() != to_size(mechanism.freedoms()))
    throw NumericalError("the mask of given accelerations has " + std::to_string(given.size()) +
                         " entries, but '" + mechanism.name() + "' has " +
                         std::to_string(mechanism.freedoms()) + " freedoms");
  make_given_independent(mechanism, state.q, given, w);
  inverse_dynamics(mechanism, state, acceleration, w, external);
  check_given(mechanism, acceleration, given, w.all_accelerations());
  return w.effort;
}

}  // namespace catena
