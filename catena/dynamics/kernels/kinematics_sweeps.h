// SPDX-License-Identifier: BSD-3-Clause
// Kinematics of the spanning tree: positions and velocities of all nodes, one sweep outward.
//
//   X_ground_node = X_ground_parent X_parent_node,   V = Ad⁻¹ V_parent + H v
//
// Poses are in the ground frame, twists in the node's. Cost: O(N). [Featherstone 2008, ch. 4]
#pragma once

#include "catena/dynamics/kernels/hinge_kinds.h"
#include "catena/dynamics/kernels/sweep.h"

namespace catena {
inline namespace CATENA_ISA {

// Poses in the ground frame; twists too if v is given.
template <class Scalar>
void kinematics_sweep(const Sweep<Scalar>& s) {
  sines_of_angles(s.model, s.in.q, s.scratch);
  for (int n = 0; n < s.model.node_count; ++n) {
    const Node& node = s.node(n);
    NodeScratch<Scalar>& w = s.at(n);
    with_hinge(s.hinge_kind(n), [&](auto hinge) {
      hinge.place(s, n);
      if (s.in.v != nullptr) hinge.turn(s, n);
    });
    w.pose = node.parent < 0 ? w.to_parent : s.at(node.parent).pose * w.to_parent;
  }
}

// The same, and nothing else kept: pose and (kMoving) twist of node n go to motion[n]; then
// leave(n) is called.
template <class Scalar>
struct NodePose {
  Transform<Scalar> pose;
};
template <class Scalar>
struct NodeMotion {
  Transform<Scalar> pose;
  Twist<Scalar> twist;
};
template <bool kMoving, class Scalar, class Motion, class Leave>
void motion_sweep(const Sweep<Scalar>& sweep, Motion* motion, Leave leave) {
  const Scratch<Scalar>& s = sweep.scratch;
  const Scalar* q = sweep.in.q;
  const Scalar* v = sweep.in.v;
  sines_of_angles(sweep.model, q, s);
  for (int n = 0; n < sweep.model.node_count; ++n, leave(n - 1)) {
    const Node& node = sweep.node(n);
    Motion& __restrict own = motion[n];
    if (node.hinge == NodeHinge::revolute && node.parent >= 0) {  // most of them
      const Motion& __restrict parent = motion[node.parent];
      const SinCos<Scalar> t{s.sine[node.q_index], s.cosine[node.q_index]};
      const Vec3<Scalar> p = load_vec3<Scalar>(node.translation);
      turn_about_z(parent.pose.rotation, node.rotation, t, own.pose.rotation);
      own.pose.translation = parent.pose * p;
      if constexpr (kMoving) {
        const Twist<Scalar>& carried = parent.twist;
        own.twist.angular = turn_back_about_z(node.rotation, t, carried.angular);
        own.twist.angular.z = own.twist.angular.z + v[node.v_index];
        own.twist.linear =
            turn_back_about_z(node.rotation, t, carried.linear - cross(p, carried.angular));
      }
      continue;
    }
    Transform<Scalar> x;
    Twist<Scalar> relative = Twist<Scalar>::zero();
    if (!is_about_or_along_z(node)) {
      GeneralNode::place(sweep, n);
      x = s.nodes[n].to_parent;
      relative = s.nodes[n].twist;
    } else if (node.hinge == NodeHinge::revolute) {
      place_revolute(node, s, x);
      if constexpr (kMoving) relative.angular.z = v[node.v_index];
    } else {
      place_prismatic(node, q[node.q_index], x);
      if constexpr (kMoving) relative.linear.z = v[node.v_index];
    }
    if (node.parent < 0) {
      own.pose = x;
      if constexpr (kMoving) own.twist = relative;
    } else {
      const Motion& parent = motion[node.parent];
      own.pose = parent.pose * x;
      if constexpr (kMoving) own.twist = Ad_inverse(x, parent.twist) + relative;
    }
  }
}

}  // namespace CATENA_ISA
}  // namespace catena
