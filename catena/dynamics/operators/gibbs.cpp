// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/operators/gibbs.h"

#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/kernels/hinge_block.h"

namespace catena {
namespace {

// ½ Σ m |a|² over the particles of a rigid body: with ω, α and the acceleration a of the origin,
// ½ m |a|² + a·(α×h + ω×(ω×h)) + ½ α·Jα + α·(ω×Jω) + ½ |ω|² ω·Jω.
double acceleration_energy(const SpatialInertiad& i, const Vec3d& w, const Vec3d& alpha,
                           const Vec3d& a) {
  const Vec3d h = i.mass_moment;
  return 0.5 * i.mass * dot(a, a) + dot(a, cross(alpha, h) + cross(w, cross(w, h))) +
         0.5 * dot(alpha, i.inertia * alpha) + dot(alpha, cross(w, i.inertia * w)) +
         0.5 * dot(w, w) * dot(w, i.inertia * w);
}

}  // namespace

GibbsFunction gibbs_function(const Mechanism& mechanism, const State& state,
                             const Eigen::VectorXd& effort, const Eigen::VectorXd& acceleration,
                             Workspace& w, std::span<const ExternalWrench> external) {
  refuse_flexible(mechanism, "the Gibbs function");
  check_vector(mechanism.velocity_names(), acceleration, "acceleration");
  const PreparedInput in = prepare(mechanism, state, &effort, external, w);
  const SweepModel& model = w.tree_model();  // all accelerations are given
  Scratch<double> scratch = w.scratch();
  // Positions and velocities, and the accelerations at v̇ = 0 (less gravity).
  kernel_table().inverse(model, in, &scratch, w.effort.data());

  NodeScratch<double>* nodes = scratch.nodes;
  GibbsFunction g;
  const Vec3d gravity = mechanism.gravity();
  for (int n = 0; n < model.node_count; ++n) {
    const HingeBlock hinge(w, n);
    NodeScratch<double>& node = nodes[n];
    const int v = hinge.v_index();
    // From here on: pose in the ground, and `bias` the part of the acceleration linear in v̇.
    const bool rooted = hinge.parent() < 0;
    node.pose = rooted ? node.to_parent : nodes[hinge.parent()].pose * node.to_parent;
    node.bias = hinge.motion(acceleration.data() + v);
    if (!rooted) node.bias += Ad_inverse(node.to_parent, nodes[hinge.parent()].bias);

    const SpatialInertiad inertia = load_inertia<double>(model.nodes[n]);
    const Vec3d down = node.pose.rotation.inverse_times(gravity);
    const Twistd weightless = node.acceleration;  // at v̇ = 0, less gravity
    const Twistd at_zero{weightless.angular, weightless.linear + down};
    const Twistd total = at_zero + node.bias;
    Wrenchd load = Wrenchd::zero();
    if (in.external != nullptr)
      for (int i = 0; i < 6; ++i) load[i] = in.external[6 * n + i];
    const Wrenchd weight = inertia * Twistd{Vec3d::zero(), down};
    const Wrenchd inertial = ad_star(node.twist, inertia * node.twist);

    g.reduced += 0.5 * dot(inertia * node.bias, node.bias) +
                 dot(inertia * weightless - inertial - load, node.bias);
    g.components += 0.5 * dot(inertia * total, total) - dot(load + weight + inertial, total);
    const Vec3d omega = node.twist.angular;
    const Vec3d a = total.linear + cross(omega, node.twist.linear);
    const Vec3d curved = cross(omega, cross(omega, inertia.mass_moment));
    g.particles += acceleration_energy(inertia, omega, total.angular, a) -
                   dot(load + weight, Twistd{total.angular, a}) - dot(curved, down);
    for (int k = 0; k < hinge.freedoms(); ++k) {
      const double work = (in.effort != nullptr ? in.effort[v + k] : 0.0) * acceleration[v + k];
      g.reduced -= work;
      g.components -= work;
      g.particles -= work;
    }
  }
  // A rotor: ½ ratio² J v̇² + c·α v̇ + α·(ω × c v), c = ratio · J · axis.
  for (const DrivePlace& drive : mechanism.drives()) {
    const double a = acceleration[drive.v_index];
    const double reflected = drive.gear_ratio * drive.gear_ratio * drive.rotor_inertia;
    double linear = 0.5 * reflected * a * a, at_zero = 0.0;
    if (!drive.armature_only && drive.carrier_node >= 0) {
      const NodeScratch<double>& carrier = nodes[drive.carrier_node];
      const Vec3d c = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
      const Vec3d gyroscopic = cross(carrier.twist.angular, state.v[drive.v_index] * c);
      const Vec3d start = carrier.acceleration.angular, change = carrier.bias.angular;
      linear += a * dot(c, start + change) + dot(gyroscopic, change);
      at_zero = dot(gyroscopic, start);
    }
    g.reduced += linear;
    g.components += linear + at_zero;
    g.particles += linear + at_zero;
  }
  return g;
}

GibbsFunction gibbs_function(const Mechanism& mechanism, const State& state,
                             const Eigen::VectorXd& effort, const Eigen::VectorXd& acceleration,
                             std::span<const ExternalWrench> external) {
  Workspace workspace(mechanism);
  return gibbs_function(mechanism, state, effort, acceleration, workspace, external);
}

}  // namespace catena
