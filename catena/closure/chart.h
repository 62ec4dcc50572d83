// SPDX-License-Identifier: BSD-3-Clause
// Charts: which degrees of freedom of a closed loop are independent (the partition of coordinates
// into independent and dependent ones).
//
//   Workspace workspace(linkage);
//   workspace.set_chart(choose_chart(linkage, q));  // otherwise chosen at the first call
//
// A loop of n tree freedoms whose closure equations have rank r has n − r independent freedoms; the
// others follow, v = X v_independent. The independent ones are those that move most in the
// velocities that the equations allow (kernel with pivots), so that no entry of X is large; the r
// rows that determine the others are picked by a pivoted QR factorization (constraint embedding:
// [Jain 2009], section 5.2; the choice of rows is our own: redundant rows are left out, so that the
// kernels solve no least squares).
//
// The rank is the generic one (mobility.h) and does not change: in a singular position the rank
// drops, but a mechanism does not gain coordinates there, and accelerations computed with the
// dropped rank are wrong. A position in which a chart cannot be chosen at that rank is singular.
//
// Accelerations and forces do not depend on the chart; reduced quantities (the mass matrix, the
// efforts of inverse dynamics) refer to its independent freedoms.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/aggregate_tables.h"

namespace catena {

struct LoopChart {
  std::vector<int> independent;  // v indices, ascending
  std::vector<int> dependent;    // v indices, in the order of the pivots
  int rank = 0;
  int redundant = 0;     // rows that depend on others
  double quality = 1.0;  // smallest over largest singular value of the block that is solved
  // For the kernels:
  std::vector<int> order;  // columns: dependent, then independent
  std::vector<ChartRow> rows;
  std::vector<double> map;  // of a constant loop
};

struct Chart {
  std::vector<LoopChart> loops;  // in the order of Mechanism::loops()
  // Unique for every choice within a process, kept by copies: cached results (LoopMaps,
  // dynamics/embedding.h) are identified by it. 0: not from choose_chart().
  std::int64_t number = 0;

  // By freedom: 1 if it is independent (freedoms outside loops always are).
  std::vector<std::uint8_t> independent_mask(int freedoms) const;
  // All independent freedoms of the mechanism, v indices ascending.
  std::vector<int> independent(int freedoms) const;
  bool is_independent(int freedom) const;
};

struct ChartSettings {
  // By freedom: 1 if it must be independent (motion-driven, or pinned by the user); empty: none.
  std::vector<std::uint8_t> pinned{};
  // Keeps the ranks of this chart instead of finding the generic ones again.
  const Chart* previous = nullptr;
};

// q must be closed. Throws NumericalError if q is singular, or if the pinned freedoms of a loop
// cannot all be independent.
Chart choose_chart(const Mechanism& mechanism, const Eigen::VectorXd& q,
                   const ChartSettings& settings = {});

// Quality of a chart at q: its least pivot over the least pivot of the best chart there; the
// smallest ratio of all loops. Choose another chart when it falls below kPoorChart.
double chart_quality(const Mechanism& mechanism, const Chart& chart, const Eigen::VectorXd& q);
inline constexpr double kPoorChart = 0.3;

// Writes the chart into the tables that kernels read.
void store_chart(const Chart& chart, AggregateTables& tables);

}  // namespace catena
