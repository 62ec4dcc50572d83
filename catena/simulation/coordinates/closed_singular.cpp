// SPDX-License-Identifier: BSD-3-Clause
// Closed coordinates at an instant, and how they pass singular positions (closed_coordinates.h).
#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/coordinates/closed_coordinates.h"

namespace catena {
namespace {

// At rest, or where one side cannot be reached, a position is evaluated in place down to this
// clearance. In motion accelerations have no correct digits there (singular_passage.h).
constexpr double kSingular = 1e-6;
constexpr double kSingularInMotion = 1e-5;

}  // namespace

class ClosedCoordinates::Neighbours final : public PassageNeighbours {
 public:
  Neighbours(ClosedCoordinates& coordinates, std::span<const double> y, Place place)
      : coordinates_(coordinates), y_(y), place_(place) {}
  double close_beside(double time, double /*aside*/, State& state) override {
    return coordinates_.close_at(y_, time, place_, state);
  }

 private:
  ClosedCoordinates& coordinates_;
  std::span<const double> y_;
  Place place_;
};

void ClosedCoordinates::at(std::span<const double> y, Instant& instant) {
  instant.sides.clear();
  instant.interpolation_error = 0.0;
  instant.clearance = close_at(y, 0.0, {}, instant.state, &instant.maps);
  if (instant.clearance >= kEmbeddedPassage.near) return check_turn(instant.state);
  if (interpolate(y, {}, instant)) return;
  const auto speeds = y.subspan(first_velocity());
  const bool moves = std::any_of(speeds.begin(), speeds.end(), [](double v) { return v != 0.0; });
  if (instant.clearance < (moves ? kSingularInMotion : kSingular))
    stop_at_singular_position(instant.state);
  check_turn(instant.state);
}

void ClosedCoordinates::inside(StepSpan& step, double s, std::span<const double> y,
                               Instant& instant) {
  instant.sides.clear();
  instant.interpolation_error = 0.0;
  instant.clearance = close_at(y, 0.0, {&step, s}, instant.state, &instant.maps);
  if (instant.clearance < kEmbeddedPassage.near) interpolate(y, {&step, s}, instant);
}

void ClosedCoordinates::prepare(std::span<const double> y_start, StepSpan& step) {
  step.ways.clear();
  for (const ClosedLoop& loop : loops_) {
    Eigen::VectorXd v(loop.independents());
    for (Eigen::Index f = 0; f < v.size(); ++f) {
      const int freedom = loop.positions().freedom(loop.rank() + f);
      const auto at = std::lower_bound(velocities_.begin(), velocities_.end(), freedom);
      v[f] = y_start[first_velocity() + to_size(at - velocities_.begin())];
    }
    step.ways.push_back(loop.way_to(v, step.last));
  }
}

bool ClosedCoordinates::interpolate(std::span<const double> y, Place place, Instant& instant) {
  double speed = 0.0;
  for (const double v : y.subspan(first_velocity())) speed = std::max(speed, std::abs(v));
  Neighbours neighbours(*this, y, place);
  const PassageSearch search =
      find_passage(neighbours, instant.state, speed, instant.clearance, kEmbeddedPassage);
  if (!search.passage) return false;
  State between = interpolated_state(mechanism_, search.passage->sides);
  // The error of the interpolation is corrected at the next evaluation in place.
  for (const ClosedLoop& loop : loops_) {
    Eigen::VectorXd x = loop.positions().of(between.q);
    if (loop.distance_of_branches(0, x, between.q) > kBranchesMeet) return false;
  }
  instant.state = std::move(between);
  instant.maps.clear();
  instant.clearance = search.passage->clearance;
  instant.interpolation_error = search.passage->error;
  instant.sides.assign(search.passage->sides.begin(), search.passage->sides.end());
  return true;
}

void ClosedCoordinates::stop_at_singular_position(const State& state) const {
  const ClosedLoop* worst = nullptr;
  double least = kInfinity;
  for (const ClosedLoop& loop : loops_)
    if (const double clearance = loop.map_at(state.q).clearance;
        clearance < least && loop.rank() > 0) {
      least = clearance;
      worst = &loop;
    }
  const std::string name = worst == nullptr ? "mechanism" : worst->closure().name();
  if (worst != nullptr && !pinned_.empty())
    for (const int column : worst->columns()) {
      const auto freedom = to_size(worst->closure().freedom(column));
      if (pinned_[freedom] == 0) continue;
      throw NumericalError("hinge '" + mechanism_.velocity_names()[freedom] +
                           "', whose motion is prescribed, is in its dead centre in the " + name +
                           ", and cannot follow its prescription: prescribe less, or the motion of "
                           "another hinge of the loop");
    }
  const std::string why = worst == nullptr ? "" : worst->disagreement();
  throw NumericalError("the " + name +
                       " is in a singular position, where its motion is not determined" +
                       (why.empty() ? "; start a little away from it, or with a velocity" : why));
}

}  // namespace catena
