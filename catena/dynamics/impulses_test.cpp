// SPDX-License-Identifier: BSD-3-Clause
// Velocity jumps against dense matrices, and closed forms.
#include "catena/dynamics/impulses.h"

#include "catena/base/index.h"
#include "catena/dynamics/operators/operational_space.h"
#include "catena/dynamics/testing/operator_test_support.h"

namespace catena::test {
namespace {

// A free rod struck at a point: Δv = p/m, Δω = J⁻¹ (r × p).
TEST(Impulses, FreeRodStruckAtItsEnd) {
  MechanismBuilder b;
  b.add_body("rod", spec_body(2, {}, .3, .3, .01, 0, 0, 0));
  HingeSettings free;
  free.type = HingeType::free;
  b.add_hinge("float", kWorld, "rod", free);
  const Mechanism m = b.finish();
  State state = m.default_state();
  state.v.setZero();
  ExternalWrench blow;
  blow.body = 0;
  blow.point = {0, 0, .5};
  blow.wrench.force = {3, 0, 0};
  const ImpulseResult r = apply_impulse(m, state, blow);
  EXPECT_NEAR(r.velocity[3], 1.5, 1e-14);       // v_x
  EXPECT_NEAR(r.velocity[1], 1.5 / .3, 1e-13);  // ω_y
  EXPECT_NEAR(r.energy_change, 0.5 * 2 * 1.5 * 1.5 + 0.5 * .3 * 25.0, 1e-12);
}

// A turning rod caught at its hinge loses all it has.
TEST(Impulses, LockingAPendulum) {
  MechanismBuilder b;
  b.add_body("bob", spec_body(2, {0, -.75, 0}, .3, .3, .3, 0, 0, 0));
  b.add_hinge("pin", kWorld, "bob", spec_hinge(HingeType::revolute, {}, {}));
  const Mechanism m = b.finish();
  const State state{VectorXd::Constant(1, .6), VectorXd::Constant(1, 1.4)};
  const ImpulseResult r = lock_freedom(m, state, "pin");
  EXPECT_NEAR(r.velocity[0], 0.0, 1e-15);
  EXPECT_NEAR(r.impulse[0], -1.425 * 1.4, 1e-13);
  EXPECT_NEAR(r.energy_change, -0.5 * 1.425 * 1.4 * 1.4, 1e-13);
}

TEST(Impulses, AgreeWithDenseMatricesOnRandomTrees) {
  Random random(51);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    TreeSettings settings;
    settings.bodies = 2 + i / 3;
    settings.free_base = i % 2 == 0;
    settings.welds = false;
    const bool rotors = i % 4 >= 2;
    settings.reversed = rotors ? i % 8 >= 6 : true;  // reversed rotors sit on distant carriers
    MechanismBuilder builder = random_tree(random, settings);
    if (rotors) add_rotors(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 0);
    const int n = m.freedoms();
    ImpulseInput input;
    input.impulse = c.effort;
    TaskFrame frame;
    frame.body = random.below(settings.bodies);
    frame.pose.translation = random.vector();
    ExternalWrench blow;
    blow.body = frame.body;
    blow.point = frame.pose.translation;
    blow.wrench = {random.vector(), random.vector()};
    blow.axes = ExternalWrench::Axes::ground;
    input.external = {blow};
    if (i % 3 > 0) {
      for (int k = 0; k < n; ++k) input.locked.push_back(random.below(3) == 0 ? 1 : 0);
      if (i % 3 == 2) input.target = random_values(random, n);
    }
    const ImpulseResult r = apply_impulse(m, c.state, input);

    const MatrixXd mass = mass_matrix(m, c.state.q);
    const VectorXd p = mass * r.jump;
    // Jᵀ of the blow: of the mechanism without drives, whose articulated bodies always exist.
    MechanismBuilder bare = builder;
    for (Hinge& hinge : bare.description().hinges) hinge.drive.reset();
    const Mechanism plain_mechanism = bare.finish();
    Workspace w(plain_mechanism);
    articulate(plain_mechanism, c.state.q, w);
    OperationalSpace space(plain_mechanism, {frame});
    space.update(w);
    VectorXd blow_effort;
    space.apply_jacobian_transposed(to_eigen(blow.wrench), blow_effort);
    EXPECT_LT(distance(p, r.impulse + blow_effort), 1e-9);
    EXPECT_LT(distance(r.velocity, c.state.v + r.jump), 1e-14);
    for (int k = 0; k < n; ++k) {
      if (!input.locked.empty() && input.locked[index(k)] != 0)
        EXPECT_NEAR(r.velocity[k], input.target.size() == 0 ? 0.0 : input.target[k], 1e-13);
      else
        EXPECT_EQ(r.impulse[k], input.impulse[k]);
    }
    const double before = 0.5 * c.state.v.dot(mass * c.state.v);
    const double after = 0.5 * r.velocity.dot(mass * r.velocity);
    EXPECT_NEAR(r.energy_change, after - before, 1e-10 * (before + after));
    if (!input.locked.empty() && input.target.size() == 0) {
      ImpulseInput lock;
      lock.locked = input.locked;
      const ImpulseResult only = apply_impulse(m, c.state, lock);
      EXPECT_NEAR(only.energy_change, -0.5 * only.jump.dot(mass * only.jump),
                  1e-10 * (before + after));  // Carnot
    }
  }
}

TEST(Impulses, SayWhatIsWrong) {
  const SpecCase c = spec_case_t();
  EXPECT_THROW(apply_impulse(c.mechanism, c.state, VectorXd::Zero(3)), NumericalError);
  EXPECT_THROW(lock_freedom(c.mechanism, c.state, "h99"), NameError);
  ExternalWrench blow;
  blow.body = 77;
  EXPECT_THROW(apply_impulse(c.mechanism, c.state, blow), NumericalError);
  VectorXd bad = VectorXd::Zero(10);
  bad[2] = std::nan("");
  EXPECT_THROW(apply_impulse(c.mechanism, c.state, bad), NumericalError);
}

}  // namespace
}  // namespace catena::test
