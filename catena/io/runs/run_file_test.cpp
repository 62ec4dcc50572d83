// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/run_file.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catena/base/error.h"
#include "catena/base/index.h"

#ifdef __SANITIZE_ADDRESS__
// HDF5 itself loses memory when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }
#endif

namespace catena {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

RunHeader header() {
  return {.kind = "simulation",
          .model_yaml = "catena: 1\nname: größe\n",
          .model_path = "models/x.yaml",
          .settings_json = R"({"duration": 2})",
          .columns = {{"time", "s"}, {"q.elbow", "rad"}, {"energy.kinetic", "J"}}};
}

std::vector<double> row(std::int64_t i) {
  const auto t = static_cast<double>(i);
  return {t * 1e-3, 2.0 * t, -t};
}

class RunFileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void write(const std::string& name, std::int64_t rows, bool finish = true) const {
    RunWriter writer(path(name), header(), false);
    for (std::int64_t i = 0; i < rows; ++i) writer.append(row(i));
    if (finish) writer.finish("{}", true);
  }

  template <class Function>
  static std::string problem(Function function) {
    try {
      function();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::string folder_ = testing::TempDir() + "catena_run_file_test." + std::to_string(::getpid());
};

TEST_F(RunFileTest, WhatIsWrittenIsRead) {
  {
    RunWriter writer(path("a.h5"), header(), false);
    for (int i = 0; i < 5000; ++i) writer.append(row(i));
    writer.add_event({0.25, "limit", "elbow", "upper stop, \"hard\"\nat 1.5 rad"});
    writer.add_event({0.5, "slip", "größe", ""});
    EXPECT_EQ(writer.rows(), 5000);
    EXPECT_EQ(writer.events(), 2);
    writer.finish(R"({"energy_drift": 1e-9})", true);
    EXPECT_THAT(problem([&] { writer.flush(); }), HasSubstr("finished"));
  }
  const RunFile run(path("a.h5"));
  EXPECT_EQ(run.header().kind, "simulation");
  EXPECT_EQ(run.header().model_yaml, header().model_yaml);
  EXPECT_EQ(run.header().model_path, "models/x.yaml");
  EXPECT_EQ(run.header().settings_json, header().settings_json);
  EXPECT_FALSE(run.version().empty());
  EXPECT_TRUE(run.complete());
  EXPECT_FALSE(run.being_written());
  EXPECT_EQ(run.audit_json(), R"({"energy_drift": 1e-9})");
  ASSERT_EQ(run.rows(), 5000);
  EXPECT_EQ(run.column("q.elbow")[4321], 2.0 * 4321.0);
  const RunRows block = run.read(4990, 10);
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(block(i, j), row(4990 + i)[index(j)]);
  const std::vector<RunEvent> events = run.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].time, 0.25);
  EXPECT_EQ(events[0].detail, "upper stop, \"hard\"\nat 1.5 rad");
  EXPECT_EQ(events[1].name, "größe");
}

TEST_F(RunFileTest, NamesAreSuggestedAndRangesChecked) {
  write("a.h5", 3);
  const RunFile run(path("a.h5"));
  EXPECT_THAT(problem([&] { run.column("q.elbwo"); }), HasSubstr("did you mean 'q.elbow'?"));
  EXPECT_THAT(problem([&] { run.read(1, 3); }), HasSubstr("has 3 rows"));
}

TEST_F(RunFileTest, IsReadWhileItIsWritten) {
  RunWriter writer(path("a.h5"), header(), false);
  writer.flush();
  RunFile run(path("a.h5"));
  EXPECT_TRUE(run.being_written());
  EXPECT_EQ(run.rows(), 0);
  std::int64_t rows = 0;
  for (int part = 0; part < 20; ++part) {
    for (int i = 0; i < 1000; ++i) writer.append(row(rows++));
    writer.add_event({static_cast<double>(part), "user", "part", ""});
    writer.flush();
    run.refresh();
    ASSERT_EQ(run.rows(), rows);
    EXPECT_EQ(run.column("energy.kinetic")[rows - 1], -static_cast<double>(rows - 1));
    EXPECT_EQ(run.events().size(), to_size(part) + 1);
  }
  EXPECT_FALSE(run.complete());
  EXPECT_EQ(run.audit_json(), "");
  writer.finish("{\"a\": 1}", true);
  run.refresh();
  EXPECT_TRUE(run.complete());
  EXPECT_FALSE(run.being_written());
  EXPECT_EQ(run.audit_json(), "{\"a\": 1}");
}

TEST_F(RunFileTest, GoesOnAtTheLastCheckpoint) {
  {
    RunWriter writer(path("a.h5"), header(), false);
    for (int i = 0; i < 10000; ++i) {
      if (i == 3000) writer.checkpoint({.time = 3.0, .state = {1.0, 2.0}});
      if (i == 7000) writer.checkpoint({.time = 7.0, .state = {0.1, 0.2, 0.3}});
      if (i % 2000 == 0) writer.add_event({i * 1e-3, "user", "e", std::to_string(i)});
      writer.append(row(i));
    }
  }
  {
    RunFile before(path("a.h5"));
    EXPECT_EQ(before.rows(), 10000);
    RunWriter writer = RunWriter::resume(path("a.h5"));
    EXPECT_EQ(writer.rows(), 7000);
    EXPECT_EQ(writer.events(), 4);  // at 0, 2000, 4000, 6000
    before.refresh();               // finds the new file
    EXPECT_EQ(before.rows(), 7000);
    for (int i = 7000; i < 8000; ++i) writer.append(row(i));
    writer.finish("{}", true);
  }
  const RunFile run(path("a.h5"));
  ASSERT_EQ(run.rows(), 8000);
  const Eigen::VectorXd q = run.column("q.elbow");
  for (int i = 0; i < 8000; ++i) ASSERT_EQ(q[i], 2.0 * i);
  const std::vector<RunCheckpoint> checkpoints = run.checkpoints();
  ASSERT_EQ(checkpoints.size(), 2U);
  EXPECT_EQ(checkpoints[0].rows, 3000);
  EXPECT_EQ(checkpoints[0].state, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(checkpoints[1].time, 7.0);
  EXPECT_EQ(checkpoints[1].events, 4);
  EXPECT_EQ(checkpoints[1].state, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_FALSE(fs::exists(path("a.h5.new")));
}

TEST_F(RunFileTest, ResumeNeedsACheckpoint) {
  write("a.h5", 10);
  EXPECT_THAT(problem([&] { RunWriter::resume(path("a.h5")); }), HasSubstr("no checkpoint"));
}

TEST_F(RunFileTest, OneWriterAtATime) {
  RunWriter writer(path("a.h5"), header(), false);
  EXPECT_THAT(problem([&] { RunWriter(path("a.h5"), header(), false); }),
              HasSubstr("exists already"));
  EXPECT_THAT(problem([&] { RunWriter(path("a.h5"), header(), true); }),
              HasSubstr("written by another program"));
  writer.checkpoint({});
  writer.flush();
  EXPECT_THAT(problem([&] { RunWriter::resume(path("a.h5")); }),
              HasSubstr("written by another program"));
  writer.append(row(0));
  writer.finish("{}", true);
  EXPECT_EQ(RunFile(path("a.h5")).rows(), 1);
  RunWriter(path("a.h5"), header(), true).finish("{}", true);
  EXPECT_EQ(RunFile(path("a.h5")).rows(), 0);
}

TEST_F(RunFileTest, WrongHeadersAndRowsAreRefused) {
  RunHeader no_time = header();
  no_time.columns[0].name = "t";
  EXPECT_THAT(problem([&] { RunWriter(path("a.h5"), no_time, false); }), HasSubstr("'time'"));
  RunHeader twice = header();
  twice.columns[2].name = "q.elbow";
  EXPECT_THAT(problem([&] { RunWriter(path("a.h5"), twice, false); }),
              HasSubstr("two columns are named 'q.elbow'"));
  RunWriter writer(path("a.h5"), header(), false);
  EXPECT_THAT(problem([&] { writer.append(std::vector<double>{1.0}); }),
              HasSubstr("a row of 1 numbers for 3 columns"));
  EXPECT_THAT(problem([&] { RunWriter(path("no/such/folder.h5"), header(), false); }),
              HasSubstr("cannot be written: No such file or directory"));
}

TEST_F(RunFileTest, ForeignFilesAreNamed) {
  EXPECT_THAT(problem([&] { RunFile(path("none.h5")); }), HasSubstr("no such file"));
  EXPECT_THAT(problem([&] { RunFile(path(".")); }), HasSubstr("not a file"));
  std::ofstream(path("text.h5")) << "time,q\n";
  EXPECT_THAT(problem([&] { RunFile(path("text.h5")); }), HasSubstr("not an HDF5 file"));
  std::ofstream(path("empty.h5")) << "";
  EXPECT_THAT(problem([&] { RunFile(path("empty.h5")); }), HasSubstr("not an HDF5 file"));
  const hid_t foreign =
      H5Fcreate(path("foreign.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(foreign);
  EXPECT_THAT(problem([&] { RunFile(path("foreign.h5")); }), HasSubstr("foreign.h5'"));
}

// Every truncation is noticed; none is read as if nothing were missing.
TEST_F(RunFileTest, TruncatedFilesAreNoticed) {
  write("a.h5", 20000);
  const auto size = fs::file_size(path("a.h5"));
  for (std::uintmax_t keep = 0; keep < size; keep += size / 97 + 1) {
    fs::copy_file(path("a.h5"), path("cut.h5"), fs::copy_options::overwrite_existing);
    fs::resize_file(path("cut.h5"), keep);
    EXPECT_THAT(problem([&] { RunFile(path("cut.h5")); }), HasSubstr("cut.h5")) << keep;
  }
}

// Bytes changed at random give an error or a run, never a crash.
TEST_F(RunFileTest, DamagedFilesDoNotCrash) {
  write("a.h5", 500);
  std::ifstream stream(path("a.h5"), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(stream)), {});
  std::uint64_t random = 12345;
  const auto next = [&] {
    return (random = random * 6364136223846793005U + 1442695040888963407U) >> 33U;
  };
  constexpr std::uint64_t kMetadata = 8192;  // where most of it is
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = good;
    for (int i = 0; i < 8; ++i) bad[next() % kMetadata] = static_cast<char>(next());
    std::ofstream(path("bad.h5"), std::ios::binary) << bad;
    try {
      const RunFile run(path("bad.h5"));
      run.column("time");
      run.events();
      run.checkpoints();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("bad.h5"));
    }
  }
}

// Bytes of the data themselves: whatever a resumed run would rest on is noticed, and the last
// checkpoint before the damage is used.
TEST_F(RunFileTest, DamagedDataLoseTheCheckpointsBehindThem) {
  constexpr std::int64_t kRows = 3000, kEvery = 500;
  {
    RunWriter writer(path("a.h5"), header(), false);
    for (std::int64_t i = 0; i < kRows; ++i) {
      writer.append(row(i));
      if (i % 100 == 0) writer.add_event({static_cast<double>(i), "limit", "elbow", "touched"});
      if (i % kEvery == kEvery - 1)
        writer.checkpoint({static_cast<double>(i), 0, 0, {1.5 * static_cast<double>(i), -2.0}});
    }
    writer.finish("{}", true);
  }
  const std::size_t all = RunFile(path("a.h5")).checkpoints().size();
  ASSERT_EQ(all, 6u);
  // The bytes of one number of the data, turned over in the file.
  const auto damage = [&](double number) {
    std::ifstream stream(path("a.h5"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    const std::string wanted(reinterpret_cast<const char*>(&number), sizeof(number));
    std::size_t changed = 0;
    for (std::size_t at = bytes.find(wanted); at != std::string::npos;
         at = bytes.find(wanted, at + 1)) {
      bytes[at + 3] = static_cast<char>(bytes[at + 3] ^ 1);
      ++changed;
    }
    EXPECT_GE(changed, 1u);
    std::ofstream(path("bad.h5"), std::ios::binary) << bytes;
    std::string message;
    const std::size_t good = RunFile(path("bad.h5")).checkpoints(&message).size();
    EXPECT_THAT(message, HasSubstr("bad.h5"));
    return good;
  };
  EXPECT_EQ(damage(1.5 * 2499.0), 4u);  // the state of the fifth
  EXPECT_EQ(damage(row(1234)[1]), 2u);  // a row before the third
  EXPECT_THAT(problem([&] { damage(row(7)[1]); }), HasSubstr("run it again"));  // before the first

  // A resumed run starts at the last good one and has only good ones.
  damage(row(1234)[1]);
  { RunWriter writer = RunWriter::resume(path("bad.h5")); }
  const RunFile resumed(path("bad.h5"));
  EXPECT_EQ(resumed.rows(), 1000);
  std::string message;
  EXPECT_EQ(resumed.checkpoints(&message).size(), 2u);
  EXPECT_EQ(message, "");
}

// In a child process whose files may not grow beyond a limit: the system's answer to a write is
// then the same as on a full disk, but for its wording.
TEST_F(RunFileTest, FullDiskKeepsWhatWasWritten) {
  const std::string name = path("a.h5");
  for (rlim_t bytes = 2000; bytes < (1U << 20U); bytes += bytes / 7) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const struct rlimit limit = {bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const std::string message = problem([&] {
        RunWriter writer(name, header(), true);
        for (std::int64_t rows = 1; rows < 1000000; ++rows) {
          writer.append(row(rows - 1));
          if (rows % 1000 == 0) writer.flush();
        }
      });
      const bool good =
          message.find("a.h5' cannot be written: File too large") != std::string::npos;
      if (!good) std::fprintf(stderr, "%s\n", message.c_str());
      std::exit(good ? 0 : 1);  // with all that a program does at its end
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << bytes << ": " << status;
    constexpr std::int64_t kOverhead = 1 << 17;  // at least the last chunk does not fit
    const auto expected = static_cast<std::int64_t>(bytes) - kOverhead;
    if (!fs::exists(name)) {
      EXPECT_LT(expected, 0);
      continue;
    }
    const RunFile run(name);
    EXPECT_FALSE(run.complete());
    EXPECT_GE(run.rows(), expected / 24 - 1000);
    const Eigen::VectorXd q = run.column("q.elbow");
    for (Eigen::Index i = 0; i < q.size(); ++i) ASSERT_EQ(q[i], 2.0 * static_cast<double>(i));
  }
}

TEST_F(RunFileTest, AMillionRowsInBoundedMemory) {
  const auto resident = [] {
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // kB, the most so far
  };
  constexpr std::int64_t kRows = 1000000;
  RunWriter writer(path("a.h5"), header(), false);
  for (std::int64_t i = 0; i < kRows / 10; ++i) writer.append(row(i));
  const long before = resident();
  for (std::int64_t i = kRows / 10; i < kRows; ++i) writer.append(row(i));
  writer.finish("{}", true);
#ifndef __SANITIZE_ADDRESS__                 // which keeps what was freed
  EXPECT_LT(resident() - before, 8 * 1024);  // the rows themselves are 21 MB
#else
  (void)before;
#endif
  EXPECT_EQ(RunFile(path("a.h5")).read(kRows - 1, 1)(0, 1), 2.0 * (kRows - 1));
}

}  // namespace
}  // namespace catena
