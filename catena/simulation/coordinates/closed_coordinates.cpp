#include "catena/simulation/coordinates/closed_coordinates.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/QR>
#include <Eigen/SVD>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart_rows.h"
#include "catena/closure/mobility.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

constexpr int kMostIterations = 25;
// Newton's method has converged when a step no longer moves anything by more than this (radians, or
// fractions of the loop's length).
constexpr double kSettled = 1e-14;

// Accelerations that are as large as v²/σ are real: there a mechanism turns beside a singular
// position, and too much doubt would lose what it does. A rounding, no more.
constexpr double kTurns = 0.1, kRoundingInTurn = 2e-16;
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
// Rotations by quaternion are counted from another reference when they have turned by this, or when
// independent freedoms and their numbers in x differ by such a factor.
constexpr double kMostTurned = 1.0;
constexpr double kMostMixed = 2.0;
// Rotation vectors longer than half a turn are not told from others. Of what is independent:
constexpr double kFarthestTurn = 2.5;
// The cosine of what the velocities of a loop may turn by within a step.
constexpr double kMostTurn = 0.5;
// At rest, or where one cannot go to either side, a position is taken as it is down to this. In
// motion nothing is left of accelerations there (kRounding).
constexpr double kSingular = 1e-6;
constexpr double kSingularInMotion = 1e-5;

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
  use(choose_chart(mechanism, state.q, {.pinned = pinned_}), state);
  for (const Loop& loop : loops_)  // what is left out may be open after a while of a motion
    if (!(loop.closure.residual(state.q)(loop.rows).norm() <= kClosed)) throw open();
  set_anchor(state);
}

int ClosedCoordinates::size() const {
  return static_cast<int>(first_velocity() + velocities_.size());
}

std::string ClosedCoordinates::name(int entry) const {
  const std::size_t at = index(entry);
  if (at < positions_.size()) return "q." + mechanism_.position_names()[index(positions_[at])];
  int freedom = 0;
  if (at < first_velocity()) {
    const Turned& turned = turned_[at - positions_.size()];
    freedom = loops_[turned.loop].positions.freedom(turned.entry);
  } else {
    freedom = velocities_[at - first_velocity()];
  }
  return (at < first_velocity() ? "q." : "v.") + mechanism_.velocity_names()[index(freedom)];
}

bool ClosedCoordinates::turns(int entry) const {
  return entry < static_cast<int>(positions_.size()) &&
         turning_[index(positions_[index(entry)])] != 0;
}

double ClosedCoordinates::least_size(int entry) const {
  const std::size_t at = index(entry);
  if (at < positions_.size() || at >= first_velocity()) return 0.0;
  const Turned& turned = turned_[at - positions_.size()];
  return loops_[turned.loop].unit[turned.entry];
}

void ClosedCoordinates::use(const Chart& chart, const State& state) {
  chart_ = chart;
  velocities_ = chart_.independent(mechanism_.freedoms());
  loops_.clear();
  turned_.clear();
  std::vector<char> wanted(index(mechanism_.coordinates()), 1);
  for (int i = 0; i < static_cast<int>(chart_.loops.size()); ++i) {
    const LoopChart& own = chart_.loops[index(i)];
    LoopClosure closure(mechanism_, tables_, i);
    Loop loop{.closure = closure,
              .columns = own.order,
              .positions = LoopPositions(mechanism_, closure, own.order, state.q)};
    if (own.rank > 4) loop.good_ratio = 16.0 / (own.rank * own.rank);
    const Eigen::VectorXd unit = loop.closure.unit_steps(state.q);
    loop.unit.resize(unit.size());
    for (Eigen::Index k = 0; k < unit.size(); ++k)
      loop.unit[k] = unit[loop.columns[static_cast<std::size_t>(k)]];
    for (const ChartRow& row : own.rows)
      for (int k = 0; k < loop.closure.rows(); ++k) {
        const ChartRow other = loop.closure.row(k);
        if (other.closure == row.closure && other.row == row.row) loop.rows.push_back(k);
      }
    for (Eigen::Index k = 0; k < loop.positions.size(); ++k) {
      if (const int c = loop.positions.coordinate(k); c >= 0)
        wanted[index(c)] = k >= own.rank ? 1 : 0;
      else if (k >= own.rank)
        turned_.push_back({index(i), k});
    }
    for (const int c : loop.positions.turned_coordinates()) wanted[index(c)] = 0;
    loops_.push_back(std::move(loop));
  }
  positions_.clear();
  for (int i = 0; i < mechanism_.coordinates(); ++i)
    if (wanted[index(i)]) positions_.push_back(i);
}

int ClosedCoordinates::side_of(const Loop& loop) {
  int sign = static_cast<int>(loop.block.permutationP().determinant());
  for (const double pivot : loop.block.matrixLU().diagonal())
    if (!(pivot > 0.0)) sign = pivot < 0.0 ? -sign : 0;
  return sign;
}

Eigen::MatrixXd ClosedCoordinates::part(const Loop& loop, const Eigen::MatrixXd& m,
                                        Eigen::Index first, Eigen::Index count) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(loop.rows.size()), count);
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index k = 0; k < count; ++k)
      result(i, k) = m(loop.rows[static_cast<std::size_t>(i)],
                       loop.columns[static_cast<std::size_t>(first + k)]);
  return result;
}

double ClosedCoordinates::ratio_of(const Loop& loop) {
  if (loop.block.matrixLU().rows() == 0) return 1.0;
  const auto pivots = loop.block.matrixLU().diagonal().cwiseAbs();
  const double ratio = pivots.minCoeff() / pivots.maxCoeff() / loop.good_ratio;
  return ratio >= 0.0 ? ratio : 0.0;  // or NaN
}

Eigen::MatrixXd ClosedCoordinates::map_at(Loop& loop, const Eigen::VectorXd& q) const {
  Eigen::MatrixXd y = loop.closure.velocity_rows(q);
  loop.positions.differentiate(q, y);
  const int rank = static_cast<int>(loop.rows.size());
  const int independents = static_cast<int>(loop.columns.size()) - rank;
  if (rank == 0) return Eigen::MatrixXd(0, independents);
  loop.block.compute(part(loop, y, 0, rank));
  if (independents == 0) return Eigen::MatrixXd(rank, 0);
  return -loop.block.solve(part(loop, y, rank, independents));
}

Eigen::MatrixXd ClosedCoordinates::velocities_at(const Loop& loop, const Eigen::VectorXd& q,
                                                 const Eigen::MatrixXd& map) {
  Eigen::MatrixXd all(loop.positions.size(), map.cols());
  all.topRows(map.rows()) = map;
  all.bottomRows(map.cols()).setIdentity();
  loop.positions.to_velocities(q, all);
  return all;
}

ClosedCoordinates::Tangent ClosedCoordinates::tangent_here(Loop& loop, const State& state) const {
  const auto at = [&](const Eigen::VectorXd& q) {
    Tangent here{map_at(loop, q), {}};
    const Eigen::Index independents = here.map.cols();
    if (loop.positions.has_turns() && independents > 0)
      here.lead = velocities_at(loop, q, here.map).bottomRows(independents).inverse();
    return here;
  };
  if (!near_singular_) return at(state.q);
  Tangent sum = at(sides_[0].state.q);
  sum.map *= sides_[0].weight;
  sum.lead *= sides_[0].weight;
  for (std::size_t i = 1; i < sides_.size(); ++i) {
    const Tangent side = at(sides_[i].state.q);
    sum.map += sides_[i].weight * side.map;
    sum.lead += sides_[i].weight * side.lead;
  }
  return sum;
}

void ClosedCoordinates::set_anchor(const State& state) {
  anchor_ = state;
  for (Loop& loop : loops_) {
    loop.from = loop.positions.of(state.q);
    loop.tangent = tangent_here(loop, state);
    loop.side = near_singular_ || loop.rows.empty() ? 0 : side_of(loop);
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
  use(choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_}), state);
  set_anchor(state);
}

void ClosedCoordinates::pack(const State& state, std::span<double> y) const {
  std::size_t k = 0;
  for (const int i : positions_) y[k++] = state.q[i];
  for (std::size_t i = 0; i < turned_.size();) {
    const std::size_t loop = turned_[i].loop;
    const Eigen::VectorXd x = loops_[loop].positions.of(state.q);
    for (; i < turned_.size() && turned_[i].loop == loop; ++i) y[k++] = x[turned_[i].entry];
  }
  for (const int i : velocities_) y[k++] = state.v[i];
}

void ClosedCoordinates::unpack(std::span<const double> y, State& state) {
  near_singular_ = false;
  const double ratio = unpack_at(y, 0.0, state);
  ratio_ = ratio;
  interpolation_ = 0.0;
  if (ratio >= kNearSingular) return check_turn(state);
  if (interpolate(y, ratio, state)) {
    near_singular_ = true;
    return;
  }
  const auto speeds = y.subspan(first_velocity());
  const bool moves = std::any_of(speeds.begin(), speeds.end(), [](double v) { return v != 0.0; });
  if (ratio < (moves ? kSingularInMotion : kSingular)) stop_at_singular_position(state);
  unpack_at(y, 0.0, state);
  ratio_ = ratio;
  interpolation_ = 0.0;
  check_turn(state);
}

// The integrator sees the independent coordinates only. Where the others turn round beside a
// singular position, these may go on as if nothing were: then the step must become shorter.
void ClosedCoordinates::check_turn(const State& state) const {
  for (const Loop& loop : loops_) {
    const auto rank = static_cast<Eigen::Index>(loop.rows.size());
    if (loop.side == 0 || loop.closure.constant()) continue;
    const Eigen::VectorXd turned =
        loop.positions.has_turns() ? loop.positions.rates(state.q, state.v) : Eigen::VectorXd();
    const auto rate = [&](Eigen::Index k) {
      return turned.size() > 0 ? turned[k] : state.v[loop.positions.freedom(k)];
    };
    double before = 0.0, now = 0.0, both = 0.0;
    for (Eigen::Index k = 0; k < loop.unit.size(); ++k) {
      double predicted = rate(k);
      if (k < rank) {
        predicted = 0.0;
        for (Eigen::Index f = 0; f < loop.tangent.map.cols(); ++f)
          predicted += loop.tangent.map(k, f) * rate(rank + f);
      }
      const double v = rate(k) / loop.unit[k];
      predicted /= loop.unit[k];
      before += predicted * predicted;
      now += v * v;
      both += predicted * v;
    }
    if (both < kMostTurn * std::sqrt(before * now))
      throw NumericalError("the " + loop.closure.name() +
                           " turns round within a step, as beside a singular position: the step "
                           "is too long" +
                           disagreement(loop));
  }
}

double ClosedCoordinates::noise(const State& state, const Eigen::VectorXd& acceleration) const {
  const double v = state.v.lpNorm<Eigen::Infinity>(), a = acceleration.lpNorm<Eigen::Infinity>();
  const double rounding = (a * ratio_ > kTurns * v * v ? kRoundingInTurn : kRounding) *
                          (1.0 + state.q.lpNorm<Eigen::Infinity>());
  return rounding / (ratio_ * ratio_) * (a + v * v / ratio_) + interpolation_ * a;
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
    if (loop.closure.constant()) continue;
    const auto rank = static_cast<Eigen::Index>(loop.rows.size());
    const auto freedoms = static_cast<Eigen::Index>(loop.columns.size());
    if (rank == freedoms) continue;
    // Sums of squares, measured as integrators measure y.
    double own = 0.0, all = 0.0;
    const Eigen::VectorXd near = loop.positions.of(near_.q), off = loop.positions.of(off_.q);
    for (Eigen::Index k = 0; k < freedoms; ++k) {
      const int c = loop.positions.coordinate(k), f = loop.positions.freedom(k);
      double size = std::max(std::abs(near[k]), std::abs(loop.from[k]));
      if (c < 0) size = std::max(size, loop.unit[k]);
      if (c >= 0 && turning_[index(c)] != 0) size = std::min(size, std::numbers::pi);
      const double speed = std::max(std::abs(near_.v[f]), std::abs(anchor_.v[f]));
      const double q = (off[k] - near[k]) / (absolute + relative * size);
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

double ClosedCoordinates::unpack_at(std::span<const double> y, double time, State& state) {
  state.q = anchor_.q;
  std::size_t k = 0;
  for (const int i : positions_) state.q[i] = y[k++];
  for (const int i : velocities_) state.v[i] = y[turned_.size() + k++];
  if (time != 0.0)
    for (const int i : velocities_)
      if (const int c = mechanism_.coordinate_of_freedom()[index(i)]; c >= 0)
        state.q[c] += time * state.v[i];
  normalize_quaternions(mechanism_, state.q);
  k = positions_.size();
  double ratio = 1.0;
  for (Loop& loop : loops_) {
    const auto rank = static_cast<Eigen::Index>(loop.rows.size());
    const Eigen::Index independents = loop.positions.size() - rank;
    Eigen::VectorXd &x = loop.x, &v = loop.v;
    x = loop.from;
    v.resize(independents);
    for (Eigen::Index f = 0; f < independents; ++f)
      v[f] = state.v[loop.positions.freedom(rank + f)];
    for (Eigen::Index f = 0; f < independents; ++f) {
      if (const int c = loop.positions.coordinate(rank + f); c >= 0)
        x[rank + f] = state.q[c];
      else
        x[rank + f] = y[k++] + (time != 0.0 ? time * loop.tangent.lead.row(f).dot(v) : 0.0);
    }
    const auto check_turns = [&] {
      if (loop.positions.largest_turn(x) > kFarthestTurn)
        throw NumericalError("the " + loop.closure.name() +
                             " turns by nearly half a turn at once: the step is too long");
    };
    check_turns();
    if (!close(loop, time, x, state.q)) ratio = 0.0;
    check_turns();  // the dependent ones too
    const Eigen::MatrixXd map = map_at(loop, state.q);
    // What cannot move is not carried over a singular position.
    if (independents > 0) ratio = std::min(ratio, ratio_of(loop));
    if (!inside_ && time == 0.0 && !loop.crossed && loop.side != 0 && side_of(loop) == -loop.side) {
      loop.crossed = meets(loop, x);
      if (!loop.crossed)
        throw NumericalError("the " + loop.closure.name() +
                             " passes close by a singular position, where it turns within a very "
                             "short way: the step is too long" +
                             disagreement(loop));
      map_at(loop, state.q);
    }
    loop.rate.resize(rank);
    if (loop.positions.has_turns() && independents > 0) {
      const Eigen::MatrixXd all = velocities_at(loop, state.q, map);
      loop.rate = all.topRows(rank) * all.bottomRows(independents).partialPivLu().solve(v);
    } else {
      loop.rate.noalias() = map * v;
    }
    for (Eigen::Index d = 0; d < rank; ++d) state.v[loop.positions.freedom(d)] = loop.rate[d];
  }
  return ratio;
}

bool ClosedCoordinates::close(Loop& loop, double time, Eigen::VectorXd& x,
                              Eigen::VectorXd& q) const {
  if (loop.rows.empty()) {
    loop.positions.put(x, q);
    return true;
  }
  if (inside_) return close_inside(loop, *inside_ + time / duration_, x, q);
  const Eigen::MatrixXd& map = loop.tangent.map;
  const Eigen::Index rank = map.rows();
  const auto predict = [&] {
    x.head(rank) = loop.from.head(rank);
    for (Eigen::Index f = 0; f < map.cols(); ++f)
      x.head(rank) += map.col(f) * (x[rank + f] - loop.from[rank + f]);
  };
  predict();
  if (settle_safely(loop, x, q)) return true;
  if (follow(loop, x, q)) return true;
  predict();
  settle(loop, x, q);
  return true;
}

double ClosedCoordinates::settle(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  const int rank = static_cast<int>(loop.rows.size());
  const double length = loop.closure.length();
  double last = kInfinity, contraction = 0.0;
  loop.positions.put(x, q);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    ClosureEquations e = loop.closure.equations(q);
    loop.positions.differentiate(q, e.jacobian);
    Eigen::VectorXd residual(rank);
    for (int i = 0; i < rank; ++i) residual[i] = e.residual[loop.rows[index(i)]];
    loop.block.compute(part(loop, e.jacobian, 0, rank));
    const Eigen::VectorXd step = loop.block.solve(residual);
    if (!step.allFinite()) break;
    x.head(rank) -= step;
    loop.positions.put(x, q);
    const double size = step.lpNorm<Eigen::Infinity>() / std::max(1.0, length);
    // Near a singular position rounding keeps the step above any fixed bound.
    if (iteration == 1 && last > kLongStep) contraction = size / last;
    if (size <= kSettled || (size < 1e-9 && size >= 0.5 * last)) return contraction;
    last = size;
  }
  throw NumericalError(
      "the " + loop.closure.name() +
      " could not be closed from the last position: the step was too long, or the mechanism is at "
      "the end of its range" +
      disagreement(loop));
}

void ClosedCoordinates::close_nearest(const Loop& loop, Eigen::VectorXd& q) const {
  const Eigen::VectorXd unit = loop.closure.unit_steps(q);
  double last = kInfinity;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const ClosureEquations e = loop.closure.equations(q);
    const Eigen::VectorXd step =
        Eigen::MatrixXd((e.jacobian * unit.asDiagonal())(loop.rows, Eigen::all))
            .completeOrthogonalDecomposition()
            .solve(-e.residual(loop.rows));
    q = loop.closure.moved(q, unit.cwiseProduct(step));
    const double size = step.lpNorm<Eigen::Infinity>();
    if (size <= kSettled || (size < 1e-9 && size >= 0.5 * last)) return;
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
  for (std::size_t i = 0; i < turned_.size();) {
    const std::size_t loop = turned_[i].loop;
    const Eigen::VectorXd x = loops_[loop].positions.rates(state.q, state.v);
    for (; i < turned_.size() && turned_[i].loop == loop; ++i) dy[k++] = x[turned_[i].entry];
  }
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
  y[first_velocity() + static_cast<std::size_t>(v - velocities_.begin())] = velocity;
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
      if (anew) use(fresh, state);
      std::vector<std::string> names;
      for (const int i : velocities_)
        if (!std::binary_search(before.begin(), before.end(), i))
          names.push_back(mechanism_.velocity_names()[index(i)]);
      if (!names.empty()) change_ = "now independent: " + listed(names);
    } catch (const NumericalError&) {
      anew = false;  // at a singular position no choice is better: go on with this one
    }
  }
  counts_anew_ = false;
  if (!anew && !near_singular_)
    for (Loop& loop : loops_)
      if (is_far_from_reference(loop, state)) {
        loop.positions.refer_to(state.q);
        counts_anew_ = true;
      }
  set_anchor(state);
  return anew || counts_anew_;
}

bool ClosedCoordinates::is_far_from_reference(const Loop& loop, const State& state) const {
  if (loop.tangent.lead.size() == 0) return false;
  if (loop.positions.largest_turn(loop.positions.of(state.q)) > kMostTurned) return true;
  const Eigen::VectorXd factors =
      Eigen::JacobiSVD<Eigen::MatrixXd>(loop.tangent.lead).singularValues();
  return factors.maxCoeff() > kMostMixed || kMostMixed * factors.minCoeff() < 1.0;
}

double ClosedCoordinates::closure_residual(const State& state) const {
  return closure_gap(mechanism_, tables_, state.q);
}

}  // namespace catena
