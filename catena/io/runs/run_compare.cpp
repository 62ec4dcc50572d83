// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/run_compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "catena/base/error.h"

namespace catena {
namespace {

std::vector<SettingDifference> compare_settings(const std::string& first,
                                                const std::string& second) {
  const auto flat = [](const std::string& text) {
    const auto parsed = nlohmann::ordered_json::parse(text, nullptr, false);
    if (parsed.is_discarded()) return nlohmann::ordered_json{{"", text}};
    return parsed.is_structured() ? parsed.flatten() : nlohmann::ordered_json{{"", parsed}};
  };
  const nlohmann::ordered_json a = flat(first), b = flat(second);
  std::vector<SettingDifference> differences;
  for (const auto& [name, value] : a.items()) {
    if (!b.contains(name))
      differences.push_back({name, value.dump(), ""});
    else if (b[name] != value)
      differences.push_back({name, value.dump(), b[name].dump()});
  }
  for (const auto& [name, value] : b.items())
    if (!a.contains(name)) differences.push_back({name, "", value.dump()});
  return differences;
}

// The value of a column between its times, along straight lines; `place` only moves forward.
double value_at(const Eigen::VectorXd& times, const Eigen::VectorXd& values, double time,
                Eigen::Index& place) {
  while (place + 1 < times.size() && times[place + 1] <= time) ++place;
  if (place + 1 >= times.size() || times[place] == time) return values[place];
  const double fraction = (time - times[place]) / (times[place + 1] - times[place]);
  return values[place] + fraction * (values[place + 1] - values[place]);
}

double largest(const Eigen::VectorXd& values) {
  double most = 0.0;
  for (const double value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

bool RunComparison::agree(double tolerance) const {
  const double end = std::max(std::abs(first_end), std::abs(second_end));
  if (!only_first.empty() || !only_second.empty()) return false;
  if (std::abs(first_end - second_end) > tolerance * end) return false;
  return std::all_of(columns.begin(), columns.end(),
                     [&](const ColumnDifference& one) { return one.relative <= tolerance; });
}

RunComparison compare_runs(const ResultColumns& first, const ResultColumns& second) {
  for (const ResultColumns* run : {&first, &second})
    if (run->rows() == 0) throw Error("'" + run->path() + "' has no rows to compare");
  RunComparison result;
  if (const RunFile* a = first.run(), *b = second.run(); a != nullptr && b != nullptr) {
    result.same_model = a->header().model_yaml == b->header().model_yaml;
    result.first_version = a->version();
    result.second_version = b->version();
    result.settings = compare_settings(a->header().settings_json, b->header().settings_json);
  }

  const auto has = [](const ResultColumns& run, const std::string& name) {
    const auto& columns = run.columns();
    return std::any_of(columns.begin(), columns.end(),
                       [&](const RunColumn& column) { return column.name == name; });
  };
  for (const RunColumn& column : second.columns())
    if (!has(first, column.name)) result.only_second.push_back(column.name);

  const Eigen::VectorXd times = first.column("time"), other_times = second.column("time");
  result.same_times = times.size() == other_times.size() && times == other_times;
  result.first_end = times[times.size() - 1];
  result.second_end = other_times[other_times.size() - 1];
  const double end = std::min(result.first_end, result.second_end);
  const auto in_both = [&](double time) { return time >= other_times[0] && time <= end; };
  result.compared_rows = std::count_if(times.begin(), times.end(), in_both);

  for (const RunColumn& column : first.columns()) {
    if (!has(second, column.name)) {
      result.only_first.push_back(column.name);
      continue;
    }
    if (column.name == "time") continue;
    const Eigen::VectorXd a = first.column(column.name), b = second.column(column.name);
    ColumnDifference difference{.name = column.name, .unit = column.unit};
    Eigen::Index place = 0;
    for (Eigen::Index i = 0; i < a.size(); ++i) {
      if (!in_both(times[i])) continue;
      const double other = result.same_times ? b[i] : value_at(other_times, b, times[i], place);
      if (a[i] == other || (std::isnan(a[i]) && std::isnan(other))) continue;
      const double gap = std::abs(a[i] - other);
      const double apart = std::isfinite(gap) ? gap : std::numeric_limits<double>::infinity();
      if (apart > difference.largest) {
        difference.largest = apart;
        difference.time = times[i];
      }
    }
    if (difference.largest > 0.0) {
      const double scale = std::max(largest(a), largest(b));
      difference.relative =
          scale > 0.0 ? difference.largest / scale : std::numeric_limits<double>::infinity();
    }
    result.columns.push_back(difference);
  }
  return result;
}

}  // namespace catena
