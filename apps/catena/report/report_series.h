// SPDX-License-Identifier: BSD-3-Clause
// The columns of a run for plots, with those that follow from recorded ones:
//
//   deflection.BODY.ATTACHMENT.x (y, z)   of a flexible body, in m, along the body's axes: distance
//                                         of an attachment from its undeformed place
//
// Long runs are thinned out, but the least and greatest values of every column stay.
#pragma once

#include <memory>
#include <vector>

#include "apps/catena/output.h"
#include "catena/dynamics/workspace.h"
#include "catena/io/runs/run_file.h"
#include "catena/model/mechanism.h"

namespace catena::app {

// Of the attachments of all flexible bodies; empty for a rigid mechanism. Cost: kinematics of each
// row.
class DeflectionColumns {
 public:
  // Throws NameError if the run lacks a coordinate.
  DeflectionColumns(const RunFile& run, const Mechanism& mechanism);

  const std::vector<RunColumn>& columns() const { return columns_; }
  // Of a row of the run, appended in the order of columns().
  void append(const Eigen::Ref<const Eigen::RowVectorXd>& row, std::vector<double>& values);

 private:
  const Mechanism& mechanism_;
  Workspace workspace_;
  Eigen::VectorXd q_;
  std::vector<int> q_columns_;
  std::vector<RunColumn> columns_;
};

// The page's columns: all rows, or the least and greatest of every `every` rows. The first is the
// time.
class Thinned {
 public:
  Thinned(std::vector<RunColumn> columns, std::int64_t rows);

  std::int64_t every() const { return every_; }
  void add(const std::vector<double>& row);
  Json document();

 private:
  struct Column {
    RunColumn column;
    std::vector<double> values{};
    double least = 0.0, greatest = 0.0;
    bool least_first = true;
  };
  void end_bucket();

  std::vector<Column> columns_;  // the first is the time, whose least comes first
  std::int64_t every_ = 1, count_ = 0;
};

}  // namespace catena::app
