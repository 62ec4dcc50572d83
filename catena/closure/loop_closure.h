// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; mobility.h needs it.
//
// The residual of a loop's closure equations, and its Jacobian.
//
// The residual has the rows of the closure equations (rows.h): for a cut hinge the part of its
// displacement that the hinge does not allow (rotation vector, then distance), for a rod half the
// excess of the squared length over the length, for a coupling its value. Angles are in radians;
// lengths are divided by a length of the loop, and couplings by the norm of their gradient, so that
// the rows compare.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/aggregate_tables.h"

namespace catena {

struct ClosureEquations {
  Eigen::VectorXd residual;
  // Rows by freedoms. Exact for rows that measure lengths and for couplings, and in a closed
  // position; otherwise right to the first order of the residual's angles.
  Eigen::MatrixXd jacobian;
};

class LoopClosure {
 public:
  // Loop number `loop` of the mechanism, which must outlive it.
  LoopClosure(const Mechanism& mechanism, int loop);

  const Aggregate& aggregate() const { return a_; }
  int rows() const { return a_.rows; }
  int freedoms() const { return a_.freedoms; }
  double length() const { return a_.length; }
  bool constant() const { return a_.constant; }
  // The v index of a column.
  int freedom(int column) const;
  // Whether a column is a mode of a flexible body.
  bool is_mode(int column) const;

  Eigen::VectorXd residual(const Eigen::VectorXd& q) const;
  ClosureEquations equations(const Eigen::VectorXd& q) const;
  // The rows as the kernels see them: Y of Y v = 0.
  Eigen::MatrixXd velocity_rows(const Eigen::VectorXd& q) const;
  // Wrench of each closure on its child's side for given multipliers of velocity_rows() (Lagrange
  // multipliers), in the frame on that side; zero for couplings. Closures in the order of the
  // aggregate's.
  std::vector<Wrenchd> wrenches_on_child(const Eigen::VectorXd& q,
                                         const Eigen::VectorXd& multipliers) const;
  // The multiplier of a coupling's row times this is that of the coupling as the user wrote it.
  double coupling_scale(const Eigen::VectorXd& q, int closure) const;
  // Closure and row within it of a row of the equations.
  ChartRow row(int i) const;

  // q with the members moved by `step`, one number a column.
  Eigen::VectorXd moved(const Eigen::VectorXd& q, const Eigen::VectorXd& step) const;

  // 1 for a freedom that turns, length() for one that only shifts, a tenth of its length for a mode
  // of a flexible body: comparable steps.
  Eigen::VectorXd unit_steps(const Eigen::VectorXd& q) const;

  // "loop of 'crank', 'coupler' and 'rocker'".
  std::string name() const;
  // The worst of a residual in words: "hinge 'C' is open by 0.01 m and 0.2 rad".
  std::string worst(const Eigen::VectorXd& residual) const;

 private:
  struct Motions;
  Motions motions(const Eigen::VectorXd& q) const;
  template <class Visit>
  void visit_closures(Visit visit) const;
  std::pair<double, std::vector<double>> coupling_gradient(const Closure& c,
                                                           const Eigen::VectorXd& q) const;
  void fill_rows(const Eigen::VectorXd& q, Eigen::MatrixXd& rows, Eigen::VectorXd* residual) const;

  const Mechanism& m_;
  const AggregateTables& t_;
  const Aggregate& a_;
  int loop_ = 0;
};

}  // namespace catena
