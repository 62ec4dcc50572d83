// SPDX-License-Identifier: BSD-3-Clause
// Thin layer over HDF5's C interface for run files: handles that close themselves, errors as
// catena::Error, texts and datasets. Serial HDF5 is not thread-safe: one thread at a time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

namespace catena::hdf5 {

// An HDF5 identifier and the function that closes it.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close closing) : id_(id), close_(closing) {}
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    Handle moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Handle() { close(); }

  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  // False if HDF5 could not close it, for instance because the disk is full.
  bool close() noexcept { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  void swap(Handle& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
  }
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// Keeps HDF5 from printing its own errors while it lives. Everything that calls HDF5 makes one
// first, and with it the choice that HDF5 does not clean up at the program's exit: all handles
// close themselves, and after a damaged file or a full disk that clean-up complains or crashes.
class Quiet {
 public:
  Quiet() {
    [[maybe_unused]] static const herr_t kWithoutExit = H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// The reason why the last call failed: the system's message ("No space left on device") if there is
// one, else that of HDF5.
std::string reason();

// Access with the format that can be read while it is written, and without HDF5's file locks
// (a running writer is known by a lock of our own).
Handle access_settings();

// Datasets. Each throws an Error, `what` first, if HDF5 fails.
Handle open_dataset(hid_t file, const char* name, const std::string& what);
// One-dimensional or two-dimensional (columns > 0), growing along the first, in chunks of
// `chunk` entries or rows.
Handle create_growing(hid_t file, const char* name, hid_t type, hsize_t columns, hsize_t chunk,
                      const std::string& what);
// Writes entries (rows) from `first` on, after making room for them.
void write_at(hid_t dataset, hid_t type, hsize_t first, hsize_t count, hsize_t columns,
              const void* data, const std::string& what);
// Reads entries (rows) `first` to first + count, of the columns `column` to column + width.
void read_at(hid_t dataset, hid_t type, hsize_t first, hsize_t count, hsize_t column, hsize_t width,
             void* data, const std::string& what);

// Texts, UTF-8 of fixed length: an attribute, a scalar dataset, a list.
void write_attribute(hid_t file, const char* name, const std::string& text,
                     const std::string& what);
std::string read_attribute(hid_t file, const char* name, const std::string& what);
void write_texts(hid_t file, const char* name, const std::vector<std::string>& texts, bool scalar,
                 const std::string& what);
std::vector<std::string> read_texts(hid_t file, const char* name, const std::string& what);

}  // namespace catena::hdf5
