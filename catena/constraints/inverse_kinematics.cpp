// SPDX-License-Identifier: BSD-3-Clause
#include "catena/constraints/inverse_kinematics.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/configuration.h"

namespace catena {
namespace {

// A goal out of reach must not pull a loop open: then its closure weighs more. Goals within reach
// are found better with equal weights, which do not tie the search to the closed positions.
constexpr double kClosureWeight = 1e3;

// d log(R) = J ω for R turning at ω in ground axes.
Eigen::Matrix3d rate_of_log(const Vec3d& turn) {
  Eigen::Matrix3d cross;
  cross << 0.0, -turn.z, turn.y, turn.z, 0.0, -turn.x, -turn.y, turn.x, 0.0;
  const double angle = norm(turn);
  const double second = angle < 1e-3 ? 1.0 / 12.0
                        : angle < 3.0
                            ? (1.0 - 0.5 * angle / std::tan(0.5 * angle)) / (angle * angle)
                            : 1.0 / (angle * angle);
  return Eigen::Matrix3d::Identity() - 0.5 * cross + second * cross * cross;
}

// Goals and closures over the freedoms that may move.
class Equations {
 public:
  Equations(const Mechanism& mechanism, const InverseKinematicsGoals& goals,
            const std::vector<std::uint8_t>& fixed)
      : m_(mechanism), goals_(goals), w_(mechanism) {
    column_.assign(to_size(mechanism.freedoms()), -1);
    for (int i = 0; i < mechanism.freedoms(); ++i) {
      if (!fixed.empty() && fixed[index(i)] != 0) continue;
      column_[index(i)] = static_cast<int>(free_.size());
      free_.push_back(i);
    }
    rows_ = 3 * static_cast<int>(goals.points.size()) + 6 * static_cast<int>(goals.frames.size());
    for (const Aggregate& a : aggregate_tables(mechanism).aggregates) rows_ += a.rows;
  }

  const std::vector<int>& free() const { return free_; }
  void set_weight(double weight) { weight_ = weight; }

  ClosureEquations operator()(const Eigen::VectorXd& q) {
    update_kinematics(m_, q, w_);
    const auto columns = static_cast<Eigen::Index>(free_.size());
    ClosureEquations e{Eigen::VectorXd::Zero(rows_), Eigen::MatrixXd::Zero(rows_, columns)};
    int row = 0;
    for (const PointGoal& goal : goals_.points) {
      const Eigen::MatrixXd j = body_jacobian(m_, w_, goal.body, goal.point);
      e.residual.segment<3>(row) =
          to_eigen(point_position(m_, w_, goal.body, goal.point) - goal.target);
      e.jacobian.middleRows<3>(row) = j.bottomRows<3>()(Eigen::all, free_);
      row += 3;
    }
    for (const FrameGoal& goal : goals_.frames) {
      const Transformd pose = body_pose(m_, w_, goal.body) * goal.frame;
      const Eigen::MatrixXd j = body_jacobian(m_, w_, goal.body, goal.frame.translation);
      // The turn that is left, in ground axes.
      const Vec3d turn = log(pose.rotation * goal.target.rotation.inverse());
      e.residual.segment<3>(row) = to_eigen(turn);
      e.residual.segment<3>(row + 3) = to_eigen(pose.translation - goal.target.translation);
      e.jacobian.middleRows<6>(row) = j(Eigen::all, free_);
      e.jacobian.middleRows<3>(row) = rate_of_log(turn) * e.jacobian.middleRows<3>(row).eval();
      row += 6;
    }
    goal_rows_ = row;
    for (int i = 0; i < static_cast<int>(m_.loops().size()); ++i) {
      const LoopClosure loop(m_, i);
      const ClosureEquations own = loop.equations(q);
      e.residual.segment(row, loop.rows()) = weight_ * own.residual;
      for (int k = 0; k < loop.freedoms(); ++k) {
        const int column = column_[index(loop.freedom(k))];
        if (column >= 0)
          e.jacobian.block(row, column, loop.rows(), 1) = weight_ * own.jacobian.col(k);
      }
      row += loop.rows();
    }
    return e;
  }

  InverseKinematics report(const Eigen::VectorXd& q) {
    const ClosureEquations e = (*this)(q);
    InverseKinematics result;
    result.q = q;
    int row = 0;
    for (std::size_t i = 0; i < goals_.points.size(); ++i, row += 3)
      result.distance = std::max(result.distance, e.residual.segment<3>(row).norm());
    for (std::size_t i = 0; i < goals_.frames.size(); ++i, row += 6) {
      result.angle = std::max(result.angle, e.residual.segment<3>(row).norm());
      result.distance = std::max(result.distance, e.residual.segment<3>(row + 3).norm());
    }
    result.closure_residual = e.residual.tail(rows_ - goal_rows_).norm() / weight_;
    result.reached = result.distance <= kReached && result.angle <= kReached &&
                     result.closure_residual <= kClosed;
    return result;
  }

 private:
  const Mechanism& m_;
  const InverseKinematicsGoals& goals_;
  Workspace w_;
  std::vector<int> free_, column_;
  int rows_ = 0, goal_rows_ = 0;
  double weight_ = 1.0;
};

void check_body(const Mechanism& mechanism, int body) {
  if (body < 0 || body >= static_cast<int>(mechanism.bodies().size()))
    throw NumericalError("inverse kinematics: a goal is for body " + std::to_string(body) +
                         ", but '" + mechanism.name() + "' has " +
                         std::to_string(mechanism.bodies().size()) + " bodies");
}

}  // namespace

InverseKinematics inverse_kinematics(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                                     const InverseKinematicsGoals& goals,
                                     const InverseKinematicsSettings& settings) {
  const auto check_finite = [](const char* what, const Vec3d& x) {
    if (!std::isfinite(x.x) || !std::isfinite(x.y) || !std::isfinite(x.z))
      throw NumericalError(std::string("inverse kinematics: the ") + what + " is " + number(x.x) +
                           ", " + number(x.y) + ", " + number(x.z) + "; it must be finite");
  };
  for (const PointGoal& goal : goals.points) {
    check_body(mechanism, goal.body);
    check_finite("point", goal.point);
    check_finite("target", goal.target);
  }
  for (const FrameGoal& goal : goals.frames) {
    check_body(mechanism, goal.body);
    for (const Transformd* const x : {&goal.frame, &goal.target}) {
      check_finite(x == &goal.frame ? "frame's place" : "target", x->translation);
      for (int k = 0; k < 3; ++k)
        check_finite(x == &goal.frame ? "frame's axis" : "orientation", x->rotation.axis(k));
    }
  }
  if (goals.points.empty() && goals.frames.empty())
    throw NumericalError("inverse kinematics: no goal is given");
  Equations equations(mechanism, goals, settings.fixed);
  PositionSolver::Problem problem;
  problem.freedoms = equations.free();
  problem.unit = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(problem.freedoms.size()));
  problem.keep_limits = settings.keep_limits;
  problem.equations = [&](const Eigen::VectorXd& q) { return equations(q); };
  problem.moved = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& step) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(mechanism.freedoms());
    v(equations.free()) = step;
    return integrate(mechanism, q, v);
  };
  const PositionSolver solver(mechanism, std::move(problem));

  const bool closed = !mechanism.loops().empty();
  const auto solve_from = [&](Eigen::VectorXd q) {
    InverseKinematics found;
    for (const double weight : {1.0, kClosureWeight}) {
      if (weight != 1.0 && !closed) break;
      equations.set_weight(weight);
      ClosureEquations e = solver.equations(q);
      if (solver.size() > 0) {
        solver.levenberg_marquardt(q, e);
        solver.newton(q, e);
      }
      found = equations.report(q);
      if (found.reached) return found;
    }
    if (found.closure_residual < 1e-12) return found;
    return equations.report(
        find_assembly(
            mechanism, q,
            {.fixed = settings.fixed, .keep_limits = settings.keep_limits, .closest = true})
            .q);
  };
  // What is worse: an open loop, then a goal that is missed.
  const auto badness = [](const InverseKinematics& r) {
    return (r.closure_residual > kClosed ? 1e6 * (1.0 + r.closure_residual) : 0.0) + r.distance +
           r.angle;
  };
  Eigen::VectorXd start = guess;
  normalize_quaternions(mechanism, start);
  if (settings.keep_limits) start = within_limits(mechanism, start, equations.free());
  InverseKinematics best = solve_from(start);
  for (int i = 0; i < settings.restarts && !best.reached && solver.size() > 0; ++i) {
    if (settings.goes_on && !settings.goes_on())
      throw NumericalError("inverse kinematics was stopped");
    const double size = 0.2 + 2.8 * static_cast<double>(i) / settings.restarts;
    Eigen::VectorXd shift = size * random_vector(solver.size(), static_cast<std::uint64_t>(i) + 1);
    const InverseKinematics other = solve_from(solver.moved(start, shift));
    if (badness(other) < badness(best)) best = other;
  }
  return best;
}

}  // namespace catena
