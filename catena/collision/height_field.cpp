// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/height_field.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void use_header(const std::map<std::string, double>& header, HeightField& field) {
  const auto get = [&](const char* key) -> const double* {
    const auto found = header.find(key);
    return found == header.end() ? nullptr : &found->second;
  };
  if (const double* size = get("cellsize")) field.spacing_x = field.spacing_y = *size;
  if (const double* size = get("dx")) field.spacing_x = *size;
  if (const double* size = get("dy")) field.spacing_y = *size;
  // A corner is half a cell before the middle of the first one.
  if (const double* at = get("xllcorner")) field.x = *at + 0.5 * field.spacing_x;
  if (const double* at = get("yllcorner")) field.y = *at + 0.5 * field.spacing_y;
  if (const double* at = get("xllcenter")) field.x = *at;
  if (const double* at = get("yllcenter")) field.y = *at;
}

}  // namespace

void check(const HeightField& field) {
  const std::string what =
      "height field" + (field.file.empty() ? std::string() : " '" + field.file + "'");
  if (field.columns < 2 || field.rows < 2)
    throw Error(what + ": it has " + std::to_string(field.rows) + " rows of " +
                std::to_string(field.columns) + " heights; it needs at least 2 x 2");
  if (field.heights.size() != index(field.columns) * index(field.rows))
    throw Error(what + ": " + std::to_string(field.heights.size()) + " heights for " +
                std::to_string(field.rows) + " rows of " + std::to_string(field.columns));
  if (!(field.spacing_x > 0.0) || !(field.spacing_y > 0.0) || !std::isfinite(field.spacing_x) ||
      !std::isfinite(field.spacing_y))
    throw Error(what + ": the spacing is " + number(field.spacing_x) + ", " +
                number(field.spacing_y) + " m; it must be positive");
  for (std::size_t i = 0; i < field.heights.size(); ++i)
    if (!std::isfinite(field.heights[i]))
      throw Error(what + ": the height in row " + std::to_string(i / index(field.columns)) +
                  ", column " + std::to_string(i % index(field.columns)) + " is not finite");
}

std::optional<double> HeightField::height_at(double at_x, double at_y) const {
  const double u = (at_x - x) / spacing_x, v = (at_y - y) / spacing_y;
  if (!(u >= 0.0 && v >= 0.0 && u <= columns - 1 && v <= rows - 1)) return {};
  const int i = std::min(static_cast<int>(u), columns - 2);
  const int k = std::min(static_cast<int>(v), rows - 2);
  const double s = u - i, t = v - k;
  const double z00 = height(i, k), z11 = height(i + 1, k + 1);
  if (s >= t) return z00 + s * (height(i + 1, k) - z00) + t * (z11 - height(i + 1, k));
  return z00 + t * (height(i, k + 1) - z00) + s * (z11 - height(i, k + 1));
}

HeightField read_height_field(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error("height field '" + file + "': the file cannot be read");
  HeightField field;
  field.file = file;
  std::map<std::string, double> header;
  std::vector<std::vector<double>> rows;
  std::string line;
  for (int number_of_line = 1; std::getline(in, line); ++number_of_line) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line.substr(0, line.find('#')));
    const auto refuse = [&](const std::string& why) {
      throw Error(file + ":" + std::to_string(number_of_line) + ": " + why);
    };
    std::vector<double> row;
    std::string key;
    for (std::string word; words >> word;) {
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      if (end != word.c_str() + word.size()) {
        if (!key.empty() || !row.empty()) refuse("'" + word + "' is no number");
        key = lower(word);
      } else {
        row.push_back(value);
      }
    }
    if (!key.empty()) {
      static const std::vector<std::string> kKeys{
          "ncols",     "nrows",    "xllcorner", "yllcorner", "xllcenter",
          "yllcenter", "cellsize", "dx",        "dy",        "nodata_value"};
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
        refuse("'" + key + "' is no key of a grid" + did_you_mean(key, kKeys));
      if (row.size() != 1) refuse("'" + key + "' needs one number");
      header[key] = row[0];
    } else if (!row.empty()) {
      if (!rows.empty() && row.size() != rows[0].size() && !header.contains("ncols"))
        refuse(std::to_string(row.size()) + " heights in this row, " +
               std::to_string(rows[0].size()) + " in the one before");
      rows.push_back(std::move(row));
    }
  }
  for (const std::vector<double>& row : rows)
    field.heights.insert(field.heights.end(), row.begin(), row.end());
  field.columns = rows.empty() ? 0 : static_cast<int>(rows[0].size());
  field.rows = static_cast<int>(rows.size());
  if (header.contains("ncols") || header.contains("nrows")) {
    field.columns = static_cast<int>(header["ncols"]);
    field.rows = static_cast<int>(header["nrows"]);
  }
  use_header(header, field);
  check(field);
  // Grids of maps begin in the north.
  if (header.contains("nrows"))
    for (int k = 0; k < field.rows / 2; ++k)
      std::swap_ranges(field.heights.begin() + k * field.columns,
                       field.heights.begin() + (k + 1) * field.columns,
                       field.heights.begin() + (field.rows - 1 - k) * field.columns);
  if (header.contains("nodata_value"))
    for (const double h : field.heights)
      if (h == header["nodata_value"])
        throw Error(file + ": a height is missing (NODATA_value " + number(h) +
                    "); fill in the grid");
  return field;
}

}  // namespace catena
