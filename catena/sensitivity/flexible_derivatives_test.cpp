// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of mechanisms with flexible bodies against differences of Lagrange's equations
// (dynamics/testing/flexible_reference.h), and linear models of beams against closed forms.
#include "catena/sensitivity/flexible_derivatives.h"

#include <cmath>

#include "catena/base/dense.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/testing/flexible_reference.h"
#include "catena/flexible/beam.h"
#include "catena/sensitivity/equilibrium.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/modes.h"
#include "catena/sensitivity/parameters.h"

namespace catena::test {
namespace {

// Central differences of order six with step 2e-3: truncation some 1e-13, rounding 1e-12.
template <class F>
VectorXd differenced(F f) {
  const double h = 2e-3;
  return ((f(h) - f(-h)) * 45.0 - (f(2 * h) - f(-2 * h)) * 9.0 + (f(3 * h) - f(-3 * h))) /
         (60.0 * h);
}

TEST(FlexibleDerivatives, AgainstDifferencesOfLagrange) {
  Random random(31);
  Worst by_q, by_v, forward;
  for (int i = 0; i < 10; ++i) {
    const FlexibleModel model =
        i % 4 == 3 ? FlexibleModel::inconsistent : FlexibleModel::consistent;
    const Mechanism m = random_flexible_tree(random, 1 + i / 3, i % 2 == 0, model).finish();
    Case c = random_case(random, m, 2);
    for (const FlexiblePlace& f : m.flexible_bodies())
      for (int k = 0; k < f.constants->modes(); ++k)
        c.state.q[m.position_index(f.name + ".mode1") + k] = random.number(-0.3, 0.3);
    const FlexibleReference reference(m);
    const InverseDerivatives d =
        inverse_dynamics_derivatives(m, c.state, c.acceleration, c.external);
    const double scale = 1.0 + d.dq.cwiseAbs().maxCoeff();
    for (int k = 0; k < m.freedoms(); ++k) {
      const VectorXd unit = VectorXd::Unit(m.freedoms(), k);
      const VectorXd q = differenced([&](double h) {
        return reference.efforts({integrate(m, c.state.q, h * unit), c.state.v}, c.acceleration,
                                 c.external);
      });
      by_q.take((q - d.dq.col(k)).cwiseAbs().maxCoeff() / scale);
      const VectorXd v = differenced([&](double h) {
        return reference.efforts({c.state.q, c.state.v + h * unit}, c.acceleration, c.external);
      });
      by_v.take((v - d.dv.col(k)).cwiseAbs().maxCoeff() / scale);
    }
    const ForwardDerivatives f = forward_dynamics_derivatives(m, c.state, c.effort, c.external);
    const InverseDerivatives at =
        inverse_dynamics_derivatives(m, c.state, f.acceleration, c.external);
    forward.take((at.da * f.dq + at.dq).cwiseAbs().maxCoeff() / scale);
    forward.take(
        (at.da * f.deffort - MatrixXd::Identity(m.freedoms(), m.freedoms())).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(by_q.value, 1e-9);
  EXPECT_LT(by_v.value, 1e-9);
  EXPECT_LT(forward.value, 1e-10);
}

TEST(FlexibleDerivatives, SpringsAndHingeElements) {
  // Loads of points and hinges against differences of inverse dynamics itself.
  Random random(37);
  for (int i = 0; i < 6; ++i) {
    MechanismBuilder builder = random_flexible_tree(random, 3, i % 2 == 0);
    builder.add_spring({.name = "s",
                        .body_a = kWorld,
                        .point_a = random.vector(),
                        .body_b = "b1",
                        .point_b = random.vector(),
                        .stiffness = 20.0,
                        .rest_length = 0.4,
                        .damping = 1.5});
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 1);
    const InverseDerivatives d =
        inverse_dynamics_derivatives(m, c.state, c.acceleration, c.external);
    for (int k = 0; k < m.freedoms(); ++k) {
      const VectorXd unit = VectorXd::Unit(m.freedoms(), k);
      const VectorXd q = differenced([&](double h) {
        return VectorXd(inverse_dynamics(m, {integrate(m, c.state.q, h * unit), c.state.v},
                                         c.acceleration, c.external));
      });
      EXPECT_LT((q - d.dq.col(k)).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + d.dq.cwiseAbs().maxCoeff()));
      const VectorXd v = differenced([&](double h) {
        return VectorXd(
            inverse_dynamics(m, {c.state.q, c.state.v + h * unit}, c.acceleration, c.external));
      });
      EXPECT_LT((v - d.dv.col(k)).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + d.dv.cwiseAbs().maxCoeff()));
    }
  }
}

BeamSettings boom(int modes, ModeSet set = ModeSet::clamped_free) {
  BeamSettings s{.length = 2.0};
  s.section.values = {2e5, 30.0, 45.0, 20.0, 1.5, 0.02, 0.0, 0.0};
  s.attachments = {{.name = "tip", .station = 2.0}};
  s.modes = {.set = set, .count = modes};
  return s;
}

TEST(FlexibleDerivatives, OfACompletedInertia) {
  // Against differences of inverse dynamics, which dynamics/flexible/completion_test.cpp compares
  // with Lagrange's equations.
  Random random(41);
  for (const HingeType type : {HingeType::revolute, HingeType::spherical, HingeType::free}) {
    MechanismBuilder b("lone");
    BeamSettings settings = boom(8);
    settings.completion = InertiaCompletion::always;
    b.add_flexible_body("boom", make_beam(settings));
    b.add_hinge("root", kWorld, "boom", {.type = type});
    b.add_body("tip", random.body());
    b.add_hinge("grip", "boom.tip", "tip", {.type = HingeType::revolute});
    const Mechanism m = b.finish();
    ASSERT_NE(m.flexible_bodies()[0].completed, nullptr);
    Case c = random_case(random, m, 1);
    const int modes = m.position_index("boom.mode1");
    c.state.q.segment(modes, 8) *= 0.05;
    c.state.v.segment(m.velocity_index("boom.mode1"), 8) *= 0.05;
    const InverseDerivatives d =
        inverse_dynamics_derivatives(m, c.state, c.acceleration, c.external);
    const auto efforts = [&](const VectorXd& q, const VectorXd& v) {
      return VectorXd(inverse_dynamics(m, {q, v}, c.acceleration, c.external));
    };
    for (int k = 0; k < m.freedoms(); ++k) {
      const VectorXd unit = VectorXd::Unit(m.freedoms(), k);
      const VectorXd q = differenced(
          [&](double h) { return efforts(integrate(m, c.state.q, h * unit), c.state.v); });
      EXPECT_LT((q - d.dq.col(k)).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + d.dq.cwiseAbs().maxCoeff()));
      const VectorXd v =
          differenced([&](double h) { return efforts(c.state.q, c.state.v + h * unit); });
      EXPECT_LT((v - d.dv.col(k)).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + d.dv.cwiseAbs().maxCoeff()));
    }
    const MatrixXd mass = mass_matrix(m, c.state.q);
    EXPECT_LT((d.da - mass).cwiseAbs().maxCoeff(), 1e-12 * mass.cwiseAbs().maxCoeff());
  }
}

TEST(FlexibleDerivatives, ByStiffness) {
  MechanismBuilder b("boom");
  b.add_flexible_body("boom", make_beam(boom(6)));
  b.add_hinge("slew", kWorld, "boom", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  const Mechanism m = b.finish();
  Random random(3);
  Case c = random_case(random, m, 0);
  c.state.q.tail(6) *= 0.004;
  const ParameterSet set(m, {"body.boom.EIz", "body.boom.EIy", "body.boom.GJ"});
  EXPECT_NEAR(set.values()[0], 45.0, 1e-12);
  SensitivityWorkspace w(m);
  const MatrixXd found = set.acceleration_derivatives(c.state, c.effort, w);
  for (int k = 0; k < 3; ++k) {
    const double step = 0.01 * set.values()[k];
    const auto at = [&](double h) {
      VectorXd values = set.values();
      values[k] += h * step;
      const Mechanism other = set.with(values);
      return VectorXd(forward_dynamics(other, c.state, c.effort));
    };
    const VectorXd expected = (at(1.0) - at(-1.0)) / (2.0 * step);  // linear in K
    EXPECT_LT((found.col(k) - expected).cwiseAbs().maxCoeff(),
              1e-9 * (1.0 + expected.cwiseAbs().maxCoeff()));
  }
  EXPECT_THROW(ParameterSet(m, {"body.boom.modes.mass"}), NameError);
}

// A mass on the tip of a boom under gravity: deflection and frequency of the loaded cantilever.
TEST(FlexibleLinear, StaticDeflectionAndFrequency) {
  MechanismBuilder b("boom");
  b.set_gravity({0, 0, -9.81});
  b.add_flexible_body("boom", make_beam(boom(12, ModeSet::craig_bampton)));
  b.add_hinge("clamp", kWorld, "boom", {.type = HingeType::weld});
  b.add_body("load", {.mass = 0.02});
  b.add_hinge("grip", "boom.tip", "load", {.type = HingeType::weld});
  const Mechanism m = b.finish();
  const Equilibrium rest = find_equilibrium(m, {m.default_state()});
  ASSERT_TRUE(rest.found) << rest.reason;
  const double ei = 30.0, l = 2.0, rho = 1.5, mass = 0.02, g = 9.81;
  const double expected = -(mass * g * l * l * l / 3.0 + rho * g * l * l * l * l / 8.0) / ei;
  const Vec3d tip = catena::body_pose(m, rest.state.q, m.body_index("load")).translation;
  // The weight of the beam itself needs more than the static shapes: 2 % of modes left out; the
  // deflection is a third of the length, of which terms of second order take a little.
  EXPECT_NEAR(tip.z, expected, 0.12 * std::abs(expected));
  EXPECT_LT(tip.x, l);
  MechanismBuilder light = m.edit();
  light.set_gravity({0, 0, -1e-4});
  const Mechanism calm = light.finish();
  const Equilibrium small = find_equilibrium(calm, {calm.default_state()});
  const Vec3d little = catena::body_pose(calm, small.state.q, calm.body_index("load")).translation;
  EXPECT_NEAR(little.z, expected * 1e-4 / g, 2e-3 * std::abs(expected) * 1e-4 / g);

  // Frequencies of a cantilever with a tip mass: 1 + cosh cos + λ m/M (cos sinh − sin cosh) = 0.
  const auto function = [&](double x) {
    return 1.0 + std::cosh(x) * std::cos(x) +
           x * mass / (rho * l) * (std::cos(x) * std::sinh(x) - std::sin(x) * std::cosh(x));
  };
  double low = 1.0, high = 1.9;
  for (int i = 0; i < 100; ++i)
    (function(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
  const double wanted = low * low / (l * l) * std::sqrt(ei / rho);
  const ModalAnalysis found =
      modes(linearize(calm, {calm.default_state(), VectorXd::Zero(calm.freedoms())}));
  EXPECT_NEAR(found.modes[0].frequency, wanted, 1e-4 * wanted);
}

TEST(FlexibleLinear, SpinningBeam) {
  // Flap frequency of a cantilever driven at constant spin, in the whole mechanism: the table of a
  // rotating beam with EI = ρA = L = 1, hub radius 0.
  BeamSettings s{.length = 1.0};
  s.section.values = {.bending_y = 1.0, .mass_per_length = 1.0};
  s.modes = {.set = ModeSet::clamped_free, .count = 12};
  MechanismBuilder b("rotor");
  b.set_gravity(Vec3d::zero());
  b.add_flexible_body("blade", make_beam(s));
  b.add_hinge("spin", kWorld, "blade", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  const Mechanism m = b.finish();
  for (const auto& [spin, wanted] :
       {std::pair{0.0, 3.51602}, {2.0, 4.13732}, {6.0, 7.36037}, {12.0, 13.17015}}) {
    OperatingPoint point{m.default_state(), VectorXd::Zero(m.freedoms()),
                         VectorXd::Zero(m.freedoms())};
    point.state.v[0] = spin;
    LinearizeSettings settings;
    settings.motion_driven.assign(to_size(m.freedoms()), 0);
    settings.motion_driven[0] = 1;
    const LinearModel model = linearize(m, point, settings);
    const Eigen::Index n = m.freedoms();
    const MatrixXd square = -model.A.block(n + 1, 1, n - 1, n - 1);
    const double found = std::sqrt(eigenvalues(square).real().minCoeff());
    EXPECT_NEAR(found, wanted, 2e-5 * wanted) << spin;
  }
}

TEST(FlexibleLinear, OutputsAndForces) {
  MechanismBuilder b("boom");
  b.add_flexible_body("boom", make_beam(boom(6, ModeSet::craig_bampton)));
  b.add_hinge("slew", kWorld, "boom", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  const Mechanism m = b.finish();
  Random random(5);
  Case c = random_case(random, m, 0);
  c.state.q.tail(6) *= 0.004;
  LinearizeSettings settings;
  settings.inputs = {"slew", "force.boom.tip.y"};
  settings.outputs = {"position.boom.tip.y", "velocity.boom.tip.x"};
  const LinearModel model = linearize(m, {c.state, c.effort}, settings);
  const int n = m.freedoms(), tip = m.body_index("boom.tip");
  for (int k = 0; k < n; ++k) {
    const VectorXd unit = VectorXd::Unit(n, k);
    const VectorXd rows = differenced([&](double h) {
      const State s{integrate(m, c.state.q, h * unit), c.state.v};
      VectorXd y(2);
      y << point_position(m, s.q, tip, Vec3d::zero()).y,
          point_velocity(m, s, tip, Vec3d::zero(), Axes::ground).x;
      return y;
    });
    EXPECT_NEAR(model.C(0, k), rows[0], 1e-8 * (1 + std::abs(rows[0])));
    EXPECT_NEAR(model.C(1, k), rows[1], 1e-8 * (1 + std::abs(rows[1])));
  }
  ExternalWrench push;
  push.body = tip;
  push.axes = ExternalWrench::Axes::ground;
  push.wrench.force = {0, 1, 0};
  const VectorXd with = forward_dynamics(m, c.state, c.effort, std::vector{push});
  const VectorXd without = forward_dynamics(m, c.state, c.effort);
  EXPECT_LT((model.B.col(1).tail(n) - (with - without)).cwiseAbs().maxCoeff(),
            1e-9 * with.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace catena::test
