#include "catena/simulation/closed_coordinates.h"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

constexpr int kMostIterations = 25;
// Newton's method has converged when a step no longer moves anything by more than this (radians, or
// fractions of the loop's length).
constexpr double kSettled = 1e-14;

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
      rates_(mechanism.coordinates()) {
  check_closed(state);
  use(choose_chart(mechanism, state.q, {.pinned = pinned_}));
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

void ClosedCoordinates::use(const Chart& chart) {
  chart_ = chart;
  velocities_ = chart_.independent(mechanism_.freedoms());
  loops_.clear();
  std::vector<char> wanted(index(mechanism_.coordinates()), 1);
  for (int i = 0; i < static_cast<int>(chart_.loops.size()); ++i) {
    Loop loop{LoopClosure(mechanism_, tables_, i), false, {}, {}, {}, {}, {}};
    const LoopChart& own = chart_.loops[index(i)];
    loop.columns = own.order;
    for (const int column : loop.columns) {
      loop.coordinates.push_back(
          mechanism_.coordinate_of_freedom()[index(loop.closure.freedom(column))]);
      loop.by_quaternion = loop.by_quaternion || loop.coordinates.back() < 0;
    }
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

Eigen::MatrixXd ClosedCoordinates::map_at(Loop& loop, const Eigen::VectorXd& q) const {
  const Eigen::MatrixXd y = loop.closure.velocity_rows(q);
  const int rank = static_cast<int>(loop.rows.size());
  const int independents = static_cast<int>(loop.columns.size()) - rank;
  if (rank == 0) return Eigen::MatrixXd(0, independents);
  loop.block.compute(part(y, loop.rows, loop.columns, 0, rank));
  return -loop.block.solve(part(y, loop.rows, loop.columns, rank, independents));
}

void ClosedCoordinates::set_anchor(const State& state) {
  anchor_ = state;
  for (Loop& loop : loops_) loop.map = map_at(loop, state.q);
}

void ClosedCoordinates::check_closed(const State& state) const {
  const double gap = closure_residual(state);
  if (!(gap <= kClosed))
    throw NumericalError("the initial state is not closed (" + number(gap) +
                         " rad or lengths are open); assemble it first");
}

void ClosedCoordinates::begin(const State& state) {
  check_closed(state);
  use(choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_}));
  set_anchor(state);
}

void ClosedCoordinates::pack(const State& state, std::span<double> y) const {
  std::size_t k = 0;
  for (const int i : positions_) y[k++] = state.q[i];
  for (const int i : velocities_) y[k++] = state.v[i];
}

void ClosedCoordinates::unpack(std::span<const double> y, State& state) {
  state.q = anchor_.q;
  std::size_t k = 0;
  for (const int i : positions_) state.q[i] = y[k++];
  for (const int i : velocities_) state.v[i] = y[k++];
  normalize_quaternions(mechanism_, state.q);
  drift_ = 0.0;
  for (Loop& loop : loops_) {
    if (loop.by_quaternion)
      drift_ = std::max(drift_, close_by_quaternion(loop, state));
    else
      close(loop, state);
    const Eigen::MatrixXd map = map_at(loop, state.q);
    for (Eigen::Index d = 0; d < map.rows(); ++d) {
      double sum = 0.0;
      for (Eigen::Index f = 0; f < map.cols(); ++f)
        sum +=
            map(d, f) *
            state.v[loop.closure.freedom(loop.columns[static_cast<std::size_t>(map.rows() + f)])];
      state.v[loop.closure.freedom(loop.columns[static_cast<std::size_t>(d)])] = sum;
    }
  }
}

void ClosedCoordinates::close(Loop& loop, State& state) const {
  const int rank = static_cast<int>(loop.rows.size());
  if (rank == 0) return;
  const auto coordinate = [&](Eigen::Index k) {
    return loop.coordinates[static_cast<std::size_t>(k)];
  };
  for (Eigen::Index d = 0; d < rank; ++d)
    for (Eigen::Index f = 0; f < loop.map.cols(); ++f)
      state.q[coordinate(d)] +=
          loop.map(d, f) * (state.q[coordinate(rank + f)] - anchor_.q[coordinate(rank + f)]);
  const double length = loop.closure.length();
  double last = kInfinity;
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
    if (size <= kSettled || (size < 1e-9 && size >= 0.5 * last)) return;
    last = size;
  }
  throw NumericalError("the " + loop.closure.name() +
                       " could not be closed from the last position: the step was too long, or the "
                       "mechanism is at the end of its range");
}

double ClosedCoordinates::close_by_quaternion(const Loop& loop, State& state) const {
  const Eigen::VectorXd unit = loop.closure.unit_steps(state.q);
  double last = kInfinity, whole = 0.0;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const ClosureEquations e = loop.closure.equations(state.q);
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
    solver.setThreshold(kRankThreshold);
    solver.compute(e.jacobian * unit.asDiagonal());
    const Eigen::VectorXd step = solver.solve(-e.residual);
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
  bool anew = chart_quality(mechanism_, tables_, chart_, state.q) < kPoorChart;
  if (anew) {
    try {
      const std::vector<int> before = velocities_;
      use(choose_chart(mechanism_, state.q, {.pinned = pinned_, .previous = &chart_}));
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
