// SPDX-License-Identifier: BSD-3-Clause
// RunWriter: see run_file.h. A new file is made under another name, complete with all its
// datasets, and then renamed: under its own name it is readable from the first moment.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/runs/hdf5.h"
#include "catena/io/runs/run_file.h"
#include "catena/io/runs/run_layout.h"

namespace catena {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = 128 << 10;     // of rows: a second of a run, rewritten
constexpr std::size_t kBufferBytes = kChunkBytes;  // rows kept in memory before they are written
constexpr hsize_t kTextChunk = 4096;
constexpr std::chrono::milliseconds kFlushEvery{500};  // half of the second that may be lost
constexpr std::int64_t kCopiedRows = 4096;             // at a time, when a run is resumed

std::string text_of(const RunEvent& event) {
  const nlohmann::ordered_json line = {
      {"time", event.time}, {"kind", event.kind}, {"name", event.name}, {"detail", event.detail}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

void check_header(const std::string& path, const RunHeader& header) {
  const auto wrong = [&](const std::string& what) { throw Error("'" + path + "': " + what); };
  if (header.columns.empty() || header.columns[0].name != "time")
    wrong("the first column of a run is 'time'");
  std::vector<std::string> names;
  names.reserve(header.columns.size());
  for (const RunColumn& column : header.columns) names.push_back(column.name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    wrong("two columns are named '" + *twice + "'");
}

// A file with all datasets, empty.
void create_file(const std::string& path, const RunHeader& header, const std::string& what) {
  const hdf5::Handle access = hdf5::access_settings();
  hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
  if (!file.valid()) throw Error(what + ": " + hdf5::reason());
  const hid_t id = file.get();
  hdf5::write_attribute(id, "format", kRunFormat, what);
  hdf5::write_attribute(id, "kind", header.kind, what);
  hdf5::write_attribute(id, "version", CATENA_VERSION, what);
  hdf5::write_attribute(id, "model_path", header.model_path, what);
  hdf5::write_attribute(id, "progress_fields", kProgressNames, what);

  // The progress record first: its place must be allocated before anything is appended.
  {
    const hsize_t size = kProgressFields;
    const hdf5::Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const hdf5::Handle settings(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_alloc_time(settings.get(), H5D_ALLOC_TIME_EARLY);
    const hdf5::Handle progress(H5Dcreate2(id, "progress", H5T_STD_I64LE, space.get(), H5P_DEFAULT,
                                           settings.get(), H5P_DEFAULT),
                                H5Dclose);
    const RunProgress none;
    if (!progress.valid() ||
        H5Dwrite(progress.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &none) < 0)
      throw Error(what + ": " + hdf5::reason());
  }
  hdf5::write_texts(id, "model", {header.model_yaml}, true, what);
  hdf5::write_texts(id, "settings", {header.settings_json}, true, what);
  std::vector<std::string> names, units;
  for (const RunColumn& column : header.columns) {
    names.push_back(column.name);
    units.push_back(column.unit);
  }
  hdf5::write_texts(id, "columns", names, false, what);
  hdf5::write_texts(id, "units", units, false, what);
  const std::size_t row_bytes = sizeof(double) * names.size();
  const hsize_t chunk = std::max<std::size_t>(1, kChunkBytes / row_bytes);
  hdf5::create_growing(id, "rows", H5T_IEEE_F64LE, names.size(), chunk, what);
  hdf5::create_growing(id, "events", H5T_STD_U8LE, 0, kTextChunk, what);
  hdf5::create_growing(id, "checkpoints", H5T_IEEE_F64LE, CheckpointRecord{}.size(), 64, what);
  hdf5::create_growing(id, "checkpoint_states", H5T_IEEE_F64LE, 0, 512, what);
  hdf5::create_growing(id, kCheckpointSums, H5T_STD_U64LE, 0, 64, what);
  hdf5::create_growing(id, "audit", H5T_STD_U8LE, 0, kTextChunk, what);
  if (!file.close()) throw Error(what + ": " + hdf5::reason());
}

}  // namespace

struct RunWriter::File {
  std::string path;
  std::size_t columns = 0;
  WriterLock lock;
  hdf5::Handle file, rows, events, checkpoints, states, sums, audit, progress;
  RunProgress done;  // on the disk
  double last_time = 0.0;
  std::vector<double> new_rows;
  std::string new_events;
  std::int64_t new_event_count = 0;
  std::vector<CheckpointRecord> new_checkpoints;
  std::vector<double> new_states;
  std::vector<std::uint64_t> new_sums;
  CheckpointSum sum;  // of everything added so far
  Clock::time_point flushed = Clock::now();
  bool failed = false;

  ~File() {
    if (!file.valid()) return;
    const hdf5::Quiet quiet;
    try {
      if (!failed) guarded([this] { flush(); });
    } catch (const Error&) {  // too late to say
    }
    close();
  }

  std::string what() const { return "'" + path + "' cannot be written"; }

  std::string temporary_name() const { return path + ".new"; }

  // A new file, locked and open, under its temporary name.
  void create(const RunHeader& header) {
    check_header(path, header);
    columns = header.columns.size();
    sum = CheckpointSum(header);
    create_file(temporary_name(), header, what());
    lock = WriterLock(temporary_name());
    const hdf5::Handle access = hdf5::access_settings();
    file = hdf5::Handle(
        H5Fopen(temporary_name().c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access.get()),
        H5Fclose);
    if (!file.valid()) throw Error(what() + ": " + hdf5::reason());
    rows = hdf5::open_dataset(file.get(), "rows", what());
    events = hdf5::open_dataset(file.get(), "events", what());
    checkpoints = hdf5::open_dataset(file.get(), "checkpoints", what());
    states = hdf5::open_dataset(file.get(), "checkpoint_states", what());
    sums = hdf5::open_dataset(file.get(), kCheckpointSums, what());
    audit = hdf5::open_dataset(file.get(), "audit", what());
    progress = hdf5::open_dataset(file.get(), "progress", what());
    write_progress(done);
  }

  void publish() {
    std::error_code code;
    std::filesystem::rename(temporary_name(), path, code);
    if (code) throw Error(what() + ": " + code.message());
  }

  void add(std::span<const double> row) {
    new_rows.insert(new_rows.end(), row.begin(), row.end());
    sum.rows.add(row);
  }

  void add(const RunEvent& event) {
    const std::string text = text_of(event);
    new_events += text;
    sum.events.add(text);
    ++new_event_count;
  }

  // Writes a checkpoint after all rows and events added so far.
  void add_checkpoint(const RunCheckpoint& checkpoint) {
    const std::vector<double>& state = checkpoint.state;
    const auto first =
        static_cast<double>(done.checkpoint_values) + static_cast<double>(new_states.size());
    const CheckpointRecord record = {checkpoint.time, static_cast<double>(checkpoint.rows),
                                     static_cast<double>(checkpoint.events), first,
                                     static_cast<double>(state.size())};
    new_checkpoints.push_back(record);
    new_sums.push_back(sum.value(record, state));
    new_states.insert(new_states.end(), state.begin(), state.end());
  }

  bool close() {
    bool good = true;
    for (hdf5::Handle* handle :
         {&rows, &events, &checkpoints, &states, &sums, &audit, &progress, &file})
      good = handle->close() && good;
    lock = WriterLock();
    return good;
  }

  std::int64_t row_count() const {
    return done.rows + static_cast<std::int64_t>(new_rows.size() / columns);
  }

  void flush() {
    RunProgress next = done;
    const auto append = [&](hdf5::Handle& dataset, hid_t type, std::int64_t& place,
                            std::size_t count, std::size_t width, const void* data) {
      if (count == 0) return;
      hdf5::write_at(dataset.get(), type, static_cast<hsize_t>(place), count, width, data, what());
      if (H5Dflush(dataset.get()) < 0) throw Error(what() + ": " + hdf5::reason());
      place += static_cast<std::int64_t>(count);
    };
    append(rows, H5T_NATIVE_DOUBLE, next.rows, new_rows.size() / columns, columns, new_rows.data());
    append(events, H5T_NATIVE_UINT8, next.event_bytes, new_events.size(), 0, new_events.data());
    next.events += new_event_count;
    append(states, H5T_NATIVE_DOUBLE, next.checkpoint_values, new_states.size(), 0,
           new_states.data());
    std::int64_t sums_place = next.checkpoints;
    append(sums, H5T_NATIVE_UINT64, sums_place, new_sums.size(), 0, new_sums.data());
    append(checkpoints, H5T_NATIVE_DOUBLE, next.checkpoints, new_checkpoints.size(),
           CheckpointRecord{}.size(), new_checkpoints.data());
    write_progress(next);
    if (!new_rows.empty()) last_time = new_rows[new_rows.size() - columns];
    new_rows.clear();
    new_events.clear();
    new_event_count = 0;
    new_checkpoints.clear();
    new_states.clear();
    new_sums.clear();
    flushed = Clock::now();
  }

  void write_progress(RunProgress next) {
    next.file_bytes = lock.file_bytes();
    if (H5Dwrite(progress.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &next) < 0 ||
        H5Dflush(progress.get()) < 0)
      throw Error(what() + ": " + hdf5::reason());
    done = next;
  }

  // After a failed write HDF5 tries again when it closes the file, and crashes when that fails.
  // So the rest goes to a file in memory that is thrown away; the file on the disk is left as it
  // is, readable like that of a killed writer.
  void divert() const {
    void* handle = nullptr;
    if (!file.valid() || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0) return;
    const int memory = ::memfd_create("catena_run", MFD_CLOEXEC);
    if (memory < 0) return;
    ::dup2(memory, *static_cast<const int*>(handle));
    ::close(memory);
  }

  // Runs a step that writes; after a failure nothing more is tried.
  template <class Step>
  void guarded(Step step) {
    const hdf5::Quiet quiet;
    if (failed) throw Error(what() + ": writing failed before");
    if (!file.valid()) throw Error(what() + ": the run has been finished");
    try {
      step();
    } catch (const Error& error) {
      failed = true;
      divert();
      throw Error(std::string(error.what()) + "; it keeps the first " + std::to_string(done.rows) +
                  " rows" + (done.rows > 0 ? ", up to time " + number(last_time) : ""));
    }
  }
};

RunWriter::RunWriter() : file_(std::make_unique<File>()) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

RunWriter::RunWriter(const std::string& path, const RunHeader& header, bool overwrite)
    : RunWriter() {
  const hdf5::Quiet quiet;
  file_->path = path;
  std::error_code code;
  if (std::filesystem::exists(path, code)) {
    if (!std::filesystem::is_regular_file(path, code))
      throw Error(file_->what() + ": it is not a file");
    if (!overwrite)
      throw Error("'" + path +
                  "' exists already; remove it, or choose another name, or overwrite it");
    if (WriterLock::held_by_another(path))
      throw Error("'" + path + "' is being written by another program; choose another name");
  }
  try {
    file_->create(header);
    file_->publish();
  } catch (const Error&) {
    file_->failed = true;
    std::filesystem::remove(file_->temporary_name(), code);
    throw;
  }
}

RunWriter RunWriter::resume(const std::string& path) {
  const hdf5::Quiet quiet;
  RunWriter writer;
  File& file = *writer.file_;
  file.path = path;
  const RunFile old(path);
  const WriterLock old_lock(path);
  const std::vector<RunCheckpoint> checkpoints = old.checkpoints();
  if (checkpoints.empty())
    throw Error("'" + path + "' has no checkpoint to go on from; run it again from the start");
  std::error_code code;
  try {
    file.create(old.header());
    const std::vector<RunEvent> events = old.events();
    std::int64_t rows = 0, lines = 0;
    for (const RunCheckpoint& one : checkpoints) {  // in order: a checksum is of all before it
      for (; rows < one.rows; rows = std::min(rows + kCopiedRows, one.rows)) {
        const RunRows block = old.read(rows, std::min(kCopiedRows, one.rows - rows));
        file.add({block.data(), to_size(block.size())});
        file.flush();
      }
      for (; lines < one.events; ++lines) file.add(events[index(lines)]);
      file.add_checkpoint(one);
    }
    file.flush();
    file.publish();
  } catch (const Error&) {
    file.failed = true;
    std::filesystem::remove(file.temporary_name(), code);
    throw;
  }
  return writer;
}

void RunWriter::append(std::span<const double> row) {
  File& file = *file_;
  if (row.size() != file.columns)
    throw Error("'" + file.path + "': a row of " + std::to_string(row.size()) + " numbers for " +
                std::to_string(file.columns) + " columns");
  file.add(row);
  if (file.new_rows.size() * sizeof(double) >= kBufferBytes ||
      Clock::now() - file.flushed >= kFlushEvery)
    flush();
}

void RunWriter::add_event(const RunEvent& event) { file_->add(event); }

void RunWriter::checkpoint(const RunCheckpoint& checkpoint) {
  file_->add_checkpoint({checkpoint.time, rows(), events(), checkpoint.state});
}

void RunWriter::flush() {
  file_->guarded([this] { file_->flush(); });
}

void RunWriter::finish(std::string_view audit_json, bool complete) {
  File& file = *file_;
  file.guarded([&] {
    file.flush();
    RunProgress next = file.done;
    hdf5::write_at(file.audit.get(), H5T_NATIVE_UINT8, 0, audit_json.size(), 0, audit_json.data(),
                   file.what());
    if (H5Dflush(file.audit.get()) < 0) throw Error(file.what() + ": " + hdf5::reason());
    next.audit_bytes = static_cast<std::int64_t>(audit_json.size());
    next.complete = complete ? 1 : 0;
    file.write_progress(next);
    if (H5Fflush(file.file.get(), H5F_SCOPE_LOCAL) < 0 || !file.close())
      throw Error(file.what() + ": " + hdf5::reason());
  });
}

std::int64_t RunWriter::rows() const { return file_->row_count(); }
std::int64_t RunWriter::events() const { return file_->done.events + file_->new_event_count; }

}  // namespace catena
