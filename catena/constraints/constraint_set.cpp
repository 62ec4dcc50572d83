// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/constraint_set.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/loop_closure.h"
#include "catena/closure/pair.h"
#include "catena/collision/friction_limit.h"
#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

NodeFrame on_node(const Mechanism& m, int body, const Transformd& frame) {
  if (body < 0) return {-1, frame};
  const BodyPlace& place = m.bodies()[index(body)];
  return {place.node, place.X_node_body * frame};
}

void check_body(const Mechanism& m, int body, const std::string& what) {
  if (body < -1 || body >= static_cast<int>(m.bodies().size()))
    throw NumericalError(what + ": there is no body " + std::to_string(body));
}

}  // namespace

ConstraintSet::ConstraintSet(const Mechanism& mechanism)
    : mechanism_(&mechanism), dynamics_(mechanism), workspace_(mechanism) {
  dynamics_.set_check_closed(false);  // close() keeps positions and velocities
  dynamics_.set_owner([this](const State& state, const Workspace& w) { place(state, w); },
                      [this](const State& state, const Workspace& w, Eigen::VectorXd& residual) {
                        add_gaps(state, w, residual);
                      });
}

int ConstraintSet::add_thing(Thing thing) {
  if (thing.name.empty()) throw Error("a constraint needs a name");
  for (const Thing& other : things_)
    if (other.name == thing.name)
      throw Error("constraint '" + thing.name + "' exists already; give it another name");
  if (total() > fixed_) throw Error("constraint '" + thing.name + "': slots were added before it");
  things_.push_back(std::move(thing));
  return ++fixed_ - 1;
}

int ConstraintSet::add(const AttachmentSettings& s) {
  const std::string what = "attachment '" + s.name + "'";
  check_body(*mechanism_, s.body_a, what);
  check_body(*mechanism_, s.body_b, what);
  const NodeFrame a = on_node(*mechanism_, s.body_a, s.frame_a);
  const NodeFrame b = on_node(*mechanism_, s.body_b, s.frame_b);
  if (a.node == b.node)
    throw Error(what + ": its two bodies are one rigid group; there is nothing to attach");
  if (s.type == HingeType::free || s.type == HingeType::custom || s.type == HingeType::universal ||
      s.type == HingeType::screw)
    throw Error(what + ": a hinge of type '" + std::string(to_string(s.type)) +
                "' cannot be attached; use weld, revolute, prismatic, cylindrical, planar, "
                "spherical or translation");
  if (!(norm(s.axis) > 0.0)) throw Error(what + ": its axis has no length");
  Hinge rows;
  rows.type = s.type;
  rows.axes = {normalized(s.axis)};
  Thing thing;
  thing.kind = Kind::attachment;
  thing.name = s.name;
  thing.attachment = s;
  // Rows in radians and metres.
  thing.constraint = dynamics_.add_pair(pair_closure(rows, s.type), a, b, 1.0);
  return add_thing(std::move(thing));
}

int ConstraintSet::add(const LockSettings& s) {
  if (s.freedom < 0 || s.freedom >= mechanism_->freedoms())
    throw NumericalError("lock '" + s.name + "': there is no freedom " + std::to_string(s.freedom));
  Thing thing;
  thing.kind = Kind::lock;
  thing.name = s.name;
  thing.lock = s;
  thing.constraint = dynamics_.constraints().add_on_freedoms({s.freedom});
  dynamics_.constraints().measured(thing.constraint).coefficient[0] = 1.0;
  dynamics_.constraints().set_active(thing.constraint, false);
  return add_thing(std::move(thing));
}

int ConstraintSet::add(const ContactSettings& s) {
  const std::string what = "contact '" + s.name + "'";
  check_body(*mechanism_, s.body, what);
  check_body(*mechanism_, s.plane_body, what);
  if (!(s.radius >= 0.0)) throw Error(what + ": the radius is " + number(s.radius));
  if (!(s.friction >= 0.0))
    throw Error(what + ": the friction is " + number(s.friction) + "; it must not be negative");
  if (!(s.restitution >= 0.0 && s.restitution <= 1.0))
    throw Error(what + ": the restitution is " + number(s.restitution) +
                "; it must be from 0 to 1");
  if (!(s.rim >= 0.0)) throw Error(what + ": the rim is " + number(s.rim));
  if (s.rim > 0.0 && !(norm(s.rim_axis) > 0.0))
    throw Error(what + ": the rim's axis has no length");
  if (!(norm(s.plane_normal) > 0.0)) throw Error(what + ": the plane's normal has no length");
  if (!(s.plane_radius >= 0.0) || (s.plane_radius > 0.0 && s.rim > 0.0))
    throw Error(what + ": the plane's radius is " + number(s.plane_radius) +
                "; it must not be negative, and a rim needs a plane");
  Thing thing;
  thing.kind = Kind::contact;
  thing.name = s.name;
  thing.contact = s;
  thing.contact.friction = std::min(s.friction, kLargestFriction);
  place_slot(thing);
  if (thing.node == thing.plane.node)
    throw Error(what +
                ": the point and the plane belong to one rigid body (or bodies welded together)");
  TreeConstraints& c = dynamics_.constraints();
  thing.constraint = c.add_between(thing.plane.node, thing.node, 1);
  if (s.friction > 0.0) c.push_otherwise(thing.constraint);
  c.set_active(thing.constraint, false);
  thing.stick = c.add_between(thing.plane.node, thing.node, 3);
  c.set_active(thing.stick, false);
  return add_thing(std::move(thing));
}

// Where the point and the plane of a contact are on their nodes.
void ConstraintSet::place_slot(Thing& thing) const {
  const ContactSettings& s = thing.contact;
  const NodeFrame body = on_node(*mechanism_, s.body, Transformd::from_translation(s.center));
  thing.node = body.node;
  thing.center = body.pose.translation;
  if (s.rim > 0.0) thing.rim_axis = body.pose.rotation * normalized(s.rim_axis);
  thing.plane = on_node(*mechanism_, s.plane_body,
                        {rotation_from_z_to(normalized(s.plane_normal)), s.plane_point});
}

int ConstraintSet::add_slot() {
  Thing thing;
  thing.kind = Kind::contact;
  thing.name = "slot";
  TreeConstraints& c = dynamics_.constraints();
  thing.constraint = c.add_between(-1, -1, 1);
  c.set_active(thing.constraint, false);
  thing.stick = c.add_between(-1, -1, 3);
  c.set_active(thing.stick, false);
  things_.push_back(std::move(thing));
  return total() - 1;
}

void ConstraintSet::move_contact(int slot, const ContactSettings& settings) {
  Thing& thing = at(slot);
  thing.name = settings.name;
  thing.contact = settings;
  place_slot(thing);
  dynamics_.constraints().move_between(thing.stick, thing.plane.node, thing.node);
}

int ConstraintSet::add(const ServoSettings& s) {
  check(s, *mechanism_);
  Thing thing;
  thing.kind = Kind::servo;
  thing.name = s.name;
  thing.servo = s;
  thing.node = mechanism_->bodies()[index(s.body)].node;
  TreeConstraints& c = dynamics_.constraints();
  thing.constraint = c.add_between(-1, thing.node, static_cast<int>(s.rows.size()));
  if (!s.actuators.empty()) c.push_at_freedoms(thing.constraint, s.actuators);
  c.set_active(thing.constraint, false);
  return add_thing(std::move(thing));
}

void ConstraintSet::use_ideal_servos(bool ideal) {
  TreeConstraints& c = dynamics_.constraints();
  for (const Thing& thing : things_) {
    if (thing.kind != Kind::servo || thing.servo.actuators.empty()) continue;
    if (ideal)
      c.push_as_measured(thing.constraint);
    else
      c.push_at_freedoms(thing.constraint, thing.servo.actuators);
  }
}

int ConstraintSet::find(std::string_view name) const {
  std::vector<std::string> names;
  for (int i = 0; i < count(); ++i) {
    if (at(i).name == name) return i;
    names.push_back(at(i).name);
  }
  throw NameError("no constraint is named '" + std::string(name) + "'" + did_you_mean(name, names));
}

bool ConstraintSet::active(int i) const {
  const Thing& thing = at(i);
  if (thing.kind == Kind::contact) return closed(i);
  return dynamics_.constraints().active(thing.constraint);
}

bool ConstraintSet::any_active() const {
  for (int i = 0; i < count(); ++i)
    if (active(i)) return true;
  return false;
}

void ConstraintSet::activate(int i, const State& state) {
  Thing& thing = at(i);
  if (thing.kind == Kind::contact) {
    set_mode(i, ContactMode::sticking);
    return;
  }
  if (thing.kind == Kind::lock) {
    const int coordinate = mechanism_->coordinate_of_freedom()[index(thing.lock.freedom)];
    thing.holds_position = coordinate >= 0;
    thing.position = coordinate >= 0 ? state.q[coordinate] : 0.0;
    thing.velocity = thing.acceleration = 0.0;
  }
  if (thing.kind == Kind::attachment && thing.attachment.as_it_is) {
    look(state);
    const NodeFrame& a = dynamics_.parent_frame(thing.constraint);
    NodeFrame& b = dynamics_.child_frame(thing.constraint);
    b.pose = pose_of(workspace_, b.node).inverse() * pose_of(workspace_, a.node) * a.pose;
  }
  dynamics_.constraints().set_active(thing.constraint, true);
}

void ConstraintSet::activate_row(int i) {
  Thing& thing = at(i);
  thing.holds_position = false;
  thing.position = thing.velocity = thing.acceleration = 0.0;
  dynamics_.constraints().set_active(thing.constraint, true);
}

void ConstraintSet::release(int i) {
  if (at(i).kind == Kind::contact)
    set_mode(i, ContactMode::apart);
  else
    dynamics_.constraints().set_active(at(i).constraint, false);
}

void ConstraintSet::set_lock(int i, double position, double velocity, double acceleration) {
  Thing& thing = at(i);
  thing.holds_position = mechanism_->coordinate_of_freedom()[index(thing.lock.freedom)] >= 0;
  thing.position = position;
  thing.velocity = velocity;
  thing.acceleration = acceleration;
}

void ConstraintSet::set_target(int servo, const ServoTarget& target) { at(servo).target = target; }

void ConstraintSet::place(const State&, const Workspace& w) {
  TreeConstraints& c = dynamics_.constraints();
  for (const Thing& thing : things_) {
    if (thing.kind == Kind::contact) {
      place_contact(thing, w);
    } else if (thing.kind == Kind::lock) {
      c.bias(thing.constraint, 0) = -thing.acceleration;
      c.target(thing.constraint, 0) = thing.velocity;
    } else if (thing.kind == Kind::servo && c.active(thing.constraint)) {
      place_servo(thing.servo, thing.target, *mechanism_, thing.constraint, w, c);
    }
  }
}

void ConstraintSet::add_gaps(const State& state, const Workspace& w,
                             Eigen::VectorXd& residual) const {
  const TreeConstraints& c = dynamics_.constraints();
  for (const Thing& thing : things_) {
    if (thing.kind == Kind::contact) {
      for (const int rows : {thing.constraint, thing.stick})
        if (c.active(rows)) residual[c.first_row(rows)] = touch(thing, w).point.z;
    } else if (thing.kind == Kind::lock && c.active(thing.constraint) && thing.holds_position) {
      const int coordinate = mechanism_->coordinate_of_freedom()[index(thing.lock.freedom)];
      residual[c.first_row(thing.constraint)] =
          state.q[coordinate] - thing.position - ahead_ * thing.velocity;
    } else if (thing.kind == Kind::servo && c.active(thing.constraint)) {
      for (int r = 0; r < c.row_count(thing.constraint); ++r) {
        double& gap = residual[c.first_row(thing.constraint) + r];
        gap = servo_gap(thing.servo, thing.target, *mechanism_, w, r);
        if (!thing.servo.rows[index(r)].angular) gap -= ahead_ * thing.target.velocity[index(r)];
      }
    }
  }
}

std::vector<char> ConstraintSet::positional_rows() const {
  const TreeConstraints& c = dynamics_.constraints();
  std::vector<char> result(index(c.rows()), 1);
  for (const Thing& thing : things_) {
    if (thing.kind == Kind::contact) {
      for (const int rows : {thing.constraint, thing.stick})
        for (int r = 1; c.active(rows) && r < c.row_count(rows); ++r)
          result[index(c.first_row(rows) + r)] = 0;
    } else if (thing.kind == Kind::lock && c.active(thing.constraint)) {
      result[index(c.first_row(thing.constraint))] = thing.holds_position ? 1 : 0;
    } else if (thing.kind == Kind::servo && c.active(thing.constraint)) {
      for (int r = 0; r < c.row_count(thing.constraint); ++r)
        if (thing.servo.rows[index(r)].angular)
          result[index(c.first_row(thing.constraint) + r)] = 0;
    }
  }
  return result;
}

double ConstraintSet::gap(const State& state) {
  const Eigen::VectorXd& g = dynamics_.gap(state, workspace_);
  // Slots come last, and what they miss is penetration.
  const TreeConstraints& c = dynamics_.constraints();
  int rows = static_cast<int>(g.size());
  for (int slot = fixed_; slot < total(); ++slot)
    if (c.active(at(slot).stick)) rows = std::min(rows, c.first_row(at(slot).stick));
  double most = 0.0;
  for (int r = 0; r < rows; ++r)
    if (!c.left_out(r)) most = std::max(most, std::abs(g[r]));
  return most;
}

const Eigen::VectorXd& ConstraintSet::forward(const State& state, const Eigen::VectorXd& effort,
                                              std::span<const ExternalWrench> external,
                                              double ahead) {
  const Ahead looking(*this, ahead);
  velocity_ = state.v;
  const Eigen::VectorXd& a = dynamics_.forward(state, effort, workspace_, external);
  if (ahead == 0.0) clearance_ = dynamics_.smallest_sine();
  watch_servos();
  if (!dynamics_.conflict().rows.empty()) throw_conflict();
  return a;
}

// The rank monitor.
void ConstraintSet::watch_servos() const {
  const TreeConstraints& c = dynamics_.constraints();
  if (c.ideal()) return;
  const double condition = c.reciprocal_condition();
  for (const Thing& thing : things_) {
    if (thing.kind != Kind::servo || thing.servo.actuators.empty() || !c.active(thing.constraint) ||
        condition >= thing.servo.least_condition)
      continue;
    std::vector<std::string> names;
    names.reserve(thing.servo.actuators.size());
    for (const int f : thing.servo.actuators)
      names.push_back("'" + mechanism_->velocity_names()[index(f)] + "'");
    throw NumericalError(
        "servo '" + thing.name + "': the actuators " + listed(names) +
        " cannot enforce the motion here: the reciprocal condition of what they do to it is " +
        number(condition) + ", below " + number(thing.servo.least_condition) +
        "; choose other actuators, or another motion");
  }
}

// Work of the impulses: Λ times the mean of the velocities before and after along the forces.
ConstraintSet::Jump ConstraintSet::settle(const State& state) {
  Jump result;
  result.velocity = state.v + dynamics_.impulse(state, workspace_);
  const double slow = kSlowSlip * std::max(1.0, state.v.lpNorm<Eigen::Infinity>());
  if (dynamics_.conflict().miss > slow) throw_conflict();
  const TreeConstraints& c = dynamics_.constraints();
  Eigen::VectorXd before, after;
  c.push_velocities(workspace_, state.v, before);
  update_kinematics(*mechanism_, state.q, result.velocity, workspace_);
  c.push_velocities(workspace_, result.velocity, after);
  result.energy_change = 0.5 * dynamics_.applied_multipliers().dot(before + after);
  return result;
}

void ConstraintSet::look(const State& state) {
  update_kinematics(*mechanism_, state.q, state.v, workspace_);
}

void ConstraintSet::add_servo_efforts(Eigen::VectorXd& effort) const {
  const TreeConstraints& c = dynamics_.constraints();
  for (const Thing& thing : things_) {
    if (thing.kind != Kind::servo || !c.active(thing.constraint)) continue;
    const int first = c.first_row(thing.constraint);
    for (std::size_t k = 0; k < thing.servo.actuators.size(); ++k)
      effort[thing.servo.actuators[k]] += dynamics_.multipliers()[first + static_cast<int>(k)];
    if (!thing.servo.actuators.empty()) continue;
    // Ideal forces: what they are at the freedoms on the way to the ground, Bᵀ λ.
    Wrenchd force = Wrenchd::zero();
    for (std::size_t r = 0; r < thing.servo.rows.size(); ++r)
      force += dynamics_.multipliers()[first + static_cast<int>(r)] *
               c.measured(thing.constraint).on_b[r];
    for (int n = thing.node; n >= 0;) {
      const Node& node = mechanism_->nodes()[index(n)];
      if (node.hinge == NodeHinge::attachment) {
        for (int k = 0; k < mechanism_->nodes()[index(node.parent)].freedoms; ++k)
          effort[node.v_index + k] += dot(force, workspace_.attachment(n).map[k]);
      } else if (node.flexible >= 0) {
        // Modes have no motion of their own.
      } else if (workspace_.is_general(n)) {
        for (int k = 0; k < node.freedoms; ++k)
          effort[node.v_index + k] += dot(force, workspace_.general(n).map[k]);
      } else {
        effort[node.v_index] += node.hinge == NodeHinge::revolute ? force.moment.z : force.force.z;
      }
      force = Ad_star_inverse(workspace_.node(n).to_parent, force);
      n = node.parent;
    }
  }
}

// λ · Z v, from the twists of the last sweep; the rows have their target velocities.
double ConstraintSet::servo_power(int servo) const {
  const Thing& thing = at(servo);
  const TreeConstraints& c = dynamics_.constraints();
  if (!c.active(thing.constraint)) return 0.0;
  c.push_velocities(workspace_, velocity_, along_);
  const int first = c.first_row(thing.constraint), rows = c.row_count(thing.constraint);
  return dynamics_.multipliers().segment(first, rows).dot(along_.segment(first, rows));
}

double ConstraintSet::effort(int lock) const {
  const TreeConstraints& c = dynamics_.constraints();
  const int constraint = at(lock).constraint;
  return c.active(constraint) ? dynamics_.multipliers()[c.first_row(constraint)] : 0.0;
}

std::string ConstraintSet::name_of_row(int row) const {
  const int constraint = dynamics_.constraints().place_of_row(row).constraint;
  if (constraint < dynamics_.closures()) {
    const Closure& c = dynamics_.tables().closures[index(constraint)];
    const Description& d = mechanism_->description();
    if (c.kind == ClosureKind::rod) return "rod '" + d.rods[index(c.place)].name + "'";
    if (c.kind == ClosureKind::coupling)
      return "coupling '" + d.couplings[index(c.place)].name + "'";
    return "hinge '" + mechanism_->hinges()[index(c.place)].name + "'";
  }
  for (const Thing& thing : things_) {
    if (thing.constraint != constraint && thing.stick != constraint) continue;
    return name_of(thing);
  }
  return "constraint " + std::to_string(constraint);
}

std::string ConstraintSet::name_of(const Thing& thing) const {
  const char* what[] = {"attachment", "lock", "contact", "servo"};
  return std::string(what[static_cast<int>(thing.kind)]) + " '" + thing.name + "'";
}

ConstraintSet::Miss ConstraintSet::close_copy(State state, double tolerance) {
  Miss miss;
  miss.position = close(state);
  miss.velocity = dynamics_.residual();
  const double speed = state.v.size() == 0 ? 0.0 : state.v.lpNorm<Eigen::Infinity>();
  miss.closed = miss.position <= tolerance && miss.velocity <= tolerance * std::max(1.0, speed);
  return miss;
}

void ConstraintSet::refuse_open(const State& state, double tolerance) {
  const Miss miss = close_copy(state, tolerance);
  if (miss.closed) return;
  TreeConstraints& c = dynamics_.constraints();
  std::vector<int> off;
  std::vector<std::string> names;
  for (const Thing& thing : things_) {
    for (const int rows : {thing.constraint, thing.stick}) {
      if (rows < 0 || !c.active(rows)) continue;
      c.set_active(rows, false);
      if (close_copy(state, tolerance).closed) {
        c.set_active(rows, true);
        names.push_back(name_of(thing));
      } else {
        off.push_back(rows);
      }
    }
  }
  for (const int rows : off) c.set_active(rows, true);
  const std::string what =
      miss.position > tolerance
          ? " positions: they stay open by " + number(miss.position) + " m or rad"
          : " velocities: they differ by " + number(miss.velocity) + " m/s or rad/s";
  if (names.empty()) names.emplace_back("the mechanism's loops");
  throw NumericalError(
      listed(names) +
      (names.size() == 1 ? " cannot be satisfied, in its" : " contradict each other, in their") +
      what + "; release one of them, make them agree, or start closer to where they do");
}

std::string ConstraintSet::conflict() const {
  const MultiplierDynamics::Conflict found = dynamics_.conflict();
  if (found.rows.empty()) return {};
  std::vector<std::string> names;
  for (const int row : found.rows) {
    const std::string name = name_of_row(row);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (dynamics_.constraints().left_out(found.rows.back()))
    return "the redundant constraints of " + listed(names) + " disagree here (by " +
           number(found.miss) +
           " 1/s²): they are redundant only within the digits of the file, or the position is next "
           "to a singular one; write parallel axes and equal lengths with more digits";
  // Rows of loops alone agree wherever the loops can be closed, but where their rank drops.
  const bool own = std::all_of(found.rows.begin(), found.rows.end(), [&](int row) {
    return dynamics_.constraints().place_of_row(row).constraint < dynamics_.closures();
  });
  const std::string singular =
      "if it moves elsewhere, the loop is in a singular position in which its motion does not say "
      "how to go on: it is at rest there, or at the end of its range; start a little aside";
  if (names.size() == 1)
    return names[0] + " contradicts itself: its rows differ by " + number(found.miss) +
           "; nothing that moves can satisfy them all" + (own ? "; " + singular : "");
  return "the constraints of " + listed(names) + " contradict each other (by " +
         number(found.miss) + "); " + (own ? singular : "release one of them, or make them agree");
}

void ConstraintSet::throw_conflict() const {
  const TreeConstraints& c = dynamics_.constraints();
  for (const int row : dynamics_.conflict().rows) {
    const int constraint = c.place_of_row(row).constraint;
    for (const Thing& thing : things_)
      if ((thing.constraint == constraint || thing.stick == constraint) &&
          (thing.kind == Kind::contact || (thing.kind == Kind::lock && thing.lock.nonsmooth)))
        throw NonsmoothError(conflict());
  }
  throw NumericalError(conflict());
}

std::vector<double> ConstraintSet::save() const {
  std::vector<double> s;
  for (int number = 0; number < count(); ++number) {
    const Thing& thing = at(number);
    s.push_back(dynamics_.constraints().active(thing.constraint) ? 1.0 : 0.0);
    s.push_back(static_cast<double>(thing.mode));
    for (int i = 0; i < 3; ++i) s.push_back(thing.direction[i]);
    s.push_back(thing.kind == Kind::contact ? thing.give : thing.position);
    s.push_back(thing.weight);
    const Transformd pose = thing.kind == Kind::attachment
                                ? dynamics_.child_frame(thing.constraint).pose
                                : Transformd::identity();
    for (int i = 0; i < 3; ++i) {
      s.push_back(pose.translation[i]);
      for (int k = 0; k < 3; ++k) s.push_back(pose.rotation.matrix.m[i][k]);
    }
  }
  return s;
}

void ConstraintSet::restore(std::span<const double> s) {
  std::size_t next = 0;
  for (int i = 0; i < count(); ++i) {
    Thing& thing = at(i);
    const bool on = s[next++] != 0.0;
    const auto mode = static_cast<ContactMode>(static_cast<int>(s[next++]));
    Vec3d direction;
    for (int k = 0; k < 3; ++k) direction[k] = s[next++];
    (thing.kind == Kind::contact ? thing.give : thing.position) = s[next++];
    const double weight = s[next++];
    Transformd pose;
    for (int r = 0; r < 3; ++r) {
      pose.translation[r] = s[next++];
      for (int k = 0; k < 3; ++k) pose.rotation.matrix.m[r][k] = s[next++];
    }
    if (thing.kind == Kind::contact) {
      set_mode(i, mode, direction);
      weigh_friction(i, weight);
      continue;
    }
    if (thing.kind == Kind::attachment) dynamics_.child_frame(thing.constraint).pose = pose;
    if (thing.kind == Kind::lock)
      thing.holds_position = mechanism_->coordinate_of_freedom()[index(thing.lock.freedom)] >= 0;
    dynamics_.constraints().set_active(thing.constraint, on);
  }
}

}  // namespace catena
