// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/singular_passage.h"

#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// Rounding of the closure equations: a few units in the last place of an angle.
constexpr double kClosureRounding = 1e-15;

// Times of the sides in units of the distance, and the weights of their values.
constexpr std::array<double, 6> kPlaces = {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0};
constexpr std::array<double, 6> kWeights = {0.05, -0.3, 0.75, 0.75, -0.3, 0.05};

// Largest distance of the first neighbours, in radians or metres: further away the quintic (error
// 1e-6 of the sixth derivative) is no better than rounding.
constexpr double kMostAside = 0.1;
// If something moves faster than the speed that was given by more than this factor, the distance
// refers to that.
constexpr double kFaster = 1.5;
// Accelerations above this fraction of v²/σ are real: a mechanism that turns beside a singular
// position has them. There the noise is taken as one unit of rounding, so that error control
// follows the turn.
constexpr double kTurns = 0.1;
constexpr double kRoundingInTurn = 2e-16;

double rounding_of_accelerations(double clearance) {
  return kClosureRounding / std::pow(clearance, 3);
}

// Error of the quintic at 0, relative to the velocities there. The mean at ±1, the cubic through
// four points and the quintic through six have the errors c₂, 4 c₄ and 36 c₆, which usually
// decrease by similar factors.
double interpolation_error(const std::array<PassageSide, 6>& sides) {
  const auto mean = [&](std::size_t k) {
    return Eigen::VectorXd(0.5 * (sides[2 - k].state.v + sides[3 + k].state.v));
  };
  const Eigen::VectorXd one = mean(0), two = mean(1), three = mean(2);
  const Eigen::VectorXd cubic = (4.0 * one - two) / 3.0;
  const double first = (one - cubic).lpNorm<Eigen::Infinity>();
  const double second = (cubic - 1.5 * one + 0.6 * two - 0.1 * three).lpNorm<Eigen::Infinity>();
  const double speed = one.lpNorm<Eigen::Infinity>();
  if (!(second > 0.0) || !(speed > 0.0)) return 0.0;
  return std::min(second, 36.0 / 16.0 * second * second / first) / speed;
}

// The neighbours at a distance; returns the least clearance.
double look(PassageNeighbours& neighbours, const State& state, double aside, double speed,
            std::array<PassageSide, 6>& sides) {
  double least = 1.0;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const double time = kPlaces[i] * aside / speed;
    sides[i] = {state, kWeights[i], time};
    least = std::min(least, neighbours.close_beside(time, aside, sides[i].state));
  }
  return least;
}

enum class Way { through, along, none };

// Neighbours that are far enough from the singular position; `aside` becomes their distance, and
// `speed` that of the fastest entry. `best` is the largest clearance seen.
Way step_aside(PassageNeighbours& neighbours, const State& state, double enough, double& aside,
               double& speed, Passage& passage, double& best) {
  double faster = kInfinity, last = 0.0;
  if (speed == 0.0) return Way::none;
  while (true) {
    if (aside > kMostAside) return Way::along;
    passage.clearance = look(neighbours, state, aside, speed, passage.sides);
    best = std::max(best, passage.clearance);
    // The fastest entry need not be among those whose speed was given.
    const double moved =
        0.5 * (passage.sides[3].state.q - passage.sides[2].state.q).lpNorm<Eigen::Infinity>() /
        aside;
    // If a shorter time leads no nearer, the states before and behind are on different branches.
    if (moved > 0.5 * faster && moved > kFaster) return Way::none;
    faster = moved > kFaster ? moved : kInfinity;
    if (moved > kFaster)
      speed *= moved;
    else if (passage.clearance >= enough)
      return Way::through;
    else if (0.0 < passage.clearance && passage.clearance < last)
      return Way::along;
    else
      aside *= 2.0, last = passage.clearance;
  }
}

}  // namespace

PassageSearch find_passage(PassageNeighbours& neighbours, const State& state, double speed,
                           double in_place, const PassageLimits& limits) {
  Passage passage;
  double aside = limits.first_aside, best = 0.0;
  try {
    switch (step_aside(neighbours, state, limits.enough, aside, speed, passage, best)) {
      case Way::along:
        return {std::nullopt, best};
      case Way::none:
        return {};
      case Way::through:
        break;
    }
    passage.error = std::max(std::pow(aside, 6), interpolation_error(passage.sides));
    // Where the motion changes within a short way the quintic may be worse than rounding: closer.
    while (passage.error > rounding_of_accelerations(passage.clearance)) {
      Passage closer;
      aside *= 0.5;
      closer.clearance = look(neighbours, state, aside, speed, closer.sides);
      closer.error = interpolation_error(closer.sides);
      if (!(closer.error + rounding_of_accelerations(closer.clearance) <
            passage.error + rounding_of_accelerations(passage.clearance)))
        break;
      passage = std::move(closer);
    }
  } catch (const NumericalError&) {
    return {};  // an end of the range, not a place that is passed
  }
  if (passage.error + rounding_of_accelerations(passage.clearance) >
      rounding_of_accelerations(in_place))
    return {};
  return {std::move(passage), std::nullopt};
}

State interpolated_state(const Mechanism& mechanism, std::span<const PassageSide> sides) {
  State state{Eigen::VectorXd::Zero(mechanism.coordinates()),
              Eigen::VectorXd::Zero(mechanism.freedoms())};
  for (const PassageSide& side : sides) {
    state.q += side.weight * side.state.q;
    state.v += side.weight * side.state.v;
  }
  normalize_quaternions(mechanism, state.q);
  return state;
}

double acceleration_noise(const State& state, const Eigen::VectorXd& acceleration, double clearance,
                          double interpolation_error) {
  if (state.v.size() == 0 || !(clearance > 0.0)) return 0.0;
  const double v = state.v.lpNorm<Eigen::Infinity>(), a = acceleration.lpNorm<Eigen::Infinity>();
  const double rounding = (a * clearance > kTurns * v * v ? kRoundingInTurn : kClosureRounding) *
                          (1.0 + state.q.lpNorm<Eigen::Infinity>());
  return rounding / (clearance * clearance) * (a + v * v / clearance) + interpolation_error * a;
}

}  // namespace catena
