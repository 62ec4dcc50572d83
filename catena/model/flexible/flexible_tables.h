// SPDX-License-Identifier: BSD-3-Clause
// Makes the tables of flexible_table.h from the constants of a flexible body, and owns their
// memory.
#pragma once

#include <memory>
#include <vector>

#include "catena/model/flexible/flexible_completion.h"
#include "catena/model/flexible_body.h"
#include "catena/model/flexible_table.h"

namespace catena {

struct FlexibleTables {
  // `completed`: null, or the inertia to use.
  FlexibleTables(const FlexibleBody& body, const CompletedInertia* completed);
  FlexibleTables(const FlexibleTables&) = delete;  // points into itself
  FlexibleTables& operator=(const FlexibleTables&) = delete;

  FlexibleTable body;
  CompletionTable completion;
  std::vector<AttachmentTable> attachments;

 private:
  using Blocks = std::vector<const Eigen::MatrixXd*>;  // null: zero
  const double* keep(std::vector<double> numbers);
  const double* rows_of(const std::vector<Eigen::RowVectorXd>& rows);
  BlockMatrix pack(const Blocks& blocks, int n);
  void complete(const CompletedInertia& inertia, int n);

  std::vector<std::unique_ptr<const std::vector<double>>> numbers_;
  std::vector<std::unique_ptr<const std::vector<BlockMatrix::Run>>> runs_;
};

}  // namespace catena
