// SPDX-License-Identifier: BSD-3-Clause
// Recorders write the rows, events and checkpoints of a simulation: to a run file, a CSV file, or
// memory.
//
//   MemoryRecorder record;
//   simulate(robot, state, settings, record);
//   const Eigen::VectorXd angle = record.column("q.elbow");
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/io/runs/csv.h"
#include "catena/io/runs/run_file.h"

namespace catena {

class Recorder {
 public:
  virtual ~Recorder() = default;
  // Before the first row, once.
  virtual void begin(std::span<const RunColumn> columns) = 0;
  virtual void append(std::span<const double> row) = 0;
  virtual void add_event(const RunEvent& event) = 0;
  virtual void checkpoint(const RunCheckpoint& checkpoint) = 0;
  // `complete` is false for a run that was interrupted or failed.
  virtual void finish(const std::string& audit_json, bool complete) = 0;
};

class MemoryRecorder final : public Recorder {
 public:
  void begin(std::span<const RunColumn> columns) override;
  void append(std::span<const double> row) override;
  void add_event(const RunEvent& event) override { events_.push_back(event); }
  void checkpoint(const RunCheckpoint& checkpoint) override { checkpoints_.push_back(checkpoint); }
  void finish(const std::string& audit_json, bool complete) override;

  std::span<const RunColumn> columns() const { return columns_; }
  Eigen::Index rows() const;
  // By name; NameError with the nearest.
  Eigen::VectorXd column(const std::string& name) const;
  double value(Eigen::Index row, const std::string& name) const { return column(name)[row]; }
  const std::vector<RunEvent>& events() const { return events_; }
  const std::vector<RunCheckpoint>& checkpoints() const { return checkpoints_; }
  const std::vector<double>& values() const { return values_; }  // row by row
  const std::string& audit_json() const { return audit_; }
  bool complete() const { return complete_; }

 private:
  std::vector<RunColumn> columns_;
  std::vector<double> values_;
  std::vector<RunEvent> events_;
  std::vector<RunCheckpoint> checkpoints_;
  std::string audit_;
  bool complete_ = false;
};

// A CSV file of the rows; events and checkpoints are not kept.
class CsvRecorder final : public Recorder {
 public:
  explicit CsvRecorder(std::string path) : path_(std::move(path)) {}
  void begin(std::span<const RunColumn> columns) override;
  void append(std::span<const double> row) override { writer_->append(row); }
  void add_event(const RunEvent&) override {}
  void checkpoint(const RunCheckpoint&) override {}
  void finish(const std::string&, bool) override { writer_->close(); }

 private:
  std::string path_;
  std::optional<CsvWriter> writer_;
};

// A run file, which the report and the viewer read and from which a run can be resumed.
class RunRecorder final : public Recorder {
 public:
  // The columns of the header come from begin().
  RunRecorder(std::string path, RunHeader header, bool overwrite);
  // Goes on with a file at its last checkpoint.
  explicit RunRecorder(const std::string& path) : writer_(RunWriter::resume(path)) {}
  void begin(std::span<const RunColumn> columns) override;
  void append(std::span<const double> row) override { writer_->append(row); }
  void add_event(const RunEvent& event) override { writer_->add_event(event); }
  void checkpoint(const RunCheckpoint& checkpoint) override { writer_->checkpoint(checkpoint); }
  void finish(const std::string& audit_json, bool complete) override {
    writer_->finish(audit_json, complete);
  }

 private:
  std::string path_;
  RunHeader header_;
  bool overwrite_ = false;
  std::optional<RunWriter> writer_;
};

}  // namespace catena
