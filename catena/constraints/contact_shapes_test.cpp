// SPDX-License-Identifier: BSD-3-Clause
// Shapes as points and spheres: the distance of a turned box or capsule from a plane, against its
// support function, and a wheel against the lowest of many points of its rim.
#include "catena/constraints/contact_shapes.h"

#include <cmath>

#include <gtest/gtest.h>

#include "catena/model/builder.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

Mechanism free_body() {
  MechanismBuilder b("body");
  b.add_body("body", {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  b.add_hinge("base", kWorld, "body", {.type = HingeType::free});
  return b.finish();
}

double lowest(const Mechanism& m, const std::vector<ContactSettings>& contacts, const State& s) {
  ConstraintSet set(m);
  double least = 1e9;
  for (const ContactSettings& c : contacts) set.add(c);
  set.look(s);
  for (int i = 0; i < set.count(); ++i) least = std::min(least, set.contact_gap(i));
  return least;
}

TEST(ContactShapes, DistancesOfTurnedShapes) {
  const Mechanism m = free_body();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    State s = m.default_state();
    s.q = random_position(m, seed);
    const Transformd pose = [&] {
      ConstraintSet set(m);
      set.look(s);
      return set.workspace().node(0).pose;
    }();
    const Mat3d r = pose.rotation.matrix;
    const double height = pose.translation.z;
    // Support of a box: ½ Σ size_i |z row|.
    const double box = height - 0.5 * (0.4 * std::abs(r.m[2][0]) + 0.2 * std::abs(r.m[2][1]) +
                                       0.1 * std::abs(r.m[2][2]));
    EXPECT_NEAR(lowest(m, box_contacts({.name = "box", .body = 0}, {0.4, 0.2, 0.1}), s), box,
                1e-12);
    const double capsule = height - 0.15 * std::abs(r.m[2][2]) - 0.05;
    EXPECT_NEAR(lowest(m, capsule_contacts({.name = "capsule", .body = 0, .radius = 0.05}, 0.3), s),
                capsule, 1e-12);
    double rim = 1e9;
    constexpr int kPoints = 20000;
    for (int k = 0; k < kPoints; ++k) {
      const double angle = 2.0 * 3.14159265358979323846 * k / kPoints;
      const Vec3d at{0.3 * std::cos(angle), 0.0, 0.3 * std::sin(angle)};
      rim = std::min(rim, (pose * at).z - 0.02);
    }
    EXPECT_NEAR(lowest(m, {{.name = "rim", .body = 0, .radius = 0.02, .rim = 0.3}}, s), rim, 1e-7);
  }
}

// The support of a turned cylinder: ½ length |cos| + radius sin of the angle between axis and
// normal.
TEST(ContactShapes, DistanceOfACylinder) {
  const Mechanism m = free_body();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    State s = m.default_state();
    s.q = random_position(m, seed);
    ConstraintSet set(m);
    set.look(s);
    const Transformd pose = set.workspace().node(0).pose;
    const double c = pose.rotation.matrix.m[2][2];
    const double expected = pose.translation.z - 0.15 * std::abs(c) - 0.2 * std::sqrt(1.0 - c * c);
    ContactSettings like{.name = "drum", .body = 0, .rim = 0.2, .rim_axis = {0.0, 0.0, 1.0}};
    EXPECT_NEAR(lowest(m, cylinder_contacts(like, 0.3), s), expected, 1e-12);
  }
}

// On a face it rests on a patch: the points surround the middle.
TEST(ContactShapes, ACylinderOnItsFaceTouchesAllRound) {
  const Mechanism m = free_body();
  State s = m.default_state();
  s.q[m.position_index("base.z")] = 0.15;
  ConstraintSet set(m);
  for (const ContactSettings& c :
       cylinder_contacts({.name = "drum", .body = 0, .rim = 0.2, .rim_axis = {0, 0, 1}}, 0.3))
    set.add(c);
  set.look(s);
  int touching = 0;
  for (int i = 0; i < set.count(); ++i) touching += std::abs(set.contact_gap(i)) < 1e-12 ? 1 : 0;
  EXPECT_EQ(touching, 7);
}

// The corners of a cube among points inside it, and nothing else.
TEST(ContactShapes, HullOfPoints) {
  std::vector<Vec3d> points;
  for (int i = 0; i <= 4; ++i)
    for (int j = 0; j <= 4; ++j)
      for (int k = 0; k <= 4; ++k) points.push_back({0.1 * i, 0.1 * j, 0.1 * k});
  double missed = 1.0;
  const std::vector<ContactSettings> hull =
      hull_contacts({.name = "hull", .body = 0}, points, &missed);
  int corners = 0;
  for (const ContactSettings& c : hull) {
    const auto end = [](double x) { return x == 0.0 || x == 0.1 * 4; };
    corners += end(c.center.x) && end(c.center.y) && end(c.center.z) ? 1 : 0;
  }
  EXPECT_EQ(corners, 8);
  EXPECT_EQ(missed, 0.0);
}

TEST(ContactShapes, GroundUnderCollisionShapes) {
  MechanismBuilder b("two");
  const Transformd side{Rotationd::from_rpy(1.5707963267948966, 0.0, 0.0), {0.0, 0.0, 0.1}};
  b.add_body("body", {.mass = 1.0,
                      .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0),
                      .collisions = {{.shape = Collision::Shape::box, .size = {0.4, 0.2, 0.1}},
                                     {.shape = Collision::Shape::cylinder,
                                      .pose = side,
                                      .radius = 0.3,
                                      .length = 0.1,
                                      .friction = 0.5,
                                      .name = "tyre"}}});
  b.add_hinge("base", kWorld, "body", {.type = HingeType::free});
  const Mechanism m = b.finish();
  const std::vector<ContactSettings> contacts =
      ground_contacts(m, {.height = -1.0, .friction = 0.7});
  ASSERT_EQ(contacts.size(), 8u + 14u);
  EXPECT_EQ(contacts[0].name, "body.collision.0");
  EXPECT_EQ(contacts[0].friction, 0.7);
  EXPECT_EQ(contacts[8].name, "body.tyre.0");
  EXPECT_EQ(contacts[8].friction, 0.5);
  // The wheel reaches 0.3 − 0.1 below the origin, the box 0.05; the ground lies 1 below.
  EXPECT_NEAR(least_gap(m, contacts, m.default_state().q), 0.8, 1e-12);
  EXPECT_THROW(ground_contacts(free_body(), {}), Error);
}

TEST(ContactShapes, RefusesNegativeSizes) {
  EXPECT_THROW(box_contacts({.name = "b"}, {1.0, -1.0, 1.0}), Error);
  EXPECT_THROW(capsule_contacts({.name = "c"}, -1.0), Error);
}

}  // namespace
}  // namespace catena
