// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/csv.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/io/text_file.h"

namespace catena {
namespace {

constexpr std::size_t kMostProblems = 20;  // of a file; then reading stops

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Fields of a line; a quoted one may contain separators, and "" for a quote.
std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false, was_quoted = false;
  const auto end_field = [&] {
    fields.push_back(was_quoted ? field : std::string(trimmed(field)));
    field.clear();
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      field += c;
      ++i;
    } else if (c == '"' && (quoted || trimmed(field).empty())) {
      if (!quoted) field.clear();
      quoted = !quoted;
      was_quoted = true;
    } else if (c == separator && !quoted) {
      end_field();
    } else if (!was_quoted || quoted) {
      field += c;
    }
  }
  end_field();
  return fields;
}

char separator_of(std::string_view line) {
  for (const char c : {'\t', ';', ','})
    if (line.find(c) != std::string_view::npos) return c;
  return ',';
}

bool parse(std::string_view text, double& value) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string with_decimal_point(std::string text) {
  if (const std::size_t comma = text.find(','); comma != std::string::npos) text[comma] = '.';
  return text;
}

std::string quoted(const std::string& name) {
  if (name.find_first_of(",;\t\"") == std::string::npos && trimmed(name) == name && !name.empty() &&
      name[0] != '#')
    return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

}  // namespace

CsvTable read_csv(const std::string& path, CsvNumbers numbers) {
  std::vector<Diagnostic> problems;
  const std::optional<std::string> text = read_text_file(path, problems);
  if (!text || !check_text(*text, path, problems)) throw ModelError(problems);
  return read_csv_text(*text, path, numbers);
}

CsvTable read_csv_text(const std::string& text, const std::string& file_name, CsvNumbers numbers) {
  CsvTable table;
  std::vector<Diagnostic> problems;
  std::vector<double> values;
  char separator = ',';
  int line_number = 0;
  const auto wrong = [&](const std::string& message) {
    problems.push_back({Severity::error, Source{file_name, line_number}, message});
  };
  // Spreadsheets may begin with a mark of their encoding.
  const std::size_t start = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (std::size_t at = start; at < text.size() && problems.size() < kMostProblems;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    if (table.names.empty()) {
      separator = separator_of(line);
      table.names = split(line, separator);
      double value = 0.0;
      if (std::any_of(table.names.begin(), table.names.end(),
                      [&](const std::string& name) { return parse(name, value); }))
        wrong("the first line must have the names of the columns, not numbers");
      continue;
    }
    const std::vector<std::string> fields = split(line, separator);
    if (fields.size() != table.names.size()) {
      wrong("has " + std::to_string(fields.size()) + " entries; the first line names " +
            std::to_string(table.names.size()) + " columns");
      continue;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      double value = 0.0;
      const std::string& field = fields[i];
      const bool number =
          parse(field, value) || (separator != ',' && parse(with_decimal_point(field), value));
      if (!number || (numbers == CsvNumbers::finite && !std::isfinite(value)))
        wrong("'" + field + "' in column '" + table.names[i] + "' is not a " +
              (number ? "finite " : "") + "number");
      values.push_back(value);
    }
  }
  if (table.names.empty() && problems.empty())
    wrong("the file has no line of names; names and numbers are expected");
  if (!problems.empty()) throw ModelError(problems);
  const auto columns = static_cast<Eigen::Index>(table.names.size());
  table.values = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(
      values.data(), static_cast<Eigen::Index>(values.size()) / columns, columns);
  return table;
}

CsvWriter::CsvWriter(const std::string& path, std::span<const std::string> names)
    : path_(path), columns_(names.size()), file_(std::fopen(path.c_str(), "wb"), std::fclose) {
  if (!file_) throw Error("'" + path + "' cannot be written: " + std::strerror(errno));
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : ",") + quoted(name);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), file_.get());
}

void CsvWriter::append(std::span<const double> row) {
  if (row.size() != columns_)
    throw Error("'" + path_ + "': a row of " + std::to_string(row.size()) + " numbers for " +
                std::to_string(columns_) + " columns");
  std::string line;
  for (const double value : row) line += (line.empty() ? "" : ",") + number(value);
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size())
    throw Error("'" + path_ + "' cannot be written: " + std::strerror(errno));
}

void CsvWriter::close() {
  const bool failed_before = std::ferror(file_.get()) != 0;
  if (std::fclose(file_.release()) != 0 || failed_before)
    throw Error("'" + path_ + "' cannot be written: " + std::strerror(errno));
}

}  // namespace catena
