// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; constraints/chains_on_body.h needs it.
//
// Forward dynamics of a closed mechanism by multipliers: the spanning tree with its loops open, and
// the forces that keep them closed (spatial operator algebra, steps A to F; Nikravesh's joint
// coordinates with cut joints). The other road, constraint embedding, is aggregate.h.
//
// The rows are those of closure/rows.h with the scales of LoopClosure (angles in radians, lengths
// as fractions of the loop's length, couplings by their gradient), so multipliers mean the same as
// everywhere: the tree moves by M v̇ + C = effort + Yᵀ λ. Other constraints
// (constraints/constraint_set.h) may be added to the same set; their owner fills in their rows when
// asked.
//
// Cost: forward dynamics of the tree, one sweep along the way from each closure to the ground, one
// outward sweep, and the cube of the number of rows. Accurate to rounding times the condition of
// J M⁻¹ Jᵀ, improved by steps of refinement where that pays. Near singular positions the embedding
// keeps more digits, for it does not square the condition of J.
//
// Which rows of a loop count is decided in one place for both roads, the chart (closure/chart.h),
// with a tolerance that knows of files with few digits: rows that are redundant but for the
// rounding of the numbers in a file are left out here as there. The motion is that of the kept
// rows, to all digits; multipliers of least norm are found afterwards and do the same only as well
// as the file's digits allow.
//
// A cut hinge that keeps its coordinates (topology.h) moves a node without inertia that a closure
// welds to its child. Here the two halves of that weld share the child's inertia, which changes no
// motion and gives both a mass.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "catena/closure/aggregate_tables.h"
#include "catena/dynamics/loads.h"
#include "catena/dynamics/multipliers/tree_constraints.h"

namespace catena {

// A frame on a node; −1: on the ground.
struct NodeFrame {
  int node = -1;
  Transformd pose;  // X_node_frame
};

class MultiplierDynamics {
 public:
  explicit MultiplierDynamics(const Mechanism& mechanism);
  MultiplierDynamics(const MultiplierDynamics&) = delete;
  MultiplierDynamics& operator=(const MultiplierDynamics&) = delete;

  const Mechanism& mechanism() const { return *mechanism_; }
  // The mechanism's own closures come first, in the order of the tables: constraint i is closure i.
  TreeConstraints& constraints() { return constraints_; }
  const TreeConstraints& constraints() const { return constraints_; }
  const AggregateTables& tables() const { return tables_; }
  int closures() const { return static_cast<int>(tables_.closures.size()); }

  // ---- Other constraints. ----
  // A pair that holds two frames together (closure/pair.h), not active yet. Rows
  // that measure lengths are divided by `length`. Returns the number of the constraint.
  int add_pair(const Closure& rows, const NodeFrame& parent, const NodeFrame& child, double length);
  NodeFrame& parent_frame(int constraint) { return place(constraint).parent; }
  NodeFrame& child_frame(int constraint) { return place(constraint).child; }
  const NodeFrame& child_frame(int constraint) const { return place(constraint).child; }
  // Callbacks for constraints that were added to constraints(): the first sets their rows (poses,
  // twists and accelerations of the unconstrained tree are in the workspace), the second their
  // residuals at a position.
  using Owner = std::function<void(const State& state, const Workspace& workspace)>;
  using PositionOwner = std::function<void(const State& state, const Workspace& workspace,
                                           Eigen::VectorXd& residual)>;
  void set_owner(Owner rows, PositionOwner positions);

  // The accelerations that these efforts produce, all freedoms. They live in the workspace.
  const Eigen::VectorXd& forward(const State& state, const Eigen::VectorXd& effort,
                                 Workspace& workspace,
                                 std::span<const ExternalWrench> external = {});
  // Of the last forward() or impulse(), by active row: those of least norm, and those of the kept
  // rows alone that were applied.
  const Eigen::VectorXd& multipliers() const { return multipliers_; }
  // Others in their place, as many, and the rows as they are at this state: what was found by
  // interpolation.
  void take_interpolated(const State& state, const Eigen::VectorXd& multipliers,
                         Workspace& workspace);
  const Eigen::VectorXd& applied_multipliers() const { return applied_; }
  // What the rows would have without multipliers: J v̇ + bias, or J v − target. As above.
  const Eigen::VectorXd& right_side() const { return right_; }
  // What is left of J v̇ + bias, largest entry; and in the rows that were left out.
  double residual() const { return residual_; }
  double left_out_residual() const { return left_out_residual_; }
  // Constraints that contradict each other: the smallest set of rows found (the one that the others
  // contradict last), and by how much they do; empty: none. After forward() or impulse().
  struct Conflict {
    std::vector<int> rows;
    double miss = 0.0;
  };
  Conflict conflict() const;

  // A motion begins here, or goes on from what was saved: rows are chosen for this position.
  void begin(const Eigen::VectorXd& q, Workspace& workspace);

  // Where the rank falls below the generic one (mobility.h) the accelerations of the multipliers
  // are not those of the motion: throws NumericalError there. After forward() with the loops alone;
  // finds the generic rank once, near that position.
  void refuse_singular(const Eigen::VectorXd& q);

  // The jump of the velocities that brings the active rows to their target velocities at once;
  // multipliers() are then impulses.
  Eigen::VectorXd impulse(const State& state, Workspace& workspace);

  // Positions and velocities moved onto the active constraints, the least way as the inertia
  // measures it. Returns what positions are left open by, largest row of those that count.
  double close_with_rows(State& state, Workspace& workspace);
  // After it, at the same position: looks whether the choice of rows has become poor, and makes
  // another.
  void renew_rows(const Eigen::VectorXd& q, Workspace& workspace);
  double close(State& state, Workspace& workspace) {
    const double open = close_with_rows(state, workspace);
    renew_rows(state.q, workspace);
    return open;
  }
  // How far from a singular position the last factorization was: TreeConstraints::smallest_sine(),
  // zero where the rank is less than it was with the same rows. 1 if the set is not ideal.
  double smallest_sine();
  // What the rows that count are open by in those directions that hardly any motion changes (sines
  // below `weak`), after they were closed in all others.
  double gap_across(State state, Workspace& workspace, double weak);
  // The residual of the positions, by active row.
  const Eigen::VectorXd& gap(const State& state, Workspace& workspace);

  // M v̇ + C − effort − Zᵀ λ by inverse dynamics of the tree, O(N), with the rows at the state: what
  // a solver of differential-algebraic equations drives to zero. Passive elements included.
  void equation_residual(const State& state, const Eigen::VectorXd& effort,
                         const Eigen::VectorXd& acceleration, const Eigen::VectorXd& multipliers,
                         Workspace& workspace, std::span<const ExternalWrench> external,
                         Eigen::VectorXd& residual);
  // Jᵀ λ, after equation_residual() at the same state.
  void transposed(const Eigen::VectorXd& multipliers, Workspace& workspace,
                  Eigen::VectorXd& effort);

  // Rows and J M⁻¹ Zᵀ at a position, without loads.
  void factor_at(const State& state, Workspace& workspace);

  // ---- For problems with inequalities: rows, columns and J M⁻¹ Zᵀ, nothing solved. ----
  // The accelerations of the tree without multipliers; right_side() is J v̇ + bias of them.
  const Eigen::VectorXd& free_motion(const State& state, const Eigen::VectorXd& effort,
                                     Workspace& workspace,
                                     std::span<const ExternalWrench> external = {});
  // Without loads, and right_side() = J v − target.
  void form_at(const State& state, Workspace& workspace);
  // J v − target by active row, and the residual of the positions (gap()) if asked for. O(N).
  void measure_rows(const State& state, Workspace& workspace, Eigen::VectorXd& velocities,
                    Eigen::VectorXd* gaps = nullptr);

  // What a pair exerts on its child's side with the last multipliers, in the frame on that side;
  // zero for couplings and what is not active.
  Wrenchd wrench_on_child(int constraint) const;
  double coupling_multiplier(int closure) const;  // of the coupling as the user wrote it

  // Refuses positions and velocities that are not closed (embedding.h); on by default.
  void set_check_closed(bool check) { check_closed_ = check; }

 private:
  struct Place {
    int constraint = 0;
    int loop = -1;  // of the mechanism; −1: added
    Closure closure;
    NodeFrame parent, child;
    double length = 1.0;
    double scale = 1.0;  // of a coupling's row
  };
  Place& place(int constraint);
  const Place& place(int constraint) const;
  void share_inertias();
  void choose_rows(const Eigen::VectorXd& q, Workspace& workspace);
  void choose_rows_again(const Eigen::VectorXd& q, Workspace& workspace);
  void leave_out_rows(const Chart& chart);
  bool poor_rows() const;
  double largest_kept(const Eigen::VectorXd& rows) const;
  void sweep(const SweepInput& in, bool gravity, Workspace& workspace);
  void place_rows(const State& state, const Workspace& workspace);
  void place_pair(const Place& place, const Workspace& workspace);
  double evaluate_coupling_row(Place& place, const State& state);
  void check_closed(const State& state, const Workspace& workspace);
  void measure_gap(const State& state, const Workspace& workspace);
  void refine(Workspace& workspace);
  const SweepModel tree(const Workspace& workspace, bool gravity) const;
  double rounding() const;

  const Mechanism* mechanism_;
  const AggregateTables& tables_;
  TreeConstraints constraints_;
  std::vector<Place> places_;
  std::vector<Node> nodes_;               // with shared inertias; empty: the mechanism's own
  std::vector<ArticulatedInertiad> own_;  // of these nodes
  Owner owner_;
  PositionOwner position_owner_;
  Eigen::VectorXd multipliers_, applied_, right_, rest_, gap_;
  std::vector<double> gradient_, hessian_, terms_;
  double residual_ = 0.0, left_out_residual_ = 0.0;
  int generic_rank_ = -1;  // of all loops; −1: not known yet
  // Rows are chosen at the first closed position, and again in close() when the smallest pivot has
  // fallen far below what the choice began with (−1: not seen yet).
  enum class Choice { none, singular, made } choice_ = Choice::none;
  int left_out_ = 0;
  double good_pivot_ = -1.0;
  int good_rank_ = 0;
  int generation_ = -1;  // of the set that usual_rank_ is the largest rank of
  int usual_rank_ = 0;
  double scale_ = 0.0;  // of the right sides
  bool check_closed_ = true;
};

// Contradictory constraints differ by at least this fraction of the accelerations involved. Loops
// that close only to kClosed (assembly.h) are off by less.
inline constexpr double kContradiction = 1e-4;
// The same for rows that a chart leaves out, as a fraction of the largest acceleration of any row:
// they are redundant but for the rounding of a file.
inline constexpr double kRoundedContradiction = 1e-2;

}  // namespace catena
