// SPDX-License-Identifier: BSD-3-Clause
// Pushes between bounds, against enumeration of all choices and the laws themselves.
#include "catena/constraints/bounded_problem.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/dense.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::mt19937 random_source(11);
double uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random_source);
}

// Pushes at n places of something with so many freedoms, M = 1: W = J Jᵀ, singular if there are
// few. The motion without pushes is one of those freedoms, so it can always be stopped.
BoundedProblem random_problem(Index n, Index freedoms) {
  BoundedProblem p;
  MatrixXd j(n, freedoms);
  for (double& x : j.reshaped()) x = uniform(-1.0, 1.0);
  VectorXd v(freedoms);
  for (double& x : v) x = uniform(-1.0, 1.0);
  p.w = j * j.transpose();
  p.b = j * v;
  p.least = VectorXd::Zero(n);
  p.most = VectorXd::Constant(n, kInfinite);
  for (Index i = 0; i < n; ++i) {
    const double kind = uniform(0.0, 1.0);
    if (kind < 0.4) continue;  // a stop
    p.most[i] = kind < 0.9 ? uniform(0.0, 0.5) : kInfinite;
    p.least[i] = -p.most[i];
  }
  return p;
}

void expect_laws(const BoundedProblem& p, const BoundedSolution& s) {
  const double small = 1e-10 * (1.0 + s.push.lpNorm<Eigen::Infinity>());
  EXPECT_TRUE(s.solved);
  EXPECT_LT((p.w * s.push + p.b - s.motion).lpNorm<Eigen::Infinity>(), small);
  for (Index i = 0; i < p.b.size(); ++i) {
    EXPECT_GE(s.push[i], p.least[i] - small);
    EXPECT_LE(s.push[i], p.most[i] + small);
    if (s.push[i] > p.least[i] + small) {
      EXPECT_LT(s.motion[i], small);
    }
    if (s.push[i] < p.most[i] - small) {
      EXPECT_GT(s.motion[i], -small);
    }
  }
}

// The motion of the choice (at the lower bound, at the upper one, or between) that obeys the laws.
VectorXd by_enumeration(const BoundedProblem& p) {
  const Index n = p.b.size();
  const int choices = static_cast<int>(std::lround(std::pow(3.0, static_cast<double>(n))));
  for (int choice = 0; choice < choices; ++choice) {
    std::vector<Index> between;
    VectorXd push = VectorXd::Zero(n);
    bool possible = true;
    for (Index i = 0, rest = choice; i < n; ++i, rest /= 3) {
      if (rest % 3 == 2) between.push_back(i);
      if (rest % 3 == 0) push[i] = p.least[i];
      if (rest % 3 == 1) push[i] = p.most[i];
      possible = possible && std::isfinite(push[i]);
    }
    if (!possible) continue;
    const VectorXd before = p.w * push + p.b;
    if (!between.empty()) push(between) = -FullLu(p.w(between, between)).solve(before(between));
    VectorXd motion = p.w * push + p.b;
    constexpr double kSmall = 1e-11;
    for (Index i = 0; i < n; ++i) {
      possible = possible && push[i] >= p.least[i] - kSmall && push[i] <= p.most[i] + kSmall;
      possible = possible && (push[i] <= p.least[i] + kSmall || motion[i] < kSmall);
      possible = possible && (push[i] >= p.most[i] - kSmall || motion[i] > -kSmall);
    }
    if (possible) return motion;
  }
  ADD_FAILURE() << "no choice obeys the laws";
  return p.b;
}

TEST(BoundedProblem, IsSolvedAsByEnumeration) {
  for (int k = 0; k < 400; ++k) {
    const Index n = 1 + k % 5;
    const BoundedProblem p = random_problem(n, n + 1);
    const BoundedSolution s = solve(p);
    expect_laws(p, s);
    EXPECT_LT((s.motion - by_enumeration(p)).lpNorm<Eigen::Infinity>(), 1e-8) << k;
  }
}

// More places than freedoms: the motion is still unique, and what is held is independent.
TEST(BoundedProblem, HoldsIndependentPlacesOnly) {
  for (int k = 0; k < 400; ++k) {
    const Index freedoms = 1 + k % 4, n = freedoms + 1 + k % 7;
    const BoundedProblem p = random_problem(n, freedoms);
    const BoundedSolution s = solve(p);
    expect_laws(p, s);
    std::vector<Index> held;
    for (Index i = 0; i < n; ++i)
      if (s.between[index(i)] != 0) held.push_back(i);
    if (held.empty()) continue;
    EXPECT_EQ(FullLu(p.w(held, held)).rank(), static_cast<Index>(held.size())) << k;
  }
}

// Two stops on either side of one freedom that are to be left with a motion each: impossible.
TEST(BoundedProblem, SaysSoIfThereIsNoSolution) {
  BoundedProblem p;
  p.w = (MatrixXd(2, 2) << 1.0, -1.0, -1.0, 1.0).finished();
  p.b = VectorXd::Constant(2, -1.0);
  p.least = VectorXd::Zero(2);
  p.most = VectorXd::Constant(2, kInfinite);
  EXPECT_FALSE(solve(p).solved);
}

}  // namespace
}  // namespace catena
