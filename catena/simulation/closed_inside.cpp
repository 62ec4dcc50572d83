// Closed coordinates inside a step that was made (closed_coordinates.h).
#include <algorithm>
#include <array>

#include "catena/simulation/closed_coordinates.h"

namespace catena {
namespace {

// The shortest part of the way that follow() goes in one step. Where that is too long another
// branch is as near as the motion is known.
constexpr double kShortest = 1.0 / 256.0;
// Waypoints are no nearer to each other than this part of a step.
constexpr double kClosest = 1.0 / 64.0;
// Where between two waypoints another one is tried, one after the other: what is in the middle of a
// step may be where branches meet.
constexpr std::array<double, 5> kBetween = {0.5, 0.25, 0.75, 0.125, 0.875};

// The cubic with values and rates of both ends, and its rate.
struct Cubic {
  double a, b, va, vb, width;  // rates by x · width
  double value(double x) const {
    const double w = 1.0 - x;
    return w * w * (1.0 + 2.0 * x) * a + x * x * (3.0 - 2.0 * x) * b +
           width * x * w * (w * va - x * vb);
  }
  double rate(double x) const {
    const double w = 1.0 - x;
    return 6.0 * x * w * (b - a) / width + w * (1.0 - 3.0 * x) * va + x * (3.0 * x - 2.0) * vb;
  }
};

}  // namespace

void ClosedCoordinates::stepped(double duration, std::span<const double> start, const State& end) {
  duration_ = duration;
  for (Loop& loop : loops_) {
    if (loop.by_quaternion) continue;
    const Eigen::Index rank = loop.map.rows(), all = rank + loop.map.cols();
    const auto waypoint = [&](double s, const State& state, Eigen::MatrixXd map) {
      Waypoint w{s, Eigen::VectorXd(all), Eigen::VectorXd(all), std::move(map)};
      for (Eigen::Index k = 0; k < all; ++k) {
        w.q[k] = state.q[loop.coordinates[static_cast<std::size_t>(k)]];
        w.v[k] = state.v[loop.closure.freedom(loop.columns[static_cast<std::size_t>(k)])];
      }
      return w;
    };
    Waypoint first = waypoint(0.0, anchor_, loop.map);
    for (Eigen::Index f = 0; f < loop.map.cols(); ++f) {  // impacts may have changed it
      const int freedom = loop.closure.freedom(loop.columns[static_cast<std::size_t>(rank + f)]);
      const auto at = std::lower_bound(velocities_.begin(), velocities_.end(), freedom);
      first.v[rank + f] =
          start[positions_.size() + static_cast<std::size_t>(at - velocities_.begin())];
    }
    first.v.head(rank) = loop.map * first.v.tail(loop.map.cols());
    loop.way = {std::move(first), waypoint(1.0, end, map_here(loop, end))};
  }
}

void ClosedCoordinates::predict_inside(const Loop& loop, double s, State& state) const {
  const Eigen::Index rank = loop.map.rows();
  const auto coordinate = [&](Eigen::Index k) {
    return loop.coordinates[static_cast<std::size_t>(k)];
  };
  auto behind = std::upper_bound(loop.way.begin() + 1, loop.way.end() - 1, s,
                                 [](double x, const Waypoint& w) { return x < w.s; });
  const Waypoint &a = *(behind - 1), &b = *behind;
  // Beside the step, where singular positions are interpolated: along the tangent at its end.
  const double x = std::clamp((s - a.s) / (b.s - a.s), 0.0, 1.0);
  const auto cubic = [&](Eigen::Index k) {
    return Cubic{a.q[k], b.q[k], a.v[k], b.v[k], (b.s - a.s) * duration_}.value(x);
  };
  for (Eigen::Index d = 0; d < rank; ++d) state.q[coordinate(d)] = cubic(d);
  for (Eigen::Index f = 0; f < loop.map.cols(); ++f) {
    const double off = state.q[coordinate(rank + f)] - cubic(rank + f);
    for (Eigen::Index d = 0; d < rank; ++d)
      state.q[coordinate(d)] += ((1.0 - x) * a.map(d, f) + x * b.map(d, f)) * off;
  }
}

// Newton's method must have contracted at once, and what the prediction was off must be small
// beside the way to the singular position: on the other side of that is the other branch.
bool ClosedCoordinates::settle_safely(Loop& loop, State& state) const {
  const auto dependent = [&] {
    Eigen::VectorXd q(loop.map.rows());
    for (Eigen::Index d = 0; d < q.size(); ++d)
      q[d] = state.q[loop.coordinates[static_cast<std::size_t>(d)]] / loop.unit[d];
    return q;
  };
  const Eigen::VectorXd predicted = dependent();
  try {
    if (settle(loop, state) > kSafe) return false;
  } catch (const NumericalError&) {
    return false;
  }
  return (dependent() - predicted).lpNorm<Eigen::Infinity>() <= kSafe * ratio_of(loop);
}

bool ClosedCoordinates::follow(Loop& loop, const Eigen::VectorXd& from, Eigen::MatrixXd map,
                               State& state) const {
  const auto coordinate = [&](Eigen::Index k) {
    return loop.coordinates[static_cast<std::size_t>(k)];
  };
  const Eigen::Index rank = map.rows();
  Eigen::VectorXd way(map.cols());
  for (Eigen::Index f = 0; f < way.size(); ++f)
    way[f] = state.q[coordinate(rank + f)] - from[coordinate(rank + f)];
  const auto place = [&](double part, const Eigen::VectorXd& dependent) {
    for (Eigen::Index f = 0; f < way.size(); ++f)
      state.q[coordinate(rank + f)] = from[coordinate(rank + f)] + part * way[f];
    for (Eigen::Index d = 0; d < rank; ++d) state.q[coordinate(d)] = dependent[d];
  };
  Eigen::VectorXd dependent(rank);
  for (Eigen::Index d = 0; d < rank; ++d) dependent[d] = from[coordinate(d)];
  // Safe, and then taken.
  double part = 0.0;
  const auto go = [&](double next) {
    place(next, dependent + map * ((next - part) * way));
    if (!settle_safely(loop, state)) return false;
    part = next;
    for (Eigen::Index d = 0; d < rank; ++d) dependent[d] = state.q[coordinate(d)];
    map = map_at(loop, state.q);
    return true;
  };
  for (double step = 0.5; part < 1.0;) {
    if (go(std::min(1.0, part + step))) {
      step *= 2.0;
      continue;
    }
    step *= 0.5;
    if (step >= kShortest) continue;
    // A singular position: over it, from close by.
    bool over = false;
    for (step = 2.0 * kShortest; !over && part + step < 1.0; step *= 2.0) over = go(part + step);
    if (!over && !go(1.0)) break;
  }
  place(1.0, dependent);
  return part == 1.0;
}

bool ClosedCoordinates::add_waypoint(Loop& loop, double s) const {
  const auto behind = std::upper_bound(loop.way.begin() + 1, loop.way.end() - 1, s,
                                       [](double x, const Waypoint& w) { return x < w.s; });
  const Waypoint a = *(behind - 1), b = *behind;
  if (b.s - a.s < kClosest) return false;
  const Eigen::Index rank = loop.map.rows(), all = a.q.size();
  const auto coordinate = [&](Eigen::Index k) {
    return loop.coordinates[static_cast<std::size_t>(k)];
  };
  State state = anchor_;
  for (const double x : kBetween) {
    Waypoint w{a.s + x * (b.s - a.s), Eigen::VectorXd(all), Eigen::VectorXd(all), {}};
    for (Eigen::Index k = rank; k < all; ++k) {
      const Cubic cubic{a.q[k], b.q[k], a.v[k], b.v[k], (b.s - a.s) * duration_};
      state.q[coordinate(k)] = cubic.value(x);
      w.v[k] = cubic.rate(x);
    }
    predict_inside(loop, w.s, state);
    if (!settle_safely(loop, state) || ratio_of(loop) < kNearSingular) continue;
    for (Eigen::Index k = 0; k < all; ++k) w.q[k] = state.q[coordinate(k)];
    w.map = map_at(loop, state.q);
    w.v.head(rank) = w.map * w.v.tail(all - rank);
    loop.way.insert(behind, std::move(w));
    return true;
  }
  return false;
}

bool ClosedCoordinates::close_inside(Loop& loop, double s, State& state) const {
  const Eigen::VectorXd given = state.q;
  Eigen::VectorXd cubic;
  do {
    state.q = given;
    predict_inside(loop, s, state);
    cubic = state.q;
    if (settle_safely(loop, state)) return true;
  } while (add_waypoint(loop, s));
  // The closed position that is nearest, whatever has to move for it.
  state.q = cubic;
  try {
    close_by_quaternion(loop, state);
  } catch (const NumericalError&) {
    state.q = cubic;
  }
  return false;
}

void ClosedCoordinates::unpack_inside(double s, std::span<const double> y, State& state) {
  near_singular_ = false;
  struct Leave {
    std::optional<double>& inside;
    ~Leave() { inside.reset(); }
  } leave{inside_};
  inside_ = s;
  ratio_ = unpack_at(y, 0.0, state);
  aside_ = 0.0;
  if (ratio_ < kNearSingular) {
    const State in_place = state;
    near_singular_ = interpolate(y, state);
    if (!near_singular_) {  // as good as it can be seen
      state = in_place;
      aside_ = 0.0;
    }
  }
}

}  // namespace catena
