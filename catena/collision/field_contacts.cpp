// SPDX-License-Identifier: BSD-3-Clause
#include "catena/collision/field_contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "catena/base/index.h"

namespace catena {
namespace {

using Core = ConvexShape::Core;

constexpr double kOnEdge = 1e-12;      // of the spacing: two nearest points are one
constexpr double kOnePlane = 1e-12;    // of the spacing: planes coincide
constexpr double kPeak = 1e-9;         // of the spacing: a grid point stands out
constexpr double kStandingCos = 0.98;  // a cylinder within 0.2 rad of its axis stands on its face

struct FieldTriangle {
  Vec3d a, b, c;  // counterclockwise seen from above
  Vec3d normal;   // upward
  // Height of its plane.
  double at(double x, double y) const {
    return a.z - (normal.x * (x - a.x) + normal.y * (y - a.y)) / normal.z;
  }
};

class FieldQuery {
 public:
  FieldQuery(const HeightField& field, const PlacedShape& shape, double margin,
             std::vector<PatchPoint>& points)
      : field_(field), shape_(shape), margin_(margin), points_(points) {}

  void run() {
    switch (shape_.shape->core) {
      case Core::point:
        add_sphere(shape_.pose.translation);
        break;
      case Core::segment:
        add_sphere(shape_.end(-1));
        add_sphere(shape_.end(1));
        add_peaks();
        break;
      case Core::cylinder:
        add_rims();
        add_peaks();
        break;
      case Core::polytope:
        for (const Vec3d& p : shape_.vertices) add_corner(p);
        add_peaks();
        break;
    }
  }

 private:
  struct Cells {
    int first_column, last_column, first_row, last_row;
  };
  Cells cells_about(const Vec3d& p, double reach) const {
    const auto cell = [](double at, int count) {
      return std::clamp(static_cast<int>(std::floor(std::clamp(at, -1.0, count + 1.0))), 0,
                        count - 2);
    };
    return {cell((p.x - reach - field_.x) / field_.spacing_x, field_.columns),
            cell((p.x + reach - field_.x) / field_.spacing_x, field_.columns),
            cell((p.y - reach - field_.y) / field_.spacing_y, field_.rows),
            cell((p.y + reach - field_.y) / field_.spacing_y, field_.rows)};
  }

  FieldTriangle triangle(int column, int row, bool upper) const {
    FieldTriangle t;
    t.a = field_.point(column, row);
    t.b = upper ? field_.point(column + 1, row + 1) : field_.point(column + 1, row);
    t.c = upper ? field_.point(column, row + 1) : field_.point(column + 1, row + 1);
    t.normal = normalized(cross(t.b - t.a, t.c - t.a));
    return t;
  }

  template <class Visit>
  void each_triangle(const Vec3d& p, double reach, Visit visit) const {
    const Cells cells = cells_about(p, reach);
    for (int row = cells.first_row; row <= cells.last_row; ++row)
      for (int column = cells.first_column; column <= cells.last_column; ++column)
        for (const bool upper : {false, true}) visit(triangle(column, row, upper));
  }

  std::optional<FieldTriangle> below(const Vec3d& p) const {
    const double u = (p.x - field_.x) / field_.spacing_x, v = (p.y - field_.y) / field_.spacing_y;
    if (!(u >= 0.0 && v >= 0.0 && u <= field_.columns - 1 && v <= field_.rows - 1)) return {};
    const int i = std::min(static_cast<int>(u), field_.columns - 2);
    const int k = std::min(static_cast<int>(v), field_.rows - 2);
    return triangle(i, k, u - i < v - k);
  }

  double spacing() const { return std::max(field_.spacing_x, field_.spacing_y); }

  void add(const Vec3d& center, double radius, double rim, const Vec3d& on, const Vec3d& normal,
           const Vec3d& place) {
    PatchPoint p;
    p.center = center;
    p.radius = radius;
    p.rim = rim;
    p.rim_axis = shape_.axis;
    p.plane_point = on;
    p.normal = normal;
    p.place = place;
    p.gap = dot(place - on, normal);
    if (p.gap <= margin_) points_.push_back(p);
  }

  // Above the triangle below it, and those beside that rise: where the field is concave the plane
  // of a neighbour lies below the surface here, so that it bounds nothing too early.
  template <class Lowest>
  void add_lowest(const Vec3d& about, double reach, Lowest lowest, const Vec3d& center,
                  double rim) {
    each_triangle(about, reach + margin_, [&](const FieldTriangle& t) {
      const Vec3d place = lowest(t.normal);
      const std::optional<FieldTriangle> own = below(place);
      if (!own) return;
      const double above = own->at(place.x, place.y) - t.at(place.x, place.y);
      const bool same = own->a == t.a && own->b == t.b && own->c == t.c;
      if (!same) {
        const bool one_plane = std::abs(above) <= kOnePlane * spacing() &&
                               norm(cross(own->normal, t.normal)) <= kOnePlane;
        if (above < 0.0 || one_plane || !near(t, place)) return;
      }
      add(center, 0.0, rim, t.a, t.normal, place);
    });
  }

  // Within the margin of a triangle, seen from above.
  bool near(const FieldTriangle& t, const Vec3d& p) const {
    const std::vector<Vec3d> flat{{t.a.x, t.a.y, 0.0}, {t.b.x, t.b.y, 0.0}, {t.c.x, t.c.y, 0.0}};
    const Vec3d at{p.x, p.y, 0.0};
    return norm(closest_on_polygon(flat, at) - at) <= margin_;
  }

  void add_corner(const Vec3d& p) {
    const std::optional<FieldTriangle> own = below(p);
    if (!own || dot(p - own->a, own->normal) > margin_) return;
    add_lowest(
        p, 0.0, [&](const Vec3d&) { return p; }, p, 0.0);
  }

  // The nearest points of the triangles that are nearest points of all triangles they belong to.
  void add_sphere(const Vec3d& c) {
    const double radius = shape_.radius();
    struct Near {
      FieldTriangle triangle;
      Vec3d on;
    };
    std::vector<Near> all;
    each_triangle(c, radius + margin_, [&](const FieldTriangle& t) {
      const Vec3d on = closest_on_polygon({t.a, t.b, t.c}, c);
      if (norm(c - on) <= radius + margin_ || dot(c - t.a, t.normal) <= 0.0) all.push_back({t, on});
    });
    const double same = kOnEdge * spacing() + 1e-12 * norm(c);
    std::vector<Vec3d> taken;
    for (const Near& n : all) {
      const double distance = norm(c - n.on);
      const bool least = std::none_of(all.begin(), all.end(), [&](const Near& other) {
        const FieldTriangle& t = other.triangle;
        return norm(closest_on_polygon({t.a, t.b, t.c}, n.on) - n.on) <= same &&
               norm(c - other.on) < distance - same;
      });
      if (!least || std::any_of(taken.begin(), taken.end(),
                                [&](const Vec3d& p) { return norm(p - n.on) <= 1e3 * same; }))
        continue;
      const Vec3d& up = n.triangle.normal;
      const double height = dot(c - n.triangle.a, up);
      // Flat above its triangle, or below the surface: along the triangle's normal.
      const bool above = norm(c - height * up - n.on) <= 1e3 * same;
      if (!above && height <= 0.0) continue;
      const Vec3d normal = above || distance <= same ? up : (1.0 / distance) * (c - n.on);
      taken.push_back(n.on);
      add(c, radius, 0.0, n.on, normal, c - radius * normal);
    }
  }

  void add_rims() {
    const ConvexShape& s = *shape_.shape;
    const auto out = [&](const Vec3d& normal) {
      const Vec3d across = normal - dot(normal, shape_.axis) * shape_.axis;
      const double size = norm(across);
      return size > 1e-9 ? (s.rim / size) * across : Vec3d::zero();
    };
    for (const int end : {-1, 1}) {
      if (s.half == 0.0 && end > 0) break;
      const Vec3d center = shape_.end(end);
      add_lowest(
          center, s.rim, [&](const Vec3d& n) { return center - out(n); }, center, s.rim);
      const std::optional<FieldTriangle> under = below(center);
      if (!under || end * dot(shape_.axis, under->normal) > -kStandingCos) continue;
      const Vec3d u = shape_.pose.rotation * Vec3d::unit_x();
      const Vec3d v = shape_.pose.rotation * Vec3d::unit_y();
      for (int k = 0; k < kCapPoints; ++k) {
        const double angle = 2.0 * std::numbers::pi * k / kCapPoints;
        add_corner(center +
                   ((1.0 - kCapInset) * s.rim) * (std::cos(angle) * u + std::sin(angle) * v));
      }
    }
  }

  // A grid point above what its four neighbours have between them, along x or along y.
  bool peak(int i, int k) const {
    const double h = field_.height(i, k);
    const auto over = [&](int di, int dk) {
      if (i - di < 0 || k - dk < 0 || i + di >= field_.columns || k + dk >= field_.rows)
        return false;
      return h > 0.5 * (field_.height(i - di, k - dk) + field_.height(i + di, k + dk)) +
                     kPeak * spacing();
    };
    return over(1, 0) || over(0, 1);
  }

  void add_peaks() {
    const Cells cells = cells_about(shape_.pose.translation, shape_.shape->reach + margin_);
    ConvexShape point;
    for (int k = cells.first_row; k <= cells.last_row + 1; ++k)
      for (int i = cells.first_column; i <= cells.last_column + 1; ++i) {
        if (!peak(i, k)) continue;
        const Vec3d at = field_.point(i, k);
        if (norm(at - shape_.pose.translation) > shape_.shape->reach + margin_) continue;
        const Separation s = separate(placed(point, Transformd::from_translation(at)), shape_);
        // From above only: the shape is over the field.
        if (s.distance > margin_ || s.normal.z >= -0.1) continue;
        PatchPoint p;
        p.on_a = false;
        p.center = p.place = at;
        p.normal = s.normal;
        p.gap = s.distance;
        p.plane_point = at - s.distance * s.normal;
        points_.push_back(p);
      }
  }

  const HeightField& field_;
  const PlacedShape& shape_;
  double margin_;
  std::vector<PatchPoint>& points_;
};

}  // namespace

void find_field_contacts(const PlacedShape& shape, const HeightField& field, double margin,
                         std::vector<PatchPoint>& points) {
  points.clear();
  FieldQuery(field, shape, margin, points).run();
}

}  // namespace catena
