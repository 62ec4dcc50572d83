// SPDX-License-Identifier: BSD-3-Clause
// Many thousand bodies in a chain and in a star: no depth problem. (That the cost per body does not
// grow is a test of tests/instructions.)
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

Mechanism many(int bodies, bool star) {
  MechanismBuilder builder(star ? "star" : "chain");
  for (int i = 0; i < bodies; ++i) {
    builder.add_body(body_name(i), ball());
    HingeSettings hinge{.type = i % 5 == 4 ? HingeType::prismatic : HingeType::revolute};
    hinge.axes = {i % 2 == 0 ? Vec3d::unit_x() : Vec3d::unit_y()};
    hinge.frame_on_parent.translation = {0.1, 0.0, 0.05};
    builder.add_hinge("h" + std::to_string(i), body_name(star ? -1 : i - 1), body_name(i), hinge);
  }
  return builder.finish();
}

class Large : public ::testing::TestWithParam<bool> {};

// One size of mechanism with a state and its accelerations.
struct Sample {
  Mechanism mechanism;
  State s;
  VectorXd effort, acceleration;
  Workspace w;

  Sample(int bodies, bool star)
      : mechanism(many(bodies, star)),
        s(mechanism.default_state()),
        effort(VectorXd::Constant(bodies, 0.1)),
        w(mechanism) {
    for (int i = 0; i < bodies; ++i) s.q[i] = 0.3 * std::sin(0.7 * i);
    acceleration = forward_dynamics(mechanism, s, effort, w);
  }
};

TEST_P(Large, InverseOfForward) {
  for (const int bodies : {100, 10000}) {
    Sample each(bodies, GetParam());
    EXPECT_TRUE(each.acceleration.allFinite());
    // The efforts of these accelerations are large differences of larger numbers in a long chain.
    const VectorXd back = inverse_dynamics(each.mechanism, each.s, each.acceleration, each.w);
    EXPECT_LT((back - each.effort).cwiseAbs().maxCoeff(), 1e-12 * bodies * bodies);
  }
}

INSTANTIATE_TEST_SUITE_P(Bodies, Large, ::testing::Values(false, true),
                         [](const auto& p) { return p.param ? "Star" : "Chain"; });

}  // namespace
}  // namespace catena::test
