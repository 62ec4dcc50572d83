// SPDX-License-Identifier: BSD-3-Clause
// Forward dynamics handed over as a problem of optimal control gives the same motion:
// accelerations, interbody forces, articulated inertias and Gibbs' function.
#include "catena/dynamics/operators/chain_as_lq.h"

#include "catena/base/index.h"
#include "catena/dynamics/operators/gibbs.h"
#include "catena/dynamics/testing/operator_test_support.h"
#include "catena/spatial/eigen.h"

namespace catena::test {
namespace {

VectorXd stacked(const std::vector<VectorXd>& parts, const Mechanism& m) {
  VectorXd all(m.freedoms());
  for (std::size_t n = 0; n < parts.size(); ++n)
    all.segment(m.nodes()[n].v_index, parts[n].size()) = parts[n];
  return all;
}

void expect_same_motion(const Mechanism& m, const State& s, const VectorXd& effort,
                        std::span<const ExternalWrench> external, double tolerance) {
  const LqSolution lq = solve_lq(chain_as_lq(m, s, effort, external));
  Workspace w(m);
  const VectorXd a = forward_dynamics(m, s, effort, w, external);
  EXPECT_LT(error(stacked(lq.u, m), a), tolerance);
  for (int n = 0; n < static_cast<int>(m.nodes().size()); ++n) {
    const MatrixXd& p = lq.policy.value[index(n + 1)];
    EXPECT_LT(distance(p, to_eigen(w.node(n).articulated)), tolerance);
  }
  const GibbsFunction g = gibbs_function(m, s, effort, a, external);
  EXPECT_NEAR(lq.cost, g.reduced, tolerance * (1.0 + std::abs(g.reduced)));
  // The interbody forces, from inverse dynamics at the accelerations found.
  inverse_dynamics(m, s, a, w, external);
  for (int n = 0; n < static_cast<int>(m.nodes().size()); ++n) {
    const VectorXd force = to_eigen(w.node(n).force);
    EXPECT_LT((lq.costate[index(n + 1)] - force).norm(), tolerance * (1.0 + force.norm()));
  }
}

TEST(ChainAsLq, NumbersOfTheMixedChain) {
  const SpecCase c = spec_case_a();
  const LqSolution lq = solve_lq(chain_as_lq(c.mechanism, c.state, c.effort, c.external));
  EXPECT_NEAR(lq.cost, -1206.96765433331, 1e-9);
  const double terms[] = {1940.861344576, 66.61078388756, 127.3677503195, 0.002585243875,
                          80.34593475209, 164.8502436835, 33.89666620436};
  ASSERT_EQ(lq.u.size(), std::size(terms));
  for (std::size_t n = 0; n < std::size(terms); ++n)
    EXPECT_NEAR(lq.policy.innovation[n].dot(lq.policy.feedforward[n]), terms[n], 1e-8) << n;
  expect_same_motion(c.mechanism, c.state, c.effort, c.external, 1e-11);
}

TEST(ChainAsLq, RandomChains) {
  Random random(43);
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE(i);
    TreeSettings settings;
    settings.bodies = 1 + i / 2;
    settings.free_base = i % 2 == 0;
    settings.chain_share = 1.0;
    settings.welds = false;
    const bool rotors = i % 3 == 0;
    settings.reversed = !rotors;
    MechanismBuilder builder = random_tree(random, settings);
    if (rotors) add_rotors(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, 3);
    expect_same_motion(m, c.state, c.effort, c.external, 1e-9);
  }
}

TEST(ChainAsLq, ATreeIsRefused) {
  const SpecCase c = spec_case_t();
  EXPECT_THROW(chain_as_lq(c.mechanism, c.state, VectorXd::Zero(c.mechanism.freedoms())), Error);
}

}  // namespace
}  // namespace catena::test
