// Closure of one loop: how far its cut hinges, rods and couplings are from being satisfied, and
// how that changes when the nodes of the loop move.
//
// A cut hinge keeps its own coordinates: they are unknowns beside those of the tree. With X the
// displacement of the child-side frame from the parent-side frame through the tree and J(q) the
// hinge's own displacement, the residual is log(J(q)⁻¹ X), six rows for every type of hinge,
// user-defined ones included. A hinge of f freedoms so adds f unknowns and six rows instead of
// 6 − f rows; rank and mobility come out the same (H(q) has full rank):
//
//   mobility  = unknowns − rank,     redundant = rows − rank.
//
// Everything is relative to the one node that the loop hangs on, which may be taken at rest (Jain,
// "Recursive Algorithms Using Local Constraint Embedding", DETC2009-87663, section 5.3).
// Angles are in radians; lengths are divided by a length of the loop, so that the rows compare.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/model/builder.h"

namespace catena {

// A position of a loop: the mechanism's q, and the coordinates of each cut hinge.
struct LoopPosition {
  Eigen::VectorXd q;
  std::vector<Eigen::VectorXd> cuts;
};

struct ClosureEquations {
  Eigen::VectorXd residual;
  Eigen::MatrixXd jacobian;  // rows by unknowns: freedoms of the loop's nodes, then of its cuts
};

class LoopClosure {
 public:
  // The mechanism must outlive it.
  LoopClosure(const Mechanism& mechanism, const LoopPlace& loop);

  int rows() const { return rows_; }
  int unknowns() const { return tree_freedoms_ + cut_freedoms_; }
  int tree_freedoms() const { return tree_freedoms_; }
  int cut_freedoms() const { return cut_freedoms_; }
  double length() const { return length_; }
  // Only linear couplings: the equations are the same in every position.
  bool constant() const { return constant_; }

  // q with the cut hinges' coordinates fitted to it as well as they can be.
  LoopPosition position(const Eigen::VectorXd& q) const;
  ClosureEquations equations(const LoopPosition& at) const;
  LoopPosition moved(const LoopPosition& from, const Eigen::VectorXd& step) const;

  // 1 for a freedom that turns, length() for one that only shifts: comparable steps.
  Eigen::VectorXd unit_steps(const LoopPosition& at) const;

  // The worst of a residual in words: "hinge 'C' is open by 0.01 m and 0.2 rad".
  std::string worst(const Eigen::VectorXd& residual) const;

 private:
  struct LocalNode {
    int node = -1;
    int parent = -1;  // among the local nodes; −1: what the loop hangs on
    int column = 0;
  };
  // A frame or point on a local node (−1: what the loop hangs on).
  struct Side {
    int local = -1;
    Transformd pose;
  };
  struct CutHinge {
    std::string name;
    Side parent;
    Side child;
    Mechanism alone;  // the hinge between the world and one body, to evaluate it
    std::vector<double> guess;
    int column = 0;
  };
  struct RodEquation {
    std::string name;
    Side a;
    Side b;
    double length = 0.0;
  };
  struct CouplingEquation {
    const Coupling* coupling = nullptr;
    std::vector<int> coordinates;  // indices into q
    std::vector<int> columns;
  };
  struct Motion {
    Transformd pose;
    Twistd columns[kMaxFreedoms];  // at the loop's origin and in its axes
  };

  Side side(int body, const Transformd& pose_on_body) const;
  std::vector<Motion> motions(const Eigen::VectorXd& q) const;
  Transformd pose_of(const std::vector<Motion>& motions, const Side& side) const;
  // take(column, twist) for every freedom between the loop's origin and the side.
  template <class Take>
  void add_path(const std::vector<Motion>& motions, const Side& side, Take take) const;
  Eigen::VectorXd fitted(const CutHinge& cut, const Transformd& displacement) const;
  Eigen::Matrix<double, 6, 1> cut_residual(const CutHinge& cut, const Transformd& displacement,
                                           const Eigen::VectorXd& q,
                                           Eigen::MatrixXd* own_columns) const;

  const Mechanism& mechanism_;
  std::vector<LocalNode> nodes_;
  std::vector<int> sorted_nodes_;  // the numbers of nodes_, to search in
  std::vector<CutHinge> cuts_;
  std::vector<RodEquation> rods_;
  std::vector<CouplingEquation> couplings_;
  int rows_ = 0;
  int tree_freedoms_ = 0;
  int cut_freedoms_ = 0;
  double length_ = 1.0;
  bool constant_ = true;
};

}  // namespace catena
