// SPDX-License-Identifier: BSD-3-Clause
// Fills in defaults and validates the settings of a simulation.
#include <algorithm>
#include <cmath>

#include "catena/base/text.h"
#include "catena/model/mechanism.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

// Rows of a run by default.
constexpr double kRows = 1000.0;
constexpr double kCheckpoints = 10.0;
// More rows are an error: a run of ten columns would have 80 GB.
constexpr double kMostOutputRows = 1e9;

// 1, 2 or 5 times a power of ten, at most x.
double round_down(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double digit : {5.0, 2.0})
    if (digit * power <= x * (1.0 + 1e-12)) return digit * power;
  return power;
}

// Steps of an explicit method are at most about this long, in periods of the fastest mode over 2π
// (the stability limit of dop853 on the imaginary axis is near 5).
constexpr double kExplicitStep = 4.0;
// A run of more steps than this, for the sake of modes that are damped away, is stiff.
constexpr double kManySteps = 2e5;
// Modes less damped than this fraction persist: an implicit method would have to follow them.
constexpr double kRinging = 1e-3;

}  // namespace

SimulationSettings completed_for(const Mechanism& mechanism, SimulationSettings settings,
                                 std::string* note) {
  const Method asked = settings.integrator.method;
  settings = completed(std::move(settings));
  if (note != nullptr && settings.actions.collisions && asked != settings.integrator.method)
    *note = "method time-stepping: events of shapes that collide are not located";
  if (settings.integrator.method != Method::dop853 || settings.integrator.keep_method)
    return settings;
  for (const FlexiblePlace& body : mechanism.flexible_bodies()) {
    const FlexibleBody& b = *body.constants;
    // Of the stiffest direction: modes of the builders are orthogonal.
    Eigen::Index fastest = 0;
    const Eigen::VectorXd squares = b.stiffness.diagonal().cwiseQuotient(b.modal_mass.diagonal());
    const double frequency = std::sqrt(squares.maxCoeff(&fastest));
    const double ratio =
        b.damping(fastest, fastest) / (2.0 * frequency * b.modal_mass(fastest, fastest));
    const double steps = settings.duration * frequency / kExplicitStep;
    if (!(steps > kManySteps) || !(ratio > kRinging)) continue;
    settings.integrator.method = Method::bdf;
    if (note != nullptr)
      *note = "method bdf instead of dop853: flexible body '" + body.name + "' has a mode of " +
              short_number(frequency) + " rad/s, for which dop853 would need about " +
              short_number(steps, 2) + " steps; give a method to keep it";
    break;
  }
  return settings;
}

SimulationSettings completed(SimulationSettings settings) {
  if (!(settings.duration > 0.0) || !std::isfinite(settings.duration))
    throw Error("the duration is " + number(settings.duration) + " s; it must be positive");
  // 0, possible in files and command lines, means the default.
  const auto complete = [](std::optional<double>& interval, const char* what, double usual) {
    if (interval && !(*interval >= 0.0))
      throw Error("the " + std::string(what) + " interval is " + number(*interval) +
                  " s; it must be positive (0: a sensible one)");
    if (interval.value_or(0.0) == 0.0) interval = usual;
  };
  complete(settings.output_interval, "output", round_down(settings.duration / kRows));
  if (const double rows = settings.duration / *settings.output_interval; rows > kMostOutputRows)
    throw Error("the output interval is " + number(*settings.output_interval) +
                " s: that would be " + short_number(rows) + " rows; give a longer one");
  complete(settings.checkpoint_interval, "checkpoint", settings.duration / kCheckpoints);
  // The differential-algebraic form and the momenta of the midpoint rule have all coordinates and
  // multipliers.
  Method& method = settings.integrator.method;
  if (settings.actions.collisions && method != Method::time_stepping) {
    if (settings.integrator.keep_method)
      throw Error(
          "collisions between shapes and height fields need the method time-stepping: by events "
          "only contacts with planes are located; choose this method or none");
    method = Method::time_stepping;
  }
  if (method == Method::ida || method == Method::midpoint || method == Method::time_stepping)
    settings.actions.loops = LoopRoute::multipliers;
  if (method == Method::ida) settings.actions.hold_by_multipliers = true;
  settings.actions.steps_contacts = method == Method::time_stepping;
  if (method == Method::midpoint && !settings.actions.constraints.empty())
    throw Error(
        "method 'midpoint' cannot keep a motion on constraints that are switched; use dop853, "
        "arkode, bdf or ida, or rk4, euler, ab2, ab3, ab4, am4 with a step");
  check(settings.integrator);
  return settings;
}

}  // namespace catena
