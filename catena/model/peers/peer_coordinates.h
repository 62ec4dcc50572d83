// SPDX-License-Identifier: BSD-3-Clause
// Coordinates of other libraries: q, v, v̇ and efforts in the orders and frames of Pinocchio, Drake
// and MuJoCo, and back (docs/notation.md, section 5).
//
//   const PeerCoordinates peer(robot, PeerLibrary::pinocchio, {{"root_joint"}, {"hip"}, {"knee"}});
//   const Eigen::VectorXd q = peer.position_from_peer(pinocchio_q);
//
// With v_peer = J(q) v hinge by hinge: effort = Jᵀ effort_peer, so that power is the same number,
// and v̇_peer = J v̇ + J̇ v. Hinges are matched by name, never by place: each library numbers them in
// its own way, and the caller gives the order. Those libraries need not be installed.
//
//   hinge              Pinocchio                  Drake                    MuJoCo
//   free, q            position, quaternion xyzw  quaternion, position     position, quaternion
//   free, v            linear, angular; body      angular, linear; world   linear world, ang. body
//   spherical, q       quaternion xyzw            roll, pitch, yaw         quaternion
//   spherical, v       ω, child frame             ω, parent frame          ω, child frame
//   planar, q          x, y, cos, sin             x, y, angle              x, y, angle
//   planar, v          linear in the child frame  their rates              their rates
//   revolute           angle, or cos, sin         angle                    angle
//
// All others have plain coordinates with v = q̇, in our order. Quaternions are (w, x, y, z) unless
// the table says otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/model/mechanism.h"

namespace catena {

enum class PeerLibrary { pinocchio, drake, mujoco };

// One joint of the other library.
struct PeerHinge {
  // A hinge, or one of its coordinates ("wrist.x") where the other library has a joint for each.
  std::string name{};
  std::optional<int> q_index = {};  // of its first coordinate; none: right after the joint before
  std::optional<int> v_index = {};
  // 2 for a revolute hinge by cosine and sine (Pinocchio's unbounded joints), 1 for one by its
  // angle; 0: as Pinocchio's reader of URDF does, cosine and sine if there are no limits.
  int coordinates = 0;
};

class PeerCoordinates {
 public:
  // `order` names the joints in the other library's order; empty: all of ours, in our order. Every
  // hinge of the mechanism that has coordinates must be there. Throws NameError or ModelError. The
  // mechanism must outlive it.
  PeerCoordinates(const Mechanism& mechanism, PeerLibrary library,
                  std::vector<PeerHinge> order = {});

  // Lengths of q and v there.
  int coordinates() const { return coordinates_; }
  int freedoms() const { return freedoms_; }

  Eigen::VectorXd position_to_peer(const Eigen::VectorXd& q) const;
  Eigen::VectorXd position_from_peer(const Eigen::VectorXd& peer_q) const;

  // At our position q.
  Eigen::VectorXd velocity_to_peer(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  Eigen::VectorXd velocity_from_peer(const Eigen::VectorXd& q, const Eigen::VectorXd& peer_v) const;
  Eigen::VectorXd effort_to_peer(const Eigen::VectorXd& q, const Eigen::VectorXd& effort) const;
  Eigen::VectorXd effort_from_peer(const Eigen::VectorXd& q,
                                   const Eigen::VectorXd& peer_effort) const;
  // At our state.
  Eigen::VectorXd acceleration_to_peer(const State& state,
                                       const Eigen::VectorXd& acceleration) const;
  Eigen::VectorXd acceleration_from_peer(const State& state,
                                         const Eigen::VectorXd& peer_acceleration) const;

  // J of v_peer = J v, freedoms by freedoms: mass_matrix = Jᵀ mass_matrix_peer J.
  Eigen::MatrixXd velocity_map(const Eigen::VectorXd& q) const;

  State to_peer(const State& state) const;
  State from_peer(const State& peer) const;

 private:
  enum class Kind { plain, cosine_sine, free, spherical, planar };
  struct Joint {
    Kind kind = Kind::plain;
    int q = 0, v = 0;            // ours
    int peer_q = 0, peer_v = 0;  // theirs
    int coordinates = 1;         // ours
    int freedoms = 1;
    int peer_coordinates = 1;
  };
  Joint joint_for(const PeerHinge& hinge, std::vector<int>& covered) const;
  // The block of J of a joint, and J̇ v.
  Eigen::MatrixXd block(const Joint& joint, const Eigen::VectorXd& q) const;
  Eigen::VectorXd block_bias(const Joint& joint, const State& state) const;

  const Mechanism* mechanism_;
  PeerLibrary library_;
  std::vector<Joint> joints_;
  int coordinates_ = 0;
  int freedoms_ = 0;
};

}  // namespace catena
