// SPDX-License-Identifier: BSD-3-Clause
// The last step of an integrator: dense output, instants inside the step, and evaluations there.
// Rates inside, which dense output may need, start from both ends of the step, as the instants do
// (coordinates/instant.h).
#pragma once

#include "catena/simulation/equations.h"

namespace catena {

class LastStep {
 public:
  LastStep(Equations& equations, Integrator& integrator)
      : equations_(equations), integrator_(&integrator), within_(*this) {}

  // Another integrator makes the steps from now on.
  void use(Integrator& integrator) { integrator_ = &integrator; }

  // Adopts the step that the integrator has made from y_start, the anchor of the coordinates.
  // `looked_into`: whether its inside will be evaluated. Throws NumericalError if its end cannot be
  // found, or its inside cannot be evaluated when it should be.
  void take(const Eigen::VectorXd& y_start, bool looked_into);

  double start() const { return integrator_->previous_time(); }
  double end() const { return integrator_->time(); }
  const Eigen::VectorXd& y_end() const { return integrator_->state(); }
  const Instant& last() const { return span_.last; }

  // y at a time of the step, and the instant of such a y.
  void interpolate(double t, Eigen::VectorXd& y) { integrator_->interpolate(t, y, &within_); }
  void at(double t, const Eigen::VectorXd& y, Instant& instant) {
    equations_.inside(span_, t, y, instant);
  }
  // Moves y onto the constraints, for a row: it does not change the motion.
  void close_row(double t, Eigen::VectorXd& y) { equations_.close_row(span_, t, y); }

 private:
  // The equations with rates found inside the step.
  class Within final : public Ode {
   public:
    explicit Within(LastStep& step) : step_(step) {}
    int size() const override { return step_.equations_.size(); }
    void rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override;

   private:
    LastStep& step_;
    Instant instant_;
    Evaluation found_;
  };

  Equations& equations_;
  Integrator* integrator_;
  StepSpan span_;
  Within within_;
  Eigen::VectorXd y_;
};

}  // namespace catena
