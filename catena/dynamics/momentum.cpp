// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/momentum.h"

#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
namespace {

const Node& node_of(const Mechanism& mechanism, int n) { return mechanism.nodes()[index(n)]; }
int node_count(const Mechanism& mechanism) { return static_cast<int>(mechanism.nodes().size()); }

// In the node's frame; of a flexible body as it is deformed.
SpatialInertiad inertia_of(const Mechanism& mechanism, const Workspace& w, int n) {
  SpatialInertiad inertia = load_inertia<double>(node_of(mechanism, n));
  if (node_of(mechanism, n).hinge == NodeHinge::modes) inertia += w.modes(n).change;
  return inertia;
}

// Calls f(inertia, X_ground_it) for each node and each body that is fixed to the ground.
template <class F>
void for_each_rigid_group(const Mechanism& mechanism, const Workspace& w, F f) {
  for (int n = 0; n < node_count(mechanism); ++n) f(inertia_of(mechanism, w, n), w.node(n).pose);
  for (const BodyPlace& body : mechanism.bodies())
    if (body.node < 0) f(body.inertia, body.X_node_body);
}

bool carries_spin(const DrivePlace& drive) {
  return drive.rotor_inertia != 0.0 && !drive.armature_only && drive.carrier_node >= 0;
}

// Angular momentum of the rotor for a unit rate of its hinge, ground axes.
Vec3d spin_of(const DrivePlace& drive, const Workspace& w) {
  return w.node(drive.carrier_node).pose.rotation *
         (drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis);
}

// The rate of a one-freedom hinge, from the twists on both sides of it.
double rate_of(const Mechanism& mechanism, const Workspace& w, int n) {
  const Node& node = node_of(mechanism, n);
  Twistd relative = checked_twist(w, n);
  if (node.parent >= 0) relative -= Ad_inverse(w.node(n).to_parent, w.node(node.parent).twist);
  const Twistd h = motion_map_column(mechanism, w, n, 0);
  return (dot(h.angular, relative.angular) + dot(h.linear, relative.linear)) /
         (squared_norm(h.angular) + squared_norm(h.linear));
}

// Inertia of everything from each node outward, about its origin in ground axes.
void update_composites(const Mechanism& mechanism, Workspace& w) {
  const Scratch<double> scratch = w.scratch();
  for (int n = 0; n < node_count(mechanism); ++n) {
    const Node& node = node_of(mechanism, n);
    const Transformd& pose = w.node(n).pose;
    CompositeScratch<double>& c = scratch.composite[n];
    c.rotation = pose.rotation;
    c.offset =
        pose.translation - (node.parent < 0 ? Vec3d::zero() : w.node(node.parent).pose.translation);
    c.composite =
        shift_to_parent(Transformd{pose.rotation, Vec3d::zero()}, inertia_of(mechanism, w, n));
  }
  for (int n = node_count(mechanism); n-- > 0;) {
    const int parent = node_of(mechanism, n).parent;
    if (parent < 0) continue;
    scratch.composite[parent].composite += shift_to_parent(
        Transformd::from_translation(scratch.composite[n].offset), scratch.composite[n].composite);
  }
}

// Momentum of a unit rate of mode k about the origin of the modes' node, ground axes.
Wrenchd of_mode(const Workspace& w, const FlexiblePlace& body, int k) {
  const auto turned = [](const Rotationd& r, const auto& x) {
    auto y = x;
    for (int i = 0; i < 6; i += 3) {
      const Vec3d part = r * Vec3d{x[i], x[i + 1], x[i + 2]};
      for (int c = 0; c < 3; ++c) y[i + c] = part[c];
    }
    return y;
  };
  Wrenchd sum = turned(w.composite(body.node).rotation, w.modes(body.node).coupling[k]);
  for (const FlexiblePlace::Attachment& a : body.attachments) {
    const CompositeScratch<double>& c = w.composite(a.node);
    const Wrenchd own = c.composite * turned(c.rotation, w.attachment(a.node).map[k]);
    sum += Wrenchd{own.moment + cross(c.offset, own.force), own.force};
  }
  return sum;
}

// Calls f(freedom, node, momentum about the node's origin for a unit rate of the freedom).
template <class F>
void for_each_column(const Mechanism& mechanism, const Workspace& w, F f) {
  for (int n = 0; n < node_count(mechanism); ++n) {
    const Node& node = node_of(mechanism, n);
    const CompositeScratch<double>& c = w.composite(n);
    if (node.hinge == NodeHinge::modes) {
      const FlexiblePlace& body = mechanism.flexible_bodies()[index(node.flexible)];
      for (int k = 0; k < node.freedoms; ++k) f(node.v_index + k, n, of_mode(w, body, k));
      continue;
    }
    for (int k = 0; k < node.freedoms; ++k) {
      const Twistd h = motion_map_column(mechanism, w, n, k);
      const Twistd in_ground_axes{c.rotation * h.angular, c.rotation * h.linear};
      f(node.v_index + k, n, c.composite * in_ground_axes);
    }
  }
}

double checked_mass(const Mechanism& mechanism) {
  const double mass = mechanism.total_mass();
  if (!(mass > 0.0))
    throw NumericalError("'" + mechanism.name() + "' has no mass, so it has no mass centre");
  return mass;
}

}  // namespace

Vec3d center_of_mass(const Mechanism& mechanism, const Workspace& workspace) {
  const double mass = checked_mass(mechanism);
  Vec3d sum = Vec3d::zero();
  for_each_rigid_group(mechanism, workspace, [&](const SpatialInertiad& i, const Transformd& x) {
    sum += x.rotation * i.mass_moment + i.mass * x.translation;
  });
  return sum * (1.0 / mass);
}

MassProperties mass_properties(const Mechanism& mechanism, const Workspace& workspace) {
  MassProperties result{checked_mass(mechanism), center_of_mass(mechanism, workspace),
                        SymMat3d::zero()};
  for_each_rigid_group(mechanism, workspace, [&](const SpatialInertiad& i, const Transformd& x) {
    const Transformd from_center{x.rotation, x.translation - result.center_of_mass};
    result.inertia += shift_to_parent(from_center, i).inertia;
  });
  return result;
}

Momentum momentum(const Mechanism& mechanism, const Workspace& workspace, const Vec3d& about) {
  Momentum sum{Vec3d::zero(), Vec3d::zero()};
  for (int n = 0; n < node_count(mechanism); ++n) {
    const Transformd& x = workspace.node(n).pose;
    Wrenchd own = inertia_of(mechanism, workspace, n) * checked_twist(workspace, n);
    if (node_of(mechanism, n).hinge == NodeHinge::modes) own += workspace.modes(n).momentum;
    const Vec3d linear = x.rotation * own.force;
    sum.linear += linear;
    sum.angular += x.rotation * own.moment + cross(x.translation - about, linear);
  }
  for (const DrivePlace& drive : mechanism.drives()) {
    if (!carries_spin(drive)) continue;
    const int n = mechanism.hinges()[index(drive.hinge)].node;
    sum.angular += rate_of(mechanism, workspace, n) * spin_of(drive, workspace);
  }
  return sum;
}

Momentum centroidal_momentum(const Mechanism& mechanism, const Workspace& workspace) {
  return momentum(mechanism, workspace, center_of_mass(mechanism, workspace));
}

Vec3d center_of_mass_velocity(const Mechanism& mechanism, const Workspace& workspace) {
  return momentum(mechanism, workspace).linear * (1.0 / checked_mass(mechanism));
}

void center_of_mass_jacobian(const Mechanism& mechanism, Workspace& workspace,
                             Eigen::Ref<Eigen::MatrixXd> jacobian) {
  check_matrix(mechanism, jacobian, 3, "mass-centre Jacobian");
  const double inverse = 1.0 / checked_mass(mechanism);
  update_composites(mechanism, workspace);
  for_each_column(mechanism, workspace, [&](int column, int, const Wrenchd& momentum_of_unit) {
    for (int i = 0; i < 3; ++i) jacobian(i, column) = inverse * momentum_of_unit.force[i];
  });
}

void momentum_matrix(const Mechanism& mechanism, Workspace& workspace, const Vec3d& about,
                     Eigen::Ref<Eigen::MatrixXd> matrix) {
  check_matrix(mechanism, matrix, 6, "momentum matrix");
  update_composites(mechanism, workspace);
  for_each_column(mechanism, workspace, [&](int column, int n, const Wrenchd& at_origin) {
    const Vec3d arm = workspace.node(n).pose.translation - about;
    const Vec3d angular = at_origin.moment + cross(arm, at_origin.force);
    for (int i = 0; i < 3; ++i) {
      matrix(i, column) = angular[i];
      matrix(3 + i, column) = at_origin.force[i];
    }
  });
  for (const DrivePlace& drive : mechanism.drives()) {
    if (!carries_spin(drive)) continue;
    const Vec3d spin = spin_of(drive, workspace);
    for (int i = 0; i < 3; ++i) matrix(i, drive.v_index) += spin[i];
  }
}

// ---- Without a workspace. ----

MassProperties mass_properties(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace w(mechanism);
  update_kinematics(mechanism, q, w);
  return mass_properties(mechanism, w);
}
Vec3d center_of_mass(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace w(mechanism);
  update_kinematics(mechanism, q, w);
  return center_of_mass(mechanism, w);
}
Vec3d center_of_mass_velocity(const Mechanism& mechanism, const State& state) {
  Workspace w(mechanism);
  update_kinematics(mechanism, state.q, state.v, w);
  return center_of_mass_velocity(mechanism, w);
}
Eigen::MatrixXd center_of_mass_jacobian(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace w(mechanism);
  update_kinematics(mechanism, q, w);
  Eigen::MatrixXd jacobian(3, mechanism.freedoms());
  center_of_mass_jacobian(mechanism, w, jacobian);
  return jacobian;
}
Momentum momentum(const Mechanism& mechanism, const State& state, const Vec3d& about) {
  Workspace w(mechanism);
  update_kinematics(mechanism, state.q, state.v, w);
  return momentum(mechanism, w, about);
}
Momentum centroidal_momentum(const Mechanism& mechanism, const State& state) {
  Workspace w(mechanism);
  update_kinematics(mechanism, state.q, state.v, w);
  return centroidal_momentum(mechanism, w);
}
Eigen::MatrixXd momentum_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                const Vec3d& about) {
  Workspace w(mechanism);
  update_kinematics(mechanism, q, w);
  Eigen::MatrixXd matrix(6, mechanism.freedoms());
  momentum_matrix(mechanism, w, about, matrix);
  return matrix;
}

}  // namespace catena
