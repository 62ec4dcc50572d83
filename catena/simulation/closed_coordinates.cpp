#include "catena/simulation/closed_coordinates.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/QR>
#include <Eigen/SVD>

#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart_rows.h"
#include "catena/closure/mobility.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

constexpr int kMostIterations = 25;
// Newton's method has converged when a step no longer moves anything by more than this (radians, or
// fractions of the loop's length).
constexpr double kSettled = 1e-14;

// Rounding ε of the closure equations moves dependent positions by up to ε/σ, with σ the smallest
// pivot of the block over the largest (of large loops: over what long chains have); velocities v
// by v ε/σ²; accelerations a by a ε/σ² + v² ε/σ³. Near a singular position that is seen, and error
// control must not ask for better. ε: a few roundings of an angle.
constexpr double kRounding = 1e-15;
// Accelerations that are as large as v²/σ are real: there a mechanism turns beside a singular
// position, and too much doubt would lose what it does. A rounding, no more.
constexpr double kTurns = 0.1, kRoundingInTurn = 2e-16;
// How far aside the first points of an interpolation are at first, and at most, in radians or
// metres.
constexpr double kAside = 5e-3;
constexpr double kMostAside = 0.1;
constexpr double kFaster = 1.5;  // than the independent freedoms, where that counts
// Further from one than this an error of the independent coordinates is followed into the others.
constexpr double kSpread = 1e-2;
// Errors of steps gather. So much less for each keeps the energy of a loop within about ten
// relative tolerances over some thousand steps, for an eighth more steps (of order eight).
constexpr double kGathered = 3.0;
// Along a motion a choice of independent freedoms is poor sooner than elsewhere (kPoorChart): on
// the way to its dead point a freedom tells less and less of what the others do.
constexpr double kPoorInMotion = 0.5;
// A first step of Newton's method that is shorter says nothing about where it goes: the next is
// rounding.
constexpr double kLongStep = 1e-9;
// The cosine of what the velocities of a loop may turn by within a step.
constexpr double kMostTurn = 0.5;
// At rest, or where one cannot go to either side, a position is taken as it is down to this.
constexpr double kSingular = 1e-6;
// Branches that pass each other at less than this (radians, or fractions of the loop's length)
// meet: it is what few digits of a file make of a mechanism whose branches do.
constexpr double kMeet = 1e-9;
// Singular values below this part of the largest vanish where branches meet.
constexpr double kFolded = 5e-3;
// How far from a crossing the points are between which it is looked at.
constexpr double kBeside = 1e-2;
// The value at 0 of the quintic through six points: their places, in units of the distance, and
// weights. Its error is a twentieth of the sixth derivative times the sixth power of the distance.
constexpr std::array<double, 6> kPlace = {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0};
constexpr std::array<double, 6> kWeight = {0.05, -0.3, 0.75, 0.75, -0.3, 0.05};

int side_of(const Eigen::PartialPivLU<Eigen::MatrixXd>& block) {
  int sign = static_cast<int>(block.permutationP().determinant());
  for (const double pivot : block.matrixLU().diagonal())
    if (!(pivot > 0.0)) sign = pivot < 0.0 ? -sign : 0;
  return sign;
}

Eigen::MatrixXd part(const Eigen::MatrixXd& m, const std::vector<int>& rows,
                     const std::vector<int>& columns, int first, int count) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(rows.size()), count);
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (int k = 0; k < count; ++k)
      result(i, k) = m(rows[static_cast<std::size_t>(i)], columns[index(first + k)]);
  return result;
}

}  // namespace

ClosedCoordinates::ClosedCoordinates(const Mechanism& mechanism, const State& state,
                                     std::vector<std::uint8_t> pinned)
    : mechanism_(mechanism),
      pinned_(std::move(pinned)),
      tables_(make_aggregate_tables(mechanism)),
      turning_(turning_coordinates(mechanism)),
      rates_(mechanism.coordinates()) {
  const double gap = closure_residual(state);
  const auto open = [&] {
    return NumericalError("the initial state is not closed (" + number(gap) +
                          " rad or lengths are open); assemble it first");
  };
  if (!(gap <= kMostOpen)) throw open();
  anchor_ = state;
  use(choose_chart(mechanism, state.q, {.pinned = pinned_}));
  for (const Loop& loop : loops_)  // what is left out may be open after a while of a motion
    if (!(loop.closure.residual(state.q)(loop.rows).norm() <= kClosed)) throw open();
  set_anchor(state);
}

int ClosedCoordinates::size() const {
  return static_cast<int>(positions_.size() + velocities_.size());
}

std::string ClosedCoordinates::name(int entry) const {
  const int n = static_cast<int>(positions_.size());
  return entry < n ? "q." + mechanism_.position_names()[index(positions_[index(entry)])]
                   : "v." + mechanism_.velocity_names()[index(velocities_[index(entry - n)])];
}

bool ClosedCoordinates::turns(int entry) const {
  return entry < static_cast<int>(positions_.size()) &&
         turning_[index(positions_[index(entry)])] != 0;
}

void ClosedCoordinates::use(const Chart& chart) {
  chart_ = chart;
  velocities_ = chart_.independent(mechanism_.freedoms());
  loops_.clear();
  std::vector<char> wanted(index(mechanism_.coordinates()), 1);
  for (int i = 0; i < static_cast<int>(chart_.loops.size()); ++i) {
    Loop loop{.closure = LoopClosure(mechanism_, tables_, i)};
    const LoopChart& own = chart_.loops[index(i)];
    if (own.rank > 4) loop.good_ratio = 16.0 / (own.rank * own.rank);
    loop.columns = own.order;
    for (const int column : loop.columns) {
      loop.coordinates.push_back(
          mechanism_.coordinate_of_freedom()[index(loop.closure.freedom(column))]);
      loop.by_quaternion = loop.by_quaternion || loop.coordinates.back() < 0;
    }
    const Eigen::VectorXd unit = loop.closure.unit_steps(anchor_.q);
    loop.unit.resize(unit.size());
    for (Eigen::Index k = 0; k < unit.size(); ++k)
      loop.unit[k] = unit[loop.columns[static_cast<std::size_t>(k)]];
    for (const ChartRow& row : own.rows)
      for (int k = 0; k < loop.closure.rows(); ++k) {
        const ChartRow other = loop.closure.row(k);
        if (other.closure == row.closure && other.row == row.row) loop.rows.push_back(k);
      }
    if (!loop.by_quaternion)
      for (int k = 0; k < own.rank; ++k) wanted[index(loop.coordinates[index(k)])] = 0;
    loops_.push_back(std::move(loop));
  }
  positions_.clear();
  for (int i = 0; i < mechanism_.coordinates(); ++i)
    if (wanted[index(i)]) positions_.push_back(i);
}

double ClosedCoordinates::ratio_of(const Loop& loop) {
  if (loop.block.matrixLU().rows() == 0) return 1.0;
  const auto pivots = loop.block.matrixLU().diagonal().cwiseAbs();
  return pivots.minCoeff() / pivots.maxCoeff() / loop.good_ratio;
}

Eigen::MatrixXd ClosedCoordinates::map_at(Loop& loop, const Eigen::VectorXd& q) const {
  const Eigen::MatrixXd y = loop.closure.velocity_rows(q);
  const int rank = static_cast<int>(loop.rows.size());
  const int independents = static_cast<int>(loop.columns.size()) - rank;
  if (rank == 0) return Eigen::MatrixXd(0, independents);
  loop.block.compute(part(y, loop.rows, loop.columns, 0, rank));
  if (independents == 0) return Eigen::MatrixXd(rank, 0);
  return -loop.block.solve(part(y, loop.rows, loop.columns, rank, independents));
}

Eigen::MatrixXd ClosedCoordinates::map_here(Loop& loop, const State& state) const {
  if (!near_singular_) return map_at(loop, state.q);
  Eigen::MatrixXd map = sides_[0].weight * map_at(loop, sides_[0].state.q);
  for (std::size_t i = 1; i < sides_.size(); ++i)
    map += sides_[i].weight * map_at(loop, sides_[i].state.q);
  return map;
}

void ClosedCoordinates::set_anchor(const State& state) {
  anchor_ = state;
  for (Loop& loop : loops_) {
    loop.map = map_here(loop, state);
    loop.side = near_singular_ || loop.rows.empty() ? 0 : side_of(loop.block);
    loop.crossed = false;
  }
}

// Rows that the chart leaves out open as far as the digits of the file make them; those that it
// keeps do not open.
void ClosedCoordinates::check_still_closed(const State& state) const {
  for (const Loop& loop : loops_) {
    const Eigen::VectorXd residual = loop.closure.residual(state.q);
    if (!(residual(loop.rows).norm() <= kClosed))
      throw NumericalError("the " + loop.closure.name() + " has come open: " +
                           loop.closure.worst(residual) + "; ask for a smaller tolerance");
    if (!(residual.norm() <= kMostOpen))
      throw NumericalError("the " + loop.closure.name() +
                           " cannot move on: " + loop.closure.worst(residual) +
                           " in constraints that were redundant where the motion began. Write "
                           "parallel axes and equal "
                           "lengths with more digits, if that is what they are meant to be");
  }
}

void ClosedCoordinates::begin(const State& state) {
  check_still_closed(state);
  use(choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_}));
  set_anchor(state);
}

void ClosedCoordinates::pack(const State& state, std::span<double> y) const {
  std::size_t k = 0;
  for (const int i : positions_) y[k++] = state.q[i];
  for (const int i : velocities_) y[k++] = state.v[i];
}

void ClosedCoordinates::unpack(std::span<const double> y, State& state) {
  near_singular_ = false;
  const double ratio = unpack_at(y, 0.0, state);
  ratio_ = ratio;
  aside_ = 0.0;
  if (ratio >= kNearSingular) return check_turn(state);
  if (interpolate(y, state)) {
    near_singular_ = true;
    return;
  }
  if (ratio < kSingular && std::find(pinned_.begin(), pinned_.end(), 1) != pinned_.end())
    throw NumericalError(
        "a hinge whose motion is prescribed is in its dead centre, and cannot go on as prescribed: "
        "prescribe less, or the motion of another hinge of the loop");
  if (ratio < kSingular)
    throw NumericalError(
        "the mechanism stands in a singular position, where its motion is not determined; start "
        "a little aside, or with a velocity");
  unpack_at(y, 0.0, state);
  ratio_ = ratio;
  aside_ = 0.0;
  check_turn(state);
}

// The integrator sees the independent coordinates only. Where the others turn round beside a
// singular position, these may go on as if nothing were: then the step must become shorter.
void ClosedCoordinates::check_turn(const State& state) const {
  for (const Loop& loop : loops_) {
    const auto rank = static_cast<Eigen::Index>(loop.rows.size());
    if (loop.by_quaternion || loop.side == 0 || loop.closure.constant()) continue;
    const auto speed = [&](Eigen::Index k) {
      return state.v[loop.closure.freedom(loop.columns[static_cast<std::size_t>(k)])] /
             loop.unit[k];
    };
    double before = 0.0, now = 0.0, both = 0.0;
    for (Eigen::Index k = 0; k < loop.unit.size(); ++k) {
      const double v = speed(k);
      double predicted = v;
      if (k < rank) {
        predicted = 0.0;
        for (Eigen::Index f = 0; f < loop.map.cols(); ++f)
          predicted += loop.map(k, f) * speed(rank + f) * loop.unit[rank + f];
        predicted /= loop.unit[k];
      }
      before += predicted * predicted;
      now += v * v;
      both += predicted * v;
    }
    if (both < kMostTurn * std::sqrt(before * now))
      throw NumericalError("the " + loop.closure.name() +
                           " turns round within a step, as beside a singular position: the step "
                           "is too long");
  }
}

double ClosedCoordinates::noise(const State& state, const Eigen::VectorXd& acceleration) const {
  const double v = state.v.lpNorm<Eigen::Infinity>(), a = acceleration.lpNorm<Eigen::Infinity>();
  const double rounding = (a * ratio_ > kTurns * v * v ? kRoundingInTurn : kRounding) *
                          (1.0 + state.q.lpNorm<Eigen::Infinity>());
  return rounding / (ratio_ * ratio_) * (a + v * v / ratio_) + std::pow(aside_, 6) * a;
}

double ClosedCoordinates::spread(std::span<const double> y, std::span<const double> error,
                                 double relative, double absolute) {
  // Gears alone: what depends is an exact multiple.
  if (std::all_of(loops_.begin(), loops_.end(),
                  [](const Loop& loop) { return loop.closure.constant(); }))
    return 1.0;
  std::vector<double> moved(y.begin(), y.end());
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += error[i];
  off_ = near_ = anchor_;
  try {
    if (unpack_at(y, 0.0, near_) < kSpread || unpack_at(moved, 0.0, off_) < kSpread)
      return kGathered;
  } catch (const NumericalError&) {
    return kGathered;  // whoever evaluates there says so
  }
  double most = 1.0;
  for (const Loop& loop : loops_) {
    if (loop.by_quaternion || loop.closure.constant()) continue;
    const auto rank = static_cast<Eigen::Index>(loop.rows.size());
    const auto freedoms = static_cast<Eigen::Index>(loop.columns.size());
    if (rank == freedoms) continue;
    // Sums of squares, measured as integrators measure y.
    double own = 0.0, all = 0.0;
    for (Eigen::Index k = 0; k < freedoms; ++k) {
      const int c = loop.coordinates[static_cast<std::size_t>(k)];
      const int f = loop.closure.freedom(loop.columns[static_cast<std::size_t>(k)]);
      double size = std::max(std::abs(near_.q[c]), std::abs(anchor_.q[c]));
      if (turning_[index(c)] != 0) size = std::min(size, std::numbers::pi);
      const double speed = std::max(std::abs(near_.v[f]), std::abs(anchor_.v[f]));
      const double q = (off_.q[c] - near_.q[c]) / (absolute + relative * size);
      const double v = (off_.v[f] - near_.v[f]) / (absolute + relative * speed);
      all += q * q + v * v;
      if (k >= rank) own += q * q + v * v;
    }
    all /= static_cast<double>(freedoms);
    own /= static_cast<double>(freedoms - rank);
    if (own > 0.0) most = std::max(most, std::sqrt(all / own));
  }
  return kGathered * most;
}

bool ClosedCoordinates::interpolate(std::span<const double> y, State& state) {
  double speed = 0.0;
  for (const double v : y.subspan(positions_.size())) speed = std::max(speed, std::abs(v));
  double aside = kAside;
  for (double least = 0.0; least < kNearSingular;) {
    if (speed == 0.0 || aside > kMostAside) return false;
    least = 1.0;
    try {
      for (std::size_t i = 0; i < sides_.size(); ++i) {
        sides_[i] = {state, kWeight[i]};
        least = std::min(least, unpack_at(y, kPlace[i] * aside / speed, sides_[i].state));
      }
    } catch (const NumericalError&) {
      return false;  // an end of the range, not a place that is passed
    }
    ratio_ = least;
    aside_ = aside;
    // What moves most need not be independent.
    const double moved =
        0.5 * (sides_[3].state.q - sides_[2].state.q).lpNorm<Eigen::Infinity>() / aside;
    if (moved > kFaster) {
      speed *= moved;
      least = 0.0;
    } else {
      aside *= 2.0;
    }
  }
  state.q.setZero();
  state.v.setZero();
  for (const Side& side : sides_) {
    state.q += side.weight * side.state.q;
    state.v += side.weight * side.state.v;
  }
  normalize_quaternions(mechanism_, state.q);
  return std::all_of(loops_.begin(), loops_.end(), [&](const Loop& loop) {
    return loop.by_quaternion || !(distance_of_branches(loop, state.q) > kMeet);
  });
}

// The residual in the directions that no motion of the dependent coordinates changes, mostly one,
// after it was brought to zero in all others. (Where the two rhombs of an inversor fold together
// there are two.)
double ClosedCoordinates::distance_of_branches(const Loop& loop, Eigen::VectorXd q) const {
  const int rank = static_cast<int>(loop.rows.size());
  if (rank == 0) return 0.0;
  constexpr int kPolish = 4;
  for (int iteration = 0;; ++iteration) {
    const ClosureEquations e = loop.closure.equations(q);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(part(e.jacobian, loop.rows, loop.columns, 0, rank),
                                                Eigen::ComputeFullU | Eigen::ComputeFullV);
    Eigen::VectorXd open = svd.matrixU().transpose() * e.residual(loop.rows);
    int regular = rank - 1;
    while (regular > 0 && svd.singularValues()[regular - 1] < kFolded * svd.singularValues()[0])
      --regular;
    if (iteration == kPolish) return open.tail(rank - regular).norm();
    open.tail(rank - regular).setZero();
    for (int k = 0; k < regular; ++k) open[k] /= svd.singularValues()[k];
    const Eigen::VectorXd step = svd.matrixV() * open;
    for (int d = 0; d < rank; ++d) q[loop.coordinates[index(d)]] -= step[d];
  }
}

bool ClosedCoordinates::meets(Loop& loop, const State& there) const {
  const int rank = static_cast<int>(loop.rows.size());
  const int freedoms = static_cast<int>(loop.columns.size());
  struct End {
    Eigen::VectorXd q;
    Eigen::MatrixXd map;
  };
  End a{anchor_.q, loop.map}, b{there.q, map_at(loop, there.q)};
  const auto coordinate = [&](int k) { return loop.coordinates[index(k)]; };
  // The cubic through both ends with their directions, over the independent coordinates.
  const auto between = [&](double s) {
    Eigen::VectorXd q = a.q, way(freedoms - rank);
    for (int f = 0; f < freedoms - rank; ++f) {
      way[f] = b.q[coordinate(rank + f)] - a.q[coordinate(rank + f)];
      q[coordinate(rank + f)] += s * way[f];
    }
    const double w = 1.0 - s;
    const Eigen::VectorXd leaves = a.map * way, arrives = b.map * way;
    for (int d = 0; d < rank; ++d)
      q[coordinate(d)] = w * w * (1.0 + 2.0 * s) * a.q[coordinate(d)] +
                         s * s * (3.0 - 2.0 * s) * b.q[coordinate(d)] +
                         s * w * (w * leaves[d] - s * arrives[d]);
    return q;
  };
  const auto crossing = [&] {
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 40; ++k) {
      const double s = 0.5 * (low + high);
      map_at(loop, between(s));
      (side_of(loop.block) == loop.side ? low : high) = s;
    }
    return 0.5 * (low + high);
  };
  double s = crossing();
  double way = 0.0;
  for (int k = 0; k < freedoms; ++k)
    way = std::max(way, std::abs(b.q[coordinate(k)] - a.q[coordinate(k)]));
  if (way > 2.0 * kBeside) {  // from nearby
    State near = there;
    End ends[2];
    for (int k = 0; k < 2; ++k) {
      near.q = between(std::clamp(s + (k == 0 ? -1.0 : 1.0) * kBeside / way, 0.0, 1.0));
      settle(loop, near);
      ends[k] = {near.q, map_at(loop, near.q)};
    }
    a = ends[0];
    b = ends[1];
    s = crossing();
  }
  return !(distance_of_branches(loop, between(s)) > kMeet);
}

double ClosedCoordinates::unpack_at(std::span<const double> y, double time, State& state) {
  state.q = anchor_.q;
  std::size_t k = 0;
  for (const int i : positions_) state.q[i] = y[k++];
  for (const int i : velocities_) state.v[i] = y[k++];
  if (time != 0.0)
    for (const int i : velocities_)
      if (const int c = mechanism_.coordinate_of_freedom()[index(i)]; c >= 0)
        state.q[c] += time * state.v[i];
  normalize_quaternions(mechanism_, state.q);
  drift_ = 0.0;
  double ratio = 1.0;
  for (Loop& loop : loops_) {
    if (loop.by_quaternion)
      drift_ = std::max(drift_, close_by_quaternion(loop, state));
    else if (!close(loop, time, state))
      ratio = 0.0;
    const Eigen::MatrixXd map = map_at(loop, state.q);
    // What cannot move is not carried over a singular position.
    if (!loop.by_quaternion && map.cols() > 0) ratio = std::min(ratio, ratio_of(loop));
    if (!inside_ && time == 0.0 && !loop.by_quaternion && !loop.crossed && loop.side != 0 &&
        side_of(loop.block) == -loop.side) {
      loop.crossed = meets(loop, state);
      if (!loop.crossed)
        throw NumericalError("the " + loop.closure.name() +
                             " passes close by a singular position, where it turns within a very "
                             "short way: the step is too long");
      map_at(loop, state.q);
    }
    for (Eigen::Index d = 0; d < map.rows(); ++d) {
      double sum = 0.0;
      for (Eigen::Index f = 0; f < map.cols(); ++f)
        sum +=
            map(d, f) *
            state.v[loop.closure.freedom(loop.columns[static_cast<std::size_t>(map.rows() + f)])];
      state.v[loop.closure.freedom(loop.columns[static_cast<std::size_t>(d)])] = sum;
    }
  }
  return ratio;
}

bool ClosedCoordinates::close(Loop& loop, double time, State& state) const {
  const int rank = static_cast<int>(loop.rows.size());
  if (rank == 0) return true;
  if (inside_) return close_inside(loop, *inside_ + time / duration_, state);
  const auto coordinate = [&](Eigen::Index k) {
    return loop.coordinates[static_cast<std::size_t>(k)];
  };
  for (Eigen::Index d = 0; d < rank; ++d)
    for (Eigen::Index f = 0; f < loop.map.cols(); ++f)
      state.q[coordinate(d)] +=
          loop.map(d, f) * (state.q[coordinate(rank + f)] - anchor_.q[coordinate(rank + f)]);
  const Eigen::VectorXd predicted = state.q;
  if (settle_safely(loop, state)) return true;
  if (follow(loop, anchor_.q, loop.map, state)) return true;
  state.q = predicted;
  settle(loop, state);
  return true;
}

double ClosedCoordinates::settle(Loop& loop, State& state) const {
  const int rank = static_cast<int>(loop.rows.size());
  const auto coordinate = [&](Eigen::Index k) {
    return loop.coordinates[static_cast<std::size_t>(k)];
  };
  const double length = loop.closure.length();
  double last = kInfinity, contraction = 0.0;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const ClosureEquations e = loop.closure.equations(state.q);
    Eigen::VectorXd residual(rank);
    for (int i = 0; i < rank; ++i) residual[i] = e.residual[loop.rows[index(i)]];
    loop.block.compute(part(e.jacobian, loop.rows, loop.columns, 0, rank));
    const Eigen::VectorXd step = loop.block.solve(residual);
    if (!step.allFinite()) break;
    for (Eigen::Index d = 0; d < rank; ++d) state.q[coordinate(d)] -= step[d];
    const double size = step.lpNorm<Eigen::Infinity>() / std::max(1.0, length);
    // Near a singular position rounding keeps the step above any fixed bound.
    if (iteration == 1 && last > kLongStep) contraction = size / last;
    if (size <= kSettled || (size < 1e-9 && size >= 0.5 * last)) return contraction;
    last = size;
  }
  // Near a singular position small disagreements decide.
  constexpr double kRounded = 1e-9;
  const double disagree = loop.closure.residual(anchor_.q).norm();
  throw NumericalError(
      "the " + loop.closure.name() +
      " could not be closed from the last position: the step was too long, or the mechanism is at "
      "the end of its range" +
      (disagree > kRounded ? "; its redundant constraints disagree by " + number(disagree) +
                                 " there, as in a file with few digits: write parallel axes and "
                                 "equal lengths with more"
                           : ""));
}

double ClosedCoordinates::close_by_quaternion(const Loop& loop, State& state) const {
  const Eigen::VectorXd unit = loop.closure.unit_steps(state.q);
  double last = kInfinity, whole = 0.0;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const ClosureEquations e = loop.closure.equations(state.q);
    const Eigen::VectorXd step =
        Eigen::MatrixXd((e.jacobian * unit.asDiagonal())(loop.rows, Eigen::all))
            .completeOrthogonalDecomposition()
            .solve(-e.residual(loop.rows));
    state.q = loop.closure.moved(state.q, unit.cwiseProduct(step));
    const double size = step.lpNorm<Eigen::Infinity>();
    whole += size;
    if (size <= kSettled || (size < 1e-9 && size >= 0.5 * last)) return whole;
    if (!(size < 1.0)) break;
    last = size;
  }
  throw NumericalError("the " + loop.closure.name() +
                       " could not be closed from the last position: the step was too long");
}

void ClosedCoordinates::rate(const State& state, const Eigen::VectorXd& acceleration,
                             std::span<double> dy) const {
  for (const Node& node : mechanism_.nodes())
    node_position_rate(node, state.q.data() + node.q_index, state.v.data() + node.v_index,
                       rates_.data() + node.q_index);
  std::size_t k = 0;
  for (const int i : positions_) dy[k++] = rates_[i];
  for (const int i : velocities_) dy[k++] = acceleration[i];
}

void ClosedCoordinates::prescribe(int freedom, double position, double velocity,
                                  std::span<double> y) const {
  const auto v = std::find(velocities_.begin(), velocities_.end(), freedom);
  if (v == velocities_.end())
    throw NumericalError("the motion of '" + mechanism_.velocity_names()[index(freedom)] +
                         "' is held or prescribed, but it depends on other freedoms of its loop");
  const int coordinate = mechanism_.coordinate_of_freedom()[index(freedom)];
  const auto q = std::find(positions_.begin(), positions_.end(), coordinate);
  if (q != positions_.end()) y[static_cast<std::size_t>(q - positions_.begin())] = position;
  y[positions_.size() + static_cast<std::size_t>(v - velocities_.begin())] = velocity;
}

bool ClosedCoordinates::accepted(const State& state) {
  change_.clear();
  bool anew =
      !near_singular_ && chart_quality(mechanism_, tables_, chart_, state.q) < kPoorInMotion;
  if (anew) {
    try {
      const std::vector<int> before = velocities_;
      const Chart fresh =
          choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_});
      // What is prescribed stays independent, however little it moves: then nothing is new.
      anew =
          fresh.independent(mechanism_.freedoms()) != before || !uses_the_same_rows(fresh, chart_);
      if (anew) use(fresh);
      std::vector<std::string> names;
      for (const int i : velocities_)
        if (!std::binary_search(before.begin(), before.end(), i))
          names.push_back(mechanism_.velocity_names()[index(i)]);
      if (!names.empty()) change_ = "now independent: " + listed(names);
    } catch (const NumericalError&) {
      anew = false;  // at a singular position no choice is better: go on with this one
    }
  }
  set_anchor(state);
  // What drifted off the closure in loops with quaternions is taken up now and then.
  constexpr double kMostDrift = 1e-6;
  return anew || drift_ > kMostDrift;
}

double ClosedCoordinates::closure_residual(const State& state) const {
  return closure_gap(mechanism_, tables_, state.q);
}

}  // namespace catena
