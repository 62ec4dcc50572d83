// SPDX-License-Identifier: BSD-3-Clause
// Tables of numbers as CSV: a first line of names, then rows. Comma, semicolon or tab, whichever
// the first line uses; names may be quoted; numbers may have a decimal comma where the
// separator is another one; lines that are empty or start with # are skipped.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct CsvTable {
  std::vector<std::string> names;
  Eigen::MatrixXd values;  // rows by columns
};

// Throws a ModelError with file and line of every problem. `finite`: nan and inf are problems.
enum class CsvNumbers { any, finite };
CsvTable read_csv(const std::string& path, CsvNumbers numbers = CsvNumbers::any);
CsvTable read_csv_text(const std::string& text, const std::string& file_name,
                       CsvNumbers numbers = CsvNumbers::any);

// Writes row by row. Numbers read back as the same doubles. Throws an Error that names the file.
class CsvWriter {
 public:
  CsvWriter(const std::string& path, std::span<const std::string> names);
  void append(std::span<const double> row);
  // Must be called at the end: the error of a full disk may appear only here.
  void close();

 private:
  std::string path_;
  std::size_t columns_ = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace catena
