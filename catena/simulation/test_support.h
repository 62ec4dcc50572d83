// A folder of files for one test, removed at its end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace catena::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("catena_" + std::string(info->test_suite_name()) + "_" + info->name() + "_" +
             std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }
  // Writes a file, its folders too, and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

inline constexpr const char* kPendulumModel = R"(catena: 1
name: pendulum
gravity: [0, -10, 0]
bodies:
  link: {mass: 2, center_of_mass: [0, -0.5, 0], inertia: [0.1, 0.1, 0.1]}
  arm: {mass: 1, center_of_mass: [0, -0.1, 0], inertia: [0.1, 0.1, 0.1]}
hinges:
  pivot: {type: revolute, parent: world, child: link, axis: z}
  ball: {type: spherical, parent: link, child: arm, at: [0, -1, 0]}
)";

}  // namespace catena::test
