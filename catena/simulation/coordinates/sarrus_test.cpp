// SPDX-License-Identifier: BSD-3-Clause
// Sarrus' linkage, two pairs of hinged plates that let a table only rise and fall, through the
// position in which it lies flat: the upper plates lie on the lower ones there, and each pair could
// begin to spin about its edge. One of its constraints is redundant.
//
// The reference is the differential equation for the angle of the plates.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/closure/assembly.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::kGravity;

using testing::HasSubstr;

constexpr double kRadius = 0.1, kLength = 0.3;
constexpr double kPlateMass = 0.3, kPlateInertia = 0.002, kTableMass = 1.0;
constexpr double kStart = 0.8;
constexpr double kAzimuths[] = {0.0, 2.0};

// Of the second pair the edge in the middle is tilted, and that at the table is further out.
Mechanism sarrus(double off) {
  MechanismBuilder b("sarrus");
  b.set_gravity({0.0, 0.0, -kGravity});
  b.add_body("table", {.mass = kTableMass, .inertia = SymMat3d::diagonal(0.01, 0.01, 0.02)});
  const BodySettings plate{.mass = kPlateMass,
                           .center_of_mass = {0.5 * kLength, 0.0, 0.0},
                           .inertia = SymMat3d::diagonal(1e-4, kPlateInertia, kPlateInertia)};
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    const Rotationd turn = Rotationd::about_z(kAzimuths[i]);
    const auto edge = [&](double radius) {
      return Transformd{turn, turn * Vec3d{radius, 0.0, 0.0}};
    };
    const Vec3d axis{0.0, 1.0, 0.0};
    b.add_body("lower" + n, plate).add_body("upper" + n, plate);
    b.add_hinge("foot" + n, kWorld, "lower" + n,
                {.axes = {axis}, .frame_on_parent = edge(kRadius)});
    b.add_hinge("middle" + n, "lower" + n, "upper" + n,
                {.axes = {{0.0, 1.0, i == 0 ? 0.0 : off}},
                 .frame_on_parent = Transformd::from_translation({kLength, 0.0, 0.0})});
    b.add_hinge("head" + n, "upper" + n, "table",
                {.axes = {axis},
                 .frame_on_parent = Transformd::from_translation({kLength, 0.0, 0.0}),
                 .frame_on_child = edge(kRadius + (i == 0 ? 0.0 : off)),
                 .cut = i == 0 ? Cut::never : Cut::always});
  }
  return b.finish();
}

State raised(const Mechanism& m) {
  State s = m.default_state();
  for (const char* n : {"0", "1"}) {
    s.q[m.position_index(std::string("foot") + n)] = -kStart;
    s.q[m.position_index(std::string("middle") + n)] = 2.0 * kStart - std::numbers::pi;
  }
  s.q[m.position_index("head0")] = std::numbers::pi - kStart;
  return s;
}

SimulationSettings settings_of(double duration, double interval) {
  SimulationSettings settings;
  settings.duration = duration;
  settings.output_interval = interval;
  settings.integrator.relative_tolerance = 1e-8;
  settings.integrator.absolute_tolerance = 1e-10;
  return settings;
}

TEST(Sarrus, FallsThroughTheFlatPosition) {
  constexpr double kInterval = 0.02;
  constexpr int kRows = 20;
  MemoryRecorder record;
  const Mechanism m = sarrus(0.0);
  simulate(m, raised(m), settings_of(kInterval * kRows, kInterval), record);
  // Kinetic energy ½ (a + b cos²) rate², potential energy c sin, of the angle above the ground.
  const double square = kLength * kLength;
  const double a = 2.0 * (2.0 * kPlateInertia + 0.5 * kPlateMass * square);
  const double b = 4.0 * (kPlateMass + kTableMass) * square;
  const double c = 2.0 * (2.0 * kPlateMass + kTableMass) * kGravity * kLength;
  const auto acceleration = [&](double x, double v) {
    return (b * std::cos(x) * std::sin(x) * v * v - c * std::cos(x)) /
           (a + b * std::cos(x) * std::cos(x));
  };
  double x = kStart, v = 0.0;
  constexpr int kSteps = 200;
  const double h = kInterval / kSteps;
  for (int row = 1; row <= kRows; ++row) {
    for (int k = 0; k < kSteps; ++k) {
      const double a1 = acceleration(x, v), v2 = v + 0.5 * h * a1;
      const double a2 = acceleration(x + 0.5 * h * v, v2), v3 = v + 0.5 * h * a2;
      const double a3 = acceleration(x + 0.5 * h * v2, v3), v4 = v + h * a3;
      const double a4 = acceleration(x + h * v3, v4);
      x += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
      v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    ASSERT_NEAR(record.value(row, "q.foot0"), -x, 1e-6) << row;
    ASSERT_NEAR(record.value(row, "q.foot1"), -x, 1e-6) << row;
  }
  EXPECT_LT(x, -0.1);  // below the flat position
}

// With edges that are not quite parallel and do not quite lie on each other, as few digits of a
// file leave them, the branches do not meet in the flat position: what was written would spin
// there, with nothing left of its accelerations but rounding. The run ends and says why.
TEST(Sarrus, WithFewDigitsEndsInTheFlatPositionAndSaysWhy) {
  for (const double off : {3e-7, 3e-8}) {
    const Mechanism m = sarrus(off);
    MemoryRecorder record;
    try {
      simulate(m, assemble(m, raised(m)), settings_of(0.4, 0.01), record);
      ADD_FAILURE() << "it passed with " << off;
    } catch (const NumericalError& e) {
      EXPECT_THAT(e.what(), HasSubstr("at time 0.2"));
      EXPECT_THAT(e.what(),
                  HasSubstr("loop of 'lower0', 'upper0', 'table', 'lower1' and 'upper1'"));
      EXPECT_THAT(e.what(), HasSubstr("redundant constraints disagree by"));
      EXPECT_THAT(e.what(), HasSubstr("with more digits"));
    }
  }
}

}  // namespace
}  // namespace catena
