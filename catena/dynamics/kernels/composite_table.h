// SPDX-License-Identifier: BSD-3-Clause
// Owns what the mass matrix of one state reads and its scratch (CompositeTable, composite_rows.h).
#pragma once

#include <vector>

#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/model/mechanism.h"

namespace catena {

class CompositeStore {
 public:
  // The table stays empty if a branch is not one stretch of freedoms.
  explicit CompositeStore(const Mechanism& mechanism);

  const CompositeTable& table() const { return table_; }
  double* scratch() { return scratch_.empty() ? nullptr : scratch_.front().numbers; }

 private:
  struct alignas(64) CacheLine {
    double numbers[8] = {};
  };
  static std::vector<CacheLine> lines_of(int numbers) {
    return std::vector<CacheLine>(static_cast<std::size_t>(numbers + 7) / 8);
  }

  CompositeTable table_;
  std::vector<CacheLine> placements_;
  std::vector<CacheLine> inertias_;
  std::vector<CacheLine> scratch_;
  std::vector<int> branch_ends_;
  std::vector<int> tree_ends_;
  std::vector<int> levels_;
  std::vector<int> groups_;
};

}  // namespace catena
