// SPDX-License-Identifier: BSD-3-Clause
// The Runge-Kutta method of order 8(5,3) of Dormand and Prince with step-size control and dense
// output of order 7: twelve evaluations a step, three more for a step that is evaluated inside.
#pragma once

#include <array>
#include <string>

#include "catena/simulation/integrators/dop853_coefficients.h"
#include "catena/simulation/integrators/integrator.h"

namespace catena {

class Dop853 final : public Integrator {
 public:
  Dop853(Ode& ode, const IntegratorSettings& settings);
  void interpolate_inside(double t, Eigen::VectorXd& y) override;
  double proposed_step() const override { return next_step_; }

 private:
  void begin() override;
  void begin_as_before() override;
  void advance(double limit) override;
  double first_step();
  // y_trial_ and stages 1 to 11; false when a rate cannot be computed there (failure_ says why).
  bool try_step(double h);
  double error_norm(double h);
  void sum(const dop853::Row& row, Eigen::VectorXd& result) const;
  void prepare_dense_output();
  void look_for_stiffness();

  IntegratorSettings settings_;
  std::array<Eigen::VectorXd, dop853::kExtendedStages> stage_;
  std::array<Eigen::VectorXd, 3 + dop853::kDenseRows> dense_;
  Eigen::VectorXd y_trial_;
  Eigen::VectorXd sum_;
  Eigen::VectorXd error_;
  Eigen::VectorXd scale_;
  Eigen::VectorXd trial_size_;
  double next_step_ = 0.0;
  double usual_step_ = 0.0;
  double noise_at_start_ = 0.0;
  double noise_ = 0.0;  // the largest of all stages of the step
  int worst_ = -1;
  bool dense_ready_ = false;
  bool ahead_ = false;   // the last stage holds the next step's first
  int steps_ = 0;        // since the start
  int stiff_steps_ = 0;  // and those that were as long as stability allows
  int easy_steps_ = 0;
  std::string failure_;
};

}  // namespace catena
