// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/mesh_points.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace catena {
namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is little-endian");

// Binary STL: 80 bytes, the number of triangles, and 50 bytes each: normal, three corners, 2 bytes.
constexpr std::size_t kStlHeader = 84;
constexpr std::size_t kStlTriangle = 50;

std::vector<Vec3d> binary_stl(const std::string& bytes, std::size_t triangles) {
  std::vector<Vec3d> points;
  points.reserve(3 * triangles);
  for (std::size_t k = 0; k < triangles; ++k)
    for (std::size_t corner = 1; corner <= 3; ++corner) {
      float xyz[3];
      std::memcpy(xyz, bytes.data() + kStlHeader + kStlTriangle * k + 12 * corner, sizeof(xyz));
      points.push_back({xyz[0], xyz[1], xyz[2]});
    }
  return points;
}

// Lines that begin with this word and go on with three numbers.
std::vector<Vec3d> points_after(const std::string& text, const std::string& word) {
  std::vector<Vec3d> points;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string first;
    Vec3d p;
    if (in >> first && first == word && in >> p.x >> p.y >> p.z) points.push_back(p);
  }
  return points;
}

}  // namespace

std::vector<Vec3d> mesh_points(const std::string& file, std::string& why) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.good() && !in.eof()) {
    why = "the file cannot be read";
    return {};
  }
  std::string ending = file.substr(std::min(file.size(), file.rfind('.') + 1));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<Vec3d> points;
  if (ending == "stl") {
    std::uint32_t triangles = 0;
    if (bytes.size() >= kStlHeader) std::memcpy(&triangles, bytes.data() + 80, sizeof(triangles));
    // The length decides: binary files may begin with "solid" too.
    const bool binary = bytes.size() >= kStlHeader &&
                        bytes.size() - kStlHeader >= kStlTriangle * triangles &&
                        (triangles > 0 || bytes.rfind("solid", 0) != 0);
    points = binary ? binary_stl(bytes, triangles) : points_after(bytes, "vertex");
  } else if (ending == "obj") {
    points = points_after(bytes, "v");
  } else {
    why = "only STL and OBJ files are read for collisions";
    return {};
  }
  const auto finite = [](const Vec3d& p) {
    return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
  };
  if (points.empty()) {
    why = "the file has no vertices";
  } else if (!std::all_of(points.begin(), points.end(), finite)) {
    why = "the file has coordinates that are not finite";
    points.clear();
  }
  return points;
}

}  // namespace catena
