#include "catena/simulation/equations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/base/text.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/kinematics.h"

namespace catena {

int freedom_index(const Mechanism& mechanism, const std::string& name) {
  if (mechanism.has_hinge(name)) {
    const HingePlace& hinge =
        mechanism.hinges()[static_cast<std::size_t>(mechanism.hinge_index(name))];
    if (hinge.role == HingePlace::Role::weld)
      throw NameError("hinge '" + name + "' is rigid and has no freedom");
    if (hinge.node < 0)
      throw NameError("hinge '" + name +
                      "' closes a loop: its motion follows from the others, and it has no "
                      "coordinates at which something could act; with_coordinates() gives it "
                      "some, or cut the loop elsewhere (cut: never)");
    if (hinge.freedoms > 1) {
      const auto first = mechanism.velocity_names().begin() + hinge.v_index;
      throw NameError("hinge '" + name + "' has " + std::to_string(hinge.freedoms) +
                      " freedoms; name one of them: " +
                      listed({std::vector<std::string>(first, first + hinge.freedoms)}));
    }
    return hinge.v_index;
  }
  return mechanism.velocity_index(name);
}

// When more hinges of a loop stick than it has freedoms, what holds each of them is not determined:
// there the regularized law takes the place of the one with events.
void Equations::smooth_loops() {
  const Chart* chart = coordinates_.chart();
  for (std::size_t l = 0; l < mechanism_.loops().size(); ++l) {
    std::vector<int> dry;
    for (const int n : mechanism_.loops()[l].nodes) {
      const Node& node = mechanism_.nodes()[index(n)];
      for (int i = node.v_index; i < node.v_index + node.freedoms; ++i)
        if (frictional_[index(i)] != 0) dry.push_back(i);
    }
    // Without a chart (multipliers) only one is sure to be free of the others.
    const std::size_t free = chart != nullptr ? chart->loops[l].independent.size() : 1;
    if (dry.size() <= free) continue;
    std::vector<std::string> names;
    for (const int i : dry) {
      frictional_[index(i)] = 0;
      modes_[index(i)].friction = FreedomMode().friction;
      names.emplace_back(mechanism_.velocity_names()[index(i)]);
    }
    notes_.push_back({0.0, "friction", mechanism_.name(),
                      "dry friction at " + listed(names) + " of one loop of " +
                          std::to_string(free) + (free == 1 ? " freedom" : " freedoms") +
                          ": what holds each of them at rest is not determined, so the "
                          "regularized law acts there"});
  }
}

double breakaway_level(const Friction& friction) {
  return std::max(friction.breakaway, friction.sliding);
}

double sliding_level(const Friction& friction, double v) {
  if (friction.stribeck_velocity <= 0.0) return friction.sliding;
  const double ratio = v / friction.stribeck_velocity;
  return friction.sliding +
         (breakaway_level(friction) - friction.sliding) * std::exp(-ratio * ratio);
}

Equations::Equations(const Mechanism& mechanism, Coordinates& coordinates,
                     const ActionSettings& actions)
    : mechanism_(mechanism),
      coordinates_(coordinates),
      workspace_(mechanism),
      mechanical_(coordinates.size()),
      external_(actions.external),
      friction_law_(actions.friction),
      limit_efforts_(actions.limit_efforts),
      state_(mechanism.default_state()),
      at_rest_{state_.q, Eigen::VectorXd::Zero(mechanism.freedoms())} {
  const std::size_t n = index(mechanism.freedoms());
  prescribed_.assign(n, 0);
  frictional_.assign(n, 0);
  rubs_.assign(n, 0);
  modes_.assign(n, {});
  impact_element_.assign(n, -1);
  for (const InputSettings& input : actions.inputs)
    inputs_.push_back({freedom_index(mechanism, input.freedom), "input " + input.freedom,
                       Signal(input.signal, mechanism, "input '" + input.freedom + "'", false)});
  for (const ControllerSettings& pid : actions.controllers) {
    const int freedom = freedom_index(mechanism, pid.freedom);
    const int coordinate = mechanism.coordinate_of_freedom()[index(freedom)];
    if (coordinate < 0)
      throw Error("controller '" + pid.freedom +
                  "': this freedom has no coordinate that could follow a target");
    const int integral = pid.ki != 0.0 ? mechanical_ + controllers_++ : -1;
    pids_.push_back(
        {freedom, coordinate, pid.kp, pid.kd, pid.ki, integral, "controller " + pid.freedom,
         Signal(pid.target, mechanism, "target of controller '" + pid.freedom + "'", true)});
  }
  for (const MotionSettings& motion : actions.motions) {
    const int freedom = freedom_index(mechanism, motion.freedom);
    if (prescribed(freedom)) throw Error("motion '" + motion.freedom + "' is prescribed twice");
    prescribed_[index(freedom)] = 1;
    motions_.push_back({freedom, mechanism.coordinate_of_freedom()[index(freedom)] >= 0,
                        "motion " + motion.freedom,
                        Signal(motion.signal, mechanism, "motion '" + motion.freedom + "'", true)});
  }
  const auto refuse_both = [&](int freedom, const std::string& what) {
    if (prescribed(freedom))
      throw Error(what +
                  ": the motion of this freedom is prescribed, so its effort follows and "
                  "cannot be given");
  };
  for (const Input& input : inputs_) refuse_both(input.freedom, input.name);
  for (const Controller& pid : pids_) refuse_both(pid.freedom, pid.name);

  make_constraints(actions);
  add_elements(actions);
  find_if_floating(actions);
  for_each_signal([this](const Signal& s) { switches_ += s.switches(); });
  imposed_ = Eigen::VectorXd::Zero(size());
  effort_ = friction_ = reaction_ = acceleration_ = Eigen::VectorXd::Zero(mechanism.freedoms());
  hybrid_.motion_driven = prescribed_;
  hybrid_.effort = hybrid_.acceleration = effort_;
}

template <class F>
void Equations::for_each_signal(F f) {
  for (Input& input : inputs_) f(input.signal);
  for (Controller& pid : pids_) f(pid.target);
  for (Motion& motion : motions_) f(motion.signal);
  for (Servo& servo : servos_)
    for (Signal& signal : servo.motions) f(signal);
}
template <class F>
void Equations::for_each_signal(F f) const {
  for (const Input& input : inputs_) f(input.signal);
  for (const Controller& pid : pids_) f(pid.target);
  for (const Motion& motion : motions_) f(motion.signal);
  for (const Servo& servo : servos_)
    for (const Signal& signal : servo.motions) f(signal);
}

void Equations::add_elements(const ActionSettings& actions) {
  using Kind = Element::Kind;
  const auto names = mechanism_.velocity_names();
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    elements_.push_back({Kind::input, inputs_[k].name, inputs_[k].freedom, static_cast<int>(k)});
  for (std::size_t k = 0; k < pids_.size(); ++k)
    elements_.push_back({Kind::controller, pids_[k].name, pids_[k].freedom, static_cast<int>(k)});
  for (std::size_t k = 0; k < motions_.size(); ++k)
    elements_.push_back({Kind::motion, motions_[k].name, motions_[k].freedom, static_cast<int>(k)});
  const auto settings = mechanism_.freedom_settings();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const int freedom = static_cast<int>(i);
    if (settings[i].damping != 0.0)
      elements_.push_back({Kind::damping, "damping " + names[i], freedom, 0});
    if (settings[i].friction.active()) {
      rubs_[i] = 1;
      elements_.push_back({Kind::friction, "friction " + names[i], freedom, 0});
      frictional_[i] = friction_law_ == FrictionLaw::set_valued && !prescribed(freedom);
      if (frictional_[i]) modes_[i].friction = FreedomMode::Friction::stuck;
    }
    const bool limited = std::isfinite(settings[i].lower) || std::isfinite(settings[i].upper);
    if (actions.stops && limited && mechanism_.coordinate_of_freedom()[i] >= 0) {
      impact_element_[i] = elements();
      elements_.push_back({Kind::impact, "impacts " + names[i], freedom, 0});
    }
  }
  smooth_loops();
  for (std::size_t k = 0; k < external_.size(); ++k) {
    const int body = external_[k].body;
    const std::string name = body < 0 ? kWorld : mechanism_.bodies()[index(body)].name;
    elements_.push_back({Kind::external, "wrench on " + name, static_cast<int>(k), 0});
  }
  for (std::size_t k = 0; k < mechanism_.springs().size(); ++k)
    if (mechanism_.springs()[k].damping != 0.0)
      elements_.push_back(
          {Kind::spring, "damper " + mechanism_.springs()[k].name, static_cast<int>(k), 0});
  for (const EventSettings& event : actions.events)
    if (event.respond && response_element_ < 0) {
      response_element_ = elements();
      elements_.push_back({Kind::response, "events", 0, 0});
    }
  if (set_) {
    element_of_constraint_.assign(index(set_->count()), -1);
    for (int k = 0; k < set_->count(); ++k) {
      const ConstraintSet::Kind kind = set_->kind(k);
      if (kind != ConstraintSet::Kind::contact && kind != ConstraintSet::Kind::servo) continue;
      const bool contact = kind == ConstraintSet::Kind::contact;
      element_of_constraint_[index(k)] = elements();
      elements_.push_back({contact ? Kind::contact : Kind::servo,
                           (contact ? "contact " : "servo ") + set_->name(k), 0, k});
    }
    if (!actions.switches.empty()) {
      switching_element_ = elements();
      elements_.push_back({Kind::switching, "switches", 0, 0});
    }
  }
  for (int k = 0; k < elements(); ++k) {
    const Kind kind = elements_[index(k)].kind;
    if (kind != Kind::impact && kind != Kind::response && kind != Kind::switching)
      powered_.push_back(k);
  }
  needs_kinematics_ = std::any_of(elements_.begin(), elements_.end(), [](const Element& e) {
    return e.kind == Kind::external || e.kind == Kind::spring;
  });
}

void Equations::find_if_floating(const ActionSettings& actions) {
  floats_freely_ = !mechanism_.nodes().empty() && actions.external.empty();
  const auto grounded = [&](int body) {
    return body < 0 || mechanism_.bodies()[index(body)].node < 0;
  };
  std::vector<int> locked;
  for (const ConstraintSettings& c : actions.constraints) {
    if (c.kind == ConstraintSettings::Kind::lock)
      locked.push_back(c.lock.freedom);
    else if (c.kind == ConstraintSettings::Kind::servo ||
             (c.kind == ConstraintSettings::Kind::attachment &&
              (grounded(c.attachment.body_a) || grounded(c.attachment.body_b))) ||
             (c.kind == ConstraintSettings::Kind::contact &&
              (grounded(c.contact.body) || grounded(c.contact.plane_body))))
      floats_freely_ = false;
  }
  std::vector<std::uint8_t> to_ground(index(mechanism_.freedoms()), 0);
  for (const Node& node : mechanism_.nodes()) {
    if (node.parent >= 0) continue;
    if (node.hinge != NodeHinge::free) floats_freely_ = false;
    for (int k = 0; k < node.freedoms; ++k) to_ground[index(node.v_index + k)] = 1;
  }
  for (const Element& e : elements_)
    if (e.kind == Element::Kind::response ||
        (e.kind != Element::Kind::external && e.kind != Element::Kind::spring &&
         e.kind != Element::Kind::contact && e.kind != Element::Kind::servo &&
         e.kind != Element::Kind::switching && to_ground[index(e.freedom)] != 0))
      floats_freely_ = false;
  for (const int freedom : locked)
    if (to_ground[index(freedom)] != 0) floats_freely_ = false;
  const auto settings = mechanism_.freedom_settings();
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (to_ground[i] != 0 && settings[i].stiffness != 0.0) floats_freely_ = false;
  for (const SpringPlace& spring : mechanism_.springs())
    if (spring.a.node < 0 || spring.b.node < 0) floats_freely_ = false;
  for (const DrivePlace& drive : mechanism_.drives())
    if (drive.armature_only || drive.carrier_node < 0) floats_freely_ = false;
  for (const LoopPlace& loop : mechanism_.loops())
    for (const int hinge : loop.cut_hinges)
      if (mechanism_.hinges()[index(hinge)].parent_body < 0 ||
          mechanism_.hinges()[index(hinge)].child_body < 0)
        floats_freely_ = false;
}

Eigen::VectorXd Equations::start(const State& state) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(size());
  use_chart();
  set_state(state, y);
  return y;
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
  if (set_ || (imposes_ && !motions_.empty())) return 1.0;
  return coordinates_.spread({y.data(), index(mechanical_)}, {error.data(), index(mechanical_)},
                             relative, absolute);
}

void Equations::use_chart() {
  turning_.clear();
  counted_.clear();
  for (int i = 0; i < mechanical_; ++i) {
    if (coordinates_.turns(i)) turning_.push_back(i);
    if (const double least = coordinates_.least_size(i); least > 0.0)
      counted_.emplace_back(i, least);
  }
  if (const Chart* chart = coordinates_.chart()) workspace_.set_chart(*chart);
}

void Equations::set_state(const State& state, Eigen::VectorXd& y) const {
  coordinates_.pack(state, {y.data(), index(mechanical_)});
}

void Equations::impose_motions(double t, Eigen::VectorXd& y) const {
  for (const Motion& motion : motions_) {
    const Jet jet = motion.signal.jet(t);
    coordinates_.prescribe(motion.freedom, jet.value, motion.has_coordinate ? jet.rate : jet.value,
                           {y.data(), index(mechanical_)});
  }
}

std::span<const double> Equations::with_motions(double t, const Eigen::VectorXd& y) {
  if (!imposes_ || motions_.empty()) return {y.data(), index(mechanical_)};
  imposed_ = y;
  impose_motions(t, imposed_);
  return {imposed_.data(), index(mechanical_)};
}

void Equations::look(double t, const Eigen::VectorXd& y) {
  if (step_start_ < t && t < step_end_)
    coordinates_.unpack_inside((t - step_start_) / (step_end_ - step_start_), with_motions(t, y),
                               state_);
  else
    coordinates_.unpack(with_motions(t, y), state_);
}

void Equations::stepped(double from, const Eigen::VectorXd& y_from, double to,
                        const Eigen::VectorXd& y_to, bool inside) {
  leave_step();
  look(to, y_to);
  if (!inside) return;
  coordinates_.stepped(to - from, with_motions(from, y_from), state_);
  step_start_ = from;
  step_end_ = to;
}

void Equations::sum_efforts(double t, const Eigen::VectorXd& y) {
  effort_.setZero();
  for (Input& input : inputs_) {
    input.effort = input.signal.value(t, state_);
    effort_[input.freedom] += input.effort;
  }
  for (Controller& pid : pids_) {
    const Jet target = pid.target.jet(t);
    pid.error = target.value - state_.q[pid.coordinate];
    pid.effort = pid.kp * pid.error + pid.kd * (target.rate - state_.v[pid.freedom]) +
                 (pid.integral >= 0 ? pid.ki * y[pid.integral] : 0.0);
    effort_[pid.freedom] += pid.effort;
  }
  if (!limit_efforts_) return;
  // What is cut off counts, in the work, in proportion to what each asked for.
  const auto settings = mechanism_.freedom_settings();
  for (Eigen::Index i = 0; i < effort_.size(); ++i) {
    const double limit = settings[static_cast<std::size_t>(i)].effort_limit;
    if (std::abs(effort_[i]) <= limit) continue;
    const double ratio = std::copysign(limit, effort_[i]) / effort_[i];
    effort_[i] *= ratio;
    for (Input& input : inputs_)
      if (input.freedom == i) input.effort *= ratio;
    for (Controller& pid : pids_)
      if (pid.freedom == i) pid.effort *= ratio;
  }
}

// Forward or hybrid dynamics. These add the regularized friction by themselves; where friction has
// modes it is taken off again and the set-valued law put in its place.
void Equations::solve() {
  const auto settings = mechanism_.freedom_settings();
  bool hybrid = !motions_.empty();
  hybrid_.effort = effort_;
  friction_.setZero();
  reaction_.setZero();
  for (Eigen::Index i = 0; i < effort_.size(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    const FreedomMode& mode = modes_[k];
    const bool held = mode.held();
    hybrid_.motion_driven[k] = held || prescribed_[k] != 0 ? 1 : 0;
    if (held) {
      hybrid_.acceleration[i] = 0.0;
      hybrid = true;
    }
    if (rubs_[k] == 0) continue;
    const double smooth = friction_force(settings[k].friction, state_.v[i]);
    if (frictional_[k] == 0) {
      friction_[i] = smooth;
    } else if (!held) {
      friction_[i] = -mode.direction * sliding_level(settings[k].friction, state_.v[i]);
      hybrid_.effort[i] += friction_[i] - smooth;
    }
  }
  if (set_) {
    solve_with_constraints();
  } else if (!hybrid) {
    acceleration_ = forward_dynamics(mechanism_, state_, hybrid_.effort, workspace_, external_);
  } else {
    hybrid_dynamics(mechanism_, state_, hybrid_, workspace_, hybrid_result_, external_);
    acceleration_ = hybrid_result_.acceleration;
    for (Eigen::Index i = 0; i < effort_.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(i);
      if (prescribed_[k] != 0) effort_[i] = hybrid_result_.effort[i];
      if (!modes_[k].held()) continue;
      reaction_[i] = hybrid_result_.effort[i] - effort_[i];
      if (modes_[k].stop == 0) friction_[i] = reaction_[i];
    }
  }
  if (needs_kinematics_) update_kinematics(mechanism_, state_.q, state_.v, workspace_);
}

Eigen::VectorXd Equations::acting_effort() const {
  Eigen::VectorXd all = hybrid_.effort;
  for (Eigen::Index i = 0; i < all.size(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    if (modes_[k].held() || prescribed_[k] != 0) all[i] = effort_[i] + reaction_[i];
  }
  return all;
}

double Equations::power(const Element& e) const {
  switch (e.kind) {
    case Element::Kind::input:
      return inputs_[index(e.source)].effort * state_.v[e.freedom];
    case Element::Kind::controller:
      return pids_[index(e.source)].effort * state_.v[e.freedom];
    case Element::Kind::motion:
      return effort_[e.freedom] * state_.v[e.freedom];
    case Element::Kind::damping:
      return -mechanism_.freedom_settings()[index(e.freedom)].damping * state_.v[e.freedom] *
             state_.v[e.freedom];
    case Element::Kind::friction:
      return friction_[e.freedom] * state_.v[e.freedom];
    case Element::Kind::external: {
      const ExternalWrench& wrench = external_[index(e.freedom)];
      if (wrench.body < 0) return 0.0;
      const Vec3d spin = body_twist(mechanism_, workspace_, wrench.body, wrench.axes).angular;
      return dot(wrench.wrench.moment, spin) +
             dot(wrench.wrench.force,
                 point_velocity(mechanism_, workspace_, wrench.body, wrench.point, wrench.axes));
    }
    case Element::Kind::spring: {
      const SpringPlace& spring = mechanism_.springs()[index(e.freedom)];
      const auto position = [&](const PointPlace& at) {
        return at.node < 0 ? at.point : workspace_.node(at.node).pose * at.point;
      };
      const auto velocity = [&](const PointPlace& at) {
        if (at.node < 0) return Vec3d::zero();
        const NodeScratch<double>& n = workspace_.node(at.node);
        return n.pose.rotation * (n.twist.linear + cross(n.twist.angular, at.point));
      };
      const Vec3d gap = position(spring.b) - position(spring.a);
      const double rate = dot(gap, velocity(spring.b) - velocity(spring.a)) / norm(gap);
      return -spring.damping * rate * rate;
    }
    case Element::Kind::contact: {
      if (set_->mode(e.source) != ContactMode::sliding) return 0.0;
      return dot(set_->contact_force(e.source).friction, set_->slip(e.source));
    }
    case Element::Kind::servo:
      return set_->servo_power(e.source);
    case Element::Kind::impact:
    case Element::Kind::response:
    case Element::Kind::switching:
      return 0.0;
  }
  return 0.0;
}

void Equations::rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) {
  evaluate(t, y);
  coordinates_.rate(state_, acceleration_, {dy.data(), index(mechanical_)});
  rate_of_integrals(dy);
}

void Equations::rate_of_integrals(Eigen::VectorXd& dy) const {
  for (const Controller& pid : pids_)
    if (pid.integral >= 0) dy[pid.integral] = pid.error;
  dy.tail(elements()).setZero();
  for (const int k : powered_) dy[mechanical_ + controllers_ + k] = power(elements_[index(k)]);
}

void Equations::applied_force(double t, const Eigen::VectorXd& y, Eigen::VectorXd& force,
                              Eigen::VectorXd& rates) {
  look(t, y);
  sum_efforts(t, y);
  // Gravity, springs and wrenches: what holds the mechanism at rest, with the other sign.
  at_rest_.q = state_.q;
  if (mechanism_.loops().empty()) {
    force = effort_ - bias_effort(mechanism_, at_rest_, workspace_, external_);
  } else {  // of the tree, whose loops need not be closed here
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(mechanism_.freedoms());
    MultiplierDynamics& dynamics = set_->dynamics();
    dynamics.equation_residual(at_rest_, effort_, none,
                               Eigen::VectorXd::Zero(dynamics.constraints().rows()),
                               set_->workspace(), external_, force);
    force = -force;
  }
  const auto settings = mechanism_.freedom_settings();
  for (Eigen::Index i = 0; i < force.size(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    force[i] -= settings[k].damping * state_.v[i];
    if (!settings[k].friction.active()) continue;
    friction_[i] = frictional_[k] == 0
                       ? friction_force(settings[k].friction, state_.v[i])
                       : -modes_[k].direction * sliding_level(settings[k].friction, state_.v[i]);
    force[i] += friction_[i];
  }
  if (needs_kinematics_) update_kinematics(mechanism_, state_.q, state_.v, workspace_);
  rate_of_integrals(rates);
}

void Equations::project(double t, Eigen::VectorXd& y) {
  look(t, y);
  if (set_) {
    set_targets(t);
    coordinates_.project(state_);
  }
  set_state(state_, y);
}

void Equations::add_impact_work(int freedom, double work, Eigen::VectorXd& y) const {
  y[work_entry(impact_element_[index(freedom)])] += work;
}

void Equations::add_response_work(double work, Eigen::VectorXd& y) const {
  y[work_entry(response_element_)] += work;
}

void Equations::add_motion_work(int freedom, double work, Eigen::VectorXd& y) const {
  for (int k = 0; k < elements(); ++k)
    if (elements_[index(k)].kind == Element::Kind::motion && elements_[index(k)].freedom == freedom)
      y[work_entry(k)] += work;
}

void Equations::switch_arguments(double t, std::span<double> arguments) const {
  std::size_t at = 0;
  for_each_signal([&](const Signal& s) {
    const std::size_t count = index(s.switches());
    if (count > 0) s.switch_arguments(t, state_, arguments.subspan(at, count));
    at += count;
  });
}

std::string Equations::switch_name(int k) const {
  const auto find = [&](const auto& list) -> const std::string* {
    for (const auto& each : list) {
      const int count = [&] {
        if constexpr (requires { each.target; })
          return each.target.switches();
        else
          return each.signal.switches();
      }();
      if (k < count) return &each.name;
      k -= count;
    }
    return nullptr;
  };
  if (const std::string* name = find(inputs_)) return *name;
  if (const std::string* name = find(pids_)) return *name;
  if (const std::string* name = find(motions_)) return *name;
  return "";
}

void Equations::start_signals(double t, const State& state) {
  for_each_signal([&](Signal& s) { s.start(t, state); });
}

std::vector<std::uint8_t> Equations::switch_sides() {
  std::vector<std::uint8_t> sides;
  for_each_signal([&](Signal& s) {
    const auto own = s.switch_sides();
    sides.insert(sides.end(), own.begin(), own.end());
  });
  return sides;
}

void Equations::set_switch_sides(std::span<const std::uint8_t> sides) {
  std::size_t at = 0;
  for_each_signal([&](Signal& s) {
    for (std::uint8_t& side : s.switch_sides()) side = sides[at++];
  });
}

double Equations::next_corner() const {
  double next = std::numeric_limits<double>::infinity();
  for_each_signal([&](const Signal& s) { next = std::min(next, s.next_corner()); });
  return next;
}

bool Equations::jumps_at(double corner) const {
  bool jumps = false;
  for_each_signal([&](const Signal& s) { jumps |= s.jumps() && s.next_corner() == corner; });
  return jumps;
}

}  // namespace catena
