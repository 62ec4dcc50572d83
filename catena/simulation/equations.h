// SPDX-License-Identifier: BSD-3-Clause
// The equations of motion of a mechanism with everything that acts on it, as one system
//
//   y = (coordinates of the mechanism, states of components, work of each element).
//
// It is put together from parts, each with a subject of its own:
//
//   coordinates/coordinates.h        y to an Instant: time, state, distance from singular positions
//   applied_forces.h, component.h    what acts: inputs, controllers, prescribed motions, wrenches
//   nonsmooth/joint_friction.h       dry friction
//   accelerations.h                  how accelerations are found: hybrid dynamics or multipliers
//   recording/work_account.h         the work of every element
//
// What is not smooth is a mode, constant while an integrator steps and changed by the simulation at
// events: on which side of a jump a signal is (signals/signal_set.h), whether a freedom slides or
// sticks by dry friction, or rests against a stop.
//
// Nothing is allocated in rate() of a tree.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "catena/simulation/accelerations.h"
#include "catena/simulation/constrained_accelerations.h"
#include "catena/simulation/coordinates/coordinates.h"
#include "catena/simulation/integrators/integrator.h"
#include "catena/simulation/nonsmooth/joint_friction.h"
#include "catena/simulation/recording/work_account.h"
#include "catena/simulation/signals/signal_set.h"

namespace catena {

// Results of the last step of time-stepping (nonsmooth/time_stepping.h), in place of modes.
struct StepForces {
  Eigen::VectorXd acceleration{}, friction{}, reaction{};  // by freedom
  Eigen::VectorXd motion_effort{};                         // of prescribed motions and servos
  std::vector<double> constraint_power{};
  std::vector<ContactAction> contacts{};  // by constraint
};

class Equations final : public Ode {
 public:
  // Mechanism and coordinates must outlive it.
  Equations(const Mechanism& mechanism, Coordinates& coordinates, const ActionSettings& actions);

  // ---- As an integrator sees it. ----
  int size() const override { return work_.first + work_.count; }
  int controlled() const override { return work_.first; }
  void rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override;
  double rate_with_noise(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override;
  void measure(const Eigen::VectorXd& y, Eigen::VectorXd& size) const override;
  double spread(const Eigen::VectorXd& y, const Eigen::VectorXd& error, double relative,
                double absolute) override;
  void project(double t, Eigen::VectorXd& y) override;

  // ---- y of a state. ----
  // At the start of a motion, work at zero.
  Eigen::VectorXd start(const State& state);
  void set_state(const State& state, Eigen::VectorXd& y) const;
  // Brings y to the prescribed motions at t.
  void impose_motions(double t, Eigen::VectorXd& y) const;
  // Adopts the present independent freedoms of the coordinates.
  void use_chart();

  // ---- Instants of a y. ----
  void at(double t, const Eigen::VectorXd& y, Instant& instant);
  Instant at(double t, const Eigen::VectorXd& y);
  // Within a step, at() outside of it.
  void inside(StepSpan& step, double t, const Eigen::VectorXd& y, Instant& instant);
  // Prepares the step from `from` to `to` for inside(). Throws NumericalError if its end cannot be
  // found.
  void make_step(double from, const Eigen::VectorXd& y_from, double to, const Eigen::VectorXd& y_to,
                 bool for_inside, StepSpan& step);
  // Moves y within a step onto the constraints, for a row: it does not change the motion.
  void close_row(StepSpan& step, double t, Eigen::VectorXd& y);
  double closure_residual(double t, const State& state);

  // ---- Evaluations. ----
  // Everything at an instant of y.
  void evaluate(const Instant& instant, const Eigen::VectorXd& y, Evaluation& found);
  void evaluate(double t, const Eigen::VectorXd& y, Evaluation& found);
  Evaluation evaluate(double t, const Eigen::VectorXd& y);
  // The same with the modes of these contacts, which touch, chosen again; all others are apart.
  void evaluate_contacts(double t, const Eigen::VectorXd& y, std::span<const int> touching,
                         Evaluation& found);
  // ẏ of an evaluation.
  void rates(const Evaluation& found, Eigen::VectorXd& dy);
  // All efforts at the freedoms, from which forward dynamics computes the accelerations.
  Eigen::VectorXd acting_effort(const Evaluation& found) const;
  // All forces but those of inertia, at the freedoms, and the rates of everything but the state.
  // For modes without held freedoms and prescribed motions, and springs without dampers.
  void applied_force(double t, const Eigen::VectorXd& y, Eigen::VectorXd& force,
                     Eigen::VectorXd& rates);
  // ---- For time-stepping. ---- Efforts without accelerations, and without contacts, stops and dry
  // friction.
  void act(const Instant& at, const Eigen::VectorXd& y, Evaluation& found);
  // States of components after h, with the rates found.
  void step_states(const Eigen::VectorXd& from, double h, const Evaluation& found,
                   Eigen::VectorXd& y) const;
  // Rates of all but the motion.
  void integral_rates(const Evaluation& found, Eigen::VectorXd& dy) {
    rates_of_integrals(found, dy);
  }
  // Evaluations take forces from there, while there are any (null: none).
  void use_step_forces(const StepForces* forces) { step_ = forces; }
  bool steps() const { return step_ != nullptr; }
  ConstrainedAccelerations* constrained() { return constrained_.get(); }

  // Velocities after the impulse that brings the locked freedoms to their targets; all other
  // constraints hold.
  ImpulseResult impulse(const State& state, const ImpulseInput& input) {
    return accelerations_->impulse(state, input);
  }

  // ---- Parts. ----
  const Mechanism& mechanism() const { return mechanism_; }
  Coordinates& coordinates() { return coordinates_; }
  const AppliedForces& forces() const { return forces_; }
  SampledComponents& sampled() { return forces_.sampled(); }
  // Ticks of sampled components that are due at the instant of y. True: an output has changed.
  bool run_ticks(const Instant& instant, const Eigen::VectorXd& y) {
    return forces_.sampled().run(instant, part(states_, y));
  }
  bool prescribed(int freedom) const { return forces_.is_prescribed(freedom); }
  const JointFriction& friction() const { return friction_; }
  SignalSet& signals() { return signals_; }
  const SignalSet& signals() const { return signals_; }
  const WorkAccount& work() const { return account_; }
  // Constraints that are switched, and loops by multipliers; null: neither.
  ConstraintSet* constraints() { return constrained_ ? &constrained_->set() : nullptr; }
  bool has_switched_constraints() const { return switched_constraints_; }
  // Sets the targets of constraints at t; evaluate() does so by itself.
  void set_targets(double t, const State& state) { constrained_->set_targets(t, state); }

  // Modes; the velocity of a held freedom must be zero in y.
  std::vector<FreedomMode>& modes() { return modes_; }
  const std::vector<FreedomMode>& modes() const { return modes_; }

  // Prescribed motions are rows of the integrator's own: states are taken as they come.
  void leave_motions_to_integrator() { imposes_ = false; }

 private:
  // A part of y.
  struct Segment {
    int first = 0, count = 0;
  };
  std::span<const double> part(const Segment& segment, const Eigen::VectorXd& y) const {
    return {y.data() + segment.first, static_cast<std::size_t>(segment.count)};
  }
  std::span<double> part(const Segment& segment, Eigen::VectorXd& y) const {
    return {y.data() + segment.first, static_cast<std::size_t>(segment.count)};
  }
  Held held() const { return {modes_, forces_.prescribed()}; }
  // Coordinates of y with the prescribed values of motions at t.
  std::span<const double> with_motions(double t, const Eigen::VectorXd& y);
  void take_step_forces(const Eigen::VectorXd& y, Evaluation& found);
  void evaluate_constrained(const Eigen::VectorXd& y, Evaluation& found);
  // Forces at an instant or at a side of it, and the accelerations there.
  void solve(const Instant& at, double ahead, const Eigen::VectorXd& y, Evaluation& found);
  void sum_efforts(const Instant& at, const Eigen::VectorXd& y, Evaluation& found);
  void set_input(const State& state, Evaluation& found);
  // Results at the sides of found.instant, with their weights.
  void interpolate(const Eigen::VectorXd& y, Evaluation& found);
  void rates_of_integrals(const Evaluation& found, Eigen::VectorXd& dy);

  const Mechanism& mechanism_;
  Coordinates& coordinates_;
  AppliedForces forces_;
  std::unique_ptr<ConstrainedAccelerations> constrained_;  // null: no multipliers
  std::unique_ptr<HybridAccelerations> hybrid_;            // null: multipliers
  Accelerations* accelerations_;
  JointFriction friction_;
  SignalSet signals_;
  WorkAccount account_;
  Segment motion_, states_, work_;               // of y
  std::vector<int> turning_;                     // entries of y that are angles
  std::vector<std::pair<int, double>> counted_;  // and those with a least size
  std::vector<FreedomMode> modes_;
  bool switched_constraints_ = false;
  bool imposes_ = true;  // prescribed motions on every state
  const StepForces* step_ = nullptr;

  // Scratch: no result depends on its contents.
  Workspace workspace_;
  Eigen::VectorXd imposed_;
  State at_rest_;
  Instant instant_, side_;
  Evaluation found_;
  HybridInput input_;
};

}  // namespace catena
