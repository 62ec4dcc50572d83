// SPDX-License-Identifier: BSD-3-Clause
// No call of this room allocates once its workspace exists.
#include <memory>

#include "catena/base/testing/allocation_counter.h"
#include "catena/dynamics/testing/batch_test_support.h"
#include "catena/dynamics/testing/closed_cases.h"

#ifdef CATENA_COUNTS_ALLOCATIONS
namespace catena::test {
namespace {

TEST(Allocations, AreCounted) {
  std::unique_ptr<int> block;
  EXPECT_EQ(allocations_of([&] { block = std::make_unique<int>(1); }), 1);
  VectorXd vector;
  EXPECT_EQ(allocations_of([&] { vector = VectorXd::Zero(50); }), 1);
}

TEST(Allocations, NoneOnceTheWorkspaceExists) {
  Random random(41);
  for (int i = 0; i < 12; ++i) {
    TreeSettings settings;
    settings.bodies = 4 + 8 * i;
    settings.free_base = i % 2 == 0;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 3 == 1) add_drives(random, builder, i % 2 == 0 ? Carrier::anywhere : Carrier::parent);
    if (i % 3 != 0) add_passive_elements(random, builder);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 3);
    const HybridInput hybrid = random_hybrid(random, c);
    Workspace w(mechanism);
    HybridResult result;
    // What is sized on first use: the matrix and the caller's result.
    mass_matrix(mechanism, c.state.q, w);
    hybrid_dynamics(mechanism, c.state, hybrid, w, result, c.external);

    SCOPED_TRACE(std::to_string(settings.bodies) + " bodies, " +
                 std::to_string(mechanism.freedoms()) +
                 " freedoms, remote drives: " + std::to_string(w.remote_drives().size()));
    EXPECT_EQ(
        allocations_of([&] { forward_dynamics(mechanism, c.state, c.effort, w, c.external); }), 0);
    EXPECT_EQ(allocations_of([&] {
                forward_dynamics(mechanism, c.state, c.effort, w, c.external, Route::dense);
              }),
              0);
    EXPECT_EQ(allocations_of(
                  [&] { inverse_dynamics(mechanism, c.state, c.acceleration, w, c.external); }),
              0);
    EXPECT_EQ(allocations_of([&] { bias_effort(mechanism, c.state, w, c.external); }), 0);
    EXPECT_EQ(allocations_of([&] { mass_matrix(mechanism, c.state.q, w); }), 0);
    EXPECT_EQ(
        allocations_of([&] { hybrid_dynamics(mechanism, c.state, hybrid, w, result, c.external); }),
        0);
  }
}

TEST(Allocations, NoneByMultipliersAfterTheFirstCall) {
  for (const Mechanism& m : {four_bar(), four_bar(HingeType::spherical, true), two_four_bars().m}) {
    const State s = m.name() == "two_four_bars" ? two_four_bars().s : four_bar_state(m, 0.7, 1.5);
    const VectorXd effort = VectorXd::Ones(m.freedoms());
    Workspace w(m);
    forward_dynamics(m, s, effort, w, {}, Route::multipliers);
    EXPECT_EQ(allocations_of([&] { forward_dynamics(m, s, effort, w, {}, Route::multipliers); }), 0)
        << m.name();
  }
}

// One thread: the task scheduler of several has memory of its own.
TEST(Allocations, NoneInBatchesOfTheSameSize) {
  Random random(42);
  for (int i = 0; i < 6; ++i) {
    TreeSettings settings;
    settings.bodies = 4 + 4 * i;
    settings.free_base = i % 2 == 0;
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 3 == 1) add_drives(random, builder, Carrier::parent);
    if (i % 3 != 0) add_passive_elements(random, builder);
    const Mechanism m = builder.finish();
    if (!Workspace(m).remote_drives().empty()) continue;  // such states go one at a time
    const Batch b = random_batch(random, m, 19, 2);
    const BatchWrenches external = b.external();
    const BatchHybridInput hybrid = b.hybrid();
    BatchWorkspace w(m, {.threads = 1});
    BatchFound f;
    compute(m, b, w, f);
    EXPECT_EQ(allocations_of([&] {
                batch_forward_dynamics(m, b.q, b.v, b.effort, w, f.forward, &external);
                batch_inverse_dynamics(m, b.q, b.v, b.acceleration, w, f.inverse, &external);
                batch_hybrid_dynamics(m, b.q, b.v, hybrid, w, f.hybrid_acceleration,
                                      f.hybrid_effort, &external);
                batch_mass_matrix(m, b.q, w, f.mass);
                batch_mass_matrix(m, b.q, w, f.triangles);
                batch_kinematics(m, b.q, b.v, w, f.poses, f.twists);
                batch_kinematics(m, b.q, b.v, w, f.kinematics);
              }),
              0);
  }
}

}  // namespace
}  // namespace catena::test
#endif
