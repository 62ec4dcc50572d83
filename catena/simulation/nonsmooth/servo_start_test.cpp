// SPDX-License-Identifier: BSD-3-Clause
// Where a servo begins: any freedom may move to bring the state onto its motion. During the run
// only its actuators do.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/text.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

TEST(ServoStart, IsFoundWithAllFreedoms) {
  MechanismBuilder b("arm");
  b.set_gravity({0.0, -9.81, 0.0});
  const double start[] = {0.4, 0.5, 0.3};
  std::string parent = kWorld;
  for (int i = 0; i < 3; ++i) {
    const std::string body = "link" + std::to_string(i);
    b.add_body(body, {.mass = 1.0,
                      .center_of_mass = {0.5, 0.0, 0.0},
                      .inertia = SymMat3d::diagonal(0.001, 1.0 / 12.0, 1.0 / 12.0)});
    HingeSettings hinge{.initial_position = {start[i]}};
    if (i > 0) hinge.frame_on_parent = Transformd::from_translation({1.0, 0.0, 0.0});
    b.add_hinge(std::string(1, static_cast<char>('A' + i)), parent, body, hinge);
    parent = body;
  }
  const Mechanism m = b.finish();
  // A place beside the one where the tip begins.
  const double x = std::cos(0.4) + std::cos(0.9) + std::cos(1.2) - 0.6;
  const double y = std::sin(0.4) + std::sin(0.9) + std::sin(1.2) - 0.5;
  for (const auto& actuators : {std::vector<int>{0, 2}, {1, 2}, {0, 1}}) {
    SimulationSettings settings{
        .duration = 0.01, .output_interval = 0.001, .outputs = {"effort.*", "energy.*"}};
    ConstraintSettings servo;
    auto& [tip, motions] = servo.constraint.emplace<ServoMotion>();
    tip.name = "tip";
    tip.body = 2;
    tip.point = {1.0, 0.0, 0.0};
    tip.rows = {{Vec3d::unit_x(), false}, {Vec3d::unit_y(), false}};
    tip.actuators = actuators;
    motions = {number(x), number(y)};
    servo.active = true;
    settings.actions.constraints = {servo};
    MemoryRecorder record;
    const SimulationResult r = simulate(m, m.default_state(), settings, record);
    EXPECT_LT(r.audit.energy_drift, 1e-6);
    for (int row = 0; row <= 10; ++row) {
      double angle = 0.0, tip_x = 0.0, tip_y = 0.0;
      for (int i = 0; i < 3; ++i) {
        const double q = record.value(row, std::string("q.") + static_cast<char>('A' + i));
        if (row == 0) {
          EXPECT_LT(std::abs(q - start[i]), 0.5 * std::numbers::pi) << actuators[0] << actuators[1];
        }
        angle += q;
        tip_x += std::cos(angle);
        tip_y += std::sin(angle);
      }
      ASSERT_NEAR(tip_x, x, 1e-6) << actuators[0] << actuators[1] << " " << row;
      ASSERT_NEAR(tip_y, y, 1e-6) << actuators[0] << actuators[1] << " " << row;
      const int passive = 3 - actuators[0] - actuators[1];
      EXPECT_EQ(record.value(row, std::string("effort.") + static_cast<char>('A' + passive)), 0.0);
    }
  }
}

}  // namespace
}  // namespace catena
