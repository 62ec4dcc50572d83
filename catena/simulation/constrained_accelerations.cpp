// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/constrained_accelerations.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"

namespace catena {
const std::string& ConstraintSettings::name() const {
  if (const auto* motion = std::get_if<ServoMotion>(&constraint)) return motion->servo.name;
  if (const auto* lock = std::get_if<LockSettings>(&constraint)) return lock->name;
  if (const auto* contact = std::get_if<ContactSettings>(&constraint)) return contact->name;
  return std::get<AttachmentSettings>(constraint).name;
}

namespace {

bool is_limited(const FreedomSettings& freedom) {
  return std::isfinite(freedom.lower) || std::isfinite(freedom.upper);
}

}  // namespace

bool uses_multipliers(const Mechanism& mechanism, const ActionSettings& actions) {
  if (!actions.constraints.empty() || actions.steps_contacts) return true;
  if (actions.hold_by_multipliers) {
    if (!actions.motions.empty()) return true;
    for (const FreedomSettings& freedom : mechanism.freedom_settings())
      if (freedom.friction.active() || (actions.stops && is_limited(freedom))) return true;
  }
  if (mechanism.loops().empty() || actions.loops == LoopRoute::embedded) return false;
  return actions.loops == LoopRoute::multipliers || prefers_multipliers(mechanism);
}

ConstrainedAccelerations::ConstrainedAccelerations(const Mechanism& mechanism,
                                                   const ActionSettings& actions,
                                                   const AppliedForces& forces)
    : mechanism_(mechanism), forces_(forces), set_(mechanism) {
  for (const ConstraintSettings& c : actions.constraints) {
    if (const auto* attachment = std::get_if<AttachmentSettings>(&c.constraint)) {
      set_.add(*attachment);
    } else if (const auto* lock = std::get_if<LockSettings>(&c.constraint)) {
      set_.add(*lock);
    } else if (const auto* contact = std::get_if<ContactSettings>(&c.constraint)) {
      set_.add(*contact);
    } else {
      const auto& [settings, motions] = std::get<ServoMotion>(c.constraint);
      Servo servo{set_.add(settings), "servo " + settings.name, {}};
      if (motions.size() != settings.rows.size())
        throw Error("servo '" + settings.name + "': " + std::to_string(motions.size()) +
                    " motions for " + std::to_string(settings.rows.size()) + " directions");
      for (const SignalSettings& motion : motions)
        servo.motions.emplace_back(motion, mechanism_, "servo '" + settings.name + "'", true);
      servos_.push_back(std::move(servo));
    }
  }
  const auto settings = mechanism_.freedom_settings();
  lock_of_freedom_.assign(settings.size(), -1);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const bool prescribed = forces.prescribed()[i] != 0;
    const bool resists =
        settings[i].damping > 0.0 || settings[i].stiffness > 0.0 ||
        std::any_of(actions.controllers.begin(), actions.controllers.end(),
                    [&](const ControllerSettings& c) {
                      return freedom_index(mechanism_, c.freedom) == static_cast<int>(i);
                    });
    if (prescribed || resists || settings[i].friction.active() ||
        (actions.stops && is_limited(settings[i])))
      lock_of_freedom_[i] = set_.add(
          LockSettings{(prescribed ? "motion of " : "what holds ") + mechanism_.velocity_names()[i],
                       static_cast<int>(i), !prescribed});
  }
}

void ConstrainedAccelerations::add_signals(SignalSet& signals) {
  for (Servo& servo : servos_)
    for (Signal& signal : servo.motions) signals.add(signal, servo.name);
}

void ConstrainedAccelerations::set_targets(double t, const State& state) {
  for (const Servo& servo : servos_) {
    ServoTarget target;
    for (std::size_t r = 0; r < servo.motions.size(); ++r) {
      const Jet jet = servo.motions[r].jet(t);
      const bool angular = set_.servo(servo.constraint).rows[r].angular;
      target.position[r] = jet.value;
      target.velocity[r] = angular ? jet.value : jet.rate;
      target.acceleration[r] = angular ? jet.rate : jet.acceleration;
    }
    set_.set_target(servo.constraint, target);
  }
  for (const AppliedForces::Motion& motion : forces_.motions()) {
    const AppliedForces::Motion::Value value = motion.at(t);
    const int lock = lock_of_freedom_[index(motion.freedom)];
    if (!set_.active(lock)) set_.activate(lock, state);
    set_.set_lock(lock, value.position, value.velocity, value.acceleration);
  }
}

void ConstrainedAccelerations::hold_freedoms(const State& state, const Held& held) {
  for (std::size_t i = 0; i < lock_of_freedom_.size(); ++i) {
    const int lock = lock_of_freedom_[i];
    if (lock < 0) continue;
    const bool holds = held.modes[i].held() || held.prescribed[i] != 0;
    if (holds == set_.active(lock)) continue;
    if (holds)
      set_.activate(lock, state);
    else
      set_.release(lock);
  }
}

void ConstrainedAccelerations::solve(const Instant& at, double ahead, const HybridInput& input,
                                     const Held& held, std::span<const ExternalWrench> external,
                                     Evaluation& found) {
  hold_freedoms(at.state, held);
  found.acceleration = set_.forward(at.state, input.effort, external, ahead);
  for (std::size_t i = 0; i < lock_of_freedom_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    if (lock_of_freedom_[i] < 0) continue;
    const double effort = set_.effort(lock_of_freedom_[i]);
    if (held.prescribed[i] != 0) found.effort[k] = effort;
    if (!held.modes[i].held()) continue;
    found.reaction[k] = effort;
    if (held.modes[i].stop == 0) found.friction[k] = effort;
  }
  set_.add_servo_efforts(found.effort);
}

void ConstrainedAccelerations::measure(Evaluation& found) {
  found.constraint_power.assign(index(set_.count()), 0.0);
  found.contacts.assign(index(set_.count()), {});
  for (int k = 0; k < set_.count(); ++k) {
    double& power = found.constraint_power[index(k)];
    if (set_.kind(k) == ConstraintSet::Kind::servo) power = set_.servo_power(k);
    if (set_.kind(k) != ConstraintSet::Kind::contact || !set_.closed(k)) continue;
    ContactAction& contact = found.contacts[index(k)];
    contact.force = set_.contact_force(k);
    if (set_.mode(k) != ContactMode::sliding) continue;
    contact.slide_margin = set_.slide_margin(k);
    power = dot(contact.force.friction, set_.slip(k));
  }
}

ImpulseResult ConstrainedAccelerations::impulse(const State& state, const ImpulseInput& input) {
  ImpulseResult result;
  for (std::size_t i = 0; i < lock_of_freedom_.size(); ++i) {
    const int lock = lock_of_freedom_[i];
    if (lock < 0) continue;
    const bool locked = !input.locked.empty() && input.locked[i] != 0;
    if (locked && !set_.active(lock)) set_.activate(lock, state);
    if (!locked && set_.active(lock)) set_.release(lock);
    if (!locked) continue;
    const int coordinate = mechanism_.coordinate_of_freedom()[i];
    set_.set_lock(lock, coordinate < 0 ? 0.0 : state.q[coordinate],
                  input.target[static_cast<Eigen::Index>(i)], 0.0);
  }
  const ConstraintSet::Jump jump = set_.impulse(state);
  result.velocity = jump.velocity;
  result.jump = jump.velocity - state.v;
  result.energy_change = jump.energy_change;
  result.impulse = Eigen::VectorXd::Zero(state.v.size());
  for (std::size_t i = 0; i < lock_of_freedom_.size(); ++i) {
    const int lock = lock_of_freedom_[i];
    if (lock < 0) continue;
    result.impulse[static_cast<Eigen::Index>(i)] = set_.effort(lock);
    if (!set_.active(lock)) continue;
    const int coordinate = mechanism_.coordinate_of_freedom()[i];
    set_.set_lock(lock, coordinate < 0 ? 0.0 : state.q[coordinate], 0.0, 0.0);
  }
  return result;
}

}  // namespace catena
