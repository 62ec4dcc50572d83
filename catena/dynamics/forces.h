// SPDX-License-Identifier: BSD-3-Clause
// Reaction forces: the wrench that every joint and every weld carries, for mechanical design. With
// closed loops the bearing forces at cut joints, tensions of rods and multipliers of gears too, and
// which of them redundant constraints leave undetermined.
//
//   InterbodyForces forces(robot);
//   forces.compute(state, acceleration, workspace);
//   const Vec3d bearing = forces.at(robot.hinge_index("elbow")).wrench.force;  // N, on the child
//
// The force at a hinge is the wrench that its parent exerts on its child (the bodies as the user
// named them), at the child's hinge point. It splits into
//
//   f = H f_c + Q f_□     H: the free directions, Q: orthonormal basis of the constrained ones
//
// with the constraint force f_□ = Qᵀ f, the effort τ = Hᵀ f that the hinge transmits, and f_c =
// (HᵀH)⁻¹ τ, the components along the columns of H (f_c = τ if the columns are orthonormal;
// [D'Eleuterio & Damaren 1991]). τ is the drive's effort with damping, friction and stiffness of
// the hinge; the effort that accelerates a rotor is not in it. The split of a screw or custom hinge
// that mixes turning and shifting depends on the unit of length; the wrench and τ do not.
//
// Bodies joined by welds are one node in the sweeps. Here they are taken apart again: one inward
// sweep over the bodies, with the acceleration that dynamics left at each node, gives the wrench
// through the one hinge or weld that holds each body, F_b = I A − ad*(V, I V) − loads + Σ F beyond.
// O(bodies).
#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "catena/base/dense.h"
#include "catena/closure/structure.h"
#include "catena/dynamics/loads.h"
#include "catena/spatial/eigen.h"

namespace catena {

using HingeMatrix = Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6>;
using HingeVector = SmallVector;
using HingeSquare = SmallSquare;

enum class ForceAxes {
  hinge,  // of the hinge frame on the child
  body,   // of the child body
  ground
};

struct HingeForce {
  Wrenchd wrench;                // parent on child, at the child's hinge point
  HingeMatrix free_map;          // H, in the same axes at the same point
  HingeMatrix constraint_map;    // Q
  HingeVector effort;            // Hᵀ f
  HingeVector free_force;        // f_c
  HingeVector constraint_force;  // f_□
};

// An orthonormal Q with Hᵀ Q = 0: the unit directions farthest from the columns of H, made
// orthogonal. For a hinge about an axis of the frame these are the five other unit directions.
HingeMatrix hinge_complement(const HingeMatrix& free_map);

// Splits a wrench; both in one frame.
HingeForce split_force(const Wrenchd& wrench, const HingeMatrix& free_map);

// The forces of a whole mechanism. Made once; compute() and collect() allocate nothing and are
// O(bodies).
class InterbodyForces {
 public:
  explicit InterbodyForces(const Mechanism& mechanism);

  // For any state and acceleration, of any route: runs inverse dynamics, then collects.
  // In a closed mechanism: for these efforts of the actuators, which must produce the acceleration;
  // without them, for those that inverse dynamics finds at the independent freedoms.
  void compute(const State& state, const Eigen::VectorXd& acceleration, Workspace& workspace,
               std::span<const ExternalWrench> external = {},
               const Eigen::VectorXd* effort = nullptr);
  // Right after forward (recursive route), hybrid or inverse dynamics on the same workspace, with
  // the same state and loads and the accelerations given or found. Trees only.
  void collect(const State& state, const Eigen::VectorXd& acceleration, Workspace& workspace,
               std::span<const ExternalWrench> external = {});

  // Of any hinge or weld, by index into mechanism.hinges(). The free map of a cut hinge is an
  // orthonormal basis of its free directions.
  HingeForce at(int hinge, ForceAxes axes = ForceAxes::hinge) const;
  // The moment and force components of at(hinge, axes).wrench that redundant constraints leave
  // undetermined.
  std::array<bool, 6> undetermined(int hinge, ForceAxes axes = ForceAxes::hinge) const;
  // The same of the entries of at(hinge, axes).constraint_force.
  std::vector<bool> undetermined_constraint_force(int hinge,
                                                  ForceAxes axes = ForceAxes::hinge) const;
  // Moment and force are undetermined along these directions (orthonormal, three at most) and
  // determined across them: of a planar loop along its normal, however the axes lie.
  struct OpenDirections {
    std::vector<Vec3d> moment, force;
  };
  OpenDirections open_directions(int hinge, ForceAxes axes = ForceAxes::hinge) const;
  // at(hinge, axes).wrench without its parts along the open directions: the determined part.
  Wrenchd determined(int hinge, ForceAxes axes = ForceAxes::hinge) const;
  // Tension is positive.
  double rod_tension(int rod) const { return rod_tension_[static_cast<std::size_t>(rod)]; }
  // The effort λ · coefficient acts at the hinges of a coupling.
  double coupling_multiplier(int coupling) const {
    return coupling_multiplier_[static_cast<std::size_t>(coupling)];
  }
  // True where redundant constraints leave these undetermined.
  bool undetermined_rod(int rod) const { return rod_open_[static_cast<std::size_t>(rod)] != 0; }
  bool undetermined_coupling(int coupling) const {
    return coupling_open_[static_cast<std::size_t>(coupling)] != 0;
  }

  // The wrench through the hinge or weld that holds a body on its inboard side, on that body, in
  // the frame of its node (ground: the ground's) at the node's origin.
  const Wrenchd& on_body(int body) const { return force_[static_cast<std::size_t>(body)]; }
  // That hinge or weld.
  int inboard_hinge(int body) const { return inboard_hinge_[static_cast<std::size_t>(body)]; }

 private:
  void add_loads(std::span<const ExternalWrench> external, const Workspace& workspace);
  void add_springs(const Workspace& workspace);
  void add_rotors(const State& state, const Eigen::VectorXd& acceleration,
                  const Workspace& workspace);
  void add_deformation(const Eigen::VectorXd& acceleration, const Workspace& workspace);
  void gather(const State& state, const Eigen::VectorXd& acceleration, Workspace& workspace,
              std::span<const ExternalWrench> external);
  void add_to_body(int body, const Wrenchd& needed);
  void place_nodes(Workspace& workspace);
  void start_bodies(const Workspace& workspace);
  void sweep_bodies(const Workspace& workspace, std::vector<Wrenchd>& force) const;
  void add_closures(const State& state, const Eigen::VectorXd& open, const Workspace& workspace);
  void apply_closure(const Closure& closure, const Wrenchd& on_child, const Workspace& workspace,
                     std::vector<Wrenchd>& force) const;
  // Of the wrench through a hinge that bodies with these forces have.
  Wrenchd wrench_on_child(int hinge, const std::vector<Wrenchd>& force,
                          const std::vector<Wrenchd>& cuts, ForceAxes axes) const;
  Transformd hinge_axes(int hinge, ForceAxes axes) const;
  HingeMatrix cut_map(int hinge, ForceAxes axes) const;
  bool closes_welds(int hinge) const;

  const Mechanism* mechanism_;
  const Workspace* workspace_ = nullptr;  // of the last collect()
  std::vector<int> inboard_hinge_;        // by body
  std::vector<int> inboard_body_;         // −1: the world
  std::vector<int> order_;                // bodies, inboard first
  std::vector<int> carrier_body_;         // by drive
  std::vector<SpatialInertiad> inertia_;  // of a body in its node's frame
  std::vector<Wrenchd> force_;            // by body
  std::vector<Wrenchd> cut_force_;        // by hinge: on the child's side of a cut, in its frame
  std::vector<double> rod_tension_;
  std::vector<double> coupling_multiplier_;
  std::vector<char> rod_open_, coupling_open_;
  struct SelfStress {
    std::vector<Wrenchd> force;  // as force_
    std::vector<Wrenchd> cuts;   // as cut_force_
  };
  std::vector<SelfStress> self_stress_;
  double unreached_ = 0.0;  // self-stress below this is rounding
};

// Armstrong's form of the force at the hinge of a node [D'Eleuterio & Damaren 1991]: with A the
// acceleration of the node (less gravity) in the node's frame,
//
//   f_□ = Φ Qᵀ A + φ,    Φ = P_QQ − P_PQᵀ D⁻¹ P_PQ = (Qᵀ P⁻¹ Q)⁻¹,
//                        φ = Qᵀ z + P_PQᵀ D⁻¹ (τ − Hᵀ z)
//
// where P and z are articulated inertia and residual force, τ the effort that the hinge transmits.
// After forward (recursive route) or hybrid dynamics; after hybrid dynamics P is that with the
// motion-driven freedoms held. For output: the sweeps do not go through Φ, which loses accuracy
// when outboard bodies are heavy.
struct ArmstrongForm {
  HingeMatrix free_map;          // H
  HingeMatrix constraint_map;    // Q
  HingeSquare inertia;           // Φ
  HingeVector residual;          // φ
  HingeVector acceleration;      // Qᵀ A
  HingeVector constraint_force;  // f_□
};
ArmstrongForm armstrong_form(const Workspace& workspace, int node);
ArmstrongForm armstrong_form(const Workspace& workspace, int node,
                             const HingeMatrix& constraint_map);

// The wrench on the node through its hinge, in its frame: P A + z, after forward or hybrid
// dynamics. (After inverse dynamics it is workspace.node(n).force.)
Wrenchd interbody_force_after_forward(const Workspace& workspace, int node);

}  // namespace catena
