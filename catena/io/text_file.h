// SPDX-License-Identifier: BSD-3-Clause
// Reads whole text files; refuses folders, devices, huge files and bytes that are not UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catena/base/error.h"

namespace catena {

// The content of a file, or nothing and one more diagnostic that says why.
std::optional<std::string> read_text_file(const std::string& path,
                                          std::vector<Diagnostic>& diagnostics);

// True for UTF-8 without control characters other than tab and line ends; otherwise one more
// diagnostic with the line of the first byte that is wrong.
bool check_text(std::string_view text, const std::string& file,
                std::vector<Diagnostic>& diagnostics);

// The text with every byte that is not UTF-8 read as Latin-1; `line` of the first, or 0. A text in
// UTF-16 stays as it is.
std::string without_latin1(std::string_view text, int& line);

}  // namespace catena
