// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/write_file.h"

namespace catena::app {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 do not count.
std::size_t width(const std::string& text) {
  return to_size(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

Json to_json(const Vec3d& a) { return {a.x, a.y, a.z}; }

Json to_json(const SymMat3d& a) {
  return {{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}};
}

Json to_json(const Eigen::MatrixXd& a) {
  if (a.size() == 1) return a(0, 0);
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    if (a.cols() == 1) {
      rows.push_back(a(i, 0));
      continue;
    }
    Json row = Json::array();
    for (Eigen::Index j = 0; j < a.cols(); ++j) row.push_back(a(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width(row[c]));
    if (widths[c] > 0) widths[c] = std::max(widths[c], width(columns_[c].title));
  }
  std::string text;
  const auto line = [&](const auto& entry) {
    std::string one(to_size(indent), ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::string& word = entry(c);
      const std::string gap(widths[c] - width(word), ' ');
      one += (columns_[c].right ? gap + word : word + gap) + "  ";
    }
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + '\n';
  };
  line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) -> const std::string& { return row[c]; });
  return text;
}

Json by_name(std::span<const std::string> names, const Eigen::VectorXd& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    json[names[i]] = values[static_cast<Eigen::Index>(i)];
  return json;
}

std::string pretty(double value) { return fmt::format("{:.6g}", value == 0.0 ? 0.0 : value); }

double without_noise(double value, double scale) {
  constexpr double kNoise = 1e-13;  // round-off of a few hundred operations
  return std::abs(value) <= kNoise * scale ? 0.0 : value;
}

std::string pretty(const Vec3d& a) {
  const double scale = std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)});
  return "(" + pretty(without_noise(a.x, scale)) + ", " + pretty(without_noise(a.y, scale)) + ", " +
         pretty(without_noise(a.z, scale)) + ")";
}

void write_text(const std::string& text, const std::string& file) {
  if (file.empty() || file == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw Error("cannot write to the standard output");
    return;
  }
  write_file(file, text);
}

void give(const Json& json, const std::string& text, bool print_json, const std::string& file) {
  const std::string dumped = json.dump(2) + "\n";
  if (!file.empty()) write_text(dumped, file);
  if (print_json && file != "-")
    write_text(dumped, "");
  else if (!print_json && file.empty())
    write_text(text, "");
}

void say_written(const std::string& from, const std::string& file) {
  if (!file.empty() && file != "-") fmt::print("{} -> {}\n", from, file);
}

void check_ending(const std::string& file, std::string_view ending, std::string_view what) {
  if (file.empty() || file == "-" || file.ends_with(ending)) return;
  throw UsageError(fmt::format("catena: error: '{}': the result is {}; its name must end in {}",
                               file, what, ending));
}

void check_named(const std::string& file) {
  if (file == "-")
    throw UsageError(
        "catena: error: --output -: this result is not written to the standard output; give a "
        "file, "
        "as run.h5 or table.csv");
}

}  // namespace catena::app
