// SPDX-License-Identifier: BSD-3-Clause
// Batches against the call for one state (which random_tree_test.cpp holds against the reference),
// and against the dense reference itself; every size of batch, any number of threads, bad states.
#include "catena/dynamics/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/testing/batch_test_support.h"

namespace catena::test {
namespace {

using testing::HasSubstr;

// Trees with every hinge, some with rotors, springs, damping, friction.
Mechanism some_tree(Random& random, int i, Carrier carrier = Carrier::parent) {
  TreeSettings settings;
  settings.bodies = 2 + 2 * i;
  settings.free_base = i % 2 == 1;
  settings.chain_share = i % 3 == 0 ? 1.0 : random.number(0.0, 1.0);
  MechanismBuilder builder = random_tree(random, settings);
  if (i % 4 == 1 || carrier == Carrier::anywhere) add_drives(random, builder, carrier);
  if (i % 3 == 1) add_passive_elements(random, builder);
  return builder.finish();
}

TEST(Batch, LikeOneStateOnEveryHinge) {
  Random random(71);
  for (int i = 0; i < 14; ++i) {
    SCOPED_TRACE("tree " + std::to_string(i));
    const Mechanism m = some_tree(random, i);
    BatchWorkspace w(m, {.threads = 1});
    const Batch b = random_batch(random, m, 2 * w.lanes() + 1, i % 4);
    BatchFound f;
    compute(m, b, w, f);
    EXPECT_EQ(w.failures(), 0);
    Workspace one(m);
    for (Eigen::Index k = 0; k < b.states(); ++k) expect_like_one_state(m, b, f, k, one);
  }
}

// The independent route: the dense equations of the reference in long double.
TEST(Batch, LikeTheDenseReference) {
  Random random(72);
  Worst forward, inverse, mass;
  for (int i = 0; i < 6; ++i) {
    const Mechanism m = some_tree(random, i);
    BatchWorkspace w(m, {.threads = 1});
    const Batch b = random_batch(random, m, 3, 2);
    BatchFound f;
    compute(m, b, w, f);
    const reference::Engine<Exact> engine(m);
    for (Eigen::Index k = 0; k < b.states(); ++k) {
      const State s = b.state(k);
      const auto q = plain<Exact>(s.q), v = plain<Exact>(s.v);
      const auto passive = reference::passive_effort(m, plain<double>(s.q), plain<double>(s.v));
      const auto effort_for = [&](const VectorXd& a) {
        auto x = engine.effort(q, v, plain<Exact>(a), b.external_of(k));
        for (std::size_t j = 0; j < x.size(); ++j) x[j] -= Exact(passive[j]);
        return x;
      };
      const VectorXd row = f.inverse.row(k).transpose();
      inverse.take(error(row, effort_for(b.acceleration.row(k).transpose())));
      auto rest = effort_for(VectorXd::Zero(m.freedoms()));
      for (std::size_t j = 0; j < rest.size(); ++j)
        rest[j] = Exact(b.effort(k, static_cast<Eigen::Index>(j))) - rest[j];
      const auto exact_mass = engine.mass_matrix(q);
      const VectorXd found = f.forward.row(k).transpose();
      forward.take(error(found, reference::solve(exact_mass, rest)));
      MatrixXd matrix(m.freedoms(), m.freedoms());
      for (Eigen::Index r = 0; r < matrix.rows(); ++r)
        for (Eigen::Index c = 0; c < matrix.cols(); ++c)
          matrix(r, c) = f.mass(k, triangle_index(r, c));
      mass.take(error(matrix, exact_mass));
    }
  }
  // As in random_tree_test.cpp: rounding times what the mass matrices' conditions leave.
  EXPECT_LT(forward.value, 1e-10);
  EXPECT_LT(inverse.value, 1e-12);
  EXPECT_LT(mass.value, 1e-12);
}

TEST(Batch, AnySizeAndAnyNumberOfThreadsGiveTheSameBits) {
  Random random(73);
  const Mechanism m = some_tree(random, 7);
  BatchWorkspace one_thread(m, {.threads = 1});
  const int lanes = one_thread.lanes();
  const Batch all = random_batch(random, m, 40 * lanes + 3, 2);
  BatchFound whole;
  compute(m, all, one_thread, whole);
  for (const int threads : {0, 2, 3}) {
    BatchWorkspace w(m, {.threads = threads});
    BatchFound f;
    compute(m, all, w, f);
    EXPECT_TRUE(same_bits(whole, f)) << threads << " threads";
  }
  for (int states = 0; states <= 2 * lanes + 1; ++states) {
    Batch part = all;
    for (RowMatrix* x : {&part.q, &part.v, &part.effort, &part.acceleration, &part.wrenches})
      *x = RowMatrix(x->topRows(states));
    BatchFound f;
    compute(m, part, one_thread, f);
    EXPECT_EQ(one_thread.failures(), 0);
    EXPECT_EQ(one_thread.reports().size(), to_size(states));
    EXPECT_TRUE(same_bits(RowMatrix(whole.forward.topRows(states)), f.forward)) << states;
    EXPECT_TRUE(same_bits(RowMatrix(whole.mass.topRows(states)), f.mass)) << states;
    EXPECT_TRUE(same_bits(RowMatrix(whole.poses.topRows(states)), f.poses)) << states;
  }
}

// The caller's memory, rows further apart than they are long, and results into a part of it.
TEST(Batch, ReadsAndWritesRowsWhereTheyLie) {
  Random random(74);
  const Mechanism m = some_tree(random, 4);
  BatchWorkspace w(m, {.threads = 1});
  const Batch b = random_batch(random, m, 9, 0);
  const Eigen::Index nq = m.coordinates(), n = m.freedoms();
  RowMatrix expected(9, n);
  batch_forward_dynamics(m, b.q, b.v, b.effort, w, expected);
  const Eigen::Index width = nq + 3 * n + 5;
  std::vector<double> memory(to_size(9 * width), -7.0);
  Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>> rows(memory.data(), 9, width,
                                                      Eigen::OuterStride<>(width));
  rows.leftCols(nq) = b.q;
  rows.middleCols(nq, n) = b.v;
  rows.middleCols(nq + n, n) = b.effort;
  batch_forward_dynamics(m, rows.leftCols(nq), rows.middleCols(nq, n), rows.middleCols(nq + n, n),
                         w, rows.middleCols(nq + 2 * n, n));
  EXPECT_TRUE(same_bits(RowMatrix(rows.middleCols(nq + 2 * n, n)), expected));
  EXPECT_TRUE((rows.rightCols(5).array() == -7.0).all());
}

// A bad state has a status, NaN in its row, and no influence on its neighbours.
TEST(Batch, BadStatesSayWhyAndDisturbNobody) {
  MechanismBuilder builder("bad");
  builder.add_body("ball", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.2, 0.3)});
  builder.add_body("gimballed", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.2, 0.3)});
  builder.add_hinge("ball", kWorld, "ball", {.type = HingeType::spherical});
  builder.add_hinge("gimbal", "ball", "gimballed", {.type = HingeType::gimbal});
  const Mechanism m = builder.finish();
  BatchWorkspace w(m, {.threads = 1});
  Random random(75);
  const Batch good = random_batch(random, m, 3 * w.lanes(), 0);
  BatchFound expected, found;
  compute(m, good, w, expected);
  ASSERT_EQ(w.failures(), 0);

  Batch b = good;
  const int gimbal = m.position_index("gimbal.2");
  b.q(0, gimbal) = std::numbers::pi / 2.0;  // the first and third axes are aligned
  b.q.row(1).head(4) *= 1.01;
  b.v(2, 1) = std::numeric_limits<double>::quiet_NaN();
  b.effort(5, 2) = std::numeric_limits<double>::infinity();
  RowMatrix a(b.states(), m.freedoms());
  batch_forward_dynamics(m, b.q, b.v, b.effort, w, a);
  EXPECT_EQ(w.failures(), 4);
  EXPECT_EQ(w.reports()[0].status, BatchStatus::singular_hinge);
  EXPECT_EQ(w.reports()[0].place, m.hinge_index("gimbal"));
  EXPECT_EQ(w.reports()[1].status, BatchStatus::bad_quaternion);
  EXPECT_EQ(w.reports()[2].status, BatchStatus::not_finite);
  EXPECT_EQ(w.reports()[5].status, BatchStatus::not_finite);
  EXPECT_THAT(w.message(0), HasSubstr("hinge 'gimbal'"));
  EXPECT_THAT(w.message(1), HasSubstr("hinge 'ball'"));
  EXPECT_THAT(w.message(2), HasSubstr("velocity of '" + m.velocity_names()[1] + "'"));
  EXPECT_THAT(w.message(5), HasSubstr("effort of '" + m.velocity_names()[2] + "'"));
  EXPECT_EQ(w.message(3), "");
  for (Eigen::Index i = 0; i < b.states(); ++i) {
    if (i == 0 || i == 1 || i == 2 || i == 5)
      EXPECT_TRUE(a.row(i).array().isNaN().all()) << i;
    else
      EXPECT_TRUE(same_bits(RowMatrix(a.row(i)), RowMatrix(expected.forward.row(i)))) << i;
  }
  // The same for results in lanes.
  batch_mass_matrix(m, b.q, w, found.triangles);
  EXPECT_EQ(w.failures(), 1);  // masses have no velocity, and no inverse
  EXPECT_EQ(w.reports()[1].status, BatchStatus::bad_quaternion);
  for (Eigen::Index k = 0; k < found.triangles.count(); ++k) {
    EXPECT_TRUE(std::isnan(found.triangles(1, k)));
    EXPECT_EQ(found.triangles(2, k), expected.mass(2, k));
    EXPECT_EQ(found.triangles(3, k), expected.mass(3, k));
  }
  // And the next batch is clean again.
  batch_forward_dynamics(m, good.q, good.v, good.effort, w, a);
  EXPECT_EQ(w.failures(), 0);
  EXPECT_TRUE(same_bits(a, expected.forward));
}

TEST(Batch, LargeNumbersAndUnreadEntries) {
  Random random(76);
  const Mechanism m = some_tree(random, 2);
  BatchWorkspace w(m, {.threads = 1});
  Batch b = random_batch(random, m, 5, 0);
  BatchFound f, g;
  compute(m, b, w, f);
  // What hybrid dynamics does not read may be anything.
  Batch unread = b;
  for (int i = 0; i < m.freedoms(); ++i)
    (b.driven[index(i)] != 0 ? unread.effort : unread.acceleration)
        .col(i)
        .setConstant(std::numeric_limits<double>::quiet_NaN());
  RowMatrix a(5, m.freedoms()), e(5, m.freedoms());
  batch_hybrid_dynamics(m, b.q, b.v, unread.hybrid(), w, a, e);
  EXPECT_EQ(w.failures(), 0);
  RowMatrix a2(5, m.freedoms()), e2(5, m.freedoms());
  batch_hybrid_dynamics(m, b.q, b.v, b.hybrid(), w, a2, e2);
  EXPECT_TRUE(same_bits(a, a2) && same_bits(e, e2));
  // A result that overflows is told, not returned.
  b.v.row(3).setConstant(1e200);
  batch_forward_dynamics(m, b.q, b.v, b.effort, w, a);
  EXPECT_EQ(w.reports()[3].status, BatchStatus::not_finite);
  EXPECT_THAT(w.message(3), HasSubstr("the result is not finite"));
}

TEST(Batch, SpringsWithoutDirection) {
  MechanismBuilder builder("springs");
  builder.add_body("slider", {.mass = 1.0});
  builder.add_hinge("slide", kWorld, "slider", {.type = HingeType::prismatic});
  SpringDamper spring;
  spring.name = "spring";
  spring.body_a = kWorld;
  spring.body_b = "slider";
  spring.stiffness = 10.0;
  spring.rest_length = 0.5;
  builder.add_spring(spring);
  const Mechanism m = builder.finish();
  BatchWorkspace w(m, {.threads = 1});
  RowMatrix q(3, 1), v = RowMatrix::Zero(3, 1), a(3, 1);
  q << 1.0, 0.0, -2.0;
  batch_forward_dynamics(m, q, v, v, w, a);
  EXPECT_EQ(w.reports()[1].status, BatchStatus::undefined_spring);
  EXPECT_NEAR(a(0, 0), -9.81 - 10.0 * 0.5, 1e-12);
  EXPECT_NEAR(a(2, 0), -9.81 + 10.0 * 1.5, 1e-12);
}

// Drives on distant carriers are outside the sweeps; the batch takes the route of one state.
TEST(Batch, DrivesOnDistantCarriers) {
  Random random(77);
  for (int i = 3; i < 6; ++i) {
    const Mechanism m = some_tree(random, i, Carrier::anywhere);
    BatchWorkspace w(m);
    const Batch b = random_batch(random, m, 6, 1);
    BatchFound f;
    compute(m, b, w, f);
    EXPECT_EQ(w.failures(), 0);
    Workspace one(m);
    for (Eigen::Index k = 0; k < b.states(); ++k) expect_like_one_state(m, b, f, k, one);
  }
}

// Angles beyond the range of the fast sine.
TEST(Batch, LargeAngles) {
  Random random(78);
  const Mechanism m = some_tree(random, 2);
  BatchWorkspace w(m, {.threads = 1});
  Batch b = random_batch(random, m, 6, 0);
  for (int i = 0; i < m.coordinates(); ++i)
    if (m.nodes()[0].coordinates == 1) b.q(1, 0) = 3e7;
  BatchFound f;
  compute(m, b, w, f);
  Workspace one(m);
  for (Eigen::Index k = 0; k < b.states(); ++k) expect_like_one_state(m, b, f, k, one);
}

// More numbers than are kept in the caches go another way: compared with those that do not.
TEST(Batch, ResultsLargerThanTheCaches) {
  Random random(79);
  TreeSettings settings;
  settings.bodies = 40;
  settings.free_base = true;
  settings.chain_share = 0.6;
  const Mechanism m = random_tree(random, settings).finish();
  BatchWorkspace w(m, {.threads = 1});
  const Batch few = random_batch(random, m, 37, 0);
  const Eigen::Index nodes = static_cast<Eigen::Index>(m.nodes().size());
  const Eigen::Index fewest = std::min(18 * nodes, triangle_size(m.freedoms()));
  const Eigen::Index states = (Eigen::Index{1} << 20) / fewest + 38;
  RowMatrix q(states, m.coordinates()), v(states, m.freedoms());
  for (Eigen::Index i = 0; i < states; ++i) {
    q.row(i) = few.q.row(i % 37);
    v.row(i) = few.v.row(i % 37);
  }
  LaneArray triangles, small_triangles;
  BatchKinematics places, small_places;
  batch_mass_matrix(m, q, w, triangles);
  batch_kinematics(m, q, v, w, places);
  // Memory that is new would have zeros anyhow.
  small_triangles.resize(37, triangles.count(), w.lanes());
  std::fill(small_triangles.data(), small_triangles.data() + 37 * triangles.count(), M_PI);
  batch_mass_matrix(m, few.q, w, small_triangles);
  batch_kinematics(m, few.q, few.v, w, small_places);
  int different = 0;
  for (Eigen::Index i = 0; i < states; ++i) {
    for (Eigen::Index k = 0; k < triangles.count(); ++k)
      different += triangles(i, k) != small_triangles(i % 37, k) ? 1 : 0;
    for (Eigen::Index k = 0; k < places.numbers().count(); ++k)
      different += places.numbers()(i, k) != small_places.numbers()(i % 37, k) ? 1 : 0;
  }
  EXPECT_EQ(different, 0);
  Workspace one(m);
  for (Eigen::Index i = 0; i < 37; ++i) {
    const MatrixXd& exact = mass_matrix(m, few.q.row(i).transpose(), one);
    double worst = 0.0;
    for (Eigen::Index r = 0; r < m.freedoms(); ++r)
      for (Eigen::Index c = 0; c <= r; ++c)
        worst = std::max(worst, std::abs(small_triangles(i, triangle_index(r, c)) - exact(r, c)));
    EXPECT_LT(worst, 1e-12 * exact.cwiseAbs().maxCoeff());
  }
}

// What is zero in every state is not written again where it stands already. It must come back
// after anything that may have changed it.
TEST(Batch, ZerosOfMassMatricesComeBack) {
  Random random(80);
  const auto branched = [&] {
    TreeSettings settings;
    settings.bodies = 12;
    settings.chain_share = 0.3;
    return random_tree(random, settings).finish();
  };
  const Mechanism m = branched(), other = branched();
  BatchWorkspace w(m, {.threads = 1}), of_other(other, {.threads = 1});
  const Batch b = random_batch(random, m, 3 * w.lanes() + 1, 0);
  LaneArray kept;
  const auto expect_right = [&](const char* after) {
    LaneArray fresh;
    batch_mass_matrix(m, b.q, w, kept);
    batch_mass_matrix(m, b.q, w, fresh);
    int different = 0;
    for (Eigen::Index i = 0; i < b.states(); ++i)
      for (Eigen::Index k = 0; k < fresh.count(); ++k)
        different += std::as_const(kept)(i, k) != std::as_const(fresh)(i, k) ? 1 : 0;
    EXPECT_EQ(different, 0) << after;
  };
  expect_right("the first call");
  expect_right("a call of the same kind");
  std::fill(kept.data(), kept.data() + b.states() * kept.count(), 3.0);
  expect_right("numbers of the caller");
  batch_mass_matrix(other, random_batch(random, other, 5 * w.lanes(), 0).q, of_other, kept);
  expect_right("another mechanism");
  RowMatrix bad = b.q;
  bad.row(2).setConstant(std::numeric_limits<double>::quiet_NaN());
  batch_mass_matrix(m, bad, w, kept);
  EXPECT_EQ(w.failures(), 1);
  expect_right("a bad state");
  batch_mass_matrix(m, b.q.topRows(2), w, kept);
  expect_right("fewer states");
}

// A lane with a large angle has it from the C library; its neighbours keep their bits.
TEST(Batch, LargeAnglesDisturbNobody) {
  Random random(81);
  const Mechanism m = some_tree(random, 6);
  BatchWorkspace w(m, {.threads = 1});
  Batch b = random_batch(random, m, w.lanes(), 0);
  BatchFound before, after;
  compute(m, b, w, before);
  int turns = -1;
  for (const Node& node : m.nodes())
    if (node.hinge == NodeHinge::revolute) turns = node.q_index;
  ASSERT_GE(turns, 0);
  b.q(0, turns) += 2e5 * M_PI;
  compute(m, b, w, after);
  for (Eigen::Index i = 1; i < b.states(); ++i)
    EXPECT_TRUE(same_bits(RowMatrix(before.forward.row(i)), RowMatrix(after.forward.row(i)))) << i;
  const double scale = before.forward.row(0).cwiseAbs().maxCoeff();
  // The angle itself is rounded to 1e-10.
  EXPECT_LT((before.forward.row(0) - after.forward.row(0)).cwiseAbs().maxCoeff(), 1e-7 * scale);
}

TEST(Batch, WrongCallsThrow) {
  Random random(79);
  const Mechanism m = some_tree(random, 2), other = some_tree(random, 3);
  BatchWorkspace w(m, {.threads = 1});
  const Batch b = random_batch(random, m, 3, 0);
  RowMatrix a(3, m.freedoms()), small(2, m.freedoms());
  const auto expect_error = [&](auto call, const char* words) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const NumericalError& e) {
      EXPECT_THAT(e.what(), HasSubstr(words));
    }
  };
  expect_error([&] { batch_forward_dynamics(m, b.q, b.v, small, w, a); }, "effort is 2 x");
  expect_error([&] { batch_forward_dynamics(m, b.v, b.v, b.effort, w, small); }, "must be 3 x");
  expect_error([&] { batch_forward_dynamics(other, b.q, b.v, b.effort, w, a); },
               "another mechanism");
  const std::vector<BatchWrenches::Place> places{{.body = 1000}};
  const BatchWrenches external{places, RowMatrix::Zero(3, 6)};
  expect_error([&] { batch_forward_dynamics(m, b.q, b.v, b.effort, w, a, &external); },
               "body 1000");
  expect_error([&] { w.message(3); }, "state 3 does not exist");
  expect_error([&] { BatchWorkspace(m, {.threads = -1}); }, "threads is -1");
  BatchKinematics k;
  expect_error([&] { k.body_pose(0, 0); }, "batch_kinematics first");
  batch_kinematics(m, b.q, w, k);
  expect_error([&] { k.body_twist(0, 0); }, "velocities have not been computed");
  expect_error([&] { k.body_pose(5, 0); }, "state 5");
}

}  // namespace
}  // namespace catena::test
