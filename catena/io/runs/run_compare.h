// SPDX-License-Identifier: BSD-3-Clause
// Compares two runs: columns that one of them lacks, the largest difference of every other column
// and its time, and whether model and settings are the same. Tables (CSV) have columns alone.
#pragma once

#include <string>
#include <vector>

#include "catena/io/runs/result_columns.h"

namespace catena {

struct ColumnDifference {
  std::string name{};
  std::string unit{};
  double largest = 0.0;   // of |a − b|; infinite where only one of them is a number
  double time = 0.0;      // when
  double relative = 0.0;  // `largest` divided by the largest |a| or |b| of the whole column
};

struct SettingDifference {
  std::string name{};  // a path such as /integrator/tolerance
  std::string first{};
  std::string second{};  // JSON; empty: not there
};

struct RunComparison {
  bool same_model = true;
  std::string first_version, second_version;
  std::vector<SettingDifference> settings;
  std::vector<std::string> only_first, only_second;  // columns
  std::vector<ColumnDifference> columns;             // of both, but for the time
  bool same_times = true;  // else the second is interpolated at the times of the first
  double first_end = 0.0, second_end = 0.0;
  std::int64_t compared_rows = 0;

  // True if all columns are there, both end at the same time, and no column differs by more than
  // `tolerance`, relative to its largest value.
  bool agree(double tolerance) const;
};

// Reads both column by column: memory for two columns.
RunComparison compare_runs(const ResultColumns& first, const ResultColumns& second);

}  // namespace catena
