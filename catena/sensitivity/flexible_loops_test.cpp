// SPDX-License-Identifier: BSD-3-Clause
// Closed loops with flexible members: a beam held at both ends against closed forms (static
// reaction, frequency), and all derivatives and products of a four-bar with a flexible coupler, and
// of beams in a tree, against differences of the dynamics.
#include <cmath>

#include <gtest/gtest.h>

#include "catena/closure/assembly.h"
#include "catena/dynamics/forces.h"
#include "catena/flexible/beam.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/derivative_check.h"
#include "catena/sensitivity/equilibrium.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/modes.h"

namespace catena {
namespace {

constexpr double kStiffness = 1e3, kDensity = 2.0, kLength = 1.5;

// Clamped to the ground at one end, on a ball joint at the other.
Mechanism propped_cantilever() {
  BeamSettings s{.length = kLength};
  s.section.values = {1e5, kStiffness, kStiffness, 1e3, kDensity, 1e-3, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = kLength}};
  s.modes = {.set = ModeSet::craig_bampton, .count = 20};
  MechanismBuilder b("shelf");
  b.add_flexible_body("boom", make_beam(s));
  b.add_hinge("root", kWorld, "boom", {.type = HingeType::weld});
  HingeSettings ball{.type = HingeType::spherical, .cut = Cut::always};
  ball.frame_on_parent = Transformd::from_translation({kLength, 0, 0});
  b.add_hinge("prop", kWorld, "boom.tip", ball);
  return b.finish();
}

TEST(FlexibleLoop, ProppedCantilever) {
  const Mechanism m = propped_cantilever();
  ASSERT_EQ(m.loops().size(), 1u);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(m.freedoms());
  // What closes the loop is closed to rounding, which the stiffness of the highest modes magnifies.
  const Equilibrium rest = find_equilibrium(m, {m.default_state(), none}, {.tolerance = 1e-7});
  ASSERT_TRUE(rest.found) << rest.reason;
  // The prop carries three eighths of the weight.
  Workspace w(m);
  InterbodyForces forces(m);
  forces.compute(rest.state, none, w, {}, &none);
  const Wrenchd on_tip = forces.at(m.hinge_index("prop"), ForceAxes::ground).wrench;
  EXPECT_NEAR(on_tip.force.z, 3.0 / 8.0 * kDensity * 9.81 * kLength, 1e-3);
  // First frequency of a clamped and pinned beam: (3.9266023 / L)² √(EI / ρA).
  const ModalAnalysis found = modes(linearize(m, {m.default_state(), none}));
  const double wanted = std::pow(3.92660231 / kLength, 2) * std::sqrt(kStiffness / kDensity);
  EXPECT_NEAR(found.modes[0].frequency, wanted, 1e-5 * wanted);
  EXPECT_NEAR(found.modes[1].frequency, wanted, 1e-5 * wanted);  // in the other plane
}

Mechanism four_bar() {
  BeamSettings s{.length = 1.0};
  s.section.values = {2e5, 1000.0, 1500.0, 800.0, 1.0, 0.02, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.set = ModeSet::craig_bampton, .count = 6};
  s.damping.ratios = {0.01};
  MechanismBuilder b("four-bar");
  const HingeSettings pin{.type = HingeType::revolute, .axes = {{0, 1, 0}}};
  const auto at = [&](double x) {
    HingeSettings h = pin;
    h.frame_on_parent = Transformd::from_translation({x, 0, 0});
    return h;
  };
  for (const auto& [name, length] : {std::pair{"crank", 0.3}, {"rocker", 0.8}})
    b.add_body(name, {.mass = 0.5,
                      .center_of_mass = {0.5 * length, 0, 0},
                      .inertia = SymMat3d::diagonal(1e-3, 0.04 * length, 0.04 * length)});
  b.add_flexible_body("coupler", make_beam(s),
                      {.mass = 0.1, .inertia = SymMat3d::diagonal(0.01, 0.01, 0.01)});
  b.add_hinge("drive", kWorld, "crank", pin);
  b.add_hinge("wrist", "crank", "coupler", at(0.3));
  b.add_hinge("pivot", kWorld, "rocker", at(1.2));
  HingeSettings closing = pin;
  closing.frame_on_child = Transformd::from_translation({0.8, 0, 0});
  b.add_hinge("closing", "coupler.tip", "rocker", closing);
  MechanismBuilder closed(b.finish().description());
  // Start closed, for the random states are around it.
  const Mechanism m = closed.finish();
  State guess = m.default_state();
  guess.q[m.position_index("drive")] = -1.0;
  guess.q[m.position_index("wrist")] = 0.6;
  guess.q[m.position_index("pivot")] = -1.5;
  const State start = assemble(m, guess);
  for (const char* hinge : {"drive", "wrist", "pivot"})
    closed.hinge(hinge).initial_position = {start.q[m.position_index(hinge)]};
  return closed.finish();
}

TEST(FlexibleLoop, DerivativesOfAFourBar) {
  const DerivativeReport report = check_derivatives(four_bar(), 1);
  EXPECT_GT(report.states, 0);
  for (const DerivativeCheck& check : report.checks)
    EXPECT_TRUE(check.passes()) << check.quantity << " " << check.error << " of " << check.allowed
                                << " at " << check.where;
}

TEST(FlexibleTree, DerivativesAndProducts) {
  BeamSettings s{.length = 1.0};
  s.section.values = {2e4, 30.0, 50.0, 20.0, 1.0, 0.02, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 1.0}};
  s.modes = {.set = ModeSet::craig_bampton, .count = 6};
  s.damping.ratios = {0.01};
  MechanismBuilder b("arm");
  const auto beam = make_beam(s);
  const BodySettings root{.mass = 0.3, .inertia = SymMat3d::diagonal(0.02, 0.02, 0.02)};
  b.add_flexible_body("upper", beam, root);
  b.add_flexible_body("lower", beam, root);
  b.add_body("load", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("shoulder", kWorld, "upper", {.type = HingeType::universal});
  b.add_hinge("elbow", "upper.tip", "lower", {.type = HingeType::revolute, .axes = {{0, 1, 0}}});
  b.add_hinge("grip", "lower.tip", "load", {.type = HingeType::weld});
  const DerivativeReport report = check_derivatives(b.finish(), 3);
  EXPECT_EQ(report.states, 3);
  for (const DerivativeCheck& check : report.checks)
    EXPECT_TRUE(check.passes()) << check.quantity << " " << check.error << " of " << check.allowed
                                << " at " << check.where;
}

}  // namespace
}  // namespace catena
