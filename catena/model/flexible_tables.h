// SPDX-License-Identifier: BSD-3-Clause
// Makes the tables of flexible_table.h from the constants of a flexible body, and owns their
// memory.
#pragma once

#include <vector>

#include "catena/model/flexible_body.h"
#include "catena/model/flexible_table.h"

namespace catena {

struct FlexibleTables {
  explicit FlexibleTables(const FlexibleBody& body);
  FlexibleTables(const FlexibleTables&) = delete;  // points into itself
  FlexibleTables& operator=(const FlexibleTables&) = delete;

  FlexibleTable body;
  std::vector<AttachmentTable> attachments;

 private:
  std::vector<double> numbers_;
};

}  // namespace catena
