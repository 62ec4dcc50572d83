// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/free_flight.h"

#include "catena/base/index.h"
#include "catena/model/configuration.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

Vec3d load3(const Eigen::VectorXd& x, int at) { return {x[at], x[at + 1], x[at + 2]}; }

Rotationd turn(const Vec3d& rotation_vector) {
  return Rotationd::from_quaternion(exp_quaternion(rotation_vector));
}

}  // namespace

FreeFlight::FreeFlight(const Mechanism& mechanism) : mechanism_(mechanism) {
  std::vector<std::uint8_t> carries(mechanism.nodes().size(), 0);
  for (const Node& node : mechanism.nodes())
    if (node.parent >= 0) carries[index(node.parent)] = 1;
  for (std::size_t n = 0; n < carries.size(); ++n) {
    const Node& node = mechanism.nodes()[n];
    if (node.hinge != NodeHinge::free || node.parent >= 0 || node.reversed) continue;
    if (carries[n] != 0 || !(node.mass > 0.0)) continue;
    const Vec3d moment{node.mass_moment[0], node.mass_moment[1], node.mass_moment[2]};
    bodies_.push_back({node.q_index, node.v_index, node.mass, (1.0 / node.mass) * moment});
  }
}

void FreeFlight::add_efforts(double h, const Eigen::VectorXd& v0, const Eigen::VectorXd& v1,
                             Eigen::VectorXd& efforts) const {
  for (const Body& body : bodies_) {
    const Vec3d w0 = load3(v0, body.v), w1 = load3(v1, body.v);
    const Vec3d c0 = load3(v0, body.v + 3) + cross(w0, body.center);
    const Vec3d c1 = load3(v1, body.v + 3) + cross(w1, body.center);
    const Vec3d angle = (0.5 * h) * (w0 + w1);
    const Rotationd half = turn(0.5 * angle);
    const Vec3d impulse = half * c1 - half.inverse_times(c0);  // h f
    const Vec3d more = c1 - c0 - impulse + 0.5 * cross(angle, c0 + c1);
    const Vec3d force = (body.mass / h) * more;
    const Vec3d moment = cross(body.center, force);
    for (int k = 0; k < 3; ++k) {
      efforts[body.v + k] += moment[k];
      efforts[body.v + 3 + k] += force[k];
    }
  }
}

Eigen::VectorXd FreeFlight::position(double h, double s, const Eigen::VectorXd& q0,
                                     const Eigen::VectorXd& v0, const Eigen::VectorXd& v1) const {
  Eigen::VectorXd q = integrate(mechanism_, q0, (s * h) * (v0 + (0.5 * s) * (v1 - v0)));
  for (const Body& body : bodies_) {
    const Vec3d w0 = load3(v0, body.v), w1 = load3(v1, body.v);
    const Vec3d c0 = load3(v0, body.v + 3) + cross(w0, body.center);
    const Vec3d c1 = load3(v1, body.v + 3) + cross(w1, body.center);
    const Rotationd at_start = Rotationd::from_quaternion(load_quaternion(q0.data() + body.q));
    const Rotationd here = Rotationd::from_quaternion(load_quaternion(q.data() + body.q));
    const Vec3d in_space = at_start * c0;
    const Vec3d change = at_start * (turn((0.5 * h) * (w0 + w1)) * c1) - in_space;
    const Vec3d x = load3(q0, body.q + 4) + at_start * body.center +
                    (s * h) * (in_space + (0.5 * s) * change) - here * body.center;
    for (int k = 0; k < 3; ++k) q[body.q + 4 + k] = x[k];
  }
  return q;
}

}  // namespace catena
