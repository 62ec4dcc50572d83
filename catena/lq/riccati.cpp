// SPDX-License-Identifier: BSD-3-Clause
#include "catena/lq/riccati.h"

#include <string>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/text.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A pivot of D below this fraction of its diagonal element counts as zero.
constexpr double kLostPivot = 1e-14;

std::string size_text(Index rows, Index columns) {
  return std::to_string(rows) + " by " + std::to_string(columns);
}

// An empty matrix becomes zero; any other must have the size and be finite.
MatrixXd fitted(const MatrixXd& m, Index rows, Index columns, const std::string& what) {
  if (m.size() == 0) return MatrixXd::Zero(rows, columns);
  if (m.rows() != rows || m.cols() != columns)
    throw Error(what + " is " + size_text(m.rows(), m.cols()) + ", but must be " +
                size_text(rows, columns));
  if (!m.allFinite()) throw NumericalError(what + " has an entry that is not finite");
  return m;
}

// The stage with every matrix in place, and the number of states after it.
LqStage fitted(const LqStage& stage, Index states, Index next, std::size_t k) {
  const std::string at = "stage " + std::to_string(k) + ": ";
  const Index inputs = stage.B.cols();
  LqStage full;
  full.A = fitted(stage.A, next, states, at + "A");
  full.B = fitted(stage.B, next, inputs, at + "B");
  full.c = fitted(stage.c, next, 1, at + "c");
  full.Q = fitted(stage.Q, states, states, at + "Q");
  full.R = fitted(stage.R, inputs, inputs, at + "R");
  full.S = fitted(stage.S, inputs, states, at + "S");
  full.q = fitted(stage.q, states, 1, at + "q");
  full.r = fitted(stage.r, inputs, 1, at + "r");
  return full;
}

// Every matrix of the problem in place.
LqProblem fitted(const LqProblem& problem) {
  LqProblem full;
  full.start = fitted(problem.start, problem.start.size(), 1, "the start");
  Index states = full.start.size();
  for (std::size_t k = 0; k < problem.stages.size(); ++k) {
    const LqStage& stage = problem.stages[k];
    const Index next = stage.A.size() > 0   ? stage.A.rows()
                       : stage.B.size() > 0 ? stage.B.rows()
                                            : stage.c.size();
    full.stages.push_back(fitted(stage, states, next, k));
    states = next;
  }
  full.final_Q = fitted(problem.final_Q, states, states, "the final Q");
  full.final_q = fitted(problem.final_q, states, 1, "the final q");
  return full;
}

MatrixXd symmetric(const MatrixXd& m) { return 0.5 * (m + m.transpose()); }

LqPolicy sweep(const LqProblem& problem) {
  const std::size_t n = problem.stages.size();
  LqPolicy policy;
  policy.gain.resize(n);
  policy.feedforward.resize(n);
  policy.input_inertia.resize(n);
  policy.innovation.resize(n);
  policy.value.resize(n + 1);
  policy.slope.resize(n + 1);
  policy.constant.resize(n + 1);
  policy.value[n] = symmetric(problem.final_Q);
  policy.slope[n] = problem.final_q;
  policy.constant[n] = 0.0;
  for (std::size_t k = n; k-- > 0;) {
    const LqStage& s = problem.stages[k];
    const MatrixXd& P = policy.value[k + 1];
    const VectorXd moved = policy.slope[k + 1] + P * s.c;  // p + P c
    const MatrixXd R = symmetric(s.R);
    const MatrixXd PB = P * s.B;
    MatrixXd& D = policy.input_inertia[k];
    D = symmetric(R + s.B.transpose() * PB);
    const Cholesky factor(D);
    for (Index i = 0; i < D.rows(); ++i) {
      const double pivot = factor.pivot_root(i);
      if (!factor.succeeded() || !(pivot * pivot > kLostPivot * D(i, i)))
        throw NumericalError(
            "stage " + std::to_string(k) +
            ": the cost has no minimum over its inputs (R + Bᵀ P B is not positive "
            "definite); give every input a weight");
    }
    VectorXd& epsilon = policy.innovation[k];
    epsilon = -s.r - s.B.transpose() * moved;
    MatrixXd& K = policy.gain[k];
    policy.feedforward[k].resize(D.rows());
    K.resize(D.rows(), s.A.cols());
    // A stage may have no input or no state.
    if (D.rows() > 0) policy.feedforward[k] = factor.solve(epsilon);
    if (K.size() > 0) K = factor.solve(s.S + PB.transpose() * s.A);
    const MatrixXd closed = s.A - s.B * K;
    const MatrixXd crossed = s.S.transpose() * K;
    const MatrixXd of_state = closed.transpose() * P, of_input = K.transpose() * R;
    policy.value[k] =
        symmetric(s.Q + of_state * closed + of_input * K - crossed - crossed.transpose());
    policy.slope[k] = s.q + closed.transpose() * moved - K.transpose() * s.r;
    policy.constant[k] = policy.constant[k + 1] + s.c.dot(0.5 * P * s.c + policy.slope[k + 1]) -
                         0.5 * epsilon.dot(policy.feedforward[k]);
  }
  return policy;
}

}  // namespace

LqPolicy lq_policy(const LqProblem& problem) { return sweep(fitted(problem)); }

LqSolution solve_lq(const LqProblem& given) {
  const LqProblem problem = fitted(given);
  LqSolution solution;
  solution.policy = sweep(problem);
  const LqPolicy& policy = solution.policy;
  solution.x.push_back(problem.start);
  for (std::size_t k = 0; k < problem.stages.size(); ++k) {
    const LqStage& s = problem.stages[k];
    const VectorXd& x = solution.x.back();
    solution.u.push_back(policy.feedforward[k] - policy.gain[k] * x);
    solution.x.push_back(s.A * x + s.B * solution.u.back() + s.c);
  }
  for (std::size_t k = 0; k <= problem.stages.size(); ++k)
    solution.costate.push_back(policy.value[k] * solution.x[k] + policy.slope[k]);
  const VectorXd& x = problem.start;
  solution.cost = x.dot(0.5 * policy.value[0] * x + policy.slope[0]) + policy.constant[0];
  return solution;
}

double lq_cost(const LqProblem& given, const std::vector<VectorXd>& u) {
  const LqProblem problem = fitted(given);
  if (u.size() != problem.stages.size())
    throw Error("there are " + std::to_string(u.size()) + " inputs for " +
                std::to_string(problem.stages.size()) + " stages");
  double cost = 0.0;
  VectorXd x = problem.start;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const LqStage& s = problem.stages[k];
    const VectorXd input = fitted(u[k], s.B.cols(), 1, "input " + std::to_string(k));
    cost += x.dot(0.5 * s.Q * x + s.q) + input.dot(0.5 * s.R * input + s.S * x + s.r);
    x = s.A * x + s.B * input + s.c;
  }
  return cost + x.dot(0.5 * problem.final_Q * x + problem.final_q);
}

}  // namespace catena
