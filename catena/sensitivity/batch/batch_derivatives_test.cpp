// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of many states at once against those of one state (which tree_derivatives_test.cpp
// compares with the reference).
#include "catena/sensitivity/batch_derivatives.h"

#include "catena/dynamics/testing/closed_cases.h"
#include "catena/sensitivity/testing/test_support.h"

namespace catena::test {
namespace {

struct States {
  RowMatrix q, v, effort, acceleration;
};

States states_of(const Mechanism& m, Eigen::Index count) {
  States s{RowMatrix(count, m.coordinates()), RowMatrix(count, m.freedoms()),
           RowMatrix(count, m.freedoms()), RowMatrix(count, m.freedoms())};
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint64_t>(4 * i);
    s.q.row(i) = random_position(m, seed).transpose();
    s.v.row(i) = random_vector(m.freedoms(), seed + 1).transpose();
    s.effort.row(i) = random_vector(m.freedoms(), seed + 2).transpose();
    s.acceleration.row(i) = random_vector(m.freedoms(), seed + 3).transpose();
  }
  return s;
}

double off(const MatrixXd& found, const MatrixXd& expected) {
  const double d = (found - expected).cwiseAbs().maxCoeff();
  return std::isfinite(d) ? d / std::max(1.0, expected.cwiseAbs().maxCoeff()) : kInfinity;
}

void compare(const Mechanism& m, Worst& inverse, Worst& forward) {
  constexpr Eigen::Index kStates = 7;  // the last pack is not full
  const States s = states_of(m, kStates);
  BatchDerivatives batch(m, {.threads = 1});
  SensitivityWorkspace w(m);
  const auto state = [&](Eigen::Index i) {
    return State{s.q.row(i).transpose(), s.v.row(i).transpose()};
  };
  batch.inverse(s.q, s.v, s.acceleration);
  ASSERT_EQ(batch.workspace().failures(), 0) << batch.workspace().message(0);
  for (Eigen::Index i = 0; i < kStates; ++i) {
    const InverseDerivatives& d =
        inverse_dynamics_derivatives(m, state(i), s.acceleration.row(i).transpose(), w);
    inverse.take(off(batch.matrix(i, 0), d.dq));
    inverse.take(off(batch.matrix(i, 1), d.dv));
    inverse.take(off(batch.matrix(i, 2), d.da));
  }
  RowMatrix acceleration(kStates, m.freedoms());
  RowMatrix rows(kStates, 3 * m.freedoms() * m.freedoms());
  batch.forward(s.q, s.v, s.effort, acceleration);
  ASSERT_EQ(batch.workspace().failures(), 0) << batch.workspace().message(0);
  for (Eigen::Index i = 0; i < kStates; ++i) {
    const ForwardDerivatives& d =
        forward_dynamics_derivatives(m, state(i), s.effort.row(i).transpose(), w);
    forward.take(off(acceleration.row(i).transpose(), d.acceleration));
    forward.take(off(batch.matrix(i, 0), d.dq));
    forward.take(off(batch.matrix(i, 1), d.dv));
    forward.take(off(batch.matrix(i, 2), d.deffort));
  }
  const LaneArray& lanes = batch.numbers();
  std::vector<double> kept;
  for (Eigen::Index i = 0; i < kStates; ++i)
    for (Eigen::Index k = 0; k < rows.cols(); ++k) kept.push_back(lanes(i, k));
  batch.forward(s.q, s.v, s.effort, acceleration, rows);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < kStates; ++i)
    for (Eigen::Index k = 0; k < rows.cols(); ++k) ASSERT_EQ(rows(i, k), kept[at++]);
}

// Hinges of every type, drives, springs and friction; rounding only, times what M⁻¹ makes of it.
TEST(BatchDerivatives, OfRandomTrees) {
  Random random(71);
  Worst inverse, forward;
  for (int i = 0; i < 40; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 4;
    settings.free_base = i % 3 == 1;
    settings.chain_share = random.number(0.0, 1.0);
    MechanismBuilder builder = random_tree(random, settings);
    if (i % 4 == 1) add_drives(random, builder, i % 8 == 1 ? Carrier::parent : Carrier::anywhere);
    if (i % 4 == 2) add_passive_elements(random, builder);
    compare(builder.finish(), inverse, forward);
  }
  printf("    inverse %.1e, forward %.1e\n", inverse.value, forward.value);
  EXPECT_LT(inverse.value, 1e-12);
  EXPECT_LT(forward.value, 1e-10);
}

// What is zero in every state is not written again where the call before has left it: neither other
// matrices, nor bad states, nor a batch of another size may show through. Rows are always written
// as a whole.
TEST(BatchDerivatives, NothingIsLeftFromTheCallBefore) {
  Random random(79);
  TreeSettings settings;
  settings.bodies = 9;
  settings.free_base = true;
  const Mechanism m = random_tree(random, settings).finish();
  const Eigen::Index numbers = 3 * m.freedoms() * m.freedoms();
  BatchDerivatives batch(m, {.threads = 1}), other(m, {.threads = 1});
  const auto call = [&](bool forward, Eigen::Index count, bool bad) {
    States s = states_of(m, count);
    if (bad) s.v(count / 2, 0) = std::numeric_limits<double>::quiet_NaN();
    RowMatrix acceleration(count, m.freedoms()), rows(count, numbers);
    rows.setConstant(7.0);
    if (forward) {
      batch.forward(s.q, s.v, s.effort, acceleration);
      other.forward(s.q, s.v, s.effort, acceleration, rows);
    } else {
      batch.inverse(s.q, s.v, s.acceleration);
      other.inverse(s.q, s.v, s.acceleration, rows);
    }
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index k = 0; k < numbers; ++k) {
        const double x = rows(i, k), y = batch.numbers()(i, k);
        ASSERT_TRUE(x == y || (bad && i == count / 2 && std::isnan(x) && std::isnan(y)))
            << (forward ? "forward" : "inverse") << " of " << count << ": " << x << ", " << y;
      }
  };
  for (const Eigen::Index count : {9, 5, 21})
    for (const bool forward : {false, false, true, true, false})
      for (const bool bad : {false, true, false}) call(forward, count, bad);
}

// Numbers of a large batch go past the caches, those of rows do not; and to threads as they come.
TEST(BatchDerivatives, LargeBatchesAreTheSame) {
  Random random(73);
  TreeSettings settings;
  settings.bodies = 12;
  settings.free_base = true;
  const Mechanism m = random_tree(random, settings).finish();
  const Eigen::Index numbers = 3 * m.freedoms() * m.freedoms();
  const Eigen::Index count = (1 << 19) / numbers + 2;
  const States s = states_of(m, count);
  RowMatrix acceleration(count, m.freedoms()), rows(count, numbers);
  for (const int threads : {1, 3}) {
    BatchDerivatives batch(m, {.threads = threads});
    const auto expect_same = [&] {
      for (Eigen::Index i = 0; i < count; ++i)
        for (Eigen::Index k = 0; k < numbers; ++k) ASSERT_EQ(rows(i, k), batch.numbers()(i, k));
    };
    batch.inverse(s.q, s.v, s.acceleration, rows);
    batch.inverse(s.q, s.v, s.acceleration);
    expect_same();
    batch.forward(s.q, s.v, s.effort, acceleration, rows);
    batch.forward(s.q, s.v, s.effort, acceleration);
    expect_same();
  }
}

TEST(BatchDerivatives, ABadStateDisturbsNobody) {
  Random random(72);
  TreeSettings settings;
  settings.bodies = 4;
  settings.free_base = true;
  const Mechanism m = random_tree(random, settings).finish();
  States s = states_of(m, 9);
  BatchDerivatives batch(m, {.threads = 1});
  RowMatrix good(9, m.freedoms()), found(9, m.freedoms());
  batch.forward(s.q, s.v, s.effort, good);
  const MatrixXd before = batch.matrix(4, 0);
  s.v(3, 1) = std::numeric_limits<double>::quiet_NaN();
  s.q(5, 0) = 7.0;
  batch.forward(s.q, s.v, s.effort, found);
  EXPECT_EQ(batch.workspace().failures(), 2);
  EXPECT_NE(batch.workspace().message(3).find("is not finite"), std::string::npos);
  EXPECT_NE(batch.workspace().message(5).find("quaternion"), std::string::npos);
  EXPECT_TRUE(std::isnan(found(3, 0)) && std::isnan(batch.entry(3, 0, 0, 0)));
  EXPECT_EQ((batch.matrix(4, 0) - before).norm(), 0.0);
  EXPECT_EQ((found.row(4) - good.row(4)).norm(), 0.0);
}

// Closed mechanisms: the numbers of one state (which closed_exact_test.cpp holds against the
// reference), at their places, the same bits on any number of threads, and the entries along an
// independent freedom against differences of the accelerations themselves.
TEST(BatchDerivatives, OfClosedMechanisms) {
  const Mechanism m = four_bar();
  constexpr Eigen::Index kStates = 9;
  States s = states_of(m, kStates);
  for (Eigen::Index i = 0; i < kStates; ++i) {
    const double x = 0.4 + 0.1 * static_cast<double>(i);
    const State state = four_bar_state(m, x, 1.0 - x);
    s.q.row(i) = state.q.transpose();
    s.v.row(i) = state.v.transpose();
  }
  const Eigen::Index n = m.freedoms();
  RowMatrix acceleration(kStates, n), rows(kStates, 3 * n * n), again(kStates, 3 * n * n);
  BatchDerivatives batch(m, {.threads = 3});
  std::vector<std::uint8_t> pinned(static_cast<std::size_t>(n), 0);
  pinned[0] = 1;
  batch.workspace().set_chart(choose_chart(m, s.q.row(0).transpose(), {.pinned = pinned}), true);
  SensitivityWorkspace w(m);
  w.dynamics().set_chart(batch.workspace().chart(), true);
  const auto state = [&](Eigen::Index i) {
    return State{s.q.row(i).transpose(), s.v.row(i).transpose()};
  };
  batch.inverse(s.q, s.v, s.acceleration);
  ASSERT_EQ(batch.workspace().failures(), 0) << batch.workspace().message(0);
  for (Eigen::Index i = 0; i < kStates; ++i) {
    const InverseDerivatives& d =
        inverse_dynamics_derivatives(m, state(i), s.acceleration.row(i).transpose(), w);
    EXPECT_EQ((batch.matrix(i, 0) - d.dq).norm(), 0.0);
    EXPECT_EQ((batch.matrix(i, 1) - d.dv).norm(), 0.0);
    EXPECT_EQ((batch.matrix(i, 2) - d.da).norm(), 0.0);
    EXPECT_EQ(batch.entry(i, 0, 1, 1), 0.0);
  }
  batch.forward(s.q, s.v, s.effort, acceleration, rows);
  batch.forward(s.q, s.v, s.effort, acceleration);
  ASSERT_EQ(batch.workspace().failures(), 0) << batch.workspace().message(0);
  for (Eigen::Index i = 0; i < kStates; ++i) {
    const ForwardDerivatives& d =
        forward_dynamics_derivatives(m, state(i), s.effort.row(i).transpose(), w);
    EXPECT_EQ((acceleration.row(i).transpose() - d.acceleration).norm(), 0.0);
    ASSERT_EQ(batch.matrix(i, 2).cols(), n);
    EXPECT_EQ((batch.matrix(i, 0) - d.dq).norm(), 0.0);
    EXPECT_EQ((batch.matrix(i, 1) - d.dv).norm(), 0.0);
    EXPECT_EQ((batch.matrix(i, 2) - d.deffort).norm(), 0.0);
    const double crank = s.q(i, 0), speed = s.v(i, 0), e = 1e-3;
    const auto at = [&](double by) {
      return forward_dynamics(m, four_bar_state(m, crank + by, speed),
                              s.effort.row(i).transpose())[0];
    };
    const double slope = (8.0 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12.0 * e);
    EXPECT_NEAR(batch.entry(i, 0, 0, 0), slope, 1e-8 * std::max(1.0, std::abs(slope)));
  }
  BatchDerivatives other(m, {.threads = 1});
  other.workspace().set_chart(batch.workspace().chart(), true);
  other.forward(s.q, s.v, s.effort, acceleration, again);
  EXPECT_EQ((rows - again).norm(), 0.0);
  // A state that is open, and one that is no number; without a chart the next closed one chooses.
  s.q(0, 1) += 0.3;
  s.v(4, 1) = std::numeric_limits<double>::quiet_NaN();
  BatchDerivatives bad(m, {.threads = 2});
  bad.forward(s.q, s.v, s.effort, acceleration, again);
  EXPECT_EQ(bad.workspace().failures(), 2);
  EXPECT_NE(bad.workspace().message(0), "");
  EXPECT_TRUE(std::isnan(again(0, 0)) && std::isnan(acceleration(4, 0)));
  EXPECT_TRUE(again.row(5).allFinite() && acceleration.row(5).allFinite());
}

TEST(BatchDerivatives, WrongCallsAreRefused) {
  MechanismBuilder b("arm");
  b.add_body("link", rod(1.0, 1.0, 0.1));
  b.add_hinge("turn", kWorld, "link", {});
  const Mechanism m = b.finish();
  BatchDerivatives batch(m);
  const States s = states_of(m, 3);
  EXPECT_THROW(batch.inverse(s.q, s.v.topRows(2), s.acceleration), NumericalError);
}

}  // namespace
}  // namespace catena::test
