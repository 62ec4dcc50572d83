// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; assembly.h needs it.
//
// Positions that satisfy equations r(q) = 0, by Levenberg-Marquardt and Newton: the solver of
// assembly and of inverse kinematics.
//
// Steps are bounded, which keeps to the branch of the guess where plain Newton jumps through whole
// turns. Hinge limits are kept: a freedom that a step would push through its limit is left out of
// that step. Least squares by QR: the normal equations would lose half the digits.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/loop_closure.h"

namespace catena {

// Pivots below this fraction of the largest are dependent rows. It stands above the errors of files
// with six digits (parallel axes typed as 1.5708), and below the pivots of a loop 0.02 rad away
// from a singular position.
inline constexpr double kRankThreshold = 1e-5;

// The solution of a x = right of least norm, in the sense of least squares; pivots below the
// threshold count as zero.
Eigen::VectorXd least_norm(const Eigen::MatrixXd& a, const Eigen::VectorXd& right,
                           double threshold = kRankThreshold);

class PositionSolver {
 public:
  struct Problem {
    std::vector<int> freedoms;  // v indices of the unknowns
    Eigen::VectorXd unit;       // of each: comparable steps
    bool keep_limits = true;
    // Residual and Jacobian, one column for each unknown.
    std::function<ClosureEquations(const Eigen::VectorXd& q)> equations;
    // q with the unknowns moved.
    std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& step)> moved;
  };
  PositionSolver(const Mechanism& mechanism, Problem problem);

  int size() const { return static_cast<int>(problem_.freedoms.size()); }
  // Jacobian columns in unit steps.
  ClosureEquations equations(const Eigen::VectorXd& q) const;
  // q moved by s (in unit steps), kept within the limits; the part cut off is subtracted from s.
  Eigen::VectorXd moved(const Eigen::VectorXd& q, Eigen::VectorXd& s) const;
  // The step of a linear solver, computed again without the freedoms that it would push through
  // their limits.
  Eigen::VectorXd step_within(
      const Eigen::VectorXd& q, Eigen::MatrixXd jacobian,
      const std::function<Eigen::VectorXd(const Eigen::MatrixXd&)>& solve) const;

  // Both improve q, whose equations are e.
  void levenberg_marquardt(Eigen::VectorXd& q, ClosureEquations& e) const;
  void newton(Eigen::VectorXd& q, ClosureEquations& e) const;

 private:
  struct Bound {
    int coordinate = -1;
    double lower = -kInfinity, upper = kInfinity;
  };
  Problem problem_;
  std::vector<Bound> bounds_;
};

}  // namespace catena
