// SPDX-License-Identifier: BSD-3-Clause
// Rollout (single shooting): the motion that spline controls give, on a grid that is aligned with
// their knots, with its derivatives by every parameter.
//
// Motion-driven freedoms follow their splines; the others are integrated (hybrid dynamics, Runge-
// Kutta 4, the same even number of steps between any two knots). Integrals over the motion are
// taken with Simpson's rule on the steps' ends. If all independent freedoms are driven, nothing is
// integrated and the motion is evaluated at Gauss-Legendre points. With fewer than 16 points in a
// span an optimizer exploits the errors of the quadrature.
//
// Derivatives are those of the computed numbers: the steps themselves are differentiated. (Hinges
// whose coordinates are quaternions: right to the order of the method.) Closed mechanisms keep the
// chart of the start.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "catena/model/mechanism.h"
#include "catena/trajectory/controls.h"

namespace catena {

struct MotionGrid {
  int steps = 20;             // between two knots, even
  int points = 8, parts = 4;  // Gauss points in each part of the distance between two knots
};

// Rows: all freedoms, q by tangent directions. Columns: the parameters, and the duration last.
struct MotionColumns {
  Eigen::MatrixXd q, v, acceleration, effort;
};

struct MotionPoint {
  double time = 0.0;
  double duration = 1.0;  // of the whole motion
  // ∫ L dt ≈ Σ weight · L; proportional to the duration.
  double weight = 0.0;
  bool last = false;  // the end of the motion
  const State& state;
  const Eigen::VectorXd& acceleration;  // of all freedoms
  const Eigen::VectorXd& effort;        // given, and found at motion-driven freedoms
  const std::vector<ControlValue>& controls;
  const MotionColumns* columns = nullptr;  // if they are wanted
};

class Rollout {
 public:
  // All must outlive it. Throws NumericalError for a grid that is too coarse, and for closed loops
  // with quaternions inside.
  Rollout(const Mechanism& mechanism, const SplineControls& controls, const State& initial,
          const MotionGrid& grid);
  ~Rollout();
  Rollout(Rollout&&) noexcept;

  // The parameters of the controls and the duration.
  int columns() const;
  // True: all independent freedoms are driven; nothing is integrated.
  bool driven() const;
  // Points of visit() and their places in the motion, 0 to 1.
  int points() const;
  std::vector<double> places() const;

  // Visits the points in order of time, the last one at the end. Throws NumericalError where the
  // motion cannot be computed.
  using Visitor = std::function<void(const MotionPoint&)>;
  void run(double duration, const Eigen::VectorXd& parameters, bool with_columns,
           const Visitor& visit);

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

}  // namespace catena
