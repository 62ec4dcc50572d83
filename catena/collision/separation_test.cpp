// SPDX-License-Identifier: BSD-3-Clause
// Distances, normals and patches against brute force: the largest separation over many directions,
// by support functions written down again here.
#include "catena/collision/separation.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "catena/collision/fcl_scene.h"
#include "catena/collision/patch.h"

namespace catena {
namespace {

using Core = ConvexShape::Core;

Transformd random_pose(std::mt19937& random, double spread) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  const Vec3d turn{3.0 * any(random), 3.0 * any(random), 3.0 * any(random)};
  return {exp_rotation(turn), {spread * any(random), spread * any(random), spread * any(random)}};
}

// max over the shape of n·x, in its own frame by the definition of the shape.
double extent(const ConvexShape& s, const Transformd& pose, const Vec3d& n) {
  const Vec3d own = pose.rotation.inverse_times(n);
  double most = 0.0;
  if (s.core == Core::segment) most = s.half * std::abs(own.z);
  if (s.core == Core::cylinder) most = s.half * std::abs(own.z) + s.rim * std::hypot(own.x, own.y);
  if (s.core == Core::polytope) {
    most = -1e300;
    for (const Vec3d& p : s.polytope.vertices) most = std::max(most, dot(own, p));
  }
  return dot(n, pose.translation) + most + s.radius;
}

struct Brute {
  double distance = -1e300;
  Vec3d normal{};
};

Brute brute_force(const ConvexShape& a, const Transformd& at_a, const ConvexShape& b,
                  const Transformd& at_b, std::mt19937& random) {
  Brute best;
  const auto take = [&](const Vec3d& n) {
    const double here = -extent(a, at_a, -n) - extent(b, at_b, n);
    if (here > best.distance) best = {here, n};
  };
  std::normal_distribution<double> normal;
  for (int k = 0; k < 2000; ++k)
    take(normalized(Vec3d{normal(random), normal(random), normal(random)}));
  for (double size = 0.2; size > 1e-9; size *= 0.96) {
    const Vec3d from = best.normal;
    for (int k = 0; k < 24; ++k)
      take(normalized(from + size * Vec3d{normal(random), normal(random), normal(random)}));
  }
  return best;
}

std::vector<Vec3d> cloud(std::mt19937& random, int count) {
  std::normal_distribution<double> normal;
  std::vector<Vec3d> points;
  for (int k = 0; k < count; ++k)
    points.push_back({0.1 * normal(random), 0.15 * normal(random), 0.2 * normal(random)});
  return points;
}

std::vector<ConvexShape> some_shapes(std::mt19937& random) {
  return {sphere_shape(0.2),
          capsule_shape(0.1, 0.4),
          cylinder_shape(0.2, 0.3),
          cylinder_shape(0.3, 0.0),
          box_shape({0.3, 0.2, 0.5}),
          polytope_shape(convex_hull(cloud(random, 8))),
          polytope_shape(convex_hull(cloud(random, 60)))};
}

TEST(Separation, AgreesWithBruteForce) {
  std::mt19937 random(7);
  const std::vector<ConvexShape> shapes = some_shapes(random);
  int compared = 0;
  for (const ConvexShape& a : shapes)
    for (const ConvexShape& b : shapes)
      for (int k = 0; k < 5; ++k) {
        const Transformd at_a = random_pose(random, 0.45), at_b = random_pose(random, 0.45);
        SeparationGuess guess;
        const ConvexShape* both[] = {&a, &b};
        std::unique_ptr<FclScene> scene;
        if (has_fcl()) {
          scene = std::make_unique<FclScene>(both);
          scene->place(0, at_a, 0.0);
          scene->place(1, at_b, 0.0);
          guess = [&] { return scene->direction(0, 1); };
        }
        const Separation found = separate(placed(a, at_a), placed(b, at_b), guess);
        const Brute brute = brute_force(a, at_a, b, at_b, random);
        SCOPED_TRACE("cores " + std::to_string(static_cast<int>(a.core)) + " " +
                     std::to_string(static_cast<int>(b.core)));
        EXPECT_NEAR(norm(found.normal), 1.0, 1e-12);
        // The distance is that along the normal: a lower bound whatever the normal is, so it needs
        // only be as good as the search, which ends some 1e-6 short of it.
        EXPECT_NEAR(-extent(a, at_a, -found.normal) - extent(b, at_b, found.normal), found.distance,
                    1e-8);
        // Of shapes that overlap deeply several directions push apart by almost as little. Where
        // there is no closed form the search ends within 1e-5 m of the best.
        if (brute.distance < -0.02) continue;
        EXPECT_GE(found.distance, brute.distance - (needs_guess(a, b) ? 1e-5 : 1e-6));
        ++compared;
      }
  EXPECT_GT(compared, 150);
}

TEST(Separation, ClosedForms) {
  const ConvexShape ball = sphere_shape(0.5), box = box_shape({2.0, 2.0, 2.0});
  const auto distance = [&](const Vec3d& at) {
    return separate(placed(ball, Transformd::from_translation(at)),
                    placed(box, Transformd::identity()));
  };
  EXPECT_NEAR(distance({0.0, 0.0, 2.0}).distance, 0.5, 1e-15);
  EXPECT_NEAR(distance({0.0, 0.0, 2.0}).normal.z, 1.0, 1e-15);
  EXPECT_NEAR(distance({2.0, 0.0, 2.0}).distance, std::sqrt(2.0) - 0.5, 1e-15);
  EXPECT_NEAR(distance({2.0, 2.0, 2.0}).distance, std::sqrt(3.0) - 0.5, 1e-15);
  EXPECT_NEAR(distance({0.2, 0.0, 0.7}).distance, -0.3 - 0.5, 1e-15);  // inside
  const ConvexShape rod = capsule_shape(0.1, 1.0);
  const Transformd across{exp_rotation(Vec3d{0.5 * M_PI, 0.0, 0.0}), {0.0, 0.0, 1.0}};
  EXPECT_NEAR(separate(placed(rod, across), placed(rod, Transformd::identity())).distance,
              1.0 - 0.5 - 0.2, 1e-15);
}

// A box turned by an angle on another: the corners of the octagon or square in common.
TEST(Patch, BoxOnBox) {
  const ConvexShape lower = box_shape({1.0, 1.0, 0.2}), upper = box_shape({0.5, 0.5, 0.2});
  for (const double angle : {0.0, 0.3, 0.25 * M_PI}) {
    const PlacedShape a =
        placed(upper, {exp_rotation(Vec3d{0.0, 0.0, angle}), {0.1, 0.05, 0.2 + 1e-5}});
    const PlacedShape b = placed(lower, Transformd::identity());
    std::vector<PatchPoint> points;
    find_patch(a, b, separate(a, b), 1e-3, points);
    ASSERT_EQ(points.size(), 4u);
    double area = 0.0;
    Vec3d middle{};
    for (const PatchPoint& p : points) {
      EXPECT_NEAR(p.gap, 1e-5, 1e-14);
      EXPECT_NEAR(norm(cross(p.normal, Vec3d::unit_z())), 0.0, 1e-15);
      middle += 0.25 * p.place;
    }
    EXPECT_NEAR(norm(middle - Vec3d{0.1, 0.05, 0.1 + 1e-5}), 0.0, 1e-14);
    for (const PatchPoint& p : points) area += norm(p.place - middle);
    EXPECT_NEAR(area, 4.0 * 0.25 * std::sqrt(2.0), 1e-14);  // all corners of the smaller face
  }
}

TEST(Patch, HalfOverTheEdge) {
  const ConvexShape box = box_shape({1.0, 1.0, 1.0});
  const PlacedShape a = placed(box, Transformd::from_translation({0.7, 0.0, 1.0}));
  const PlacedShape b = placed(box, Transformd::identity());
  std::vector<PatchPoint> points;
  find_patch(a, b, separate(a, b), 1e-3, points);
  ASSERT_EQ(points.size(), 4u);
  double least = 1e300, most = -1e300;
  for (const PatchPoint& p : points) {
    least = std::min(least, p.place.x);
    most = std::max(most, p.place.x);
  }
  EXPECT_NEAR(least, 0.2, 1e-14);
  EXPECT_NEAR(most, 0.5, 1e-14);
}

// Edges that cross at a right angle touch at one point, with the normal across both.
TEST(Patch, EdgeOnEdge) {
  const ConvexShape box = box_shape({1.0, 1.0, 1.0});
  const Rotationd on_edge = exp_rotation(Vec3d{0.25 * M_PI, 0.0, 0.0});
  const Rotationd turned = exp_rotation(Vec3d{0.0, 0.0, 0.5 * M_PI}) * on_edge;
  const double high = std::sqrt(2.0) + 1e-5;
  const PlacedShape a = placed(box, {turned, {0.0, 0.0, high}});
  const PlacedShape b = placed(box, {on_edge, {}});
  std::vector<PatchPoint> points;
  find_patch(a, b, separate(a, b), 1e-3, points);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, 1e-5, 1e-13);
  EXPECT_NEAR(points[0].normal.z, 1.0, 1e-12);
  EXPECT_NEAR(std::hypot(points[0].place.x, points[0].place.y), 0.0, 1e-9);
}

TEST(Patch, CapsuleAndCylinderLieOnABox) {
  const ConvexShape table = box_shape({1.0, 1.0, 0.2});
  const PlacedShape b = placed(table, Transformd::identity());
  const Rotationd lying = exp_rotation(Vec3d{0.0, 0.5 * M_PI, 0.0});
  for (const ConvexShape& shape : {capsule_shape(0.1, 0.6), cylinder_shape(0.1, 0.6)}) {
    const PlacedShape a = placed(shape, {lying, {0.0, 0.0, 0.2}});
    std::vector<PatchPoint> points;
    find_patch(a, b, separate(a, b), 1e-3, points);
    ASSERT_EQ(points.size(), 2u);
    for (const PatchPoint& p : points) {
      EXPECT_NEAR(p.gap, 0.0, 1e-14);
      EXPECT_NEAR(std::abs(p.place.x), 0.3, 1e-14);
      EXPECT_NEAR(p.place.z, 0.1, 1e-14);
    }
  }
}

TEST(ConvexHull, OfABoxWithPointsInside) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-0.5, 0.5);
  std::vector<Vec3d> points = box_polytope({1.0, 2.0, 3.0}).vertices;
  for (int k = 0; k < 100; ++k) points.push_back({any(random), any(random), any(random)});
  const Polytope hull = convex_hull(points);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.faces.size(), 6u);
  EXPECT_EQ(hull.edges.size(), 12u);
  EXPECT_EQ(hull.directions.size(), 3u);
  EXPECT_TRUE(
      convex_hull(std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}).faces.empty());
}

// Euler's formula, and no point outside.
TEST(ConvexHull, OfRandomPoints) {
  std::mt19937 random(11);
  const std::vector<Vec3d> points = cloud(random, 100);
  const Polytope hull = convex_hull(points);
  EXPECT_EQ(hull.vertices.size() + hull.faces.size(), hull.edges.size() + 2);
  for (const Polytope::Face& face : hull.faces)
    for (const Vec3d& p : points)
      EXPECT_LE(dot(face.normal, p - hull.vertices[static_cast<std::size_t>(face.corners[0])]),
                1e-8);
}

}  // namespace
}  // namespace catena
