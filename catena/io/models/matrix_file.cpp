// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/matrix_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/io/runs/hdf5.h"

namespace catena {
namespace {

// Larger ones are mistakes: dense matrices of this size have 0.8 GB.
constexpr long long kMostRows = 10000;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class MatrixMarket {
 public:
  explicit MatrixMarket(const std::string& path) : path_(path), in_(path) {
    if (!in_) throw Error(path + ": cannot be opened");
  }

  Eigen::MatrixXd read() {
    read_banner();
    next_line();
    std::istringstream sizes(text_);
    long long rows = 0, columns = 0, entries = 0;
    const bool complete = static_cast<bool>(sizes >> rows >> columns) &&
                          (!coordinates_ || static_cast<bool>(sizes >> entries));
    if (!complete || rows < 1 || columns < 1 || rows > kMostRows || columns > kMostRows)
      fail("needs the numbers of rows and columns" +
           std::string(coordinates_ ? " and entries" : "") + ", 1 to " + std::to_string(kMostRows) +
           " each");
    if (symmetric_ && rows != columns) fail("is symmetric, but not square");
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows, columns);
    if (coordinates_)
      read_entries(entries, a);
    else
      read_array(a);
    return a;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  void read_banner() {
    line_ = 1;
    std::getline(in_, text_);
    std::istringstream words(lower(text_));
    std::string banner, object, format, field, symmetry;
    words >> banner >> object >> format >> field >> symmetry;
    if (banner != "%%matrixmarket" || object != "matrix")
      fail("is no Matrix Market file: the first line must be '%%MatrixMarket matrix ...'");
    if (format != "coordinate" && format != "array")
      fail("has the format '" + format + "'; coordinate and array are known");
    if (field != "real" && field != "integer")
      fail("has entries of kind '" + field + "'; real and integer are known");
    if (symmetry != "general" && symmetry != "symmetric")
      fail("has the symmetry '" + symmetry + "'; general and symmetric are known");
    coordinates_ = format == "coordinate";
    symmetric_ = symmetry == "symmetric";
  }

  // The next line that is neither a comment nor blank.
  void next_line() {
    while (std::getline(in_, text_)) {
      ++line_;
      const std::size_t first = text_.find_first_not_of(" \t\r");
      if (first != std::string::npos && text_[first] != '%') return;
    }
    fail("ends too early");
  }

  void read_entries(long long entries, Eigen::MatrixXd& a) {
    for (long long k = 0; k < entries; ++k) {
      next_line();
      std::istringstream words(text_);
      long long row = 0, column = 0;
      double value = 0.0;
      if (!(words >> row >> column >> value) || !std::isfinite(value))
        fail("needs a row, a column and a number");
      if (row < 1 || row > a.rows() || column < 1 || column > a.cols())
        fail("names row " + std::to_string(row) + " and column " + std::to_string(column) +
             " of a matrix of " + std::to_string(a.rows()) + " x " + std::to_string(a.cols()));
      a(row - 1, column - 1) += value;
      if (symmetric_ && row != column) a(column - 1, row - 1) += value;
    }
  }

  // Column by column; of a symmetric matrix the lower triangle.
  void read_array(Eigen::MatrixXd& a) {
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      for (Eigen::Index i = symmetric_ ? j : 0; i < a.rows(); ++i) {
        next_line();
        std::istringstream words(text_);
        double value = 0.0;
        if (!(words >> value) || !std::isfinite(value)) fail("needs a number");
        a(i, j) = value;
        if (symmetric_) a(j, i) = value;
      }
  }

  std::string path_;
  std::ifstream in_;
  std::string text_;
  int line_ = 0;
  bool coordinates_ = false, symmetric_ = false;
};

Eigen::MatrixXd read_dataset(const std::string& path, const std::string& name) {
  const hdf5::Quiet quiet;
  if (name.empty()) throw Error(path + ": say which dataset: {file: " + path + ", dataset: /mass}");
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) throw Error(path + ": cannot be opened as HDF5: " + hdf5::reason());
  const hdf5::Handle data = hdf5::open_dataset(file.get(), name.c_str(), path);
  const hdf5::Handle space(H5Dget_space(data.get()), H5Sclose);
  hsize_t sizes[2] = {1, 1};
  const int dimensions = H5Sget_simple_extent_ndims(space.get());
  if (dimensions != 1 && dimensions != 2)
    throw Error(path + ": dataset '" + name + "' has " + std::to_string(dimensions) +
                " dimensions; a matrix has two");
  H5Sget_simple_extent_dims(space.get(), sizes, nullptr);
  if (sizes[0] < 1 || sizes[1] < 1 || sizes[0] > static_cast<hsize_t>(kMostRows) ||
      sizes[1] > static_cast<hsize_t>(kMostRows))
    throw Error(path + ": dataset '" + name + "' has " + std::to_string(sizes[0]) + " x " +
                std::to_string(sizes[1]) + " numbers; 1 to " + std::to_string(kMostRows) +
                " rows and columns can be read");
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> a(
      static_cast<Eigen::Index>(sizes[0]), static_cast<Eigen::Index>(sizes[1]));
  if (H5Dread(data.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.data()) < 0)
    throw Error(path + ": dataset '" + name + "' cannot be read as numbers: " + hdf5::reason());
  if (!a.allFinite())
    throw Error(path + ": dataset '" + name + "' has a number that is not finite");
  return a;
}

}  // namespace

Eigen::MatrixXd read_matrix_file(const std::string& path, const std::string& dataset) {
  const std::string ending = lower(std::filesystem::path(path).extension().string());
  if (ending == ".h5" || ending == ".hdf5" || ending == ".hdf") return read_dataset(path, dataset);
  if (ending == ".mtx") return MatrixMarket(path).read();
  throw Error(path + ": matrices are read from .mtx (Matrix Market) and .h5 (HDF5) files");
}

}  // namespace catena
