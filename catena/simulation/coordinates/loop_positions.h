// SPDX-License-Identifier: BSD-3-Clause
// The position of a loop as a vector x, one number for each of its freedoms in the order of a
// chart's columns (dependent, then independent): so it can be predicted, interpolated and polished
// freedom by freedom.
//
// A freedom with a coordinate of its own has that. A rotation by quaternion is counted from a
// reference by its rotation vector θ, and the shift of a free hinge in the reference's axes:
//
//   q = q_reference exp(θ/2),           θ̇ = G(θ) ω,   G = 1 + ½ [θ] + c [θ]²,   c = 1/12 + ...
//   ρ = R_referenceᵀ (r − r_reference), ρ̇ = R_referenceᵀ R u.
//
// Near the reference ẋ is near v, and the numbers of independent freedoms are independent. (Where
// motions are differentiated, trajectory/local_coordinates.h, G is a polynomial. Here the spin of a
// rod between two ball joints counts, which moves nothing else: its θ is linear in time.)
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/closure/loop_closure.h"
#include "catena/model/mechanism.h"

namespace catena {

class LoopPositions {
 public:
  // `columns` of the loop in the order of x. The mechanism must outlive it.
  LoopPositions(const Mechanism& mechanism, const LoopClosure& loop,
                const std::vector<int>& columns, const Eigen::VectorXd& reference);

  // Whether rotations by quaternion are among them; if not, ẋ = v.
  bool has_turns() const { return !turns_.empty(); }
  // The coordinate of entry k in q; −1: it has none of its own.
  int coordinate(Eigen::Index k) const { return coordinates_[static_cast<std::size_t>(k)]; }
  int freedom(Eigen::Index k) const { return freedoms_[static_cast<std::size_t>(k)]; }
  // The coordinates in q of rotations by quaternion, and of the other coordinates of their hinges.
  std::vector<int> turned_coordinates() const;
  Eigen::Index size() const { return static_cast<Eigen::Index>(coordinates_.size()); }

  Eigen::VectorXd of(const Eigen::VectorXd& q) const;
  void put(const Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  Eigen::VectorXd rates(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  // Rows by the loop's freedoms, in the loop's own order, become rows by x.
  void differentiate(const Eigen::VectorXd& q, Eigen::MatrixXd& rows) const;
  // Columns of ẋ become columns of v, both in the order of x.
  void to_velocities(const Eigen::VectorXd& q, Eigen::MatrixXd& columns) const;

  void refer_to(const Eigen::VectorXd& q);
  // The largest turn from the reference.
  double largest_turn(const Eigen::VectorXd& x) const;

 private:
  struct Turn {
    const Node* node;
    int column[6];          // in the loop's own order
    Eigen::Index place[6];  // in x
  };

  std::vector<int> coordinates_, freedoms_;
  std::vector<Turn> turns_;
  Eigen::VectorXd reference_;
};

}  // namespace catena
