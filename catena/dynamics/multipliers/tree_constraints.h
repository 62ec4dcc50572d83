// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; multiplier_dynamics.h needs it.
//
// Constraints on a tree, by multipliers: rows J of J v̇ + bias = 0 and the forces that enforce them.
//
//   M v̇ + C = effort + Zᵀ λ,     (J M⁻¹ Zᵀ) λ = −(J v̇_free + bias)
//
// Z = J for ideal constraints (closures, contacts that stick, locks); Z differs from J where chosen
// actuators must enforce a motion (servo constraints) or friction comes with a normal force. The
// matrix is built by sweeps (constraint_sweeps.h) from what forward dynamics of the tree leaves at
// the hinges (spatial operator algebra, steps A to F): O(N) and the rows' own cubes; never M, M⁻¹
// or J. Ideal sets are solved by SemidefiniteSolver: redundant rows give unique accelerations and
// multipliers of least norm.
//
// A row measures the twists of two nodes by covectors in the nodes' frames (the ground is a node at
// rest, −1, with the ground's frame), or freedoms directly. The caller sets covectors and bias of
// each constraint at every position. Constraints can be switched on and off at any time. Switching
// allocates; evaluating does not.
//
// Order of calls at a position: forward sweep of the tree on the workspace; place(); rows filled
// in; factor(); then solve() and respond() as often as needed.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "catena/base/dense.h"
#include "catena/dynamics/multipliers/constraint_table.h"
#include "catena/dynamics/multipliers/semidefinite.h"
#include "catena/dynamics/workspace.h"

namespace catena {

// A squared sine, or a row's length against what it would be without cancellation, below this many
// roundings of each node on the longest way to the ground, and of each row, is zero.
inline constexpr double kPivotRoundings = 64.0;
// The same for the pivots of a set that is not ideal (a sine, not squared).
inline constexpr double kGeneralRank = 1e-10;

class TreeConstraints {
 public:
  static constexpr int kMostRows = 6;

  // Rows or forces of a constraint.
  struct Rows {
    std::array<Wrenchd, kMostRows> on_a{};  // in the frame of node a
    std::array<Wrenchd, kMostRows> on_b{};
    std::vector<double> coefficient{};  // [row][freedom]
  };

  explicit TreeConstraints(const Mechanism& mechanism);

  // New constraints are active. They return their number.
  int add_between(int node_a, int node_b, int rows);
  int add_on_freedoms(std::vector<int> freedoms);  // one row
  // Moves a constraint between two nodes to other nodes; its rows must be filled in again.
  void move_between(int constraint, int node_a, int node_b);
  // Enforces the constraint's rows by forces of their own on the same nodes, or by efforts at these
  // freedoms (as many as rows).
  void push_otherwise(int constraint);
  void push_at_freedoms(int constraint, std::vector<int> freedoms);
  void push_as_measured(int constraint);

  int count() const { return static_cast<int>(all_.size()); }
  bool active(int constraint) const { return at(constraint).active; }
  void set_active(int constraint, bool active);

  // Marks a row as redundant, as decided elsewhere (closure/chart.h): it takes part in the forces
  // of least norm and in nothing else.
  void leave_out(int constraint, int row, bool out);
  // By active row; after place().
  bool left_out(int row) const { return left_out_[static_cast<std::size_t>(row)] != 0; }
  // Neither left out nor, in an ideal set, found to depend on others. After factor().
  std::vector<char> kept() const;

  // Of the active ones.
  int rows() const { return rows_; }
  int first_row(int constraint) const { return at(constraint).first_row; }
  int row_count(int constraint) const { return at(constraint).rows; }
  struct Place {
    int constraint = -1;
    int row = 0;
  };
  Place place_of_row(int row) const;
  // Incremented whenever the active set changes; after place().
  int generation() const { return generation_; }
  // Nodes between the farthest active constraint and the ground.
  int longest_way() const { return longest_; }

  // ---- At a position. ----
  // Poses of the nodes between the active constraints and the ground.
  void place(Workspace& workspace);
  Rows& measured(int constraint) { return at(constraint).measure; }
  const Rows& measured(int constraint) const { return at(constraint).measure; }
  Rows& pushed(int constraint) { return at(constraint).push; }
  const Rows& pushed_rows(int constraint) const {
    return at(constraint).own_push ? at(constraint).push : at(constraint).measure;
  }
  // Bias of a row: its acceleration at v̇ = 0 less its target.
  double& bias(int constraint, int row) {
    return at(constraint).bias[static_cast<std::size_t>(row)];
  }

  // Weight of a row in the norm by which redundant rows share their load; 1 by default.
  void set_weight(int constraint, int row, double weight);

  // Target velocity of a row: J v = target.
  double& target(int constraint, int row) {
    return at(constraint).target[static_cast<std::size_t>(row)];
  }

  // The columns C⁻¹ (1 − HψK) Jᵀ alone, and where they are: row r of a constraint at slot s is
  // found[s · lanes + r], for the freedom of that slot.
  void carry(Workspace& workspace);
  struct Reach {
    std::span<const int> freedoms;
    const double* found = nullptr;
    int lanes = 4;
  };
  Reach reach(int constraint) const;

  // The diagonal of J M⁻¹ Jᵀ for this row without cancellation, within a small factor. A diagonal
  // that is rounding of this belongs to an empty row. After place().
  void sizes(int constraint, const Workspace& workspace, std::span<double> rows) const;

  // carry(), and J M⁻¹ Zᵀ alone.
  void form(Workspace& workspace);
  // form(), and the factors for solve().
  void factor(Workspace& workspace);
  const Eigen::MatrixXd& matrix() const { return matrix_; }  // J M⁻¹ Zᵀ
  bool ideal() const { return ideal_; }
  const SemidefiniteSolver& ideal_solver() const { return solver_; }
  int rank() const { return ideal_ ? solver_.rank() : general_.rank(); }
  // Diagonal of a row without cancellation, see sizes(); never less than the diagonal.
  double size(int row) const { return std::max(matrix_(row, row), size_[row]); }
  // Smallest sine between an independent row of an ideal set and the others, or zero; rows have the
  // length of size().
  double smallest_sine() const;
  // Smallest over largest of the pivots that decide about the rank, rows and forces scaled to
  // length one: near zero, the forces hardly act on the rows.
  double reciprocal_condition() const;

  // Of every active row: J v − target, J v̇ + bias, with the twists and accelerations that the last
  // sweep left at the nodes.
  void velocities(const Workspace& workspace, const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
  void accelerations(const Workspace& workspace, const Eigen::VectorXd& acceleration,
                     Eigen::VectorXd& out) const;

  // Z v of every active row: λ times this is the power of its force.
  void push_velocities(const Workspace& workspace, const Eigen::VectorXd& v,
                       Eigen::VectorXd& out) const;

  // The forces of multipliers λ: wrenches on the nodes (6 each, added) and efforts (added); of the
  // rows themselves instead of what enforces them if asked for.
  void push(const Eigen::VectorXd& multipliers, Eigen::VectorXd& wrenches, Eigen::VectorXd& efforts,
            bool as_measured = false) const;

  // x := λ of (J M⁻¹ Zᵀ) λ = x, with the kept rows of an ideal set alone. Redundant rows of others
  // share their load as if all of them had the same small compliance.
  void solve(Eigen::VectorXd& x);
  // λ that does the same with the least norm, or Σ weight λ² (in an ideal set).
  void take_least_norm(Eigen::VectorXd& x) const;
  // change() = M⁻¹ Zᵀ λ, and node_change() what that does to the nodes' twists.
  void respond(Workspace& workspace, const Eigen::VectorXd& multipliers);
  const Eigen::VectorXd& change() const { return change_; }
  Twistd node_change(int node) const;
  void changes(Eigen::VectorXd& out) const;  // J change()
  // Adds the change to accelerations: of the freedoms, and at the nodes of the workspace.
  void accelerate(Workspace& workspace, Eigen::VectorXd& acceleration) const;

 private:
  struct Columns {
    std::vector<int> nodes, parent, slot;  // by entry
    std::vector<std::uint8_t> flags;
    std::vector<int> freedom;  // by slot
    std::vector<double> force, effort, found;
    int entry_a = -1, entry_b = -1;
    std::vector<int> source_slot;  // by freedom that it acts at
    int lanes = 4;
    ConstraintColumns table();
  };
  static constexpr std::array<double, kMostRows> filled(double value) {
    std::array<double, kMostRows> all{};
    all.fill(value);
    return all;
  }
  struct Constraint {
    int node_a = -1, node_b = -1;
    int rows = 0;
    bool active = true;
    int first_row = 0;
    std::vector<int> freedoms;
    Rows measure;
    std::array<double, kMostRows> bias{};
    std::array<double, kMostRows> target{};
    std::array<bool, kMostRows> left_out{};
    std::array<double, kMostRows> weight = filled(1.0);
    Columns columns;
    bool own_push = false;
    std::vector<int> push_freedoms;
    Rows push;
    Columns push_columns;
  };
  struct Pair {
    int a, b;  // constraints: rows of a, forces of b
    std::vector<int> slots_a, slots_b;
  };

  Constraint& at(int i) { return all_[static_cast<std::size_t>(i)]; }
  const Constraint& at(int i) const { return all_[static_cast<std::size_t>(i)]; }
  Columns& pushing(Constraint& c) { return c.own_push ? c.push_columns : c.columns; }
  Columns make_columns(int node_a, int node_b, std::span<const int> freedoms, int rows) const;
  void carry(const Constraint& c, const Rows& rows, std::span<const int> freedoms, Columns& columns,
             Workspace& workspace);
  void restructure();
  void find_shares();
  template <class TwistOf>
  void measure(TwistOf twist_of, const Eigen::VectorXd& freedoms, bool with_bias,
               Eigen::VectorXd& out) const;

  const Mechanism* mechanism_;
  std::vector<int> parents_;
  std::vector<int> node_of_freedom_;
  std::vector<Constraint> all_;
  int rows_ = 0;
  int generation_ = 0;
  bool ideal_ = true;
  bool stale_ = true;              // the active set has changed
  std::vector<int> active_nodes_;  // parent first
  std::vector<int> moved_;         // nodes that some active constraint can move, parent first
  std::vector<Pair> pairs_;
  std::vector<char> left_out_;  // by row
  Eigen::VectorXd weight_;      // by row
  bool weighted_ = false;       // not all are 1
  int longest_ = 0;
  Eigen::MatrixXd matrix_;
  SemidefiniteSolver solver_;
  CompleteOrthogonal general_{kGeneralRank};
  // Of redundant rows: whether λ is found within the range of the matrix, its basis, and what is
  // left to solve there.
  bool shares_ = false;
  Eigen::MatrixXd range_;
  CompleteOrthogonal within_range_{kGeneralRank};
  Eigen::MatrixXd scaled_;
  Eigen::VectorXd size_;  // by row, sizes()
  Eigen::VectorXd row_scale_, push_scale_;
  Eigen::VectorXd innovation_, change_, work_;
  std::vector<double> node_change_;
  std::vector<double> block_;
  std::vector<ConstraintColumns> measured_, pushed_;  // by constraint
};

}  // namespace catena
