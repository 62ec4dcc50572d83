// Closed coordinates inside a step that was made (closed_coordinates.h).
#include <algorithm>
#include <array>

#include "catena/simulation/coordinates/closed_coordinates.h"

namespace catena {
namespace {

// The shortest part of the way that follow() goes in one step. Where that is too long another
// branch is as near as the motion is known.
constexpr double kShortest = 1.0 / 256.0;
// And how often it tries: over a singular position it takes some thirty.
constexpr int kMostTries = 100;
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
    const auto& [map, lead] = loop.tangent;
    const Eigen::Index rank = map.rows(), independents = map.cols();
    Eigen::VectorXd v(independents);
    for (Eigen::Index f = 0; f < independents; ++f) {  // impacts may have changed it
      const int freedom = loop.positions.freedom(rank + f);
      const auto at = std::lower_bound(velocities_.begin(), velocities_.end(), freedom);
      v[f] = start[first_velocity() + static_cast<std::size_t>(at - velocities_.begin())];
    }
    if (lead.size() > 0) v = lead * v;
    Waypoint first{0.0, loop.from, Eigen::VectorXd(rank + independents), map};
    first.rate << map * v, v;
    loop.way = {std::move(first),
                {1.0, loop.positions.of(end.q), loop.positions.rates(end.q, end.v),
                 tangent_here(loop, end).map}};
  }
}

void ClosedCoordinates::predict_inside(const Loop& loop, double s, Eigen::VectorXd& x) const {
  auto behind = std::upper_bound(loop.way.begin() + 1, loop.way.end() - 1, s,
                                 [](double at, const Waypoint& w) { return at < w.s; });
  const Waypoint &a = *(behind - 1), &b = *behind;
  const Eigen::Index rank = a.map.rows(), independents = a.map.cols();
  // Beside the step, where singular positions are interpolated: along the tangent at its end.
  const double part = std::clamp((s - a.s) / (b.s - a.s), 0.0, 1.0);
  const auto cubic = [&](Eigen::Index k) {
    return Cubic{a.x[k], b.x[k], a.rate[k], b.rate[k], (b.s - a.s) * duration_}.value(part);
  };
  for (Eigen::Index d = 0; d < rank; ++d) x[d] = cubic(d);
  for (Eigen::Index f = 0; f < independents; ++f) {
    const double off = x[rank + f] - cubic(rank + f);
    x.head(rank) += ((1.0 - part) * a.map.col(f) + part * b.map.col(f)) * off;
  }
}

// Newton's method must have contracted at once, and what the prediction was off must be small
// beside the way to the singular position: on the other side of that is the other branch.
bool ClosedCoordinates::settle_safely(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  const auto rank = static_cast<Eigen::Index>(loop.rows.size());
  loop.predicted = x.head(rank);
  try {
    if (settle(loop, x, q) > kSafe) return false;
  } catch (const NumericalError&) {
    return false;
  }
  return (x.head(rank) - loop.predicted)
             .cwiseQuotient(loop.unit.head(rank))
             .lpNorm<Eigen::Infinity>() <= kSafe * ratio_of(loop);
}

bool ClosedCoordinates::follow(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  Eigen::MatrixXd map = loop.tangent.map;
  const Eigen::Index rank = map.rows(), independents = map.cols();
  const Eigen::VectorXd way = (x - loop.from).tail(independents);
  Eigen::VectorXd dependent = loop.from.head(rank);
  const auto place = [&](double part) {
    x.tail(independents) = loop.from.tail(independents) + part * way;
    x.head(rank) = dependent;
  };
  // Safe, and then taken.
  double part = 0.0;
  int tries = 0;
  const auto go = [&](double next) {
    if (++tries > kMostTries) return false;
    place(next);
    x.head(rank) += map * ((next - part) * way);
    if (!settle_safely(loop, x, q)) return false;
    part = next;
    dependent = x.head(rank);
    map = map_at(loop, q);
    return true;
  };
  for (double step = 0.5; part < 1.0 && tries <= kMostTries;) {
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
  place(1.0);
  loop.positions.put(x, q);
  return part == 1.0;
}

bool ClosedCoordinates::add_waypoint(Loop& loop, double s) const {
  const auto behind = std::upper_bound(loop.way.begin() + 1, loop.way.end() - 1, s,
                                       [](double at, const Waypoint& w) { return at < w.s; });
  const Waypoint a = *(behind - 1), b = *behind;
  if (b.s - a.s < kClosest) return false;
  const Eigen::Index rank = a.map.rows(), all = a.x.size();
  Eigen::VectorXd x(all), q = anchor_.q;
  for (const double part : kBetween) {
    Waypoint w{a.s + part * (b.s - a.s), {}, Eigen::VectorXd(all), {}};
    for (Eigen::Index k = rank; k < all; ++k) {
      const Cubic cubic{a.x[k], b.x[k], a.rate[k], b.rate[k], (b.s - a.s) * duration_};
      x[k] = cubic.value(part);
      w.rate[k] = cubic.rate(part);
    }
    predict_inside(loop, w.s, x);
    if (!settle_safely(loop, x, q) || ratio_of(loop) < kNearSingular) continue;
    w.x = x;
    w.map = map_at(loop, q);
    w.rate.head(rank) = w.map * w.rate.tail(all - rank);
    loop.way.insert(behind, std::move(w));
    return true;
  }
  return false;
}

bool ClosedCoordinates::close_inside(Loop& loop, double s, Eigen::VectorXd& x,
                                     Eigen::VectorXd& q) const {
  const Eigen::VectorXd given = x;
  Eigen::VectorXd cubic;
  do {
    x = given;
    predict_inside(loop, s, x);
    cubic = x;
    if (settle_safely(loop, x, q)) return true;
  } while (add_waypoint(loop, s));
  loop.positions.put(cubic, q);
  try {
    close_nearest(loop, q);
  } catch (const NumericalError&) {
    loop.positions.put(cubic, q);
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
  interpolation_ = 0.0;
  if (ratio_ < kNearSingular) {
    const State in_place = state;
    const double ratio = ratio_;
    near_singular_ = interpolate(y, ratio, state);
    if (!near_singular_) {  // as good as it can be seen
      state = in_place;
      ratio_ = ratio;
      interpolation_ = 0.0;
    }
  }
}

}  // namespace catena
