// SPDX-License-Identifier: BSD-3-Clause
// The configuration manifold: q ⊕ δ and q₂ ⊖ q₁. Positions are points of a manifold, not vectors,
// as soon as a rotation is a quaternion: integrate() and difference() are the only ways to add and
// subtract them. Both work on the Lie group of each hinge (SO(3) for a ball, SE(3) for a free
// body), where δ, one number for each degree of freedom, is a displacement in the frame of the
// child:
//
//   const Eigen::VectorXd next = integrate(robot, q, h * v);      // exact for constant v
//   const Eigen::VectorXd v = difference(robot, q, next) / h;     // and back
//
// For all other joints they are sums and differences. O(N).
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "catena/model/mechanism.h"

namespace catena {

// All coordinates zero, quaternions the identity.
Eigen::VectorXd zero_position(const Mechanism& mechanism);

// The position reached from q after unit time at constant v: q ⊕ v. Scale v by a time step.
Eigen::VectorXd integrate(const Mechanism& mechanism, const Eigen::VectorXd& q,
                          const Eigen::VectorXd& v);

// The same for one node's own coordinates, in place.
void integrate_node(const Node& node, const double* v, double* q);
// And its coordinates' rates.
void node_position_rate(const Node& node, const double* q, const double* v, double* rate);

// The v that leads from q1 to q2 in unit time: integrate(q1, difference(q1, q2)) = q2. Rotations
// take the short way round.
Eigen::VectorXd difference(const Mechanism& mechanism, const Eigen::VectorXd& q1,
                           const Eigen::VectorXd& q2);

// q̇ of all coordinates at velocity v (quaternion rates included).
Eigen::VectorXd position_rate(const Mechanism& mechanism, const Eigen::VectorXd& q,
                              const Eigen::VectorXd& v);

// Scales every quaternion of q to length one; returns the largest | |quaternion| − 1 | found.
// Throws NumericalError, naming the hinge, for a quaternion of length zero or NaN.
double normalize_quaternions(const Mechanism& mechanism, Eigen::VectorXd& q);
void normalize_quaternion(double* q);

// A position with every coordinate in [−1, 1] (within its limits) and random rotations; the same
// seed gives the same position on every machine.
Eigen::VectorXd random_position(const Mechanism& mechanism, std::uint64_t seed);
Eigen::VectorXd random_vector(int size, std::uint64_t seed);

}  // namespace catena
