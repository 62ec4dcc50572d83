// SPDX-License-Identifier: BSD-3-Clause
// What the writer and the reader of run files share: names, records and the lock of a writer.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace catena {

inline constexpr const char* kRunFormat = "catena run 1";

// How much of each dataset is valid, written after what it counts and small enough to be written
// whole: rows and events that a killed writer left half-written do not count.
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

// Says that a program is writing a run file: a lock on a byte far behind its end, which the system
// drops when the program ends, however it ends.
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
