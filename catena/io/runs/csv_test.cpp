// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/csv.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>

#include "catena/base/error.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(const std::string& text) {
  try {
    read_csv_text(text, "table.csv");
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(Csv, DecimalCommasBesideOtherSeparators) {
  const CsvTable table = read_csv_text("t;x\n0,5;-1,25e-2\n1;2\n", "a.csv");
  EXPECT_EQ(table.values(0, 0), 0.5);
  EXPECT_EQ(table.values(0, 1), -1.25e-2);
  EXPECT_EQ(table.values(1, 1), 2.0);
}

TEST(Csv, NumbersThatAreNotFiniteAreNamed) {
  const std::string text = "t,x\n0,1\n1,nan\n2,-inf\n";
  EXPECT_TRUE(std::isnan(read_csv_text(text, "a.csv").values(1, 1)));
  try {
    read_csv_text(text, "a.csv", CsvNumbers::finite);
    FAIL();
  } catch (const ModelError& e) {
    ASSERT_EQ(e.problems().size(), 2u);
    EXPECT_EQ(e.problems()[0].text(), "a.csv:3: error: 'nan' in column 'x' is not a finite number");
    EXPECT_EQ(e.problems()[1].source.line, 4);
  }
}

TEST(Csv, ReadsNamesAndNumbers) {
  const CsvTable table = read_csv_text("time, q.elbow\n# a remark\n0,1.5\r\n\n1e-3, +2\n", "t.csv");
  EXPECT_THAT(table.names, ElementsAre("time", "q.elbow"));
  ASSERT_EQ(table.values.rows(), 2);
  EXPECT_EQ(table.values(0, 1), 1.5);
  EXPECT_EQ(table.values(1, 0), 1e-3);
  EXPECT_EQ(table.values(1, 1), 2.0);
}

TEST(Csv, TakesTheSeparatorOfTheFirstLine) {
  for (const char* text : {"a;b\n1;2\n", "a\tb\n1\t2\n", "a,b\n1,2\n"})
    EXPECT_EQ(read_csv_text(text, "t.csv").values(0, 1), 2.0) << text;
}

TEST(Csv, SkipsTheMarkOfTheEncoding) {
  EXPECT_THAT(read_csv_text("\xEF\xBB\xBFtime,x\n0,1\n", "t.csv").names, ElementsAre("time", "x"));
}

TEST(Csv, QuotedNamesMayHaveSeparators) {
  EXPECT_THAT(read_csv_text("\"a, b\",\"say \"\"x\"\"\"\n1,2\n", "t.csv").names,
              ElementsAre("a, b", "say \"x\""));
}

TEST(Csv, ProblemsHaveFileAndLineAndAllAreReported) {
  const std::string text = problem("a,b\n1,2\n1,x\n1\n");
  EXPECT_THAT(text, HasSubstr("table.csv:3: error: 'x' in column 'b' is not a number"));
  EXPECT_THAT(text, HasSubstr("table.csv:4: error: has 1 entries; the first line names 2 columns"));
  EXPECT_THAT(problem("1,2\n3,4\n"), HasSubstr("table.csv:1: error: the first line must have"));
  EXPECT_THAT(problem("\n"), HasSubstr("no line of names"));
  EXPECT_THROW(read_csv("no_such_file.csv"), ModelError);
}

TEST(Csv, WhatIsWrittenReadsBackToTheBit) {
  const std::string path = testing::TempDir() + "catena_csv_test.csv";
  const std::vector<std::string> names = {"time", "a, b"};
  const double rows[3][2] = {{0.0, 0.1}, {1.0 / 3.0, -1e300}, {5e-324, std::nextafter(1.0, 2.0)}};
  CsvWriter writer(path, names);
  for (const auto& row : rows) writer.append(row);
  EXPECT_THROW(writer.append(std::vector<double>{1.0}), Error);
  writer.close();
  const CsvTable table = read_csv(path);
  EXPECT_EQ(table.names, names);
  ASSERT_EQ(table.values.rows(), 3);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) EXPECT_EQ(table.values(i, j), rows[i][j]);
  std::filesystem::remove(path);
}

TEST(Csv, FullDiskIsAnError) {
  CsvWriter writer("/dev/full", std::vector<std::string>{"time"});
  EXPECT_THROW(
      {
        for (int i = 0; i < 10000; ++i) writer.append(std::vector<double>{1.0});
        writer.close();
      },
      Error);
}

}  // namespace
}  // namespace catena
