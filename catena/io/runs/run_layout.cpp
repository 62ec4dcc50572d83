// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/run_layout.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catena/base/error.h"
#include "catena/io/runs/run_file.h"

namespace catena {

void RunChecksum::add(std::span<const double> values) {
  for (const double x : values) add(std::bit_cast<std::uint64_t>(x));
}

void RunChecksum::add(std::string_view text) {
  add(text.size());
  for (const char c : text) add(static_cast<unsigned char>(c));
}

CheckpointSum::CheckpointSum(const RunHeader& run) {
  for (const std::string* text : {&run.kind, &run.model_yaml, &run.settings_json})
    header.add(*text);
  for (const RunColumn& column : run.columns) {
    header.add(column.name);
    header.add(column.unit);
  }
}

std::uint64_t CheckpointSum::value(const CheckpointRecord& record,
                                   std::span<const double> state) const {
  RunChecksum sum;
  for (const RunChecksum* part : {&header, &rows, &events}) sum.add(part->value());
  sum.add(std::span(record).first(3));  // its place in `checkpoint_states` may change
  sum.add(state);
  return std::max<std::uint64_t>(sum.value(), 1);  // 0 is none
}
namespace {

struct flock lock_of(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t{1} << 62U;
  lock.l_len = 1;
  return lock;
}

}  // namespace

WriterLock::WriterLock(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error("'" + path + "' cannot be written: " + std::strerror(errno));
  struct flock lock = lock_of(F_WRLCK);
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) {
    ::close(descriptor_);
    throw Error("'" + path + "' is being written by another program");
  }
}

WriterLock::WriterLock(WriterLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool WriterLock::held_by_another(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = lock_of(F_RDLCK);
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

std::int64_t WriterLock::file_bytes() const {
  struct stat status = {};
  return ::fstat(descriptor_, &status) == 0 ? status.st_size : 0;
}

}  // namespace catena
