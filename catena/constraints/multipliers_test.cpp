// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/multipliers.h"

#include <gtest/gtest.h>

#include "catena/constraints/constraint_set.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/testing/closed_cases.h"

namespace catena::test {
namespace {

using Eigen::VectorXd;

// A planar four-bar with ordinary pins: 2 of 5 rows say something, out-of-plane forces are open.
TEST(MultiplierReport, NamesRedundantRowsAndOpenComponents) {
  const Mechanism m = four_bar();
  const State s = four_bar_state(m, 0.7, 1.5);
  const VectorXd effort = vector({3.0, 0.0, -1.0});
  const MultiplierReport r = multiplier_dynamics(m, s, effort);
  EXPECT_LT((r.acceleration - forward_dynamics(m, s, effort)).norm(), 1e-12);
  ASSERT_EQ(r.rows.size(), 5u);
  EXPECT_EQ(r.rank, 2);
  EXPECT_EQ(r.redundant(), 3);
  int redundant = 0;
  for (const ConstraintRow& row : r.rows) {
    EXPECT_EQ(row.constraint, "hinge 'C'");
    redundant += row.redundant;
    const bool in_plane = row.component == "force x" || row.component == "force y";
    EXPECT_EQ(row.undetermined, !in_plane) << row.component;
    if (!in_plane) {
      EXPECT_NEAR(row.force, 0.0, 1e-12) << row.component;
    }
  }
  EXPECT_EQ(redundant, 3);
  // The pin pushes the rocker: moment balance of the rocker alone about D, a closed form.
  const double angle = s.q[2], g = 9.81;
  const Vec3d pin{2.0 * std::cos(angle), 2.0 * std::sin(angle), 0.0};
  double fx = 0.0, fy = 0.0;
  for (const ConstraintRow& row : r.rows) {
    if (row.component == "force x") fx = row.force;
    if (row.component == "force y") fy = row.force;
  }
  // The rows are along the axes of the coupler, the parent of the pin.
  const double turn = s.q[0] + s.q[1];
  const double gx = std::cos(turn) * fx - std::sin(turn) * fy;
  const double gy = std::sin(turn) * fx + std::cos(turn) * fy;
  const double inertia = 2.0 * 2.0 * 2.0 / 3.0;
  EXPECT_NEAR(pin.x * gy - pin.y * gx - 2.0 * g * 0.5 * pin.x - 1.0, inertia * r.acceleration[2],
              1e-10);
}

// In a file with few digits the same rows are redundant and the same components open, and the
// forces are those of the exact mechanism, to these digits.
TEST(MultiplierReport, RowsThatAreRedundantButForRounding) {
  const Mechanism exact = four_bar();
  const State at = four_bar_state(exact, 0.7, 1.5);
  const VectorXd effort = vector({3.0, 0.0, -1.0});
  const MultiplierReport expected = multiplier_dynamics(exact, at, effort);
  for (const double off : {3e-6, 5e-8}) {
    const Mechanism m = rounded_four_bar(off);
    const MultiplierReport r =
        multiplier_dynamics(m, assemble(m, at, {.fixed = {1, 0, 0}}), effort);
    EXPECT_EQ(r.rank, 2);
    EXPECT_LT(r.residual, 1e-11);
    EXPECT_GT(r.redundant_residual, 0.1 * off);
    EXPECT_LT(r.redundant_residual, 1e3 * off);
    ASSERT_EQ(r.rows.size(), expected.rows.size());
    // The other hinge axis may turn the rows' own axes in the plane: lengths compare.
    double force = 0.0, expected_force = 0.0;
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      const ConstraintRow &row = r.rows[i], &other = expected.rows[i];
      EXPECT_EQ(row.undetermined, other.undetermined) << row.component;
      force += row.force * row.force;
      expected_force += other.force * other.force;
    }
    EXPECT_NEAR(std::sqrt(force), std::sqrt(expected_force), 1e3 * off);
  }
}

TEST(MultiplierReport, OfATreeIsEmpty) {
  MechanismBuilder b("pendulum");
  b.add_body("bob", rod(1.0, 1.0));
  b.add_hinge("pin", kWorld, "bob", {.axes = {Vec3d::unit_y()}});
  const Mechanism m = b.finish();
  const MultiplierReport r = multiplier_dynamics(m, m.default_state(), VectorXd::Zero(1));
  EXPECT_TRUE(r.rows.empty());
  EXPECT_NEAR(r.acceleration[0], 1.5 * 9.81, 1e-12);
}

// Two freedoms of a four-bar driven at accelerations that do not go together: the smallest set.
TEST(Conflict, NamesTheConstraintsThatContradictEachOther) {
  MechanismBuilder b = four_bar().edit();
  b.add_body("free", rod(1.0, 1.0));
  b.add_hinge("other", kWorld, "free", {});
  const Mechanism m = b.finish();
  const State s = [&] {
    State guess = m.default_state();
    guess.q[m.position_index("A")] = 0.7;
    guess.q[m.position_index("B")] = -0.4;
    guess.q[m.position_index("D")] = 1.0;
    return assemble(m, guess);
  }();
  ConstraintSet set(m);
  const int a = set.add(LockSettings{"first", m.velocity_index("A")});
  const int d = set.add(LockSettings{"second", m.velocity_index("D")});
  const int other = set.add(LockSettings{"third", m.velocity_index("other")});
  for (const int i : {a, d, other}) set.activate(i, s);
  const VectorXd effort = VectorXd::Zero(m.freedoms());
  EXPECT_NO_THROW(set.forward(s, effort));  // all at rest: redundant, but no conflict
  set.set_lock(d, s.q[m.position_index("D")], 0.0, 5.0);
  try {
    set.forward(s, effort);
    FAIL();
  } catch (const NumericalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("lock 'first'"), std::string::npos) << text;
    EXPECT_NE(text.find("lock 'second'"), std::string::npos) << text;
    EXPECT_NE(text.find("hinge 'C'"), std::string::npos) << text;
    EXPECT_EQ(text.find("lock 'third'"), std::string::npos) << text;
    EXPECT_NE(text.find("contradict each other"), std::string::npos) << text;
  }
  EXPECT_THROW(set.find("secnd"), NameError);
  EXPECT_THROW(set.add(LockSettings{"first", 0}), Error);
}

}  // namespace
}  // namespace catena::test
