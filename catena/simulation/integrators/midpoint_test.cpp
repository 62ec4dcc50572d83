// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/midpoint.h"

#include <cmath>

#include <gtest/gtest.h>

#include "catena/closure/assembly.h"
#include "catena/dynamics/momentum.h"
#include "catena/io/load.h"
#include "catena/model/configuration.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

// A floating base with every kind of hinge that the method knows, some with rotors.
Mechanism menagerie(bool gravity) {
  MechanismBuilder b("menagerie");
  b.set_gravity(gravity ? Vec3d{0.3, -0.5, -9.81} : Vec3d::zero());
  const auto body = [&](const char* name, double mass) {
    b.add_body(name, {.mass = mass,
                      .center_of_mass = {0.1, -0.05, 0.2},
                      .inertia = SymMat3d::diagonal(0.06 * mass, 0.08 * mass, 0.05 * mass)});
  };
  body("base", 5.0);
  body("a", 2.0);
  body("b", 1.5);
  body("c", 1.0);
  body("d", 0.8);
  body("e", 0.9);
  const auto at = [](double x, double y, double z) {
    return Transformd::from_translation({x, y, z});
  };
  b.add_hinge("base", "world", "base", {.type = HingeType::free});
  b.add_hinge("turn", "base", "a",
              {.axes = {{0.6, 0.0, 0.8}},
               .frame_on_parent = at(0.3, 0.1, 0.0),
               .drive = DriveSettings{.rotor_inertia = 1e-3, .gear_ratio = 20.0}});
  b.add_hinge("ball", "a", "b",
              {.type = HingeType::spherical, .frame_on_parent = at(0.0, 0.4, 0.1)});
  b.add_hinge("slide", "base", "c",
              {.type = HingeType::prismatic,
               .axes = {{0.0, 1.0, 0.0}},
               .frame_on_parent = at(-0.2, 0.0, 0.3),
               .freedoms = {{.stiffness = 50.0}}});
  b.add_hinge("cross", "c", "d",
              {.type = HingeType::universal, .frame_on_parent = at(0.1, 0.2, 0.0)});
  b.add_hinge("plane", "b", "e",
              {.type = HingeType::planar,
               .frame_on_parent = at(0.0, 0.1, 0.3),
               .freedoms = {{.stiffness = 5.0}, {.stiffness = 80.0}, {.stiffness = 60.0}}});
  return b.finish();
}

State moving(const Mechanism& m, std::uint64_t seed) {
  return {random_position(m, seed), random_vector(m.freedoms(), seed + 1)};
}

SimulationResult run(const Mechanism& m, const State& s, Method method, double step,
                     double duration, MemoryRecorder& record) {
  SimulationSettings settings{.duration = duration};
  settings.integrator = {
      .method = method, .relative_tolerance = 1e-12, .absolute_tolerance = 1e-13, .step = step};
  return simulate(m, s, settings, record);
}

double distance(const Mechanism& m, const State& a, const State& b) {
  return difference(m, a.q, b.q).norm() + (a.v - b.v).norm();
}

TEST(Midpoint, IsOfSecondOrderOnEveryHinge) {
  const Mechanism m = menagerie(true);
  const State start = moving(m, 3);
  MemoryRecorder record;
  const State exact = run(m, start, Method::dop853, 1.0, 0.5, record).state;
  const auto error = [&](double step) {
    MemoryRecorder own;
    return distance(m, run(m, start, Method::midpoint, step, 0.5, own).state, exact);
  };
  EXPECT_NEAR(std::log2(error(0.005) / error(0.0025)), 2.0, 0.05);
}

// Linear momentum, and angular momentum about the ground's origin, of size 10 here. (About the mass
// centre it is kept to the order of the method only, as the path of the mass centre is.)
void expect_kept(const Mechanism& m, const State& before, const State& after) {
  const Momentum p = momentum(m, before), q = momentum(m, after);
  EXPECT_LT(norm(p.linear - q.linear), 1e-11);
  EXPECT_LT(norm(p.angular - q.angular), 1e-11);
}

// Symmetries of the discrete Lagrangian: without gravity both momenta are kept to rounding.
TEST(Midpoint, KeepsMomentumToRounding) {
  const Mechanism m = menagerie(false);
  const State start = moving(m, 5);
  MemoryRecorder record;
  const SimulationResult r = run(m, start, Method::midpoint, 0.01, 5.0, record);
  expect_kept(m, start, r.state);
}

// The same with one hinge at a time.
TEST(Midpoint, KeepsMomentumWithEachHinge) {
  const auto one = [](HingeType type, bool drive) {
    MechanismBuilder b("pair");
    b.set_gravity(Vec3d::zero());
    for (const char* name : {"base", "arm"})
      b.add_body(name, {.mass = 2.0,
                        .center_of_mass = {0.1, -0.05, 0.2},
                        .inertia = SymMat3d::diagonal(0.12, 0.16, 0.1)});
    b.add_hinge("base", "world", "base", {.type = HingeType::free});
    HingeSettings hinge{.type = type,
                        .frame_on_parent = Transformd::from_translation({0.3, 0.1, 0.2})};
    if (drive) hinge.drive = DriveSettings{.rotor_inertia = 1e-3, .gear_ratio = 20.0};
    if (type == HingeType::screw) hinge.pitch = 0.1;
    b.add_hinge("hinge", "base", "arm", hinge);
    return b.finish();
  };
  for (const HingeType type :
       {HingeType::revolute, HingeType::prismatic, HingeType::screw, HingeType::cylindrical,
        HingeType::universal, HingeType::planar, HingeType::spherical, HingeType::gimbal,
        HingeType::translation, HingeType::free}) {
    for (const bool drive : {false, true}) {
      if (drive && type != HingeType::revolute && type != HingeType::prismatic) continue;
      SCOPED_TRACE(std::string(to_string(type)) + (drive ? " with a drive" : ""));
      const Mechanism m = one(type, drive);
      MemoryRecorder record;
      const State start = moving(m, 5);
      const SimulationResult r = run(m, start, Method::midpoint, 0.01, 1.0, record);
      expect_kept(m, start, r.state);
      EXPECT_LT(r.audit.energy_drift, 1e-2);
    }
  }
}

// Forward and back again: a symmetric method returns to where it was.
TEST(Midpoint, IsReversible) {
  const Mechanism m = menagerie(true);
  const State start = moving(m, 8);
  MemoryRecorder there, back;
  State turned = run(m, start, Method::midpoint, 0.01, 1.0, there).state;
  turned.v *= -1.0;
  State end = run(m, turned, Method::midpoint, 0.01, 1.0, back).state;
  end.v *= -1.0;
  EXPECT_LT(distance(m, start, end), 1e-8);
}

// Of ten bodies: the energy error has a bound that does not grow. The long run of a thousand
// seconds is a verification case.
TEST(Midpoint, BoundsTheEnergyOfTenBodies) {
  const Mechanism m = load(CATENA_SOURCE_DIR "/models/tree10.yaml");
  MemoryRecorder record;
  SimulationSettings settings{.duration = 60.0, .output_interval = 0.05};
  settings.integrator = {.method = Method::midpoint, .step = 0.005};
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  const Eigen::VectorXd error = record.column("energy.error");
  const Eigen::Index half = error.size() / 2;
  EXPECT_GT(r.audit.energy_scale, 1.0);
  EXPECT_LT(error.cwiseAbs().maxCoeff(), 0.02 * r.audit.energy_scale);
  // No trend: the mean of the second half is that of the first, within their scatter.
  const double scatter = std::sqrt((error.array() - error.mean()).square().mean());
  EXPECT_LT(std::abs(error.tail(half).mean() - error.head(half).mean()), 0.5 * scatter);
}

TEST(Midpoint, RefusesWhatItCannotDo) {
  const Mechanism m = menagerie(true);
  MemoryRecorder record;
  SimulationSettings settings;
  settings.integrator.method = Method::midpoint;
  settings.actions.motions = {{"turn", "t"}};
  EXPECT_THROW(simulate(m, m.default_state(), settings, record), Error);
}

// ---- Closed loops. ----

// A floating body that carries a four-bar and a spatial four-bar with ball joints (RSSR): redundant
// rows, a quaternion in a loop, and a freedom that moves nothing else (the coupler's spin).
Mechanism two_loops(bool gravity) {
  MechanismBuilder b("two_loops");
  b.set_gravity(gravity ? Vec3d{0.3, -0.5, -9.81} : Vec3d::zero());
  b.add_body("base", {.mass = 5.0, .inertia = SymMat3d::diagonal(0.5, 0.6, 0.4)});
  b.add_hinge("base", "world", "base", {.type = HingeType::free});
  const auto at = [](double x, double y, double z) {
    return Transformd::from_translation({x, y, z});
  };
  const auto link = [&](const std::string& name, double length) {
    b.add_body(name, {.mass = length,
                      .center_of_mass = {0.5 * length, 0.02, 0.0},
                      .inertia = SymMat3d::diagonal(0.02, 0.1 * length, 0.1 * length)});
  };
  link("crank", 0.5);
  link("coupler", 1.0);
  link("rocker", 1.1);
  const std::vector<Vec3d> y{{0.0, 1.0, 0.0}};
  b.add_hinge("A", "base", "crank", {.axes = y, .frame_on_parent = at(0.2, 0.3, 0.1)});
  b.add_hinge("B", "crank", "coupler", {.axes = y, .frame_on_parent = at(0.5, 0.0, 0.0)});
  b.add_hinge("D", "base", "rocker", {.axes = y, .frame_on_parent = at(1.2, 0.3, 0.1)});
  b.add_hinge("C", "coupler", "rocker",
              {.axes = y,
               .frame_on_parent = at(1.0, 0.0, 0.0),
               .frame_on_child = at(1.1, 0.0, 0.0),
               .cut = Cut::always});
  link("input", 0.4);
  link("rod", 1.2);
  link("output", 0.9);
  b.add_hinge("E", "base", "input",
              {.axes = {{0.0, 0.0, 1.0}}, .frame_on_parent = at(-0.2, -0.3, 0.0)});
  b.add_hinge("F", "input", "rod",
              {.type = HingeType::spherical, .frame_on_parent = at(0.4, 0.0, 0.0)});
  b.add_hinge("H", "base", "output", {.axes = y, .frame_on_parent = at(-1.2, -0.3, 0.2)});
  b.add_hinge("G", "rod", "output",
              {.type = HingeType::spherical,
               .frame_on_parent = at(1.2, 0.0, 0.0),
               .frame_on_child = at(0.9, 0.0, 0.0),
               .cut = Cut::always});
  return b.finish();
}

State closed_and_moving(const Mechanism& m) {
  return assemble(m, State{m.default_state().q, 0.3 * random_vector(m.freedoms(), 4)});
}

TEST(Midpoint, LoopsAreOfSecondOrder) {
  const Mechanism m = two_loops(true);
  const State start = closed_and_moving(m);
  MemoryRecorder record;
  const State exact = run(m, start, Method::dop853, 1.0, 0.4, record).state;
  const auto error = [&](double step) {
    MemoryRecorder own;
    return distance(m, run(m, start, Method::midpoint, step, 0.4, own).state, exact);
  };
  EXPECT_NEAR(std::log2(error(0.004) / error(0.002)), 2.0, 0.1);
}

TEST(Midpoint, LoopsStayClosedAndKeepMomentum) {
  const Mechanism m = two_loops(false);
  const State start = closed_and_moving(m);
  MemoryRecorder record;
  const SimulationResult r = run(m, start, Method::midpoint, 0.01, 3.0, record);
  expect_kept(m, start, r.state);
  EXPECT_LT(r.audit.closure_residual, 1e-12);
}

TEST(Midpoint, LoopsAreReversible) {
  const Mechanism m = two_loops(true);
  const State start = closed_and_moving(m);
  MemoryRecorder there, back;
  State turned = run(m, start, Method::midpoint, 0.01, 0.5, there).state;
  turned.v *= -1.0;
  State end = run(m, turned, Method::midpoint, 0.01, 0.5, back).state;
  end.v *= -1.0;
  EXPECT_LT(distance(m, start, end), 1e-9);
}

// A four-bar that swings: the energy error has a bound and no trend.
TEST(Midpoint, EnergyOfAFourBarHasNoTrend) {
  const Mechanism m = load(CATENA_SOURCE_DIR "/models/four_bar.yaml");
  SimulationSettings settings{.duration = 200.0, .output_interval = 0.05};
  settings.integrator = {.method = Method::midpoint, .step = 0.01};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, assemble(m, m.default_state()), settings, record);
  const Eigen::VectorXd error = record.column("energy.error");
  const Eigen::Index half = error.size() / 2;
  EXPECT_GT(r.audit.energy_scale, 0.1);
  EXPECT_LT(error.cwiseAbs().maxCoeff(), 0.02 * r.audit.energy_scale);
  EXPECT_LT(r.audit.closure_residual, 1e-12);
  const double scatter = std::sqrt((error.array() - error.mean()).square().mean());
  EXPECT_LT(std::abs(error.tail(half).mean() - error.head(half).mean()), 0.5 * scatter);
}

}  // namespace
}  // namespace catena
