// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/blocks.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {

BlockStructure::BlockStructure(std::vector<Block> blocks) : blocks_(std::move(blocks)) {
  validate();
}

void BlockStructure::add_real(std::string name, int repeats) {
  blocks_.push_back({std::move(name), BlockKind::real, repeats, repeats});
}

void BlockStructure::add_complex(std::string name, int repeats) {
  blocks_.push_back({std::move(name), BlockKind::complex, repeats, repeats});
}

void BlockStructure::add_full(std::string name, int rows, int columns) {
  blocks_.push_back({std::move(name), BlockKind::full, rows, columns});
}

const Block& BlockStructure::operator[](int k) const { return blocks_[to_size(k)]; }

int BlockStructure::rows() const { return row_offset(size()); }

int BlockStructure::columns() const { return column_offset(size()); }

int BlockStructure::row_offset(int k) const {
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += (*this)[i].rows;
  return sum;
}

int BlockStructure::column_offset(int k) const {
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += (*this)[i].columns;
  return sum;
}

bool BlockStructure::has_real() const {
  return std::any_of(blocks_.begin(), blocks_.end(),
                     [](const Block& b) { return b.kind == BlockKind::real; });
}

int BlockStructure::index(const std::string& name) const {
  std::vector<std::string> names;
  for (const Block& b : blocks_) names.push_back(b.name);
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end())
    throw NameError(
        fmt::format("there is no uncertain block \"{}\"{}", name, did_you_mean(name, names)));
  return static_cast<int>(it - names.begin());
}

Eigen::MatrixXcd BlockStructure::matrix(const std::vector<BlockValue>& values) const {
  if (to_size(size()) != values.size())
    throw Error(
        fmt::format("{} values for {} uncertain blocks; give one for each", values.size(), size()));
  Eigen::MatrixXcd delta = Eigen::MatrixXcd::Zero(rows(), columns());
  int row = 0, column = 0;
  for (int k = 0; k < size(); ++k) {
    const Block& b = (*this)[k];
    const BlockValue& v = values[to_size(k)];
    auto place = delta.block(row, column, b.rows, b.columns);
    if (b.kind == BlockKind::full) {
      if (v.matrix.rows() != b.rows || v.matrix.cols() != b.columns)
        throw Error(fmt::format("the value of block \"{}\" is {} x {}; the block is {} x {}",
                                b.name, v.matrix.rows(), v.matrix.cols(), b.rows, b.columns));
      place = v.matrix;
    } else {
      if (b.kind == BlockKind::real && v.scalar.imag() != 0.0)
        throw Error(fmt::format("the value of the real block \"{}\" is complex", b.name));
      place.diagonal().setConstant(v.scalar);
    }
    row += b.rows;
    column += b.columns;
  }
  return delta;
}

double BlockStructure::norm(const std::vector<BlockValue>& values) const {
  double largest = 0.0;
  for (int k = 0; k < size(); ++k) {
    const BlockValue& v = values[to_size(k)];
    const bool full = (*this)[k].kind == BlockKind::full;
    largest = std::max(largest, full ? lapack::norm2(v.matrix) : std::abs(v.scalar));
  }
  return largest;
}

void BlockStructure::validate() const {
  std::set<std::string> names;
  for (const Block& b : blocks_) {
    if (b.rows < 1 || b.columns < 1)
      throw Error(fmt::format("block \"{}\" is {} x {}; its sizes must be positive", b.name, b.rows,
                              b.columns));
    if (b.kind != BlockKind::full && b.rows != b.columns)
      throw Error(fmt::format("block \"{}\" repeats a scalar and is {} x {}; it must be square",
                              b.name, b.rows, b.columns));
    if (!b.name.empty() && !names.insert(b.name).second)
      throw Error(fmt::format("two uncertain blocks are named \"{}\"", b.name));
  }
}

}  // namespace catena
