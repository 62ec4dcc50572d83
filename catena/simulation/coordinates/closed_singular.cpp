// Closed coordinates at and beside singular positions (closed_coordinates.h).
#include <algorithm>
#include <cmath>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <fmt/format.h>

#include "catena/base/text.h"
#include "catena/model/configuration.h"
#include "catena/simulation/coordinates/closed_coordinates.h"

namespace catena {
namespace {

// How far aside the first points of an interpolation are at first, and at most, in radians or
// metres.
constexpr double kAside = 5e-3;
constexpr double kMostAside = 0.1;
constexpr double kFaster = 1.5;  // than the independent freedoms, where that counts
// Constraints that are redundant disagree by less, if their numbers have all digits.
constexpr double kRounded = 1e-10;
// Branches that pass each other at less than this (radians, or fractions of the loop's length)
// meet: it is what few digits of a file make of a mechanism whose branches do.
constexpr double kMeet = 1e-9;
// Singular values below this part of the largest vanish where branches meet (of large loops: of
// what long chains have).
constexpr double kFolded = 5e-3;
// How far from a crossing the points are between which it is looked at.
constexpr double kBeside = 1e-2;
// The value at 0 of the quintic through six points: their places, in units of the distance, and
// weights. Its error is a twentieth of the sixth derivative times the sixth power of the distance.
constexpr std::array<double, 6> kPlace = {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0};
constexpr std::array<double, 6> kWeight = {0.05, -0.3, 0.75, 0.75, -0.3, 0.05};

}  // namespace

void ClosedCoordinates::stop_at_singular_position(const State& state) {
  const Loop* worst = nullptr;
  double least = kInfinity;
  for (Loop& loop : loops_) {
    map_at(loop, state.q);
    if (const double ratio = ratio_of(loop); ratio < least && !loop.rows.empty()) {
      least = ratio;
      worst = &loop;
    }
  }
  const std::string name = worst == nullptr ? "mechanism" : worst->closure.name();
  if (worst != nullptr && !pinned_.empty())
    for (const int column : worst->columns) {
      const auto freedom = static_cast<std::size_t>(worst->closure.freedom(column));
      if (pinned_[freedom] == 0) continue;
      throw NumericalError("hinge '" + mechanism_.velocity_names()[freedom] +
                           "', whose motion is prescribed, is in its dead centre in the " + name +
                           ", and cannot go on as prescribed: prescribe less, or the motion of "
                           "another hinge of the loop");
    }
  const std::string why = worst == nullptr ? "" : disagreement(*worst);
  throw NumericalError("the " + name +
                       " stands in a singular position, where its motion is not determined" +
                       (why.empty() ? "; start a little aside, or with a velocity" : why));
}

// Near a singular position small disagreements decide: whether branches meet, and where the motion
// goes on. Rows that the chart leaves out are open there, or not quite multiples of the others.
std::string ClosedCoordinates::disagreement(const Loop& loop) const {
  const auto rank = static_cast<Eigen::Index>(loop.rows.size());
  if (rank == loop.closure.rows()) return "";
  const Eigen::MatrixXd rows =
      loop.closure.velocity_rows(anchor_.q) * loop.closure.unit_steps(anchor_.q).asDiagonal();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(rows);
  const Eigen::VectorXd pivots = qr.matrixQR().diagonal().cwiseAbs();
  const double off =
      std::max(loop.closure.residual(anchor_.q).norm(),
               rank < pivots.size() ? pivots[rank] / std::max(qr.maxPivot(), 1e-300) : 0.0);
  if (!(off > kRounded)) return "";
  return "; its redundant constraints disagree by " + fmt::format("{:.2g}", off) +
         " there, as in a file with few digits, so that branches which should meet in a singular "
         "position do not: write parallel axes and equal lengths with more digits";
}

// How far the quintic is off at 0, over the velocities there: their mean at ±1, the cubic through
// four points and the quintic through six are off by terms that mostly fall alike, c₂, 4 c₄ and
// 36 c₆.
double ClosedCoordinates::error_of_sides() const {
  const auto mean = [&](std::size_t k) {
    return Eigen::VectorXd(0.5 * (sides_[2 - k].state.v + sides_[3 + k].state.v));
  };
  const Eigen::VectorXd one = mean(0), two = mean(1), three = mean(2);
  const Eigen::VectorXd cubic = (4.0 * one - two) / 3.0;
  const double first = (one - cubic).lpNorm<Eigen::Infinity>();
  const double second = (cubic - 1.5 * one + 0.6 * two - 0.1 * three).lpNorm<Eigen::Infinity>();
  const double speed = one.lpNorm<Eigen::Infinity>();
  if (!(second > 0.0) || !(speed > 0.0)) return 0.0;
  return std::min(second, 36.0 / 16.0 * second * second / first) / speed;
}

bool ClosedCoordinates::interpolate(std::span<const double> y, double ratio, State& state) {
  double speed = 0.0;
  for (const double v : y.subspan(first_velocity())) speed = std::max(speed, std::abs(v));
  // The least ratio of pivots of six positions.
  const auto look = [&](double aside) {
    double least = 1.0;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      sides_[i] = {state, kWeight[i]};
      least = std::min(least, unpack_at(y, kPlace[i] * aside / speed, sides_[i].state));
    }
    return least;
  };
  // Of accelerations, as a part of them.
  const auto rounding = [](double pivots) { return kRounding / std::pow(pivots, 3); };
  double aside = kAside, faster = kInfinity, last = 0.0;
  try {
    while (true) {
      if (speed == 0.0 || aside > kMostAside) return false;
      ratio_ = look(aside);
      // What moves most need not be independent.
      const double moved =
          0.5 * (sides_[3].state.q - sides_[2].state.q).lpNorm<Eigen::Infinity>() / aside;
      // Where a shorter time leads no nearer, what is before and behind does not belong together.
      if (moved > 0.5 * faster && moved > kFaster) return false;
      faster = moved > kFaster ? moved : kInfinity;
      if (moved > kFaster)
        speed *= moved;
      else if (ratio_ >= kNearSingular)
        break;
      else if (0.0 < ratio_ && ratio_ < last)
        return false;  // it goes along singular positions, not through one
      else
        aside *= 2.0, last = ratio_;
    }
    interpolation_ = std::max(std::pow(aside, 6), error_of_sides());
    // Where the motion changes within a short way the quintic may be worse than rounding: closer.
    while (interpolation_ > rounding(ratio_)) {
      const auto farther = sides_;
      aside *= 0.5;
      const double least = look(aside), closer = error_of_sides();
      if (!(closer + rounding(least) < interpolation_ + rounding(ratio_))) {
        sides_ = farther;
        break;
      }
      ratio_ = least;
      interpolation_ = closer;
    }
  } catch (const NumericalError&) {
    return false;  // an end of the range, not a place that is passed
  }
  if (interpolation_ + rounding(ratio_) > rounding(ratio)) return false;
  state.q.setZero();
  state.v.setZero();
  for (const Side& side : sides_) {
    state.q += side.weight * side.state.q;
    state.v += side.weight * side.state.v;
  }
  normalize_quaternions(mechanism_, state.q);
  // What the interpolation was off is taken up where it is seen.
  return std::all_of(loops_.begin(), loops_.end(), [&](const Loop& loop) {
    Eigen::VectorXd x = loop.positions.of(state.q);
    return !(distance_of_branches(loop, 0, x, state.q) > kMeet);
  });
}

double ClosedCoordinates::distance_of_branches(const Loop& loop, int folded, Eigen::VectorXd& x,
                                               Eigen::VectorXd& q) const {
  const int rank = static_cast<int>(loop.rows.size());
  if (rank == 0) return 0.0;
  constexpr int kPolish = 4;
  for (int iteration = 0;; ++iteration) {
    loop.positions.put(x, q);
    ClosureEquations e = loop.closure.equations(q);
    loop.positions.differentiate(q, e.jacobian);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(part(loop, e.jacobian, 0, rank),
                                                Eigen::ComputeFullU | Eigen::ComputeFullV);
    Eigen::VectorXd open = svd.matrixU().transpose() * e.residual(loop.rows);
    int regular = rank - folded;
    while (regular > 0 &&
           svd.singularValues()[regular - 1] < kFolded * loop.good_ratio * svd.singularValues()[0])
      --regular;
    if (iteration == kPolish) return open.tail(rank - regular).norm();
    open.tail(rank - regular).setZero();
    for (int k = 0; k < regular; ++k) open[k] /= svd.singularValues()[k];
    x.head(rank) -= svd.matrixV() * open;
  }
}

bool ClosedCoordinates::meets(Loop& loop, const Eigen::VectorXd& there) const {
  const auto rank = static_cast<Eigen::Index>(loop.rows.size());
  const Eigen::Index independents = loop.positions.size() - rank;
  struct End {
    Eigen::VectorXd x;
    Eigen::MatrixXd map;
  };
  Eigen::VectorXd q = anchor_.q;
  const auto map_of = [&](const Eigen::VectorXd& x) {
    loop.positions.put(x, q);
    return map_at(loop, q);
  };
  End a{loop.from, loop.tangent.map}, b{there, map_of(there)};
  // The cubic through both ends with their directions, over the independent entries.
  const auto between = [&](double s) {
    const double w = 1.0 - s;
    const Eigen::VectorXd way = (b.x - a.x).tail(independents);
    Eigen::VectorXd x(a.x.size());
    x.tail(independents) = a.x.tail(independents) + s * way;
    x.head(rank) = w * w * (1.0 + 2.0 * s) * a.x.head(rank) +
                   s * s * (3.0 - 2.0 * s) * b.x.head(rank) +
                   s * w * (w * (a.map * way) - s * (b.map * way));
    return x;
  };
  const auto crossing = [&] {
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 40; ++k) {
      const double s = 0.5 * (low + high);
      map_of(between(s));
      (side_of(loop) == loop.side ? low : high) = s;
    }
    return 0.5 * (low + high);
  };
  double s = crossing();
  const double way = (b.x - a.x).lpNorm<Eigen::Infinity>();
  if (way > 2.0 * kBeside) {  // from nearby
    End ends[2];
    for (int k = 0; k < 2; ++k) {
      Eigen::VectorXd near =
          between(std::clamp(s + (k == 0 ? -1.0 : 1.0) * kBeside / way, 0.0, 1.0));
      settle(loop, near, q);
      ends[k] = {near, map_of(near)};
    }
    a = ends[0];
    b = ends[1];
    s = crossing();
  }
  Eigen::VectorXd x = between(s);
  return !(distance_of_branches(loop, 1, x, q) > kMeet);
}

}  // namespace catena
