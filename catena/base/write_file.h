// SPDX-License-Identifier: BSD-3-Clause
// Text files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace catena {

// Writes `text` to a new file beside `path` and renames it: when the disk is full or the program is
// killed, the old file stays as it was. Devices and pipes are written directly. Throws an Error
// that names the file and the system's reason.
void write_file(const std::string& path, std::string_view text);

}  // namespace catena
