// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/run_compare.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <unistd.h>

#include "catena/base/error.h"
#include "catena/base/write_file.h"

namespace catena {
namespace {

using testing::ElementsAre;

class RunCompareTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `q` of time, at `rows` times from 0 to `end`.
  ResultColumns run(const std::string& name, int rows, double end,
                    const std::function<double(double)>& q,
                    const std::vector<std::string>& more = {},
                    const std::string& settings = "{}") const {
    RunHeader header{.model_yaml = "catena: 1\n", .settings_json = settings};
    header.columns = {{"time", "s"}, {"q.elbow", "rad"}};
    for (const std::string& column : more) header.columns.push_back({column, ""});
    RunWriter writer(folder_ + "/" + name, header, false);
    for (int i = 0; i < rows; ++i) {
      const double time = end * i / (rows - 1);
      std::vector<double> row(header.columns.size(), 0.0);
      row[0] = time;
      row[1] = q(time);
      writer.append(row);
    }
    writer.finish("{}", true);
    return ResultColumns(folder_ + "/" + name);
  }

 protected:
  std::string folder_ =
      testing::TempDir() + "catena_run_compare_test." + std::to_string(::getpid());
};

TEST_F(RunCompareTest, SameRunsAgreeToTheBit) {
  const auto q = [](double t) { return std::sin(t); };
  const RunComparison same = compare_runs(run("a.h5", 11, 1.0, q), run("b.h5", 11, 1.0, q));
  EXPECT_TRUE(same.agree(0.0));
  EXPECT_TRUE(same.same_model && same.same_times && same.settings.empty());
  EXPECT_EQ(same.compared_rows, 11);
}

TEST_F(RunCompareTest, TheLargestDifferenceHasItsTime) {
  const RunComparison one =
      compare_runs(run("a.h5", 11, 1.0, [](double) { return 4.0; }),
                   run("b.h5", 11, 1.0, [](double t) { return 4.0 + (t == 0.5 ? 0.25 : 0.0); }));
  ASSERT_EQ(one.columns.size(), 1U);
  EXPECT_EQ(one.columns[0].name, "q.elbow");
  EXPECT_EQ(one.columns[0].largest, 0.25);
  EXPECT_EQ(one.columns[0].time, 0.5);
  EXPECT_EQ(one.columns[0].relative, 0.25 / 4.25);
  EXPECT_FALSE(one.agree(0.05));
  EXPECT_TRUE(one.agree(0.06));
}

// A straight line is the same at any times, a parabola is off by step²/8 between them.
TEST_F(RunCompareTest, DifferentTimesAreInterpolated) {
  const auto line = [](double t) { return 3.0 * t; };
  const RunComparison lines = compare_runs(run("a.h5", 11, 1.0, line), run("b.h5", 6, 1.0, line));
  EXPECT_FALSE(lines.same_times);
  EXPECT_TRUE(lines.agree(1e-15));
  const auto square = [](double t) { return t * t; };
  const RunComparison squares =
      compare_runs(run("c.h5", 11, 1.0, square), run("d.h5", 6, 1.0, square));
  EXPECT_NEAR(squares.columns[0].largest, 0.2 * 0.2 / 4.0, 1e-15);
}

TEST_F(RunCompareTest, ColumnsSettingsAndEnds) {
  const auto zero = [](double) { return 0.0; };
  const RunComparison one =
      compare_runs(run("a.h5", 11, 1.0, zero, {"x"}, R"({"a": {"b": 1}, "c": 2})"),
                   run("b.h5", 6, 0.5, zero, {"y"}, R"({"a": {"b": 1}, "c": 3, "d": "e"})"));
  EXPECT_THAT(one.only_first, ElementsAre("x"));
  EXPECT_THAT(one.only_second, ElementsAre("y"));
  EXPECT_EQ(one.compared_rows, 6);
  ASSERT_EQ(one.settings.size(), 2U);
  EXPECT_EQ(one.settings[0].name, "/c");
  EXPECT_EQ(one.settings[0].second, "3");
  EXPECT_EQ(one.settings[1].first, "");
  EXPECT_FALSE(one.agree(1e9));
  EXPECT_FALSE(compare_runs(run("c.h5", 11, 1.0, zero), run("d.h5", 6, 0.5, zero)).agree(0.1));
}

TEST_F(RunCompareTest, NotANumberIsADifference) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ResultColumns good = run("a.h5", 3, 1.0, [](double) { return 1.0; });
  const ResultColumns bad = run("b.h5", 3, 1.0, [&](double t) { return t > 0.7 ? nan : 1.0; });
  EXPECT_FALSE(compare_runs(good, bad).agree(1e9));
  EXPECT_TRUE(compare_runs(bad, bad).agree(0.0));
}

TEST_F(RunCompareTest, Tables) {
  const auto table = [&](const char* name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    write_file(path, text);
    return ResultColumns(path);
  };
  const ResultColumns a = table("a.csv", "t,x\n0,1\n1,2\n"),
                      b = table("b.csv", "time,x\n0,1\n1,2.5\n");
  EXPECT_TRUE(compare_runs(a, a).agree(0.0));
  const RunComparison apart = compare_runs(a, b);
  EXPECT_EQ(apart.columns.at(0).largest, 0.5);
  EXPECT_EQ(apart.columns.at(0).time, 1.0);
  EXPECT_THROW(static_cast<void>(a.column("y")), NameError);
  // A run beside a table.
  const ResultColumns both = table("c.csv", "time,q.elbow\n0,1\n1,2\n");
  EXPECT_TRUE(compare_runs(run("d.h5", 2, 1.0, [](double t) { return 1.0 + t; }), both).agree(0.0));
}

}  // namespace
}  // namespace catena
