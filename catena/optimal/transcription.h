// SPDX-License-Identifier: BSD-3-Clause
// Transcription: a motion problem as a nonlinear program in finitely many numbers,
//
//   minimize J(x)   subject to   lower <= x <= upper,   c_lower <= c(x) <= c_upper,
//
// x being the free coefficients of the controls and, if it is free, the duration. J is a sum of
// squares (a duration is half the square of a root), so that JᵀJ of the residuals (Gauss-
// Newton) approximates its Hessian matrix ([Nocedal & Wright 2006], chapter 10). All derivatives
// are exact for the computed numbers (trajectory/rollout.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catena/dynamics/workspace.h"
#include "catena/optimal/problem.h"
#include "catena/simulation/signals/signal.h"

namespace catena {

struct ProgramValues {
  double cost = 0.0;
  Eigen::VectorXd parts;        // of the cost, as cost_names() says
  Eigen::VectorXd constraints;  // c
  Eigen::VectorXd gradient;     // of the cost
  Eigen::MatrixXd hessian;      // Gauss-Newton
  Eigen::MatrixXd jacobian;     // of c
};

class Transcription {
 public:
  // Throws Error with all mistakes of the problem.
  explicit Transcription(const MotionProblem& problem);

  const MotionProblem& problem() const { return problem_; }
  const SplineControls& controls() const { return *controls_; }
  int variables() const { return static_cast<int>(guess_.size()); }
  const Eigen::VectorXd& guess() const { return guess_; }
  const Eigen::VectorXd& lower() const { return lower_; }
  const Eigen::VectorXd& upper() const { return upper_; }
  bool bounded() const;  // some variable is
  int constraints() const { return static_cast<int>(rows_.size()); }
  const Eigen::VectorXd& constraint_lower() const { return row_lower_; }
  const Eigen::VectorXd& constraint_upper() const { return row_upper_; }
  // "velocity of 'elbow' at 0.35 s".
  std::string constraint_name(int i, double duration) const;
  const std::vector<std::string>& cost_names() const { return cost_names_; }
  double duration(const Eigen::VectorXd& x) const;
  // Largest violation of the bounds of c and x.
  double violation(const Eigen::VectorXd& x, const Eigen::VectorXd& c, int* worst = nullptr) const;

  // Violation of the bounds on the path at a point of the motion.
  double overshoot(const MotionPoint& point) const;

  enum class Want { values, derivatives };
  // False: no motion can be computed with these numbers; failure() says why.
  bool evaluate(const Eigen::VectorXd& x, Want want, ProgramValues& out);
  const std::string& failure() const { return failure_; }
  // The motion itself, on a grid that is this many times as fine.
  void visit(const Eigen::VectorXd& x, const Rollout::Visitor& visitor, int finer = 1);
  // Cost on a grid twice as fine, to estimate the quadrature error. NaN if it cannot be computed.
  double refined_cost(const Eigen::VectorXd& x);

 private:
  struct Term {  // ½ weight (x − reference)² under the integral
    MotionQuantity quantity = MotionQuantity::effort;
    int freedom = 0, coordinate = -1;
    int control = -1;  // the rate of this one instead
    double weight = 1.0;
    std::optional<Signal> reference;
    const CustomCost* custom = nullptr;
  };
  struct Final {  // weight (x − target)²; weight 0: a row of the constraints
    MotionQuantity quantity = MotionQuantity::position;
    int freedom = -1, coordinate = -1;
    int body = -1, axis = 0;  // of a point
    Vec3d point = {};
    double target = 0.0, weight = 0.0;
    std::string name;
  };
  struct Row {
    int final = -1;  // else a bound on the path
    MotionQuantity quantity = MotionQuantity::position;
    int freedom = 0, coordinate = -1;
    double u = 0.0;
  };
  struct Path {
    MotionQuantity quantity;
    int freedom, coordinate;
    double lower, upper;
  };

  void make_guess();
  void make_terms();
  void make_rows();
  void make_final_rows();
  void make_paths();
  void make_path_rows();
  void add_row(const Row& row, double lower, double upper);
  bool is_given(const Path& path, int point) const;
  double value(const Path& path, const MotionPoint& point) const;
  void row(MotionQuantity quantity, int freedom, const MotionColumns& columns,
           Eigen::Ref<Eigen::RowVectorXd> to) const;
  // Residual and its row over all columns of the rollout, of a running term.
  double residual(Term& term, const MotionPoint& point, Eigen::RowVectorXd* gradient) const;
  double final_value(const Final& f, const MotionPoint& point, Eigen::RowVectorXd* gradient) const;

  class Sum;

  MotionProblem problem_;
  std::unique_ptr<SplineControls> controls_;
  std::unique_ptr<Rollout> rollout_;
  Eigen::VectorXd guess_, lower_, upper_;
  std::vector<Term> terms_;
  std::vector<Final> finals_;
  std::vector<Path> paths_;
  std::vector<int> path_points_;  // indices of the points at which bounds are checked
  std::vector<int> path_rows_;    // point by point, bound by bound; −1: none there
  std::vector<Row> rows_;
  Eigen::VectorXd row_lower_, row_upper_;
  std::vector<std::string> cost_names_;
  std::vector<int> cost_of_term_, cost_of_final_;
  std::string failure_;
  mutable std::unique_ptr<Workspace> kinematics_;
};

}  // namespace catena
