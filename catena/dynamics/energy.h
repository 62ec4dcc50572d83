// SPDX-License-Identifier: BSD-3-Clause
// Kinetic and potential energy, by code that shares nothing with the sweeps, so that it can audit
// them: no nodes, no re-based frames, no twists, no spatial inertias.
//
//   const Energy e = energy(robot, state);
//   e.kinetic, e.gravity, e.springs(), e.total()                  // J
//
// It walks over the user's description, O(bodies). The frame on one side of a hinge is carried to
// the other side by the turns and shifts that the type of the hinge means (table in hinge.h), with
// its velocity, and each body then has
//   kinetic  ½ m |v_c|² + ½ ω · I_c ω       gravity  −m g · c
// (c the mass centre, I_c the inertia about it). A drive's rotor, of inertia J and ratio n about
// the axis u of its carrier, adds ½ J (n v + u·ω)² − ½ J (u·ω)² (½ J n² v² if armature_only). The
// springs of the hinges have ½ k (q − rest)², those between points ½ k (length − rest length)².
//
// Bodies fixed to the ground count in the gravity part, as a constant. Of a closed mechanism the
// walk follows the spanning tree, so the state must satisfy the loops.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/model/mechanism.h"

namespace catena {

struct Energy {
  double kinetic = 0.0;
  double gravity = 0.0;  // zero with every mass centre in the plane through the ground's origin
  double hinge_springs = 0.0;
  double point_springs = 0.0;
  double elastic = 0.0;  // of flexible bodies

  double springs() const { return hinge_springs + point_springs; }
  double potential() const { return gravity + springs() + elastic; }
  double total() const { return kinetic + potential(); }
};

// Pose and motion of a frame in another, in the axes of that other one.
struct FrameMotion {
  Rotationd rotation;
  Vec3d position;
  Vec3d angular_velocity;
  Vec3d velocity;  // of the frame's origin
};

// Measures the energy of any number of states of one mechanism, which must outlive it; no heap
// after it exists. O(N) each.
class EnergyMeter {
 public:
  explicit EnergyMeter(const Mechanism& mechanism);

  Energy measure(const State& state);
  // At rest.
  Energy measure(const Eigen::VectorXd& q);

  // The motion of a body's frame in the ground frame, at the last state measured.
  const FrameMotion& motion(int body) const;

 private:
  struct Step {  // how one more body is reached
    int hinge;
    int from;
    int to;
    bool inverse;          // from the hinge's child to its parent
    FrameMotion constant;  // of a weld
  };
  struct End {  // of a spring
    int body;
    Vec3d point;
  };
  struct Rotor {
    int hinge;
    int carrier;
    Vec3d axis;  // in the carrier's frame
  };
  Energy run(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  void walk(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  FrameMotion attachment_motion_of(const Hinge& hinge, const HingePlace& place,
                                   const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  void add_flexible(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Energy& energy) const;
  double rotor_energy(const Rotor& rotor, const Eigen::VectorXd& v) const;
  Vec3d position_of(const End& end) const;

  const Mechanism* mechanism_;
  std::vector<Step> steps_;
  std::vector<FrameMotion> motions_;  // by body
  std::vector<SymMat3d> inertias_;    // by body: about its mass centre, in the body's axes
  std::vector<Rotor> rotors_;
  std::vector<End> spring_ends_;  // two for each spring
  Eigen::VectorXd at_rest_;
  std::vector<double> shapes_, rates_;  // of the attachment with most modes
  std::vector<Twistd> columns_;
};

Energy energy(const Mechanism& mechanism, const State& state);
double kinetic_energy(const Mechanism& mechanism, const State& state);
double potential_energy(const Mechanism& mechanism, const Eigen::VectorXd& q);

}  // namespace catena
