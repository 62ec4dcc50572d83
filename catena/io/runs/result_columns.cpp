// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/result_columns.h"

#include <algorithm>

#include "catena/base/error.h"
#include "catena/base/text.h"

namespace catena {

ResultColumns::ResultColumns(const std::string& path) : path_(path) {
  if (!path.ends_with(".csv")) {
    run_.emplace(path);
    columns_ = run_->header().columns;
    return;
  }
  table_ = read_csv(path);
  if (std::find(table_.names.begin(), table_.names.end(), "time") == table_.names.end())
    table_.names.front() = "time";
  for (const std::string& name : table_.names) columns_.push_back({name, ""});
}

std::int64_t ResultColumns::rows() const { return run_ ? run_->rows() : table_.values.rows(); }

Eigen::VectorXd ResultColumns::column(std::string_view name) const {
  if (run_) return run_->column(name);
  const auto found = std::find(table_.names.begin(), table_.names.end(), name);
  if (found == table_.names.end())
    throw NameError("'" + path_ + "' has no column '" + std::string(name) + "'" +
                    did_you_mean(name, table_.names));
  return table_.values.col(found - table_.names.begin());
}

}  // namespace catena
