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
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

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

// Faces as numbers of vertices that are equal where their coordinates are.
using Faces = std::vector<std::vector<int>>;

Faces triangles_in_order(const std::vector<Vec3d>& points) {
  std::map<std::tuple<double, double, double>, int> numbers;
  Faces faces;
  for (std::size_t i = 0; i + 2 < points.size(); i += 3) {
    std::vector<int>& face = faces.emplace_back();
    for (std::size_t k = i; k < i + 3; ++k) {
      const auto key = std::tuple(points[k].x, points[k].y, points[k].z);
      face.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
    }
  }
  return faces;
}

// Lines `f 1/2/3 ...`: numbers from 1, or from the last vertex backwards.
Faces obj_faces(const std::string& text, int vertices) {
  Faces faces;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word;
    if (!(in >> word) || word != "f") continue;
    std::vector<int>& face = faces.emplace_back();
    while (in >> word) {
      const int number = std::atoi(word.c_str());
      face.push_back(number < 0 ? vertices + number : number - 1);
    }
  }
  return faces;
}

int count_open_edges(const Faces& faces) {
  std::map<std::pair<int, int>, int> uses;
  for (const std::vector<int>& face : faces)
    for (std::size_t k = 0; k < face.size(); ++k)
      if (const auto edge = std::minmax(face[k], face[(k + 1) % face.size()]);
          edge.first != edge.second)
        ++uses[{edge.first, edge.second}];
  return static_cast<int>(
      std::count_if(uses.begin(), uses.end(), [](const auto& use) { return use.second != 2; }));
}

}  // namespace

std::vector<Vec3d> mesh_points(const std::string& file, std::string& why, int* open_edges) {
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
  if (open_edges != nullptr)
    *open_edges =
        count_open_edges(ending == "stl" ? triangles_in_order(points)
                                         : obj_faces(bytes, static_cast<int>(points.size())));
  return points;
}

}  // namespace catena
