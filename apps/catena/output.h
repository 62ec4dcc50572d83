// SPDX-License-Identifier: BSD-3-Clause
// Output of the subcommands: tables for people, JSON for machines.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "apps/catena/json.h"
#include "catena/spatial/inertia.h"

namespace catena::app {

Json to_json(const Vec3d& a);
Json to_json(const SymMat3d& a);
// A number, a list, or a list of rows.
Json to_json(const Eigen::MatrixXd& a);
// An object: one number for each name.
Json by_name(std::span<const std::string> names, const Eigen::VectorXd& values);

// Columns as wide as their widest entry; numbers (right = true) to the right. Understands UTF-8.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Each line starts with `indent` spaces. Columns without any entry are left out.
  std::string text(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Six digits, for people.
std::string pretty(double value);
std::string pretty(const Vec3d& a);
// Zero in place of numbers that are only round-off beside numbers of this size; for people.
double without_noise(double value, double scale);

// Writes to a file (whole or not at all), or to stdout if the name is empty or "-". Throws Error.
void write_text(const std::string& text, const std::string& file);
// JSON to a file if one is named; then JSON or text to stdout (text only if no file is named).
void give(const Json& json, const std::string& text, bool print_json, const std::string& file);
// Prints the name of the result's file, unless it is stdout.
void say_written(const std::string& from, const std::string& file);
// Throws a UsageError unless the file's name has the ending of its contents: ".svg", "an SVG
// picture".
void check_ending(const std::string& file, std::string_view ending, std::string_view what);
// Throws a UsageError for "-": runs and tables of results do not go to stdout.
void check_named(const std::string& file);

}  // namespace catena::app
