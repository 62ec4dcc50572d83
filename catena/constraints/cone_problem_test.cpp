// SPDX-License-Identifier: BSD-3-Clause
// Impulses with inequalities: closed forms of one body, the laws themselves on random problems with
// redundant rows, and the solver with pivots (bounded_problem.h) on those without cones.
#include "catena/constraints/cone_problem.h"

#include <cmath>
#include <random>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "catena/constraints/bounded_problem.h"
#include "catena/constraints/cone_islands.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Law = ConeProblem::Law;

// How far p and u are from the laws, written down once more and in other words: energies p·u over
// the largest, and what is outside of a bound or cone.
double violation(const ConeProblem& problem, const ConeSolution& s) {
  double most = 0.0;
  const double load = std::max(s.impulse.lpNorm<1>(), 1e-300);
  const double speed = std::max(problem.b.lpNorm<Eigen::Infinity>(), 1e-300);
  const auto is = [&](double x) { most = std::max(most, x); };
  for (const ConeProblem::Block& block : problem.blocks) {
    const int r = block.row;
    const double p = s.impulse[r], u = s.motion[r];
    switch (block.law) {
      case Law::equal:
        is(std::abs(u + block.compliance * p) / speed);
        break;
      case Law::bounded:
        is((block.least - p) / load);
        is((p - block.most) / load);
        if (u > 0.0 && std::isfinite(block.least)) is(u * (p - block.least) / (load * speed));
        if (u > 0.0 && !std::isfinite(block.least)) is(u / speed);
        if (u < 0.0 && std::isfinite(block.most)) is(-u * (block.most - p) / (load * speed));
        if (u < 0.0 && !std::isfinite(block.most)) is(-u / speed);
        break;
      case Law::cone: {
        const Eigen::Vector2d friction = s.impulse.segment<2>(r + 1),
                              slip = s.motion.segment<2>(r + 1);
        is(-p / load);
        is(-u / speed);
        is(p * std::abs(u) / (load * speed));
        is((friction.norm() - block.friction * p) / load);
        // Most dissipation: friction · slip = −μ p |slip|.
        is((friction.dot(slip) + block.friction * p * slip.norm()) / (load * speed));
        break;
      }
    }
  }
  return most;
}

// A block of mass m on a plane, thrown down at an angle.
TEST(ConeProblem, BlockSticksInsideTheConeAndSlidesOutside) {
  const double mass = 2.0, mu = 0.5;
  for (const double slip : {0.0, 0.3, 0.5 - 1e-9, 0.7, 3.0}) {
    ConeProblem problem;
    problem.blocks = {{.law = Law::cone, .row = 0, .friction = mu}};
    problem.w = MatrixXd::Identity(3, 3) / mass;
    problem.b = Eigen::Vector3d(-1.0, 0.6 * slip, -0.8 * slip);
    const ConeSolution s = solve(problem);
    EXPECT_LT(s.residual, kConeSolved);
    const double after = std::max(0.0, slip - mu);  // impulse m in the normal, μ m against the slip
    EXPECT_NEAR(s.impulse[0], mass, 1e-9);
    EXPECT_NEAR(s.motion[0], 0.0, 1e-9);
    EXPECT_NEAR(s.motion[1], 0.6 * after, 1e-9);
    EXPECT_NEAR(s.motion[2], -0.8 * after, 1e-9);
  }
}

// A table on four feet in a plane, all rows: the load is shared with the least norm.
TEST(ConeProblem, RedundantFeetShareTheLoad) {
  const double mass = 3.0;
  MatrixXd j(12, 6);  // feet at (±1, ±1, −1); angular, linear
  const double x[4] = {1, -1, -1, 1}, y[4] = {1, 1, -1, -1};
  for (int k = 0; k < 4; ++k) {
    const Eigen::Vector3d at(x[k], y[k], -1.0);
    const Eigen::Vector3d along[3] = {Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitX(),
                                      Eigen::Vector3d::UnitY()};
    for (int r = 0; r < 3; ++r) {
      j.row(3 * k + r).head<3>() = at.cross(along[r]).transpose();
      j.row(3 * k + r).tail<3>() = along[r].transpose();
    }
  }
  VectorXd velocity(6);
  velocity << 0, 0, 0, 0.1, -0.2, -1.0;
  ConeProblem problem;
  for (int k = 0; k < 4; ++k)
    problem.blocks.push_back({.law = Law::cone, .row = 3 * k, .friction = 0.8});
  problem.w = j * j.transpose() / mass;
  problem.b = j * velocity;
  const ConeSolution s = solve(problem);
  EXPECT_LT(s.residual, kConeSolved);
  EXPECT_LT(violation(problem, s), 1e-8);
  EXPECT_LT(s.motion.lpNorm<Eigen::Infinity>(), 1e-8);
  // Vertical impulse m, horizontal −m (0.1, −0.2) by all feet.
  double sum[3] = {0, 0, 0};
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r < 3; ++r) sum[r] += s.impulse[3 * k + r];
  EXPECT_NEAR(sum[0], mass, 1e-8);
  EXPECT_NEAR(sum[1], -0.1 * mass, 1e-8);
  EXPECT_NEAR(sum[2], 0.2 * mass, 1e-8);
}

TEST(ConeProblem, LawsHoldOnRandomProblemsAlsoRedundantOnes) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> count(0, 5);
  for (int trial = 0; trial < 400; ++trial) {
    ConeProblem problem;
    int rows = 0;
    const int equal = count(random) / 2, bounded = count(random), cones = 1 + count(random);
    for (int k = 0; k < equal; ++k)
      problem.blocks.push_back(
          {.law = Law::equal, .row = rows++, .compliance = k % 2 == 0 ? 0.0 : 0.3});
    for (int k = 0; k < bounded; ++k)
      problem.blocks.push_back(
          {.law = Law::bounded,
           .row = rows++,
           .least = k % 2 == 0 ? 0.0 : -0.1,
           .most = k % 2 == 0 ? std::numeric_limits<double>::infinity() : 0.1});
    for (int k = 0; k < cones; ++k) {
      problem.blocks.push_back(
          {.law = Law::cone, .row = rows, .friction = k == 0 ? 0.0 : 0.1 + 0.15 * k});
      rows += 3;
    }
    // Few freedoms: rows are redundant.
    const int freedoms = equal + 3 + count(random);
    const MatrixXd j = MatrixXd::NullaryExpr(rows, freedoms, [&] { return normal(random); });
    problem.w = j * j.transpose();
    problem.b = j * VectorXd::NullaryExpr(freedoms, [&] { return normal(random); });
    const ConeSolution s = solve(problem);
    EXPECT_LT(s.residual, 1e-8) << trial;
    EXPECT_LT(violation(problem, s), 1e-6) << trial;
  }
}

TEST(ConeProblem, AgreesWithPivotsWithoutCones) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    const int rows = 1 + trial % 9;
    const MatrixXd j = MatrixXd::NullaryExpr(rows, 2 + trial % 5, [&] { return normal(random); });
    BoundedProblem bounded;
    bounded.w = j * j.transpose();
    bounded.b = j * VectorXd::NullaryExpr(j.cols(), [&] { return normal(random); });
    bounded.least = VectorXd::Zero(rows);
    bounded.most = VectorXd::Constant(rows, std::numeric_limits<double>::infinity());
    ConeProblem problem{.blocks = {}, .w = bounded.w, .b = bounded.b};
    for (int i = 0; i < rows; ++i) {
      if (i % 3 == 1) {
        bounded.least[i] = -0.2;
        bounded.most[i] = 0.2;
      }
      problem.blocks.push_back(
          {.law = Law::bounded, .row = i, .least = bounded.least[i], .most = bounded.most[i]});
    }
    const BoundedSolution pivots = solve(bounded);
    if (!pivots.solved) continue;
    const ConeSolution s = solve(problem);
    const double scale = bounded.b.lpNorm<Eigen::Infinity>();
    EXPECT_LT((s.motion - pivots.motion).lpNorm<Eigen::Infinity>(), 1e-6 * scale) << trial;
  }
}

// Two blocks on a plane whose rows are interleaved are two islands, and each moves as it does
// alone; an equality between them joins them.
TEST(ConeProblem, IslandsAreProblemsOfTheirOwn) {
  ConeProblem problem;
  problem.blocks = {{.law = Law::cone, .row = 0, .friction = 0.5},
                    {.law = Law::bounded, .row = 3},
                    {.law = Law::cone, .row = 4, .friction = 0.2},
                    {.law = Law::bounded, .row = 7}};
  const double mass[2] = {2.0, 5.0};
  problem.w = MatrixXd::Zero(8, 8);
  for (int k = 0; k < 2; ++k) {
    problem.w.block<3, 3>(4 * k, 4 * k).setIdentity();
    problem.w.block<3, 3>(4 * k, 4 * k) /= mass[k];
    // A wall that stops the first tangent of the other block.
    const int wall = 4 * (1 - k) + 3;
    problem.w(wall, wall) = problem.w(4 * k + 1, wall) = problem.w(wall, 4 * k + 1) = 1.0 / mass[k];
  }
  problem.b = VectorXd::Zero(8);
  problem.b << -1.0, -3.0, 0.7, -2.0, -1.5, -2.0, 0.0, -3.0;
  EXPECT_EQ(divide_into_islands(problem).size(), 2U);
  const ConeSolution s = solve(problem);
  EXPECT_LT(s.residual, kConeSolved);
  EXPECT_LT(violation(problem, s), 1e-8);
  // The walls stop both; friction takes the tangents across, as far as it goes.
  EXPECT_NEAR(s.impulse[0], 2.0, 1e-9);
  EXPECT_NEAR(s.impulse[4], 7.5, 1e-9);
  EXPECT_NEAR(s.motion[1], 0.0, 1e-9);
  EXPECT_NEAR(s.motion[5], 0.0, 1e-9);
  // A row that both blocks obey.
  problem.blocks.push_back({.law = Law::equal, .row = 8});
  problem.w.conservativeResizeLike(MatrixXd::Zero(9, 9));
  problem.w(8, 8) = 1.0 / mass[0] + 1.0 / mass[1];
  problem.w(2, 8) = problem.w(8, 2) = 1.0 / mass[0];
  problem.w(6, 8) = problem.w(8, 6) = -1.0 / mass[1];
  problem.b.conservativeResize(9);
  problem.b[8] = 0.7;
  EXPECT_TRUE(divide_into_islands(problem).empty());
  EXPECT_NEAR(solve(problem).motion[8], 0.0, 1e-9);
}

// Plates on feet in one plane, in a chain of up to three that push each other, that stop within the
// step or all but stop: how the feet share friction hangs on the compliance alone, and which of
// them slip (by 1e-10 of what they slipped) on that.
TEST(ConeProblem, RedundantFeetThatAreAboutToStop) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int trial = 0; trial < 200; ++trial) {
    const int plates = 1 + trial % 3, feet = 4 + trial % 4;
    ConeProblem problem;
    MatrixXd j = MatrixXd::Zero(3 * (feet + 1) * plates, 6 * plates);
    VectorXd inverse(6 * plates), v(6 * plates);
    int row = 0;
    const double mu = 0.2 + 0.6 * uniform(random);
    for (int k = 0; k < plates; ++k) {
      const double mass = 0.5 + 4.0 * uniform(random);
      for (int i = 0; i < 3; ++i) {
        inverse[6 * k + i] = 1.0 / (0.02 * mass * (1.0 + uniform(random)));
        inverse[6 * k + 3 + i] = 1.0 / mass;
        v[6 * k + i] = i == 2 ? 0.02 * uniform(random) * normal(random) : 0.0;
        v[6 * k + 3 + i] = i == 2 ? -0.00981 : mu * 0.00981 * uniform(random) * normal(random);
      }
      // A foot at r moves with v + ω × r; forces of neighbours act on both, at one side.
      const auto push = [&](int body, const Eigen::Vector3d& r, double sense) {
        const Eigen::Matrix3d cross{{0.0, -r[2], r[1]}, {r[2], 0.0, -r[0]}, {-r[1], r[0], 0.0}};
        Eigen::Matrix<double, 3, 6> block;
        block << -cross, Eigen::Matrix3d::Identity();
        j.block<3, 6>(row, 6 * body) = sense * block({2, 0, 1}, Eigen::all);
      };
      for (int f = 0; f < feet; ++f) {
        push(k, {0.2 * normal(random), 0.1 * normal(random), -0.05}, 1.0);
        problem.blocks.push_back({.law = Law::cone, .row = row, .friction = mu});
        row += 3;
      }
      if (k == 0) continue;
      push(k, {0.2 * normal(random), 0.1 * normal(random), -0.05}, 1.0);
      push(k - 1, {0.2 * normal(random), 0.1 * normal(random), 0.05}, -1.0);
      problem.blocks.push_back({.law = Law::cone, .row = row, .friction = 0.5 * mu});
      row += 3;
    }
    j.conservativeResize(row, Eigen::NoChange);
    problem.w = j * inverse.asDiagonal() * j.transpose();
    problem.b = j * v;
    const ConeSolution s = solve(problem);
    EXPECT_LT(s.residual, 1e-7) << trial;
    EXPECT_LT(violation(problem, s), 1e-6) << trial;
  }
}

// A stop at a freedom that an equality holds, and contradictory equalities: an answer, no NaN.
TEST(ConeProblem, BlockedRowsHaveAnAnswer) {
  ConeProblem problem;
  problem.blocks = {{.law = Law::equal, .row = 0},
                    {.law = Law::equal, .row = 1},
                    {.law = Law::bounded, .row = 2}};
  problem.w = MatrixXd::Ones(3, 3);
  problem.b = Eigen::Vector3d(-1.0, 1.0, -1.0);
  const ConeSolution s = solve(problem);
  EXPECT_TRUE(s.impulse.allFinite());
  EXPECT_TRUE(s.motion.allFinite());
  EXPECT_LT(s.impulse.lpNorm<Eigen::Infinity>(), 10.0);
}

}  // namespace
}  // namespace catena
