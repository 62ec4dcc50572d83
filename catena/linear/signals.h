// SPDX-License-Identifier: BSD-3-Clause
// Lists of signal names and units when systems are put together.
#pragma once

#include <string>
#include <vector>

namespace catena {

// Both lists, one after the other; a name that appears again gets _2, _3, ....
std::vector<std::string> joined_names(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);
// Both lists of units; empty if both are.
std::vector<std::string> joined_units(const std::vector<std::string>& a, int a_count,
                                      const std::vector<std::string>& b, int b_count);
// The entries with these indices; of an empty list nothing.
std::vector<std::string> picked(const std::vector<std::string>& list,
                                const std::vector<int>& indices);
// The same of names: one that is picked twice gets _2, _3, ....
std::vector<std::string> picked_names(const std::vector<std::string>& names,
                                      const std::vector<int>& indices);

}  // namespace catena
