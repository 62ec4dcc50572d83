// SPDX-License-Identifier: BSD-3-Clause
// Disjoint sets, for the graph of a mechanism.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "catena/base/index.h"

namespace catena {

class UnionFind {
 public:
  explicit UnionFind(int n) : parent_(to_size(n)) { std::iota(parent_.begin(), parent_.end(), 0); }
  int find(int i) {
    while (at(i) != i) {
      at(i) = at(at(i));
      i = at(i);
    }
    return i;
  }
  // The set of both is represented by its smallest element. False if they were joined already.
  bool join(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    at(std::max(a, b)) = std::min(a, b);
    return true;
  }

 private:
  int& at(int i) { return parent_[index(i)]; }
  std::vector<int> parent_;
};

}  // namespace catena
