// SPDX-License-Identifier: BSD-3-Clause
// Inputs and costs of a trajectory problem.
//
// A TrajectoryInput turns time and parameters into efforts, and into the motion of motion-driven
// freedoms. A TrajectoryCost is an integral and a terminal part. Both give their gradients.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "catena/model/mechanism.h"
#include "catena/trajectory/bspline.h"

namespace catena {

// Inputs at one time. Gradients by them have the same form.
struct InputValues {
  Eigen::VectorXd effort;  // of all freedoms
  // Of all freedoms; entries of motion-driven ones are read.
  Eigen::VectorXd position, velocity, acceleration;
  void set_zero(int freedoms);
};

class TrajectoryInput {
 public:
  virtual ~TrajectoryInput() = default;
  virtual int parameters() const = 0;
  // By freedom: 1 if its motion is prescribed. Empty: none.
  virtual const std::vector<std::uint8_t>& motion_driven() const = 0;
  // `values` is zero on entry.
  virtual void evaluate(double t, const Eigen::VectorXd& parameters, InputValues& values) const = 0;
  // gradient += (∂values/∂parameters)ᵀ bar.
  virtual void adjoint(double t, const Eigen::VectorXd& parameters, const InputValues& bar,
                       Eigen::VectorXd& gradient) const = 0;
};

// Clamped uniform B-splines for efforts or motions of freedoms; the parameters are their free
// coefficients, spline after spline. ([Sohl & Bobrow 2001], section 5.)
class SplineInput final : public TrajectoryInput {
 public:
  static constexpr int kMaxDegree = kMaxSplineDegree;
  struct Spline {
    int freedom = 0;
    bool motion = false;  // of position, else of effort
    int degree = 3;
    int coefficients = 8;
    // The first and last of them are held (two at either end of a motion: it starts and ends at
    // rest).
    int held_first = 0, held_last = 0;
    double first = 0.0, last = 0.0;
  };
  // Throws NumericalError for an invalid spline.
  SplineInput(const Mechanism& mechanism, double duration, std::vector<Spline> splines);

  int parameters() const override { return parameters_; }
  const std::vector<std::uint8_t>& motion_driven() const override { return driven_; }
  void evaluate(double t, const Eigen::VectorXd& parameters, InputValues& values) const override;
  void adjoint(double t, const Eigen::VectorXd& parameters, const InputValues& bar,
               Eigen::VectorXd& gradient) const override;

 private:
  // With derivatives by time.
  SplineBasis basis(const Spline& spline, double t) const;
  double duration_;
  std::vector<Spline> splines_;
  std::vector<int> first_;  // parameter of each spline
  int parameters_ = 0;
  std::vector<std::uint8_t> driven_;
};

// Constant efforts, no parameters.
class ConstantInput final : public TrajectoryInput {
 public:
  explicit ConstantInput(Eigen::VectorXd effort) : effort_(std::move(effort)) {}
  int parameters() const override { return 0; }
  const std::vector<std::uint8_t>& motion_driven() const override { return driven_; }
  void evaluate(double, const Eigen::VectorXd&, InputValues& values) const override {
    values.effort = effort_;
  }
  void adjoint(double, const Eigen::VectorXd&, const InputValues&,
               Eigen::VectorXd&) const override {}

 private:
  Eigen::VectorXd effort_;
  std::vector<std::uint8_t> driven_;
};

struct CostPoint {
  double time = 0.0;
  const State& state;
  const Eigen::VectorXd& acceleration;  // of all freedoms
  const Eigen::VectorXd& effort;        // given, and found at motion-driven freedoms
};

// By all freedoms; q by tangent directions.
struct CostGradient {
  Eigen::VectorXd q, v, acceleration, effort;
  void set_zero(int freedoms);
};

class TrajectoryCost {
 public:
  virtual ~TrajectoryCost() = default;
  // `gradient` (null: not wanted) is zero on entry.
  virtual double running(const CostPoint&, CostGradient*) const { return 0.0; }
  virtual double terminal(const CostPoint&, CostGradient*) const { return 0.0; }
};

// ½ ∫ Σ weight_i τ_i² dt + Σ a_i (q_i(T) − q*_i)² + Σ b_i (v_i(T) − v*_i)², by freedom. Positions
// are those of freedoms that have a coordinate of their own. Empty vectors are zero.
class QuadraticCost final : public TrajectoryCost {
 public:
  Eigen::VectorXd effort_weight;
  Eigen::VectorXd position_weight, position_target;
  Eigen::VectorXd velocity_weight, velocity_target;
  explicit QuadraticCost(const Mechanism& mechanism) : m_(mechanism) {}
  double running(const CostPoint& point, CostGradient* gradient) const override;
  double terminal(const CostPoint& point, CostGradient* gradient) const override;

 private:
  const Mechanism& m_;
};

}  // namespace catena
