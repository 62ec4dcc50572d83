// SPDX-License-Identifier: BSD-3-Clause
// A text with one mistake in it, for tests of readers.
#pragma once

#include <string>

#include <gtest/gtest.h>

namespace catena::test {

// `text` with the first `what` replaced; the test fails if there is none.
inline std::string with(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? text : text.replace(at, what.size(), by);
}

}  // namespace catena::test
