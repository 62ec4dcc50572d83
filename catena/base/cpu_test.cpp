// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/cpu.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace catena {
namespace {

TEST(Cpu, UsesWhatIsBuiltAndAvailable) {
  const CpuReport report = cpu_report();
  EXPECT_FALSE(report.processor.empty());
  EXPECT_GE(report.hardware_threads, 0);
  const auto has = [](const auto& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  EXPECT_TRUE(has(report.built, report.used));
  EXPECT_TRUE(has(report.available, report.used));
}

// The kernel lists a feature only if it saves its registers.
TEST(Cpu, AgreesWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  const std::string info{std::istreambuf_iterator<char>(file), {}};
  if (info.find("\nflags") == std::string::npos) GTEST_SKIP() << "not Linux on x86";
  const CpuReport report = cpu_report();
  const auto listed = [&](const std::string& flag) {
    return info.find(' ' + flag + ' ') != std::string::npos;
  };
  const auto reported = [&](const std::string& name) {
    return std::find(report.available.begin(), report.available.end(), name) !=
           report.available.end();
  };
  EXPECT_EQ(reported("avx2"), listed("avx2") && listed("fma"));
  EXPECT_EQ(reported("avx512"), listed("avx512f") && listed("avx512dq"));
  EXPECT_NE(info.find(report.processor.substr(0, 8)), std::string::npos);
}

}  // namespace
}  // namespace catena
