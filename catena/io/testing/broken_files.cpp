// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/testing/broken_files.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "catena/base/testing/temporary_folder.h"
#include "catena/io/load.h"

namespace catena {
namespace {

// One mistake may cause several messages, but not many.
constexpr std::size_t kMostErrors = 4;

int line_of(const std::string& text, std::size_t place) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(place);
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

std::vector<Diagnostic> errors_of(const std::string& path) {
  try {
    load(path);
  } catch (const ModelError& error) {
    std::vector<Diagnostic> errors = error.problems();
    std::erase_if(errors, [](const Diagnostic& d) { return d.severity != Severity::error; });
    EXPECT_FALSE(errors.empty());
    return errors;
  }
  ADD_FAILURE() << "it was read without an error";
  return {};
}

void expect_message(const std::string& path, int line, const std::string& says) {
  const std::vector<Diagnostic> errors = errors_of(path);
  EXPECT_LE(errors.size(), kMostErrors);
  bool found = false;
  std::string all;
  for (const Diagnostic& error : errors) {
    EXPECT_EQ(error.source.file, path) << error.text();
    EXPECT_GE(error.source.line, 1) << error.text();
    found = found || (error.source.line == line && error.message.find(says) != std::string::npos);
    all += error.text() + "\n";
  }
  EXPECT_TRUE(found) << "line " << line << " should say: " << says << "\nbut there is\n" << all;
}

}  // namespace

void expect_messages(const std::string& sound, const std::string& ending,
                     const std::vector<Mistake>& mistakes) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("broken" + ending);
  const auto write = [&](const std::string& text) { folder.write("broken" + ending, text); };

  write(sound);
  const Mechanism mechanism = load(path);
  for (const Diagnostic& warning : mechanism.warnings()) ADD_FAILURE() << warning.text();
  std::set<std::string> names, texts;
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.name);
    std::string text = sound;
    const std::size_t place = mistake.find.empty() ? 0 : sound.find(mistake.find);
    ASSERT_NE(place, std::string::npos) << "the sound file has no " << mistake.find;
    EXPECT_TRUE(mistake.find.empty() || sound.find(mistake.find, place + 1) == std::string::npos)
        << "the sound file has more than one " << mistake.find;
    text.replace(place, mistake.find.empty() ? sound.size() : mistake.find.size(), mistake.put);
    EXPECT_TRUE(names.insert(mistake.name).second) << "two mistakes have this name";
    EXPECT_TRUE(texts.insert(text).second) << "two mistakes are the same";
    write(text);
    expect_message(path, line_of(sound, place) + mistake.line, mistake.says);
  }
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace catena
