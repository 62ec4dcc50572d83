// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/outputs.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/closure/assembly.h"
#include "catena/model/builder.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::model;
using test::problem;
using testing::HasSubstr;

// Outputs chosen by name; q is always there.
TEST(Outputs, AreChosenByName) {
  const Mechanism m = model("double_pendulum");
  MemoryRecorder record;
  simulate(m, m.default_state(), {.duration = 0.1, .outputs = {"a.elbow", "energy.t*"}}, record);
  std::vector<std::string> names;
  names.reserve(record.columns().size());
  for (const RunColumn& column : record.columns()) names.push_back(column.name);
  EXPECT_THAT(names,
              testing::ElementsAre("time", "q.shoulder", "q.elbow", "a.elbow", "energy.total"));
  EXPECT_THAT(problem(m, {.outputs = {"q.elbw"}}), HasSubstr("did you mean 'q.elbow'?"));
}

// Many stars in a pattern, and a name that almost fits: an answer at once.
TEST(Outputs, StarsCoverAnything) {
  const std::string name(200, 'a');
  Description description = model("double_pendulum").description();
  description.hinges[1].name = name;
  const Mechanism m = MechanismBuilder(std::move(description)).finish();
  std::string stars;
  for (int i = 0; i < 40; ++i) stars += "*a";
  MemoryRecorder record;
  simulate(m, m.default_state(), {.duration = 0.1, .outputs = {"v." + stars, "*g*.*t*l*"}}, record);
  std::vector<std::string> names;
  names.reserve(record.columns().size());
  for (const RunColumn& column : record.columns()) names.push_back(column.name);
  EXPECT_THAT(names,
              testing::ElementsAre("time", "q.shoulder", "q." + name, "v." + name, "energy.total"));
  EXPECT_THAT(problem(m, {.outputs = {stars + "b"}}), HasSubstr("there is no output"));
}

// A ball rests on a slope by friction: the contact carries its weight, in ground axes, whatever the
// mode; on a plank that is fixed to the ground at an angle too.
TEST(Outputs, OfContacts) {
  constexpr double kAngle = 0.3, kMass = 2.0, kFall = 9.81;
  MechanismBuilder b;
  b.add_body("plank", {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  b.add_body("ball", {.mass = kMass, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("tilt", kWorld, "plank",
              {.type = HingeType::weld, .frame_on_parent = {Rotationd::about_y(kAngle), {}}});
  b.add_hinge("at", kWorld, "ball", {.type = HingeType::translation});
  const Mechanism m = b.finish();
  const Vec3d slope{std::sin(kAngle), 0.0, std::cos(kAngle)};
  for (const bool on_plank : {false, true})
    for (const Method method : {Method::dop853, Method::time_stepping}) {
      SimulationSettings settings{.duration = 0.1, .output_interval = 0.01};
      settings.integrator.method = method;
      ContactSettings contact{.name = "foot", .body = 1, .friction = 0.8};
      contact.plane_body = on_plank ? 0 : -1;
      if (!on_plank) contact.plane_normal = slope * 2.0;  // any length
      settings.actions.constraints.emplace_back().constraint = contact;
      MemoryRecorder record;
      simulate(m, m.default_state(), settings, record);
      const Eigen::Index last = record.rows() - 1;
      EXPECT_NEAR(record.value(last, "contact.foot.x"), 0.0, 1e-7);
      EXPECT_NEAR(record.value(last, "contact.foot.y"), 0.0, 1e-7);
      EXPECT_NEAR(record.value(last, "contact.foot.z"), kMass * kFall, 1e-7);
    }
}

// The curve that a point of a coupler draws: where crank and coupler put it.
TEST(Outputs, OfPlacesOnBodies) {
  MechanismBuilder b(model("four_bar").description());
  b.add_frame("pencil", "coupler", Transformd::from_translation({2.0, 0.7, 0.1}));
  const Mechanism m = b.finish();
  State start = m.default_state();
  start.q[m.position_index("A")] = 1.2;
  MemoryRecorder record;
  simulate(m, assemble(m, start, {}),
           {.duration = 1.0,
            .output_interval = 0.1,
            .outputs = {"v.*", "*.pencil.*", "position.rocker.x"}},
           record);
  ASSERT_EQ(record.rows(), 11);
  for (int row = 0; row < 11; ++row) {
    const double crank = record.value(row, "q.A"), coupler = crank + record.value(row, "q.B");
    const double w1 = record.value(row, "v.A"), w2 = w1 + record.value(row, "v.B");
    const double x = 2.0 * std::cos(coupler) - 0.7 * std::sin(coupler);
    const double y = 2.0 * std::sin(coupler) + 0.7 * std::cos(coupler);
    EXPECT_NEAR(record.value(row, "position.pencil.x"), std::cos(crank) + x, 1e-14);
    EXPECT_NEAR(record.value(row, "position.pencil.y"), std::sin(crank) + y, 1e-14);
    EXPECT_NEAR(record.value(row, "position.pencil.z"), 0.1, 1e-15);
    EXPECT_NEAR(record.value(row, "velocity.pencil.x"), -w1 * std::sin(crank) - w2 * y, 1e-13);
    EXPECT_NEAR(record.value(row, "velocity.pencil.y"), w1 * std::cos(crank) + w2 * x, 1e-13);
    EXPECT_NEAR(record.value(row, "position.rocker.x"), 4.0, 1e-15);
  }
  EXPECT_THAT(problem(m, {.outputs = {"position.pensil.x"}}),
              HasSubstr("did you mean 'position.pencil.x'?"));
}

// What all bearings of the ground exert, and the weight, move the mass centre; forces at the pins
// of the coupler move the coupler. A motor, a damper and a prescribed motion act.
TEST(Outputs, OfWhatBearingsCarry) {
  MechanismBuilder b(model("four_bar").description());
  for (Hinge& hinge : b.description().hinges)
    if (hinge.name == "B") hinge.freedoms = {{.damping = 0.4}};
  const Mechanism m = b.finish();
  for (const bool prescribed : {false, true}) {
    SimulationSettings settings{.duration = 1.0, .output_interval = 0.1};
    settings.outputs = {"v.*", "a.*", "force.*", "moment.D.*"};
    if (prescribed)
      settings.actions.motions = {{"A", "pi/2 + sin(2*t)"}};
    else
      settings.actions.inputs = {{"A", "30*cos(t)"}};
    MemoryRecorder record;
    simulate(m, m.default_state(), settings, record);
    for (int row = 0; row < 11; ++row) {
      const auto at = [&](const std::string& name) { return record.value(row, name); };
      // Accelerations of mass centres r from the hinge of a body at the angle phi.
      const auto swing = [](double r, double phi, double w, double alpha) {
        return Eigen::Vector2d(r * (-alpha * std::sin(phi) - w * w * std::cos(phi)),
                               r * (alpha * std::cos(phi) - w * w * std::sin(phi)));
      };
      const double coupler = at("q.A") + at("q.B");
      const Eigen::Vector2d pin = swing(1.0, at("q.A"), at("v.A"), at("a.A"));
      const Eigen::Vector2d of_coupler =
          pin + swing(2.4, coupler, at("v.A") + at("v.B"), at("a.A") + at("a.B"));
      const Eigen::Vector2d of_crank = swing(0.5, at("q.A"), at("v.A"), at("a.A"));
      const Eigen::Vector2d of_rocker = swing(1.0, at("q.D"), at("v.D"), at("a.D"));
      const auto force = [&](const std::string& hinge) {
        return Eigen::Vector2d(at("force." + hinge + ".x"), at("force." + hinge + ".y"));
      };
      const Eigen::Vector2d g(0.0, -9.81);
      EXPECT_LT(
          (force("A") + force("D") + 4.0 * g - (of_crank + of_coupler + 2.0 * of_rocker)).norm(),
          1e-9)
          << row;
      // The rocker hangs on the coupler at C.
      EXPECT_LT((force("B") - force("C") + g - of_coupler).norm(), 1e-9) << row;
      EXPECT_LT((force("D") + force("C") + 2.0 * g - 2.0 * of_rocker).norm(), 1e-9) << row;
      EXPECT_NEAR(at("moment.D.z"), 0.0, 1e-9);
    }
  }
  SimulationSettings settings{.outputs = {"force.A.*"}};
  settings.actions.constraints = {
      {.constraint = LockSettings{.name = "hold", .freedom = m.velocity_index("A")}}};
  EXPECT_THAT(problem(m, settings), HasSubstr("force.* and moment.* are not found"));
}

}  // namespace
}  // namespace catena
