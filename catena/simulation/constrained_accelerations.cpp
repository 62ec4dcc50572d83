#include "catena/simulation/constrained_accelerations.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"

namespace catena {
const std::string& ConstraintSettings::name() const {
  switch (kind) {
    case Kind::lock:
      return lock.name;
    case Kind::contact:
      return contact.name;
    case Kind::servo:
      return servo.name;
    case Kind::attachment:
      break;
  }
  return attachment.name;
}

namespace {

bool is_limited(const FreedomSettings& freedom) {
  return std::isfinite(freedom.lower) || std::isfinite(freedom.upper);
}

}  // namespace

bool uses_multipliers(const Mechanism& mechanism, const ActionSettings& actions) {
  if (!actions.constraints.empty()) return true;
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
    switch (c.kind) {
      case ConstraintSettings::Kind::attachment:
        set_.add(c.attachment);
        break;
      case ConstraintSettings::Kind::lock:
        set_.add(c.lock);
        break;
      case ConstraintSettings::Kind::contact:
        set_.add(c.contact);
        break;
      case ConstraintSettings::Kind::servo: {
        Servo servo{set_.add(c.servo), "servo " + c.servo.name, {}};
        if (c.motions.size() != c.servo.rows.size())
          throw Error("servo '" + c.servo.name + "': " + std::to_string(c.motions.size()) +
                      " motions for " + std::to_string(c.servo.rows.size()) + " directions");
        for (const SignalSettings& motion : c.motions)
          servo.motions.emplace_back(motion, mechanism_, "servo '" + c.servo.name + "'", true);
        servos_.push_back(std::move(servo));
        break;
      }
    }
  }
  const auto settings = mechanism_.freedom_settings();
  lock_of_freedom_.assign(settings.size(), -1);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const bool prescribed = forces.prescribed()[i] != 0;
    if (prescribed || settings[i].friction.active() || (actions.stops && is_limited(settings[i])))
      lock_of_freedom_[i] = set_.add(
          LockSettings{(prescribed ? "motion of " : "what holds ") + mechanism_.velocity_names()[i],
                       static_cast<int>(i)});
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

void ConstrainedAccelerations::solve(const State& state, double ahead, const HybridInput& input,
                                     const Held& held, std::span<const ExternalWrench> external,
                                     Evaluation& found) {
  hold_freedoms(state, held);
  found.acceleration = set_.forward(state, input.effort, external, ahead);
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

void ConstrainedAccelerations::measure_power(Evaluation& found) const {
  found.constraint_power.assign(index(set_.count()), 0.0);
  for (int k = 0; k < set_.count(); ++k) {
    double& power = found.constraint_power[index(k)];
    if (set_.kind(k) == ConstraintSet::Kind::servo)
      power = set_.servo_power(k);
    else if (set_.kind(k) == ConstraintSet::Kind::contact && set_.mode(k) == ContactMode::sliding)
      power = dot(set_.contact_force(k).friction, set_.slip(k));
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
