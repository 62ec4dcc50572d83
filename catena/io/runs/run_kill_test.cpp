// SPDX-License-Identifier: BSD-3-Clause
// A writer that is killed at any moment leaves a run that can be read, but for the last second.
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catena/io/runs/run_file.h"

namespace catena {
namespace {

using Clock = std::chrono::steady_clock;

double seconds() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Writes until it is killed. Each row says when it was appended.
[[noreturn]] void write_for_ever(const std::string& path) {
  RunHeader header;
  header.columns = {{"time", "s"}};
  for (int i = 1; i < 40; ++i) header.columns.push_back({"q." + std::to_string(i), ""});
  RunWriter writer(path, header, false);
  std::vector<double> row(header.columns.size());
  for (std::int64_t i = 0;; ++i) {
    row.assign(row.size(), static_cast<double>(i));
    row[0] = seconds();
    writer.append(row);
    if (i % 500 == 0) writer.add_event({row[0], "user", "e", "row " + std::to_string(i)});
    if (i % 700 == 0) writer.checkpoint({.time = row[0], .state = row});
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (i % 3000 == 0) writer.flush();
  }
}

TEST(RunKill, FiftyKilledWritersLeaveReadableRuns) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> between(0.0, 0.5);
  const std::string path =
      testing::TempDir() + "catena_run_kill_test." + std::to_string(::getpid()) + ".h5";
  int with_rows = 0;
  for (int trial = 0; trial < 50; ++trial) {
    std::filesystem::remove(path);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(path);
    const double start = seconds();
    // Some are killed before they begin.
    while (trial % 10 != 0 && !std::filesystem::exists(path) && seconds() < start + 10.0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    std::this_thread::sleep_for(std::chrono::duration<double>(between(random)));
    const double killed = seconds();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(path)) continue;

    auto run = std::make_unique<RunFile>(path);
    EXPECT_FALSE(run->being_written());
    EXPECT_FALSE(run->complete());
    const RunRows rows = run->read(0, run->rows());
    for (Eigen::Index i = 0; i < rows.rows(); ++i)
      for (Eigen::Index j = 1; j < rows.cols(); ++j)
        ASSERT_EQ(rows(i, j), static_cast<double>(i)) << "trial " << trial;
    const double last = rows.rows() > 0 ? rows(rows.rows() - 1, 0) : start;
    EXPECT_LT(killed - last, 1.0) << "trial " << trial;
    for (const RunCheckpoint& one : run->checkpoints()) {
      EXPECT_LE(one.rows, run->rows());
      EXPECT_EQ(one.state[1], static_cast<double>(one.rows - 1));
    }
    for (const RunEvent& event : run->events()) EXPECT_EQ(event.kind, "user");
    with_rows += rows.rows() > 0 ? 1 : 0;

    // Other programs can open it too, because the flag was cleared.
    run.reset();
    const hid_t plain = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(plain, 0) << "trial " << trial;
    H5Fclose(plain);
    EXPECT_EQ(RunFile(path).rows(), rows.rows());
  }
  EXPECT_GT(with_rows, 20);
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".new");
}

}  // namespace
}  // namespace catena
