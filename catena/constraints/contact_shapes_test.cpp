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

TEST(ContactShapes, RefusesNegativeSizes) {
  EXPECT_THROW(box_contacts({.name = "b"}, {1.0, -1.0, 1.0}), Error);
  EXPECT_THROW(capsule_contacts({.name = "c"}, -1.0), Error);
}

}  // namespace
}  // namespace catena
