// Ten thousand bodies in a chain and in a star: no depth problem, and a cost per body that does
// not grow.
#include <ctime>
#include <functional>

#include "catena/dynamics/test_support.h"

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

TEST_P(Large, CostPerBodyIsConstant) {
  const bool star = GetParam();
  double forward[2], inverse[2];
  for (int size = 0; size < 2; ++size) {
    const int bodies = size == 0 ? 100 : 10000;
    const Mechanism mechanism = many(bodies, star);
    State s = mechanism.default_state();
    for (int i = 0; i < bodies; ++i) s.q[i] = 0.3 * std::sin(0.7 * i);
    Workspace w(mechanism);
    const VectorXd effort = VectorXd::Constant(bodies, 0.1);
    const VectorXd a = forward_dynamics(mechanism, s, effort, w);
    EXPECT_TRUE(a.allFinite());
    // The efforts of these accelerations are large differences of larger numbers in a long chain.
    EXPECT_LT((inverse_dynamics(mechanism, s, a, w) - effort).cwiseAbs().maxCoeff(),
              1e-12 * bodies * bodies);
    forward[size] = time_per_body(bodies, [&] { forward_dynamics(mechanism, s, effort, w); });
    inverse[size] = time_per_body(bodies, [&] { inverse_dynamics(mechanism, s, a, w); });
  }
  printf("    ns per body, 100 and 10,000 bodies: forward %.1f %.1f, inverse %.1f %.1f\n",
         forward[0], forward[1], inverse[0], inverse[1]);
  // Linear, not quadratic; the exact ratio depends on the caches and on who else is busy.
  EXPECT_LT(forward[1], 10.0 * forward[0]);
  EXPECT_LT(inverse[1], 10.0 * inverse[0]);
}

INSTANTIATE_TEST_SUITE_P(Bodies, Large, ::testing::Values(false, true),
                         [](const auto& p) { return p.param ? "Star" : "Chain"; });

}  // namespace
}  // namespace catena::test
