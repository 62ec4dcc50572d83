// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/recorder.h"

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {

void MemoryRecorder::begin(std::span<const RunColumn> columns) {
  columns_.assign(columns.begin(), columns.end());
}

void MemoryRecorder::append(std::span<const double> row) {
  values_.insert(values_.end(), row.begin(), row.end());
}

void MemoryRecorder::finish(const std::string& audit_json, bool complete) {
  audit_ = audit_json;
  complete_ = complete;
}

Eigen::Index MemoryRecorder::rows() const {
  return columns_.empty() ? 0 : static_cast<Eigen::Index>(values_.size() / columns_.size());
}

Eigen::VectorXd MemoryRecorder::column(const std::string& name) const {
  std::vector<std::string> names;
  names.reserve(columns_.size());
  for (const RunColumn& column : columns_) names.push_back(column.name);
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c] != name) continue;
    Eigen::VectorXd result(rows());
    for (Eigen::Index r = 0; r < rows(); ++r) result[r] = values_[to_size(r) * names.size() + c];
    return result;
  }
  throw NameError("nothing named '" + name + "' was recorded" + did_you_mean(name, names));
}

void CsvRecorder::begin(std::span<const RunColumn> columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const RunColumn& column : columns) names.push_back(column.name);
  writer_.emplace(path_, names);
}

RunRecorder::RunRecorder(std::string path, RunHeader header, bool overwrite)
    : path_(std::move(path)), header_(std::move(header)), overwrite_(overwrite) {}

void RunRecorder::begin(std::span<const RunColumn> columns) {
  header_.columns.assign(columns.begin(), columns.end());
  writer_.emplace(path_, header_, overwrite_);
}

}  // namespace catena
