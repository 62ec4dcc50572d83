// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "catena/base/index.h"

namespace catena {
namespace {

// A mechanism of 100,000 bodies needs about 30 MB.
constexpr std::uintmax_t kLargestFile = 256U << 20U;

// Length of the UTF-8 sequence that starts here, 0 if it is malformed (overlong forms, surrogates
// and code points above U+10FFFF included).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (byte(i) & 0xc0U) == 0x80;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    const bool overlong = lead == 0xf0 && byte(1) < 0x90;
    const bool too_large = lead == 0xf4 && byte(1) >= 0x90;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

}  // namespace

std::optional<std::string> read_text_file(const std::string& path,
                                          std::vector<Diagnostic>& diagnostics) {
  const auto fail = [&](const std::string& why) {
    Diagnostic problem;
    problem.source.file = path;
    problem.message = why;
    diagnostics.push_back(std::move(problem));
    return std::nullopt;
  };
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) return fail("there is no such file");
  if (code) return fail("cannot be read: " + code.message());
  if (fs::is_directory(status)) return fail("is a folder; give a file");
  if (!fs::is_regular_file(status)) return fail("is not a regular file");
  const std::uintmax_t size = fs::file_size(path, code);
  if (code) return fail("cannot be read: " + code.message());
  if (size > kLargestFile)
    return fail("is larger than " + std::to_string(kLargestFile >> 20U) + " MB");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text(to_size(size), '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(size))) {
    const int reason = errno;
    return fail(std::string("cannot be read: ") +
                (reason != 0 ? std::strerror(reason) : "its size changed"));
  }
  return text;
}

bool check_text(std::string_view text, const std::string& file,
                std::vector<Diagnostic>& diagnostics) {
  const auto fail = [&](int line, const char* why) {
    Diagnostic problem;
    problem.source = {file, line};
    problem.message = std::string(why) + "; save it as plain UTF-8 text";
    diagnostics.push_back(std::move(problem));
    return false;
  };
  if (is_utf16(text)) return fail(1, "is UTF-16");
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = sequence_length(text.substr(i, 4));
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
      return fail(line, "has a control character");
    if (length == 0) return fail(line, "has a byte that is not UTF-8");
    // A line ends with \n, or with \r alone.
    if (c == '\n' || (c == '\r' && !(i + 1 < text.size() && text[i + 1] == '\n'))) ++line;
    i += length;
  }
  return true;
}

std::string without_latin1(std::string_view text, int& line) {
  line = 0;
  if (is_utf16(text)) return std::string(text);
  std::string converted;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text.substr(i, 4));
    if (length > 0) {
      i += length;
      continue;
    }
    if (line == 0)
      line = 1 + static_cast<int>(
                     std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n'));
    const unsigned byte = static_cast<unsigned char>(text[i]);
    converted += text.substr(copied, i - copied);
    converted += static_cast<char>(0xc0U | byte >> 6U);
    converted += static_cast<char>(0x80U | (byte & 0x3fU));
    copied = ++i;
  }
  converted += text.substr(copied);
  return converted;
}

}  // namespace catena
