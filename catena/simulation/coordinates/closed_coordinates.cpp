// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/coordinates/closed_coordinates.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart_rows.h"
#include "catena/closure/mobility.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// Further than this from a singular position an error of the independent coordinates is followed
// into the others.
constexpr double kSpread = 1e-2;
// Errors of steps gather. This factor for each keeps the energy of a loop within about ten relative
// tolerances over some thousand steps, for an eighth more steps (of order eight).
constexpr double kGathered = 3.0;
// Along a motion a choice of independent freedoms is poor sooner than elsewhere (kPoorChart): on
// the way to its dead point a freedom determines the others less and less well.
constexpr double kPoorInMotion = 0.5;
// Rotation vectors longer than half a turn are ambiguous. Limit for independent entries:
constexpr double kFarthestTurn = 2.5;
// The least cosine between the velocities of a loop at both ends of a step.
constexpr double kLeastCosine = 0.5;

}  // namespace

ClosedCoordinates::ClosedCoordinates(const Mechanism& mechanism, const State& state,
                                     std::vector<std::uint8_t> pinned)
    : mechanism_(mechanism),
      pinned_(std::move(pinned)),
      turning_(turning_coordinates(mechanism)),
      workspace_(mechanism),
      rates_(mechanism.coordinates()) {
  const double gap = closure_residual(state);
  const auto open = [&] {
    return NumericalError("the initial state is not closed (" + number(gap) +
                          " rad or lengths are open); assemble it first");
  };
  if (!(gap <= kMostOpen)) throw open();
  anchor_ = state;
  use(choose_chart(mechanism, state.q, {.pinned = pinned_}), state);
  for (const ClosedLoop& loop : loops_)  // what is left out may be open after a while of a motion
    if (!(loop.closure().residual(state.q)(loop.rows()).norm() <= kClosed)) throw open();
  set_anchor({.state = state});
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
    freedom = loops_[turned.loop].positions().freedom(turned.entry);
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
  return loops_[turned.loop].unit()[turned.entry];
}

void ClosedCoordinates::use(const Chart& chart, const State& state) {
  chart_ = chart;
  workspace_.set_chart(chart);
  velocities_ = chart_.independent(mechanism_.freedoms());
  loops_.clear();
  x_.resize(chart_.loops.size());
  turned_.clear();
  std::vector<char> wanted(index(mechanism_.coordinates()), 1);
  for (int i = 0; i < static_cast<int>(chart_.loops.size()); ++i) {
    const LoopChart& own = chart_.loops[index(i)];
    const ClosedLoop& loop = loops_.emplace_back(mechanism_, i, own, state.q);
    const LoopPositions& positions = loop.positions();
    for (Eigen::Index k = 0; k < positions.size(); ++k) {
      if (const int c = positions.coordinate(k); c >= 0)
        wanted[index(c)] = k >= own.rank ? 1 : 0;
      else if (k >= own.rank)
        turned_.push_back({index(i), k});
    }
    for (const int c : positions.turned_coordinates()) wanted[index(c)] = 0;
  }
  positions_.clear();
  for (int i = 0; i < mechanism_.coordinates(); ++i)
    if (wanted[index(i)]) positions_.push_back(i);
}

void ClosedCoordinates::set_anchor(const Instant& instant) {
  anchor_ = instant.state;
  for (ClosedLoop& loop : loops_) loop.set_anchor(instant);
}

// Rows that the chart leaves out open as far as the digits of the file make them; those that it
// keeps do not open.
void ClosedCoordinates::check_still_closed(const State& state) const {
  for (const ClosedLoop& loop : loops_) {
    const Eigen::VectorXd residual = loop.closure().residual(state.q);
    if (!(residual(loop.rows()).norm() <= kClosed))
      throw NumericalError("the " + loop.closure().name() + " has come open: " +
                           loop.closure().worst(residual) + "; ask for a smaller tolerance");
    if (!(residual.norm() <= kMostOpen))
      throw NumericalError("the " + loop.closure().name() +
                           " cannot move on: " + loop.closure().worst(residual) +
                           " in constraints that were redundant where the motion began. Write "
                           "parallel axes and equal "
                           "lengths with more digits, if that is what they are meant to be");
  }
}

void ClosedCoordinates::begin(const State& state) {
  check_still_closed(state);
  use(choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_}), state);
  set_anchor({.state = state});
}

void ClosedCoordinates::pack(const State& state, std::span<double> y) const {
  std::size_t k = 0;
  for (const int i : positions_) y[k++] = state.q[i];
  for (std::size_t i = 0; i < turned_.size();) {
    const std::size_t loop = turned_[i].loop;
    const Eigen::VectorXd x = loops_[loop].positions().of(state.q);
    for (; i < turned_.size() && turned_[i].loop == loop; ++i) y[k++] = x[turned_[i].entry];
  }
  for (const int i : velocities_) y[k++] = state.v[i];
}

// The integrator has the independent coordinates only. Beside a singular position the others may
// turn round while these stay smooth: then the step must become shorter.
void ClosedCoordinates::check_turn(const State& state) const {
  for (const ClosedLoop& loop : loops_) {
    const ClosedLoop::Tangent& tangent = loop.anchor().tangent;
    const LoopPositions& positions = loop.positions();
    if (tangent.side == 0 || loop.closure().constant()) continue;
    const Eigen::VectorXd turned =
        positions.has_turns() ? positions.rates(state.q, state.v) : Eigen::VectorXd();
    const auto rate = [&](Eigen::Index k) {
      return turned.size() > 0 ? turned[k] : state.v[positions.freedom(k)];
    };
    double before = 0.0, now = 0.0, both = 0.0;
    for (Eigen::Index k = 0; k < loop.unit().size(); ++k) {
      double predicted = rate(k);
      if (k < loop.rank()) {
        predicted = 0.0;
        for (Eigen::Index f = 0; f < tangent.map.cols(); ++f)
          predicted += tangent.map(k, f) * rate(loop.rank() + f);
      }
      const double v = rate(k) / loop.unit()[k];
      predicted /= loop.unit()[k];
      before += predicted * predicted;
      now += v * v;
      both += predicted * v;
    }
    if (both < kLeastCosine * std::sqrt(before * now))
      throw NumericalError("the " + loop.closure().name() +
                           " turns round within a step, as beside a singular position: the step "
                           "is too long" +
                           loop.disagreement());
  }
}

double ClosedCoordinates::spread(std::span<const double> y, std::span<const double> error,
                                 double relative, double absolute) {
  // Gears alone: dependent entries are exact multiples.
  if (std::all_of(loops_.begin(), loops_.end(),
                  [](const ClosedLoop& loop) { return loop.closure().constant(); }))
    return 1.0;
  std::vector<double> moved(y.begin(), y.end());
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += error[i];
  off_ = near_ = anchor_;
  try {
    if (close_at(y, 0.0, {}, near_) < kSpread || close_at(moved, 0.0, {}, off_) < kSpread)
      return kGathered;
  } catch (const NumericalError&) {
    return kGathered;  // an evaluation there reports it
  }
  double most = 1.0;
  for (const ClosedLoop& loop : loops_) {
    if (loop.closure().constant()) continue;
    const LoopPositions& positions = loop.positions();
    const Eigen::Index freedoms = positions.size();
    if (loop.independents() == 0) continue;
    // Sums of squares, measured as integrators measure y.
    double own = 0.0, all = 0.0;
    const Eigen::VectorXd near = positions.of(near_.q), off = positions.of(off_.q);
    for (Eigen::Index k = 0; k < freedoms; ++k) {
      const int c = positions.coordinate(k), f = positions.freedom(k);
      double size = std::max(std::abs(near[k]), std::abs(loop.anchor().x[k]));
      if (c < 0) size = std::max(size, loop.unit()[k]);
      if (c >= 0 && turning_[index(c)] != 0) size = std::min(size, std::numbers::pi);
      const double speed = std::max(std::abs(near_.v[f]), std::abs(anchor_.v[f]));
      const double q = (off[k] - near[k]) / (absolute + relative * size);
      const double v = (off_.v[f] - near_.v[f]) / (absolute + relative * speed);
      all += q * q + v * v;
      if (k >= loop.rank()) own += q * q + v * v;
    }
    all /= static_cast<double>(freedoms);
    own /= static_cast<double>(loop.independents());
    if (own > 0.0) most = std::max(most, std::sqrt(all / own));
  }
  return kGathered * most;
}

double ClosedCoordinates::close_at(std::span<const double> y, double time, Place place,
                                   State& state, LoopMaps* maps) {
  state.q = anchor_.q;
  state.v.resize(mechanism_.freedoms());
  std::size_t k = 0;
  for (const int i : positions_) state.q[i] = y[k++];
  for (const int i : velocities_) state.v[i] = y[turned_.size() + k++];
  if (time != 0.0)
    for (const int i : velocities_)
      if (const int c = mechanism_.coordinate_of_freedom()[index(i)]; c >= 0)
        state.q[c] += time * state.v[i];
  normalize_quaternions(mechanism_, state.q);
  const bool safe = close_positions(y, time, place, state);
  const bool is_regular = embed_in_chart(mechanism_, state.q, workspace_);
  if (is_regular) workspace_.expand(state.v);
  if (maps != nullptr) {
    maps->clear();
    if (is_regular) copy_loop_maps(workspace_, *maps);
  }
  double clearance = safe ? 1.0 : 0.0;
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    ClosedLoop& loop = loops_[l];
    // Where the loop has ball joints, its positions are rotation vectors: another matrix than X's.
    const ClosedLoop::Tangent here =
        is_regular && !loop.positions().has_turns()
            ? loop.from_pivots(loop_pivots(workspace_, static_cast<int>(l)))
            : loop.map_at(state.q);
    // A loop that cannot move is not carried over a singular position.
    if (loop.independents() > 0) clearance = std::min(clearance, here.clearance);
    if (place.step == nullptr && time == 0.0) loop.refuse_other_branch(x_[l], here.side);
    if (!is_regular) dependent_velocities(loop, here, state);
  }
  return clearance;
}

bool ClosedCoordinates::close_positions(std::span<const double> y, double time, Place place,
                                        State& state) {
  std::size_t k = positions_.size();
  bool safe = true;
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    ClosedLoop& loop = loops_[l];
    const LoopPositions& positions = loop.positions();
    const Eigen::Index rank = loop.rank(), independents = loop.independents();
    Eigen::VectorXd& x = x_[l];
    x = loop.anchor().x;
    if (time != 0.0) independent_velocities(loop, state);
    for (Eigen::Index f = 0; f < independents; ++f) {
      if (const int c = positions.coordinate(rank + f); c >= 0)
        x[rank + f] = state.q[c];
      else
        x[rank + f] =
            y[k++] + (time != 0.0 ? time * loop.anchor().tangent.lead.row(f).dot(v_) : 0.0);
    }
    const auto check_turns = [&] {
      if (positions.largest_turn(x) > kFarthestTurn)
        throw NumericalError("the " + loop.closure().name() +
                             " turns by nearly half a turn at once: the step is too long");
    };
    check_turns();
    if (place.step == nullptr)
      loop.close(x, state.q);
    else if (const double duration = place.step->duration(); !loop.close_inside(
                 place.step->ways[l], place.s + time / duration, duration, x, state.q))
      safe = false;
    check_turns();  // the dependent ones too
  }
  return safe;
}

void ClosedCoordinates::independent_velocities(const ClosedLoop& loop, const State& state) {
  v_.resize(loop.independents());
  for (Eigen::Index f = 0; f < v_.size(); ++f)
    v_[f] = state.v[loop.positions().freedom(loop.rank() + f)];
}

void ClosedCoordinates::dependent_velocities(const ClosedLoop& loop,
                                             const ClosedLoop::Tangent& tangent, State& state) {
  independent_velocities(loop, state);
  loop.dependent_velocities(state.q, tangent, v_, dependent_);
  for (Eigen::Index d = 0; d < loop.rank(); ++d)
    state.v[loop.positions().freedom(d)] = dependent_[d];
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
    const Eigen::VectorXd x = loops_[loop].positions().rates(state.q, state.v);
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
  if (q != positions_.end()) y[index(q - positions_.begin())] = position;
  y[first_velocity() + to_size(v - velocities_.begin())] = velocity;
}

Coordinates::Accepted ClosedCoordinates::accept(const Instant& instant) {
  const State& state = instant.state;
  Accepted result;
  bool renewed =
      !instant.is_interpolated() && chart_quality(mechanism_, chart_, state.q) < kPoorInMotion;
  if (renewed) {
    try {
      const std::vector<int> before = velocities_;
      const Chart fresh =
          choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_});
      // A prescribed freedom stays independent, however little it moves: then nothing changes.
      renewed =
          fresh.independent(mechanism_.freedoms()) != before || !uses_the_same_rows(fresh, chart_);
      if (renewed) use(fresh, state);
      std::vector<std::string> names;
      for (const int i : velocities_)
        if (!std::binary_search(before.begin(), before.end(), i))
          names.push_back(mechanism_.velocity_names()[index(i)]);
      if (!names.empty()) result.change = "now independent: " + listed(names);
    } catch (const NumericalError&) {
      renewed = false;  // at a singular position no choice is better: go on with this one
    }
  }
  if (!renewed && !instant.is_interpolated())
    for (ClosedLoop& loop : loops_)
      if (loop.is_far_from_reference(state.q)) {
        loop.refer_to(state.q);
        result.recounted = true;
      }
  set_anchor(instant);
  result.changed = renewed || result.recounted;
  return result;
}

double ClosedCoordinates::closure_residual(const State& state) const {
  return closure_gap(mechanism_, state.q);
}

}  // namespace catena
