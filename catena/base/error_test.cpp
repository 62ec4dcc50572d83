// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/error.h"

#include <gtest/gtest.h>

namespace catena {
namespace {

TEST(Diagnostic, TextHasWhatIsKnown) {
  EXPECT_EQ((Diagnostic{Severity::error, {"arm.yaml", 12}, "bad"}).text(),
            "arm.yaml:12: error: bad");
  EXPECT_EQ((Diagnostic{Severity::warning, {"arm.yaml", 0}, "odd"}).text(),
            "arm.yaml: warning: odd");
  EXPECT_EQ((Diagnostic{Severity::error, {}, "bad"}).text(), "error: bad");
}

TEST(ModelError, HasOneLineForEachProblem) {
  const ModelError error({{Severity::error, {"a", 1}, "x"}, {Severity::warning, {}, "y"}});
  EXPECT_STREQ(error.what(), "a:1: error: x\nwarning: y");
  EXPECT_EQ(error.problems().size(), 2u);
}

TEST(Errors, AreAllCaughtAsError) {
  EXPECT_THROW(throw ModelError({}), Error);
  EXPECT_THROW(throw NumericalError("n"), Error);
  EXPECT_THROW(throw NameError("n"), Error);
  EXPECT_THROW(throw Error("e"), std::runtime_error);
}

}  // namespace
}  // namespace catena
