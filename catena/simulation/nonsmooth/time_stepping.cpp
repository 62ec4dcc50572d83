// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/time_stepping.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/configuration.h"
#include "catena/simulation/nonsmooth/stepping_tolerances.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Rounds of the midpoint rule, and the change of velocities (of the largest, at least 1) that ends
// them: a further round would change less by a factor h times the rates of the forces.
constexpr int kMostRounds = 10;
constexpr double kRoundsEnd = 1e-6;
// An element is stiff if its implicit part changes the velocity of its freedom by more than this
// part within a step.
constexpr double kStiff = 0.02;
// The energy that the midpoint rule misses is restored as soon as it is at most this part of the
// kinetic one.
constexpr double kMostRestored = 1e-2;
// Of an implicit element (its compliance is finite).
constexpr double kLeastSlope = 1e-30;
// Slip of a contact is creep if its friction is this much within its cone.
constexpr double kWithinCone = 0.999;
// One that carries less than this part of the largest impulse does not stick: the laws are solved
// to some 1e-10 of the load.
constexpr double kCarries = 1e-7;

}  // namespace

TimeStepping::TimeStepping(Equations& equations, StopsAndFriction& stops,
                           const ActionSettings& actions, const IntegratorSettings& settings)
    : Integrator(equations),
      equations_(equations),
      stops_(stops),
      mechanism_(equations.mechanism()),
      settings_(settings),
      own_(equations.constrained() != nullptr ? nullptr
                                              : std::make_unique<ConstrainedAccelerations>(
                                                    mechanism_, actions, equations.forces())),
      constrained_(own_ ? own_.get() : equations.constrained()),
      set_(constrained_->set()),
      meter_(mechanism_) {
  const std::size_t n = index(mechanism_.freedoms());
  joint_.resize(n);
  controlled_.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    joint_[i] = {mechanism_.freedom_settings()[i].damping,
                 std::max(mechanism_.freedom_settings()[i].stiffness, 0.0)};
  for (const ControllerSettings& pid : actions.controllers) {
    Resistance& own = controlled_[index(freedom_index(mechanism_, pid.freedom))];
    own.damping += std::max(pid.kd, 0.0);
    own.stiffness += std::max(pid.kp, 0.0);
  }
  slope_ = Eigen::VectorXd::Zero(mechanism_.freedoms());
  stiff_.assign(n, 0);
  row_wanted_.assign(n, 0);
  friction_force_.assign(n, 0.0);
  for (int i = 0; i < set_.count(); ++i)
    if (set_.kind(i) == ConstraintSet::Kind::contact) contacts_.push_back(i);
  own_contacts_ = contacts_.size();
  if (actions.collisions)
    shapes_ = std::make_unique<ShapeContacts>(mechanism_, *actions.collisions, set_);
  touches_.assign(contacts_.size(), 0);
  contact_force_.assign(contacts_.size(), Eigen::Vector3d::Zero());
  stop_lower_.assign(stops_.stops().size(), 0);
  stop_upper_ = stop_lower_;
  lower_force_.assign(stops_.stops().size(), 0.0);
  upper_force_ = lower_force_;
  forces_.acceleration = forces_.friction = forces_.reaction = forces_.motion_effort =
      acceleration_ = Eigen::VectorXd::Zero(mechanism_.freedoms());
  forces_.constraint_power.assign(index(set_.count()), 0.0);
  forces_.contacts.assign(index(set_.count()), {});
}

TimeStepping::~TimeStepping() = default;

void TimeStepping::Quality::add(const Quality& other) {
  residual = std::max(residual, other.residual);
  penetration = std::max(penetration, other.penetration);
  creep = std::max(creep, other.creep);
  restored += other.restored;
}

void TimeStepping::take_over() { equations_.use_step_forces(&forces_); }

void TimeStepping::hand_back() {
  equations_.use_step_forces(nullptr);
  for (const int i : contacts_) set_.set_mode(i, ContactMode::apart);
  for (int f = 0; f < mechanism_.freedoms(); ++f)
    if (const int lock = constrained_->lock_of_freedom(f); lock >= 0 && !equations_.prescribed(f))
      set_.release(lock);
}

std::vector<RunEvent> TimeStepping::take_log() { return std::exchange(log_, {}); }

void TimeStepping::begin() {
  start_ = t_;
  count_ = 0;
  fresh_ = true;
}

// ---- What takes part. ----

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

// ---- One part of a step. ----

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

void TimeStepping::move(double h) {
  MultiplierDynamics& dynamics = set_.dynamics();
  use_rows();
  constrained_->set_targets(t_, state_);
  dynamics.measure_rows(state_, set_.workspace(), u0_);
  target_.setZero(mechanism_.freedoms());
  for (const AppliedForces::Motion& motion : equations_.forces().motions())
    target_[motion.freedom] = motion.at(t_ + h).velocity;
  // Extrapolated where nothing happened: then one round is enough as a rule.
  Eigen::VectorXd v1 = state_.v + h * acceleration_;
  if (smooth_ >= 3)
    v1 += h * (2.0 * acceleration_ - 3.0 * before_last_ + before_that_);
  else if (smooth_ >= 2)
    v1 += h * (acceleration_ - before_last_);
  middle_.time = t_ + 0.5 * h;
  y_middle_ = y_;
  const double speed = std::max(1.0, v1.lpNorm<Eigen::Infinity>());
  v1_before_.resize(0);
  formed_ = true;
  for (int round = 0; round < kMostRounds; ++round) {
    ++statistics_.evaluations;
    middle_.state.v = 0.5 * (state_.v + v1);
    middle_.state.q = integrate(mechanism_, state_.q, 0.5 * h * middle_.state.v);
    equations_.act(middle_, y_middle_, found_);
    equations_.step_states(y_, 0.5 * h, found_, y_middle_);
    constrained_->set_targets(middle_.time, middle_.state);
    const Eigen::VectorXd& free = dynamics.free_motion(
        middle_.state, found_.applied, set_.workspace(), equations_.forces().external());
    end_.v = state_.v + h * free;
    list_items(false);
    if (!items_.empty()) {
      find_slopes(h, v1);
      assemble(h, free, v1);
      solve_items();
      dynamics.constraints().respond(set_.workspace(), row_impulse_);
      end_.v += dynamics.constraints().change();
    } else {
      solution_ = {};
    }
    const double change = (end_.v - v1).lpNorm<Eigen::Infinity>();
    v1 = end_.v;
    if (change <= kRoundsEnd * speed) break;
  }
  if (!v1.allFinite())
    throw StepCollapse(t_, h, -1,
                       "the step is too long for this motion, which left the finite numbers; a "
                       "shorter one is needed");
  end_.q = integrate(mechanism_, state_.q, 0.5 * h * (state_.v + v1));
}

// The forces of the part of a step that move() has made.
void TimeStepping::take_forces(double h) {
  found_.instant.time = middle_.time;
  found_.instant.state.q = middle_.state.q;
  found_.instant.state.v = 0.5 * (state_.v + end_.v);
  found_.friction.setZero(mechanism_.freedoms());
  found_.reaction.setZero(mechanism_.freedoms());
  found_.constraint_power.assign(index(set_.total()), 0.0);
  forces_.motion_effort.setZero();
  for (const Item& item : items_) {
    const double p = solution_.impulse[item.first];
    const double u_mean = 0.5 * (item.sense * u0_[item.row] + solution_.motion[item.first]);
    switch (item.kind) {
      case Item::Kind::equal:
        if (item.which >= 0 && set_.kind(item.which) == ConstraintSet::Kind::servo)
          take_servo(item, h, u_mean);
        break;
      case Item::Kind::motion:
        found_.effort[item.which] = p / h;
        forces_.motion_effort[item.which] = p / h;
        break;
      case Item::Kind::stiff:
        break;
      case Item::Kind::friction:
        found_.friction[item.which] = friction_force_[index(item.which)] = p / h;
        break;
      case Item::Kind::stop:
        found_.reaction[stops_.stops()[index(item.which)].freedom] += item.sense * p / h;
        (item.sense > 0 ? lower_force_ : upper_force_)[index(item.which)] = p / h;
        break;
      case Item::Kind::contact: {
        const Eigen::Vector3d impulse = solution_.impulse.segment<3>(item.first);
        const Eigen::Vector3d after = solution_.motion.segment<3>(item.first);
        const Eigen::Vector3d before = u0_.segment<3>(item.row);
        contact_force_[index(item.which)] = impulse / h;
        const int contact = contacts_[index(item.which)];
        found_.constraint_power[index(contact)] = impulse.dot(0.5 * (before + after)) / h;
        if (impulse[0] > kCarries * solution_.impulse.lpNorm<Eigen::Infinity>() &&
            impulse.tail<2>().norm() < kWithinCone * set_.contact(contact).friction * impulse[0])
          quality_.creep = std::max(quality_.creep, after.tail<2>().norm());
        break;
      }
    }
  }
  forces_.acceleration = (end_.v - state_.v) / h;
  forces_.friction = found_.friction;
  forces_.reaction = found_.reaction;
  forces_.constraint_power = found_.constraint_power;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Eigen::Vector3d& force = contact_force_[k];
    forces_.contacts[index(contacts_[k])].force = {force[0], {force[1], force[2], 0.0}};
  }
}

// Books the part of a step that move() has made.
void TimeStepping::accept(double h) {
  const double energy = energy_here();
  take_forces(h);
  quality_.residual = std::max(quality_.residual, solution_.residual);
  if (solution_.residual > kResidualNoted) note_residual("step");
  dy_.setZero(y_.size());
  equations_.integral_rates(found_, dy_);
  y_ += h * dy_;
  before_that_ = before_last_;
  before_last_ = acceleration_;
  acceleration_ = forces_.acceleration;
  smooth_ = h > (1.0 - kSnapToLimit) * settings_.step ? smooth_ + 1 : 0;
  state_ = end_;
  for (const AppliedForces::Motion& motion : equations_.forces().motions()) {
    const AppliedForces::Motion::Value value = motion.at(t_ + h);
    const int coordinate = mechanism_.coordinate_of_freedom()[index(motion.freedom)];
    if (coordinate >= 0) state_.q[coordinate] = value.position;
    state_.v[motion.freedom] = value.velocity;
  }
  energy_.reset();
  restore_energy(energy, h);
}

double TimeStepping::energy_here() {
  if (!energy_) energy_ = meter_.measure(state_).total();
  return *energy_;
}

// The midpoint rule misses the energy by O(h³) in a step, for the inertia changes with the
// position. All velocities are scaled by 1 + O(h³), which keeps every law of contact, so that
// energy changes by the work of the elements alone [LaBudde & Greenspan 1976]. What is too much for
// the kinetic energy of this step, as near a turning point, is left to the next ones. Not with
// prescribed motions, which give their velocities.
void TimeStepping::restore_energy(double before, double h) {
  if (!equations_.forces().motions().empty() || set_.has_servo()) return;
  const Energy now = meter_.measure(state_);
  const double missed = now.total() - before - h * equations_.work().total(dy_);
  energy_ = now.total();
  owed_ += missed;
  if (!(now.kinetic > 0.0) || !(std::abs(owed_) <= kMostRestored * now.kinetic)) return;
  state_.v *= std::sqrt(1.0 - owed_ / now.kinetic);
  *energy_ -= owed_;
  quality_.restored += std::abs(owed_);
  owed_ = 0.0;
}

// The work of a servo's row: by its actuator, or ideal.
void TimeStepping::take_servo(const Item& item, double h, double u_mean) {
  const ServoSettings& servo = set_.servo(item.which);
  const double force = solution_.impulse[item.first] / h;
  const int r = item.row - set_.first_row(item.which);
  double& power = found_.constraint_power[index(item.which)];
  if (servo.actuators.empty()) {
    TreeConstraints& c = set_.dynamics().constraints();
    power += force * (u_mean + c.target(c.place_of_row(item.row).constraint, r));
    return;
  }
  const int f = servo.actuators[index(r)];
  power += force * found_.instant.state.v[f];
  forces_.motion_effort[f] += force;
}

void TimeStepping::note_residual(const std::string& what) {
  if (noted_++ > 0) return;
  const Item& worst = items_[index(std::max(solution_.worst, 0))];
  const std::string name =
      worst.kind == Item::Kind::contact ? set_.name(contacts_[index(worst.which)])
      : worst.kind == Item::Kind::stop
          ? mechanism_.velocity_names()[index(stops_.stops()[index(worst.which)].freedom)]
      : worst.kind == Item::Kind::equal ? set_.name_of_row(worst.row)
                                        : mechanism_.velocity_names()[index(worst.which)];
  log_.push_back({t_, "residual", name,
                  fmt::format("the laws of contact and friction are met to {:.3g} of the load in "
                              "this {}; the best impulses found are used (told once)",
                              solution_.residual, what)});
}

// At a start, after find_touching().
void TimeStepping::note_penetration() {
  for (std::size_t k = 0; k < own_contacts_; ++k)
    if (const double gap = set_.contact_gap(contacts_[k]); gap < -kDeepest)
      log_.push_back(
          {t_, "penetration", set_.name(contacts_[k]),
           fmt::format("{} starts {:.3g} m below its plane; it is pushed out, by at most "
                       "{:.3g} m in a step",
                       set_.describe_contact(contacts_[k]), -gap, kMostCorrected)});
}

void TimeStepping::start_from_here() {
  equations_.at(t_, y_, middle_);
  state_ = middle_.state;
  formed_ = false;
  energy_.reset();
  owed_ = 0.0;
  acceleration_.setZero();
  smooth_ = 0;
  for (std::vector<double>* force : {&friction_force_, &lower_force_, &upper_force_})
    std::fill(force->begin(), force->end(), 0.0);
  for (Eigen::Vector3d& force : contact_force_) force.setZero();
  choose_stiff();
  if (shapes_) shapes_->restart();
  update_shapes();
  find_touching();
  note_penetration();
  if (shapes_) shapes_->note_start(t_, kDeepest, kMostCorrected, log_);
  strike();
  fresh_ = false;
}

void TimeStepping::look_ahead(double t, const Eigen::VectorXd& y) {
  const Quality quality = quality_;
  const std::int64_t noted = noted_;
  const bool cost_told = cost_told_;
  t_ = t;
  y_ = y;
  fresh_ = true;
  start_from_here();
  move(settings_.step);
  take_forces(settings_.step);
  quality_ = quality;
  noted_ = noted;
  cost_told_ = cost_told;
  log_.clear();
  fresh_ = true;
}

void TimeStepping::advance(double limit) {
  t_previous_ = t_;
  y_previous_ = y_;
  double next = start_ + static_cast<double>(count_ + 1) * settings_.step;
  bool whole = true;
  if (next >= limit - kSnapToLimit * settings_.step) {
    whole = next <= limit + kSnapToLimit * settings_.step;
    next = limit;
  }
  if (fresh_) start_from_here();
  divisions_ = 0;
  while (next - t_ > kSameInstant * std::max(1.0, std::abs(next))) {
    double part = next - t_;
    if (divisions_ < kMostDivisions) let_go();
    move(part);
    if (Passage passage = first_passage(part); passage.any) {
      calm_since_ = t_;
      if (divisions_ < kMostDivisions) {
        ++divisions_;
        part *= passage.part;
        if (part > kSameInstant * std::max(1.0, std::abs(next))) {
          move(part);
        } else {
          part = 0.0;
        }
        end_ = part > 0.0 ? end_ : state_;
        least_gap(end_, true);
      } else {
        // Closed before they are met, so that nothing is passed.
        for (std::size_t k = 0; passage.any && k <= contacts_.size() + stops_.stops().size(); ++k) {
          least_gap(end_, true);
          strike();
          move(part);
          passage = first_passage(part);
        }
      }
    }
    const bool renew = shorten_for_shapes(part);
    if (part > 0.0) {
      accept(part);
      t_ = part == next - t_ ? next : t_ + part;
    }
    if (renew) {
      update_shapes();
      find_touching();
    }
    if (next - t_ > kSameInstant * std::max(1.0, std::abs(next))) strike();
  }
  t_ = next;
  const auto before = touches_;
  if (shapes_) {
    update_shapes();
    find_touching();
  }
  correct();
  find_touching();
  if (before != touches_) {
    calm_since_ = t_;
    smooth_ = 0;
  }
  strike();
  equations_.set_state(state_, y_);
  equations_.at(t_, y_, middle_);
  state_ = middle_.state;
  if (whole) {
    ++count_;
  } else {
    start_ = t_;
    count_ = 0;
  }
}

// Straight: inside a step velocities may have jumped.
void TimeStepping::interpolate_inside(double t, Eigen::VectorXd& y) {
  const double h = t_ - t_previous_;
  const double x = h > 0.0 ? std::clamp((t - t_previous_) / h, 0.0, 1.0) : 1.0;
  y = x == 1.0 ? y_ : Eigen::VectorXd((1.0 - x) * y_previous_ + x * y_);
}

}  // namespace catena
