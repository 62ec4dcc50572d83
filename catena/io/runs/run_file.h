// SPDX-License-Identifier: BSD-3-Clause
// A run: the results of a simulation or an optimization in one self-contained HDF5 file (model,
// settings and version included), which any HDF5 reader opens (h5py).
//
//   const RunFile run("run.h5");
//   const Eigen::VectorXd t = run.column("time"), angle = run.column("q.elbow");
//   for (const RunEvent& e : run.events()) std::cout << e.time << " " << e.kind << "\n";
//
// Layout: attributes format, kind, version, model_path; datasets model (native YAML), settings and
// audit (JSON), columns (names, "time" first), units, rows (row by column, chunked along rows),
// events (one JSON object per line: time, kind, name, detail), checkpoints, their states and
// checksums, and progress: the valid length of the others. All datasets exist before the first row,
// and the file is written in HDF5's single-writer-multiple-reader mode: it can be read during the
// run, and after the writer was killed (the reader clears the flag that a killed writer leaves, for
// other programs).
//
// A RunWriter or RunFile, and all of them together, may be used by one thread at a time: HDF5 is
// not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct RunColumn {
  std::string name{};  // "time", "q.elbow", "v.elbow", "effort.elbow", "energy.kinetic", ...
  std::string unit{};  // "s", "rad", "m", "rad/s", ...; may be empty
};

struct RunHeader {
  std::string kind = "simulation";
  std::string model_yaml{};     // the mechanism as native YAML
  std::string model_path{};     // where it was read from, for display
  std::string settings_json{};  // all settings of the run, defaults filled in
  std::vector<RunColumn> columns{};
};

struct RunEvent {
  double time = 0.0;
  std::string kind{};    // "limit", "stick", "slip", "user", "chart", "singular", ...
  std::string name{};    // the hinge, closure or function
  std::string detail{};  // in words
};

// A point from which a run resumes to the same bits.
struct RunCheckpoint {
  double time = 0.0;
  std::int64_t rows = 0;  // written up to here; the writer fills in both
  std::int64_t events = 0;
  std::vector<double> state{};  // internal to the simulator
};

// Rows by columns, as they lie in the file.
using RunRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class RunWriter {
 public:
  // A new file; throws an Error if `path` exists and `overwrite` is false, or cannot be written.
  RunWriter(const std::string& path, const RunHeader& header, bool overwrite);
  // Goes on with a file at its last good checkpoint; rows and events after it are dropped.
  static RunWriter resume(const std::string& path);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  ~RunWriter();

  // Rows are buffered; they reach the disk with flush(), or when about a second of wall time has
  // passed. Throws an Error that names the file when the disk is full; rows already written stay.
  void append(std::span<const double> row);
  void add_event(const RunEvent& event);
  void checkpoint(const RunCheckpoint& checkpoint);
  void flush();
  // Ends the run. `complete` is false for a run that was interrupted or failed.
  void finish(std::string_view audit_json, bool complete);

  std::int64_t rows() const;
  std::int64_t events() const;

 private:
  RunWriter();
  struct File;
  std::unique_ptr<File> file_;
};

class RunFile {
 public:
  // Throws an Error that names the file and its mistake (missing, not HDF5, not a run).
  explicit RunFile(const std::string& path);
  RunFile(RunFile&&) noexcept;
  RunFile& operator=(RunFile&&) noexcept;
  ~RunFile();

  const std::string& path() const;
  const RunHeader& header() const;
  const std::string& version() const;
  bool complete() const;           // finish(…, true) was called
  bool being_written() const;      // by a program that is running now
  std::string audit_json() const;  // empty during the run
  std::int64_t rows() const;
  std::vector<RunEvent> events() const;
  // Checkpoints up to the first one with a wrong checksum, which `damage` describes. Throws an
  // Error if there are checkpoints and none is good.
  std::vector<RunCheckpoint> checkpoints(std::string* damage = nullptr) const;

  int column_index(std::string_view name) const;  // NameError with the nearest name
  Eigen::VectorXd column(std::string_view name) const;
  RunRows read(std::int64_t first, std::int64_t count) const;

  // Reads what a running simulation has added since the last call, also from a new file of the same
  // name.
  void refresh();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace catena
