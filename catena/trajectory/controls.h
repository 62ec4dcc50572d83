// SPDX-License-Identifier: BSD-3-Clause
// SplineControls: the unknown inputs of trajectory optimization. Each control is a clamped uniform
// B-spline over the whole duration, of the motion of a freedom or of the effort at it; the
// parameters are the coefficients that the ends do not hold, control after control.
//
// Time runs as u = t / T from 0 to 1, so that the duration T can be a parameter as well: a motion
// q(u) has the velocity q'/T and the acceleration q''/T².
//
// A motion that starts at a given position has its first coefficient held, one with a given
// velocity its second, c_1 = c_0 + v T / (degree · spans); likewise at the end.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/model/mechanism.h"
#include "catena/trajectory/bspline.h"

namespace catena {

struct SplineControl {
  int freedom = 0;
  bool motion = false;  // of position, else of effort
  int degree = 3;
  int coefficients = 8;
  // Of a motion; not given: free.
  std::optional<double> start_position, start_velocity, end_position, end_velocity;
};

// One control at one time: the quantity and its first three derivatives by time.
struct ControlValue {
  double value[4] = {};
  int first = 0;  // parameter; `count` of them
  int count = 0;
  double by_parameter[4][kMaxSplineDegree + 1] = {};
  double by_duration[4] = {};
};

class SplineControls {
 public:
  // Throws NumericalError for an invalid control.
  SplineControls(const Mechanism& mechanism, std::vector<SplineControl> controls);

  const std::vector<SplineControl>& controls() const { return controls_; }
  int size() const { return static_cast<int>(controls_.size()); }
  int parameters() const { return parameters_; }
  // Of one control.
  int first_parameter(int control) const { return first_[static_cast<std::size_t>(control)]; }
  int free_coefficients(int control) const;
  // By freedom: 1 if its motion is prescribed; empty if none is.
  const std::vector<std::uint8_t>& motion_driven() const { return driven_; }
  // The knots of all controls in [0, 1], ascending.
  std::vector<double> knots() const;
  // All coefficients of a control.
  Eigen::VectorXd coefficients(int control, double duration,
                               const Eigen::VectorXd& parameters) const;
  // Where the free coefficients of a control stand between its ends: evenly within (0, 1).
  Eigen::VectorXd places(int control) const;

  // At u, inside the span of the control that `inside` lies in.
  void evaluate(int control, double u, double inside, double duration,
                const Eigen::VectorXd& parameters, ControlValue& value) const;

 private:
  // The held coefficients at either end: number, values and their slope by T. A held velocity at a
  // free position lets the second coefficient follow the first.
  struct End {
    int held = 0;
    bool follows = false;
    double position = 0.0, step = 0.0;  // step: difference of the two, for T = 1
  };
  static End end(std::optional<double> position, std::optional<double> velocity, double scale);
  struct Coefficient {
    double base = 0.0, slope = 0.0;  // base + slope T
    int parameter = -1;              // and the value of this one
  };
  Coefficient coefficient(std::size_t control, int k) const;

  std::vector<SplineControl> controls_;
  std::vector<End> start_, finish_;
  std::vector<int> first_;
  int parameters_ = 0;
  std::vector<std::uint8_t> driven_;
};

}  // namespace catena
