// SPDX-License-Identifier: BSD-3-Clause
// A closed loop within a step that was made, and on the way to where a step may end
// (closed_loop.h).
#include <algorithm>
#include <array>

#include "catena/base/error.h"
#include "catena/simulation/coordinates/closed_loop.h"

namespace catena {
namespace {

// The shortest part of the way in one step of follow(). If that is too long, another branch is
// nearer than the accuracy of the motion.
constexpr double kShortest = 1.0 / 256.0;
// Number of attempts; some thirty are needed over a singular position.
constexpr int kMostTries = 100;
// Waypoints are no nearer to each other than this part of a step.
constexpr double kClosest = 1.0 / 64.0;
// Places between two waypoints at which another one is tried, in this order: branches may meet in
// the middle of a step.
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

ClosedLoop::Way ClosedLoop::way_to(const Eigen::VectorXd& v, const Instant& end) const {
  const auto& [map, lead, clearance, side] = anchor_.tangent;
  const Eigen::VectorXd independent = lead.size() > 0 ? Eigen::VectorXd(lead * v) : v;
  StepSpan::Waypoint first{0.0, anchor_.x, Eigen::VectorXd(positions_.size()), map};
  first.rate << map * independent, independent;
  const State& there = end.state;
  return {std::move(first),
          {1.0, positions_.of(there.q), positions_.rates(there.q, there.v), tangent_at(end).map}};
}

void ClosedLoop::predict_inside(const Way& way, double s, double duration, Eigen::VectorXd& x) {
  const auto behind =
      std::upper_bound(way.begin() + 1, way.end() - 1, s,
                       [](double at, const StepSpan::Waypoint& w) { return at < w.s; });
  const StepSpan::Waypoint &a = *(behind - 1), &b = *behind;
  const Eigen::Index rank = a.map.rows(), independents = a.map.cols();
  // Beside the step, where singular positions are interpolated: along the tangent at its end.
  const double part = std::clamp((s - a.s) / (b.s - a.s), 0.0, 1.0);
  const auto cubic = [&](Eigen::Index k) {
    return Cubic{a.x[k], b.x[k], a.rate[k], b.rate[k], (b.s - a.s) * duration}.value(part);
  };
  for (Eigen::Index d = 0; d < rank; ++d) x[d] = cubic(d);
  for (Eigen::Index f = 0; f < independents; ++f) {
    const double off = x[rank + f] - cubic(rank + f);
    x.head(rank) += ((1.0 - part) * a.map.col(f) + part * b.map.col(f)) * off;
  }
}

bool ClosedLoop::add_waypoint(Way& way, double s, double duration) const {
  const auto behind =
      std::upper_bound(way.begin() + 1, way.end() - 1, s,
                       [](double at, const StepSpan::Waypoint& w) { return at < w.s; });
  const StepSpan::Waypoint a = *(behind - 1), b = *behind;
  if (b.s - a.s < kClosest) return false;
  const Eigen::Index all = a.x.size();
  Eigen::VectorXd x(all), q = anchor_.q;
  for (const double part : kBetween) {
    StepSpan::Waypoint w{a.s + part * (b.s - a.s), {}, Eigen::VectorXd(all), {}};
    for (Eigen::Index k = rank(); k < all; ++k) {
      const Cubic cubic{a.x[k], b.x[k], a.rate[k], b.rate[k], (b.s - a.s) * duration};
      x[k] = cubic.value(part);
      w.rate[k] = cubic.rate(part);
    }
    predict_inside(way, w.s, duration, x);
    const std::optional<double> clearance = settle_safely(x, q);
    if (!clearance || *clearance < kEmbeddedPassage.near) continue;
    w.x = x;
    w.map = map_at(q).map;
    w.rate.head(rank()) = w.map * w.rate.tail(all - rank());
    way.insert(behind, std::move(w));
    return true;
  }
  return false;
}

bool ClosedLoop::close_inside(Way& way, double s, double duration, Eigen::VectorXd& x,
                              Eigen::VectorXd& q) const {
  if (rank() == 0) {
    positions_.put(x, q);
    return true;
  }
  const Eigen::VectorXd given = x;
  Eigen::VectorXd cubic;
  do {
    x = given;
    predict_inside(way, s, duration, x);
    cubic = x;
    if (settle_safely(x, q)) return true;
  } while (add_waypoint(way, s, duration));
  positions_.put(cubic, q);
  try {
    close_nearest(q);
  } catch (const NumericalError&) {
    positions_.put(cubic, q);
  }
  return false;
}

bool ClosedLoop::follow(Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  Eigen::MatrixXd map = anchor_.tangent.map;
  const Eigen::VectorXd way = (x - anchor_.x).tail(independents());
  Eigen::VectorXd dependent = anchor_.x.head(rank());
  const auto place = [&](double part) {
    x.tail(independents()) = anchor_.x.tail(independents()) + part * way;
    x.head(rank()) = dependent;
  };
  // Tried in safe steps, then accepted.
  double part = 0.0;
  int tries = 0;
  const auto go = [&](double next) {
    if (++tries > kMostTries) return false;
    place(next);
    x.head(rank()) += map * ((next - part) * way);
    if (!settle_safely(x, q)) return false;
    part = next;
    dependent = x.head(rank());
    map = map_at(q).map;
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
  positions_.put(x, q);
  return part == 1.0;
}

}  // namespace catena
