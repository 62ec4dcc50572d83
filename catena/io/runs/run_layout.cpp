// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/run_layout.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catena/base/error.h"

namespace catena {
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
