// SPDX-License-Identifier: BSD-3-Clause
// Methods of fixed step: Euler, Adams-Bashforth 2 to 4, Runge-Kutta 4, Adams-Moulton 4 (Kasahara,
// Honda and Narita, table I, whose "trapezoidal" rule is Adams-Bashforth 2).
//
// Multistep methods start with Runge-Kutta 4, and so does a step that a limit cuts short. Between
// the ends of a step y is a quartic: through both with their rates, and with one more rate inside.
#pragma once

#include <array>

#include "catena/simulation/integrators/integrator.h"

namespace catena {

class FixedStep final : public Integrator {
 public:
  FixedStep(Ode& ode, const IntegratorSettings& settings);
  void interpolate_inside(double t, Eigen::VectorXd& y) override;

 private:
  void begin() override;
  void advance(double limit) override;
  void runge_kutta(double h);
  void adams_bashforth(double h);
  void adams_moulton(double h);
  void prepare_dense_output();

  IntegratorSettings settings_;
  int order_ = 1;           // past rates that the method needs, the present one included
  int known_ = 0;           // that are known; the newest is past_[0]
  std::int64_t count_ = 0;  // steps since start_
  double start_ = 0.0;
  std::array<Eigen::VectorXd, 5> past_;
  std::array<Eigen::VectorXd, 3> k_;
  Eigen::VectorXd y_stage_;
  Eigen::VectorXd bend_;  // of dense output: correction of the cubic, factor of x² (1 − x)²
  bool bend_ready_ = false;
};

}  // namespace catena
