// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/separation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/base/index.h"

namespace catena {
namespace {

using Core = ConvexShape::Core;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Cores that are closer touch: their difference says nothing about the direction.
constexpr double kCoresTouch = 1e-11;
// Polytopes with at most so many products of edges are separated without a guess.
constexpr std::size_t kFewAxes = 150;
// Faces and edges within this angle of a guess are tried (its cosine), or this many of a feature.
constexpr double kNearGuess = 0.8;
constexpr double kFeatureAngle = 0.2;
// The search that polishes a direction: first and last step (rad).
constexpr double kFirstTurn = 0.05;
constexpr double kLastTurn = 1e-8;
constexpr int kMostTurns = 400;
constexpr int kWays = 6;
constexpr double kParallel = 1e-9;

bool is_line(const ConvexShape& s) { return s.core == Core::point || s.core == Core::segment; }

std::vector<Vec3d> line_of(const PlacedShape& s) {
  if (s.shape->core == Core::point || s.shape->half == 0.0) return {s.pose.translation};
  return {s.end(-1), s.end(1)};
}

Vec3d across(const Vec3d& d) {
  return normalized(cross(d, std::abs(d.x) < 0.6 * norm(d) ? Vec3d::unit_x() : Vec3d::unit_y()));
}

Vec3d closest_on_segment(const Vec3d& a, const Vec3d& b, const Vec3d& point) {
  const Vec3d along = b - a;
  const double length = squared_norm(along);
  const double s = length > 0.0 ? std::clamp(dot(point - a, along) / length, 0.0, 1.0) : 0.0;
  return a + s * along;
}

// [Ericson 2005], 5.1.9.
std::pair<Vec3d, Vec3d> closest_of_segments(const Vec3d& p, const Vec3d& p1, const Vec3d& q,
                                            const Vec3d& q1) {
  const Vec3d u = p1 - p, v = q1 - q, w = p - q;
  const double a = dot(u, u), e = dot(v, v), f = dot(v, w), b = dot(u, v), c = dot(u, w);
  const double across2 = a * e - b * b;
  double s = across2 > 1e-14 * a * e ? std::clamp((b * f - c * e) / across2, 0.0, 1.0) : 0.5;
  double t = e > 0.0 ? std::clamp((b * s + f) / e, 0.0, 1.0) : 0.0;
  s = a > 0.0 ? std::clamp((b * t - c) / a, 0.0, 1.0) : 0.0;
  if (e > 0.0) t = std::clamp((b * s + f) / e, 0.0, 1.0);
  return {p + s * u, q + t * v};
}

// Keeps the direction of the largest separation.
class Best {
 public:
  Best(const PlacedShape& a, const PlacedShape& b) : a_(a), b_(b) {}
  bool take(const Vec3d& n) {
    const double here = separation_along(a_, b_, n);
    if (!(here > distance)) return false;
    distance = here;
    normal = n;
    return true;
  }
  double distance = -kInfinite;
  Vec3d normal{};

 private:
  const PlacedShape& a_;
  const PlacedShape& b_;
};

void take_faces(const PlacedShape& s, double sign, const std::optional<Vec3d>& near, Best& best) {
  if (s.shape->core == Core::cylinder)
    for (const double end : {-1.0, 1.0}) best.take(end * s.axis);
  if (s.shape->core != Core::polytope) return;
  for (const Vec3d& normal : s.normals)
    if (!near || dot(sign * normal, *near) > kNearGuess) best.take(sign * normal);
}

std::vector<Vec3d> directions_of(const PlacedShape& s) {
  if (s.shape->core == Core::segment || s.shape->core == Core::cylinder) return {s.axis};
  std::vector<Vec3d> result;
  for (const Vec3d& d : s.shape->polytope.directions) result.push_back(s.pose.rotation * d);
  return result;
}

void take_edges(const std::vector<Vec3d>& of_a, const std::vector<Vec3d>& of_b, Best& best) {
  for (const Vec3d& d : of_a)
    for (const Vec3d& e : of_b) {
      const Vec3d n = cross(d, e);
      const double size = norm(n);
      if (size <= kParallel) continue;
      best.take((1.0 / size) * n);
      best.take((-1.0 / size) * n);
    }
}

// The nearest points of a segment or point and a polytope lie on one of its faces.
Separation line_and_polytope(const PlacedShape& line, const PlacedShape& polytope) {
  const std::vector<Vec3d> core = line_of(line);
  Best faces(line, polytope);
  take_faces(polytope, 1.0, {}, faces);
  Separation result;
  result.face_normal = faces.normal;
  result.face_distance = faces.distance;
  double least = kInfinite;
  Vec3d gap{};
  std::vector<Vec3d> face;
  for (std::size_t f = 0; f < polytope.normals.size(); ++f) {
    const auto& corners = polytope.shape->polytope.faces[f].corners;
    const Vec3d& n = polytope.normals[f];
    const double offset = dot(n, polytope.vertices[index(corners[0])]);
    double highest = -kInfinite;
    for (const Vec3d& p : core) highest = std::max(highest, dot(n, p) - offset);
    if (highest < 0.0) continue;
    face.clear();
    for (const int i : corners) face.push_back(polytope.vertices[index(i)]);
    const auto [on_line, on_face] = closest_points(core, face);
    if (const double d = norm(on_line - on_face); d < least) {
      least = d;
      gap = on_line - on_face;
    }
  }
  Best best(line, polytope);
  best.take(faces.normal);
  if (least > kCoresTouch && least < kInfinite) best.take((1.0 / least) * gap);
  if (core.size() == 2) take_edges(directions_of(line), directions_of(polytope), best);
  result.distance = best.distance;
  result.normal = best.normal;
  return result;
}

Separation point_and_cylinder(const PlacedShape& point, const PlacedShape& cylinder) {
  const Vec3d from = point.pose.translation - cylinder.pose.translation;
  const double z = dot(from, cylinder.axis);
  const Vec3d out = from - z * cylinder.axis;
  const double distance = norm(out);
  const Vec3d radial = distance > kCoresTouch ? (1.0 / distance) * out : across(cylinder.axis);
  const Vec3d up = z >= 0.0 ? cylinder.axis : -1.0 * cylinder.axis;
  const double over = std::abs(z) - cylinder.shape->half, beside = distance - cylinder.shape->rim;
  Separation result;
  if (over > 0.0 && beside > 0.0) {
    result.distance = std::hypot(over, beside);
    result.normal = (1.0 / result.distance) * (over * up + beside * radial);
  } else {
    result.distance = std::max(over, beside);
    result.normal = over >= beside ? up : radial;
  }
  result.distance -= point.radius();
  if (over >= beside && result.normal == up) {
    result.face_normal = up;
    result.face_distance = result.distance;
  }
  return result;
}

Separation lines(const PlacedShape& a, const PlacedShape& b) {
  const auto [on_a, on_b] = closest_points(line_of(a), line_of(b));
  const double d = norm(on_a - on_b);
  Separation result;
  result.distance = d - a.radius() - b.radius();
  if (d > kCoresTouch) {
    result.normal = (1.0 / d) * (on_a - on_b);
  } else {
    const Vec3d n = cross(a.axis, b.axis);
    result.normal = norm(n) > kParallel ? normalized(n) : across(a.axis);
  }
  return result;
}

// Turns the direction by smaller and smaller angles as long as that separates more.
void polish(Best& best) {
  // Other ways in every round: along a ridge few of them lead upward.
  double turn = kFirstTurn, angle = 0.0;
  for (int k = 0; k < kMostTurns && turn > kLastTurn; ++k) {
    const Vec3d u = across(best.normal), v = cross(best.normal, u);
    bool better = false;
    for (int way = 0; way < kWays && !better; ++way, angle += 2.0 * std::numbers::pi / kWays)
      better = best.take(
          normalized(best.normal + (turn * std::cos(angle)) * u + (turn * std::sin(angle)) * v));
    angle += 1.0;
    turn *= better ? 1.5 : 0.7;
  }
}

std::vector<Vec3d> edges_of_feature(const PlacedShape& s, const Vec3d& along) {
  const std::vector<Vec3d> corners = support_feature(s, along, kFeatureAngle);
  std::vector<Vec3d> result;
  if (s.shape->core == Core::cylinder || s.shape->core == Core::segment) return {s.axis};
  for (std::size_t i = 0; corners.size() > 1 && i < corners.size(); ++i)
    if (const Vec3d d = corners[(i + 1) % corners.size()] - corners[i]; norm(d) > 0.0)
      result.push_back(normalized(d));
  return result;
}

Separation by_guess(const PlacedShape& a, const PlacedShape& b, const SeparationGuess& guess) {
  const std::optional<Vec3d> near = guess ? guess() : std::nullopt;
  Best faces(a, b);
  take_faces(a, -1.0, near, faces);
  take_faces(b, 1.0, near, faces);
  Best best(a, b);
  if (faces.distance > -kInfinite) best.take(faces.normal);
  if (near) best.take(*near);
  const Vec3d between = a.pose.translation - b.pose.translation;
  if (norm(between) > kCoresTouch) best.take(normalized(between));
  // The side of a cylinder along the direction found so far, and edges near it.
  for (const PlacedShape* s : {&a, &b})
    if (s->shape->core == Core::cylinder)
      if (const Vec3d side = best.normal - dot(best.normal, s->axis) * s->axis;
          norm(side) > kParallel)
        best.take(normalized(side));
  take_edges(edges_of_feature(a, -best.normal), edges_of_feature(b, best.normal), best);
  const bool flat = faces.distance >= best.distance;
  if (a.shape->core == Core::cylinder || b.shape->core == Core::cylinder || !flat) polish(best);
  Separation result;
  result.distance = best.distance;
  result.normal = best.normal;
  if (faces.distance > -kInfinite) {
    result.face_normal = faces.normal;
    result.face_distance = faces.distance;
  }
  return result;
}

// The nearest points of two polytopes that are apart lie on faces that look at each other.
void take_nearest(const PlacedShape& a, const PlacedShape& b, Best& best) {
  const Vec3d n = best.normal;
  const auto faces_along = [](const PlacedShape& s, const Vec3d& along) {
    std::vector<std::vector<Vec3d>> result;
    for (std::size_t f = 0; f < s.normals.size(); ++f) {
      if (dot(s.normals[f], along) <= 0.0) continue;
      std::vector<Vec3d>& face = result.emplace_back();
      for (const int i : s.shape->polytope.faces[f].corners) face.push_back(s.vertices[index(i)]);
    }
    return result;
  };
  double least = kInfinite;
  Vec3d gap{};
  const auto of_b = faces_along(b, n);
  for (const auto& face_a : faces_along(a, -n))
    for (const auto& face_b : of_b) {
      const auto [on_a, on_b] = closest_points(face_a, face_b);
      if (const double d = norm(on_a - on_b); d < least) {
        least = d;
        gap = on_a - on_b;
      }
    }
  if (least > kCoresTouch && least < kInfinite) best.take((1.0 / least) * gap);
}

bool few_axes(const ConvexShape& a, const ConvexShape& b) {
  return a.core == Core::polytope && b.core == Core::polytope &&
         a.polytope.directions.size() * b.polytope.directions.size() <= kFewAxes;
}

Separation reversed(Separation s) {
  s.normal = -s.normal;
  if (s.face_normal) s.face_normal = -*s.face_normal;
  return s;
}

}  // namespace

Vec3d closest_on_polygon(const std::vector<Vec3d>& polygon, const Vec3d& point) {
  if (polygon.size() == 1) return polygon[0];
  if (polygon.size() == 2) return closest_on_segment(polygon[0], polygon[1], point);
  Vec3d normal{};
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    normal += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  const double size = norm(normal);
  bool inside = size > 0.0;
  for (std::size_t i = 0; inside && i < polygon.size(); ++i) {
    const Vec3d& a = polygon[i];
    const Vec3d& b = polygon[(i + 1) % polygon.size()];
    inside = dot(cross(normal, b - a), point - a) >= 0.0;
  }
  if (inside) return point - (dot(normal, point - polygon[0]) / (size * size)) * normal;
  double least = kInfinite;
  Vec3d best{};
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3d on = closest_on_segment(polygon[i], polygon[(i + 1) % polygon.size()], point);
    if (const double d = squared_norm(on - point); d < least) {
      least = d;
      best = on;
    }
  }
  return best;
}

std::pair<Vec3d, Vec3d> closest_points(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  if (a.size() <= 2 && b.size() <= 2)
    return closest_of_segments(a.front(), a.back(), b.front(), b.back());
  std::pair<Vec3d, Vec3d> best;
  double least = kInfinite;
  const auto take = [&](const Vec3d& on_a, const Vec3d& on_b) {
    if (const double d = squared_norm(on_a - on_b); d < least) {
      least = d;
      best = {on_a, on_b};
    }
  };
  for (const Vec3d& p : a) take(p, closest_on_polygon(b, p));
  for (const Vec3d& p : b) take(closest_on_polygon(a, p), p);
  for (std::size_t i = 0; a.size() > 1 && i < (a.size() == 2 ? 1 : a.size()); ++i)
    for (std::size_t k = 0; b.size() > 1 && k < (b.size() == 2 ? 1 : b.size()); ++k) {
      const auto [p, q] =
          closest_of_segments(a[i], a[(i + 1) % a.size()], b[k], b[(k + 1) % b.size()]);
      take(p, q);
    }
  return best;
}

bool needs_guess(const ConvexShape& a, const ConvexShape& b) {
  if (a.core == Core::cylinder || b.core == Core::cylinder)
    return a.core != Core::point && b.core != Core::point;
  return a.core == Core::polytope && b.core == Core::polytope && !few_axes(a, b);
}

Separation separate(const PlacedShape& a, const PlacedShape& b, const SeparationGuess& guess) {
  const ConvexShape &sa = *a.shape, &sb = *b.shape;
  if (is_line(sa) && is_line(sb)) return lines(a, b);
  if (is_line(sa) && sb.core == Core::polytope) return line_and_polytope(a, b);
  if (is_line(sb) && sa.core == Core::polytope) return reversed(line_and_polytope(b, a));
  if (sa.core == Core::point) return point_and_cylinder(a, b);
  if (sb.core == Core::point) return reversed(point_and_cylinder(b, a));
  if (!few_axes(sa, sb)) return by_guess(a, b, guess);
  Best faces(a, b);
  take_faces(a, -1.0, {}, faces);
  take_faces(b, 1.0, {}, faces);
  Best best = faces;
  take_edges(directions_of(a), directions_of(b), best);
  if (best.distance > 0.0) take_nearest(a, b, best);
  return {best.distance, best.normal, faces.normal, faces.distance};
}

}  // namespace catena
