// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/patch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/base/index.h"

namespace catena {
namespace {

using Core = ConvexShape::Core;

// A face, or an edge, lies across a normal within this angle (rad).
constexpr double kFlatAngle = 1e-6;
constexpr double kLyingAngle = 1e-2;
// A cylinder within this angle of standing on its face touches with points of its rim.
constexpr double kStandingAngle = 0.2;
// An edge that crosses an edge counts if that separates by so much more than faces do (m).
constexpr double kEdgeBetter = 1e-6;
// Points of a clipped polygon that are this close are one (m).
constexpr double kSamePoint = 1e-9;
constexpr double kOnePlace = 1e-4;
constexpr double kNotLowest = 1e-6;
constexpr double kNoSine = 1e-9;

// One shape's face and the points of the other above it.
struct Sides {
  const PlacedShape& point;  // the shape of the points
  const PlacedShape& plane;
  bool on_a;
  Vec3d normal;  // from plane to point
};

double polygon_area(const std::vector<Vec3d>& p) {
  Vec3d sum{};
  for (std::size_t i = 1; i + 1 < p.size(); ++i) sum += cross(p[i] - p[0], p[i + 1] - p[0]);
  return 0.5 * norm(sum);
}

// The part of a polygon (segment, point) above a face whose normal is n; Sutherland and Hodgman.
std::vector<Vec3d> clipped(std::vector<Vec3d> subject, const std::vector<Vec3d>& face,
                           const Vec3d& n) {
  for (std::size_t e = 0; e < face.size() && !subject.empty(); ++e) {
    const Vec3d along = face[(e + 1) % face.size()] - face[e];
    const double length = norm(along);
    if (!(length > 0.0)) continue;
    const Vec3d inward = (1.0 / length) * cross(n, along);
    const auto height = [&](const Vec3d& p) { return dot(inward, p - face[e]); };
    std::vector<Vec3d> kept;
    const std::size_t count = subject.size();
    if (count == 1) {
      if (height(subject[0]) >= -kSamePoint) kept = subject;
    } else {
      // A segment has one side, not two.
      for (std::size_t i = 0; i < count; ++i) {
        const Vec3d& p = subject[i];
        const Vec3d& q = subject[(i + 1) % count];
        const double hp = height(p), hq = height(q);
        if (hp >= -kSamePoint) kept.push_back(p);
        if (count == 2 && i == 1) break;
        if ((hp > kSamePoint && hq < -kSamePoint) || (hp < -kSamePoint && hq > kSamePoint))
          kept.push_back(p + (hp / (hp - hq)) * (q - p));
      }
    }
    subject = std::move(kept);
  }
  std::vector<Vec3d> result;
  for (const Vec3d& p : subject)
    if (std::none_of(result.begin(), result.end(),
                     [&](const Vec3d& q) { return norm(p - q) <= kSamePoint; }))
      result.push_back(p);
  return result;
}

// The corners of the point's shape that look at the plane.
std::vector<Vec3d> incident(const PlacedShape& s, const Vec3d& down) {
  switch (s.shape->core) {
    case Core::point:
      return {s.pose.translation};
    case Core::segment:
      return {s.end(-1), s.end(1)};
    case Core::cylinder: {
      const Vec3d out = down - dot(down, s.axis) * s.axis;
      const double size = norm(out);
      const Vec3d rim = size > kNoSine ? (s.shape->rim / size) * out : Vec3d::zero();
      if (s.shape->half == 0.0) return {s.pose.translation + rim};
      return {s.end(-1) + rim, s.end(1) + rim};
    }
    case Core::polytope:
      break;
  }
  std::size_t best = 0;
  for (std::size_t f = 1; f < s.normals.size(); ++f)
    if (dot(s.normals[f], down) > dot(s.normals[best], down)) best = f;
  std::vector<Vec3d> face;
  for (const int i : s.shape->polytope.faces[best].corners) face.push_back(s.vertices[index(i)]);
  return face;
}

PatchPoint make_point(const Sides& sides, const Vec3d& core, const Vec3d& on_plane) {
  const PlacedShape& s = sides.point;
  PatchPoint p;
  p.on_a = sides.on_a;
  p.normal = sides.normal;
  p.center = core;
  p.radius = s.radius();
  if (s.shape->core == Core::cylinder) {
    const Vec3d from = core - s.pose.translation;
    const double z = dot(from, s.axis);
    // At its rim: the lowest point runs round the cylinder.
    if (norm(from - z * s.axis) > (1.0 - 0.1 * kCapInset) * s.shape->rim) {
      p.center = s.pose.translation + z * s.axis;
      p.rim = s.shape->rim;
      p.rim_axis = s.axis;
    }
  }
  p.plane_point = on_plane + sides.plane.radius() * sides.normal;
  p.gap = dot(core - p.plane_point, sides.normal) - p.radius;
  p.place = core - p.radius * sides.normal;
  return p;
}

// Points of a shape above the face of another. `beside`: if there are none, the lowest point above
// the plane of the face.
void above_face(const Sides& sides, const std::vector<Vec3d>& face, double margin, bool beside,
                std::vector<PatchPoint>& points) {
  const Vec3d down = -sides.normal;
  const PlacedShape& s = sides.point;
  std::vector<Vec3d> corners = clipped(incident(s, down), face, sides.normal);
  if (s.shape->core == Core::cylinder && std::abs(dot(s.axis, down)) > std::cos(kStandingAngle)) {
    const Vec3d u = s.pose.rotation * Vec3d::unit_x(), v = s.pose.rotation * Vec3d::unit_y();
    std::vector<Vec3d> cap;
    for (int k = 0; k < kCapPoints; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / kCapPoints;
      cap.push_back(s.end(dot(s.axis, down) > 0.0 ? 1 : -1) +
                    ((1.0 - kCapInset) * s.shape->rim) *
                        (std::cos(angle) * u + std::sin(angle) * v));
    }
    for (const Vec3d& p : clipped(cap, face, sides.normal)) corners.push_back(p);
  }
  const std::size_t before = points.size();
  for (const Vec3d& corner : corners) {
    const PatchPoint p = make_point(sides, corner, face[0]);
    if (p.gap <= margin) points.push_back(p);
  }
  if (points.size() > before || !beside) return;
  const PatchPoint p = make_point(sides, support(s, down), face[0]);
  if (p.gap <= margin) points.push_back(p);
}

int roundness(const ConvexShape& s) {
  return s.core == Core::point ? 0 : s.core == Core::segment ? 1 : s.core == Core::cylinder ? 2 : 3;
}

// The point's shape is the rounder one.
Sides sides_for(const PlacedShape& a, const PlacedShape& b, const Vec3d& normal) {
  const bool on_a = roundness(*a.shape) <= roundness(*b.shape);
  return {on_a ? a : b, on_a ? b : a, on_a, on_a ? normal : -normal};
}

// Neither shape has a face along the normal: one point, or two where edges lie along each other.
void without_face(const Sides& sides, double margin, std::vector<PatchPoint>& points) {
  const Vec3d n = sides.normal;
  const std::vector<Vec3d> top = support_feature(sides.point, -n, kLyingAngle);
  const std::vector<Vec3d> bottom = support_feature(sides.plane, n, kLyingAngle);
  // Points that are not the lowest and the highest ones say nothing about the gap.
  const Vec3d lowest = support(sides.point, -n), highest = support(sides.plane, n);
  const auto add = [&](const Vec3d& core, const Vec3d& on_plane) {
    PatchPoint p = make_point(sides, core, on_plane);
    const PlacedShape& s = sides.plane;
    const bool ball =
        s.shape->core == Core::point || (s.shape->core == Core::segment && bottom.size() == 1);
    if (ball && s.radius() > 0.0 && p.rim == 0.0) {
      p.plane_radius = s.radius();
      p.plane_point = on_plane;
      p.gap = norm(core - on_plane) - p.radius - p.plane_radius;
    }
    if (p.gap <= margin) points.push_back(p);
  };
  if (top.size() == 2 && bottom.size() == 2) {
    const Vec3d u = top[1] - top[0], v = bottom[1] - bottom[0];
    const double length = norm(u);
    if (norm(cross(u, v)) <= std::sin(kLyingAngle) * length * norm(v)) {
      const Vec3d unit = (1.0 / length) * u;
      double low = dot(unit, bottom[0] - top[0]), high = dot(unit, bottom[1] - top[0]);
      if (low > high) std::swap(low, high);
      low = std::max(low, 0.0);
      high = std::min(high, length);
      if (high - low > kSamePoint) {
        const std::size_t before = points.size();
        double least = std::numeric_limits<double>::infinity();
        for (const double s : {low, high}) {
          add(top[0] + s * unit, highest);
          least = std::min(least, dot(top[0] + s * unit - lowest, n));
        }
        if (points.size() > before && least <= kNotLowest) return;
        points.resize(before);
      }
    }
  }
  const auto [on_top, on_bottom] = closest_points(support_feature(sides.point, -n, kFlatAngle),
                                                  support_feature(sides.plane, n, kFlatAngle));
  if (dot(on_top - lowest, n) - dot(on_bottom - highest, n) > kNotLowest)
    add(lowest, highest);
  else
    add(on_top, on_bottom);
}

}  // namespace

void find_patch(const PlacedShape& a, const PlacedShape& b, const Separation& separation,
                double margin, std::vector<PatchPoint>& points) {
  points.clear();
  if (separation.distance > margin) return;
  const bool faces = separation.face_normal.has_value();
  const Vec3d n = faces ? *separation.face_normal : separation.normal;
  // Faces of rounded cores count only where they are nearest: round an edge the normal turns.
  const bool round = a.radius() > 0.0 || b.radius() > 0.0;
  const bool edge = !faces || separation.distance > separation.face_distance + kEdgeBetter;
  if (faces && !(round && edge)) {
    const std::vector<Vec3d> of_a = support_feature(a, -n, kFlatAngle);
    const std::vector<Vec3d> of_b = support_feature(b, n, kFlatAngle);
    const bool take_b =
        of_b.size() > 2 && (of_a.size() <= 2 || polygon_area(of_b) >= 0.99 * polygon_area(of_a));
    if (take_b)
      above_face({a, b, true, n}, of_b, margin, !edge, points);
    else if (of_a.size() > 2)
      above_face({b, a, false, -n}, of_a, margin, !edge, points);
  }
  reduce_patch(points);
  if (!edge) return;
  const std::size_t flat = points.size();
  without_face(sides_for(a, b, separation.normal), margin, points);
  if (points.size() == flat) return;
  // The crossing of the edges is a corner of the clipped face too.
  const Vec3d at = points.back().place;
  std::size_t same = 0;
  for (std::size_t i = 1; i < flat; ++i)
    if (norm(points[i].place - at) < norm(points[same].place - at)) same = i;
  if (flat > 0 && (flat == kMostPoints || norm(points[same].place - at) <= kOnePlace))
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(same));
}

void reduce_patch(std::vector<PatchPoint>& points, std::size_t most) {
  if (points.size() <= most || points.empty()) return;
  // Along lines of the plane's own edges: the first two points are corners of it as a rule.
  const Vec3d n = points[0].normal;
  const Vec3d first = points[1].place - points[0].place;
  const Vec3d flat = first - dot(first, n) * n;
  const Vec3d u = norm(flat) > 0.0 ? normalized(flat) : normalized(cross(n, Vec3d{n.y, n.z, n.x}));
  const Vec3d v = cross(n, u);
  std::vector<std::size_t> kept;
  std::size_t lowest = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].gap < points[lowest].gap - kSamePoint) lowest = i;
  const Vec3d ways[] = {u + v, -1.0 * (u + v), u - v, v - u};
  for (const Vec3d& way : ways) {
    std::size_t best = 0;
    double farthest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < points.size(); ++i)
      if (const double at = dot(points[i].place, way); at > farthest + kSamePoint) {
        farthest = at;
        best = i;
      }
    if (std::find(kept.begin(), kept.end(), best) == kept.end()) kept.push_back(best);
  }
  if (std::find(kept.begin(), kept.end(), lowest) == kept.end()) {
    if (kept.size() < most) {
      kept.push_back(lowest);
    } else {
      *std::min_element(kept.begin(), kept.end(), [&](std::size_t i, std::size_t k) {
        return norm(points[i].place - points[lowest].place) <
               norm(points[k].place - points[lowest].place);
      }) = lowest;
    }
  }
  if (kept.size() > most) {
    std::stable_sort(kept.begin(), kept.end(),
                     [&](std::size_t i, std::size_t k) { return points[i].gap < points[k].gap; });
    kept.resize(most);
  }
  std::vector<PatchPoint> result;
  for (const std::size_t i : kept) result.push_back(points[i]);
  points = std::move(result);
}

}  // namespace catena
