// SPDX-License-Identifier: BSD-3-Clause
// Trees with flexible bodies against Lagrange's equations (testing/flexible_reference.h).
#include <Eigen/Geometry>

#include "catena/dynamics/energy.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/momentum.h"
#include "catena/dynamics/testing/flexible_reference.h"

namespace catena::test {
namespace {

// Asked for: rounding of sums over some twenty freedoms.
constexpr double kFlexibleTolerance = 1e-11;

double relative(const VectorXd& found, const VectorXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / (1.0 + expected.cwiseAbs().maxCoeff());
}

// Modal coordinates within the range where the random constants make sense.
Case flexible_case(Random& random, const Mechanism& m, int wrenches) {
  Case c = random_case(random, m, wrenches);
  for (const FlexiblePlace& f : m.flexible_bodies())
    for (int k = 0; k < f.constants->modes(); ++k)
      c.state.q[m.position_index(f.name + ".mode1") + k] = random.number(-0.3, 0.3);
  return c;
}

void compare_dynamics(bool free_base, unsigned seed) {
  Random random(seed);
  Worst inverse, forward, hybrid, mass, energy_error;
  for (int i = 0; i < 24; ++i) {
    const Mechanism m = random_flexible_tree(random, 1 + i / 4, free_base).finish();
    const Case c = flexible_case(random, m, random.below(4));
    const FlexibleReference reference(m);
    const VectorXd expected = reference.efforts(c.state, c.acceleration, c.external);
    inverse.take(relative(inverse_dynamics(m, c.state, c.acceleration, c.external), expected));
    forward.take(relative(forward_dynamics(m, c.state, expected, c.external), c.acceleration));
    const HybridInput input = [&] {
      Case known = c;
      known.effort = expected;
      return random_hybrid(random, known);
    }();
    const HybridResult found = hybrid_dynamics(m, c.state, input, c.external);
    hybrid.take(relative(found.acceleration, c.acceleration));
    hybrid.take(relative(found.effort, expected));
    const MatrixXd matrix = mass_matrix(m, c.state.q), exact = reference.mass_matrix(c.state);
    mass.take((matrix - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff());
    const auto state = reference.at_state(c.state);
    const Energy e = energy(m, c.state);
    energy_error.take(std::abs(e.kinetic - state.kinetic) / (1.0 + state.kinetic));
    energy_error.take(std::abs(e.potential() - state.potential) /
                      (1.0 + std::abs(state.potential)));
  }
  EXPECT_LT(inverse.value, kFlexibleTolerance);
  EXPECT_LT(forward.value, kFlexibleTolerance);
  EXPECT_LT(hybrid.value, kFlexibleTolerance);
  EXPECT_LT(mass.value, kFlexibleTolerance);
  EXPECT_LT(energy_error.value, kFlexibleTolerance);
}

TEST(FlexibleTrees, OnTheGround) { compare_dynamics(false, 3); }
TEST(FlexibleTrees, OnAFreeBase) { compare_dynamics(true, 5); }

TEST(FlexibleTrees, KinematicsAndMomentum) {
  Random random(11);
  Worst pose, twist, jacobian, momentum_error, acceleration_error;
  for (int i = 0; i < 20; ++i) {
    const Mechanism m = random_flexible_tree(random, 1 + i / 4, i % 2 == 0).finish();
    const Case c = flexible_case(random, m, 0);
    const FlexibleReference reference(m);
    const auto expected = reference.at_state(c.state);
    Workspace w(m);
    update_kinematics(m, c.state.q, c.state.v, w);
    // Momentum: derivative of the kinetic energy by a velocity of the whole through the ground.
    Vec3d linear = Vec3d::zero();
    for (int b = 0; b < static_cast<int>(m.bodies().size()); ++b) {
      const Transformd found = body_pose(m, w, b);
      const Transformd& exact = expected.poses[index(b)];
      for (int k = 0; k < 9; ++k)
        pose.take(std::abs(found.rotation.matrix.m[k / 3][k % 3] -
                           exact.rotation.matrix.m[k / 3][k % 3]));
      pose.take(norm(found.translation - exact.translation) / (1.0 + norm(exact.translation)));
      const Twistd v = body_twist(m, w, b, Axes::body);
      for (int k = 0; k < 6; ++k) twist.take(std::abs(v[k] - expected.twists[index(b)][k]) / 10.0);
      const Eigen::MatrixXd j = body_jacobian(m, w, b, Vec3d::zero(), Axes::body);
      const VectorXd by_jacobian = j * c.state.v;
      for (int k = 0; k < 6; ++k)
        jacobian.take(std::abs(by_jacobian[k] - expected.twists[index(b)][k]) / 10.0);
    }
    const Eigen::MatrixXd p = momentum_matrix(m, c.state.q, Vec3d::zero());
    const Momentum sum = momentum(m, c.state, Vec3d::zero());
    VectorXd found(6);
    for (int k = 0; k < 3; ++k) found[k] = sum.angular[k], found[3 + k] = sum.linear[k];
    momentum_error.take(relative(p * c.state.v, found));
    // And the rate of the mass centre is the momentum over the mass.
    const double h = 1e-6;
    const Vec3d ahead = center_of_mass(m, integrate(m, c.state.q, h * c.state.v));
    const Vec3d behind = center_of_mass(m, integrate(m, c.state.q, -h * c.state.v));
    linear = (ahead - behind) * (m.total_mass() / (2.0 * h));
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(linear[k], sum.linear[k], 1e-7 * (1.0 + norm(sum.linear)));
    // Accelerations of attachments by differences of twists along the motion.
    const VectorXd& a = c.acceleration;
    update_accelerations(m, c.state, a, w);
    const State next{integrate(m, c.state.q, h * (c.state.v + 0.5 * h * a)), c.state.v + h * a};
    const State last{integrate(m, c.state.q, -h * (c.state.v - 0.5 * h * a)), c.state.v - h * a};
    for (int b = 0; b < static_cast<int>(m.bodies().size()); ++b) {
      const Twistd v1 = body_twist(m, next, b, Axes::ground),
                   v0 = body_twist(m, last, b, Axes::ground);
      const Twistd found_a = body_acceleration(m, w, b, Axes::ground);
      for (int k = 0; k < 6; ++k)
        acceleration_error.take(std::abs(found_a[k] - (v1[k] - v0[k]) / (2.0 * h)) / 100.0);
    }
  }
  EXPECT_LT(pose.value, kFlexibleTolerance);
  EXPECT_LT(twist.value, kFlexibleTolerance);
  EXPECT_LT(jacobian.value, kFlexibleTolerance);
  EXPECT_LT(momentum_error.value, kFlexibleTolerance);
  EXPECT_LT(acceleration_error.value, 1e-6);
}

TEST(FlexibleTrees, RuthlessModelSeesTheUndeformedBody) {
  // Mass matrix and bias forces at η = η̇ = 0; then K η + D η̇.
  Random random(17);
  for (int i = 0; i < 12; ++i) {
    const Mechanism m =
        random_flexible_tree(random, 1 + i / 3, i % 2 == 0, FlexibleModel::ruthless).finish();
    const Case c = flexible_case(random, m, 0);
    State rest = c.state;
    VectorXd elastic = VectorXd::Zero(m.freedoms());
    for (const FlexiblePlace& f : m.flexible_bodies()) {
      const int q = m.position_index(f.name + ".mode1"), v = m.velocity_index(f.name + ".mode1");
      const int n = f.constants->modes();
      elastic.segment(v, n) = f.constants->stiffness * c.state.q.segment(q, n) +
                              f.constants->damping * c.state.v.segment(v, n);
      rest.q.segment(q, n).setZero();
      rest.v.segment(v, n).setZero();
    }
    Description consistent = m.description();
    for (Hinge& h : consistent.hinges) {
      if (!h.flexible) continue;
      auto body = std::make_shared<FlexibleBody>(*h.flexible);
      body->model = FlexibleModel::consistent;
      h.flexible = body;
    }
    const Mechanism other = MechanismBuilder(consistent).finish();
    const FlexibleReference reference(other);
    const VectorXd expected = reference.efforts(rest, c.acceleration, {}) + elastic;
    EXPECT_LT(relative(inverse_dynamics(m, c.state, c.acceleration), expected), kFlexibleTolerance);
    EXPECT_LT(relative(forward_dynamics(m, c.state, expected), c.acceleration), kFlexibleTolerance);
    EXPECT_LT((mass_matrix(m, c.state.q) - reference.mass_matrix(rest)).cwiseAbs().maxCoeff(),
              1e-11 * reference.mass_matrix(rest).maxCoeff());
  }
}

TEST(FlexibleTrees, RotorsOnAttachments) {
  // Against the dense route, whose mass matrix and bias are checked without rotors above; and the
  // kinetic energy gives the mass matrix with them.
  Random random(23);
  for (int i = 0; i < 10; ++i) {
    MechanismBuilder builder("rotors");
    builder.add_flexible_body("b0", random_flexible(random, 3, 2, FlexibleModel::consistent));
    builder.add_hinge("h0", kWorld, "b0", random.hinge(HingeType::revolute));
    for (int k = 0; k < 2; ++k) {
      const std::string name = body_name(1 + k);
      HingeSettings hinge = random.hinge(k == 0 ? HingeType::revolute : HingeType::prismatic);
      hinge.drive = DriveSettings{.rotor_inertia = 0.03, .gear_ratio = 7.0};
      builder.add_body(name, random.body());
      builder.add_hinge("h" + name, "b0.a" + std::to_string(k), name, hinge);
    }
    const Mechanism m = builder.finish();
    const Case c = flexible_case(random, m, 2);
    const VectorXd a = forward_dynamics(m, c.state, c.effort, c.external);
    EXPECT_LT(relative(inverse_dynamics(m, c.state, a, c.external), c.effort), kFlexibleTolerance);
    EXPECT_LT(relative(forward_dynamics(m, c.state, c.effort, c.external, Route::dense), a),
              kFlexibleTolerance);
    const MatrixXd mass = mass_matrix(m, c.state.q);
    EXPECT_NEAR(0.5 * c.state.v.dot(mass * c.state.v), energy(m, c.state).kinetic,
                1e-11 * energy(m, c.state).kinetic);
  }
}

TEST(FlexibleTrees, NamesAndPlaces) {
  Random random(2);
  MechanismBuilder b("names");
  b.add_flexible_body("boom", random_flexible(random, 2, 1, FlexibleModel::consistent));
  b.add_body("tip_mass", random.body());
  b.add_hinge("slew", kWorld, "boom", {.type = HingeType::revolute});
  b.add_hinge("grip", "boom.a0", "tip_mass", {.type = HingeType::revolute});
  const Mechanism m = b.finish();
  const std::vector<std::string> names(m.position_names().begin(), m.position_names().end());
  EXPECT_EQ(names, (std::vector<std::string>{"slew", "boom.mode1", "boom.mode2", "grip"}));
  EXPECT_EQ(m.flexible_bodies().size(), 1u);
  // From the wrong side.
  MechanismBuilder wrong("wrong");
  wrong.add_flexible_body("boom", random_flexible(random, 2, 1, FlexibleModel::consistent));
  wrong.add_hinge("slew", kWorld, "boom.a0", {.type = HingeType::revolute});
  EXPECT_TRUE(mentions(problems_of(wrong), {"boom", "reached from its attachment", "clamp"}));
  // Removing the body removes its parts.
  b.remove_body("boom");
  EXPECT_EQ(b.description().bodies.size(), 1u);
}

}  // namespace
}  // namespace catena::test
