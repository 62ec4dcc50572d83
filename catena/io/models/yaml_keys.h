// SPDX-License-Identifier: BSD-3-Clause
// The keys of the format, by the kind of map in which they stand. The reader refuses all others,
// docs/model.schema.json has the same (a test compares them).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace catena::yaml {

using KeyTable = std::map<std::string, std::vector<std::string>, std::less<>>;

const KeyTable& key_table();
const std::vector<std::string>& keys_of(std::string_view kind);

}  // namespace catena::yaml
