// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/uri.h"

#include <cstdlib>
#include <filesystem>
#include <unordered_set>

namespace catena {
namespace {

namespace fs = std::filesystem;

std::string existing(const fs::path& path) {
  std::error_code failure;
  return fs::exists(path, failure) && !failure ? path.lexically_normal().string() : std::string{};
}

// Looks in every folder of an environment variable, separated by colons.
std::string find_in_variable(const char* variable, const char* inside, const std::string& name) {
  const char* list = std::getenv(variable);
  if (!list) return {};
  const std::string folders = list;
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    if (end > begin) {
      const fs::path folder = folders.substr(begin, end - begin);
      if (std::string found = existing(folder / inside / name); !found.empty()) return found;
    }
    begin = end + 1;
  }
  return {};
}

std::string find_in_environment(const std::string& name) {
  for (const char* variable :
       {"SDF_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "ROS_PACKAGE_PATH"})
    if (std::string found = find_in_variable(variable, "", name); !found.empty()) return found;
  return find_in_variable("AMENT_PREFIX_PATH", "share", name);
}

}  // namespace

std::string folder_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string find_local(const std::string& uri, const std::string& folder) {
  const std::size_t colon = uri.find("://");
  const std::string scheme = colon == std::string::npos ? "" : uri.substr(0, colon);
  const std::string rest = colon == std::string::npos ? uri : uri.substr(colon + 3);
  if (rest.empty()) return {};
  if (scheme.empty() || scheme == "file") {
    const fs::path path = rest;
    if (path.is_absolute()) return existing(path);
    if (std::string found = existing(fs::path(folder) / path); !found.empty()) return found;
    return find_in_environment(rest);
  }
  if (scheme != "package" && scheme != "model") return {};
  std::error_code failure;
  fs::path around = fs::weakly_canonical(folder, failure);
  while (!failure && !around.empty()) {
    if (std::string found = existing(around / rest); !found.empty()) return found;
    if (around == around.root_path() || !around.has_parent_path()) break;
    around = around.parent_path();
  }
  return find_in_environment(rest);
}

std::string missing_meshes(const std::vector<std::string>& uris, const std::string& folder) {
  std::unordered_set<std::string> looked_for;
  std::size_t missing = 0;
  std::string first;
  for (const std::string& uri : uris) {
    if (!looked_for.insert(uri).second || !find_local(uri, folder).empty()) continue;
    if (++missing == 1) first = uri;
  }
  if (missing == 0) return {};
  return (missing == 1 ? "a mesh file is" : std::to_string(missing) + " mesh files are") +
         std::string(" not found (") + (missing == 1 ? "" : "the first: ") + "'" + first +
         "'); the mechanism is complete, but they cannot be drawn";
}

}  // namespace catena
