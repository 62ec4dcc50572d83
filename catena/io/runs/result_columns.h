// SPDX-License-Identifier: BSD-3-Clause
// Columns by name of a run (HDF5) or of a table (a file that ends in .csv).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catena/io/runs/csv.h"
#include "catena/io/runs/run_file.h"

namespace catena {

class ResultColumns {
 public:
  // Throws an Error (of a table a ModelError) that names the file and its mistake. The first column
  // of a table is the time if none has that name.
  explicit ResultColumns(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<RunColumn>& columns() const { return columns_; }  // tables have no units
  std::int64_t rows() const;
  Eigen::VectorXd column(std::string_view name) const;            // NameError with the nearest name
  const RunFile* run() const { return run_ ? &*run_ : nullptr; }  // null: a table

 private:
  std::string path_;
  std::optional<RunFile> run_;
  CsvTable table_;
  std::vector<RunColumn> columns_;
};

}  // namespace catena
