// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/energy.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kernels/flexible_motion.h"
#include "catena/dynamics/loads.h"
#include "catena/model/configuration.h"
#include "catena/model/flexible/flexible_completion.h"

namespace catena {
namespace {

// The motion of a frame in the outermost of three, from its motion in the middle one.
FrameMotion operator*(const FrameMotion& outer, const FrameMotion& inner) {
  const Vec3d arm = outer.rotation * inner.position;
  return {outer.rotation * inner.rotation, outer.position + arm,
          outer.angular_velocity + outer.rotation * inner.angular_velocity,
          outer.velocity + cross(outer.angular_velocity, arm) + outer.rotation * inner.velocity};
}

// The motion of the second frame in the first from that of the first in the second:
// p' = −Rᵀ p, so ṗ' = −Rᵀ (ṗ − ω × p).
FrameMotion inverse(const FrameMotion& m) {
  const Rotationd back = m.rotation.inverse();
  return {back, -(back * m.position), -(back * m.angular_velocity),
          -(back * (m.velocity - cross(m.angular_velocity, m.position)))};
}

FrameMotion fixed(const Transformd& x) {
  return {x.rotation, x.translation, Vec3d::zero(), Vec3d::zero()};
}

// By its textbook form cos φ 1 + sin φ [a] + (1 − cos φ) a aᵀ.
Rotationd turned(const Vec3d& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * Mat3d::identity() + s * skew(axis) + (1.0 - c) * outer(axis, axis)};
}

FrameMotion turn(const Vec3d& axis, double angle, double rate) {
  return {turned(axis, angle), Vec3d::zero(), rate * axis, Vec3d::zero()};
}

FrameMotion shift(const Vec3d& axis, double distance, double rate) {
  return {Rotationd::identity(), distance * axis, Vec3d::zero(), rate * axis};
}

// The rotation of a quaternion (w, x, y, z) of nearly unit length.
Rotationd rotation_of(const Hinge& hinge, const double* q) {
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(std::abs(length - 1.0) <= kQuaternionTolerance))
    throw NumericalError("hinge '" + hinge.name + "': its quaternion has length " + number(length) +
                         ", not 1; normalize it");
  const Vec3d vector{q[1] / length, q[2] / length, q[3] / length};
  const double w = q[0] / length;
  // 1 + 2 w [x] + 2 [x]²
  const Mat3d x = skew(vector);
  return {Mat3d::identity() + (2.0 * w) * x + 2.0 * (x * x)};
}

Vec3d axis_of(const Hinge& hinge, std::size_t i, const Vec3d& otherwise) {
  return i < hinge.axes.size() ? hinge.axes[i] * (1.0 / norm(hinge.axes[i])) : otherwise;
}

// The motion of the child-side frame in the parent-side frame of a hinge, by its type.
FrameMotion motion_of(const Hinge& hinge, const double* q, const double* v) {
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const Vec3d axis = axis_of(hinge, 0, z);
  switch (hinge.type) {
    case HingeType::weld:
      break;
    case HingeType::revolute:
      return turn(axis, q[0], v[0]);
    case HingeType::prismatic:
      return shift(axis, q[0], v[0]);
    case HingeType::screw:
      return turn(axis, q[0], v[0]) * shift(axis, hinge.pitch * q[0], hinge.pitch * v[0]);
    case HingeType::cylindrical:
      return turn(axis, q[0], v[0]) * shift(axis, q[1], v[1]);
    case HingeType::universal:
      return turn(axis_of(hinge, 0, x), q[0], v[0]) * turn(axis_of(hinge, 1, y), q[1], v[1]);
    case HingeType::planar: {
      const Vec3d given = axis_of(hinge, 1, rotation_from_z_to(axis).axis(0));
      const Vec3d along = given - dot(given, axis) * axis;
      const Vec3d plane_x = along * (1.0 / norm(along));
      return shift(plane_x, q[1], v[1]) * shift(cross(axis, plane_x), q[2], v[2]) *
             turn(axis, q[0], v[0]);
    }
    case HingeType::gimbal:
      return turn(axis_of(hinge, 0, x), q[0], v[0]) * turn(axis_of(hinge, 1, y), q[1], v[1]) *
             turn(axis_of(hinge, 2, z), q[2], v[2]);
    case HingeType::translation:
      return {Rotationd::identity(), {q[0], q[1], q[2]}, Vec3d::zero(), {v[0], v[1], v[2]}};
    case HingeType::spherical:
    case HingeType::free: {
      // v is in the axes of the child side.
      const bool travels = hinge.type == HingeType::free;
      const Rotationd r = rotation_of(hinge, q);
      return {r, travels ? Vec3d{q[4], q[5], q[6]} : Vec3d::zero(), r * Vec3d{v[0], v[1], v[2]},
              travels ? r * Vec3d{v[3], v[4], v[5]} : Vec3d::zero()};
    }
    case HingeType::custom: {
      const std::size_t n = index(hinge.custom->freedoms());
      FrameMotion m = fixed(hinge.custom->transform({q, n}));
      Twistd columns[kMaxFreedoms];
      hinge.custom->motion_map({q, n}, {columns, n});
      for (std::size_t k = 0; k < n; ++k) {
        m.angular_velocity += m.rotation * (v[k] * columns[k].angular);
        m.velocity += m.rotation * (v[k] * columns[k].linear);
      }
      return m;
    }
    case HingeType::modes:
    case HingeType::attachment:
      break;
  }
  return fixed(Transformd::identity());
}

}  // namespace

EnergyMeter::EnergyMeter(const Mechanism& mechanism)
    : mechanism_(&mechanism), at_rest_(Eigen::VectorXd::Zero(mechanism.freedoms())) {
  const Description& d = mechanism.description();
  motions_.resize(d.bodies.size());
  for (const Body& body : d.bodies)
    inertias_.push_back(congruence(body.inertia_axes.matrix, body.inertia));

  // From the ground over every hinge that is not cut, breadth first.
  std::vector<std::vector<int>> hinges_at(d.bodies.size() + 1);  // entry 0: the ground's
  const auto hinges = mechanism.hinges();
  for (std::size_t h = 0; h < hinges.size(); ++h) {
    if (hinges[h].role == HingePlace::Role::cut) continue;
    hinges_at[index(hinges[h].parent_body + 1)].push_back(static_cast<int>(h));
    hinges_at[index(hinges[h].child_body + 1)].push_back(static_cast<int>(h));
  }
  std::vector<bool> reached(d.bodies.size() + 1, false);
  reached[0] = true;
  const double no_rates[kMaxFreedoms] = {};
  int body = -1;
  for (std::size_t next = 0;; ++next) {
    for (const int h : hinges_at[index(body + 1)]) {
      const HingePlace& place = hinges[index(h)];
      const bool reversed = place.child_body == body;
      const int other = reversed ? place.parent_body : place.child_body;
      if (reached[index(other + 1)]) continue;
      reached[index(other + 1)] = true;
      Step step{h, body, other, reversed, fixed(Transformd::identity())};
      const Hinge& hinge = d.hinges[index(h)];
      if (place.role == HingePlace::Role::weld && !hinge.locked_at.empty()) {
        std::vector<double> q = hinge.locked_at;
        if (hinge.type == HingeType::spherical || hinge.type == HingeType::free)
          normalize_quaternion(q.data());
        step.constant = motion_of(hinge, q.data(), no_rates);
      }
      steps_.push_back(step);
    }
    if (next == steps_.size()) break;
    body = steps_[next].to;
  }

  for (std::size_t h = 0; h < hinges.size(); ++h) {
    const Hinge& hinge = d.hinges[h];
    if (!hinge.drive || hinges[h].node < 0) continue;
    const DriveSettings& drive = *hinge.drive;
    rotors_.push_back({static_cast<int>(h),
                       mechanism.body_index(drive.carrier.empty() ? hinge.parent : drive.carrier),
                       drive.rotor_axis
                           ? *drive.rotor_axis * (1.0 / norm(*drive.rotor_axis))
                           : hinge.frame_on_parent.rotation * axis_of(hinge, 0, Vec3d::unit_z())});
  }
  for (const AttachmentTable* t : mechanism.attachment_tables()) {
    shapes_.resize(std::max(shapes_.size(), to_size(6 * t->modes)));
    rates_.resize(shapes_.size());
    columns_.resize(shapes_.size() / 6);
  }
  for (const SpringDamper& spring : d.springs) {
    spring_ends_.push_back({mechanism.body_index(spring.body_a), spring.point_a});
    spring_ends_.push_back({mechanism.body_index(spring.body_b), spring.point_b});
  }
}

void EnergyMeter::walk(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  for (const Step& step : steps_) {
    const Hinge& hinge = mechanism_->description().hinges[index(step.hinge)];
    const HingePlace& place = mechanism_->hinges()[index(step.hinge)];
    const FrameMotion across =
        place.role == HingePlace::Role::weld ? step.constant
        : hinge.type == HingeType::attachment
            ? attachment_motion_of(hinge, place, q, v)
            : motion_of(hinge, q.data() + place.q_index, v.data() + place.v_index);
    FrameMotion m = fixed(hinge.frame_on_parent) * across * inverse(fixed(hinge.frame_on_child));
    if (step.inverse) m = inverse(m);
    motions_[index(step.to)] = step.from < 0 ? m : motions_[index(step.from)] * m;
  }
}

FrameMotion EnergyMeter::attachment_motion_of(const Hinge& hinge, const HingePlace& place,
                                              const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const Node& node = mechanism_->nodes()[index(place.node)];
  const AttachmentTable& table = *mechanism_->attachment_tables()[index(node.flexible)];
  // The energy of the ruthless model is that of the undeformed body.
  const bool seen = hinge.flexible->model != FlexibleModel::ruthless;
  const AttachmentMotion<double> m = attachment_motion<double>(
      table, seen ? q.data() + node.q_index : nullptr, v.data() + node.v_index, shapes_.data(),
      rates_.data(), columns_.data());
  return {m.pose.rotation, m.pose.translation, m.pose.rotation * m.twist.angular,
          m.pose.rotation * m.twist.linear};
}

// What deformation adds to the energies of the bodies at rest.
void EnergyMeter::add_flexible(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                               Energy& energy) const {
  for (const FlexiblePlace& place : mechanism_->flexible_bodies()) {
    // Points and rows of a completed inertia are added below.
    const FlexibleBody& b = place.completed ? place.completed->remainder : *place.constants;
    const Node& node = mechanism_->nodes()[index(place.node)];
    const auto eta = q.segment(node.q_index, b.modes());
    const auto rate = v.segment(node.v_index, b.modes());
    energy.elastic += 0.5 * eta.dot(b.stiffness * eta);
    const bool seen = b.model != FlexibleModel::ruthless;
    const double use = seen ? 1.0 : 0.0;
    const FrameMotion& m = motions_[index(place.body)];
    const Eigen::Vector3d turn = to_eigen(m.rotation.inverse_times(m.angular_velocity));
    const Eigen::Vector3d speed = to_eigen(m.rotation.inverse_times(m.velocity));
    Eigen::Vector3d moment = use * b.mass_moment_1 * eta;
    Eigen::Vector3d c_t = b.mass_moment_1 * rate, c_r = b.coupling_0 * rate;
    Eigen::Matrix<double, 6, 1> j = use * b.inertia_1 * eta;
    for (int c = 0; c < 3 && seen; ++c) {
      moment[c] += 0.5 * eta.dot(b.mass_moment_2[index(c)] * eta);
      c_t[c] += rate.dot(b.mass_moment_2[index(c)] * eta);
      c_r[c] += rate.dot(b.coupling_1[index(c)] * eta);
    }
    for (int c = 0; c < 6 && seen; ++c) j[c] += 0.5 * eta.dot(b.inertia_2[index(c)] * eta);
    Eigen::Matrix3d change;
    change << j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5];
    energy.kinetic += 0.5 * turn.dot(change * turn) + turn.dot(moment.cross(speed)) +
                      turn.dot(c_r) + speed.dot(c_t) + 0.5 * rate.dot(b.modal_mass * rate);
    const FlexibleBody& whole = *place.constants;
    if (place.completed)
      for (int c = 0; c < 3; ++c)
        moment[c] =
            (whole.mass_moment_1.row(c) + 0.5 * eta.transpose() * whole.mass_moment_2[index(c)])
                .dot(eta);
    energy.gravity -= dot(mechanism_->gravity(), m.rotation * from_eigen(moment));
    if (!place.completed) continue;
    const CompletedInertia& completed = *place.completed;
    Eigen::VectorXd motion(6 + b.modes());
    motion << turn, speed, Eigen::VectorXd::Zero(b.modes());
    energy.kinetic -=
        0.5 * (completed.factor(Eigen::VectorXd::Zero(b.modes())) * motion).squaredNorm();
    motion.tail(b.modes()) = rate;
    energy.kinetic += 0.5 * (completed.factor(eta) * motion).squaredNorm();
  }
}

double EnergyMeter::rotor_energy(const Rotor& rotor, const Eigen::VectorXd& v) const {
  const DriveSettings& drive = *mechanism_->description().hinges[index(rotor.hinge)].drive;
  const double spin = drive.gear_ratio * v[mechanism_->hinges()[index(rotor.hinge)].v_index];
  double carried = 0.0;  // u · ω of the carrier
  if (!drive.armature_only && rotor.carrier >= 0) {
    const FrameMotion& carrier = motions_[index(rotor.carrier)];
    carried = dot(carrier.rotation * rotor.axis, carrier.angular_velocity);
  }
  return 0.5 * drive.rotor_inertia * ((spin + carried) * (spin + carried) - carried * carried);
}

Vec3d EnergyMeter::position_of(const End& end) const {
  if (end.body < 0) return end.point;
  const FrameMotion& m = motions_[index(end.body)];
  return m.position + m.rotation * end.point;
}

Energy EnergyMeter::run(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  check_vector(mechanism_->position_names(), q, "position");
  check_vector(mechanism_->velocity_names(), v, "velocity");
  walk(q, v);
  const Description& d = mechanism_->description();
  Energy energy;
  for (std::size_t b = 0; b < d.bodies.size(); ++b) {
    const Body& body = d.bodies[b];
    const FrameMotion& m = motions_[b];
    const Vec3d arm = m.rotation * body.center_of_mass;
    const Vec3d velocity = m.velocity + cross(m.angular_velocity, arm);
    const Vec3d spin = m.rotation.inverse_times(m.angular_velocity);
    energy.kinetic += 0.5 * (body.mass * squared_norm(velocity) + dot(spin, inertias_[b] * spin));
    energy.gravity -= body.mass * dot(d.gravity, m.position + arm);
  }
  for (const Rotor& rotor : rotors_) energy.kinetic += rotor_energy(rotor, v);
  if (mechanism_->has_flexible_bodies()) add_flexible(q, v, energy);
  for (std::size_t h = 0; h < d.hinges.size(); ++h) {
    const HingePlace& place = mechanism_->hinges()[h];
    // Coordinates that are not angles or distances (quaternions) have no springs.
    if (place.node < 0 || place.coordinates != place.freedoms) continue;
    const std::vector<FreedomSettings>& freedoms = d.hinges[h].freedoms;
    for (std::size_t k = 0; k < freedoms.size() && k < index(place.freedoms); ++k) {
      const double strain = q[place.q_index + static_cast<int>(k)] - freedoms[k].rest;
      energy.hinge_springs += 0.5 * freedoms[k].stiffness * strain * strain;
    }
  }
  for (std::size_t s = 0; s < d.springs.size(); ++s) {
    const double length =
        norm(position_of(spring_ends_[2 * s + 1]) - position_of(spring_ends_[2 * s]));
    const double strain = length - d.springs[s].rest_length;
    energy.point_springs += 0.5 * d.springs[s].stiffness * strain * strain;
  }
  return energy;
}

Energy EnergyMeter::measure(const State& state) { return run(state.q, state.v); }
Energy EnergyMeter::measure(const Eigen::VectorXd& q) { return run(q, at_rest_); }

const FrameMotion& EnergyMeter::motion(int body) const {
  if (body < 0 || index(body) >= motions_.size())
    throw NumericalError("body " + std::to_string(body) + " does not exist; '" +
                         mechanism_->name() + "' has " + std::to_string(motions_.size()) +
                         " bodies, counted from 0");
  return motions_[index(body)];
}

Energy energy(const Mechanism& mechanism, const State& state) {
  return EnergyMeter(mechanism).measure(state);
}
double kinetic_energy(const Mechanism& mechanism, const State& state) {
  return energy(mechanism, state).kinetic;
}
double potential_energy(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  return EnergyMeter(mechanism).measure(q).potential();
}

}  // namespace catena
