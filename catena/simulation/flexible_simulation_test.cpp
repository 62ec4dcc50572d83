// SPDX-License-Identifier: BSD-3-Clause
// Motions of flexible bodies: spin-up against the geometrically exact beam, energy of a free body,
// the audit with damping, stiff modes.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/flexible/beam.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

// The spin-up of Simo and Vu-Quoc: L = 10, EI = 1.4e4, ρA = 1.2, ρI = 6e-4; 6 rad/s after 15 s.
Mechanism spin_up_beam(int modes, FlexibleModel model = FlexibleModel::consistent) {
  BeamSettings s{.length = 10.0};
  s.section.values.bending_z = 1.4e4;
  s.section.values.mass_per_length = 1.2;
  s.section.values.rotary_z = 6e-4;
  s.attachments = {{.name = "tip", .station = 10.0}};
  s.modes = {.set = ModeSet::clamped_free, .count = modes};
  s.model = model;
  // The motion drives the hinge, which needs no inertia of the beam.
  if (modes > 3) s.completion = InertiaCompletion::never;
  MechanismBuilder b("spin-up");
  b.set_gravity(Vec3d::zero());
  b.add_flexible_body("beam", make_beam(s));
  b.add_hinge("spin", kWorld, "beam", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  return b.finish();
}

SimulationSettings spin_up(double duration) {
  SimulationSettings s{.duration = duration, .output_interval = 0.002};
  const double a = 6.0 / 15.0, k = 2.0 * std::numbers::pi / 15.0;
  s.actions.motions = {{"spin", std::to_string(a) + "*(0.5*t*t + (cos(" + std::to_string(k) +
                                    "*t) - 1)/(" + std::to_string(k) + "*" + std::to_string(k) +
                                    "))"}};
  s.outputs = {"q.*"};
  return s;
}

// Lag of the tip in the frame of the hub: Φ η, the modes being those of the plane.
Eigen::VectorXd lag(const Mechanism& m, const MemoryRecorder& record) {
  const FlexibleBody& b = *m.flexible_bodies()[0].constants;
  Eigen::VectorXd y = Eigen::VectorXd::Zero(record.rows());
  for (int k = 0; k < b.modes(); ++k)
    y += b.attachments[0].shape(1, k) * record.column("q.beam.mode" + std::to_string(k + 1));
  return y;
}

TEST(FlexibleMotion, SpinUp) {
  // Geometrically exact, extrapolated: largest lag −0.57383 m at 6.762 s.
  for (const int modes : {2, 3, 5}) {
    const Mechanism m = spin_up_beam(modes);
    MemoryRecorder record;
    simulate(m, m.default_state(), spin_up(8.0), record);
    Eigen::Index at = 0;
    const double least = lag(m, record).minCoeff(&at);
    EXPECT_NEAR(least, -0.57383, 0.0015 * 0.57383) << modes;
    EXPECT_NEAR(record.value(at, "time"), 6.762, 0.02) << modes;
  }
}

TEST(FlexibleMotion, InconsistentModelDiverges) {
  const Mechanism m = spin_up_beam(2, FlexibleModel::inconsistent);
  MemoryRecorder record;
  double largest = 0.0;
  try {
    simulate(m, m.default_state(), spin_up(15.0), record);
    largest = lag(m, record).cwiseAbs().maxCoeff();
  } catch (const NumericalError&) {
    largest = 1e9;  // the mass matrix is lost on the way
  }
  EXPECT_GT(largest, 3.0);
}

BeamSettings soft_boom(double damping) {
  BeamSettings s{.length = 1.0};
  s.section.values = {2e3, 3.0, 5.0, 2.0, 1.0, 0.02, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.set = ModeSet::craig_bampton, .count = 6};
  s.damping.ratios = {damping};
  return s;
}

Mechanism free_pair(double damping) {
  MechanismBuilder b("free");
  b.set_gravity(Vec3d::zero());
  b.add_body("hub", {.mass = 2.0, .inertia = SymMat3d::diagonal(0.3, 0.2, 0.25)});
  b.add_hinge("float", kWorld, "hub", {.type = HingeType::free});
  b.add_flexible_body("boom", make_beam(soft_boom(damping)));
  b.add_hinge("root", "hub", "boom", {.type = HingeType::revolute, .axes = {{0, 1, 0}}});
  b.add_body("tip", {.mass = 0.2, .inertia = SymMat3d::diagonal(1e-3, 1e-3, 1e-3)});
  b.add_hinge("grip", "boom.tip", "tip", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  return b.finish();
}

State moving(const Mechanism& m) {
  State s = m.default_state();
  for (Eigen::Index i = 0; i < s.v.size(); ++i)
    s.v[i] = 0.3 * std::sin(1.0 + 2.0 * static_cast<double>(i));
  for (int k = 0; k < 6; ++k) s.v[m.velocity_index("boom.mode" + std::to_string(k + 1))] *= 0.02;
  return s;
}

TEST(FlexibleMotion, EnergyOfAFreeBodyIsKept) {
  const Mechanism m = free_pair(0.0);
  SimulationSettings settings{.duration = 5.0};
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, moving(m), settings, record);
  EXPECT_TRUE(r.complete);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

TEST(FlexibleMotion, AuditCountsDamping) {
  const Mechanism m = free_pair(0.02);
  SimulationSettings settings{.duration = 3.0};
  settings.integrator.relative_tolerance = 1e-10;
  settings.integrator.absolute_tolerance = 1e-12;
  MemoryRecorder record;
  const SimulationResult r = simulate(m, moving(m), settings, record);
  EXPECT_LT(r.audit.energy_drift, 1e-7);
  EXPECT_THAT(to_json(r), testing::HasSubstr("damping of boom"));
}

TEST(FlexibleMotion, StiffModesGetAnImplicitMethod) {
  BeamSettings s = soft_boom(0.05);
  s.section.values = {2e8, 3e5, 5e5, 2e5, 1.0, 0.0002, 0.0, 0.0};
  MechanismBuilder b("stiff");
  b.add_flexible_body("boom", make_beam(s));
  b.add_hinge("root", kWorld, "boom", {.type = HingeType::revolute, .axes = {{0, 1, 0}}});
  const Mechanism m = b.finish();
  std::string note;
  const SimulationSettings chosen = completed_for(m, {.duration = 100.0}, &note);
  EXPECT_EQ(chosen.integrator.method, Method::bdf);
  EXPECT_THAT(note, testing::HasSubstr("boom"));
  SimulationSettings kept{.duration = 100.0};
  kept.integrator.keep_method = true;
  EXPECT_EQ(completed_for(m, kept).integrator.method, Method::dop853);
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), {.duration = 60.0}, record);
  EXPECT_TRUE(r.complete);
  ASSERT_FALSE(record.events().empty());
  EXPECT_THAT(record.events()[0].detail, testing::HasSubstr("bdf"));
}

// A boom with nothing at its root but a hinge (or nothing at all), deflected by a tenth of its
// length.
Mechanism lone_boom(HingeType hinge, int modes, InertiaCompletion completion) {
  BeamSettings s{.length = 4.0};
  s.section = {.shape = BeamSection::Shape::tube, .radius = 0.02, .inner_radius = 0.018};
  s.material = BeamMaterial{.youngs_modulus = 70e9, .shear_modulus = 26e9, .density = 2700.0};
  s.attachments = {{.name = "tip", .station = 4.0}};
  s.modes = {.set = ModeSet::clamped_free, .count = modes};
  s.completion = completion;
  MechanismBuilder b("lone");
  b.set_gravity(Vec3d::zero());
  b.add_flexible_body("boom", make_beam(s));
  b.add_hinge("root", kWorld, "boom", {.type = hinge});
  return b.finish();
}

SimulationResult swing(const Mechanism& m) {
  State start = m.default_state();
  const FlexibleBody& boom = *m.flexible_bodies()[0].constants;
  start.q[m.position_index("boom.mode1")] = 0.4 / boom.attachments[0].shape.col(0).norm();
  SimulationSettings settings{.duration = 0.5};
  settings.integrator.method = Method::dop853;
  settings.integrator.keep_method = true;
  settings.integrator.relative_tolerance = 1e-9;
  settings.integrator.absolute_tolerance = 1e-11;
  MemoryRecorder record;
  return simulate(m, start, settings, record);
}

TEST(FlexibleMotion, BoomsMoveWithTheirOwnInertia) {
  for (const HingeType hinge : {HingeType::revolute, HingeType::spherical, HingeType::free}) {
    const Mechanism m = lone_boom(hinge, 10, InertiaCompletion::automatic);
    ASSERT_NE(m.flexible_bodies()[0].completed, nullptr);
    const SimulationResult r = swing(m);
    EXPECT_TRUE(r.complete);
    EXPECT_LT(r.audit.energy_drift, 1e-7);
  }
  // What it is for.
  EXPECT_THROW(swing(lone_boom(HingeType::spherical, 10, InertiaCompletion::never)),
               NumericalError);
}

TEST(FlexibleMotion, CompletionWhereTheHingeMovesLittleElse) {
  const auto completed = [](const BodySettings& fitting, int modes) {
    BeamSettings s{.length = 1.0};
    s.section.values = {.bending_z = 3.0, .mass_per_length = 1.0};
    s.modes = {.set = ModeSet::clamped_free, .count = modes};
    MechanismBuilder b("fitting");
    b.add_flexible_body("boom", make_beam(s), fitting);
    b.add_hinge("root", kWorld, "boom", {.type = HingeType::revolute});
    return b.finish().flexible_bodies()[0].completed != nullptr;
  };
  EXPECT_TRUE(completed({}, 5));
  EXPECT_FALSE(completed({}, 1));  // which leaves 3 % of the inertia to the hinge
  EXPECT_FALSE(completed({.mass = 0.3, .inertia = SymMat3d::diagonal(0.02, 0.02, 0.02)}, 5));
}

}  // namespace
}  // namespace catena
