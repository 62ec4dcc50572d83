// SPDX-License-Identifier: BSD-3-Clause
// One closed loop in motion: its closed positions, the continuation from there, and its branches.
//
// A position of the loop is a vector x with one number for each freedom (loop_positions.h),
// dependent entries first. Newton's method closes the loop for given independent entries; it starts
// from the tangent at the anchor, the position that was accepted last. The predictor is necessary:
// started from the last evaluation instead, Newton's method leaves the branch where a mechanism
// passes a singular position.
//
// A mechanism that passes close by a singular position, and not through it, turns there within a
// short way: the branches do not meet. From afar Newton's method would find the other branch, where
// the determinant of the dependent columns has the other sign. After a change of sign the positions
// between are examined. If the branches do not meet there, the step is refused and a shorter one is
// tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/chart.h"
#include "catena/closure/loop_closure.h"
#include "catena/dynamics/embedding.h"
#include "catena/simulation/coordinates/instant.h"
#include "catena/simulation/coordinates/loop_positions.h"

namespace catena {

class ClosedLoop {
 public:
  // Loop number `loop` with these independent freedoms, rotations counted from q. Mechanism and
  // tables must outlive it.
  ClosedLoop(const Mechanism& mechanism, int loop, const LoopChart& chart,
             const Eigen::VectorXd& q);

  const LoopClosure& closure() const { return closure_; }
  const LoopPositions& positions() const { return positions_; }
  const std::vector<int>& rows() const { return rows_; }  // of the closure that the chart uses
  const std::vector<int>& columns() const { return columns_; }
  const Eigen::VectorXd& unit() const { return unit_; }  // comparable steps of the columns
  Eigen::Index rank() const { return static_cast<Eigen::Index>(rows_.size()); }
  Eigen::Index independents() const { return positions_.size() - rank(); }

  // Continuation of the loop from a position.
  struct Tangent {
    Eigen::MatrixXd map{};   // of the independent x: dependent by independent
    Eigen::MatrixXd lead{};  // ẋ by v of independent freedoms; of loops with quaternions, else 1
    double clearance = 1.0;  // ratio of the pivots of the dependent block (singular_passage.h)
    int side = 0;            // sign of its determinant; 0: singular, or nothing depends
  };
  // Without lead.
  Tangent map_at(const Eigen::VectorXd& q) const;
  // Clearance and side alone, of a loop without quaternions, from the pivots by which the dynamics
  // found X (dynamics/embedding.h): those of map_at(). A loop whose X is constant is clear.
  Tangent from_pivots(const LoopPivots& pivots) const;
  // Of an instant, interpolated if that is.
  Tangent tangent_at(const Instant& instant) const;
  // Velocities of the dependent freedoms from those of the independent ones: X v.
  void dependent_velocities(const Eigen::VectorXd& q, const Tangent& tangent,
                            const Eigen::VectorXd& v, Eigen::VectorXd& dependent) const;

  // ---- The anchor. ----
  struct Anchor {
    Eigen::VectorXd q{};  // of the whole mechanism
    Eigen::VectorXd x{};
    Tangent tangent{};
    // Whether the branches are known to meet beside it: they are not examined again.
    bool crossed = false;
  };
  const Anchor& anchor() const { return anchor_; }
  void set_anchor(const Instant& instant);
  // Counts rotations from q.
  void refer_to(const Eigen::VectorXd& q) { positions_.refer_to(q); }
  bool is_far_from_reference(const Eigen::VectorXd& q) const;

  // ---- Closing: the dependent entries of x from the independent ones. All leave q there. ----
  // From the anchor; throws NumericalError if Newton's method fails.
  void close(Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // Within a step. False: another branch is so near that it may have been found.
  using Way = std::vector<StepSpan::Waypoint>;
  bool close_inside(Way& way, double s, double duration, Eigen::VectorXd& x,
                    Eigen::VectorXd& q) const;
  // The ends of a step that begins at the anchor with velocities `v` of the independent freedoms.
  Way way_to(const Eigen::VectorXd& v, const Instant& end) const;
  // Throws NumericalError if x, on this side, is on another branch that does not meet the anchor's.
  void refuse_other_branch(const Eigen::VectorXd& x, int side);
  // Distance of a nearly singular position from a singular one: the residual in the directions that
  // no motion of the dependent entries changes, after it was brought to zero in all others. There
  // are at least `folded` such directions, mostly one; where the two rhombs of an inversor fold
  // together there are two.
  double distance_of_branches(int folded, Eigen::VectorXd& x, Eigen::VectorXd& q) const;

  // For messages about a loop whose redundant constraints disagree: the reason, or empty.
  std::string disagreement() const;

 private:
  // Result of Newton's method.
  struct Settled {
    double contraction = 0.0;  // its second step over the first
    double clearance = 1.0;
  };
  Settled settle(Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // From a prediction; returns the clearance. None: another branch is so near that it may have been
  // found.
  std::optional<double> settle_safely(Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // From the anchor along a straight line of the independent entries, in steps as short as
  // necessary. False: they would be too short.
  bool follow(Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // The nearest closed position, with all entries free.
  void close_nearest(Eigen::VectorXd& q) const;
  // Whether the branches meet between the anchor and a position on the other side.
  bool meets(const Eigen::VectorXd& there) const;
  // Dependent entries from the waypoints before and behind, for independent ones that are off the
  // cubic by little.
  static void predict_inside(const Way& way, double s, double duration, Eigen::VectorXd& x);
  // One more waypoint near s; false: there is none to be found.
  bool add_waypoint(Way& way, double s, double duration) const;
  // Of a loop with quaternions: v of all columns by ẋ of the independent ones.
  Eigen::MatrixXd velocities_at(const Eigen::VectorXd& q, const Eigen::MatrixXd& map) const;
  // Of rows by x: those that the chart uses, and `count` columns in its order.
  Eigen::MatrixXd part(const Eigen::MatrixXd& m, Eigen::Index first, Eigen::Index count) const;

  LoopClosure closure_;
  std::vector<int> columns_;  // dependent, then independent
  LoopPositions positions_;   // of these
  std::vector<int> rows_;
  Eigen::VectorXd unit_;
  int row_parity_ = 1;           // of the chart's order of rows, which the pivots refer to
  double good_clearance_ = 1.0;  // of a loop of this size in a good position
  Anchor anchor_;
};

}  // namespace catena
