// SPDX-License-Identifier: BSD-3-Clause
// Measures energy and momentum along a simulation and judges them (audit.h).
#pragma once

#include <span>
#include <vector>

#include "catena/dynamics/energy.h"
#include "catena/dynamics/momentum.h"
#include "catena/simulation/equations.h"
#include "catena/simulation/recording/audit.h"

namespace catena {

class Auditor {
 public:
  explicit Auditor(Equations& equations);

  void start(const Instant& first);
  // Measurements at a state; y has the work done until then.
  struct Measured {
    Energy energy;
    Momentum momentum;          // angular: about the mass centre
    double energy_error = 0.0;  // J
  };
  Measured measure(const State& state, const Eigen::VectorXd& y);
  // Judges the measurements: for the ends of steps, since a state in between has the error of
  // interpolation in addition.
  void judge(const Instant& here, const Measured& measured, const Eigen::VectorXd& y);
  void observe(const Instant& here, const Eigen::VectorXd& y) {
    judge(here, measure(here.state, y), y);
  }
  Audit report(const Eigen::VectorXd& y) const;

  // Values for a checkpoint.
  std::vector<double> save() const;
  void restore(std::span<const double> saved);
  static constexpr std::size_t kSaved = 19;

 private:
  double weight_times_size(const State& state);

  Equations& equations_;
  EnergyMeter meter_;
  Workspace workspace_;
  double start_ = 0.0;
  double first_energy_ = 0.0;
  double first_potential_ = 0.0;
  Momentum first_momentum_;
  double energy_error_ = 0.0;
  double most_kinetic_ = 0.0;
  double most_potential_change_ = 0.0;
  double most_work_ = 0.0;
  double most_inertia_ = 0.0;  // trace
  double linear_error_ = 0.0;
  double angular_error_ = 0.0;
  double closure_residual_ = 0.0;
  double last_energy_ = 0.0;
  double floor_ = 0.0;
};

}  // namespace catena
