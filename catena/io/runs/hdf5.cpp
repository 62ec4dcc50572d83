// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/hdf5.h"

#include <algorithm>
#include <cstring>

#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena::hdf5 {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(what + ": " + reason()); }

Handle checked(hid_t id, Handle::Close close, const std::string& what) {
  if (id < 0) fail(what);
  return {id, close};
}

void check(herr_t status, const std::string& what) {
  if (status < 0) fail(what);
}

Handle text_type(std::size_t length, const std::string& what) {
  Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, what);
  check(H5Tset_size(type.get(), std::max<std::size_t>(1, length)), what);
  check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), what);
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), what);
  return type;
}

// The length of the texts of a file's type; anything else than fixed-length text is an error.
std::size_t text_length(hid_t type, const char* name, const std::string& what) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0)
    throw Error(what + ": '" + name + "' is not text of fixed length");
  return H5Tget_size(type);
}

std::string trimmed(const char* text, std::size_t size) {
  return {text, std::find(text, text + size, '\0')};
}

}  // namespace

std::string reason() {
  struct Found {
    std::string deepest, system;
  } found;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
        auto& into = *static_cast<Found*>(data);
        const std::string text = error->desc != nullptr ? error->desc : "";
        if (into.deepest.empty()) into.deepest = text;
        constexpr const char* kBefore = "error message = '";
        if (const auto at = text.find(kBefore); at != std::string::npos && into.system.empty()) {
          const auto from = at + std::strlen(kBefore);
          into.system = text.substr(from, text.find('\'', from) - from);
        }
        return 0;
      },
      &found);
  if (!found.system.empty()) return found.system;
  return found.deepest.empty() ? "HDF5 gives no reason" : found.deepest;
}

Handle access_settings() {
  const std::string what = "HDF5";
  Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), what);
  check(H5Pset_file_locking(access.get(), false, true), what);
  // Blocks of more than a few words start on multiples of 64 bytes, so that the progress record
  // lies in one page and reaches the disk whole or not at all.
  constexpr hsize_t kFrom = 32, kAlignment = 64;
  check(H5Pset_alignment(access.get(), kFrom, kAlignment), what);
  return access;
}

Handle open_dataset(hid_t file, const char* name, const std::string& what) {
  const hid_t id = H5Dopen2(file, name, H5P_DEFAULT);
  if (id < 0) throw Error(what + ": it has no dataset '" + name + "'");
  return {id, H5Dclose};
}

Handle create_growing(hid_t file, const char* name, hid_t type, hsize_t columns, hsize_t chunk,
                      const std::string& what) {
  const int rank = columns > 0 ? 2 : 1;
  const hsize_t size[] = {0, columns}, limit[] = {H5S_UNLIMITED, columns};
  const hsize_t chunks[] = {chunk, columns};
  const Handle space = checked(H5Screate_simple(rank, size, limit), H5Sclose, what);
  const Handle settings = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
  check(H5Pset_chunk(settings.get(), rank, chunks), what);
  return checked(
      H5Dcreate2(file, name, type, space.get(), H5P_DEFAULT, settings.get(), H5P_DEFAULT), H5Dclose,
      what);
}

void write_at(hid_t dataset, hid_t type, hsize_t first, hsize_t count, hsize_t columns,
              const void* data, const std::string& what) {
  if (count == 0) return;
  const int rank = columns > 0 ? 2 : 1;
  const hsize_t size[] = {first + count, columns};
  const hsize_t start[] = {first, 0}, extent[] = {count, columns};
  check(H5Dset_extent(dataset, size), what);
  const Handle space = checked(H5Dget_space(dataset), H5Sclose, what);
  const Handle memory = checked(H5Screate_simple(rank, extent, nullptr), H5Sclose, what);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr), what);
  check(H5Dwrite(dataset, type, memory.get(), space.get(), H5P_DEFAULT, data), what);
}

void read_at(hid_t dataset, hid_t type, hsize_t first, hsize_t count, hsize_t column, hsize_t width,
             void* data, const std::string& what) {
  if (count == 0) return;
  const Handle space = checked(H5Dget_space(dataset), H5Sclose, what);
  const int rank = width > 0 ? 2 : 1;
  hsize_t size[2] = {0, 0};
  if (H5Sget_simple_extent_ndims(space.get()) != rank ||
      H5Sget_simple_extent_dims(space.get(), size, nullptr) < 0 || first + count > size[0] ||
      (rank == 2 && column + width > size[1]))
    throw Error(what + ": a dataset has fewer numbers than the file says");
  const hsize_t start[] = {first, column}, extent[] = {count, width};
  const Handle memory = checked(H5Screate_simple(rank, extent, nullptr), H5Sclose, what);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr), what);
  check(H5Dread(dataset, type, memory.get(), space.get(), H5P_DEFAULT, data), what);
}

void write_attribute(hid_t file, const char* name, const std::string& text,
                     const std::string& what) {
  const Handle type = text_type(text.size(), what);
  const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, what);
  const Handle attribute = checked(
      H5Acreate2(file, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
  check(H5Awrite(attribute.get(), type.get(), text.c_str()), what);
}

std::string read_attribute(hid_t file, const char* name, const std::string& what) {
  const hid_t id = H5Aopen(file, name, H5P_DEFAULT);
  if (id < 0) throw Error(what + ": it has no attribute '" + name + "'");
  const Handle attribute(id, H5Aclose);
  const Handle type = checked(H5Aget_type(attribute.get()), H5Tclose, what);
  std::string text(text_length(type.get(), name, what), '\0');
  check(H5Aread(attribute.get(), type.get(), text.data()), what);
  return trimmed(text.data(), text.size());
}

void write_texts(hid_t file, const char* name, const std::vector<std::string>& texts, bool scalar,
                 const std::string& what) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  const Handle type = text_type(length, what);
  const hsize_t count = texts.size();
  const Handle space = scalar ? checked(H5Screate(H5S_SCALAR), H5Sclose, what)
                              : checked(H5Screate_simple(1, &count, nullptr), H5Sclose, what);
  const Handle dataset = checked(
      H5Dcreate2(file, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose, what);
  std::string block(length * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy(texts[i].begin(), texts[i].end(), block.begin() + static_cast<long>(i * length));
  check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()), what);
}

std::vector<std::string> read_texts(hid_t file, const char* name, const std::string& what) {
  const Handle dataset = open_dataset(file, name, what);
  const Handle type = checked(H5Dget_type(dataset.get()), H5Tclose, what);
  const Handle space = checked(H5Dget_space(dataset.get()), H5Sclose, what);
  const std::size_t length = text_length(type.get(), name, what);
  const auto count = to_size(H5Sget_simple_extent_npoints(space.get()));
  if (length * count > H5Dget_storage_size(dataset.get()))
    throw Error(what + ": the text '" + name + "' is incomplete");
  std::string block(length * count, '\0');
  check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()), what);
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    texts.push_back(trimmed(block.data() + i * length, length));
  return texts;
}

}  // namespace catena::hdf5
