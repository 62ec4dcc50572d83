// SPDX-License-Identifier: BSD-3-Clause
// RunFile: see run_file.h.
//
// The file is opened in HDF5's mode for readers beside a writer, which also reads what a killed
// writer left. Its flag in the superblock would stop other programs, so it is cleared when no
// program is writing the file and we have permission.
#include "catena/io/runs/run_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/runs/hdf5.h"
#include "catena/io/runs/run_layout.h"

namespace catena {
namespace {

hdf5::Handle open_for_reading(const std::string& path) {
  const hdf5::Handle access = hdf5::access_settings();
  // Beside a writer a checksum may be wrong for a moment, and HDF5 waits and tries again. Without
  // one it stays wrong.
  if (!WriterLock::held_by_another(path)) H5Pset_metadata_read_attempts(access.get(), 1);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.get()), H5Fclose};
}

// The status byte of a superblock of version 3: not zero while a program writes, or if it was
// killed.
bool has_writer_flag(const std::string& path) {
  constexpr std::size_t kVersionAt = 8, kFlagsAt = 11;
  char start[12] = {};
  std::ifstream stream(path, std::ios::binary);
  return stream.read(start, sizeof start) && start[kVersionAt] == 3 && start[kFlagsAt] != 0;
}

// Does what `h5clear -s --increment=0` does. Without the right to write, or beside a writer, the
// file stays as it is; it can still be read.
void clear_writer_flag(const std::string& path) {
  try {
    const WriterLock lock(path);
    const hdf5::Handle access = hdf5::access_settings();
    const hbool_t yes = true;
    H5Pset(access.get(), "clear_status_flags", &yes);
    H5Pset(access.get(), "skip_eof_check", &yes);
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
    // The end of the data in the superblock may be older than the data.
    if (file.valid()) H5Fincrement_filesize(file.get(), 0);
  } catch (const Error&) {
    return;
  }
}

struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace

struct RunFile::File {
  std::string path;
  RunHeader header;
  std::string version;
  std::vector<std::string> names;
  hdf5::Handle file, rows, events, checkpoints, states, sums, audit, progress;
  RunProgress done;
  FileIdentity opened;

  std::string what() const { return "'" + path + "' cannot be read as a run"; }

  void open() {
    std::error_code code;
    if (!std::filesystem::exists(path, code)) throw Error("'" + path + "': there is no such file");
    if (!std::filesystem::is_regular_file(path, code)) throw Error("'" + path + "' is not a file");
    if (std::ifstream(path).fail()) throw Error("'" + path + "' cannot be read: permission denied");
    opened = identity(path);
    open_datasets();
    if (has_writer_flag(path) && !WriterLock::held_by_another(path)) {
      close();
      clear_writer_flag(path);
      open_datasets();
    }
    read_header();
  }

  void close() {
    for (hdf5::Handle* handle :
         {&rows, &events, &checkpoints, &states, &sums, &audit, &progress, &file})
      handle->close();
  }

  void open_datasets() {
    file = open_for_reading(path);
    if (!file.valid()) {
      const std::string reason = hdf5::reason();
      if (H5Fis_hdf5(path.c_str()) <= 0)
        throw Error("'" + path + "' is not a run: it is not an HDF5 file, or its start is damaged");
      throw Error(what() + ": " + reason);
    }
    const hid_t id = file.get();
    if (H5Aexists(id, "format") <= 0)
      throw Error("'" + path + "' is an HDF5 file, but not a run of Catena");
    if (const std::string format = hdf5::read_attribute(id, "format", what()); format != kRunFormat)
      throw Error("'" + path + "' has the format '" + format + "'; this version of Catena reads '" +
                  kRunFormat + "'");
    rows = hdf5::open_dataset(id, "rows", what());
    events = hdf5::open_dataset(id, "events", what());
    checkpoints = hdf5::open_dataset(id, "checkpoints", what());
    states = hdf5::open_dataset(id, "checkpoint_states", what());
    if (H5Lexists(id, kCheckpointSums, H5P_DEFAULT) > 0)  // not in files of version 0.1
      sums = hdf5::open_dataset(id, kCheckpointSums, what());
    audit = hdf5::open_dataset(id, "audit", what());
    progress = hdf5::open_dataset(id, "progress", what());
    read_progress();
  }

  void read_progress() {
    RunProgress found;
    hdf5::read_at(progress.get(), H5T_NATIVE_INT64, 0, kProgressFields, 0, 0, &found, what());
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    if (bytes < found.file_bytes)
      throw Error("'" + path + "' is truncated: it has " + std::to_string(bytes) + " of " +
                  std::to_string(found.file_bytes) + " bytes; copy it again");
    for (const std::int64_t count : {found.rows, found.events, found.event_bytes, found.checkpoints,
                                     found.checkpoint_values, found.audit_bytes})
      if (count < 0 || count > bytes)
        throw Error("'" + path + "' is damaged: it says that it has " + std::to_string(count) +
                    " entries");
    done = found;
  }

  void read_header() {
    const hid_t id = file.get();
    const auto single = [&](const char* name) {
      const std::vector<std::string> texts = hdf5::read_texts(id, name, what());
      if (texts.size() != 1) throw Error(what() + ": '" + name + "' is not a single text");
      return texts[0];
    };
    version = hdf5::read_attribute(id, "version", what());
    header.kind = hdf5::read_attribute(id, "kind", what());
    header.model_path = hdf5::read_attribute(id, "model_path", what());
    header.model_yaml = single("model");
    header.settings_json = single("settings");
    names = hdf5::read_texts(id, "columns", what());
    const std::vector<std::string> units = hdf5::read_texts(id, "units", what());
    if (names.empty() || names[0] != "time" || units.size() != names.size())
      throw Error(what() + ": its columns must have names, 'time' first, and as many units");
    header.columns.clear();
    for (std::size_t i = 0; i < names.size(); ++i) header.columns.push_back({names[i], units[i]});
  }

  std::string read_bytes(const hdf5::Handle& dataset, std::int64_t count) const {
    std::string text(to_size(count), '\0');
    hdf5::read_at(dataset.get(), H5T_NATIVE_UINT8, 0, text.size(), 0, 0, text.data(), what());
    return text;
  }
};

RunFile::RunFile(const std::string& path) : file_(std::make_unique<File>()) {
  const hdf5::Quiet quiet;
  file_->path = path;
  file_->open();
}
RunFile::RunFile(RunFile&&) noexcept = default;
RunFile& RunFile::operator=(RunFile&&) noexcept = default;
RunFile::~RunFile() = default;

const std::string& RunFile::path() const { return file_->path; }
const RunHeader& RunFile::header() const { return file_->header; }
const std::string& RunFile::version() const { return file_->version; }
bool RunFile::complete() const { return file_->done.complete != 0; }
bool RunFile::being_written() const { return WriterLock::held_by_another(file_->path); }
std::int64_t RunFile::rows() const { return file_->done.rows; }

std::string RunFile::audit_json() const {
  const hdf5::Quiet quiet;
  return file_->read_bytes(file_->audit, file_->done.audit_bytes);
}

std::vector<RunEvent> RunFile::events() const {
  const hdf5::Quiet quiet;
  const std::string text = file_->read_bytes(file_->events, file_->done.event_bytes);
  std::vector<RunEvent> events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    try {
      const auto line = nlohmann::json::parse(text.begin() + static_cast<long>(at),
                                              text.begin() + static_cast<long>(end));
      events.push_back({line.at("time"), line.at("kind"), line.at("name"), line.at("detail")});
    } catch (const nlohmann::json::exception&) {
      throw Error("'" + file_->path + "' is damaged: its event " +
                  std::to_string(events.size() + 1) + " cannot be read");
    }
    at = end + 1;
  }
  return events;
}

namespace {

// The checksum of a run's rows and events, up to a place that only moves forward.
class CheckedRun {
 public:
  CheckedRun(const RunFile& run, std::string events)
      : run_(run), events_(std::move(events)), sum_(run.header()) {}

  // Moves past so many rows and events; false if the file has fewer.
  bool advance(double rows, double events) {
    if (!(rows >= static_cast<double>(rows_) && rows <= static_cast<double>(run_.rows()) &&
          events >= static_cast<double>(lines_)))
      return false;
    const auto until = static_cast<std::int64_t>(rows);
    while (rows_ < until) {
      const RunRows block = run_.read(rows_, std::min(kRowsAtATime, until - rows_));
      sum_.rows.add({block.data(), to_size(block.size())});
      rows_ += block.rows();
    }
    for (; static_cast<double>(lines_) < events; ++lines_) {
      const std::size_t end = events_.find('\n', at_);
      if (end == std::string::npos) return false;
      sum_.events.add(std::string_view(events_).substr(at_, end + 1 - at_));
      at_ = end + 1;
    }
    return true;
  }
  const CheckpointSum& sum() const { return sum_; }

 private:
  static constexpr std::int64_t kRowsAtATime = 4096;
  const RunFile& run_;
  std::string events_;
  CheckpointSum sum_;
  std::int64_t rows_ = 0, lines_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<RunCheckpoint> RunFile::checkpoints(std::string* damage) const {
  const hdf5::Quiet quiet;
  std::vector<CheckpointRecord> records(to_size(file_->done.checkpoints));
  std::vector<double> values(to_size(file_->done.checkpoint_values));
  hdf5::read_at(file_->checkpoints.get(), H5T_NATIVE_DOUBLE, 0, records.size(), 0,
                CheckpointRecord{}.size(), records.data(), file_->what());
  hdf5::read_at(file_->states.get(), H5T_NATIVE_DOUBLE, 0, values.size(), 0, 0, values.data(),
                file_->what());
  std::vector<std::uint64_t> sums(records.size(), kNoCheckpointSum);
  if (file_->sums.valid())
    hdf5::read_at(file_->sums.get(), H5T_NATIVE_UINT64, 0, sums.size(), 0, 0, sums.data(),
                  file_->what());
  CheckedRun checked(*this, file_->done.event_bytes > 0
                                ? file_->read_bytes(file_->events, file_->done.event_bytes)
                                : std::string());
  std::vector<RunCheckpoint> checkpoints;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const CheckpointRecord& record = records[k];
    const auto [time, rows, events, first, size] = record;
    const bool has_state =
        first >= 0.0 && size >= 0.0 && first + size <= static_cast<double>(values.size());
    const std::span<const double> state =
        has_state ? std::span(values).subspan(static_cast<std::size_t>(first),
                                              static_cast<std::size_t>(size))
                  : std::span<const double>();
    if (!has_state || !checked.advance(rows, events) ||
        (sums[k] != kNoCheckpointSum && sums[k] != checked.sum().value(record, state))) {
      std::string message = "'" + file_->path + "' is damaged before or at checkpoint " +
                            std::to_string(k + 1) + " of " + std::to_string(records.size());
      if (checkpoints.empty())
        throw Error(message + "; no checkpoint before it is good: run it again from the start");
      if (damage != nullptr)
        *damage = message + "; the last good one is at " + number(checkpoints.back().time) + " s";
      break;
    }
    checkpoints.push_back({time,
                           static_cast<std::int64_t>(rows),
                           static_cast<std::int64_t>(events),
                           {state.begin(), state.end()}});
  }
  return checkpoints;
}

int RunFile::column_index(std::string_view name) const {
  const auto& names = file_->names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw NameError("'" + file_->path + "' has no column '" + std::string(name) + "'" +
                    did_you_mean(name, names));
  return static_cast<int>(found - names.begin());
}

Eigen::VectorXd RunFile::column(std::string_view name) const {
  const hdf5::Quiet quiet;
  const int index = column_index(name);
  Eigen::VectorXd values(rows());
  hdf5::read_at(file_->rows.get(), H5T_NATIVE_DOUBLE, 0, static_cast<hsize_t>(rows()),
                static_cast<hsize_t>(index), 1, values.data(), file_->what());
  return values;
}

RunRows RunFile::read(std::int64_t first, std::int64_t count) const {
  const hdf5::Quiet quiet;
  if (first < 0 || count < 0 || first + count > rows())
    throw Error("'" + file_->path + "' has " + std::to_string(rows()) + " rows; rows " +
                std::to_string(first) + " to " + std::to_string(first + count) + " were asked for");
  const auto width = static_cast<Eigen::Index>(file_->names.size());
  RunRows block(count, width);
  hdf5::read_at(file_->rows.get(), H5T_NATIVE_DOUBLE, static_cast<hsize_t>(first),
                static_cast<hsize_t>(count), 0, static_cast<hsize_t>(width), block.data(),
                file_->what());
  return block;
}

void RunFile::refresh() {
  const hdf5::Quiet quiet;
  File& file = *file_;
  if (identity(file.path) != file.opened) {
    file.close();
    file.open();
    return;
  }
  // The record is read first: the data are then at least as new as the record.
  H5Drefresh(file.progress.get());
  file.read_progress();
  for (const hdf5::Handle* dataset :
       {&file.rows, &file.events, &file.checkpoints, &file.states, &file.audit})
    if (H5Drefresh(dataset->get()) < 0) throw Error(file.what() + ": " + hdf5::reason());
}

}  // namespace catena
