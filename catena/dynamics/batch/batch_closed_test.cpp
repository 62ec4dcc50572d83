// SPDX-License-Identifier: BSD-3-Clause
// Batches of closed mechanisms: one chart for all lanes, against the call for one state with that
// chart, against the published numbers of one, and what becomes of states it does not serve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/testing/batch_test_support.h"
#include "catena/dynamics/testing/closed_cases.h"

namespace catena::test {
namespace {

using testing::HasSubstr;

// The four-bar of the reference solutions for [Jain 2009], driver at angles all around.
Batch four_bar_batch(Random& random, const Mechanism& m, int states) {
  Batch b = random_batch(random, m, states, 2);
  for (int i = 0; i < states; ++i) {
    const State s = four_bar_state(m, 1.0 + 0.1 * i, 2.0 - 0.3 * i);
    b.q.row(i) = s.q.transpose();
    b.v.row(i) = s.v.transpose();
  }
  b.driven.assign(to_size(m.freedoms()), 0);
  return b;
}

TEST(BatchLoops, FourBarLikeOneStateAndAsPrinted) {
  Random random(81);
  const Mechanism m = four_bar(HingeType::revolute, true);  // a link hangs on the coupler
  for (const int pinned : {0, 1, 2}) {
    BatchWorkspace w(m, {.threads = 1});
    Batch b = four_bar_batch(random, m, 2 * w.lanes() + 1);
    std::vector<std::uint8_t> independent(to_size(m.freedoms()), 0);
    independent[index(pinned)] = 1;
    w.set_chart(choose_chart(m, b.q.row(0).transpose(), {.pinned = independent}), true);
    for (const bool driven : {false, true}) {
      b.driven = independent;
      if (!driven) b.driven[index(pinned)] = 0;
      BatchFound f;
      compute(m, b, w, f);
      EXPECT_EQ(w.failures(), 0);
      Workspace one(m);
      one.set_chart(w.chart(), true);
      // A chart loses digits where it is nearly singular; the driver's is good all around.
      for (Eigen::Index i = 0; i < b.states(); ++i)
        expect_like_one_state(m, b, f, i, one, pinned == 0 ? kLikeOneState : 1e-10);
    }
  }
  const Mechanism plain_bar = four_bar();
  BatchWorkspace w(plain_bar, {.threads = 1});
  const State s = four_bar_state(plain_bar, 1.0, 2.0);
  RowMatrix effort(1, 3), a(1, 3);
  effort << 3.0, 0.0, 0.0;
  batch_forward_dynamics(plain_bar, s.q.transpose(), s.v.transpose(), effort, w, a);
  expect_near(a.row(0).transpose(), {-6.1870216231659, 6.3721298185805, -2.9850732313188}, 1e-11);
}

TEST(BatchLoops, TwoFourBarsInSpace) {
  Random random(82);
  const TwoFourBars two = two_four_bars();
  BatchWorkspace w(two.m, {.threads = 2});
  Batch b = random_batch(random, two.m, 7, 3);
  for (int i = 0; i < 7; ++i) {
    State guess = two.s;
    guess.q[two.m.velocity_index("0")] += 0.1 * i;
    guess.q[two.m.velocity_index("4")] -= 0.05 * i;
    guess.v *= 1.0 + 0.2 * i;
    b.q.row(i) = guess.q.transpose();
    b.v.row(i) = guess.v.transpose();
  }
  b.driven.assign(10, 0);
  b.driven[index(two.m.velocity_index("0"))] = 1;
  BatchFound f;
  compute(two.m, b, w, f);
  EXPECT_EQ(w.failures(), 0);
  Workspace one(two.m);
  one.set_chart(w.chart(), true);
  for (Eigen::Index i = 0; i < b.states(); ++i) expect_like_one_state(two.m, b, f, i, one);
}

// Gears, and a coupling by the user's function, which is called for each lane.
TEST(BatchLoops, Couplings) {
  MechanismBuilder builder("coupled");
  builder.add_body("base", body(2.0, {0.1, 0.0, 0.0}, {0.1, 0.2, 0.3}));
  builder.add_body("a", body(1.0, {0.2, 0.0, 0.0}, {0.02, 0.03, 0.04}));
  builder.add_body("b", body(0.5, {0.0, 0.1, 0.0}, {0.01, 0.02, 0.01}));
  builder.add_hinge("turn", kWorld, "base", {.axes = {{0, 1, 0}}});
  builder.add_hinge("a", "base", "a", {.frame_on_parent = catena::shift(0.3, 0, 0)});
  builder.add_hinge("b", "base", "b", {.frame_on_parent = catena::shift(-0.3, 0, 0)});
  Coupling coupling;
  coupling.name = "cam";
  coupling.terms = {{.hinge = "a"}, {.hinge = "b"}};
  // b = a² / 2: value, gradient, hessian.
  coupling.function = [](std::span<const double> x, double& value, std::span<double> gradient,
                         std::span<double> hessian) {
    gradient[0] = -x[0];
    gradient[1] = 1.0;
    hessian[0] = -1.0;
    hessian[1] = hessian[2] = hessian[3] = 0.0;
    value = x[1] - 0.5 * x[0] * x[0];
  };
  builder.add_coupling(coupling);
  const Mechanism m = builder.finish();
  Random random(83);
  BatchWorkspace w(m, {.threads = 1});
  Batch b = random_batch(random, m, 2 * w.lanes() - 1, 1);
  const int ia = m.velocity_index("a"), ib = m.velocity_index("b");
  for (Eigen::Index i = 0; i < b.states(); ++i) {
    b.q(i, ib) = 0.5 * b.q(i, ia) * b.q(i, ia);
    b.v(i, ib) = b.q(i, ia) * b.v(i, ia);
  }
  std::vector<std::uint8_t> independent(3, 0);
  independent[index(ia)] = 1;
  w.set_chart(choose_chart(m, b.q.row(0).transpose(), {.pinned = independent}), true);
  b.driven.assign(3, 0);
  BatchFound f;
  compute(m, b, w, f);
  EXPECT_EQ(w.failures(), 0) << w.message(0);
  Workspace one(m);
  one.set_chart(w.chart(), true);
  for (Eigen::Index i = 0; i < b.states(); ++i) expect_like_one_state(m, b, f, i, one);
}

TEST(BatchLoops, VelocitiesThatViolateAGearAreRefused) {
  MechanismBuilder builder("geared");
  builder.add_body("arm", body(1.0, {0.1, 0, 0}, {0.01, 0.02, 0.02}));
  builder.add_body("motor", body(0.2, {}, {1e-4, 1e-4, 1e-4}));
  builder.add_hinge("arm", kWorld, "arm", {});
  builder.add_hinge("motor", kWorld, "motor", {.frame_on_parent = catena::shift(0.2, 0, 0)});
  builder.add_coupling({.name = "gear", .terms = {{"motor", 0, 1.0}, {"arm", 0, -80.0}}});
  const Mechanism m = builder.finish();
  Random random(85);
  BatchWorkspace w(m, {.threads = 1});
  Batch b = random_batch(random, m, 2 * w.lanes() - 1, 0);
  const int arm = m.velocity_index("arm"), motor = m.velocity_index("motor");
  b.q.col(motor) = 80.0 * b.q.col(arm);
  b.v.col(motor) = 80.0 * b.v.col(arm);
  b.v(1, motor) += 0.5;
  RowMatrix a(b.states(), 2);
  batch_forward_dynamics(m, b.q, b.v, b.effort, w, a);
  EXPECT_EQ(w.failures(), 1);
  EXPECT_EQ(w.reports()[1].status, BatchStatus::not_closed);
  EXPECT_THAT(w.message(1), HasSubstr("velocities"));
}

TEST(BatchLoops, OpenStatesAndSingularCharts) {
  Random random(84);
  const Mechanism m = four_bar();
  BatchWorkspace w(m, {.threads = 1});
  const Batch good = four_bar_batch(random, m, 3 * w.lanes());
  RowMatrix expected(good.states(), 3), a(good.states(), 3);
  w.set_chart(choose_chart(m, good.q.row(0).transpose(), {.pinned = {1, 0, 0}}), true);
  batch_forward_dynamics(m, good.q, good.v, good.effort, w, expected);
  ASSERT_EQ(w.failures(), 0);
  Batch b = good;
  b.q(0, 0) += 0.01;
  b.v(3, 1) += 0.01;
  batch_forward_dynamics(m, b.q, b.v, b.effort, w, a);
  EXPECT_EQ(w.failures(), 2);
  EXPECT_EQ(w.reports()[0].status, BatchStatus::not_closed);
  EXPECT_THAT(w.message(0), HasSubstr("position is not closed"));
  EXPECT_EQ(w.reports()[3].status, BatchStatus::not_closed);
  EXPECT_THAT(w.message(3), HasSubstr("velocities"));
  for (Eigen::Index i = 0; i < b.states(); ++i) {
    if (i != 0 && i != 3) {
      EXPECT_TRUE(same_bits(RowMatrix(a.row(i)), RowMatrix(expected.row(i)))) << i;
    }
  }
  // Without a closed state there is nothing to choose a chart at; that is no reason to throw.
  BatchWorkspace fresh(m, {.threads = 1});
  b.q.col(0).array() += 0.01;
  LaneArray triangles;
  batch_mass_matrix(m, b.q, fresh, triangles);
  EXPECT_EQ(fresh.failures(), b.states());
  EXPECT_TRUE(std::isnan(triangles(1, 0)));
  batch_forward_dynamics(m, b.q, b.v, b.effort, fresh, a);
  EXPECT_EQ(fresh.failures(), b.states());
  EXPECT_TRUE(a.array().isNaN().all());
  // A parallelogram stretched out: its coupler's freedom determines nothing there.
  MechanismBuilder builder("parallelogram");
  builder.add_body("left", rod(1.0, 1.0)).add_body("coupler", rod(1.0, 2.0));
  builder.add_body("right", rod(1.0, 1.0));
  builder.add_hinge("A", kWorld, "left", {});
  builder.add_hinge("B", "left", "coupler", {.frame_on_parent = catena::shift(1, 0, 0)});
  builder.add_hinge("D", kWorld, "right", {.frame_on_parent = catena::shift(2, 0, 0)});
  builder.add_hinge("C", "coupler", "right",
                    {.frame_on_parent = catena::shift(2, 0, 0),
                     .frame_on_child = catena::shift(1, 0, 0),
                     .cut = Cut::always});
  const Mechanism p = builder.finish();
  RowMatrix q(2, 3), v = RowMatrix::Zero(2, 3), found(2, 3);
  q << 1.0, -1.0, 1.0, 0.0, 0.0, 0.0;
  BatchWorkspace pw(p, {.threads = 1});
  batch_forward_dynamics(p, q, v, v, pw, found);
  EXPECT_EQ(pw.reports()[0].status, BatchStatus::ok);
  EXPECT_EQ(pw.reports()[1].status, BatchStatus::singular_chart) << pw.message(1);
  EXPECT_THAT(pw.message(1), HasSubstr("set_chart()"));
}

}  // namespace
}  // namespace catena::test
