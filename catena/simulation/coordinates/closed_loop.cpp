// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/coordinates/closed_loop.h"

#include <algorithm>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/closure/chart_rows.h"

namespace catena {
namespace {

// Loops of a higher rank have smaller pivots, as long chains do: as the inverse square of it.
constexpr int kUsualRank = 4;
// Where the second step of Newton's method is shorter than this part of the first, it goes to the
// solution that is nearest (Newton and Kantorovich; Deuflhard, Newton methods for nonlinear
// problems, section 2.1).
constexpr double kSafe = 0.25;
// Number of steps. Enough where each step only halves the error, beside a singular position: 2⁻²⁵
// of the first.
constexpr int kMostNewtonSteps = 25;
// Newton's method has converged when a step no longer moves anything by more than this (radians, or
// fractions of the loop's length).
constexpr double kSettled = 1e-14;
// A step that is shorter may be rounding, which near a singular position is above any fixed bound:
// then it is over when steps do not become shorter, and a first step says nothing about where it
// goes.
constexpr double kShortStep = 1e-9;
// Rotations by quaternion are counted from another reference when they have turned by this, or when
// independent freedoms and their numbers in x differ by such a factor.
constexpr double kMostTurned = 1.0;
constexpr double kMostMixed = 2.0;

bool is_settled(double step, double last) {
  return step <= kSettled || (step < kShortStep && step >= 0.5 * last);
}

double ratio_of_pivots(const Lu& block, double good) {
  const auto pivots = block.factors().diagonal().cwiseAbs();
  const double ratio = pivots.minCoeff() / pivots.maxCoeff() / good;
  return ratio >= 0.0 ? ratio : 0.0;  // or NaN
}

int sign_of_determinant(const Lu& block) {
  int sign = block.sign_of_exchanges();
  for (const double pivot : block.factors().diagonal())
    if (!(pivot > 0.0)) sign = pivot < 0.0 ? -sign : 0;
  return sign;
}

}  // namespace

ClosedLoop::ClosedLoop(const Mechanism& mechanism, int loop, const LoopChart& chart,
                       const Eigen::VectorXd& q)
    : closure_(mechanism, loop),
      columns_(chart.order),
      positions_(mechanism, closure_, chart.order, q) {
  if (chart.rank > kUsualRank)
    good_clearance_ = static_cast<double>(kUsualRank * kUsualRank) / (chart.rank * chart.rank);
  const Eigen::VectorXd unit = closure_.unit_steps(q);
  unit_.resize(unit.size());
  for (Eigen::Index k = 0; k < unit.size(); ++k) unit_[k] = unit[columns_[index(k)]];
  for (const ChartRow& row : chart.rows)
    for (int k = 0; k < closure_.rows(); ++k) {
      const ChartRow other = closure_.row(k);
      if (other.closure == row.closure && other.row == row.row) rows_.push_back(k);
    }
  for (std::size_t i = 0; i < chart.rows.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (chart.rows[k].place > chart.rows[i].place) row_parity_ = -row_parity_;
}

Eigen::MatrixXd ClosedLoop::part(const Eigen::MatrixXd& m, Eigen::Index first,
                                 Eigen::Index count) const {
  Eigen::MatrixXd result(rank(), count);
  for (Eigen::Index i = 0; i < result.rows(); ++i)
    for (Eigen::Index k = 0; k < count; ++k)
      result(i, k) = m(rows_[index(i)], columns_[index(first + k)]);
  return result;
}

ClosedLoop::Tangent ClosedLoop::map_at(const Eigen::VectorXd& q) const {
  Tangent here;
  here.map.resize(rank(), independents());
  if (rank() == 0) return here;
  Eigen::MatrixXd y = closure_.velocity_rows(q);
  positions_.differentiate(q, y);
  const Lu block(part(y, 0, rank()));
  here.clearance = ratio_of_pivots(block, good_clearance_);
  here.side = sign_of_determinant(block);
  if (independents() > 0) here.map = -block.solve(part(y, rank(), independents()));
  return here;
}

ClosedLoop::Tangent ClosedLoop::from_pivots(const LoopPivots& pivots) const {
  Tangent here;
  if (closure_.constant() || rank() == 0) return here;
  here.clearance = pivots.ratio / good_clearance_;
  here.side = row_parity_ * pivots.sign;
  return here;
}

Eigen::MatrixXd ClosedLoop::velocities_at(const Eigen::VectorXd& q,
                                          const Eigen::MatrixXd& map) const {
  Eigen::MatrixXd all(positions_.size(), map.cols());
  all.topRows(map.rows()) = map;
  all.bottomRows(map.cols()).setIdentity();
  positions_.to_velocities(q, all);
  return all;
}

void ClosedLoop::dependent_velocities(const Eigen::VectorXd& q, const Tangent& tangent,
                                      const Eigen::VectorXd& v, Eigen::VectorXd& dependent) const {
  if (positions_.has_turns() && v.size() > 0) {
    const Eigen::MatrixXd all = velocities_at(q, tangent.map);
    dependent = all.topRows(rank()) * Lu(all.bottomRows(v.size())).solve(v);
  } else {
    dependent.noalias() = tangent.map * v;
  }
}

ClosedLoop::Tangent ClosedLoop::tangent_at(const Instant& instant) const {
  const auto at = [&](const Eigen::VectorXd& q) {
    Tangent here = map_at(q);
    if (positions_.has_turns() && independents() > 0)
      here.lead = inverse(velocities_at(q, here.map).bottomRows(independents()));
    return here;
  };
  if (!instant.is_interpolated()) return at(instant.state.q);
  Tangent sum = at(instant.sides[0].state.q);
  sum.map *= instant.sides[0].weight;
  sum.lead *= instant.sides[0].weight;
  for (std::size_t i = 1; i < instant.sides.size(); ++i) {
    const PassageSide& side = instant.sides[i];
    const Tangent there = at(side.state.q);
    sum.map += side.weight * there.map;
    sum.lead += side.weight * there.lead;
  }
  sum.clearance = instant.clearance;
  sum.side = 0;
  return sum;
}

void ClosedLoop::set_anchor(const Instant& instant) {
  anchor_ = {instant.state.q, positions_.of(instant.state.q), tangent_at(instant), false};
}

bool ClosedLoop::is_far_from_reference(const Eigen::VectorXd& q) const {
  if (anchor_.tangent.lead.size() == 0) return false;
  if (positions_.largest_turn(positions_.of(q)) > kMostTurned) return true;
  const Eigen::VectorXd factors = singular_values(anchor_.tangent.lead);
  return factors.maxCoeff() > kMostMixed || kMostMixed * factors.minCoeff() < 1.0;
}

void ClosedLoop::close(Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  if (rank() == 0) {
    positions_.put(x, q);
    return;
  }
  const Eigen::MatrixXd& map = anchor_.tangent.map;
  const auto predict = [&] {
    x.head(rank()) = anchor_.x.head(rank());
    for (Eigen::Index f = 0; f < map.cols(); ++f)
      x.head(rank()) += map.col(f) * (x[rank() + f] - anchor_.x[rank() + f]);
  };
  predict();
  if (settle_safely(x, q)) return;
  if (follow(x, q)) return;
  predict();
  settle(x, q);
}

ClosedLoop::Settled ClosedLoop::settle(Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  const double length = closure_.length();
  double last = kInfinity, contraction = 0.0;
  positions_.put(x, q);
  for (int iteration = 0; iteration < kMostNewtonSteps; ++iteration) {
    ClosureEquations e = closure_.equations(q);
    positions_.differentiate(q, e.jacobian);
    Eigen::VectorXd residual(rank());
    for (Eigen::Index i = 0; i < rank(); ++i) residual[i] = e.residual[rows_[index(i)]];
    const Lu block(part(e.jacobian, 0, rank()));
    const Eigen::VectorXd step = block.solve(residual);
    if (!step.allFinite()) break;
    x.head(rank()) -= step;
    positions_.put(x, q);
    const double size = step.lpNorm<Eigen::Infinity>() / std::max(1.0, length);
    if (iteration == 1 && last > kShortStep) contraction = size / last;
    if (is_settled(size, last)) return {contraction, ratio_of_pivots(block, good_clearance_)};
    last = size;
  }
  throw NumericalError(
      "the " + closure_.name() +
      " could not be closed from the last position: the step was too long, or the mechanism is at "
      "the end of its range" +
      disagreement());
}

// Newton's method must have contracted at once, and the error of the prediction must be small
// beside the distance to the singular position: the other branch is on the other side of it.
std::optional<double> ClosedLoop::settle_safely(Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  const Eigen::VectorXd predicted = x.head(rank());
  Settled settled;
  try {
    settled = settle(x, q);
  } catch (const NumericalError&) {
    return std::nullopt;
  }
  if (settled.contraction > kSafe) return std::nullopt;
  const double off =
      (x.head(rank()) - predicted).cwiseQuotient(unit_.head(rank())).lpNorm<Eigen::Infinity>();
  if (!(off <= kSafe * settled.clearance)) return std::nullopt;
  return settled.clearance;
}

void ClosedLoop::close_nearest(Eigen::VectorXd& q) const {
  const Eigen::VectorXd unit = closure_.unit_steps(q);
  double last = kInfinity;
  for (int iteration = 0; iteration < kMostNewtonSteps; ++iteration) {
    const ClosureEquations e = closure_.equations(q);
    const Eigen::VectorXd step =
        CompleteOrthogonal((e.jacobian * unit.asDiagonal())(rows_, Eigen::all))
            .solve(-e.residual(rows_));
    q = closure_.moved(q, unit.cwiseProduct(step));
    const double size = step.lpNorm<Eigen::Infinity>();
    if (is_settled(size, last)) return;
    if (!(size < 1.0)) break;
    last = size;
  }
  throw NumericalError("the " + closure_.name() +
                       " could not be closed from the last position: the step was too long");
}

}  // namespace catena
