// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/servo.h"

#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

const BodyPlace& body_of(const ServoSettings& s, const Mechanism& m) {
  return m.bodies()[index(s.body)];
}

}  // namespace

void check(const ServoSettings& s, const Mechanism& m) {
  const std::string what = "servo '" + s.name + "'";
  if (s.body < 0 || s.body >= static_cast<int>(m.bodies().size()))
    throw NumericalError(what + ": there is no body " + std::to_string(s.body));
  if (body_of(s, m).node < 0)
    throw Error(what + ": body '" + body_of(s, m).name + "' is fixed to the ground");
  if (s.rows.empty() || s.rows.size() > 6)
    throw Error(what + ": it prescribes " + std::to_string(s.rows.size()) +
                " directions; it must be one to six");
  for (const ServoSettings::Row& row : s.rows)
    if (!(std::abs(norm(row.direction) - 1.0) < 1e-9))
      throw Error(what + ": the length of a direction is " + number(norm(row.direction)) +
                  "; it must be 1");
  if (!s.actuators.empty() && s.actuators.size() != s.rows.size())
    throw Error(what + ": " + std::to_string(s.actuators.size()) + " actuators for " +
                std::to_string(s.rows.size()) +
                " prescribed directions; there must be as many, or none (ideal forces)");
  for (std::size_t i = 0; i < s.actuators.size(); ++i) {
    if (s.actuators[i] < 0 || s.actuators[i] >= m.freedoms())
      throw NumericalError(what + ": there is no freedom " + std::to_string(s.actuators[i]));
    for (std::size_t k = 0; k < i; ++k)
      if (s.actuators[i] == s.actuators[k])
        throw Error(what + ": actuator '" + m.velocity_names()[index(s.actuators[i])] +
                    "' is named twice");
  }
}

// d · v_p = (p × d, d) · V in the ground frame; its rate has d · (ω × v_p) besides.
void place_servo(const ServoSettings& s, const ServoTarget& target, const Mechanism& m,
                 int constraint, const Workspace& w, TreeConstraints& constraints) {
  const BodyPlace& body = body_of(s, m);
  const Transformd& pose = w.node(body.node).pose;
  const Vec3d p = pose * (body.X_node_body * s.point);
  const Twistd twist = Ad(pose, w.node(body.node).twist);
  const Vec3d speed = twist.linear + cross(twist.angular, p);
  TreeConstraints::Rows& rows = constraints.measured(constraint);
  for (std::size_t r = 0; r < s.rows.size(); ++r) {
    const Vec3d& d = s.rows[r].direction;
    const bool angular = s.rows[r].angular;
    const Wrenchd covector = angular ? Wrenchd{d, Vec3d::zero()} : Wrenchd{cross(p, d), d};
    rows.on_a[r] = -covector;
    rows.on_b[r] = Ad_star(pose, covector);
    const int k = static_cast<int>(r);
    constraints.bias(constraint, k) =
        (angular ? 0.0 : dot(d, cross(twist.angular, speed))) - target.acceleration[r];
    constraints.target(constraint, k) = target.velocity[r];
  }
}

double servo_gap(const ServoSettings& s, const ServoTarget& target, const Mechanism& m,
                 const Workspace& w, int row) {
  const ServoSettings::Row& one = s.rows[index(row)];
  if (one.angular) return 0.0;
  const BodyPlace& body = body_of(s, m);
  return dot(one.direction, w.node(body.node).pose * (body.X_node_body * s.point)) -
         target.position[index(row)];
}

}  // namespace catena
