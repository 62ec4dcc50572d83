// SPDX-License-Identifier: BSD-3-Clause
// How well error control does where the independent coordinates alone do not tell: linkages without
// friction that pass dead points.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"
#include "catena/simulation/testing/linkage_parts.h"

namespace catena {
namespace {

using test::crank_start;
using test::rod;
using test::shift;

SimulationSettings at_tolerance(double duration, double rtol) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = 1.0;
  s.integrator.relative_tolerance = rtol;
  s.integrator.absolute_tolerance = 0.01 * rtol;
  return s;
}

// The crank's angle and rate stay as they are, the other two follow.
// A triple rocker: the chart changes forty times in ten seconds. (1.3e-8 when only the error of the
// independent angle counted.)
TEST(ClosedError, EnergyOfATripleRocker) {
  MechanismBuilder b("triple_rocker");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("crank", rod(1.6, 1.1)).add_body("coupler", rod(2.0, 0.87));
  b.add_body("rocker", rod(2.5, 1.12));
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler", {.frame_on_parent = shift(1.1)});
  b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = shift(1.97)});
  b.add_hinge("C", "coupler", "rocker",
              {.frame_on_parent = shift(0.87), .frame_on_child = shift(1.12), .cut = Cut::always});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  const SimulationResult r =
      simulate(m, crank_start(m, 0.7, -6.7, -0.26, 1.875), at_tolerance(10.0, 1e-9), record);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

// A rod shorter than its crank goes round again and again. (1.1e-7 before.)
TEST(ClosedError, EnergyOfASliderCrankWhoseRodGoesRound) {
  MechanismBuilder b("slider_crank");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("crank", rod(0.7, 0.9)).add_body("rod", rod(1.5, 0.7));
  b.add_body("slider", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "rod", {.frame_on_parent = shift(0.9)});
  b.add_hinge("S", kWorld, "slider",
              {.type = HingeType::prismatic,
               .axes = {Vec3d::unit_x()},
               .frame_on_parent = shift(0.0, 0.05)});
  b.add_hinge("C", "rod", "slider", {.frame_on_parent = shift(0.7), .cut = Cut::always});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  const SimulationResult r =
      simulate(m, crank_start(m, -2.86, 7.6, 3.31, -0.24), at_tolerance(10.0, 1e-9), record);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

// The rocker of a crank-rocker is driven, and moves less than half as fast as its crank: a poor
// choice (kPoorInMotion), but what is prescribed stays independent. Nothing is new about it at any
// step, so the integrator restarts only at the beginning and the nine checkpoints.
TEST(ClosedError, APrescribedHingeDoesNotRestartTheIntegrator) {
  MechanismBuilder b("crank_rocker");
  b.set_gravity({0.0, -9.81, 0.0});
  b.add_body("crank", rod(0.5, 0.3)).add_body("coupler", rod(1.0, 1.0));
  b.add_body("rocker", rod(1.0, 1.0));
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler", {.frame_on_parent = shift(0.3)});
  b.add_hinge("D", kWorld, "rocker", {.frame_on_parent = shift(1.0)});
  b.add_hinge("C", "coupler", "rocker",
              {.frame_on_parent = shift(1.0), .frame_on_child = shift(1.0), .cut = Cut::always});
  const Mechanism m = b.finish();
  const State s = crank_start(m, 1.2, 0.0, -0.24, 2.0);
  SimulationSettings settings = at_tolerance(2.0, 1e-8);
  settings.output_interval = 0.02;
  settings.integrator.maximum_step = 0.02;
  settings.actions.motions = {{"D", number(s.q[m.position_index("D")]) + " + 0.02*(1 - cos(3*t))"}};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, s, settings, record);
  double fastest = 0.0, driven = 0.0;
  for (int row = 0; row < record.rows(); ++row) {
    fastest = std::max(fastest, std::abs(record.value(row, "v.A")));
    driven = std::max(driven, std::abs(record.value(row, "v.D")));
  }
  EXPECT_GT(fastest, 2.0 * driven);  // so that another choice would be better
  EXPECT_GE(r.steps.steps, 100);
  EXPECT_EQ(r.steps.restarts, 10);
}

}  // namespace
}  // namespace catena
