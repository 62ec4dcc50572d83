// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/work_account.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"

namespace catena {
WorkAccount::WorkAccount(const Mechanism& mechanism, const ActionSettings& actions,
                         const AppliedForces& forces, const ConstraintSet* set)
    : mechanism_(mechanism), forces_(forces), workspace_(mechanism) {
  const auto names = mechanism.velocity_names();
  const Wiring& wiring = forces.wiring();
  for (int k = 0; k < wiring.size(); ++k)
    if (std::any_of(wiring.efforts().begin(), wiring.efforts().end(),
                    [&](const Wiring::Effort& effort) { return effort.component == k; }))
      add(Kind::component, wiring.component(k).name(), k);
  for (const AppliedForces::Motion& motion : forces.motions())
    add(Kind::motion, motion.name, motion.freedom);
  const auto settings = mechanism.freedom_settings();
  for (int i = 0; i < mechanism.freedoms(); ++i) {
    const FreedomSettings& f = settings[index(i)];
    if (f.damping != 0.0) add(Kind::damping, "damping " + names[index(i)], i);
    if (f.friction.active()) add(Kind::friction, "friction " + names[index(i)], i);
    const bool limited = std::isfinite(f.lower) || std::isfinite(f.upper);
    if (actions.stops && limited && mechanism.coordinate_of_freedom()[index(i)] >= 0)
      add(Kind::impact, "impacts " + names[index(i)], i);
  }
  for (std::size_t k = 0; k < forces.external().size(); ++k) {
    const int body = forces.external()[k].body;
    add(Kind::external,
        "wrench on " + (body < 0 ? std::string(kWorld) : mechanism.bodies()[index(body)].name),
        static_cast<int>(k));
  }
  for (std::size_t k = 0; k < mechanism.springs().size(); ++k)
    if (mechanism.springs()[k].damping != 0.0)
      add(Kind::spring, "damper " + mechanism.springs()[k].name, static_cast<int>(k));
  for (std::size_t k = 0; k < mechanism.flexible_bodies().size(); ++k)
    if (!mechanism.flexible_bodies()[k].constants->damping.isZero(0.0))
      add(Kind::elastic, "damping of " + mechanism.flexible_bodies()[k].name, static_cast<int>(k));
  if (std::any_of(actions.events.begin(), actions.events.end(),
                  [](const EventSettings& event) { return event.respond != nullptr; }))
    add(Kind::response, "events", 0);
  if (set != nullptr) {
    for (int k = 0; k < set->count(); ++k) {
      if (set->kind(k) == ConstraintSet::Kind::contact)
        add(Kind::contact, "contact " + set->name(k), k);
      if (set->kind(k) == ConstraintSet::Kind::servo) add(Kind::servo, "servo " + set->name(k), k);
    }
    if (!actions.switches.empty()) add(Kind::switching, "switches", 0);
  }
  if (actions.collisions) add(Kind::collisions, "collisions", set == nullptr ? 0 : set->count());
  if (actions.steps_contacts) add(Kind::correction, "penetration", 0);
  floats_freely_ = find_if_floating(actions);
}

void WorkAccount::add(Kind kind, std::string name, int of) {
  elements_.push_back({kind, std::move(name), of});
  needs_kinematics_ = needs_kinematics_ || kind == Kind::external || kind == Kind::spring;
}

int WorkAccount::find(Kind kind, int of) const {
  for (int k = 0; k < elements(); ++k)
    if (elements_[index(k)].kind == kind && elements_[index(k)].of == of) return k;
  return -1;
}

void WorkAccount::rates(const Evaluation& found, Eigen::VectorXd& dy) {
  if (needs_kinematics_)
    update_kinematics(mechanism_, found.state().q, found.state().v, workspace_);
  for (int k = 0; k < elements(); ++k) dy[first_ + k] = power(elements_[index(k)], found);
}

double WorkAccount::power(const Element& e, const Evaluation& found) const {
  const Eigen::VectorXd& v = found.state().v;
  switch (e.kind) {
    case Kind::component:
      return forces_.power(e.of, found.efforts, v);
    case Kind::motion:
      return found.effort[e.of] * v[e.of];
    case Kind::damping:
      return -mechanism_.freedom_settings()[index(e.of)].damping * v[e.of] * v[e.of];
    case Kind::friction:
      return found.friction[e.of] * v[e.of];
    case Kind::external:
      return power_of_wrench(forces_.external()[index(e.of)]);
    case Kind::spring:
      return power_of_damper(mechanism_.springs()[index(e.of)]);
    case Kind::elastic: {
      const FlexiblePlace& body = mechanism_.flexible_bodies()[index(e.of)];
      const Node& node = mechanism_.nodes()[index(body.node)];
      const auto rate = v.segment(node.v_index, node.freedoms);
      return -rate.dot(body.constants->damping * rate);
    }
    case Kind::collisions: {
      double sum = 0.0;
      for (std::size_t k = index(e.of); k < found.constraint_power.size(); ++k)
        sum += found.constraint_power[k];
      return sum;
    }
    case Kind::contact:
    case Kind::servo:
      return found.constraint_power[index(e.of)];
    case Kind::impact:
    case Kind::response:
    case Kind::switching:
    case Kind::correction:
      return 0.0;
  }
  return 0.0;
}

double WorkAccount::power_of_wrench(const ExternalWrench& wrench) const {
  if (wrench.body < 0) return 0.0;
  const Vec3d spin = body_twist(mechanism_, workspace_, wrench.body, wrench.axes).angular;
  return dot(wrench.wrench.moment, spin) +
         dot(wrench.wrench.force,
             point_velocity(mechanism_, workspace_, wrench.body, wrench.point, wrench.axes));
}

double WorkAccount::power_of_damper(const SpringPlace& spring) const {
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

void WorkAccount::add_impact(int freedom, double work, Eigen::VectorXd& y) const {
  y[first_ + find(Kind::impact, freedom)] += work;
}

void WorkAccount::add_friction(int freedom, double work, Eigen::VectorXd& y) const {
  y[first_ + find(Kind::friction, freedom)] += work;
}

void WorkAccount::add_motion(int freedom, double work, Eigen::VectorXd& y) const {
  y[first_ + find(Kind::motion, freedom)] += work;
}

void WorkAccount::add_response(double work, Eigen::VectorXd& y) const {
  y[first_ + find(Kind::response, 0)] += work;
}

void WorkAccount::add_constraint(int constraint, double work, Eigen::VectorXd& y) const {
  int element = find(Kind::contact, constraint);
  if (element < 0) element = find(Kind::servo, constraint);
  for (int k = 0; k < elements() && element < 0; ++k)
    if (elements_[index(k)].kind == Kind::collisions) element = k;
  y[first_ + element] += work;
}

void WorkAccount::add_switching(double work, Eigen::VectorXd& y) const {
  if (const int k = find(Kind::switching, 0); k >= 0) y[first_ + k] += work;
}

void WorkAccount::add_correction(double work, Eigen::VectorXd& y) const {
  int k = find(Kind::correction, 0);
  for (int i = 0; i < elements() && k < 0; ++i)
    if (elements_[index(i)].kind == Kind::contact || elements_[index(i)].kind == Kind::impact)
      k = i;
  if (k >= 0) y[first_ + k] += work;
}

bool WorkAccount::find_if_floating(const ActionSettings& actions) const {
  if (mechanism_.nodes().empty() || !actions.external.empty() || actions.collisions) return false;
  const auto grounded = [&](int body) {
    return body < 0 || mechanism_.bodies()[index(body)].node < 0;
  };
  std::vector<std::uint8_t> to_ground(index(mechanism_.freedoms()), 0);
  for (const Node& node : mechanism_.nodes()) {
    if (node.parent >= 0) continue;
    if (node.hinge != NodeHinge::free) return false;
    for (int k = 0; k < node.freedoms; ++k) to_ground[index(node.v_index + k)] = 1;
  }
  for (const ConstraintSettings& c : actions.constraints) {
    const auto* lock = std::get_if<LockSettings>(&c.constraint);
    const auto* attachment = std::get_if<AttachmentSettings>(&c.constraint);
    const auto* contact = std::get_if<ContactSettings>(&c.constraint);
    if (std::holds_alternative<ServoMotion>(c.constraint) ||
        (lock != nullptr && to_ground[index(lock->freedom)] != 0) ||
        (attachment != nullptr && (grounded(attachment->body_a) || grounded(attachment->body_b))) ||
        (contact != nullptr && (grounded(contact->body) || grounded(contact->plane_body))))
      return false;
  }
  for (const Element& e : elements_) {
    if (e.kind == Kind::response) return false;
    if ((e.kind == Kind::motion || e.kind == Kind::damping || e.kind == Kind::friction ||
         e.kind == Kind::impact) &&
        to_ground[index(e.of)] != 0)
      return false;
  }
  for (const Wiring::Effort& effort : forces_.wiring().efforts())
    if (to_ground[index(effort.freedom)] != 0) return false;
  const auto settings = mechanism_.freedom_settings();
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (to_ground[i] != 0 && settings[i].stiffness != 0.0) return false;
  for (const SpringPlace& spring : mechanism_.springs())
    if (spring.a.node < 0 || spring.b.node < 0) return false;
  for (const DrivePlace& drive : mechanism_.drives())
    if (drive.armature_only || drive.carrier_node < 0) return false;
  for (const LoopPlace& loop : mechanism_.loops())
    for (const int hinge : loop.cut_hinges)
      if (mechanism_.hinges()[index(hinge)].parent_body < 0 ||
          mechanism_.hinges()[index(hinge)].child_body < 0)
        return false;
  return true;
}

}  // namespace catena
