// SPDX-License-Identifier: BSD-3-Clause
// Loads of a pack of states besides efforts and gravity, as loads.cpp for one state:
// damping, friction and stiffness of hinges, springs between points, external wrenches; and the
// normalization of quaternions.
#pragma once

#include "catena/dynamics/batch/batch_kernels.h"
#include "catena/dynamics/batch/pack_rows.h"
#include "catena/dynamics/kernels/scratch.h"

namespace catena {
inline namespace CATENA_ISA {

// A quaternion whose length is off by more is refused (loads.h).
inline constexpr double kMendedQuaternion = 1e-6;

// Normalizes; returns the lanes in which a length was off by too much (or not a number).
inline unsigned mend_quaternions(const BatchModel& model, Pack* q) {
  unsigned bad = 0;
  for (int i = 0; i < model.quaternion_count; ++i) {
    Pack* x = q + model.quaternions[i];
    const Pack length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    const Pack::Mask good = abs(length - Pack(1.0)) <= Pack(kMendedQuaternion);
    if (any(!good)) [[unlikely]]
      bad |= lane_bits(!good);
    const Pack scale = Pack(1.0) / length;
    for (int k = 0; k < 4; ++k) x[k] = scale * x[k];
  }
  return bad;
}

// passive[i] := effort of damping, friction and stiffness at freedom i. slopes[l] := decrease of
// the effort of law l with velocity, unless it is null.
inline void passive_efforts(const BatchModel& model, const Pack* q, const Pack* v, Pack* passive,
                            Pack* slopes = nullptr) {
  for (int i = 0; i < model.sweep->freedoms; ++i) passive[i] = Pack(0.0);
  for (int i = 0; i < model.law_count; ++i) {
    const FreedomLaw& law = model.laws[i];
    const Pack rate = v[law.v_index];
    Pack sum = -(Pack(law.damping) * rate), slope(law.damping);
    if (law.has_friction) {
      const RegularizedFriction<Pack> friction = regularized_friction(law.friction, rate);
      sum = sum + friction.force;
      slope -= friction.slope;
    }
    if (law.q_index >= 0) sum = sum - Pack(law.stiffness) * (q[law.q_index] - Pack(law.rest));
    passive[law.v_index] = sum;
    if (slopes != nullptr) slopes[i] = slope;
  }
}

inline void add_to_node(Pack* external, int node, const Vec3<Pack>& moment,
                        const Vec3<Pack>& force) {
  for (int i = 0; i < 3; ++i) {
    external[6 * node + i] = external[6 * node + i] + moment[i];
    external[6 * node + 3 + i] = external[6 * node + 3 + i] + force[i];
  }
}

inline Vec3<Pack> times_rows(const double* r, const Vec3<Pack>& x) {
  return {Pack(r[0]) * x.x + Pack(r[1]) * x.y + Pack(r[2]) * x.z,
          Pack(r[3]) * x.x + Pack(r[4]) * x.y + Pack(r[5]) * x.z,
          Pack(r[6]) * x.x + Pack(r[7]) * x.y + Pack(r[8]) * x.z};
}

// An external wrench; in ground axes it needs the poses of nodes.
inline void add_wrench(const WrenchPlace& place, const Pack (&wrench)[6], const Scratch<Pack>& s,
                       Pack* external) {
  Vec3<Pack> moment{wrench[0], wrench[1], wrench[2]};
  Vec3<Pack> force{wrench[3], wrench[4], wrench[5]};
  if (place.ground_axes) {
    const Rotation<Pack>& axes = s.nodes[place.node].pose.rotation;
    moment = axes.inverse_times(moment);
    force = axes.inverse_times(force);
  } else {
    moment = times_rows(place.rotation, moment);
    force = times_rows(place.rotation, force);
  }
  add_to_node(external, place.node, moment + cross(load_vec3<Pack>(place.point), force), force);
}

struct MovingPoint {
  Vec3<Pack> position, velocity;
};
inline MovingPoint point_of(const Scratch<Pack>& s, int node, const double* at) {
  const Vec3<Pack> point = load_vec3<Pack>(at);
  if (node < 0) return {point, Vec3<Pack>::zero()};
  const NodeScratch<Pack>& w = s.nodes[node];
  return {w.pose * point, w.pose.rotation * (w.twist.linear + cross(w.twist.angular, point))};
}
inline void add_force(Pack* external, const Scratch<Pack>& s, int node, const double* at,
                      const Vec3<Pack>& f) {
  if (node < 0) return;
  const Vec3<Pack> own = s.nodes[node].pose.rotation.inverse_times(f);
  add_to_node(external, node, cross(load_vec3<Pack>(at), own), own);
}

// Needs poses and twists of nodes. Returns the lanes in which a spring has no direction.
inline unsigned add_springs(const BatchModel& model, const Scratch<Pack>& s, Pack* external) {
  unsigned undefined = 0;
  for (int i = 0; i < model.spring_count; ++i) {
    const SpringTerm& spring = model.springs[i];
    const MovingPoint a = point_of(s, spring.node_a, spring.point_a);
    const MovingPoint b = point_of(s, spring.node_b, spring.point_b);
    const Vec3<Pack> gap = b.position - a.position;
    const Pack length = norm(gap);
    const Pack::Mask has_length = length > Pack(0.0);
    if (!spring.may_vanish && any(!has_length)) [[unlikely]]
      undefined |= lane_bits(!has_length);
    const Vec3<Pack> direction = gap * (Pack(1.0) / select(has_length, length, Pack(1.0)));
    const Pack rate = dot(direction, b.velocity - a.velocity);
    const Pack tension =
        Pack(spring.stiffness) * (length - Pack(spring.rest_length)) + Pack(spring.damping) * rate;
    const Vec3<Pack> force = tension * direction;
    add_force(external, s, spring.node_a, spring.point_a, force);
    add_force(external, s, spring.node_b, spring.point_b, -force);
  }
  return undefined;
}

}  // namespace CATENA_ISA
}  // namespace catena
