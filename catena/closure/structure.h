// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; dynamics/forces.h needs it.
//
// The closed loops of a mechanism in plain numbers, for the kernels (and for the code around them):
// the nodes of each aggregate, its closures, and its independent freedoms.
//
// An aggregate is a set of nodes that move together (Mechanism::loops()), folded into one node of
// the tree: constraint embedding [Jain 2009]. Everything about it is measured in one
// frame: the axes of the node that it hangs on (its base), the origin at the hinge point of its
// first member (at the base's own if all members hang on it). There shifting inertias and forces
// between members costs nothing, and motion of the base does not enter the closure equations.
//
// Plain numbers, not spatial types, for the reason given in node.h.
#pragma once

#include <cstdint>

namespace catena {

struct Coupling;  // model/description.h

// A frame on a member (−1: on the base, then in the aggregate's frame).
struct ClosureSide {
  int member = -1;
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double translation[3] = {0, 0, 0};
};

enum class ClosureKind : std::uint8_t {
  pair,       // rows fixed in the frame on the parent's side: every hinge but those below
  universal,  // the point, and one row that keeps the angle between an axis on either side
  rod,        // the distance of two points
  coupling    // between coordinates
};

// How a pair constrains the rotation between its two sides.
enum class HeldTurn : std::uint8_t { none, axis, all };

inline constexpr int kMostRows = 6;

// One cut hinge, rod or coupling.
struct Closure {
  ClosureKind kind = ClosureKind::pair;
  HeldTurn held_turn = HeldTurn::none;
  int rows = 0;
  ClosureSide parent;
  ClosureSide child;
  // Pair and universal: the rows as covectors (moment, force) on the relative twist, in the frame
  // on the parent's side. The rows that hold the turn come first. (The last row of a universal
  // hinge depends on the position and is not here.)
  double covector[kMostRows][6] = {};
  double axis[3] = {0, 0, 1};        // of a pair held along it; first axis of a universal hinge
  double child_axis[3] = {0, 0, 1};  // second axis of a universal hinge, on the child
  double angle_cosine = 0.0;         // between these two
  double pitch = 0.0;                // of a screw
  double length = 0.0;               // of a rod
  // Columns of the aggregate on the way to either side, those common to both left out.
  int first_path = 0, path_count = 0;
  int first_term = 0, term_count = 0;  // of a coupling
  const Coupling* coupling = nullptr;  // the user's function, if it has one
  int place = -1;                      // cut hinge, rod or coupling number in the mechanism
};

struct PathColumn {
  int column = 0;
  double sign = 1.0;
  int twist = 0;  // its twist there; at an attachment of a flexible body not that of the column
};

struct CouplingTerm {
  int column = 0;
  int coordinate = 0;  // index into q
  double coefficient = 0.0;
};

struct AggregateMember {
  int node = 0;
  int parent = -1;  // among the members; −1: the base
  int column = 0;   // of its first freedom
  bool tip = true;  // no other member hangs on it
  // The twists that it has relative to its parent: first among the aggregate's, and how many. A
  // hinge has one for each of its columns. The modes of a flexible body have none, and each of its
  // attachments has one for every column of the modes (`column` is the first of those).
  int first_twist = 0, twists = 0;
};

// A row of the closure equations that the chart uses; `place` is its position among the pivots.
struct ChartRow {
  int closure = 0;
  int row = 0;
  int place = 0;
};

struct Aggregate {
  int base = -1;                 // node; −1: the ground
  double origin[3] = {0, 0, 0};  // of the aggregate's frame, on the base; zero if every member
                                 // hangs on the base itself
  int first_member = 0, member_count = 0;
  int first_closure = 0, closure_count = 0;
  int freedoms = 0;     // of all members: columns of the closure equations
  int twists = 0;       // of all members: those of the columns, then those at attachments
  int rows = 0;         // of all closures
  double length = 1.0;  // a length of the loop: rows that measure lengths are divided by it
  // The chart (chart.h): `order` lists the columns, dependent ones first in the order of the
  // pivots; `chart_rows` the rows that determine them, those of one closure together.
  int first_order = 0;
  int first_row = 0;
  int rank = -1;  // −1: not chosen yet
  // Only linear couplings: the map X does not change, and is kept from when the chart was chosen.
  bool constant = false;
  // Every member has one freedom, so that columns are members; for kernels of fixed size.
  bool simple = false;
  bool flexible = false;  // modes of flexible bodies are among the members
  int first_map = 0;      // rank by independents numbers, row by row
  int independents = 0;   // freedoms − rank
};

// The user's function of a coupling, in plain numbers. Compiled once, for all instruction sets of
// the calling kernels.
void evaluate_coupling(const Coupling& coupling, int terms, const double* q, double& value,
                       double* gradient, double* hessian);
// Change of its second derivatives along dq: extrapolated central differences, right to about ten
// digits (the function gives no third derivatives). `change` is row by row like `hessian`.
void differentiate_coupling(const Coupling& coupling, int terms, const double* q, const double* dq,
                            double* change);

}  // namespace catena
