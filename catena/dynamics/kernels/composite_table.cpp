// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/kernels/composite_table.h"

#include <algorithm>
#include <span>

#include "catena/base/index.h"
#include "catena/spatial/quad.h"

namespace catena {

CompositeStore::CompositeStore(const Mechanism& mechanism) {
  const std::span<const Node> nodes = mechanism.nodes();
  const int count = static_cast<int>(nodes.size());
  const int freedoms = mechanism.freedoms();
  std::vector<int> size(nodes.size(), 1), last(nodes.size());
  std::vector<bool> is_last_child(nodes.size());
  std::vector<double> mass(nodes.size());
  for (std::size_t n = nodes.size(); n-- > 0;) {
    last[n] = std::max(last[n], static_cast<int>(n));
    mass[n] += nodes[n].mass;
    if (last[n] - static_cast<int>(n) + 1 != size[n]) return;
    if (nodes[n].parent < 0) continue;
    const auto parent = to_size(nodes[n].parent);
    is_last_child[n] = size[parent] == 1;
    size[parent] += size[n];
    last[parent] = std::max(last[parent], last[n]);
    mass[parent] += mass[n];
  }

  // A group of four may reach over the end.
  const int stride = (freedoms + 2 * kQuad - 2) / kQuad * kQuad;
  placements_ = lines_of(12 * count);
  inertias_ = lines_of(10 * stride);
  branch_ends_.resize(to_size(freedoms));
  tree_ends_.resize(branch_ends_.size());
  levels_.resize(nodes.size());
  int level_count = 1;
  double* const placements = placements_.empty() ? nullptr : placements_.front().numbers;
  double* const inertias = inertias_.empty() ? nullptr : inertias_.front().numbers;
  int covered = 0;
  for (int n = 0; n < count; ++n) {
    const auto k = to_size(n);
    const Node& node = nodes[k];
    const int v = node.v_index;
    for (int i = 0; i < 3; ++i) {
      std::copy_n(node.rotation + 3 * i, 3, placements + 12 * n + 4 * i);
      placements[12 * n + 4 * i + 3] = node.translation[i];
      inertias[(6 + i) * stride + v] = node.mass_moment[i];
    }
    for (int i = 0; i < 6; ++i) inertias[i * stride + v] = node.inertia[i];
    inertias[9 * stride + v] = mass[k];
    const Node& end = nodes[index(last[k])];
    const int branch_end = end.v_index + end.freedoms;
    std::fill_n(branch_ends_.begin() + v, node.freedoms, branch_end);
    const auto parent = to_size(node.parent);
    const bool is_root = node.parent < 0;
    std::fill_n(tree_ends_.begin() + v, node.freedoms,
                is_root ? branch_end : tree_ends_[index(nodes[parent].v_index)]);
    levels_[k] = is_root ? 0 : levels_[parent] + (is_last_child[k] ? 0 : 1);
    level_count = std::max(level_count, levels_[k] + 1);
    if (v < covered) continue;
    groups_.push_back(v);
    covered = v + kQuad;
  }
  // What CompositeRows, InverseRows and SolveRows have.
  scratch_ = lines_of(std::max({39 * stride, (24 + 6 * level_count) * stride,
                                (18 + kSolveColumns) * stride + 6 * kSolveColumns * level_count}));
  table_ = {stride,
            placements,
            inertias,
            branch_ends_.data(),
            tree_ends_.data(),
            levels_.data(),
            groups_.data(),
            static_cast<int>(groups_.size())};
}

}  // namespace catena
