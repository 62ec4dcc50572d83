// SPDX-License-Identifier: BSD-3-Clause
// Look-up tables of a Mechanism's names.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "catena/model/mechanism.h"

namespace catena {

struct NameTables {
  std::unordered_map<std::string, int> bodies;
  std::unordered_map<std::string, int> hinges;
  std::unordered_map<std::string, int> frames;
  std::unordered_map<std::string, int> positions;
  std::unordered_map<std::string, int> velocities;
};

std::shared_ptr<const NameTables> make_name_tables(const Mechanism& mechanism);

}  // namespace catena
