// SPDX-License-Identifier: BSD-3-Clause
// Gibbs' function: its minimum is the motion, and the numbers of the chain A.
#include "catena/dynamics/operators/gibbs.h"

#include "catena/dynamics/testing/operator_test_support.h"

namespace catena::test {
namespace {

TEST(Gibbs, NumbersOfTheMixedChain) {
  const SpecCase c = spec_case_a();
  Workspace w(c.mechanism);
  const VectorXd a = forward_dynamics(c.mechanism, c.state, c.effort, w, c.external);
  const GibbsFunction g = gibbs_function(c.mechanism, c.state, c.effort, a, w, c.external);
  EXPECT_NEAR(g.reduced, -1206.96765433331, 1e-9);
  EXPECT_NEAR(g.components, -1186.6983909092, 1e-9);
  EXPECT_NEAR(g.particles, -1270.68389914606, 1e-9);
  const VectorXd bias = bias_effort(c.mechanism, c.state, c.external);
  EXPECT_NEAR(g.reduced, -0.5 * (c.effort - bias).dot(a), 1e-9);

  std::vector<double> text;
  text.reserve(17);
  for (int k = 0; k < 17; ++k) text.push_back((k % 2 == 0 ? 1.0 : -1.0) * 0.01 * (k + 1));
  const VectorXd other = a + chain_order(text);
  const GibbsFunction h = gibbs_function(c.mechanism, c.state, c.effort, other, c.external);
  EXPECT_NEAR(h.reduced - g.reduced, 0.191492257950996, 1e-10);
  EXPECT_NEAR(h.components - g.components, 0.191492257950996, 1e-10);
  EXPECT_NEAR(h.particles - g.particles, 0.191492257950996, 1e-10);
  const VectorXd zero = VectorXd::Zero(17);
  EXPECT_EQ(gibbs_function(c.mechanism, c.state, c.effort, zero, c.external).reduced, 0.0);
}

TEST(Gibbs, ForwardDynamicsMinimizesIt) {
  Random random(41);
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE(i);
    TreeSettings settings;
    settings.bodies = 1 + i / 2;
    settings.free_base = i % 2 == 0;
    const bool rotors = i % 3 == 0;
    settings.reversed = !rotors;
    MechanismBuilder builder = random_tree(random, settings);
    if (rotors) add_rotors(random, builder);
    SpringDamper spring;
    spring.name = "spring";
    spring.body_a = body_name(0);
    spring.body_b = kWorld;
    spring.point_b = {1.0, 2.0, 3.0};
    spring.stiffness = 4.0;
    spring.damping = 0.5;
    builder.add_spring(spring);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 3);
    Workspace w(m);
    const VectorXd a = forward_dynamics(m, c.state, c.effort, w, c.external);
    const VectorXd delta = random_values(random, m.freedoms());
    const double expected = 0.5 * delta.dot(mass_matrix(m, c.state.q) * delta);
    const GibbsFunction low = gibbs_function(m, c.state, c.effort, a, w, c.external);
    const GibbsFunction high = gibbs_function(m, c.state, c.effort, a + delta, w, c.external);
    const double tolerance =
        1e-12 * (std::abs(low.reduced) + std::abs(low.particles) + std::abs(low.components)) + 1e-9;
    EXPECT_NEAR(high.reduced - low.reduced, expected, tolerance);
    EXPECT_NEAR(high.components - low.components, expected, tolerance);
    EXPECT_NEAR(high.particles - low.particles, expected, tolerance);
  }
}

}  // namespace
}  // namespace catena::test
