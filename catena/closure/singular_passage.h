// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; constraints/constraint_set.h needs it.
//
// Passing singular positions (dead points): quantities that are not defined there are interpolated
// along the motion, from positions before and behind.
//
// In a singular position the rank of the closure equations drops, and neither dependent velocities
// nor accelerations nor constraint forces can be found there, though all of them are smooth along a
// motion that passes through it. Close by, rounding ε of the equations moves positions by ε/σ,
// velocities v by v ε/σ² and accelerations a by a ε/σ² + v² ε/σ³, where σ is the clearance: the
// distance from the singular position, as a ratio of pivots. So six states are closed beside the
// instant, at times −3, −2, −1, 1, 2, 3 times τ along its velocities, and the result is the value
// at 0 of the quintic through them:
//
//   f(0) ≈ Σ w_i f(τ_i),   w = (1, −6, 15, 15, −6, 1) / 20,   error: τ⁶ f⁽⁶⁾ / 20 (at most)
//
// Both treatments of closed loops pass that way: independent coordinates (embedded loops,
// simulation/coordinates/closed_coordinates.h) and multipliers (constraints/constraint_set.h). They
// differ in the way a neighbouring state is closed and in the measure of the clearance.
#pragma once

#include <array>
#include <optional>
#include <span>

#include <Eigen/Core>

#include "catena/model/mechanism.h"

namespace catena {

// Branches nearer to each other than this (radians, or fractions of the loop's length) are taken to
// meet: a file with few digits leaves such a gap in a mechanism whose branches cross.
inline constexpr double kBranchesMeet = 1e-9;

// Distances, in units of the clearance of the route (σ above).
struct PassageLimits {
  double near;         // below this clearance a position is passed by interpolation
  double enough;       // the clearance that the neighbours must have
  double first_aside;  // first distance of the neighbours, in radians or metres
  double folded;       // singular values below this part of the largest vanish where branches meet
};

// Embedded loops: the clearance is the smallest pivot of the dependent block over the largest (of
// large loops: over the usual one of long chains). Every state is closed to rounding, so that
// values computed in place are accurate to ε/σ³ ≈ 3e-7, and the neighbours need no larger
// clearance.
inline constexpr PassageLimits kEmbeddedPassage{
    .near = 1.5e-3, .enough = 1.5e-3, .first_aside = 5e-3, .folded = 5e-3};

// Multipliers: the clearance is the smallest sine between a row and the others in the metric of
// M⁻¹. The stages of a step are not closed, and their residual is divided by σ², so that
// interpolation is better from further away; the neighbours are closed and may be nearer, where
// ε/σ³ is 1e-8.
inline constexpr PassageLimits kMultiplierPassage{
    .near = 1e-2, .enough = 4e-3, .first_aside = 1e-2, .folded = 2e-2};

// A neighbouring state, `time` after the instant it stands beside, and its weight.
struct PassageSide {
  State state;
  double weight = 0.0;
  double time = 0.0;
};

struct Passage {
  std::array<PassageSide, 6> sides;
  double clearance = 0.0;  // the least of the sides
  double error = 0.0;      // of the interpolation, as a fraction of the velocities
};

// How a route finds closed states beside an instant.
class PassageNeighbours {
 public:
  virtual ~PassageNeighbours() = default;
  // The closed state `time` after the instant along its velocities. Returns its clearance, zero if
  // it may be on another branch. Throws NumericalError where there is none: at the end of a range.
  virtual double close_beside(double time, double aside, State& state) = 0;
};

struct PassageSearch {
  std::optional<Passage> passage;
  // Where the motion goes along singular positions and not through one: the largest clearance seen.
  std::optional<double> along;
};

// Looks for a passage beside a state whose fastest entry has this speed. `in_place` is the
// clearance found without interpolation; a passage must have a larger one (zero:
// any will do). None is found at rest, at the end of a range, and where the motion goes
// along singular positions and not through one.
PassageSearch find_passage(PassageNeighbours& neighbours, const State& state, double speed,
                           double in_place, const PassageLimits& limits);

// Positions and velocities between the sides.
State interpolated_state(const Mechanism& mechanism, std::span<const PassageSide> sides);

// Bound on the error of an acceleration by rounding at this clearance and by interpolation: error
// control must not require more.
double acceleration_noise(const State& state, const Eigen::VectorXd& acceleration, double clearance,
                          double interpolation_error);

}  // namespace catena
