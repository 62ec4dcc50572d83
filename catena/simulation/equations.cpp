// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/equations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "catena/base/index.h"
#include "catena/dynamics/inverse.h"

namespace catena {
namespace {

// Dense output is nearer to the constraints than this (rad, m). If closing moves a row further,
// Newton's method went elsewhere.
constexpr double kFarFromRow = 1e-3;

}  // namespace

Equations::Equations(const Mechanism& mechanism, Coordinates& coordinates,
                     const ActionSettings& actions)
    : mechanism_(mechanism),
      coordinates_(coordinates),
      forces_(mechanism, actions),
      constrained_(uses_multipliers(mechanism, actions)
                       ? std::make_unique<ConstrainedAccelerations>(mechanism, actions, forces_)
                       : nullptr),
      hybrid_(constrained_ ? nullptr : std::make_unique<HybridAccelerations>(mechanism)),
      accelerations_(constrained_ ? static_cast<Accelerations*>(constrained_.get())
                                  : hybrid_.get()),
      friction_(mechanism, actions.friction, forces_.prescribed(), coordinates.chart()),
      account_(mechanism, actions, forces_, constraints()),
      modes_(friction_.first_modes()),
      switched_constraints_(!actions.constraints.empty()),
      workspace_(mechanism),
      at_rest_{mechanism.default_state().q, Eigen::VectorXd::Zero(mechanism.freedoms())} {
  motion_ = {0, coordinates.size()};
  states_ = {motion_.first + motion_.count, forces_.states()};
  work_ = {states_.first + states_.count, account_.elements()};
  account_.set_first_entry(work_.first);
  forces_.add_signals(signals_);
  if (constrained_) {
    constrained_->add_signals(signals_);
    coordinates_.set_constraints(&constrained_->set());
  }
  imposed_ = Eigen::VectorXd::Zero(size());
  input_.motion_driven = forces_.prescribed();
  input_.effort = input_.acceleration = Eigen::VectorXd::Zero(mechanism.freedoms());
}

Eigen::VectorXd Equations::start(const State& state) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(size());
  use_chart();
  set_state(state, y);
  forces_.start(part(states_, y));
  return y;
}

void Equations::set_state(const State& state, Eigen::VectorXd& y) const {
  coordinates_.pack(state, part(motion_, y));
}

void Equations::use_chart() {
  turning_.clear();
  counted_.clear();
  for (int i = 0; i < motion_.count; ++i) {
    if (coordinates_.turns(i)) turning_.push_back(i);
    if (const double least = coordinates_.least_size(i); least > 0.0)
      counted_.emplace_back(i, least);
  }
  if (const Chart* chart = coordinates_.chart()) accelerations_->set_chart(*chart);
}

// An angle is never further than half a turn from any other: where a wheel has turned a hundred
// times, its error counts as before.
void Equations::measure(const Eigen::VectorXd& y, Eigen::VectorXd& size) const {
  size = y.head(controlled()).cwiseAbs();
  for (const int i : turning_) size[i] = std::min(size[i], std::numbers::pi);
  for (const auto& [i, least] : counted_) size[i] = std::max(size[i], least);
}

double Equations::spread(const Eigen::VectorXd& y, const Eigen::VectorXd& error, double relative,
                         double absolute) {
  if (constrained_ || (imposes_ && !forces_.motions().empty())) return 1.0;
  return coordinates_.spread(part(motion_, y), part(motion_, error), relative, absolute);
}

void Equations::impose_motions(double t, Eigen::VectorXd& y) const {
  for (const AppliedForces::Motion& motion : forces_.motions()) {
    const AppliedForces::Motion::Value value = motion.at(t);
    coordinates_.prescribe(motion.freedom, value.position, value.velocity, part(motion_, y));
  }
}

std::span<const double> Equations::with_motions(double t, const Eigen::VectorXd& y) {
  if (!imposes_ || forces_.motions().empty()) return part(motion_, y);
  imposed_ = y;
  impose_motions(t, imposed_);
  return part(motion_, std::as_const(imposed_));
}

// ---- Instants. ----

void Equations::at(double t, const Eigen::VectorXd& y, Instant& instant) {
  coordinates_.at(with_motions(t, y), instant);
  instant.time = t;
}

Instant Equations::at(double t, const Eigen::VectorXd& y) {
  Instant instant;
  at(t, y, instant);
  return instant;
}

void Equations::inside(StepSpan& step, double t, const Eigen::VectorXd& y, Instant& instant) {
  if (!step.contains(t)) return at(t, y, instant);
  coordinates_.inside(step, (t - step.start) / step.duration(), with_motions(t, y), instant);
  instant.time = t;
}

void Equations::make_step(double from, const Eigen::VectorXd& y_from, double to,
                          const Eigen::VectorXd& y_to, bool for_inside, StepSpan& step) {
  step.start = step.end = to;
  at(to, y_to, step.last);
  if (!for_inside) return;
  step.start = from;
  coordinates_.prepare(with_motions(from, y_from), step);
}

void Equations::close_row(StepSpan& step, double t, Eigen::VectorXd& y) {
  if (!constrained_) return;
  inside(step, t, y, instant_);
  set_targets(t, instant_.state);
  State closed = instant_.state;
  try {
    constrained_->set().close_aside(closed);
  } catch (const NumericalError&) {
    return;  // near the constraints is enough for a row
  }
  if (!((closed.q - instant_.state.q).lpNorm<Eigen::Infinity>() <= kFarFromRow)) return;
  set_state(closed, y);
}

double Equations::closure_residual(double t, const State& state) {
  if (constrained_) set_targets(t, state);
  return coordinates_.closure_residual(state);
}

void Equations::project(double t, Eigen::VectorXd& y) {
  at(t, y, instant_);
  if (constrained_) {
    set_targets(t, instant_.state);
    coordinates_.project(instant_.state);
  }
  set_state(instant_.state, y);
}

// ---- Evaluations. ----

void Equations::evaluate(double t, const Eigen::VectorXd& y, Evaluation& found) {
  at(t, y, instant_);
  evaluate(instant_, y, found);
}

Evaluation Equations::evaluate(double t, const Eigen::VectorXd& y) {
  Evaluation found;
  evaluate(t, y, found);
  return found;
}

void Equations::evaluate(const Instant& instant, const Eigen::VectorXd& y, Evaluation& found) {
  found.instant = instant;
  if (step_ != nullptr)
    take_step_forces(y, found);
  else if (constrained_)
    evaluate_constrained(y, found);
  else if (instant.is_interpolated())
    interpolate(y, found);
  else
    solve(found.instant, 0.0, y, found);
}

void Equations::take_step_forces(const Eigen::VectorXd& y, Evaluation& found) {
  sum_efforts(found.instant, y, found);
  found.effort += step_->motion_effort;
  found.applied = found.effort;
  found.friction = step_->friction;
  found.reaction = step_->reaction;
  found.acceleration = step_->acceleration;
  found.constraint_power = step_->constraint_power;
  found.contacts = step_->contacts;
}

void Equations::act(const Instant& at, const Eigen::VectorXd& y, Evaluation& found) {
  sum_efforts(at, y, found);
  found.applied = found.effort;
  const auto settings = mechanism_.freedom_settings();
  for (int i = 0; i < mechanism_.freedoms(); ++i)
    if (friction_.acts_at(i))
      found.applied[i] -= friction_force(settings[index(i)].friction, at.state.v[i]);
}

void Equations::step_states(const Eigen::VectorXd& from, double h, const Evaluation& found,
                            Eigen::VectorXd& y) const {
  for (int k = 0; k < states_.count; ++k)
    y[states_.first + k] = from[states_.first + k] + h * found.efforts.rate[index(k)];
}

// Next to a singular position results in place have few digits, or the constraints seem to
// contradict each other.
void Equations::evaluate_constrained(const Eigen::VectorXd& y, Evaluation& found) {
  ConstraintSet& set = constrained_->set();
  Instant& here = found.instant;
  set_targets(here.time, here.state);
  const auto step_aside = [&] {
    std::optional<Passage> passage = set.step_aside(here.state);
    if (!passage) return false;
    here.clearance = passage->clearance;
    here.interpolation_error = passage->error;
    here.sides.assign(passage->sides.begin(), passage->sides.end());
    interpolate(y, found);
    return true;
  };
  try {
    solve(here, 0.0, y, found);
    here.clearance = set.clearance();
    constrained_->measure(found);
    if (!set.near_singular()) return;
  } catch (const NumericalError&) {
    if (!set.near_singular() || !step_aside()) throw;
    return;
  }
  if (step_aside()) return;
  solve(here, 0.0, y, found);
  constrained_->measure(found);
}

void Equations::evaluate_contacts(double t, const Eigen::VectorXd& y, std::span<const int> touching,
                                  Evaluation& found) {
  at(t, y, found.instant);
  const Instant& here = found.instant;
  set_targets(t, here.state);
  sum_efforts(here, y, found);
  set_input(here.state, found);
  constrained_->hold_freedoms(here.state, held());
  constrained_->set().choose_modes(here.state, input_.effort, forces_.external(), touching);
  constrained_->solve(here, 0.0, input_, held(), forces_.external(), found);
  constrained_->measure(found);
}

void Equations::solve(const Instant& at, double ahead, const Eigen::VectorXd& y,
                      Evaluation& found) {
  sum_efforts(at, y, found);
  set_input(at.state, found);
  accelerations_->solve(at, ahead, input_, held(), forces_.external(), found);
}

void Equations::sum_efforts(const Instant& at, const Eigen::VectorXd& y, Evaluation& found) {
  forces_.at(at, part(states_, y), found.efforts);
  found.effort = found.efforts.total;
}

// The dynamics add the regularized friction by themselves; where friction has modes it is taken off
// again and the set-valued law put in its place.
void Equations::set_input(const State& state, Evaluation& found) {
  const auto settings = mechanism_.freedom_settings();
  const Eigen::Index n = mechanism_.freedoms();
  input_.effort = found.effort;
  for (const AppliedForces::Motion& motion : forces_.motions())
    input_.acceleration[motion.freedom] = motion.at(found.instant.time).acceleration;
  found.friction.setZero(n);
  found.reaction.setZero(n);
  for (int i = 0; i < n; ++i) {
    const std::size_t k = index(i);
    const FreedomMode& mode = modes_[k];
    const bool held = mode.held();
    input_.motion_driven[k] = held || prescribed(i) ? 1 : 0;
    if (held) input_.acceleration[i] = 0.0;
    if (!friction_.acts_at(i) || (held && friction_.has_modes(i))) continue;
    found.friction[i] = friction_.force(i, state.v[i], mode);
    if (friction_.has_modes(i))
      input_.effort[i] += found.friction[i] - friction_force(settings[k].friction, state.v[i]);
  }
  found.applied = input_.effort;
}

void Equations::interpolate(const Eigen::VectorXd& y, Evaluation& found) {
  Eigen::VectorXd* const wanted[] = {&found.acceleration, &found.effort, &found.friction,
                                     &found.reaction};
  std::array<Eigen::VectorXd, std::size(wanted)> sum;
  sum.fill(Eigen::VectorXd::Zero(mechanism_.freedoms()));
  Eigen::VectorXd multipliers;
  side_.time = found.instant.time;
  for (const PassageSide& side : found.instant.sides) {
    side_.state = side.state;
    solve(side_, side.time, y, found);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += side.weight * *wanted[i];
    if (!constrained_) continue;
    const Eigen::VectorXd& own = constrained_->set().dynamics().multipliers();
    if (multipliers.size() == 0) multipliers = Eigen::VectorXd::Zero(own.size());
    multipliers += side.weight * own;
  }
  // Everything else is computed here: inputs of components, and velocities of points.
  sum_efforts(found.instant, y, found);
  for (std::size_t i = 0; i < sum.size(); ++i) *wanted[i] = sum[i];
  if (!constrained_) return;
  constrained_->set().take_interpolated(found.state(), multipliers);
  constrained_->measure(found);
}

Eigen::VectorXd Equations::acting_effort(const Evaluation& found) const {
  Eigen::VectorXd all = found.applied;
  for (int i = 0; i < mechanism_.freedoms(); ++i)
    if (modes_[index(i)].held() || prescribed(i)) all[i] = found.effort[i] + found.reaction[i];
  return all;
}

// ---- Rates. ----

void Equations::rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
  evaluate(t, y, found_);
  rates(found_, dy);
}

void Equations::rates(const Evaluation& found, Eigen::VectorXd& dy) {
  coordinates_.rate(found.state(), found.acceleration, part(motion_, dy));
  rates_of_integrals(found, dy);
}

double Equations::rate_with_noise(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
  rate(t, y, dy);
  if (!constrained_ && mechanism_.loops().empty()) return 0.0;
  return acceleration_noise(found_.state(), found_.acceleration, found_.instant.clearance,
                            found_.instant.interpolation_error);
}

void Equations::rates_of_integrals(const Evaluation& found, Eigen::VectorXd& dy) {
  std::copy(found.efforts.rate.begin(), found.efforts.rate.end(), part(states_, dy).begin());
  account_.rates(found, dy);
}

void Equations::applied_force(double t, const Eigen::VectorXd& y, Eigen::VectorXd& force,
                              Eigen::VectorXd& rates) {
  at(t, y, found_.instant);
  const State& state = found_.state();
  sum_efforts(found_.instant, y, found_);
  // Gravity, springs and wrenches: the efforts that hold the mechanism at rest, with the other
  // sign.
  at_rest_.q = state.q;
  if (mechanism_.loops().empty()) {
    force = found_.effort - bias_effort(mechanism_, at_rest_, workspace_, forces_.external());
  } else {  // of the tree, whose loops need not be closed here
    ConstraintSet& set = constrained_->set();
    set.dynamics().equation_residual(at_rest_, found_.effort,
                                     Eigen::VectorXd::Zero(mechanism_.freedoms()),
                                     Eigen::VectorXd::Zero(set.dynamics().constraints().rows()),
                                     set.workspace(), forces_.external(), force);
    force = -force;
  }
  const auto settings = mechanism_.freedom_settings();
  found_.friction.setZero(mechanism_.freedoms());
  found_.constraint_power.assign(constrained_ ? index(constrained_->set().count()) : 0, 0.0);
  for (int i = 0; i < mechanism_.freedoms(); ++i) {
    const std::size_t k = index(i);
    force[i] -= settings[k].damping * state.v[i];
    if (!friction_.acts_at(i)) continue;
    found_.friction[i] = friction_.force(i, state.v[i], modes_[k]);
    force[i] += found_.friction[i];
  }
  rates_of_integrals(found_, rates);
}

}  // namespace catena
