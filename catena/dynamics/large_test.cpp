// SPDX-License-Identifier: BSD-3-Clause
// Many thousand bodies in a chain and in a star: no depth problem, and a cost per body that does
// not grow.
#include <ctime>
#include <functional>

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

// The shortest time of one call, in nanoseconds per body. Processor time: the machine may be busy.
double time_per_body(int bodies, const std::function<void()>& call) {
  double best = kInfinity;
  const int calls = std::max(1, 20000 / bodies);
  for (int round = 0; round < 20; ++round) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < calls; ++i) call();
    const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, 1e9 * spent / calls / bodies);
  }
  return best;
}

class Large : public ::testing::TestWithParam<bool> {};

// One size of mechanism with a state, ready to be timed.
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
  int bodies() const { return static_cast<int>(effort.size()); }
  double forward() {
    return time_per_body(bodies(), [&] { forward_dynamics(mechanism, s, effort, w); });
  }
  double inverse() {
    return time_per_body(bodies(), [&] { inverse_dynamics(mechanism, s, acceleration, w); });
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

// Both sizes are larger than a core's own cache (some 800 bytes a body): between a mechanism inside
// of it and one outside the step is the processor's, 1.3 to 1.7 from one to the next, and has
// nothing to do with the algorithm.
TEST_P(Large, CostPerBodyIsConstant) {
  Sample small(5000, GetParam()), large(50000, GetParam());
  // Constant within 20 % on a quiet machine; others who use the same cache make it more, so the
  // best of a few tries counts, and half as much again is let pass.
  double forward = kInfinity, inverse = kInfinity;
  for (int i = 0; i < 5 && (forward > 1.2 || inverse > 1.2); ++i) {
    const double times[] = {small.forward(), large.forward(), small.inverse(), large.inverse()};
    printf("    ns per body, 5,000 and 50,000 bodies: forward %.1f %.1f, inverse %.1f %.1f\n",
           times[0], times[1], times[2], times[3]);
    forward = std::min(forward, times[1] / times[0]);
    inverse = std::min(inverse, times[3] / times[2]);
  }
  EXPECT_LT(forward, 1.5);
  EXPECT_LT(inverse, 1.5);
}

INSTANTIATE_TEST_SUITE_P(Bodies, Large, ::testing::Values(false, true),
                         [](const auto& p) { return p.param ? "Star" : "Chain"; });

}  // namespace
}  // namespace catena::test
