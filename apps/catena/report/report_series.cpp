// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_series.h"

#include <algorithm>
#include <limits>

#include "apps/catena/report/report_frames.h"
#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"

namespace catena::app {
namespace {

// Limits of a page: it stays below some 40 MB and the browser stays fast.
constexpr std::int64_t kPlotNumbers = 1'500'000, kMostPoints = 8000, kFewestPoints = 500;

}  // namespace

DeflectionColumns::DeflectionColumns(const RunFile& run, const Mechanism& mechanism)
    : mechanism_(mechanism), workspace_(mechanism), q_(mechanism.coordinates()) {
  if (!mechanism.has_flexible_bodies()) return;
  for (const std::string& name : mechanism.position_names())
    q_columns_.push_back(run.column_index("q." + name));
  for (const FlexiblePlace& place : mechanism.flexible_bodies())
    for (const FlexibleBody::Attachment& attachment : place.constants->attachments)
      for (const char* axis : {".x", ".y", ".z"})
        columns_.push_back({"deflection." + place.name + "." + attachment.name + axis, "m"});
}

void DeflectionColumns::append(const Eigen::Ref<const Eigen::RowVectorXd>& row,
                               std::vector<double>& values) {
  if (columns_.empty()) return;
  for (Eigen::Index i = 0; i < q_.size(); ++i) q_[i] = row[q_columns_[index(i)]];
  const bool known = q_.allFinite();
  if (known) update_kinematics(mechanism_, q_, workspace_);
  for (const FlexiblePlace& place : mechanism_.flexible_bodies())
    for (std::size_t k = 0; k < place.attachments.size(); ++k) {
      Vec3d deflection{};
      if (known) {
        const Transformd body = body_pose(mechanism_, workspace_, place.body);
        const Transformd attachment = body_pose(mechanism_, workspace_, place.attachments[k].body);
        deflection =
            (body.inverse() * attachment).translation - place.constants->attachments[k].position;
      }
      for (int i = 0; i < 3; ++i)
        values.push_back(known ? deflection[i] : std::numeric_limits<double>::quiet_NaN());
    }
}

Thinned::Thinned(std::vector<RunColumn> columns, std::int64_t rows) {
  for (RunColumn& column : columns) columns_.push_back({std::move(column)});
  const auto width = static_cast<std::int64_t>(columns_.size());
  const std::int64_t most = std::clamp(kPlotNumbers / width, kFewestPoints, kMostPoints);
  every_ = rows <= most ? 1 : (2 * rows + most - 1) / most;
}

void Thinned::add(const std::vector<double>& row) {
  if (every_ == 1) {
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].values.push_back(row[c]);
    return;
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    const double value = row[c];
    if (count_ == 0) column.least = column.greatest = value, column.least_first = true;
    // The later of the two decides their order.
    if (value < column.least) column.least = value, column.least_first = false;
    if (value > column.greatest) column.greatest = value, column.least_first = true;
  }
  if (++count_ == every_) end_bucket();
}

void Thinned::end_bucket() {
  for (Column& column : columns_) {
    column.values.push_back(column.least_first ? column.least : column.greatest);
    column.values.push_back(column.least_first ? column.greatest : column.least);
  }
  count_ = 0;
}

Json Thinned::document() {
  if (count_ > 0) end_bucket();
  Json columns = Json::array();
  for (std::size_t c = 1; c < columns_.size(); ++c)
    columns.push_back({{"name", columns_[c].column.name},
                       {"unit", columns_[c].column.unit},
                       {"values", base64_of(columns_[c].values)}});
  return {{"every", every_}, {"times", base64_of(columns_[0].values)}, {"columns", columns}};
}

}  // namespace catena::app
