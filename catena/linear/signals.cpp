// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/signals.h"

#include <set>

#include "catena/base/index.h"

namespace catena {
namespace {

std::vector<std::string> made_distinct(const std::vector<std::string>& names) {
  std::set<std::string> taken(names.begin(), names.end()), used;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    std::string chosen = name;
    // Not the name of a later signal either.
    for (int i = 2; used.contains(chosen) || (chosen != name && taken.contains(chosen)); ++i)
      chosen = name + "_" + std::to_string(i);
    used.insert(chosen);
    result.push_back(chosen);
  }
  return result;
}

}  // namespace

std::vector<std::string> joined_names(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
  std::vector<std::string> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return made_distinct(all);
}

std::vector<std::string> joined_units(const std::vector<std::string>& a, int a_count,
                                      const std::vector<std::string>& b, int b_count) {
  if (a.empty() && b.empty()) return {};
  std::vector<std::string> all = a;
  all.resize(index(a_count));
  all.insert(all.end(), b.begin(), b.end());
  all.resize(index(a_count + b_count));
  return all;
}

std::vector<std::string> picked(const std::vector<std::string>& list,
                                const std::vector<int>& indices) {
  std::vector<std::string> result;
  if (list.empty()) return result;
  for (const int i : indices) result.push_back(at(list, i));
  return result;
}

std::vector<std::string> picked_names(const std::vector<std::string>& names,
                                      const std::vector<int>& indices) {
  return made_distinct(picked(names, indices));
}

}  // namespace catena
