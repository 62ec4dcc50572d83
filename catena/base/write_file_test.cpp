// SPDX-License-Identifier: BSD-3-Clause
#include "catena/base/write_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catena/base/error.h"
#include "catena/base/testing/temporary_folder.h"

namespace catena::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {(std::istreambuf_iterator<char>(stream)), {}};
}

std::string problem(const std::string& path, const std::string& text) {
  try {
    write_file(path, text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class WriteFile : public ::testing::Test, public TemporaryFolder {};

TEST_F(WriteFile, ReplacesWithItsPermissions) {
  write_file(path("a.txt"), "one");
  EXPECT_EQ(read(path("a.txt")), "one");
  fs::permissions(path("a.txt"), fs::perms::owner_read | fs::perms::owner_write);
  write_file(path("a.txt"), "two");
  EXPECT_EQ(read(path("a.txt")), "two");
  EXPECT_EQ(fs::status(path("a.txt")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(path()), {}), 1);  // nothing left beside it
}

TEST_F(WriteFile, FollowsLinks) {
  write_file(path("a.txt"), "one");
  fs::create_symlink(path("a.txt"), path("link"));
  write_file(path("link"), "two");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read(path("a.txt")), "two");
}

TEST_F(WriteFile, NamesFileAndReason) {
  EXPECT_THAT(problem(path("no/such/folder.txt"), "x"),
              AllOf(HasSubstr("no/such/folder.txt"), HasSubstr("No such file")));
  EXPECT_EQ(problem("/dev/null", "x"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// In a child process whose files may not grow: as on a full disk.
TEST_F(WriteFile, FullDiskKeepsTheOldFile) {
  write_file(path("a.txt"), "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(problem(path("a.txt"), std::string(100000, 'x')).empty() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(path("a.txt")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(path()), {}), 1);
}

}  // namespace
}  // namespace catena::test
