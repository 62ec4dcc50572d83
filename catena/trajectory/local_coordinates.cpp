// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/local_coordinates.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart_rows.h"
#include "catena/closure/mobility.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostIterations = 25;
constexpr double kSettled = 1e-14;  // as in simulation/coordinates/closed_coordinates.cpp
// Turn from the reference beyond which another reference is chosen.
constexpr double kMostTurn = 1.0;

Vec3d part(const VectorXd& x, int first) { return {x[first], x[first + 1], x[first + 2]}; }
void put(const Vec3d& from, VectorXd& x, int first) {
  for (int i = 0; i < 3; ++i) x[first + i] = from[i];
}
void add(const Vec3d& from, VectorXd& x, int first) {
  for (int i = 0; i < 3; ++i) x[first + i] += from[i];
}

// G x and Gᵀ x; G⁻ᵀ x = (x + ½ θ × x) / (1 + ¼ θ²).
Vec3d by_g(const Vec3d& turn, const Vec3d& x) {
  return x + 0.5 * cross(turn, x) + (0.25 * dot(turn, x)) * turn;
}
Vec3d by_g_transposed(const Vec3d& turn, const Vec3d& x) {
  return x - 0.5 * cross(turn, x) + (0.25 * dot(turn, x)) * turn;
}
Vec3d by_inverse_g_transposed(const Vec3d& turn, const Vec3d& x) {
  return (1.0 / (1.0 + 0.25 * dot(turn, turn))) * (x + 0.5 * cross(turn, x));
}

Rotationd rotation_of(const Node& node, const VectorXd& q) {
  return Rotationd::from_quaternion(load_quaternion<double>(q.data() + node.q_index));
}

bool is_free(const Node& node) { return node.hinge == NodeHinge::free; }

}  // namespace

LocalCoordinates::LocalCoordinates(const Mechanism& mechanism, const State& state,
                                   std::vector<std::uint8_t> pinned)
    : m_(mechanism), pinned_(std::move(pinned)) {
  for (const Node& node : m_.nodes())
    if (node.coordinates != node.freedoms) turning_.push_back(&node);
  const double gap = closure_residual(state);
  const auto open = [&] {
    return NumericalError("the initial state does not close its loops (open by " + number(gap) +
                          " rad or lengths of the loop); use assemble() first");
  };
  if (!(gap <= kMostOpen)) throw open();
  use(choose_chart(m_, state.q, {.pinned = pinned_}));
  for (const Loop& loop : loops_)  // what is left out may be open by the digits of a file
    if (!(loop.closure.residual(state.q)(loop.rows).norm() <= kClosed)) throw open();
  refer_to(state);
}

std::string LocalCoordinates::name(int entry) const {
  const int freedom = independent_[index(entry < states() ? entry : entry - states())];
  return (entry < states() ? "q." : "v.") + m_.velocity_names()[index(freedom)];
}

void LocalCoordinates::use(const Chart& chart) {
  chart_ = std::make_shared<const Chart>(chart);
  independent_ = chart_->independent(m_.freedoms());
  loops_.clear();
  for (int i = 0; i < static_cast<int>(chart_->loops.size()); ++i) {
    const LoopChart& own = chart_->loops[index(i)];
    Loop loop{LoopClosure(m_, i), {}, {}, own.order, {}};
    for (const int column : own.order) loop.freedoms.push_back(loop.closure.freedom(column));
    for (const ChartRow& row : own.rows)
      for (int k = 0; k < loop.closure.rows(); ++k) {
        const ChartRow other = loop.closure.row(k);
        if (other.closure == row.closure && other.row == row.row) loop.rows.push_back(k);
      }
    loops_.push_back(std::move(loop));
  }
}

Vec3d LocalCoordinates::turn_of(const Node& node, const VectorXd& q) const {
  const double* a = reference_.q.data() + node.q_index;
  const double* b = q.data() + node.q_index;
  const Vec3d u{a[1], a[2], a[3]}, w{b[1], b[2], b[3]};
  const double real = a[0] * b[0] + dot(u, w);  // of a* b
  return (2.0 / real) * (a[0] * w - b[0] * u - cross(u, w));
}

VectorXd LocalCoordinates::local(const VectorXd& q) const {
  VectorXd x = VectorXd::Zero(m_.freedoms());
  for (int i = 0; i < m_.freedoms(); ++i)
    if (const int c = m_.coordinate_of_freedom()[index(i)]; c >= 0) x[i] = q[c];
  for (const Node* node : turning_) {
    put(turn_of(*node, q), x, node->v_index);
    if (is_free(*node)) put(part(q, node->q_index + 4), x, node->v_index + 3);
  }
  return x;
}

void LocalCoordinates::place_at(const VectorXd& x, VectorXd& q) const {
  for (int i = 0; i < m_.freedoms(); ++i)
    if (const int c = m_.coordinate_of_freedom()[index(i)]; c >= 0) q[c] = x[i];
  for (const Node* node : turning_) {
    const double* a = reference_.q.data() + node->q_index;
    const Vec3d u{a[1], a[2], a[3]}, g = 0.5 * part(x, node->v_index);
    const double scale = 1.0 / std::sqrt(1.0 + dot(g, g));
    q[node->q_index] = scale * (a[0] - dot(u, g));
    put(scale * (u + a[0] * g + cross(u, g)), q, node->q_index + 1);
    if (is_free(*node)) put(part(x, node->v_index + 3), q, node->q_index + 4);
  }
}

// Columns of freedoms become columns of coordinates.
void LocalCoordinates::apply_inverse_g(const VectorXd& x, const VectorXd& q, MatrixXd& rows,
                                       const Loop& loop) const {
  for (const Node* node : turning_) {
    int column[6] = {};
    bool inside = true;
    for (int k = 0; k < node->freedoms; ++k) {
      column[k] = -1;
      for (int c = 0; c < loop.closure.freedoms(); ++c)
        if (loop.closure.freedom(c) == node->v_index + k) column[k] = c;
      inside = inside && column[k] >= 0;
    }
    if (!inside) continue;
    const Vec3d turn = part(x, node->v_index);
    const Rotationd r = rotation_of(*node, q);
    for (Index i = 0; i < rows.rows(); ++i) {
      const Vec3d angular = by_inverse_g_transposed(
          turn, {rows(i, column[0]), rows(i, column[1]), rows(i, column[2])});
      for (int k = 0; k < 3; ++k) rows(i, column[k]) = angular[k];
      if (!is_free(*node)) continue;
      const Vec3d linear = r * Vec3d{rows(i, column[3]), rows(i, column[4]), rows(i, column[5])};
      for (int k = 0; k < 3; ++k) rows(i, column[3 + k]) = linear[k];
    }
  }
}

void LocalCoordinates::split(const Loop& loop, const MatrixXd& rows, MatrixXd& dependent,
                             MatrixXd& independent) const {
  const Index rank = static_cast<Index>(loop.rows.size());
  const MatrixXd all = rows(loop.rows, loop.columns);
  dependent = all.leftCols(rank);
  independent = all.rightCols(all.cols() - rank);
}

void LocalCoordinates::close(Loop& loop, VectorXd& x, VectorXd& q) const {
  const Index rank = static_cast<Index>(loop.rows.size());
  const Index independents = static_cast<Index>(loop.freedoms.size()) - rank;
  if (rank == 0) return;
  for (Index d = 0; d < rank; ++d) {
    double& to = x[loop.freedoms[index(d)]];
    to = last_local_[loop.freedoms[index(d)]];
    for (Index f = 0; f < independents; ++f) {
      const int freedom = loop.freedoms[index(rank + f)];
      to += loop.map(d, f) * (x[freedom] - last_local_[freedom]);
    }
  }
  double last = kInfinity;
  MatrixXd block, unused;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    place_at(x, q);
    ClosureEquations e = loop.closure.equations(q);
    apply_inverse_g(x, q, e.jacobian, loop);
    split(loop, e.jacobian, block, unused);
    const VectorXd step = Lu(block).solve(e.residual(loop.rows));
    if (!step.allFinite()) break;
    for (Index d = 0; d < rank; ++d) x[loop.freedoms[index(d)]] -= step[d];
    const double size = step.lpNorm<Eigen::Infinity>() / std::max(1.0, loop.closure.length());
    if (size <= kSettled || (size < 1e-9 && size >= 0.5 * last)) {
      place_at(x, q);
      return;
    }
    last = size;
  }
  throw NumericalError("the " + loop.closure.name() +
                       " could not be closed from the last position: the step was too long, or the "
                       "mechanism is at the end of its range");
}

void LocalCoordinates::set_velocities(State& state) const {
  MatrixXd dependent, independent;
  for (const Loop& loop : loops_) {
    if (loop.rows.empty()) continue;
    split(loop, loop.closure.velocity_rows(state.q), dependent, independent);
    VectorXd speeds(independent.cols());
    for (Index f = 0; f < speeds.size(); ++f)
      speeds[f] = state.v[loop.freedoms[index(dependent.cols() + f)]];
    const VectorXd found = -Lu(dependent).solve(independent * speeds);
    for (Index d = 0; d < found.size(); ++d) state.v[loop.freedoms[index(d)]] = found[d];
  }
}

void LocalCoordinates::begin(const State& state) { refer_to(state); }

void LocalCoordinates::restore(const Place& place) {
  if (place.chart != chart_) {
    use(*place.chart);
    chart_ = place.chart;
  }
  refer_to(place.state);
}

void LocalCoordinates::refer_to(const State& state) {
  reference_ = state;
  start_from(state);
}

void LocalCoordinates::start_from(const State& state) {
  last_ = state;
  last_local_ = local(state.q);
  MatrixXd dependent, independent;
  for (Loop& loop : loops_) {
    if (loop.rows.empty()) continue;
    MatrixXd rows = loop.closure.velocity_rows(state.q);
    apply_inverse_g(last_local_, state.q, rows, loop);
    split(loop, rows, dependent, independent);
    loop.map = -Lu(dependent).solve(independent);
  }
}

void LocalCoordinates::pack(const State& state, std::span<double> y) const {
  const VectorXd x = local(state.q);
  for (std::size_t k = 0; k < independent_.size(); ++k) {
    y[k] = x[independent_[k]];
    y[independent_.size() + k] = state.v[independent_[k]];
  }
}

void LocalCoordinates::at(std::span<const double> y, Instant& instant) {
  State& state = instant.state;
  VectorXd x = last_local_;
  state.q = last_.q;
  state.v.setZero(m_.freedoms());
  for (std::size_t k = 0; k < independent_.size(); ++k) {
    x[independent_[k]] = y[k];
    state.v[independent_[k]] = y[independent_.size() + k];
  }
  place_at(x, state.q);
  for (Loop& loop : loops_) close(loop, x, state.q);
  set_velocities(state);
}

void LocalCoordinates::rate(const State& state, const VectorXd& acceleration,
                            std::span<double> dy) const {
  VectorXd x = state.v;
  for (const Node* node : turning_) {
    put(by_g(turn_of(*node, state.q), part(state.v, node->v_index)), x, node->v_index);
    if (is_free(*node))
      put(rotation_of(*node, state.q) * part(state.v, node->v_index + 3), x, node->v_index + 3);
  }
  for (std::size_t k = 0; k < independent_.size(); ++k) {
    dy[k] = x[independent_[k]];
    dy[independent_.size() + k] = acceleration[independent_[k]];
  }
}

void LocalCoordinates::prescribe(int freedom, double position, double velocity,
                                 std::span<double> y) const {
  const auto at = std::find(independent_.begin(), independent_.end(), freedom);
  if (at == independent_.end())
    throw NumericalError("the motion of '" + m_.velocity_names()[index(freedom)] +
                         "' is prescribed, but it depends on other freedoms of its loop");
  const std::size_t k = to_size(at - independent_.begin());
  if (m_.coordinate_of_freedom()[index(freedom)] >= 0) y[k] = position;
  y[independent_.size() + k] = velocity;
}

Coordinates::Accepted LocalCoordinates::accept(const Instant& instant) {
  const State& state = instant.state;
  bool renewed = false;
  if (chart_quality(m_, *chart_, state.q) < kPoorChart) {
    try {
      const Chart fresh = choose_chart(m_, state.q, {.pinned = pinned_, .previous = chart_.get()});
      // A prescribed freedom stays independent, however little it moves: then nothing changes.
      renewed =
          fresh.independent(m_.freedoms()) != independent_ || !uses_the_same_rows(fresh, *chart_);
      if (renewed) use(fresh);
    } catch (const NumericalError&) {  // at a singular position no choice is better
    }
  }
  for (const Node* node : turning_) renewed = renewed || norm(turn_of(*node, state.q)) > kMostTurn;
  if (renewed)
    refer_to(state);
  else
    start_from(state);
  return {.changed = renewed};
}

double LocalCoordinates::closure_residual(const State& state) const {
  return closure_gap(m_, state.q);
}

MatrixXd LocalCoordinates::matrix_k(const State& state, const Workspace& w) const {
  MatrixXd k(states(), states());
  for (int c = 0; c < states(); ++c) {
    VectorXd column = VectorXd::Zero(m_.freedoms());
    column[independent_[index(c)]] = 1.0;
    w.expand(column);
    for (const Node* node : turning_) {
      put(by_g(turn_of(*node, state.q), part(column, node->v_index)), column, node->v_index);
      if (is_free(*node))
        put(rotation_of(*node, state.q) * part(column, node->v_index + 3), column,
            node->v_index + 3);
    }
    k.col(c) = column(independent_);
  }
  return k;
}

void LocalCoordinates::add_rates(const State& state, const VectorXd& lambda, VectorXd& q_bar,
                                 VectorXd& v_bar, VectorXd& reference_bar) const {
  VectorXd full = VectorXd::Zero(m_.freedoms());
  for (std::size_t k = 0; k < independent_.size(); ++k)
    full[independent_[k]] = lambda[static_cast<Index>(k)];
  for (const Node* node : turning_) {
    const int at = node->v_index;
    const Vec3d turn = turn_of(*node, state.q), speed = part(state.v, at), l = part(full, at);
    // θ̇ = G(θ) ω changes with θ, which the reference moves against.
    const Vec3d by_turn =
        0.5 * cross(speed, l) + (0.25 * dot(turn, speed)) * l + (0.25 * dot(turn, l)) * speed;
    const Vec3d turned = by_g_transposed(turn, by_turn);
    add(turned, q_bar, at);
    const Rotationd r = rotation_of(*node, state.q);
    const Rotationd from = rotation_of(*node, reference_.q);
    add(-from.inverse_times(r * turned), reference_bar, at);
    put(by_g_transposed(turn, l), full, at);
    if (!is_free(*node)) continue;
    const Vec3d pull = r.inverse_times(part(full, at + 3));
    add(cross(part(state.v, at + 3), pull), q_bar, at);  // of ṗ = R u
    put(pull, full, at + 3);
  }
  v_bar += full;
}

VectorXd LocalCoordinates::by_coordinates(const State& state, const VectorXd& by_tangent,
                                          const Workspace& w) const {
  if (!has_turns()) return by_tangent;
  return Lu(matrix_k(state, w).transpose()).solve(by_tangent);
}

VectorXd LocalCoordinates::by_tangent(const State& state, const VectorXd& by_coordinates) const {
  VectorXd full = VectorXd::Zero(m_.freedoms());
  for (std::size_t k = 0; k < independent_.size(); ++k)
    full[independent_[k]] = by_coordinates[static_cast<Index>(k)];
  for (const Node* node : turning_) {
    const int at = node->v_index;
    put(by_g_transposed(turn_of(*node, state.q), part(full, at)), full, at);
    if (is_free(*node))
      put(rotation_of(*node, state.q).inverse_times(part(full, at + 3)), full, at + 3);
  }
  return full;
}

VectorXd LocalCoordinates::by_reference(const State& state, const VectorXd& by_coordinates) const {
  const VectorXd full = by_tangent(state, by_coordinates);
  VectorXd result = VectorXd::Zero(full.size());
  for (const Node* node : turning_)
    put(rotation_of(*node, reference_.q)
            .inverse_times(rotation_of(*node, state.q) * part(full, node->v_index)),
        result, node->v_index);
  return result;
}

void LocalCoordinates::drop_turns(VectorXd& lambda) const {
  for (std::size_t k = 0; k < independent_.size(); ++k)
    for (const Node* node : turning_)
      if (independent_[k] >= node->v_index && independent_[k] < node->v_index + 3)
        lambda[static_cast<Index>(k)] = 0.0;
}

}  // namespace catena
