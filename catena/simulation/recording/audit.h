// The audit of a simulation: does energy change by the work of its elements alone, and is momentum
// kept where nothing acts on it? Energy and momentum are measured by code that shares nothing with
// the equations of motion (energy.h, momentum.h).
//
//   energy drift    |E(t) − E(0) − Σ work|, at most, over the largest of the kinetic energy, the
//                   change of the potential energy, the work of an element, and kSmallMotion times
//                   weight × size plus the energy of springs at the start: what hardly moves has
//                   no energy of its own to compare rounding with
//   momentum        only of mechanisms that float freely: |p(t) − p(0) − m g t| over √(2 m T), and
//                   the angular momentum about the mass centre, |L(t) − L(0)| over √(2 T tr I)
//                   (T the largest kinetic energy, I the inertia about the mass centre): the
//                   largest momenta that this energy allows
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/dynamics/energy.h"
#include "catena/dynamics/momentum.h"
#include "catena/simulation/equations.h"

namespace catena {

// A pendulum that swings by 1.4 mrad has this much of its weight times its length. The projection
// onto constraints leaves 1e-14 of it.
inline constexpr double kSmallMotion = 1e-6;

struct ElementWork {
  std::string element;
  double work = 0.0;  // J
};

struct Audit {
  double energy_drift = 0.0;                     // relative
  double energy_error = 0.0;                     // J
  double energy_scale = 0.0;                     // J
  std::optional<double> linear_momentum_drift;   // relative; none: it is not conserved
  std::optional<double> angular_momentum_drift;  // relative
  double closure_residual = 0.0;
  double initial_energy = 0.0;
  double final_energy = 0.0;
  std::vector<ElementWork> work;
};

class Auditor {
 public:
  explicit Auditor(Equations& equations);

  void start(double t, const State& state);
  // Measures a state; y has the work done until then. observe() also judges it: for the ends of
  // steps, since a state in between has the error of interpolation on top. observe_measured() where
  // that state was measured last.
  void measure(const State& state, const Eigen::VectorXd& y);
  void observe(double t, const State& state, const Eigen::VectorXd& y);
  void observe_measured(double t, const State& state, const Eigen::VectorXd& y);
  Audit report(const Eigen::VectorXd& y) const;

  // Of the last state measured.
  const Energy& energy() const { return energy_; }
  double energy_error() const { return energy_error_now_; }
  const Momentum& momentum() const { return momentum_; }

  // What a checkpoint must keep.
  std::vector<double> save() const;
  void restore(std::span<const double> saved);
  static constexpr std::size_t kSaved = 19;

 private:
  double weight_times_size() const;

  Equations& equations_;
  EnergyMeter meter_;
  Workspace workspace_;
  Energy energy_;
  Momentum momentum_;  // angular: about the mass centre
  double start_ = 0.0;
  double first_energy_ = 0.0;
  double first_potential_ = 0.0;
  Momentum first_momentum_;
  double energy_error_now_ = 0.0;
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
