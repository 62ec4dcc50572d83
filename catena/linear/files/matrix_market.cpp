// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/files/matrix_market.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <vector>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/base/write_file.h"

namespace catena {
namespace {

enum class Symmetry { general, symmetric, skew };

class MatrixMarketReader {
 public:
  explicit MatrixMarketReader(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw Error(path + ": cannot be read (is there such a file?)");
  }

  Eigen::SparseMatrix<double> read() {
    read_header();
    next_line("the size");
    const long long rows = integer(), cols = integer();
    constexpr long long kMost = 1LL << 30U;
    if (rows < 1 || cols < 1 || rows > kMost || cols > kMost)
      fail("the size " + std::to_string(rows) + " x " + std::to_string(cols) +
           " is not between 1 and 2^30");
    if (symmetry_ != Symmetry::general && rows != cols)
      fail("a symmetric matrix must be square, not " + std::to_string(rows) + " x " +
           std::to_string(cols));
    if (coordinates_)
      read_coordinates(rows, cols);
    else
      read_array(rows, cols);
    Eigen::SparseMatrix<double> a(rows, cols);
    a.setFromTriplets(entries_.begin(), entries_.end());
    return a;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelError({{Severity::error, {path_, line_number_}, what}});
  }

  void read_header() {
    ++line_number_;
    std::getline(file_, line_);
    std::transform(line_.begin(), line_.end(), line_.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto has = [&](const char* word) { return line_.find(word) != std::string::npos; };
    if (!line_.starts_with("%%matrixmarket"))
      fail(
          "a Matrix Market file begins with '%%MatrixMarket matrix coordinate real symmetric' or "
          "the like");
    if (has("complex") || has("pattern"))
      fail("the entries must be real numbers, not 'complex' or 'pattern'");
    if (!has("coordinate") && !has("array")) fail("the format must be 'coordinate' or 'array'");
    coordinates_ = has("coordinate");
    symmetry_ = has("skew-symmetric") ? Symmetry::skew
                : has("symmetric")    ? Symmetry::symmetric
                                      : Symmetry::general;
  }
  void next_line(const char* what) {
    do {
      ++line_number_;
      if (!std::getline(file_, line_))
        fail(std::string("the file ends where ") + what + " is expected");
    } while (line_.empty() || line_[0] == '%' ||
             line_.find_first_not_of(" \t\r") == std::string::npos);
    at_ = line_.data();
  }
  template <class T>
  T value(const char* what) {
    const char* end = line_.data() + line_.size();
    while (at_ < end && (*at_ == ' ' || *at_ == '\t' || *at_ == '+')) ++at_;
    T result{};
    const auto [next, error] = std::from_chars(at_, end, result);
    if (error != std::errc() || next == at_)
      fail(std::string(what) + " is expected, not '" + std::string(at_, end) + "'");
    at_ = next;
    return result;
  }
  long long integer() { return value<long long>("an integer"); }
  double real() {
    const double number = value<double>("a number");
    if (!std::isfinite(number)) fail("the entry is not a finite number");
    return number;
  }
  void add(long long i, long long j, double x) {
    entries_.emplace_back(static_cast<int>(i), static_cast<int>(j), x);
    if (symmetry_ != Symmetry::general && i != j)
      entries_.emplace_back(static_cast<int>(j), static_cast<int>(i),
                            symmetry_ == Symmetry::skew ? -x : x);
  }
  void read_coordinates(long long rows, long long cols) {
    const long long count = integer();
    if (count < 0 || count > (1LL << 30U)) fail("the number of entries is out of range");
    // A damaged header may claim any number.
    entries_.reserve(to_size(std::min(count, 1LL << 24U)));
    for (long long k = 0; k < count; ++k) {
      next_line("an entry 'row column value'");
      const long long i = integer(), j = integer();
      if (i < 1 || i > rows || j < 1 || j > cols)
        fail("the entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is outside of the " +
             std::to_string(rows) + " x " + std::to_string(cols) + " matrix");
      add(i - 1, j - 1, real());
    }
  }
  void read_array(long long rows, long long cols) {
    for (long long j = 0; j < cols; ++j)
      for (long long i = symmetry_ == Symmetry::general ? 0 : j; i < rows; ++i) {
        next_line("an entry");
        if (const double x = real(); x != 0.0) add(i, j, x);
      }
  }

  std::string path_;
  std::ifstream file_;
  std::string line_;
  const char* at_ = nullptr;
  int line_number_ = 0;
  bool coordinates_ = true;
  Symmetry symmetry_ = Symmetry::general;
  std::vector<Eigen::Triplet<double>> entries_;
};

}  // namespace

Eigen::SparseMatrix<double> read_matrix_market(const std::string& path) {
  return MatrixMarketReader(path).read();
}

void write_matrix_market(const Eigen::SparseMatrix<double>& a, const std::string& path,
                         bool symmetric) {
  std::string body;
  long long count = 0;
  for (int c = 0; c < a.outerSize(); ++c)
    for (Eigen::SparseMatrix<double>::InnerIterator it(a, c); it; ++it) {
      if (symmetric && it.row() < c) continue;
      body += std::to_string(it.row() + 1) + " " + std::to_string(c + 1) + " " +
              number(it.value()) + "\n";
      ++count;
    }
  write_file(path, std::string("%%MatrixMarket matrix coordinate real ") +
                       (symmetric ? "symmetric\n" : "general\n") + std::to_string(a.rows()) + " " +
                       std::to_string(a.cols()) + " " + std::to_string(count) + "\n" + body);
}

}  // namespace catena
