// SPDX-License-Identifier: BSD-3-Clause
// Impacts within a step, and positions at its end (time_stepping.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/model/configuration.h"
#include "catena/simulation/nonsmooth/stepping_tolerances.h"
#include "catena/simulation/nonsmooth/time_stepping.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// The instant of a passage is found to this part of the step.
constexpr double kPassageFound = 1e-6;
constexpr int kMostLooks = 40;
// What is closed with the rows of the middle of the step (m, rad): a part h v of it is left.
constexpr double kLittle = 1e-6;
// Slower impacts do not keep a run by events from going on by events (m/s, rad/s).
constexpr double kCalm = 5e-3;
// An approach is told in the log if it is faster (m/s, rad/s).
constexpr double kImpactTold = 1e-2;

}  // namespace

// The least distance of what does not touch yet from its plane or limit; `mark`: what is as near
// as that, or has passed, touches from now on.
double TimeStepping::least_gap(const State& state, bool mark) {
  double least = kInfinity;
  set_.look(state);
  for (std::size_t k = 0; k < contacts_.size(); ++k)
    if (touches_[k] == 0) least = std::min(least, set_.contact_gap(contacts_[k]));
  const auto each_stop = [&](auto visit) {
    for (std::size_t k = 0; k < stops_.stops().size(); ++k) {
      const StopsAndFriction::Stop& stop = stops_.stops()[k];
      if (stop_lower_[k] == 0 && stop.outside >= 0)
        visit(stop_gap(stop, -1, state), stop_lower_[k]);
      if (stop_upper_[k] == 0 && stop.outside <= 0) visit(stop_gap(stop, 1, state), stop_upper_[k]);
    }
  };
  each_stop([&](double gap, std::uint8_t&) { least = std::min(least, gap); });
  if (!mark) return least;
  const double near = std::max(least, 0.0) + kTouches;
  for (std::size_t k = 0; k < contacts_.size(); ++k)
    if (touches_[k] == 0 && set_.contact_gap(contacts_[k]) <= near) touches_[k] = 1;
  each_stop([&](double gap, std::uint8_t& touches) {
    if (gap <= near) touches = 1;
  });
  return least;
}

// What leaves takes no part until it is met again: pushed in a step that it begins with u > 0, it
// would be given energy.
void TimeStepping::let_go() {
  set_.look(state_);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    if (touches_[k] == 0 || !(set_.approach_speed(contacts_[k]) > kImpactSpeed)) continue;
    touches_[k] = 0;
    contact_force_[k].setZero();
  }
  for (std::size_t k = 0; k < stop_lower_.size(); ++k) {
    const double v = state_.v[stops_.stops()[k].freedom];
    if (v > kImpactSpeed) stop_lower_[k] = 0;
    if (v < -kImpactSpeed) stop_upper_[k] = 0;
    if (stop_lower_[k] == 0) lower_force_[k] = 0.0;
    if (stop_upper_[k] == 0) upper_force_[k] = 0.0;
  }
}

// On the way of move() (free_flight.h). What has just left may be below its plane by
// rounding: it is met where it is deeper.
TimeStepping::Passage TimeStepping::first_passage(double h) {
  Passage result;
  if (!(least_gap(end_, false) < -kTouches)) return result;
  result.any = true;
  const auto each_gap = [&](const State& state, auto visit) {
    set_.look(state);
    for (std::size_t k = 0; k < contacts_.size(); ++k)
      if (touches_[k] == 0) visit(set_.contact_gap(contacts_[k]));
    for (std::size_t k = 0; k < stops_.stops().size(); ++k) {
      const StopsAndFriction::Stop& stop = stops_.stops()[k];
      if (stop_lower_[k] == 0 && stop.outside >= 0) visit(stop_gap(stop, -1, state));
      if (stop_upper_[k] == 0 && stop.outside <= 0) visit(stop_gap(stop, 1, state));
    }
  };
  std::vector<double> above;
  each_gap(state_, [&](double gap) { above.push_back(gap > 0.0 ? 0.0 : 0.5 * kTouches - gap); });
  const auto least = [&](const State& state) {
    double found = kInfinity;
    std::size_t k = 0;
    each_gap(state, [&](double gap) { found = std::min(found, gap + above[k++]); });
    return found;
  };
  double low = 0.0, high = 1.0, at_low = least(state_), at_high = least(end_);
  if (!(at_high < 0.0)) {
    result.part = 0.0;
    return result;
  }
  State between = state_;
  for (int k = 0; k < kMostLooks && high - low > kPassageFound && at_high < -0.1 * kTouches; ++k) {
    double s = low + (high - low) * at_low / (at_low - at_high);
    if (k % 3 == 2) s = 0.5 * (low + high);
    between.q = flight_.position(h, s, state_.q, state_.v, end_.v);
    const double here = least(between);
    (here > 0.0 ? low : high) = s;
    (here > 0.0 ? at_low : at_high) = here;
  }
  result.part = high;
  return result;
}

// What touches and approaches collides.
void TimeStepping::strike() {
  bool any = !equations_.forces().motions().empty() && fresh_;
  for (const std::uint8_t touches : touches_) any = any || touches != 0;
  for (std::size_t k = 0; k < stop_lower_.size(); ++k)
    any = any || stop_lower_[k] != 0 || stop_upper_[k] != 0;
  if (!any) return;
  // A look without factors first.
  use_rows();
  constrained_->set_targets(t_, state_);
  double fastest = 0.0;
  set_.look(state_);
  for (std::size_t k = 0; k < contacts_.size(); ++k)
    if (touches_[k] != 0) fastest = std::max(fastest, -set_.approach_speed(contacts_[k]));
  for (std::size_t k = 0; k < stop_lower_.size(); ++k) {
    const double v = state_.v[stops_.stops()[k].freedom];
    if (stop_lower_[k] != 0) fastest = std::max(fastest, -v);
    if (stop_upper_[k] != 0) fastest = std::max(fastest, v);
  }
  if (!(fastest > kImpactSpeed)) return;
  if (fastest > kCalm) calm_since_ = t_;
  smooth_ = 0;
  set_.dynamics().form_at(state_, set_.workspace());
  formed_ = true;
  list_items(true);
  // What gravity gives within a step, and twice that: such bounces end within the next steps.
  const double slow = 2.0 * settings_.step * norm(mechanism_.gravity());
  if (!collide(slow, true, true)) collide(slow, false, false);
}

// False: it may refuse, and restitution would create energy.
bool TimeStepping::collide(double least, bool bounces, bool may_refuse) {
  const Eigen::VectorXd before_rows = set_.dynamics().right_side();
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(problem_.b.size());
  bool any_bounce = false;
  for (Eigen::Index k = 0; k < problem_.b.size(); ++k)
    problem_.b[k] = sense_of_[index(k)] * before_rows[row_of_[index(k)]];
  const Eigen::VectorXd before = problem_.b;
  for (const Item& item : items_) {
    double e = 0.0;
    if (item.kind == Item::Kind::contact)
      e = set_.contact(contacts_[index(item.which)]).restitution;
    if (item.kind == Item::Kind::stop) e = stops_.stops()[index(item.which)].restitution;
    if (!bounces || e == 0.0 || before[item.first] >= -least) continue;
    shift[item.first] = e * before[item.first];
    any_bounce = true;
  }
  problem_.b += shift;
  guess_.setZero(problem_.b.size());
  solve_items();
  const Eigen::VectorXd after = solution_.motion - shift;
  const Eigen::VectorXd work = 0.5 * solution_.impulse.cwiseProduct(before + after);
  double sum = 0.0, size = 0.0;
  for (const Item& item : items_) {
    if (item.kind == Item::Kind::equal || item.kind == Item::Kind::motion) continue;
    const double own =
        item.kind == Item::Kind::contact ? work.segment<3>(item.first).sum() : work[item.first];
    sum += own;
    size += std::abs(own);
  }
  if (may_refuse && any_bounce && sum > kCreatesEnergy * size) return false;
  set_.dynamics().constraints().respond(set_.workspace(), row_impulse_);
  state_.v += set_.dynamics().constraints().change();
  energy_.reset();
  quality_.residual = std::max(quality_.residual, solution_.residual);
  if (solution_.residual > kResidualNoted) note_residual("impact");
  for (const Item& item : items_) {
    const WorkAccount& account = equations_.work();
    const double fast = before[item.first];
    if (item.kind == Item::Kind::contact) {
      const int contact = contacts_[index(item.which)];
      const double own = work.segment<3>(item.first).sum();
      account.add_constraint(contact, own, y_);
      if (fast < -kImpactTold)
        log_.push_back({t_, "touch", set_.name(contact),
                        fmt::format("normal velocity {:.6g} to {:.6g}, energy {:.6g} J", fast,
                                    after[item.first], own)});
    } else if (item.kind == Item::Kind::stop) {
      const StopsAndFriction::Stop& stop = stops_.stops()[index(item.which)];
      account.add_impact(stop.freedom, work[item.first], y_);
      if (fast < -kImpactTold)
        log_.push_back({t_, "limit", mechanism_.velocity_names()[index(stop.freedom)],
                        fmt::format("{} limit {:.6g}: velocity {:.6g} to {:.6g}, energy {:.6g} J",
                                    item.sense > 0 ? "lower" : "upper",
                                    item.sense > 0 ? stop.lower : stop.upper, item.sense * fast,
                                    item.sense * after[item.first], work[item.first])});
    } else if (item.kind == Item::Kind::motion) {
      // Of the motion itself: what it moves with times its impulse.
      account.add_motion(item.which, solution_.impulse[item.first] * state_.v[item.which], y_);
    }
  }
  return true;
}

// Positions back onto equalities, and out of planes and limits, the least way as the inertia
// measures it. True: by more than kLittle.
bool TimeStepping::correct() {
  if (items_.empty() && touches_.empty() && stop_lower_.empty()) return false;
  use_rows();
  constrained_->set_targets(t_, state_);
  Eigen::VectorXd velocities, gaps;
  set_.dynamics().measure_rows(state_, set_.workspace(), velocities, &gaps);
  double most = 0.0, deepest = 0.0;
  const TreeConstraints& c = set_.dynamics().constraints();
  const auto missed = [&](const Item& item) {
    if (item.kind == Item::Kind::stop)
      return stop_gap(stops_.stops()[index(item.which)], -item.sense, state_);
    return gaps[item.row];
  };
  const auto pushes = [&](const Item& item) {
    return item.kind == Item::Kind::contact ? contact_force_[index(item.which)][0] > 0.0
           : item.kind == Item::Kind::stop
               ? (item.sense > 0 ? lower_force_ : upper_force_)[index(item.which)] > 0.0
               : true;
  };
  // What is listed may be of another set of rows, as after an impact.
  const bool stale = !formed_;
  if (stale) set_.dynamics().form_at(state_, set_.workspace());
  formed_ = true;
  list_items(true);
  for (const Item& item : items_) {
    const double gap = missed(item);
    if (item.kind == Item::Kind::contact || item.kind == Item::Kind::stop)
      deepest = std::max(deepest, -gap);
    if (gap < 0.0 || (pushes(item) && gap <= kHovers)) most = std::max(most, std::abs(gap));
  }
  quality_.penetration = std::max(quality_.penetration, deepest);
  if (deepest > kDeepest) calm_since_ = t_;  // events would move it to its plane at once
  if (most <= kMissed) return false;
  // J M⁻¹ Jᵀ of the middle of the step will do for little.
  if (!stale && most > kLittle) set_.dynamics().form_at(state_, set_.workspace());
  ConeProblem positions;
  std::vector<int> rows;
  std::vector<int> senses;
  for (const Item& item : items_) {
    const double gap = missed(item);
    const bool one_sided = item.kind == Item::Kind::contact || item.kind == Item::Kind::stop;
    if (one_sided && gap > kHovers) continue;
    const bool both = !one_sided || (pushes(item) && gap > 0.0);
    positions.blocks.push_back({.law = ConeProblem::Law::bounded,
                                .row = static_cast<int>(rows.size()),
                                .least = both ? -kInfinity : 0.0});
    if (!one_sided) positions.blocks.back().law = ConeProblem::Law::equal;
    rows.push_back(item.row);
    senses.push_back(item.sense);
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  positions.symmetric = c.ideal();
  positions.w = c.matrix()(rows, rows);
  positions.b.resize(n);
  Eigen::Index k = 0;
  for (const Item& item : items_) {
    const double gap = missed(item);
    const bool one_sided = item.kind == Item::Kind::contact || item.kind == Item::Kind::stop;
    if (one_sided && gap > kHovers) continue;
    positions.b[k++] = std::clamp(gap, -kMostCorrected, kMostCorrected);
  }
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) positions.w(i, j) *= senses[index(i)] * senses[index(j)];
  const ConeSolution found = solve(positions);
  Eigen::VectorXd push = Eigen::VectorXd::Zero(c.rows());
  for (Eigen::Index i = 0; i < n; ++i) push[rows[index(i)]] += senses[index(i)] * found.impulse[i];
  set_.dynamics().constraints().respond(set_.workspace(), push);
  const double before = energy_here();
  state_.q = integrate(mechanism_, state_.q, c.change());
  energy_.reset();
  equations_.work().add_correction(energy_here() - before, y_);
  return most > kLittle;
}

}  // namespace catena
