// SPDX-License-Identifier: BSD-3-Clause
// What takes part in a step, and its problem of impulses (time_stepping.h).
#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/simulation/nonsmooth/stepping_tolerances.h"
#include "catena/simulation/nonsmooth/time_stepping.h"

namespace catena {
namespace {

// An element is stiff if its implicit part changes the velocity of its freedom by more than this
// part within a step.
constexpr double kStiff = 0.02;
// Of an implicit element (its compliance is finite).
constexpr double kLeastSlope = 1e-30;

}  // namespace

double TimeStepping::stop_gap(const StopsAndFriction::Stop& stop, int side,
                              const State& state) const {
  const double q = state.q[stop.coordinate];
  return side < 0 ? q - stop.lower : stop.upper - q;
}

// Once, at the first position: which of the elements that could be stiff are.
void TimeStepping::choose_stiff() {
  std::vector<int> candidates;
  for (int f = 0; f < mechanism_.freedoms(); ++f) {
    stiff_[index(f)] = 0;
    const int lock = constrained_->lock_of_freedom(f);
    if (lock < 0 || equations_.prescribed(f)) continue;
    if (!(joint_[index(f)].implicit(1.0) + controlled_[index(f)].implicit(1.0) > 0.0)) continue;
    candidates.push_back(f);
    set_.activate_row(lock);
  }
  if (candidates.empty()) return;
  const double h = settings_.step;
  set_.dynamics().form_at(state_, set_.workspace());
  const Eigen::MatrixXd& w = set_.dynamics().constraints().matrix();
  for (const int f : candidates) {
    const int row = set_.first_row(constrained_->lock_of_freedom(f));
    const double c = joint_[index(f)].implicit(h) + controlled_[index(f)].implicit(h);
    if (c * w(row, row) > kStiff) stiff_[index(f)] = 1;
  }
}

void TimeStepping::find_touching() {
  set_.look(state_);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const double gap = set_.contact_gap(contacts_[k]);
    const bool pushed = contact_force_[k][0] > 0.0;
    touches_[k] = gap <= (pushed ? kHovers : kTouches) ? 1 : 0;
    if (touches_[k] == 0) contact_force_[k].setZero();
  }
  for (std::size_t k = 0; k < stops_.stops().size(); ++k) {
    const StopsAndFriction::Stop& stop = stops_.stops()[k];
    const double lower = stop_gap(stop, -1, state_), upper = stop_gap(stop, 1, state_);
    if (stop.outside != 0 && lower >= 0.0 && upper >= 0.0) stops_.came_inside(static_cast<int>(k));
    const int outside = stops_.stops()[k].outside;
    stop_lower_[k] = outside >= 0 && lower <= (lower_force_[k] > 0.0 ? kHovers : kTouches) ? 1 : 0;
    stop_upper_[k] = outside <= 0 && upper <= (upper_force_[k] > 0.0 ? kHovers : kTouches) ? 1 : 0;
    if (stop_lower_[k] == 0) lower_force_[k] = 0.0;
    if (stop_upper_[k] == 0) upper_force_[k] = 0.0;
  }
}

// Switches the rows of what takes part on.
void TimeStepping::use_rows() {
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const ContactMode mode = touches_[k] != 0 ? ContactMode::sticking : ContactMode::apart;
    if (set_.mode(contacts_[k]) == mode) continue;
    set_.set_mode(contacts_[k], mode);
    formed_ = false;
  }
  for (int f = 0; f < mechanism_.freedoms(); ++f)
    row_wanted_[index(f)] = stiff_[index(f)] != 0 || equations_.friction().acts_at(f) ? 1 : 0;
  for (std::size_t k = 0; k < stops_.stops().size(); ++k)
    if (stop_lower_[k] != 0 || stop_upper_[k] != 0)
      row_wanted_[index(stops_.stops()[k].freedom)] = 1;
  for (int f = 0; f < mechanism_.freedoms(); ++f) {
    const int lock = constrained_->lock_of_freedom(f);
    if (lock < 0 || equations_.prescribed(f)) continue;
    if (set_.active(lock) != (row_wanted_[index(f)] != 0)) formed_ = false;
    if (row_wanted_[index(f)] != 0)
      set_.activate_row(lock);
    else if (set_.active(lock))
      set_.release(lock);
  }
}

void TimeStepping::add_item(Item::Kind kind, int which, int row, int sense,
                            ConeProblem::Block block) {
  block.row = static_cast<int>(row_of_.size());
  items_.push_back({kind, which, row, sense, block.row});
  problem_.blocks.push_back(block);
  for (int r = 0; r < (block.law == ConeProblem::Law::cone ? 3 : 1); ++r) {
    row_of_.push_back(row + r);
    sense_of_.push_back(sense);
  }
}

void TimeStepping::list_equalities() {
  using Kind = Item::Kind;
  const TreeConstraints& c = set_.dynamics().constraints();
  for (int k = 0; k < set_.dynamics().closures(); ++k)
    for (int r = 0; c.active(k) && r < c.row_count(k); ++r)
      if (const int row = c.first_row(k) + r; !c.left_out(row))
        add_item(Kind::equal, -1, row, 1, {});
  for (int i = 0; i < set_.count(); ++i) {
    const ConstraintSet::Kind kind = set_.kind(i);
    if (!set_.active(i) || kind == ConstraintSet::Kind::contact) continue;
    const bool own = kind == ConstraintSet::Kind::lock &&
                     constrained_->lock_of_freedom(set_.locked_freedom(i)) == i;
    if (own && equations_.prescribed(set_.locked_freedom(i)))
      add_item(Kind::motion, set_.locked_freedom(i), set_.first_row(i), 1, {});
    else if (!own)
      for (int r = 0; r < set_.row_count(i); ++r)
        add_item(Kind::equal, i, set_.first_row(i) + r, 1, {});
  }
}

// After the rows have their places. `impact`: dry friction and dampers have no time to act.
void TimeStepping::list_items(bool impact) {
  using Kind = Item::Kind;
  using Law = ConeProblem::Law;
  items_.clear();
  problem_.blocks.clear();
  row_of_.clear();
  sense_of_.clear();
  problem_.symmetric = set_.dynamics().constraints().ideal();
  list_equalities();
  for (int f = 0; f < mechanism_.freedoms() && !impact; ++f) {
    if (row_wanted_[index(f)] == 0 || constrained_->lock_of_freedom(f) < 0) continue;
    const int row = set_.first_row(constrained_->lock_of_freedom(f));
    if (stiff_[index(f)] != 0) add_item(Kind::stiff, f, row, 1, {});
    if (equations_.friction().acts_at(f) && !equations_.prescribed(f))
      add_item(Kind::friction, f, row, 1, {.law = Law::bounded});
  }
  for (std::size_t k = 0; k < stops_.stops().size(); ++k) {
    if (stop_lower_[k] == 0 && stop_upper_[k] == 0) continue;
    const int row = set_.first_row(constrained_->lock_of_freedom(stops_.stops()[k].freedom));
    const int which = static_cast<int>(k);
    if (stop_lower_[k] != 0) add_item(Kind::stop, which, row, 1, {.law = Law::bounded});
    if (stop_upper_[k] != 0) add_item(Kind::stop, which, row, -1, {.law = Law::bounded});
  }
  for (std::size_t k = 0; k < contacts_.size(); ++k)
    if (touches_[k] != 0)
      add_item(Kind::contact, static_cast<int>(k), set_.first_row(contacts_[k]), 1,
               {.law = Law::cone, .friction = set_.contact(contacts_[k]).friction});
  const auto n = static_cast<Eigen::Index>(row_of_.size());
  problem_.w.resize(n, n);
  problem_.b.resize(n);
  const Eigen::MatrixXd& w = set_.dynamics().constraints().matrix();
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = 0; i < n; ++i)
      problem_.w(i, j) =
          sense_of_[index(i)] * sense_of_[index(j)] * w(row_of_[index(i)], row_of_[index(j)]);
}

void TimeStepping::assemble(double h, const Eigen::VectorXd& acceleration,
                            const Eigen::VectorXd& guess) {
  const Eigen::VectorXd& right = set_.dynamics().right_side();
  const auto settings = mechanism_.freedom_settings();
  for (Eigen::Index k = 0; k < problem_.b.size(); ++k)
    problem_.b[k] = sense_of_[index(k)] * (u0_[row_of_[index(k)]] + h * right[row_of_[index(k)]]);
  guess_.setZero(problem_.b.size());
  for (std::size_t k = 0; k < items_.size(); ++k) {
    const Item& item = items_[k];
    ConeProblem::Block& block = problem_.blocks[k];
    switch (item.kind) {
      case Item::Kind::equal:
        break;
      case Item::Kind::motion:
        problem_.b[item.first] =
            state_.v[item.which] + h * acceleration[item.which] - target_[item.which];
        break;
      case Item::Kind::stiff:
        block.compliance = 1.0 / std::max(slope_[item.which], kLeastSlope);
        problem_.b[item.first] =
            state_.v[item.which] + h * acceleration[item.which] - guess[item.which];
        break;
      case Item::Kind::friction: {
        const Friction& friction = settings[index(item.which)].friction;
        const double v = state_.v[item.which];
        const double level =
            std::abs(v) <= kRests ? breakaway_level(friction) : sliding_level(friction, v);
        block.least = -h * level;
        block.most = h * level;
        guess_[item.first] = h * friction_force_[index(item.which)];
        break;
      }
      case Item::Kind::stop:
        guess_[item.first] = h * (item.sense > 0 ? lower_force_ : upper_force_)[index(item.which)];
        break;
      case Item::Kind::contact:
        guess_.segment<3>(item.first) = h * contact_force_[index(item.which)];
        break;
    }
  }
}

void TimeStepping::put_rows() {
  row_impulse_.setZero(set_.dynamics().constraints().rows());
  for (Eigen::Index k = 0; k < solution_.impulse.size(); ++k)
    row_impulse_[row_of_[index(k)]] += sense_of_[index(k)] * solution_.impulse[k];
}

void TimeStepping::solve_items() {
  note_cost();
  solution_ = solve(problem_, guess_);
  put_rows();
}

// How the efforts of stiff freedoms change with v₁: as the gains say in the first round, as seen
// since the last one in the others.
void TimeStepping::find_slopes(double h, const Eigen::VectorXd& guess) {
  const bool first = v1_before_.size() == 0;
  for (int f = 0; f < mechanism_.freedoms(); ++f) {
    if (stiff_[index(f)] == 0) continue;
    const double most = controlled_[index(f)].implicit(h);
    double seen = most;
    if (const double by = first ? 0.0 : guess[f] - v1_before_[f]; by != 0.0)
      seen = std::clamp(-h * (found_.effort[f] - effort_before_[f]) / by, 0.0, most);
    slope_[f] = joint_[index(f)].implicit(h) + seen;
  }
  effort_before_ = found_.effort;
  v1_before_ = guess;
}

}  // namespace catena
