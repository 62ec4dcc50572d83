// SPDX-License-Identifier: BSD-3-Clause
// The Riccati sweep against the exact cases of the reference solutions for [D'Eleuterio & Damaren
// 1991] (LQ-1 to LQ-4, rational numbers) and against the equations of the whole problem with
// multipliers, solved at once.
#include "catena/lq/riccati.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <Eigen/SparseLU>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using ::testing::HasSubstr;

VectorXd vec(std::initializer_list<double> x) {
  return Eigen::Map<const VectorXd>(x.begin(), static_cast<Index>(x.size()));
}
// Row by row.
MatrixXd mat(Index rows, std::initializer_list<double> x) {
  const Index columns = static_cast<Index>(x.size()) / rows;
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(x.begin(), rows, columns);
}
MatrixXd diag(std::initializer_list<double> x) { return vec(x).asDiagonal(); }

void expect_near(const MatrixXd& found, const MatrixXd& expected, double tolerance = 1e-13) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(),
            tolerance * std::max(1.0, expected.cwiseAbs().maxCoeff()))
      << "found\n"
      << found << "\nexpected\n"
      << expected;
}

// The reference numbers stages from −1: stage 0 here is its stage −1, x[k + 1] its x_k; its t is
// −r, its costate −λ. Its x_{−1} has no cost.
struct TextStage {
  MatrixXd A, B;  // A_k, B_k
  VectorXd t;     // t_k
  MatrixXd W;     // of the input, may be empty
};
LqProblem from_text(const std::vector<TextStage>& stages, const std::vector<MatrixXd>& M,
                    const std::vector<VectorXd>& h, const VectorXd& start) {
  LqProblem p;
  p.start = start;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    LqStage s{.A = stages[k].A, .B = stages[k].B, .R = stages[k].W, .r = -stages[k].t};
    if (k > 0) {
      s.Q = M[k - 1];
      s.q = h[k - 1];
    }
    p.stages.push_back(std::move(s));
  }
  p.final_Q = M.back();
  p.final_q = h.back();
  return p;
}

std::vector<TextStage> stages_of_lq1() {
  return {{MatrixXd(2, 0), mat(2, {1, 0}), vec({5}), {}},
          {mat(2, {1, 1, 0, 1}), mat(2, {0, 1}), vec({-1}), {}},
          {mat(2, {1, 2, 1, 0}), mat(2, {1, 1}), vec({2}), {}}};
}
const std::vector<MatrixXd> kM1 = {mat(2, {2, 1, 1, 3}), diag({1, 2}), mat(2, {3, -1, -1, 2})};
const std::vector<VectorXd> kH1 = {vec({1, -1}), vec({0, 2}), vec({-2, 1})};

TEST(Riccati, CaseLq1) {
  const LqSolution s = solve_lq(from_text(stages_of_lq1(), kM1, kH1, VectorXd(0)));
  expect_near(s.x[1], vec({2.0 / 3, 0}));
  expect_near(s.x[2], vec({2.0 / 3, -9.0 / 26}));
  expect_near(s.x[3], vec({10.0 / 13, 19.0 / 13}));
  expect_near(s.u[0], vec({2.0 / 3}));
  expect_near(s.u[1], vec({-9.0 / 26}));
  expect_near(s.u[2], vec({31.0 / 39}));
  expect_near(s.costate[1], vec({5, 4.0 / 3}));
  expect_near(s.costate[2], vec({8.0 / 3, -1}));
  expect_near(s.costate[3], vec({-15.0 / 13, 41.0 / 13}));
  expect_near(s.policy.value[1], mat(2, {3, 2, 2, 4}));
  expect_near(s.policy.value[2], diag({1, 26.0 / 3}));
  expect_near(s.policy.slope[1], vec({3, 0}));
  expect_near(s.policy.slope[2], vec({2, 2}));
  expect_near(s.policy.gain[1], mat(1, {0, 1}));
  expect_near(s.policy.gain[2], mat(1, {1, 4.0 / 3}));
  expect_near(s.policy.input_inertia[0], mat(1, {3}));
  expect_near(s.policy.input_inertia[1], mat(1, {26.0 / 3}));
  expect_near(s.policy.input_inertia[2], mat(1, {3}));
  EXPECT_NEAR(s.cost, -419.0 / 156, 1e-14);
}

TEST(Riccati, CaseLq4HasAFixedRoot) {
  std::vector<TextStage> stages = stages_of_lq1();
  stages[0].B = MatrixXd(2, 0);
  stages[0].t = VectorXd(0);
  LqProblem p = from_text(stages, kM1, kH1, VectorXd(0));
  p.stages[0].c = VectorXd::Zero(2);  // it has the size of x_0 from nowhere else
  const LqSolution s = solve_lq(p);
  expect_near(s.x[1], vec({0, 0}));
  expect_near(s.x[2], vec({0, -9.0 / 26}));
  expect_near(s.x[3], vec({10.0 / 13, 19.0 / 13}));
  expect_near(s.u[1], vec({-9.0 / 26}));
  expect_near(s.u[2], vec({19.0 / 13}));
  expect_near(s.costate[1], vec({3, 0}));
  expect_near(s.costate[2], vec({2, -1}));
  expect_near(s.costate[3], vec({-15.0 / 13, 41.0 / 13}));
  EXPECT_NEAR(s.cost, -105.0 / 52, 1e-14);
}

// A singular A and an input that reaches every state.
TEST(Riccati, CaseLq2) {
  const std::vector<TextStage> stages = {
      {MatrixXd(3, 0), mat(3, {1, 0, 0, 1, 1, 1}), vec({2, -1}), {}},
      {mat(3, {1, .5, 0, 0, 1, .5, -.25, 0, 1}), mat(3, {0, 1, 2}), vec({1}), {}},
      {mat(3, {2, 0, 1, 1, 1, 0, 0, 3, 1}),
       mat(3, {1, 0, 1, 0, 2, 0, 1, 1, 3}),
       vec({0, 1, -1}),
       {}},
      {mat(3, {1, 2, 3, 2, 4, 6, 0, 1, 1}), mat(3, {1, -1, 1}), vec({1.5}), {}},
      {mat(3, {0, 1, 0, 0, 0, 1, .5, 0, 0}), mat(3, {1, 0, 1, 1, 0, 2}), vec({1, -2}), {}}};
  const std::vector<MatrixXd> M = {
      mat(3, {4, 1, 0, 1, 3, 1, 0, 1, 2}), diag({1, 2, 3}), mat(3, {2, -1, 0, -1, 2, -1, 0, -1, 2}),
      mat(3, {5, 1, 1, 1, 4, 1, 1, 1, 3}), mat(3, {2, 0, 1, 0, 1, 0, 1, 0, 2})};
  const std::vector<VectorXd> h = {vec({1, 0, -2}), vec({.5, -1, 1}), vec({3, 0, 1}),
                                   vec({0, -2, 1}), vec({1, 1, -1})};
  const LqSolution s = solve_lq(from_text(stages, M, h, VectorXd(0)));
  expect_near(s.x[1], vec({181.0 / 18263, 3957.0 / 36526, 617.0 / 5218}));
  expect_near(s.x[2], vec({4681.0 / 73052, 21549.0 / 146104, 1385.0 / 18263}));
  expect_near(s.x[3], vec({-103065.0 / 184166, 86911.0 / 368332, 19925.0 / 368332}));
  expect_near(s.x[4], vec({-10370.0 / 92083, 123881.0 / 368332, 37889.0 / 368332}));
  expect_near(s.x[5], vec({-48785.0 / 184166, -43298.0 / 92083, 0}));
  expect_near(s.u[1], vec({-2917.0 / 146104}));
  expect_near(s.u[2], vec({-48822365517.0 / 53814778528.0, 328133573.0 / 26907389264.0,
                           1104025867.0 / 7687825504.0}));
  expect_near(s.u[4], vec({-221451.0 / 368332, 5185.0 / 184166}));
  expect_near(s.costate[1], -vec({-57623, -2834, 21097}) / 18263);
  expect_near(s.costate[3], -vec({-.5, -.75, .5}));
  expect_near(s.policy.value[2], M[1]);  // the next input undoes whatever the state does
  expect_near(s.policy.value[1],
              mat(3, {563.0 / 112, 12.0 / 7, 0, 12.0 / 7, 139.0 / 28, 1, 0, 1, 2}));
  expect_near(s.policy.slope[1], vec({327.0 / 112, -29.0 / 56, -1.5}));
  expect_near(s.policy.slope[4], vec({-2.0 / 3, -5.0 / 3, 5.0 / 3}));
  EXPECT_NEAR(s.cost, -1.0088415034589884, 1e-13);
}

// Weights on the inputs, a start, sizes 2, 2, 3, 2.
TEST(Riccati, CaseLq3) {
  const std::vector<TextStage> stages = {
      {mat(2, {1, 1, 0, 1}), mat(2, {0, 1}), vec({1}), mat(1, {2})},
      {mat(3, {1, 0, 2, 1, 0, 1}), mat(3, {1, 0, 0, 1, 1, 1}), vec({0, 2}), diag({1, 3})},
      {mat(2, {1, 1, 0, 0, 1, -1}), mat(2, {1, 2}), vec({-1}), mat(1, {.5})}};
  const std::vector<MatrixXd> M = {diag({1, 1}), mat(3, {2, 1, 0, 1, 2, 0, 0, 0, 1}),
                                   mat(2, {3, 1, 1, 1})};
  const std::vector<VectorXd> h = {vec({0, 1}), vec({1, 0, -1}), vec({2, 0})};
  const LqSolution s = solve_lq(from_text(stages, M, h, vec({1, 2})));
  expect_near(s.x[1], vec({3, -691.0 / 1401}));
  expect_near(s.x[2], vec({133, 2030, -2040}) / 467);
  expect_near(s.x[3], vec({39, -178}) / 467);
  expect_near(s.u[0], vec({-3493.0 / 1401}));
  expect_near(s.u[1], vec({-1268.0 / 467, -1625.0 / 1401}));
  expect_near(s.u[2], vec({-2124.0 / 467}));
  expect_near(s.costate[1], vec({14891.0 / 467, 8387.0 / 1401}));
  expect_near(s.costate[3], vec({873, -139}) / 467);
  expect_near(s.policy.value[1], mat(2, {3414, 654, 654, 739}) / 331);
  expect_near(s.policy.slope[1], vec({635, 384}) / 331);
  expect_near(s.policy.value[2], mat(3, {65, 35, 7, 35, 56, 2, 7, 2, 28}) / 23);
  EXPECT_NEAR(s.cost, 78613.0 / 1401, 1e-12);
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double number() { return distribution_(engine_); }
  MatrixXd matrix(Index rows, Index columns) {
    MatrixXd m(rows, columns);
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = number();
    return m;
  }
  MatrixXd positive(Index size) {
    const MatrixXd m = matrix(size, size);
    return m * m.transpose() / static_cast<double>(size) + 0.1 * MatrixXd::Identity(size, size);
  }

 private:
  std::mt19937_64 engine_;
  std::uniform_real_distribution<double> distribution_{-1.0, 1.0};
};

// A stable system with every term, states n, inputs m.
LqProblem random_problem(Random& random, Index n, Index m, int stages) {
  LqProblem p;
  p.start = random.matrix(n, 1);
  for (int k = 0; k < stages; ++k) {
    LqStage s;
    s.A = random.matrix(n, n) / std::sqrt(static_cast<double>(n));
    s.B = random.matrix(n, m);
    s.c = random.matrix(n, 1);
    const MatrixXd whole = random.positive(n + m);  // so that the cost is convex in (x, u)
    s.Q = whole.topLeftCorner(n, n);
    s.R = whole.bottomRightCorner(m, m);
    s.S = whole.bottomLeftCorner(m, n);
    s.q = random.matrix(n, 1);
    s.r = random.matrix(m, 1);
    p.stages.push_back(std::move(s));
  }
  p.final_Q = random.positive(n);
  p.final_q = random.matrix(n, 1);
  return p;
}

// All x_1.., u_0.. and multipliers at once.
VectorXd solve_whole(const LqProblem& p) {
  const Index n = p.start.size(), m = p.stages[0].B.cols();
  const Index stages = static_cast<Index>(p.stages.size());
  const Index block = 2 * n + m, size = stages * block;
  std::vector<Eigen::Triplet<double>> entries;
  VectorXd right = VectorXd::Zero(size);
  const auto add = [&](Index row, Index column, const MatrixXd& a) {
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j)
        if (a(i, j) != 0.0) entries.emplace_back(row + i, column + j, a(i, j));
  };
  const MatrixXd one = MatrixXd::Identity(n, n);
  for (Index k = 0; k < stages; ++k) {
    const LqStage& s = p.stages[index(k)];
    const Index u = k * block, x = u + m, l = x + n;  // u_k, x_{k+1}, multiplier of its equation
    const Index before = x - block;                   // x_k
    add(u, u, s.R);
    add(u, l, -s.B.transpose());
    add(l, x, one);
    add(l, u, -s.B);
    right.segment(u, m) = -s.r;
    right.segment(l, n) = s.c;
    add(x, l, one);
    if (k > 0) {
      add(before, before, s.Q);
      add(before, u, s.S.transpose());
      add(u, before, s.S);
      add(before, l, -s.A.transpose());
      add(l, before, -s.A);
      right.segment(before, n) -= s.q;
    } else {
      right.segment(u, m) -= s.S * p.start;
      right.segment(l, n) += s.A * p.start;
    }
  }
  const Index last = stages * block - 2 * n;
  add(last, last, p.final_Q);
  right.segment(last, n) -= p.final_q;
  Eigen::SparseMatrix<double> matrix(size, size);
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseLU<Eigen::SparseMatrix<double>> solver(matrix);
  return solver.solve(right);
}

TEST(Riccati, AgreesWithTheWholeProblemAtOnce) {
  Random random(5);
  const struct {
    Index states, inputs;
    int stages;
  } sizes[] = {{1, 1, 1},    {2, 1, 5},    {5, 3, 30},   {12, 4, 100},
               {40, 10, 12}, {4, 2, 1000}, {40, 4, 1000}};
  for (const auto& [n, m, stages] : sizes) {
    const LqProblem p = random_problem(random, n, m, stages);
    const LqSolution s = solve_lq(p);
    const VectorXd whole = solve_whole(p);
    double worst = 0.0, size = 1.0;
    for (int k = 0; k < stages; ++k) {
      const Index at = k * (2 * n + m);
      const std::size_t i = to_size(k);
      worst = std::max(worst, (s.u[i] - whole.segment(at, m)).lpNorm<Eigen::Infinity>());
      worst = std::max(worst, (s.x[i + 1] - whole.segment(at + m, n)).lpNorm<Eigen::Infinity>());
      worst = std::max(worst,
                       (s.costate[i + 1] + whole.segment(at + m + n, n)).lpNorm<Eigen::Infinity>());
      size = std::max(size, whole.segment(at, 2 * n + m).lpNorm<Eigen::Infinity>());
    }
    EXPECT_LT(worst, 1e-10 * size) << n << " states, " << stages << " stages";
    EXPECT_NEAR(s.cost, lq_cost(p, s.u), 1e-10 * (1.0 + std::abs(s.cost)));
  }
}

// Four times the stages take four times as long: medians of short samples, taken in turns. A cost
// of stages² would show as 16.
TEST(Riccati, LinearInTheStages) {
  Random random(6);
  const LqProblem little = random_problem(random, 12, 3, 500);
  const LqProblem much = random_problem(random, 12, 3, 2000);
  const auto seconds = [](const LqProblem& p) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(solve_lq(p).u.size(), p.stages.size());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> ratios;
  ratios.reserve(11);
  for (int i = 0; i < 11; ++i) ratios.push_back(seconds(much) / seconds(little));
  std::sort(ratios.begin(), ratios.end());
  EXPECT_GT(ratios[5], 2.0);
  EXPECT_LT(ratios[5], 8.0);
}

// No input is better than the optimal one.
TEST(Riccati, OtherInputsCostMore) {
  Random random(8);
  const LqProblem p = random_problem(random, 6, 2, 20);
  const LqSolution s = solve_lq(p);
  for (int i = 0; i < 20; ++i) {
    std::vector<VectorXd> u = s.u;
    for (VectorXd& each : u) each += 1e-3 * random.matrix(2, 1);
    EXPECT_GT(lq_cost(p, u), s.cost);
  }
}

std::string message_of(const LqProblem& p) {
  try {
    solve_lq(p);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Riccati, SaysWhatIsWrong) {
  Random random(9);
  const LqProblem good = random_problem(random, 3, 2, 4);
  LqProblem p = good;
  p.stages[2].Q = MatrixXd::Zero(2, 3);
  EXPECT_THAT(message_of(p), HasSubstr("stage 2: Q is 2 by 3, but must be 3 by 3"));
  p = good;
  p.final_q = VectorXd::Zero(5);
  EXPECT_THAT(message_of(p), HasSubstr("the final q is 5 by 1"));
  p = good;
  p.stages[1].R(0, 0) = std::nan("");
  EXPECT_THAT(message_of(p), HasSubstr("stage 1: R has an entry that is not finite"));
  p = good;
  p.stages[3].B.setZero();
  p.stages[3].R.setZero();
  EXPECT_THAT(message_of(p), HasSubstr("stage 3: the cost has no minimum"));
  EXPECT_THROW(lq_cost(good, {}), Error);
}

}  // namespace
}  // namespace catena
