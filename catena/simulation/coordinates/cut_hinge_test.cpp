// SPDX-License-Identifier: BSD-3-Clause
// What acts at a hinge at which a loop is cut: the same as when the loop is cut elsewhere.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/model/builder.h"
#include "catena/model/with_coordinates.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::rod;
using test::shift;

// A four-bar that is cut at the hinge named.
Mechanism four_bar(const std::string& cut) {
  MechanismBuilder b("four_bar");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("crank", rod(1.0, 1.0)).add_body("coupler", rod(1.0, 4.8));
  b.add_body("rocker", rod(1.0, 2.0));
  const auto at = [&](const char* name, double on_parent, double on_child) {
    return HingeSettings{.frame_on_parent = shift(on_parent),
                         .frame_on_child = shift(on_child),
                         .cut = cut == name ? Cut::always : Cut::automatic};
  };
  b.add_hinge("A", kWorld, "crank", at("A", 0.0, 0.0));
  b.add_hinge("B", "crank", "coupler", at("B", 1.0, 0.0));
  b.add_hinge("D", kWorld, "rocker", at("D", 4.0, 0.0));
  b.add_hinge("C", "coupler", "rocker", at("C", 4.8, 2.0));
  return b.finish();
}

// The crank at 0.5 rad, its rate as given, the loop closed; angles of all hinges that have one.
State start(const Mechanism& m, double rate) {
  State guess = m.default_state();
  GivenFreedoms given;
  given.position.assign(to_size(m.freedoms()), 0);
  given.velocity = given.position;
  const auto set = [&](const char* hinge, double q) {
    const HingePlace& place = m.hinges()[index(m.hinge_index(hinge))];
    if (place.node < 0) return;
    guess.q[place.q_index] = q;
  };
  set("A", 0.5);
  set("B", -0.35);
  set("D", 0.7);
  const auto a = to_size(m.velocity_index("A"));
  given.position[a] = given.velocity[a] = 1;
  guess.v[static_cast<Eigen::Index>(a)] = rate;
  return assemble_near(m, guess, given);
}

SimulationSettings tight(double duration) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration / 20.0;
  s.integrator.relative_tolerance = 1e-11;
  s.integrator.absolute_tolerance = 1e-11;
  s.outputs = {"q.*", "effort.*"};
  return s;
}

// The angle of a cut hinge is read off where the tree stands; it does not pull at the others.
TEST(CutHinge, ItsAngleFollowsFromTheTree) {
  const Mechanism cut = four_bar("C");
  const State alone = start(cut, 1.0);
  const State with = start(with_coordinates(cut, std::vector<std::string>{"C"}), 1.0);
  const State elsewhere = start(four_bar("B"), 1.0);  // the tree of A, D, C
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(with.q[i], alone.q[i], 1e-13);
  const Mechanism b = four_bar("B");
  EXPECT_NEAR(
      std::remainder(with.q[3] - elsewhere.q[b.position_index("C")], 2.0 * std::numbers::pi), 0.0,
      1e-12);
  EXPECT_NEAR(with.v[3], elsewhere.v[b.velocity_index("C")], 1e-12);
}

TEST(CutHinge, AnEffortAtIt) {
  const Mechanism with = with_coordinates(four_bar("C"), std::vector<std::string>{"C"});
  const Mechanism elsewhere = four_bar("B");
  SimulationSettings settings = tight(2.0);
  settings.actions.inputs.push_back({"C", "3*sin(4*t)"});
  MemoryRecorder expected;
  simulate(elsewhere, start(elsewhere, 1.0), settings, expected);
  for (const LoopRoute route : {LoopRoute::embedded, LoopRoute::multipliers}) {
    settings.actions.loops = route;
    MemoryRecorder record;
    const SimulationResult r = simulate(with, start(with, 1.0), settings, record);
    for (int row = 0; row <= 20; ++row)
      for (const char* column : {"q.A", "q.D"})
        ASSERT_NEAR(record.value(row, column), expected.value(row, column), 1e-8) << row;
    EXPECT_LT(r.audit.energy_drift, 1e-9);
    // An element that only marks a hinge has no work of interest.
    for (const ElementWork& work : r.audit.work) EXPECT_NE(work.element, "damping C");
  }
}

TEST(CutHinge, AMotionOfIt) {
  const Mechanism with = with_coordinates(four_bar("C"), std::vector<std::string>{"C"});
  const Mechanism elsewhere = four_bar("B");
  const State a = start(with, 0.0), b = start(elsewhere, 0.0);
  SimulationSettings settings = tight(1.0);
  settings.integrator.maximum_step = 0.02;
  const auto drive = [&](double from) {
    settings.actions.motions = {{"C", number(from) + " + 0.2*(1-cos(3*t))"}};
  };
  MemoryRecorder record, expected;
  drive(b.q[elsewhere.position_index("C")]);
  simulate(elsewhere, b, settings, expected);
  drive(a.q[with.position_index("C")]);
  simulate(with, a, settings, record);
  for (int row = 1; row <= 20; ++row) {
    for (const char* column : {"q.A", "q.D"})
      ASSERT_NEAR(record.value(row, column), expected.value(row, column), 1e-9) << row;
    ASSERT_NEAR(record.value(row, "effort.C"), expected.value(row, "effort.C"), 1e-6) << row;
  }
}

// A motion that asks for more than the hinge can do ends in its dead centre, and says so.
TEST(CutHinge, AMotionBeyondItsDeadCentre) {
  const Mechanism m = with_coordinates(four_bar("C"), std::vector<std::string>{"C"});
  const State s = start(m, 0.0);
  SimulationSettings settings = tight(3.0);
  settings.integrator.maximum_step = 0.02;
  settings.actions.motions = {{"C", number(s.q[m.position_index("C")]) + " + 1.5*(1-cos(t))"}};
  MemoryRecorder record;
  try {
    simulate(m, s, settings, record);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("dead centre"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("time"), std::string::npos) << e.what();
  }
}

TEST(CutHinge, WithoutCoordinatesTheMessageSaysWhatToDo) {
  const Mechanism m = four_bar("C");
  SimulationSettings settings = tight(1.0);
  settings.actions.inputs.push_back({"C", "1"});
  MemoryRecorder record;
  try {
    simulate(m, start(m, 0.0), settings, record);
    FAIL();
  } catch (const NameError& e) {
    EXPECT_NE(std::string(e.what()).find("with_coordinates"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace catena
