// SPDX-License-Identifier: BSD-3-Clause
// The plain tables of a mechanism that the kernels of batches of derivatives read.
#pragma once

#include <span>
#include <vector>

#include "catena/model/mechanism.h"
#include "catena/sensitivity/batch/batch_derivative_kernels.h"

namespace catena {

class BatchDerivativeTables {
 public:
  // Both must outlive it, as must the tables of the batch.
  BatchDerivativeTables(const Mechanism& mechanism, const MatrixPattern& pattern,
                        const BatchModel& batch);
  BatchDerivativeTables(const BatchDerivativeTables&) = delete;
  BatchDerivativeTables& operator=(const BatchDerivativeTables&) = delete;

  BatchDerivativeModel model;

 private:
  std::span<const int> path_of(int freedom) const;
  int shared(int a, int b) const;
  void make_paths(const Mechanism& mechanism);
  void make_drives(const Mechanism& mechanism);
  void find_free_roots(const Mechanism& mechanism);
  void make_stretches();
  void make_groups();
  void make_blocks(ColumnGroup& group, const std::vector<int>& rows);

  std::vector<int> path_, first_path_, outboard_, first_outboard_, node_of_, law_of_, rotors_,
      first_rotor_;
  std::vector<Stretch> stretches_;
  std::vector<ColumnGroup> groups_;
  std::vector<SolvedColumn> columns_;
  std::vector<RowBlock> blocks_;
  std::vector<KnownColumns> known_;
  std::vector<FreeRoot> free_roots_;
  std::vector<DriveTerm> drives_;
};

}  // namespace catena
