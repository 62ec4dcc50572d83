// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/write_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <unistd.h>

#include "catena/base/error.h"

namespace catena {
namespace fs = std::filesystem;

void write_file(const std::string& path, std::string_view text) {
  std::error_code code;
  const fs::file_status old = fs::status(path, code);  // of the target of a link
  const bool direct = fs::exists(old) && !fs::is_regular_file(old);
  const fs::path target = fs::exists(old) ? fs::canonical(path, code) : fs::path(path);
  const std::string written = direct ? path : target.string() + ".new" + std::to_string(::getpid());
  const auto fail = [&](const std::string& reason) {
    if (!direct) fs::remove(written, code);
    throw Error("'" + path + "' cannot be written: " + reason);
  };
  // A file that its owner protected is not replaced, although its folder would allow it.
  if (fs::exists(old) && ::access(path.c_str(), W_OK) != 0)
    throw Error("'" + path + "' cannot be written: " + std::strerror(errno));
  errno = 0;
  std::ofstream stream(written, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) fail(errno != 0 ? std::strerror(errno) : "the disk may be full");
  if (direct) return;
  if (fs::exists(old)) fs::permissions(written, old.permissions(), code);
  fs::rename(written, target, code);
  if (code) fail(code.message());
}

}  // namespace catena
