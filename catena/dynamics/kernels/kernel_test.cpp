// SPDX-License-Identifier: BSD-3-Clause
// The kernels of every instruction set do the same, and do it the same way every time.
#include <algorithm>
#include <cstring>

#include "catena/base/cpu.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

// Everything one kernel table finds for a case.
struct Found {
  VectorXd forward, hybrid_acceleration, hybrid_effort, inverse;
  MatrixXd mass, inverse_mass, solved;
};

Found run(const KernelTable& kernels, const Mechanism& mechanism, const Case& c,
          const HybridInput& hybrid) {
  Workspace w(mechanism);
  w.prepare_rows();
  const Eigen::Index n = mechanism.freedoms();
  Found found{VectorXd(n),    VectorXd(n),          VectorXd(n),         VectorXd(n),
              MatrixXd(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(n, 9)};
  PreparedInput in = prepare(mechanism, c.state, &c.effort, c.external, w);
  Scratch<double> scratch = w.scratch();
  EXPECT_TRUE(kernels.forward(w.model(), in, &scratch, found.forward.data()).done());
  if (w.model().composite.stride > 0) {
    kernels.inverse_mass_matrix(w.model(), &scratch, found.inverse_mass.data());
    const MatrixXd right = c.effort * VectorXd::LinSpaced(9, -1.0, 3.0).transpose();
    kernels.solve(w.model(), &scratch, {right.data(), n, 9}, -2.0, {found.solved.data(), n});
    EXPECT_LT(error(VectorXd(found.solved.reshaped()),
                    VectorXd((-2.0 * (found.inverse_mass * right)).reshaped())),
              1e-9);
  }
  in.acceleration = c.acceleration.data();
  kernels.inverse(w.model(), in, &scratch, found.inverse.data());
  kernels.mass_matrix(w.model(), in, &scratch, found.mass.data());
  in.driven = hybrid.motion_driven.data();
  EXPECT_TRUE(kernels
                  .hybrid(w.model(), in, &scratch, found.hybrid_acceleration.data(),
                          found.hybrid_effort.data())
                  .done());
  return found;
}

// Calls `check` for mixed trees, for long chains and for stars, some with rotors.
template <class Check>
void for_some_trees(Check check) {
  Random random(21);
  for (int i = 0; i < 40; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i;
    settings.free_base = i % 2 == 1;
    settings.chain_share = i % 3 == 0 ? 1.0 : random.number(0.0, 1.0);
    settings.limb_after_limb = i % 3 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 4 == 0) add_drives(random, builder, Carrier::parent);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 3);
    check(mechanism, c, random_hybrid(random, c));
  }
}

#if defined(__x86_64__)
TEST(Kernels, PortableAndAvx2Agree) {
  const CpuReport cpu = cpu_report();
  if (std::find(cpu.available.begin(), cpu.available.end(), "avx2") == cpu.available.end())
    GTEST_SKIP() << "this processor has no AVX2";
  const KernelTable portable = portable_kernels(), avx2 = avx2_kernels();
  EXPECT_STRNE(portable.isa, avx2.isa);
  for_some_trees([&](const Mechanism& mechanism, const Case& c, const HybridInput& hybrid) {
    const Found a = run(portable, mechanism, c, hybrid), b = run(avx2, mechanism, c, hybrid);
    EXPECT_LT(error(a.forward, b.forward), 1e-12);
    EXPECT_LT(error(a.inverse, b.inverse), 1e-13);
    EXPECT_LT(error(a.hybrid_acceleration, b.hybrid_acceleration), 1e-12);
    EXPECT_LT(error(a.hybrid_effort, b.hybrid_effort), 1e-12);
    EXPECT_LT(error(VectorXd(a.mass.reshaped()), VectorXd(b.mass.reshaped())), 1e-13);
    EXPECT_LT(error(VectorXd(a.inverse_mass.reshaped()), VectorXd(b.inverse_mass.reshaped())),
              1e-12);
    EXPECT_LT(error(VectorXd(a.solved.reshaped()), VectorXd(b.solved.reshaped())), 1e-12);
  });
}
#endif

bool same_bits(const MatrixXd& a, const MatrixXd& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
}

// Also after the workspace has served another state: nothing is left over in it.
TEST(Kernels, TheSameBitsEveryTime) {
  for_some_trees([&](const Mechanism& mechanism, const Case& c, const HybridInput& hybrid) {
    Workspace fresh(mechanism), used(mechanism);
    Random random(22);
    const Case other = random_case(random, mechanism, 2);
    const HybridInput other_hybrid = random_hybrid(random, other);
    HybridResult a, b;
    hybrid_dynamics(mechanism, other.state, other_hybrid, used, b, other.external);
    inverse_dynamics(mechanism, other.state, other.acceleration, used, other.external);
    forward_dynamics(mechanism, other.state, other.effort, used, other.external, Route::dense);
    hybrid_dynamics(mechanism, c.state, hybrid, fresh, a, c.external);
    hybrid_dynamics(mechanism, c.state, hybrid, used, b, c.external);
    EXPECT_TRUE(same_bits(a.acceleration, b.acceleration) && same_bits(a.effort, b.effort));
    EXPECT_TRUE(same_bits(forward_dynamics(mechanism, c.state, c.effort, fresh, c.external),
                          forward_dynamics(mechanism, c.state, c.effort, used, c.external)));
    EXPECT_TRUE(same_bits(inverse_dynamics(mechanism, c.state, c.acceleration, fresh, c.external),
                          inverse_dynamics(mechanism, c.state, c.acceleration, used, c.external)));
    EXPECT_TRUE(same_bits(mass_matrix(mechanism, c.state.q, fresh),
                          mass_matrix(mechanism, c.state.q, used)));
    if (!fresh.remote_drives().empty()) return;
    MatrixXd inverse, again;
    articulate(mechanism, other.state.q, used);
    inverse_mass_matrix(used, again);
    articulate(mechanism, c.state.q, used);
    inverse_mass_matrix(used, again);
    articulate(mechanism, c.state.q, fresh);
    inverse_mass_matrix(fresh, inverse);
    EXPECT_TRUE(same_bits(inverse, again));
    EXPECT_TRUE(same_bits(mass_matrix(mechanism, c.state.q, fresh),
                          mass_matrix(mechanism, c.state.q, used)));
  });
}

// A result of the workspace may be the input of the next call on it.
TEST(Kernels, ResultsMayBeFedBack) {
  Random random(23);
  for (int i = 0; i < 6; ++i) {
    TreeSettings settings;
    settings.bodies = 8;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 2 == 1) add_drives(random, builder);
    if (i > 3) add_passive_elements(random, builder);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 2);
    for (const Route route : {Route::automatic, Route::dense}) {
      Workspace w(mechanism);
      const VectorXd& effort = inverse_dynamics(mechanism, c.state, c.acceleration, w, c.external);
      EXPECT_LT(
          error(forward_dynamics(mechanism, c.state, effort, w, c.external, route), c.acceleration),
          1e-10);
      EXPECT_LT(error(inverse_dynamics(mechanism, c.state, w.acceleration, w, c.external),
                      inverse_dynamics(mechanism, c.state, c.acceleration, c.external)),
                1e-10);
    }
  }
}

}  // namespace
}  // namespace catena::test
