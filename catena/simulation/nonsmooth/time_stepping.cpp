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
constexpr double kRoundsEnd = 1e-7;
// The energy that the midpoint rule misses is restored as soon as it is at most this part of the
// kinetic one.
constexpr double kMostRestored = 1e-2;
// A step that misses more than this part of the energy is divided, at most to
// this part of it: in all 1e-6 of the energy in a second is missed, of which most falls to few
// steps.
constexpr double kMostMissed = 2e-8;
constexpr double kLeastEnergyPart = 1.0 / 16.0;
// Slip of a contact is creep if its friction is this much within its cone.
constexpr double kClearlySticks = 0.999;
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
      flight_(mechanism_),
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

// ---- One part of a step. ----

void TimeStepping::move(double h) {
  MultiplierDynamics& dynamics = set_.dynamics();
  use_rows();
  constrained_->set_targets(t_, state_);
  dynamics.measure_rows(state_, set_.workspace(), u0_);
  target_.setZero(mechanism_.freedoms());
  for (const AppliedForces::Motion& motion : equations_.forces().motions())
    target_[motion.freedom] = motion.at(t_ + h).velocity;
  // Extrapolated where nothing happened: then one round is enough as a rule. The acceleration of a
  // part that ended with an impact says nothing about the next one.
  Eigen::VectorXd v1 = state_.v;
  if (smooth_ >= 3)
    v1 += h * (3.0 * (acceleration_ - before_last_) + before_that_);
  else if (smooth_ >= 2)
    v1 += h * (2.0 * acceleration_ - before_last_);
  else if (smooth_ >= 1)
    v1 += h * acceleration_;
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
    applied_ = found_.applied;
    flight_.add_efforts(h, state_.v, v1, applied_);
    const Eigen::VectorXd& free = dynamics.free_motion(middle_.state, applied_, set_.workspace(),
                                                       equations_.forces().external());
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
  end_.q = flight_.position(h, 1.0, state_.q, state_.v, v1);
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
            impulse.tail<2>().norm() < kClearlySticks * set_.contact(contact).friction * impulse[0])
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

// Forces and work of the part of a step that move() has made; by how much its end has more energy
// than they say.
void TimeStepping::book(double h) {
  take_forces(h);
  dy_.setZero(y_.size());
  equations_.integral_rates(found_, dy_);
  end_energy_ = meter_.measure(end_);
  missed_ = end_energy_.total() - energy_here() - h * equations_.work().total(dy_);
}

// The part of a step that is booked.
void TimeStepping::accept(double h) {
  quality_.residual = std::max(quality_.residual, solution_.residual);
  if (solution_.residual > kResidualNoted) note_residual("step");
  y_ += h * dy_;
  before_that_ = before_last_;
  before_last_ = acceleration_;
  acceleration_ = forces_.acceleration;
  smooth_ = h > (1.0 - kSnapToLimit) * settings_.step ? smooth_ + 1 : 0;
  state_ = end_;
  energy_.reset();
  for (const AppliedForces::Motion& motion : equations_.forces().motions()) {
    const AppliedForces::Motion::Value value = motion.at(t_ + h);
    const int coordinate = mechanism_.coordinate_of_freedom()[index(motion.freedom)];
    if (coordinate >= 0) state_.q[coordinate] = value.position;
    state_.v[motion.freedom] = value.velocity;
  }
  restore_energy();
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
void TimeStepping::restore_energy() {
  if (!restores_energy()) return;
  energy_ = end_energy_.total();
  owed_ += missed_;
  const double kinetic = end_energy_.kinetic;
  if (!(kinetic > 0.0) || !(std::abs(owed_) <= kMostRestored * kinetic)) return;
  state_.v *= std::sqrt(1.0 - owed_ / kinetic);
  *energy_ -= owed_;
  quality_.restored += std::abs(owed_);
  owed_ = 0.0;
}

bool TimeStepping::restores_energy() const {
  return equations_.forces().motions().empty() && !set_.has_servo();
}

// Books the part that move() has made. What turns fast while it is pushed misses more energy than a
// step may: then the part is divided, for half of it misses an eighth. True: shapes must be looked
// at again.
bool TimeStepping::book_or_shorten(double& part, bool may_shorten) {
  bool renew = shorten_for_shapes(part);
  const Quality quality = quality_;
  for (;;) {
    book(part);
    const double size = end_energy_.kinetic + std::abs(end_energy_.total() - end_energy_.kinetic);
    if (!may_shorten || !(std::abs(missed_) > kMostMissed * size)) return renew;
    if (part <= kLeastEnergyPart * settings_.step) return renew;
    quality_ = quality;
    halve(part);
    renew = shorten_for_shapes(part) || renew;
  }
}

// The first half of the part that move() has made; what would be met at its end is not met in it.
void TimeStepping::halve(double& part) {
  if (met_before_) {
    touches_ = met_before_->contacts;
    stop_lower_ = met_before_->lower;
    stop_upper_ = met_before_->upper;
    met_before_.reset();
  }
  part *= 0.5;
  move(part);
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

// At the start of a run, after find_touching().
void TimeStepping::note_penetration() {
  if (t_ > 0.0) return;
  if (shapes_) shapes_->note_start(t_, kDeepest, kMostCorrected, log_);
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
  if (shapes_) shapes_->begin_step(nullptr);
  find_touching();
  note_penetration();
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
  divisions_ = shape_divisions_ = 0;
  overlap_ = 0.0;
  double most = settings_.step;  // of a part
  while (next - t_ > kSameInstant * std::max(1.0, std::abs(next))) {
    double part = std::min(next - t_, most);
    if (divisions_ < kMostDivisions) let_go();
    move(part);
    bool may_shorten = restores_energy();
    met_before_.reset();
    if (Passage passage = first_passage(part); passage.any) {
      if (divisions_ < kMostDivisions) {
        ++divisions_;
        part *= passage.part;
        if (part > kSameInstant * std::max(1.0, std::abs(next))) {
          move(part);
        } else {
          part = 0.0;
        }
        end_ = part > 0.0 ? end_ : state_;
        met_before_ = {touches_, stop_lower_, stop_upper_};
        least_gap(end_, true);
      } else {
        // Closed before they are met, so that nothing is passed.
        may_shorten = false;
        for (std::size_t k = 0; passage.any && k <= contacts_.size() + stops_.stops().size(); ++k) {
          least_gap(end_, true);
          strike();
          move(part);
          passage = first_passage(part);
        }
      }
    }
    bool renew = false;
    const double looked_at = part;
    if (part > 0.0) {
      renew = book_or_shorten(part, may_shorten);
      accept(part);
      overlap_ = overlap_at_end_;
      t_ = part == next - t_ ? next : t_ + part;
    }
    most = part < looked_at ? part : 2.0 * most;
    if (renew) {
      update_shapes();
      find_touching();
    }
    if (next - t_ > kSameInstant * std::max(1.0, std::abs(next))) strike();
  }
  t_ = next;
  close_step();
  if (whole) {
    ++count_;
  } else {
    start_ = t_;
    count_ = 0;
  }
}

// Overlaps are pushed apart, and what touches is struck: the state to go on from.
void TimeStepping::close_step() {
  const auto before = touches_;
  if (shapes_) {
    update_shapes();
    find_touching();
  }
  const bool moved = correct();
  if (shapes_) shapes_->begin_step(moved ? &state_ : nullptr);
  find_touching();
  if (before != touches_) {
    calm_since_ = t_;
    smooth_ = 0;
  }
  strike();
  equations_.set_state(state_, y_);
  equations_.at(t_, y_, middle_);
  state_ = middle_.state;
}

// Straight: inside a step velocities may have jumped.
void TimeStepping::interpolate_inside(double t, Eigen::VectorXd& y) {
  const double h = t_ - t_previous_;
  const double x = h > 0.0 ? std::clamp((t - t_previous_) / h, 0.0, 1.0) : 1.0;
  y = x == 1.0 ? y_ : Eigen::VectorXd((1.0 - x) * y_previous_ + x * y_);
}

}  // namespace catena
