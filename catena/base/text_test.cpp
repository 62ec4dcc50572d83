// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/text.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace catena {
namespace {

TEST(NearestName, OneLetterWrongMissingTooManyOrSwapped) {
  const std::vector<std::string> names = {"shoulder", "elbow", "wrist"};
  for (const char* word : {"elbwo", "elbo", "elbows", "elvow", "ELBOW"})
    EXPECT_EQ(nearest_name(word, names), "elbow") << word;
  EXPECT_EQ(nearest_name("sholdr", names), "shoulder");
  EXPECT_EQ(nearest_name("piston", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  const std::vector<std::string> letters = {"B", "ab"};
  EXPECT_EQ(nearest_name("A", letters), "ab");
  EXPECT_EQ(nearest_name("C", letters), "");
  EXPECT_EQ(nearest_name("b", letters), "B");
  EXPECT_EQ(nearest_name("elbow", {}), "");
}

TEST(NearestName, TheNearerOneWinsAndTheFirstOfEquals) {
  const std::vector<std::string> names = {"arm_10", "arm_2", "arm_1"};
  EXPECT_EQ(nearest_name("arm_1", names), "arm_1");
  EXPECT_EQ(nearest_name("arm_3", names), "arm_2");
}

TEST(NearestName, LongWords) {
  const std::string longest(96, 'a'), longer(97, 'a');
  const std::vector<std::string> names = {longer, longest};
  EXPECT_EQ(nearest_name(std::string(95, 'a') + 'b', names), longest);
  EXPECT_EQ(nearest_name(longer, names), "");
}

TEST(DidYouMean, IsEmptyWithoutANearName) {
  const std::vector<std::string> names = {"knee"};
  EXPECT_EQ(did_you_mean("kne", names), "; did you mean 'knee'?");
  EXPECT_EQ(did_you_mean("ankle", names), "");
}

TEST(Number, IsTheShortestThatReadsBack) {
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(-9.81), "-9.81");
  EXPECT_EQ(number(3.0), "3");
  EXPECT_EQ(number(std::nan("")), "nan");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "-inf");
  for (const double x : {1.0 / 3.0, 5e-324, std::numeric_limits<double>::max(), -1e-17})
    EXPECT_EQ(std::strtod(number(x).c_str(), nullptr), x);
}

TEST(Listed, CommasAndAnd) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b"}), "a and b");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace catena
