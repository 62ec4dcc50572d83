// SPDX-License-Identifier: BSD-3-Clause
// Functions that are watched for their zeros, of switches and of events: fast ones, and those that
// jump. The times of their zeros are known.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

// A body on a rail without forces: x = t. And a hinge that is locked and let go.
Mechanism cart() {
  MechanismBuilder b("cart");
  b.set_gravity({});
  b.add_body("cart", body(1.0, {}, {0.1, 0.1, 0.1}));
  b.add_body("wheel", body(1.0, {}, {0.1, 0.1, 0.1}));
  b.add_hinge("x", kWorld, "cart", {.type = HingeType::prismatic, .axes = {Vec3d::unit_x()}});
  b.add_hinge("turn", "cart", "wheel", {.axes = {Vec3d::unit_x()}});
  return b.finish();
}

struct Guarded {
  MemoryRecorder record;
  SimulationResult result;
  std::string error;
};

void run(SimulationSettings settings, Guarded& to) {
  const Mechanism m = cart();
  State s = m.default_state();
  s.v[0] = 1.0;
  settings.output_interval = settings.duration / 10.0;
  ConstraintSettings lock;
  lock.constraint = LockSettings{.name = "hold", .freedom = 1};
  lock.active = true;
  settings.actions.constraints = {lock};
  try {
    to.result = simulate(m, s, settings, to.record);
  } catch (const NumericalError& e) {
    to.error = e.what();
  }
}

SwitchSettings on_off(const std::string& function, bool on) {
  SwitchSettings s;
  s.name = on ? "on" : "off";
  s.when = function;
  s.direction = on ? 1 : -1;
  (on ? s.activate : s.release) = {"hold"};
  return s;
}

// One that no looks can follow, and that has no zero, does not stop the time.
TEST(Guards, FasterThanTheResolutionOfTime) {
  SimulationSettings settings{.duration = 0.3};
  settings.integrator.maximum_step = 1e-4;
  settings.actions.events = {
      {.name = "never", .signal = "2 + sin(1e18*t)", .action = EventSettings::Action::stop}};
  Guarded found;
  run(settings, found);
  EXPECT_EQ(found.error, "");
  EXPECT_TRUE(found.result.complete);
  EXPECT_EQ(found.result.end, "");
}

// sin(ω t) falls through zero at π/ω, 3π/ω …; every half period is one switching, of which 200 in a
// millisecond are too many.
TEST(Guards, SwitchesFasterThanStepsChatter) {
  for (const double omega : {1e6, 7.7e6, 3e8}) {
    for (const std::string argument : {"*t)", "*q.x)"}) {
      SimulationSettings settings;
      settings.duration = 0.5;
      const std::string function = "sin(" + std::to_string(omega) + argument;
      settings.actions.switches = {on_off(function, true), on_off(function, false)};
      Guarded found;
      run(settings, found);
      EXPECT_NE(found.error.find("'hold' chatters"), std::string::npos) << function << found.error;
      ASSERT_EQ(found.record.events().size(), 200U) << function;
      for (std::size_t k = 0; k < 200; ++k)
        ASSERT_NEAR(found.record.events()[k].time,
                    static_cast<double>(k + 1) * std::numbers::pi / omega, 1e-6 / omega)
            << function << " " << k;
    }
  }
}

// Thirty switchings in a millisecond are many, but each is followed.
TEST(Guards, SlowerSwitchesAreAllFound) {
  SimulationSettings settings;
  settings.duration = 0.005;
  settings.actions.switches = {on_off("sin(1e5*t)", true), on_off("sin(1e5*t)", false)};
  Guarded found;
  run(settings, found);
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.record.events().size(), static_cast<std::size_t>(0.005 * 1e5 / std::numbers::pi));
}

// Once released nothing is left to do.
TEST(Guards, SwitchThatChangesNothingIsNoEvent) {
  SimulationSettings settings;
  settings.duration = 0.5;
  settings.actions.switches = {on_off("sin(1e6*t)", false)};
  Guarded found;
  run(settings, found);
  EXPECT_EQ(found.error, "");
  ASSERT_EQ(found.record.events().size(), 1U);
  EXPECT_NEAR(found.record.events()[0].time, std::numbers::pi / 1e6, 1e-12);
  EXPECT_LT(found.result.steps.steps, 1000);
}

// The first of many passages ends the run.
TEST(Guards, FastEventStopsAtItsFirstPassage) {
  SimulationSettings settings;
  settings.duration = 0.5;
  EventSettings event;
  event.name = "end";
  event.signal = "sin(1e5*t) - 0.9";
  event.action = EventSettings::Action::stop;
  settings.actions.events = {event};
  Guarded found;
  run(settings, found);
  EXPECT_NEAR(found.result.simulated_time, std::asin(0.9) / 1e5, 1e-11);
}

TEST(Guards, JumpsAreSeen) {
  const test::TemporaryFolder folder;
  const std::string table = folder.write("steps.csv", "t,u\n0,1\n0.1,1\n0.35,-1\n0.45,1\n");
  SimulationSettings settings;
  settings.duration = 0.5;
  SwitchSettings off = on_off("sign(t - 0.3)", false);
  off.direction = 0;
  settings.actions.switches = {off};
  const auto add = [&](const std::string& name, const SignalSettings& signal) {
    EventSettings event;
    event.name = name;
    event.signal = signal;
    settings.actions.events.push_back(event);
  };
  add("state", "step(q.x - 0.2) - 0.5");
  add("pulse", "pulse(t, 0.05, 0.15) - 0.5");
  add("table", TableSignal{.path = table, .interpolation = Interpolation::hold});
  Guarded found;
  run(settings, found);
  EXPECT_EQ(found.error, "");
  const std::vector<std::pair<double, std::string>> expected{{0.05, "pulse"}, {0.15, "pulse"},
                                                             {0.2, "state"},  {0.3, "off"},
                                                             {0.35, "table"}, {0.45, "table"}};
  ASSERT_EQ(found.record.events().size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(found.record.events()[k].name, expected[k].second);
    EXPECT_NEAR(found.record.events()[k].time, expected[k].first, 1e-12);
  }
}

}  // namespace
}  // namespace catena
