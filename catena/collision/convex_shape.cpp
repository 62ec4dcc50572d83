// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/convex_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catena/base/index.h"

namespace catena {
namespace {

// Corners of the polygon that stands for the face of a cylinder.
constexpr int kCapCorners = 12;
// A direction this close to the axis of a cylinder has no rim point of its own (sine).
constexpr double kAlongAxis = 1e-9;

Vec3d turned(const PlacedShape& s, const Vec3d& v) { return s.pose.rotation * v; }

// Unit vector across the axis along d, or zero.
Vec3d radial(const PlacedShape& s, const Vec3d& d) {
  Vec3d across = d - dot(d, s.axis) * s.axis;
  across -= dot(across, s.axis) * s.axis;  // rounding, where d is almost along the axis
  const double size = norm(across);
  return size > kAlongAxis * norm(d) ? (1.0 / size) * across : Vec3d::zero();
}

}  // namespace

ConvexShape sphere_shape(double radius) {
  ConvexShape s;
  s.radius = s.reach = radius;
  return s;
}

ConvexShape capsule_shape(double radius, double length) {
  ConvexShape s;
  s.core = ConvexShape::Core::segment;
  s.radius = radius;
  s.half = 0.5 * length;
  s.reach = radius + s.half;
  return s;
}

ConvexShape cylinder_shape(double radius, double length) {
  ConvexShape s;
  s.core = ConvexShape::Core::cylinder;
  s.rim = radius;
  s.half = 0.5 * length;
  s.reach = std::hypot(radius, s.half);
  return s;
}

ConvexShape polytope_shape(Polytope polytope) {
  ConvexShape s;
  s.core = ConvexShape::Core::polytope;
  s.polytope = std::move(polytope);
  for (const Vec3d& p : s.polytope.vertices) s.reach = std::max(s.reach, norm(p));
  return s;
}

ConvexShape box_shape(const Vec3d& size) { return polytope_shape(box_polytope(size)); }

PlacedShape placed(const ConvexShape& shape, const Transformd& pose) {
  PlacedShape result;
  result.shape = &shape;
  result.place(pose);
  return result;
}

void PlacedShape::place(const Transformd& at) {
  pose = at;
  axis = pose.rotation * Vec3d::unit_z();
  if (shape->core != ConvexShape::Core::polytope) return;
  const Polytope& p = shape->polytope;
  vertices.resize(p.vertices.size());
  normals.resize(p.faces.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) vertices[i] = pose * p.vertices[i];
  for (std::size_t i = 0; i < normals.size(); ++i) normals[i] = pose.rotation * p.faces[i].normal;
}

Vec3d support(const PlacedShape& s, const Vec3d& along) {
  switch (s.shape->core) {
    case ConvexShape::Core::point:
      return s.pose.translation;
    case ConvexShape::Core::segment:
      return s.end(dot(along, s.axis) >= 0.0 ? 1 : -1);
    case ConvexShape::Core::cylinder:
      return s.end(dot(along, s.axis) >= 0.0 ? 1 : -1) + s.shape->rim * radial(s, along);
    case ConvexShape::Core::polytope:
      break;
  }
  std::size_t best = 0;
  double most = dot(s.vertices[0], along);
  for (std::size_t i = 1; i < s.vertices.size(); ++i)
    if (const double here = dot(s.vertices[i], along); here > most) {
      most = here;
      best = i;
    }
  return s.vertices[best];
}

std::vector<Vec3d> support_feature(const PlacedShape& s, const Vec3d& along, double angle) {
  const double sine = std::sin(angle);
  switch (s.shape->core) {
    case ConvexShape::Core::point:
      return {s.pose.translation};
    case ConvexShape::Core::segment:
      if (std::abs(dot(along, s.axis)) <= sine && s.shape->half > 0.0) return {s.end(-1), s.end(1)};
      return {support(s, along)};
    case ConvexShape::Core::cylinder: {
      const double up = dot(along, s.axis);
      if (norm(along - up * s.axis) <= sine) {
        const Vec3d u = turned(s, Vec3d::unit_x()), v = turned(s, Vec3d::unit_y());
        std::vector<Vec3d> cap;
        for (int k = 0; k < kCapCorners; ++k) {
          // Counterclockwise seen from outside.
          const double at = (up > 0.0 ? 2.0 : -2.0) * std::numbers::pi * k / kCapCorners;
          cap.push_back(s.end(up > 0.0 ? 1 : -1) +
                        s.shape->rim * (std::cos(at) * u + std::sin(at) * v));
        }
        return cap;
      }
      const Vec3d out = s.shape->rim * radial(s, along);
      if (std::abs(up) <= sine && s.shape->half > 0.0) return {s.end(-1) + out, s.end(1) + out};
      return {s.end(up >= 0.0 ? 1 : -1) + out};
    }
    case ConvexShape::Core::polytope:
      break;
  }
  const Polytope& p = s.shape->polytope;
  std::size_t best = 0;
  for (std::size_t f = 1; f < s.normals.size(); ++f)
    if (dot(s.normals[f], along) > dot(s.normals[best], along)) best = f;
  if (norm(cross(s.normals[best], along)) <= sine && dot(s.normals[best], along) > 0.0) {
    std::vector<Vec3d> face;
    for (const int i : p.faces[best].corners) face.push_back(s.vertices[index(i)]);
    return face;
  }
  const double most = dot(support(s, along), along);
  double longest = 0.0;
  std::vector<Vec3d> edge;
  for (const auto& [i, k] : p.edges) {
    const Vec3d a = s.vertices[index(i)], b = s.vertices[index(k)];
    const double length = norm(b - a);
    if (!(length > longest) || std::abs(dot(b - a, along)) > sine * length) continue;
    if (std::max(dot(a, along), dot(b, along)) < most - 1e-12 * s.shape->reach) continue;
    longest = length;
    edge = {a, b};
  }
  return edge.empty() ? std::vector<Vec3d>{support(s, along)} : edge;
}

double separation_along(const PlacedShape& a, const PlacedShape& b, const Vec3d& n) {
  return dot(support(a, -n), n) - dot(support(b, n), n) - a.radius() - b.radius();
}

}  // namespace catena
