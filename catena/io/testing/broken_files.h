// SPDX-License-Identifier: BSD-3-Clause
// Wrong files for the tests of the readers: one sound file, and mistakes made in it one by one,
// each a row of a table that says what the message must contain.
#pragma once

#include <string>
#include <vector>

namespace catena {

struct Mistake {
  std::string name;  // of the mistake, for the reports of the tests
  std::string find;  // this text, which the sound file has once ("": the whole file), ...
  std::string put;   // ... becomes this
  std::string says;  // a part of the message: the thing that is wrong, or the remedy
  int line = 0;      // of the message, counted from the first line of `find`
};

// Checks that the sound file loads without a remark and that each mistake gives a ModelError, no
// crash and no avalanche: every error with file and line, and one of them as the row says.
// `ending` is that of the file's name, such as ".urdf".
void expect_messages(const std::string& sound, const std::string& ending,
                     const std::vector<Mistake>& mistakes);

// The text, `times` times.
std::string repeated(const std::string& text, int times);

}  // namespace catena
