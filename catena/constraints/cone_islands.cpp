// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/cone_islands.h"

#include <algorithm>

#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Law = ConeProblem::Law;

// Blocks that no entry of W connects are problems of their own. By block: the number of its island.
std::vector<int> find_islands(const ConeProblem& problem, int& count) {
  const std::size_t blocks = problem.blocks.size();
  std::vector<int> root(blocks), block_of_row(index(problem.b.size()));
  for (std::size_t k = 0; k < blocks; ++k) {
    root[k] = static_cast<int>(k);
    for (int r = 0; r < (problem.blocks[k].law == Law::cone ? 3 : 1); ++r)
      block_of_row[index(problem.blocks[k].row + r)] = static_cast<int>(k);
  }
  const auto find = [&](int k) {
    while (root[index(k)] != k) k = root[index(k)] = root[index(root[index(k)])];
    return k;
  };
  for (Index j = 0; j < problem.b.size(); ++j)
    for (Index i = problem.symmetric ? j + 1 : 0; i < problem.b.size(); ++i) {
      if (problem.w(i, j) == 0.0) continue;
      const int a = find(block_of_row[index(i)]), b = find(block_of_row[index(j)]);
      root[index(std::max(a, b))] = std::min(a, b);
    }
  count = 0;
  std::vector<int> island(blocks);
  for (std::size_t k = 0; k < blocks; ++k) {
    const int first = find(static_cast<int>(k));
    island[k] = first == static_cast<int>(k) ? count++ : island[index(first)];
  }
  return island;
}

}  // namespace

std::vector<ConeIsland> divide_into_islands(const ConeProblem& problem) {
  int count = 0;
  const std::vector<int> island = find_islands(problem, count);
  if (count <= 1) return {};
  std::vector<ConeIsland> islands(index(count));
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    ConeIsland& own = islands[index(island[k])];
    own.blocks.push_back(static_cast<int>(k));
    own.problem.blocks.push_back(problem.blocks[k]);
    own.problem.blocks.back().row = static_cast<int>(own.rows.size());
    for (int r = 0; r < (problem.blocks[k].law == Law::cone ? 3 : 1); ++r)
      own.rows.push_back(problem.blocks[k].row + r);
  }
  for (ConeIsland& own : islands) {
    own.problem.symmetric = problem.symmetric;
    own.problem.w = problem.w(own.rows, own.rows);
    own.problem.b = problem.b(own.rows);
  }
  return islands;
}

}  // namespace catena
