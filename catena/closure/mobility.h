// SPDX-License-Identifier: BSD-3-Clause
// Mobility: the number of degrees of freedom that a closed mechanism really has, and the
// constraints that are redundant.
//
//   const MobilityReport report = analyse_mobility(linkage, linkage.default_state().q);
//   report.mobility, report.loops[0].redundant                    // a planar four-bar: 1 and 3
//
// Counting freedoms and constraints (Grübler-Kutzbach) gives the wrong number whenever constraints
// depend on each other: a planar four-bar with ordinary pins has −2 by that count and moves
// nevertheless. The number here is freedoms minus the numerical rank of the closure's Jacobian in a
// closed position. The rank is the generic one: the largest over the closed position found and a
// few near it, so that a singular position (a parallelogram stretched flat) does not hide a
// constraint ([Jain 2009] for constraint embedding; the rank decision is our own).
//
// Cost per loop: a few dozen QR factorizations of its Jacobian.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/loop_closure.h"

namespace catena {

struct LoopMobility {
  int freedoms = 0;         // of the spanning tree inside the loop
  int constraints = 0;      // scalar rows, as in LoopPlace
  int gruebler = 0;         // freedoms − constraints
  double given_gap = 0.0;   // of the given position, radians or fractions of the loop's size
  double closed_gap = 0.0;  // of the closed position
  bool closed = false;      // a closed position was found; otherwise the two below are not known
  int mobility = 0;
  int redundant = 0;
  bool singular = false;  // the closed position found is singular
  // Freedoms less the rank at that very position: more than the mobility where it is singular.
  int instantaneous = 0;
  // Singular, and no other closed position was found near it (infinitesimally mobile): it moves
  // instantaneously, not finitely, and its mobility is zero.
  bool shaky = false;
  // Rows that count, but would be redundant if nearly parallel axes and nearly equal lengths were
  // off by less (pivots below kNearlyRedundant of the largest), and their largest deviation.
  int nearly_redundant = 0;
  double off = 0.0;
  // Explains why the loop moves less than its author probably expects (shaky or nearly redundant),
  // with its name; usually empty.
  std::string trouble;
};

struct MobilityReport {
  std::optional<int> mobility;      // of the whole mechanism; none if some loop cannot be closed
  std::vector<LoopMobility> loops;  // in the order of Mechanism::loops()
  Eigen::VectorXd q;                // a position that closes all loops that can be closed
  std::vector<std::string> warnings;
};

// Allowed gap of rows that are redundant up to the rounding of a file (radians, or fractions of the
// loop's length); a larger one ends a motion.
inline constexpr double kMostOpen = 1e-3;

// Pivots from kRankThreshold (position_solver.h) to here are more likely the four digits of a file
// than the shape of a loop.
inline constexpr double kNearlyRedundant = 5e-4;
// In a loop that cannot move at all, pivots up to here: 1.57 written for a right angle, 3.14 for
// two.
inline constexpr double kNearlyRedundantIfRigid = 1e-2;

// Generic rank of the loop's closure equations near the closed position q.
int generic_rank(const Mechanism& mechanism, const LoopClosure& loop, const Eigen::VectorXd& q);
// Whether no row of the loop depends on others at q, which needs no search around it.
bool all_rows_count(const LoopClosure& loop, const Eigen::VectorXd& q);

// Starts from q. A tree's mobility is its freedoms.
MobilityReport analyse_mobility(const Mechanism& mechanism, const Eigen::VectorXd& q);

}  // namespace catena
