// SPDX-License-Identifier: BSD-3-Clause
// Layout of run files, shared by writer and reader: names, records and the lock of a writer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace catena {

struct RunHeader;

inline constexpr const char* kRunFormat = "catena run 1";

// The valid length of each dataset, written after the data and small enough to be written whole:
// rows and events that a killed writer left half-written do not count.
struct RunProgress {
  std::int64_t rows = 0;
  std::int64_t events = 0;
  std::int64_t event_bytes = 0;
  std::int64_t checkpoints = 0;
  std::int64_t checkpoint_values = 0;
  std::int64_t audit_bytes = 0;
  std::int64_t complete = 0;
  std::int64_t file_bytes = 0;  // the file was at least this long: a shorter one is truncated
};
inline constexpr int kProgressFields = 8;
inline constexpr const char* kProgressNames =
    "rows, events, event_bytes, checkpoints, checkpoint_values, audit_bytes, complete, file_bytes";
static_assert(sizeof(RunProgress) == kProgressFields * sizeof(std::int64_t));

// One row of the dataset `checkpoints`: time, rows, events, and where its state is in the dataset
// `checkpoint_states`. All are doubles, exact up to 2^53.
using CheckpointRecord = std::array<double, 5>;

// Checksum of 64 bits over the added data, in order. It finds damage, not forgery.
class RunChecksum {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 32U;
  }
  void add(std::span<const double> values);
  void add(std::string_view text);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x243f6a8885a308d3U;
};

// Checksum of the data that a resumed run needs: header, rows and events up to a checkpoint, and
// its state. The dataset `checkpoint_sums` has one value() for each checkpoint.
struct CheckpointSum {
  RunChecksum header, rows, events;

  CheckpointSum() = default;
  explicit CheckpointSum(const RunHeader& header);
  std::uint64_t value(const CheckpointRecord& record, std::span<const double> state) const;
};
// In files of version 0.1, which have no sums: not checked.
inline constexpr std::uint64_t kNoCheckpointSum = 0;
inline constexpr const char* kCheckpointSums = "checkpoint_sums";

// Marks a run file as being written: a lock on a byte far behind its end, which the system releases
// when the program ends, also by a crash.
class WriterLock {
 public:
  WriterLock() = default;
  // Throws an Error if the file cannot be opened for writing or another program holds the lock.
  explicit WriterLock(const std::string& path);
  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&& other) noexcept;
  ~WriterLock();

  static bool held_by_another(const std::string& path);
  std::int64_t file_bytes() const;

 private:
  int descriptor_ = -1;
};

}  // namespace catena
