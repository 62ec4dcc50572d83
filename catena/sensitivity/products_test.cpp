// SPDX-License-Identifier: BSD-3-Clause
// Products with derivatives against the matrices, on trees and loops, and their cost on long
// chains.
#include "catena/sensitivity/products.h"

#include <ctime>

#include "catena/dynamics/testing/random_loops.h"

namespace catena::test {
namespace {

void compare(const Mechanism& m, const State& state, const VectorXd& effort,
             const std::vector<ExternalWrench>& external, Random& random, Worst& worst) {
  SensitivityWorkspace w(m);
  const ForwardDerivatives f = forward_dynamics_derivatives(m, state, effort, w, external);
  const InverseDerivatives i = inverse_dynamics_derivatives(m, state, f.acceleration, w, external);
  DynamicsProducts products(m);
  products.workspace().dynamics().set_chart(w.dynamics().chart(), true);
  const int size = static_cast<int>(w.dynamics().independent().size());
  if (size == 0) return;
  const VectorXd dq = random_values(random, size), dv = random_values(random, size);
  const VectorXd tau = random_values(random, m.freedoms()), x = random_values(random, size);
  const auto take = [&](const VectorXd& found, const VectorXd& expected) {
    worst.take((found - expected).lpNorm<Eigen::Infinity>() /
               std::max(1.0, expected.lpNorm<Eigen::Infinity>()));
  };
  products.evaluate(state, effort, external);
  take(products.forward_product(dq, dv, tau), f.dq * dq + f.dv * dv + f.deffort * tau);
  const DynamicsGradient g = products.forward_adjoint(x);
  take(g.q, f.dq.transpose() * x);
  take(g.v, f.dv.transpose() * x);
  take(g.effort, f.deffort.transpose() * x);
  products.evaluate_inverse(state, f.acceleration, external);
  take(products.inverse_product(dq, dv, x), i.dq * dq + i.dv * dv + i.da * x);
  const DynamicsGradient h = products.inverse_adjoint(x);
  take(h.q, i.dq.transpose() * x);
  take(h.v, i.dv.transpose() * x);
  take(h.effort, i.da.transpose() * x);
}

// Two ways of summing the same numbers: rounding, times the conditioning of M.
constexpr double kProductTolerance = 1e-9;

TEST(Products, OfTreesAgreeWithTheMatrices) {
  Worst worst;
  Random random(41);
  for (int i = 0; i < 40; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 3;
    settings.free_base = i % 3 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 2 == 0) add_drives(random, builder, i % 4 == 0 ? Carrier::parent : Carrier::anywhere);
    if (i % 3 == 0) add_passive_elements(random, builder);
    const Mechanism m = builder.finish();
    const Case c = random_case(random, m, random.below(4));
    compare(m, c.state, c.effort, c.external, random, worst);
  }
  printf("    trees %.1e\n", worst.value);
  EXPECT_LT(worst.value, kProductTolerance);
}

TEST(Products, OfLoopsAgreeWithTheMatrices) {
  Worst worst;
  Random random(42);
  for (int i = 0; i < 40; ++i) {
    const Made made = make(random, 2 + i % 7, 1 + random.below(2), i % 3 == 0, i % 4 == 0);
    if (made.closed.loops().empty()) continue;
    const VectorXd v = consistent_velocity(made.closed, made.c.state.q, made.c.state.v);
    compare(made.closed, {made.c.state.q, v}, made.c.effort, made.c.external, random, worst);
  }
  printf("    loops %.1e\n", worst.value);
  EXPECT_LT(worst.value, 100.0 * kProductTolerance);  // also close to singular positions
}

Mechanism chain(int links) {
  Random random(3);
  MechanismBuilder b("chain");
  std::string parent = kWorld;
  for (int i = 0; i < links; ++i) {
    const std::string name = "b" + std::to_string(i);
    b.add_body(name, {.mass = 1.0,
                      .center_of_mass = {0.15, 0.02, 0.01},
                      .inertia = SymMat3d::diagonal(0.002, 0.009, 0.008)});
    b.add_hinge("h" + std::to_string(i), parent, name,
                {.axes = {i % 2 == 0 ? Vec3d::unit_z() : Vec3d::unit_y()},
                 .frame_on_parent = Transformd::from_translation({0.3, 0.0, 0.0})});
    parent = name;
  }
  return b.finish();
}

// O(N): a chain eight times as long costs eight times as much (64 times if it were O(N²)), and what
// the caches of the processor add.
TEST(Products, CostGrowsWithTheLength) {
  double seconds[2];
  const int lengths[2] = {2000, 16000};
  for (int i = 0; i < 2; ++i) {
    const Mechanism m = chain(lengths[i]);
    DynamicsProducts products(m);
    const State s{0.01 * random_vector(m.freedoms(), 1), 0.01 * random_vector(m.freedoms(), 2)};
    const VectorXd tau = random_vector(m.freedoms(), 3);
    products.evaluate(s, tau);
    double best = kInfinity;
    for (int k = 0; k < 5; ++k) {
      const std::clock_t before = std::clock();  // of the processor
      products.evaluate(s, tau);
      EXPECT_TRUE(products.forward_adjoint(tau).q.allFinite());
      best = std::min(best, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
    }
    seconds[i] = best;
  }
  EXPECT_LT(seconds[1], 32.0 * seconds[0]);
}

}  // namespace
}  // namespace catena::test
