// SPDX-License-Identifier: BSD-3-Clause
// Centre of mass, momentum, centroidal inertia and the centroidal momentum matrix of a whole
// mechanism, in ground axes:  h = (angular, linear) = A(q) v.
//
//   update_kinematics(robot, state.q, state.v, workspace);
//   const Vec3d com = center_of_mass(robot, workspace);
//   const Momentum h = centroidal_momentum(robot, workspace);     // about the moving mass centre
//
// All bodies count, those fixed to the ground too (as in Mechanism::total_mass). A drive's rotor is
// part of its carrier's mass; its spin relative to the carrier adds ratio · rotor_inertia · v along
// its axis to the angular momentum, unless the drive is armature_only (which is an approximation
// without such a term) or the rotor sits on the ground (then the ground takes the momentum).
//
// Read after update_kinematics (kinematics.h): q suffices for mass centre, inertia and the
// matrices, momenta and velocity need q and v. Each call costs O(N); the matrices use the
// workspace's composite inertias, which they overwrite.
//
// Reference: [Orin, Goswami & Lee 2013].
#pragma once

#include <Eigen/Core>

#include "catena/dynamics/workspace.h"

namespace catena {

struct MassProperties {
  double mass = 0.0;
  Vec3d center_of_mass;  // in the ground frame
  SymMat3d inertia;      // about the mass centre, ground axes

  // The 6 x 6 centroidal inertia (to_eigen for numbers), every hinge locked.
  SpatialInertiad spatial_inertia() const { return {mass, Vec3d::zero(), inertia}; }
};

struct Momentum {
  Vec3d angular;
  Vec3d linear;
};

// A mechanism without mass has no mass centre: NumericalError.
MassProperties mass_properties(const Mechanism& mechanism, const Workspace& workspace);
MassProperties mass_properties(const Mechanism& mechanism, const Eigen::VectorXd& q);
Vec3d center_of_mass(const Mechanism& mechanism, const Workspace& workspace);
Vec3d center_of_mass(const Mechanism& mechanism, const Eigen::VectorXd& q);
Vec3d center_of_mass_velocity(const Mechanism& mechanism, const Workspace& workspace);
Vec3d center_of_mass_velocity(const Mechanism& mechanism, const State& state);

// 3 × freedoms: velocity of the mass centre = J v.
void center_of_mass_jacobian(const Mechanism& mechanism, Workspace& workspace,
                             Eigen::Ref<Eigen::MatrixXd> jacobian);
Eigen::MatrixXd center_of_mass_jacobian(const Mechanism& mechanism, const Eigen::VectorXd& q);

// Angular momentum about a point of the ground frame (default: its origin), or about the moving
// mass centre.
Momentum momentum(const Mechanism& mechanism, const Workspace& workspace, const Vec3d& about = {});
Momentum momentum(const Mechanism& mechanism, const State& state, const Vec3d& about = {});
Momentum centroidal_momentum(const Mechanism& mechanism, const Workspace& workspace);
Momentum centroidal_momentum(const Mechanism& mechanism, const State& state);

// 6 × freedoms: (angular momentum about the point, linear momentum) = matrix · v.
void momentum_matrix(const Mechanism& mechanism, Workspace& workspace, const Vec3d& about,
                     Eigen::Ref<Eigen::MatrixXd> matrix);
Eigen::MatrixXd momentum_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                const Vec3d& about = {});

}  // namespace catena
