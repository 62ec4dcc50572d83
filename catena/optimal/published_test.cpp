// SPDX-License-Identifier: BSD-3-Clause
// The examples of [Sohl & Bobrow 2001] with the data and the optima of its reference solutions,
// sections 4.1 to 4.3: found there by another program on closed-form equations.
#include <cmath>

#include <gtest/gtest.h>

#include "catena/optimal/optimal_run.h"
#include "catena/optimal/testing/test_problems.h"

namespace catena {
namespace {

using Eigen::VectorXd;
using Want = Transcription::Want;

VectorXd numbers(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}
void expect_near(const VectorXd& found, const VectorXd& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LT((found - expected).lpNorm<Eigen::Infinity>(), tolerance) << found.transpose() << "\n"
                                                                     << expected.transpose();
}

// On one core; builds for debugging take longer.
void expect_fast([[maybe_unused]] const OptimalMotion& r) {
#ifdef NDEBUG
  EXPECT_LT(r.processor_time, 5.0);
#endif
}

TEST(Published, TwoRodsGuess) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  Transcription t(two_rod_problem(m, 1.0, 8));
  ProgramValues e;
  ASSERT_TRUE(t.evaluate(t.guess(), Want::derivatives, e)) << t.failure();
  EXPECT_NEAR(e.cost, 453.747097700, 1e-9 * 453.7);
  expect_near(e.gradient,
              numbers({652.9098624507, 73.5152722630, -193.4705381147, -713.4226518257,
                       210.6165345032, 25.3690927337, -59.9958914442, -227.5922094337}),
              1e-9 * 713.0);
}

TEST(Published, TwoRods) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  const OptimalMotion r = solve(two_rod_problem(m, 1.0, 8));
  ASSERT_TRUE(r.converged) << r.message;
  EXPECT_NEAR(r.cost, 129.185636897, 1e-7 * 129.0);
  expect_near(r.variables,
              numbers({0.6884822900, 0.6861180565, 1.8637060973, 1.9872352315, -1.9909262154,
                       -3.3900476330, -2.5375280811, -1.3675086638}),
              1e-5);
  EXPECT_NEAR(r.final_state.q[0], std::numbers::pi / 2.0, 1e-12);
  EXPECT_NEAR(r.final_state.q[1], 0.0, 1e-12);
  EXPECT_LT(r.final_state.v.norm(), 1e-12);
  expect_fast(r);

  // The elbow folds the other way.
  MotionProblem other = two_rod_problem(m, 1.0, 8);
  other.controls[1].guess.signal = "2";
  EXPECT_NEAR(solve(other).cost, 167.5046, 1e-4);
}

// More coefficients come closer to the optimum in continuous time, 109.48310154 by Pontryagin's
// principle and shooting.
TEST(Published, TwoRodsWithMoreCoefficients) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  EXPECT_NEAR(solve(two_rod_problem(m, 1.0, 16)).cost, 110.0624007, 1e-6 * 110.0);
  MotionProblem fine = two_rod_problem(m, 1.0, 64);
  for (ControlSettings& c : fine.controls) c.degree = 5;
  const OptimalMotion r = solve(fine);
  EXPECT_NEAR(r.cost, 109.4831273, 1e-6 * 109.0);
  EXPECT_LT(std::abs(r.cost - 109.48310154), 5e-5);
}

TEST(Published, TwoRodsSwing) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  MotionProblem p = two_rod_problem(m, 2.5, 22);
  p.controls[0].guess.signal = "pi/2*(t/2.5)^2*(3 - 2*t/2.5) - 3*sin(pi*t/2.5)^2";
  p.controls[1].guess.signal = "4*sin(pi*t/2.5)^2";
  const OptimalMotion r = solve(p);
  ASSERT_TRUE(r.converged) << r.message;
  EXPECT_NEAR(r.guess_cost, 186.542914491, 1e-8 * 186.0);
  EXPECT_NEAR(r.cost, 9.7947245323, 1e-6 * 9.8);
  expect_fast(r);
}

// On the grid of the reference, however coarse.
SolverSettings as_given() {
  SolverSettings s;
  s.accuracy = 0.0;
  return s;
}

struct SwingUp {
  double start, guess_cost, cost, position, velocity;
};

TEST(Published, Acrobot) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  for (const SwingUp& x : {SwingUp{-1.0, 12598.7184, 17.6542969, -0.0317015, 0.0120642},
                           SwingUp{-1.3, 10793.3738, 23.0876157, -0.0238802, 0.0090531}}) {
    const OptimalMotion r = solve(swing_up_problem(m, {"elbow"}, x.start, 3.0, 12, 20), as_given());
    ASSERT_TRUE(r.converged) << r.message;
    EXPECT_NEAR(r.guess_cost, x.guess_cost, 1e-4);
    EXPECT_NEAR(r.cost, x.cost, 1e-6 * x.cost);
    EXPECT_NEAR(r.final_state.q[0] - std::numbers::pi / 2.0, x.position, 1e-5);
    EXPECT_NEAR(r.final_state.v[0], x.velocity, 1e-5);
    expect_fast(r);
  }
}

// The grid is made finer until that makes no difference: the reference has 17.6540893 with 900
// steps.
TEST(Published, AcrobotOnFinerGrids) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  const OptimalMotion r = solve(swing_up_problem(m, {"elbow"}, -1.0, 3.0, 12, 20));
  ASSERT_TRUE(r.converged) << r.message;
  EXPECT_GE(r.grid.steps, 40);
  EXPECT_LT(r.refined_change, 1e-6);
  EXPECT_NEAR(r.cost, 17.6540893, 1e-7 * 17.6);
  expect_fast(r);
}

// Coefficients rounded to four decimals, 900 steps.
TEST(Published, AcrobotEvaluated) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  Transcription first(swing_up_problem(m, {"elbow"}, -1.0, 3.0, 12, 100));
  ProgramValues e;
  const VectorXd x = numbers({1.5621, -1.6483, -2.0626, -1.1039, 3.2714, 2.7712, 1.3922, 0.5856});
  ASSERT_TRUE(first.evaluate(x, Want::values, e));
  EXPECT_NEAR(e.cost, 17.654748415, 1e-8 * 17.6);
  first.visit(x, [&](const MotionPoint& p) {
    if (!p.last) return;
    EXPECT_NEAR(p.state.q[0], 1.539386207, 1e-8);
    EXPECT_NEAR(p.state.v[0], 0.012821845, 1e-8);
  });
  Transcription second(swing_up_problem(m, {"elbow"}, -1.3, 3.0, 12, 100));
  ASSERT_TRUE(
      second.evaluate(numbers({0.4262, -2.5158, -2.6601, -1.4851, 3.0552, 2.9731, 1.7284, 0.7020}),
                      Want::values, e));
  EXPECT_NEAR(e.cost, 23.087711436, 1e-8 * 23.0);
}

TEST(Published, BranchedAcrobot) {
  const Mechanism m = unit_rods({"pivot", "left", "right"});
  MotionProblem p = swing_up_problem(m, {"left", "right"}, -1.0, 2.5, 10, 20);
  p.controls[0].guess.signal = "1";
  p.controls[1].guess.signal = "-1";
  const OptimalMotion r = solve(p, as_given());
  ASSERT_TRUE(r.converged) << r.message;
  EXPECT_NEAR(r.guess_cost, 7036.97877866, 1e-7 * 7036.0);
  EXPECT_NEAR(r.cost, 38.7562356, 1e-6 * 38.7);
  EXPECT_NEAR(r.final_state.q[0] - std::numbers::pi / 2.0, -0.0805276, 1e-4);
  expect_fast(r);
}

// Our own: upright is a condition, not a cost.
TEST(Published, AcrobotUpright) {
  const Mechanism m = unit_rods({"shoulder", "elbow"});
  MotionProblem p = swing_up_problem(m, {"elbow"}, -1.0, 3.0, 12, 20);
  p.final_costs.clear();
  p.final_position("shoulder", std::numbers::pi / 2.0);
  p.final_velocity("shoulder", 0.0);
  const OptimalMotion r = solve(p);
  ASSERT_TRUE(r.converged) << r.message;
  EXPECT_EQ(r.solver, Solver::ipopt);
  EXPECT_NEAR(r.final_state.q[0], std::numbers::pi / 2.0, 1e-6);
  EXPECT_NEAR(r.final_state.v[0], 0.0, 1e-6);
  expect_fast(r);

  // The same optimum from the other side: costs that grow until they are conditions.
  MotionProblem soft = swing_up_problem(m, {"elbow"}, -1.0, 3.0, 12, 20);
  VectorXd from;
  double cost = 0.0;
  for (const double weight : {1e3, 1e5, 1e7}) {
    for (FinalCost& f : soft.final_costs) f.weight = weight;
    const OptimalMotion s = solve(soft, as_given(), from);
    from = s.variables;
    cost = s.cost;
  }
  EXPECT_NEAR(r.cost, cost, 1e-4 * cost);

  // And by the simulator's own integrator.
  MemoryRecorder record;
  EXPECT_LT(record_motion(p, r, record).difference, 1e-6);
}

}  // namespace
}  // namespace catena
