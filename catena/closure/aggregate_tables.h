// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; chart.h needs it.
//
// The tables of structure.h for all closed loops of a mechanism.
#pragma once

#include <vector>

#include "catena/closure/structure.h"
#include "catena/model/mechanism.h"

namespace catena {

struct AggregateTables {
  std::vector<Aggregate> aggregates;
  std::vector<AggregateMember> members;
  std::vector<Closure> closures;
  std::vector<PathColumn> paths;
  std::vector<CouplingTerm> terms;
  std::vector<int> order;
  std::vector<ChartRow> chart_rows;
  std::vector<double> map;
  std::vector<int> aggregate_of_node;  // −1: a node of its own
  std::vector<int> freedom_of_column;  // v index, aggregate by aggregate, at first_order + column
};

// Everything but the charts. Aggregates stand in the order of mechanism.loops(). Made at the first
// call; they live as long as the mechanism, and the call is thread-safe.
const AggregateTables& aggregate_tables(const Mechanism& mechanism);

}  // namespace catena
