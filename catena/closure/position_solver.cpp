// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/position_solver.h"

#include <algorithm>
#include <cmath>

#include "catena/base/damped_step.h"
#include "catena/base/dense.h"
#include "catena/base/index.h"

namespace catena {
namespace {

// The residual that Newton's method reaches in double precision, with two digits to spare.
constexpr double kFullyClosed = 1e-14;
// Newton's method takes over below this.
constexpr double kNear = 1e-5;

}  // namespace

Eigen::VectorXd least_norm(const Eigen::MatrixXd& a, const Eigen::VectorXd& right,
                           double threshold) {
  return CompleteOrthogonal(a, threshold).solve(right);
}

PositionSolver::PositionSolver(const Mechanism& mechanism, Problem problem)
    : problem_(std::move(problem)) {
  for (const int i : problem_.freedoms) {
    Bound bound;
    bound.coordinate = at(mechanism.coordinate_of_freedom(), i);
    if (problem_.keep_limits && bound.coordinate >= 0) {
      bound.lower = at(mechanism.freedom_settings(), i).lower;
      bound.upper = at(mechanism.freedom_settings(), i).upper;
    }
    bounds_.push_back(bound);
  }
}

ClosureEquations PositionSolver::equations(const Eigen::VectorXd& q) const {
  ClosureEquations e = problem_.equations(q);
  e.jacobian = e.jacobian * problem_.unit.asDiagonal();
  return e;
}

Eigen::VectorXd PositionSolver::moved(const Eigen::VectorXd& q, Eigen::VectorXd& s) const {
  for (int k = 0; k < size(); ++k) {
    const Bound& bound = at(bounds_, k);
    if (bound.coordinate < 0) continue;
    const double from = q[bound.coordinate], unit = problem_.unit[k];
    const double lower = std::min(bound.lower, from), upper = std::max(bound.upper, from);
    s[k] = (std::clamp(from + unit * s[k], lower, upper) - from) / unit;
  }
  return problem_.moved(q, problem_.unit.cwiseProduct(s));
}

Eigen::VectorXd PositionSolver::step_within(
    const Eigen::VectorXd& q, Eigen::MatrixXd jacobian,
    const std::function<Eigen::VectorXd(const Eigen::MatrixXd&)>& solve) const {
  Eigen::VectorXd s = solve(jacobian);
  for (int round = 0; round < size(); ++round) {
    bool changed = false;
    for (int k = 0; k < size(); ++k) {
      const Bound& bound = at(bounds_, k);
      if (bound.coordinate < 0 || jacobian.col(k).isZero(0.0)) continue;
      const double from = q[bound.coordinate];
      if ((from <= bound.lower && s[k] < 0.0) || (from >= bound.upper && s[k] > 0.0)) {
        jacobian.col(k).setZero();
        changed = true;
      }
    }
    if (!changed) break;
    s = solve(jacobian);
  }
  return s;
}

void PositionSolver::levenberg_marquardt(Eigen::VectorXd& q, ClosureEquations& e) const {
  constexpr int kSteps = 200;
  constexpr double kStart = 1e-2, kLeast = 1e-10, kMost = 1e8;
  constexpr double kLongestStep = 0.5;  // unit steps: keeps to the branch of the guess
  double damping = kStart;
  for (int step = 0; step < kSteps && e.residual.norm() > kFullyClosed && damping < kMost; ++step) {
    Eigen::VectorXd s = step_within(q, e.jacobian, [&](const Eigen::MatrixXd& a) {
      return damped_step(a, e.residual, damping);
    });
    if (const double longest = s.lpNorm<Eigen::Infinity>(); longest > kLongestStep)
      s *= kLongestStep / longest;
    const Eigen::VectorXd trial = moved(q, s);
    ClosureEquations trial_e = equations(trial);
    if (trial_e.residual.norm() < e.residual.norm()) {
      const bool settled = e.residual.norm() - trial_e.residual.norm() < 1e-9 * e.residual.norm();
      q = trial;
      e = std::move(trial_e);
      damping = std::max(damping / 10.0, kLeast);
      if (settled && damping <= kLeast) break;
    } else {
      damping *= 4.0;
    }
  }
}

void PositionSolver::newton(Eigen::VectorXd& q, ClosureEquations& e) const {
  for (int step = 0; step < 6 && e.residual.norm() < kNear && e.residual.norm() > 0.0; ++step) {
    Eigen::VectorXd s = step_within(
        q, e.jacobian, [&](const Eigen::MatrixXd& a) { return least_norm(a, -e.residual); });
    const Eigen::VectorXd trial = moved(q, s);
    ClosureEquations trial_e = equations(trial);
    if (!(trial_e.residual.norm() < e.residual.norm())) break;
    q = trial;
    e = std::move(trial_e);
  }
}

}  // namespace catena
