// What constraints that are switched add to the equations of motion (equations.h): making them,
// their targets at a time, freedoms that are held as locks among them, and impulses.
#include <algorithm>
#include <cmath>

#include "catena/simulation/equations.h"

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

bool limited(const FreedomSettings& freedom) {
  return std::isfinite(freedom.lower) || std::isfinite(freedom.upper);
}

}  // namespace

bool uses_multipliers(const Mechanism& mechanism, const ActionSettings& actions) {
  if (!actions.constraints.empty()) return true;
  if (actions.hold_by_multipliers) {
    if (!actions.motions.empty()) return true;
    for (const FreedomSettings& freedom : mechanism.freedom_settings())
      if (freedom.friction.active() || (actions.stops && limited(freedom))) return true;
  }
  if (mechanism.loops().empty() || actions.loops == LoopRoute::embedded) return false;
  return actions.loops == LoopRoute::multipliers || prefers_multipliers(mechanism);
}

void Equations::make_constraints(const ActionSettings& actions) {
  lock_of_freedom_.assign(modes_.size(), -1);
  switched_constraints_ = !actions.constraints.empty();
  if (!uses_multipliers(mechanism_, actions)) return;
  set_ = std::make_unique<ConstraintSet>(mechanism_);
  coordinates_.set_constraints(set_.get());
  for (const ConstraintSettings& c : actions.constraints) {
    switch (c.kind) {
      case ConstraintSettings::Kind::attachment:
        set_->add(c.attachment);
        break;
      case ConstraintSettings::Kind::lock:
        set_->add(c.lock);
        break;
      case ConstraintSettings::Kind::contact:
        set_->add(c.contact);
        break;
      case ConstraintSettings::Kind::servo: {
        Servo servo{set_->add(c.servo), {}};
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
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    if (prescribed_[i] != 0 || settings[i].friction.active() ||
        (actions.stops && limited(settings[i])))
      lock_of_freedom_[i] = set_->add(LockSettings{
          (prescribed_[i] != 0 ? "motion of " : "what holds ") + mechanism_.velocity_names()[i],
          static_cast<int>(i)});
  }
}

void Equations::set_targets(double t) {
  for (const Servo& servo : servos_) {
    ServoTarget target;
    for (std::size_t r = 0; r < servo.motions.size(); ++r) {
      const Jet jet = servo.motions[r].jet(t);
      const bool angular = set_->servo(servo.constraint).rows[r].angular;
      target.position[r] = jet.value;
      target.velocity[r] = angular ? jet.value : jet.rate;
      target.acceleration[r] = angular ? jet.rate : jet.acceleration;
    }
    set_->set_target(servo.constraint, target);
  }
  for (const Motion& motion : motions_) {
    const Jet jet = motion.signal.jet(t);
    const bool whole = motion.has_coordinate;
    const int lock = lock_of_freedom_[index(motion.freedom)];
    if (!set_->active(lock)) set_->activate(lock, state_);
    set_->set_lock(lock, jet.value, whole ? jet.rate : jet.value,
                   whole ? jet.acceleration : jet.rate);
  }
}

double Equations::closure_residual(double t, const State& state) {
  if (set_) set_targets(t);
  return coordinates_.closure_residual(state);
}

void Equations::close_row(double t, Eigen::VectorXd& y) {
  if (!set_) return;
  look(t, y);
  set_targets(t);
  State closed = state_;
  try {
    set_->close_aside(closed);
  } catch (const NumericalError&) {
    return;  // near the constraints is enough for a row
  }
  // Dense output is better than this; then Newton's method went elsewhere.
  constexpr double kFar = 1e-3;
  if (!((closed.q - state_.q).lpNorm<Eigen::Infinity>() <= kFar)) return;
  set_state(closed, y);
}

// Locks of freedoms that stick, rest against a stop or have a prescribed motion.
void Equations::hold_freedoms() {
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    const int lock = lock_of_freedom_[i];
    if (lock < 0) continue;
    const bool held = modes_[i].held() || prescribed_[i] != 0;
    if (held == set_->active(lock)) continue;
    if (held)
      set_->activate(lock, state_);
    else
      set_->release(lock);
  }
}

void Equations::evaluate_contacts(double t, const Eigen::VectorXd& y,
                                  std::span<const int> touching) {
  struct Reset {
    const std::span<const int>*& pointer;
    ~Reset() { pointer = nullptr; }
  } reset{touching_};
  touching_ = &touching;
  evaluate(t, y);
}

void Equations::solve_with_constraints() {
  hold_freedoms();
  if (touching_ != nullptr) set_->choose_modes(state_, hybrid_.effort, external_, *touching_);
  acceleration_ = set_->forward(state_, hybrid_.effort, external_);
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    if (lock_of_freedom_[i] < 0) continue;
    const double found = set_->effort(lock_of_freedom_[i]);
    if (prescribed_[i] != 0) effort_[k] = found;
    if (!modes_[i].held()) continue;
    reaction_[k] = found;
    if (modes_[i].stop == 0) friction_[k] = found;
  }
  set_->add_servo_efforts(effort_);
}

void Equations::add_constraint_work(int constraint, double work, Eigen::VectorXd& y) const {
  y[work_entry(element_of_constraint_[index(constraint)])] += work;
}

void Equations::add_switching_work(double work, Eigen::VectorXd& y) const {
  if (switching_element_ >= 0) y[work_entry(switching_element_)] += work;
}

ImpulseResult Equations::impulse(const State& state, const ImpulseInput& input) {
  ImpulseResult result;
  if (!set_) return apply_impulse(mechanism_, state, input);
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    const int lock = lock_of_freedom_[i];
    if (lock < 0) continue;
    const bool locked = !input.locked.empty() && input.locked[i] != 0;
    if (locked && !set_->active(lock)) set_->activate(lock, state);
    if (!locked && set_->active(lock)) set_->release(lock);
    if (!locked) continue;
    const int coordinate = mechanism_.coordinate_of_freedom()[i];
    set_->set_lock(lock, coordinate < 0 ? 0.0 : state.q[coordinate],
                   input.target[static_cast<Eigen::Index>(i)], 0.0);
  }
  const ConstraintSet::Jump jump = set_->impulse(state);
  result.velocity = jump.velocity;
  result.jump = jump.velocity - state.v;
  result.energy_change = jump.energy_change;
  result.impulse = Eigen::VectorXd::Zero(state.v.size());
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    const int lock = lock_of_freedom_[i];
    if (lock < 0) continue;
    result.impulse[static_cast<Eigen::Index>(i)] = set_->effort(lock);
    if (!set_->active(lock)) continue;
    const int coordinate = mechanism_.coordinate_of_freedom()[i];
    set_->set_lock(lock, coordinate < 0 ? 0.0 : state.q[coordinate], 0.0, 0.0);
  }
  return result;
}

}  // namespace catena
