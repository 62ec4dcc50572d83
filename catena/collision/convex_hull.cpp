// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/convex_hull.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "catena/base/index.h"

namespace catena {
namespace {

// Flatter than this, of the extent, points have no hull.
constexpr double kFlatHull = 1e-6;
// A point is outside a face if it is farther than this, of the extent: coordinates of STL files
// have seven digits.
constexpr double kOutsideFace = 1e-9;
// Triangles whose corners are this close to a plane, of the extent, are one face.
constexpr double kOneFace = 2e-6;
// Edges are parallel if the sine between them is less.
constexpr double kParallelEdges = 1e-9;
constexpr int kHullChecks = 1000;

struct Triangle {
  std::array<int, 3> at;
  Vec3d normal;
  double offset;
};

// Even on the sphere (Fibonacci's spiral).
Vec3d spiral(int k, int count) {
  const double z = 1.0 - (2.0 * k + 1.0) / count;
  const double angle = std::numbers::pi * (3.0 - std::sqrt(5.0)) * k;
  const double r = std::sqrt(1.0 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

std::size_t farthest(std::span<const Vec3d> points, const Vec3d& along) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (dot(points[i], along) > dot(points[best], along)) best = i;
  return best;
}

void list_directions(Polytope& polytope) {
  for (const auto& [i, k] : polytope.edges) {
    const Vec3d along = polytope.vertices[index(k)] - polytope.vertices[index(i)];
    const double length = norm(along);
    if (!(length > 0.0)) continue;
    const Vec3d unit = (1.0 / length) * along;
    const auto parallel = [&](const Vec3d& d) { return norm(cross(d, unit)) < kParallelEdges; };
    if (std::none_of(polytope.directions.begin(), polytope.directions.end(), parallel))
      polytope.directions.push_back(unit);
  }
}

class Hull {
 public:
  explicit Hull(std::span<const Vec3d> points) : points_(points.begin(), points.end()) {
    if (points_.size() < 4) return;
    for (const Vec3d& p : points_) extent_ = std::max(extent_, norm(p - points_[0]));
    if (!first_tetrahedron()) return;
    for (int i = 0; i < static_cast<int>(points_.size()); ++i) add(i);
  }

  Polytope polytope() const {
    Polytope result;
    std::map<int, int> number;  // of a point among the vertices
    for (const Triangle& t : triangles_)
      for (const int i : t.at) number.emplace(i, 0);
    for (auto& [point, place] : number) {
      place = static_cast<int>(result.vertices.size());
      result.vertices.push_back(points_[index(point)]);
    }
    merge(number, result);
    list_directions(result);
    return result;
  }

 private:
  bool first_tetrahedron() {
    const auto most = [&](auto measure) {
      int best = 0;
      for (int i = 1; i < static_cast<int>(points_.size()); ++i)
        if (measure(points_[index(i)]) > measure(points_[index(best)])) best = i;
      return best;
    };
    const int a = most([&](const Vec3d& p) { return -p.x - 1e-3 * p.y - 1e-6 * p.z; });
    const Vec3d pa = points_[index(a)];
    const int b = most([&](const Vec3d& p) { return norm(p - pa); });
    const Vec3d ab = points_[index(b)] - pa;
    const int c = most([&](const Vec3d& p) { return norm(cross(ab, p - pa)); });
    const Vec3d normal = cross(ab, points_[index(c)] - pa);
    if (!(norm(normal) > kFlatHull * extent_ * extent_)) return false;
    const Vec3d n = normalized(normal);
    const int d = most([&](const Vec3d& p) { return std::abs(dot(n, p - pa)); });
    if (!(std::abs(dot(n, points_[index(d)] - pa)) > kFlatHull * extent_)) return false;
    inside_ = 0.25 * (pa + points_[index(b)] + points_[index(c)] + points_[index(d)]);
    for (const auto& t : {std::array{a, b, c}, {a, b, d}, {a, c, d}, {b, c, d}}) add_triangle(t);
    return true;
  }

  void add_triangle(std::array<int, 3> at) {
    const Vec3d a = points_[index(at[0])];
    Vec3d normal = cross(points_[index(at[1])] - a, points_[index(at[2])] - a);
    const double size = norm(normal);
    if (!(size > 0.0)) return;
    normal *= 1.0 / size;
    if (dot(normal, inside_ - a) > 0.0) {
      std::swap(at[1], at[2]);
      normal = -normal;
    }
    triangles_.push_back({at, normal, dot(normal, a)});
  }

  void add(int point) {
    const Vec3d p = points_[index(point)];
    std::set<std::pair<int, int>> border;  // edges of triangles that see the point, both ways
    std::vector<Triangle> kept;
    for (const Triangle& t : triangles_) {
      if (dot(t.normal, p) - t.offset <= kOutsideFace * extent_) {
        kept.push_back(t);
        continue;
      }
      for (int k = 0; k < 3; ++k) border.insert({t.at[index(k)], t.at[index((k + 1) % 3)]});
    }
    if (border.empty()) return;
    triangles_ = std::move(kept);
    for (const auto& [a, b] : border)
      if (!border.contains({b, a})) add_triangle({a, b, point});
  }

  // Largest triangles first, so that slivers join the faces of others.
  void merge(const std::map<int, int>& number, Polytope& result) const {
    const auto area = [&](const Triangle& t) {
      const Vec3d a = points_[index(t.at[0])];
      return norm(cross(points_[index(t.at[1])] - a, points_[index(t.at[2])] - a));
    };
    std::vector<int> order(triangles_.size()), face_of(triangles_.size(), -1);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [&](int i, int k) {
      return area(triangles_[index(i)]) > area(triangles_[index(k)]);
    });
    for (const int i : order) {
      if (face_of[index(i)] >= 0) continue;
      const Triangle& first = triangles_[index(i)];
      const int face = static_cast<int>(result.faces.size());
      std::set<int> corners;
      for (std::size_t k = 0; k < triangles_.size(); ++k) {
        const Triangle& t = triangles_[k];
        const bool flat = std::all_of(t.at.begin(), t.at.end(), [&](int at) {
          return std::abs(dot(first.normal, points_[index(at)]) - first.offset) <=
                 kOneFace * extent_;
        });
        if (!flat || face_of[k] >= 0 || dot(t.normal, first.normal) < 0.0) continue;
        face_of[k] = face;
        for (const int at : t.at) corners.insert(number.at(at));
      }
      result.faces.push_back({first.normal, {corners.begin(), corners.end()}});
      sort_round(result, result.faces.back());
    }
    std::map<std::pair<int, int>, int> seen;
    for (std::size_t k = 0; k < triangles_.size(); ++k)
      for (int e = 0; e < 3; ++e) {
        const int a = number.at(triangles_[k].at[index(e)]);
        const int b = number.at(triangles_[k].at[index((e + 1) % 3)]);
        const auto [other, fresh] = seen.try_emplace(std::minmax(a, b), face_of[k]);
        if (!fresh && other->second != face_of[k]) result.edges.push_back(std::minmax(a, b));
      }
  }

  static void sort_round(const Polytope& polytope, Polytope::Face& face) {
    Vec3d middle{};
    for (const int i : face.corners) middle += polytope.vertices[index(i)];
    middle *= 1.0 / static_cast<double>(face.corners.size());
    const Vec3d u = normalized(polytope.vertices[index(face.corners[0])] - middle);
    const Vec3d v = cross(face.normal, u);
    std::sort(face.corners.begin(), face.corners.end(), [&](int a, int b) {
      const Vec3d pa = polytope.vertices[index(a)] - middle;
      const Vec3d pb = polytope.vertices[index(b)] - middle;
      return std::atan2(dot(pa, v), dot(pa, u)) < std::atan2(dot(pb, v), dot(pb, u));
    });
  }

  std::vector<Vec3d> points_;
  double extent_ = 0.0;
  Vec3d inside_{};
  std::vector<Triangle> triangles_;
};

}  // namespace

Polytope box_polytope(const Vec3d& size) {
  Polytope box;
  for (int k = 0; k < 8; ++k)
    box.vertices.push_back({(k & 1) != 0 ? 0.5 * size.x : -0.5 * size.x,
                            (k & 2) != 0 ? 0.5 * size.y : -0.5 * size.y,
                            (k & 4) != 0 ? 0.5 * size.z : -0.5 * size.z});
  // Of the face at +x, +y, +z; that opposite runs the other way.
  const std::array<std::array<int, 4>, 3> plus{std::array{1, 3, 7, 5}, {2, 6, 7, 3}, {4, 5, 7, 6}};
  for (int axis = 0; axis < 3; ++axis)
    for (const int sign : {1, -1}) {
      Polytope::Face face;
      face.normal[axis] = sign;
      for (int k = 0; k < 4; ++k) {
        const int corner = plus[index(axis)][index(sign > 0 ? k : 3 - k)];
        face.corners.push_back(sign > 0 ? corner : corner ^ (1 << axis));
      }
      box.faces.push_back(face);
    }
  for (int k = 0; k < 8; ++k)
    for (int axis = 0; axis < 3; ++axis)
      if ((k & (1 << axis)) == 0) box.edges.emplace_back(k, k | (1 << axis));
  box.directions = {Vec3d::unit_x(), Vec3d::unit_y(), Vec3d::unit_z()};
  return box;
}

std::vector<Vec3d> extreme_points(std::span<const Vec3d> points, int most, double* missed) {
  std::vector<Vec3d> kept;
  if (points.empty()) return kept;
  std::set<std::size_t> chosen;
  for (int k = 0; k < most; ++k) chosen.insert(farthest(points, spiral(k, most)));
  for (const Vec3d& axis : {Vec3d::unit_x(), Vec3d::unit_y(), Vec3d::unit_z()})
    for (const double sign : {-1.0, 1.0}) chosen.insert(farthest(points, sign * axis));
  // Files repeat the corners of their triangles.
  for (const std::size_t i : chosen)
    if (std::none_of(kept.begin(), kept.end(), [&](const Vec3d& p) { return p == points[i]; }))
      kept.push_back(points[i]);
  if (missed != nullptr) {
    *missed = 0.0;
    for (int k = 0; k < kHullChecks; ++k) {
      const Vec3d along = spiral(k, kHullChecks);
      *missed = std::max(*missed,
                         dot(points[farthest(points, along)] - kept[farthest(kept, along)], along));
    }
  }
  return kept;
}

Polytope convex_hull(std::span<const Vec3d> points) { return Hull(points).polytope(); }

}  // namespace catena
