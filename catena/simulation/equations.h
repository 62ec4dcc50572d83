// The equations of motion of a mechanism with everything that acts on it, as one system
//
//   y = (coordinates of the mechanism, integrals of controllers, work of each element)
//
// so that the energy balance E(t) = E(0) + Σ work is integrated with the motion. Error control does
// not look at the work, so the audit does not change the motion.
//
// What is not smooth is a mode, constant while an integrator steps and changed by the simulation at
// events: on which side of a jump an input is (signal.h), whether a freedom slides or sticks by dry
// friction, or rests against a stop. Sticking and resting freedoms and those with a prescribed
// motion are motion-driven (hybrid dynamics); what holds them follows.
//
// Nothing is allocated in rate() of a tree.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/base/index.h"
#include "catena/constraints/constraint_set.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/impulses.h"
#include "catena/io/runs/run_file.h"
#include "catena/simulation/coordinates/coordinates.h"
#include "catena/simulation/integrators/integrator.h"
#include "catena/simulation/signals/signal.h"

namespace catena {

// What a freedom does that is not smooth.
struct FreedomMode {
  enum class Friction { none, stuck, sliding };
  Friction friction = Friction::none;
  int direction = 0;  // of sliding: the sign of v
  int stop = 0;       // −1: rests against its lower limit, +1: against its upper one
  bool held() const { return stop != 0 || friction == Friction::stuck; }
};

class Equations final : public Ode {
 public:
  // Mechanism and coordinates must outlive it.
  Equations(const Mechanism& mechanism, Coordinates& coordinates, const ActionSettings& actions);

  int size() const override { return mechanical_ + controllers_ + elements(); }
  int controlled() const override { return mechanical_ + controllers_; }
  void rate(double t, const Eigen::VectorXd& y, Eigen::VectorXd& dy) override;
  void measure(const Eigen::VectorXd& y, Eigen::VectorXd& size) const override;
  double spread(const Eigen::VectorXd& y, const Eigen::VectorXd& error, double relative,
                double absolute) override;
  double noise() const override {
    return set_ ? set_->noise(state_, acceleration_) : coordinates_.noise(state_, acceleration_);
  }
  void project(double t, Eigen::VectorXd& y) override;
  // The same for a y between the ends of a step, for a row: it does not change the motion.
  void close_row(double t, Eigen::VectorXd& y);
  // All forces but those of inertia, at the freedoms, and the rates of everything but the state.
  // For modes without held freedoms and prescribed motions, and springs without dampers.
  void applied_force(double t, const Eigen::VectorXd& y, Eigen::VectorXd& force,
                     Eigen::VectorXd& rates);

  const Mechanism& mechanism() const { return mechanism_; }
  Coordinates& coordinates() { return coordinates_; }

  // y of a state with controllers and work at zero, and the state of a y.
  Eigen::VectorXd start(const State& state);
  void set_state(const State& state, Eigen::VectorXd& y) const;
  // Only state(), and everything.
  void look(double t, const Eigen::VectorXd& y);
  void evaluate(double t, const Eigen::VectorXd& y);
  // A step was made. With `inside`, look() and evaluate() at times before its end are inside of it
  // and start from both ends, until leave_step(). Leaves state() at the end; throws if that is
  // nowhere.
  void stepped(double from, const Eigen::VectorXd& y_from, double to, const Eigen::VectorXd& y_to,
               bool inside);
  void leave_step() { step_end_ = step_start_; }
  // Of the last evaluation.
  const State& state() const { return state_; }
  const Eigen::VectorXd& acceleration() const { return acceleration_; }
  // What acts at the freedoms, passive elements and what holds them left out.
  const Eigen::VectorXd& applied_effort() const { return hybrid_.effort; }
  const std::vector<ExternalWrench>& external() const { return external_; }
  // Of the actuators: inputs, controllers, and what prescribed motions take.
  const Eigen::VectorXd& effort() const { return effort_; }
  // Friction at freedoms with friction, and what holds those that stick or rest at a stop.
  const Eigen::VectorXd& friction() const { return friction_; }
  const Eigen::VectorXd& reaction() const { return reaction_; }
  // All that acts at the freedoms: with it, forward dynamics finds acceleration().
  Eigen::VectorXd acting_effort() const;

  // The elements that do work, and where the work of each stands in y.
  int elements() const { return static_cast<int>(elements_.size()); }
  const std::string& element_name(int k) const { return elements_[index(k)].name; }
  int work_entry(int k) const { return controlled() + k; }
  double total_work(const Eigen::VectorXd& y) const { return y.tail(elements()).sum(); }
  // Adds to the work of the impacts at a freedom.
  void add_impact_work(int freedom, double work, Eigen::VectorXd& y) const;
  void add_response_work(double work, Eigen::VectorXd& y) const;
  // Of the impulses of a prescribed motion whose velocity jumps.
  void add_motion_work(int freedom, double work, Eigen::VectorXd& y) const;

  // Constraints that are switched, and loops by multipliers; null: neither.
  ConstraintSet* constraints() { return set_.get(); }
  bool has_switched_constraints() const { return switched_constraints_; }
  // What constraints shall do at t; evaluate() sees to it by itself.
  void set_targets(double t);
  double closure_residual(double t, const State& state);
  // evaluate(), with the modes of these contacts, which touch, chosen anew; all others are apart.
  void evaluate_contacts(double t, const Eigen::VectorXd& y, std::span<const int> touching);
  // Adds to the work of a constraint: impulses of contacts, or of switching.
  void add_constraint_work(int constraint, double work, Eigen::VectorXd& y) const;
  void add_switching_work(double work, Eigen::VectorXd& y) const;
  // Velocities after the locked freedoms are brought to their targets at once, all else kept that
  // constrains the motion.
  ImpulseResult impulse(const State& state, const ImpulseInput& input);

  // Modes; the velocity of a held freedom must be zero in y.
  std::vector<FreedomMode>& modes() { return modes_; }
  const std::vector<FreedomMode>& modes() const { return modes_; }
  // What the user should know before the motion begins, as events at its start.
  const std::vector<RunEvent>& notes() const { return notes_; }
  bool prescribed(int freedom) const { return prescribed_[index(freedom)] != 0; }
  // True if all that touches the ground does so through free bodies, undisturbed: then momentum
  // changes by gravity alone.
  bool floats_freely() const { return floats_freely_; }

  // Jumps of signals, one after the other.
  int switches() const { return switches_; }
  void switch_arguments(double t, std::span<double> arguments) const;  // at state()
  std::string switch_name(int k) const;
  void start_signals(double t, const State& state);
  std::vector<std::uint8_t> switch_sides();
  void set_switch_sides(std::span<const std::uint8_t> sides);
  double next_corner() const;
  bool jumps_at(double corner) const;

  // Takes over the independent freedoms that the coordinates use now.
  void use_chart();

  // Brings y to the prescribed motions at t.
  void impose_motions(double t, Eigen::VectorXd& y) const;
  // Prescribed motions are rows of the integrator's own: states are taken as they come.
  void leave_motions_to_integrator() { imposes_ = false; }

 private:
  struct Element {
    enum class Kind {
      input,
      controller,
      damping,
      friction,
      motion,
      external,
      spring,
      impact,
      response,
      contact,
      servo,
      switching
    };
    Kind kind;
    std::string name;
    int freedom;  // or the number of the wrench or spring
    int source;   // of the input, controller or motion
  };
  struct Input {
    int freedom;
    std::string name;
    Signal signal;
    double effort = 0.0;
  };
  struct Controller {
    int freedom;
    int coordinate;
    double kp, kd, ki;
    int integral;  // its entry in y, −1: none
    std::string name;
    Signal target;
    double effort = 0.0;
    double error = 0.0;
  };
  struct Motion {
    int freedom;
    bool has_coordinate;
    std::string name;
    Signal signal;
  };

  struct Servo {
    int constraint;
    std::vector<Signal> motions;
  };

  void add_elements(const ActionSettings& actions);
  void smooth_loops();
  void find_if_floating(const ActionSettings& actions);
  void make_constraints(const ActionSettings& actions);
  void hold_freedoms();
  void solve_with_constraints();
  // y with what motions prescribe at t.
  std::span<const double> with_motions(double t, const Eigen::VectorXd& y);
  void evaluate_with_constraints(double t, const Eigen::VectorXd& y);
  // What is found at these states, with their weights.
  template <class Side>
  void interpolate(double t, const Eigen::VectorXd& y, std::span<const Side> sides);
  void sum_efforts(double t, const Eigen::VectorXd& y);
  void solve();
  double power(const Element& element) const;
  void rate_of_integrals(Eigen::VectorXd& dy) const;
  template <class F>
  void for_each_signal(F f);
  template <class F>
  void for_each_signal(F f) const;

  const Mechanism& mechanism_;
  Coordinates& coordinates_;
  Workspace workspace_;
  std::vector<int> turning_;                     // entries of y that are angles
  std::vector<std::pair<int, double>> counted_;  // and those with a least size
  int mechanical_;
  int controllers_ = 0;
  int switches_ = 0;
  std::vector<Input> inputs_;
  std::vector<Controller> pids_;
  std::vector<Motion> motions_;
  std::vector<ExternalWrench> external_;
  std::unique_ptr<ConstraintSet> set_;
  bool switched_constraints_ = false;
  std::vector<Servo> servos_;
  std::vector<int> lock_of_freedom_;        // in set_, −1: none
  std::vector<int> element_of_constraint_;  // −1: none
  int switching_element_ = -1;
  std::vector<Element> elements_;
  std::vector<int> powered_;         // elements that do work all the time, not only at events
  std::vector<int> impact_element_;  // by freedom, −1: none
  int response_element_ = -1;
  std::vector<FreedomMode> modes_;
  std::vector<std::uint8_t> prescribed_;
  std::vector<RunEvent> notes_;
  std::vector<std::uint8_t> rubs_;        // by freedom: has friction
  std::vector<std::uint8_t> frictional_;  // and with modes
  FrictionLaw friction_law_;
  bool limit_efforts_ = false;
  bool imposes_ = true;            // prescribed motions on every state
  bool needs_kinematics_ = false;  // some element's power needs the velocities of points
  bool floats_freely_ = false;

  State state_;
  State at_rest_;
  Eigen::VectorXd imposed_;                   // y with prescribed motions
  double step_start_ = 0.0, step_end_ = 0.0;  // between them: inside the last step
  Eigen::VectorXd effort_;
  Eigen::VectorXd friction_;
  Eigen::VectorXd reaction_;
  Eigen::VectorXd acceleration_;
  HybridInput hybrid_;
  HybridResult hybrid_result_;
  const std::span<const int>* touching_ = nullptr;  // in evaluate_contacts()
};

// The freedom of this name; a hinge of several freedoms is an error that lists them.
int freedom_index(const Mechanism& mechanism, const std::string& name);

// Whether a simulation with these actions integrates all coordinates and uses multipliers.
bool uses_multipliers(const Mechanism& mechanism, const ActionSettings& actions);

// The level of sliding friction at speed v (without the sign), and the breakaway level.
double sliding_level(const Friction& friction, double v);
double breakaway_level(const Friction& friction);

}  // namespace catena
