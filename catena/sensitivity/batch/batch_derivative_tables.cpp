// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/batch/batch_derivative_tables.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/sensitivity/workspace.h"

namespace catena {
namespace {

template <class T>
int size_of(const std::vector<T>& x) {
  return static_cast<int>(x.size());
}

}  // namespace

BatchDerivativeTables::BatchDerivativeTables(const Mechanism& mechanism,
                                             const MatrixPattern& pattern,
                                             const BatchModel& batch) {
  model.batch = &batch;
  model.pattern = pattern;
  make_paths(mechanism);
  law_of_.assign(index(pattern.size), -1);
  for (int i = 0; i < batch.law_count; ++i) law_of_[index(batch.laws[i].v_index)] = i;
  make_drives(mechanism);
  find_free_roots(mechanism);
  make_stretches();
  make_groups();
  model.path = path_.data();
  model.first_path = first_path_.data();
  model.outboard = outboard_.data();
  model.first_outboard = first_outboard_.data();
  model.stretches = stretches_.data();
  model.stretch_count = size_of(stretches_);
  model.node_of = node_of_.data();
  model.law_of = law_of_.data();
  model.groups = groups_.data();
  model.group_count = size_of(groups_);
  model.columns = columns_.data();
  model.blocks = blocks_.data();
  model.known = known_.data();
  model.free_roots = free_roots_.data();
  model.free_root_count = size_of(free_roots_);
  model.drives = drives_.data();
  model.drive_count = size_of(drives_);
  model.rotors = rotors_.data();
  model.first_rotor = first_rotor_.data();
}

std::span<const int> BatchDerivativeTables::path_of(int freedom) const {
  const int first = first_path_[index(freedom)];
  return {path_.data() + first, index(first_path_[index(freedom) + 1] - first)};
}

// Number of freedoms that two paths share; they come first in both.
int BatchDerivativeTables::shared(int a, int b) const {
  const std::span<const int> x = path_of(a), y = path_of(b);
  return static_cast<int>(std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first - x.begin());
}

void BatchDerivativeTables::make_paths(const Mechanism& mechanism) {
  const MatrixPattern& pattern = model.pattern;
  node_of_.resize(index(pattern.size));
  for (std::size_t i = 0; i < mechanism.nodes().size(); ++i)
    for (int k = 0; k < mechanism.nodes()[i].freedoms; ++k)
      node_of_[index(mechanism.nodes()[i].v_index + k)] = static_cast<int>(i);
  for (int k = 0; k < pattern.size; ++k) {
    first_path_.push_back(size_of(path_));
    path_.insert(path_.end(), pattern.inboard + pattern.first_inboard[k],
                 pattern.inboard + pattern.first_inboard[k + 1]);
    path_.push_back(k);
  }
  first_path_.push_back(size_of(path_));
  for (int k = 0; k < pattern.size; ++k) {
    first_outboard_.push_back(size_of(outboard_));
    for (int i = k + 1; i < pattern.size; ++i) {
      const std::span<const int> path = path_of(i);
      if (std::binary_search(path.begin(), path.end(), k)) outboard_.push_back(i);
    }
  }
  first_outboard_.push_back(size_of(outboard_));
}

void BatchDerivativeTables::make_drives(const Mechanism& mechanism) {
  drives_ = drive_terms(mechanism);
  for (int k = 0; k < model.pattern.size; ++k) {
    first_rotor_.push_back(size_of(rotors_));
    for (int d = 0; d < size_of(drives_); ++d) {
      bool concerned = drives_[index(d)].freedom == k;
      for (int i = drives_[index(d)].carrier; i >= 0 && !concerned;
           i = mechanism.nodes()[index(i)].parent)
        concerned = i == node_of_[index(k)];
      if (concerned) rotors_.push_back(d);
    }
  }
  first_rotor_.push_back(size_of(rotors_));
}

void BatchDerivativeTables::find_free_roots(const Mechanism& mechanism) {
  known_.assign(index(model.pattern.size), KnownColumns::none);
  for (std::size_t i = 0; i < mechanism.nodes().size(); ++i) {
    const Node& node = mechanism.nodes()[i];
    if (node.hinge != NodeHinge::free || node.parent >= 0 || node.reversed) continue;
    const auto own = law_of_.begin() + node.v_index;
    if (std::any_of(own, own + node.freedoms, [](int law) { return law >= 0; })) continue;
    free_roots_.push_back({static_cast<int>(i), node.v_index});
    for (int k = 0; k < 6; ++k)
      known_[index(node.v_index + k)] = k < 3 ? KnownColumns::by_q : KnownColumns::both;
  }
}

void BatchDerivativeTables::make_stretches() {
  std::vector<int> next(index(model.pattern.size));  // freedoms right outboard of each
  for (int k = 0; k < model.pattern.size; ++k)
    if (const std::span<const int> path = path_of(k); path.size() > 1)
      ++next[index(path[path.size() - 2])];
  std::vector<int> stretch_at(index(model.pattern.size), -1);  // that ends with the freedom
  for (int k = 0; k < model.pattern.size; ++k) {
    const std::span<const int> path = path_of(k);
    const int inner = path.size() > 1 ? path[path.size() - 2] : -1;
    const int before = inner >= 0 && next[index(inner)] == 1 ? stretch_at[index(inner)] : -1;
    const bool goes_on = before >= 0 && stretches_[index(before)].rows < 3;
    if (!goes_on) stretches_.push_back({.row = {k, k, k}});
    stretch_at[index(k)] = goes_on ? before : size_of(stretches_) - 1;
    Stretch& stretch = stretches_[index(stretch_at[index(k)])];
    for (int i = stretch.rows; i < 3; ++i) stretch.row[i] = k;
    ++stretch.rows;
  }
}

void BatchDerivativeTables::make_groups() {
  const MatrixPattern& pattern = model.pattern;
  const int n = pattern.size;
  std::vector<int> rows, last;
  for (int k = 0; k < n; ++k) {
    rows.clear();
    for (int i = pattern.first_segment[k]; i < pattern.first_segment[k + 1]; ++i)
      if (pattern.segments[i].kind != RowSegment::Kind::none)
        for (int r = 0; r < pattern.segments[i].count; ++r)
          rows.push_back(pattern.segments[i].first + r);
    if (k == 0 || rows != last) {
      groups_.push_back({.first = k});
      make_blocks(groups_.back(), rows);
    }
    ++groups_.back().count;
    last = rows;
  }
  for (ColumnGroup& group : groups_) {
    model.most_columns = std::max(model.most_columns, group.count);
    group.first_column = size_of(columns_);
    for (int k = 0; k < group.count; ++k) {
      const int freedom = group.first + k;
      const KnownColumns known = known_[index(freedom)];
      if (known == KnownColumns::none) columns_.push_back({k, freedom});
      if (known != KnownColumns::both) columns_.push_back({group.count + k, n + freedom});
    }
    group.column_count = size_of(columns_) - group.first_column;
  }
}

// `rows`: where the columns of the group have entries. Blocks are stretches without a branch.
void BatchDerivativeTables::make_blocks(ColumnGroup& group, const std::vector<int>& rows) {
  const auto inner = [&](int freedom) {
    const std::span<const int> path = path_of(freedom);
    return path.size() > 1 ? path[path.size() - 2] : -1;
  };
  std::vector<RowBlock> stretches;
  for (const int r : rows) {
    const bool goes_on =
        !stretches.empty() && stretches.back().rows < 3 && inner(r) >= 0 &&
        inner(r) == stretches.back().row[stretches.back().rows - 1] &&
        std::count_if(rows.begin(), rows.end(), [&](int x) { return inner(x) == inner(r); }) == 1;
    if (!goes_on) stretches.push_back({.row = {r, r, r}});
    RowBlock& block = stretches.back();
    for (int i = block.rows; i < 3; ++i) block.row[i] = r;
    ++block.rows;
  }
  group.first_inward = size_of(blocks_);
  for (RowBlock block : stretches) {
    block.first = size_of(path_);
    for (const int r : rows) {
      const std::span<const int> path = path_of(r);
      if (std::binary_search(path.begin(), path.end(), block.row[0])) path_.push_back(r);
    }
    block.count = size_of(path_) - block.first;
    blocks_.push_back(block);
  }
  group.first_outward = size_of(blocks_);
  for (RowBlock block : stretches) {
    const int last = block.row[block.rows - 1];
    block.first = first_path_[index(last)];
    block.count = first_path_[index(last) + 1] - block.first;
    blocks_.push_back(block);
  }
  // Rows of other limbs: the common part of their paths and the group's.
  const std::size_t others = blocks_.size();
  for (int r = 0; r < model.pattern.size; ++r) {
    if (std::binary_search(rows.begin(), rows.end(), r)) continue;
    const int count = shared(r, group.first);
    if (blocks_.size() == others || blocks_.back().rows == 3 || blocks_.back().count != count)
      blocks_.push_back({.row = {r, r, r}, .first = first_path_[index(r)], .count = count});
    RowBlock& block = blocks_.back();
    for (int i = block.rows; i < 3; ++i) block.row[i] = r;
    ++block.rows;
  }
  group.end_outward = size_of(blocks_);
}

}  // namespace catena
