// SPDX-License-Identifier: BSD-3-Clause
// Time-stepping: contact, impact, stops and dry friction as one problem of impulses in every fixed
// step (method `time-stepping`), for things that walk, roll, fall and lie in heaps. First order in
// the step where contacts change, second order between. No event is located but the division of a
// step at an impact, so nothing accumulates (Zeno) and nothing chatters.
//
// A step from (q₀, v₀), the rows J of all constraints that may push (Moreau's midpoint rule):
//
//   v̄ = (v₀ + v₁)/2,   q̄ = q₀ ⊕ h v̄/2,   q₁ = q₀ ⊕ h v̄
//   v₁ = v₀ + h a(q̄, v̄) + M⁻¹ Jᵀ p,       a: accelerations without what the rows do
//   u₁ = u₀ + h (J a + J̇ v̄) + (J M⁻¹ Jᵀ) p,  u = J v;   the laws are those of cone_problem.h in u₁
//
// J, J̇ v̄ and J M⁻¹ Jᵀ are those at (q̄, v̄), from the O(N) sweeps (tree_constraints.h). v̄ is found by
// iteration from the last acceleration, two rounds as a rule. Free flight is the implicit midpoint
// rule, and what rests stays where it is to rounding.
//
// Joint dampers and springs and PD controllers that are stiff for the step are implicit: their
// force changes by −c (v₁ − guess), c = h (damping + h stiffness/2)/2, a row with compliance 1/c.
// The part of controllers in c is that seen between two rounds, so that it is zero where their
// efforts are limited.
//
// A contact or stop takes part while it touches and does not leave. One that would be passed within
// the step divides it at that instant; there all that touch collide (Newton's restitution,
// Coulomb's friction; no restitution below the speed that gravity gives within a step, or where it
// would create energy). After kMostDivisions the rest of the step is made with all closed that
// would be passed. What positions miss at the end of a step (curvature) is closed by a displacement
// M⁻¹ Jᵀ π; its energy is booked as `penetration`.
//
// References: [Moreau 1988], [Stewart & Trinkle 1996], [Studer 2009] for the scheme.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catena/constraints/cone_problem.h"
#include "catena/dynamics/energy.h"
#include "catena/io/runs/run_file.h"
#include "catena/simulation/nonsmooth/free_flight.h"
#include "catena/simulation/nonsmooth/shape_contacts.h"
#include "catena/simulation/nonsmooth/stops_and_friction.h"

namespace catena {

class TimeStepping final : public Integrator {
 public:
  // Equations and stops must outlive it.
  TimeStepping(Equations& equations, StopsAndFriction& stops, const ActionSettings& actions,
               const IntegratorSettings& settings);
  ~TimeStepping() override;

  // Whose modes are no modes any more: rows of the record take forces from the last step.
  void take_over();
  void hand_back();
  // What has happened since the last call.
  std::vector<RunEvent> take_log();
  // Finds the forces and accelerations that a first step from here will have, for the row at the
  // start of a run. Changes nothing else.
  void look_ahead(double t, const Eigen::VectorXd& y);
  // The largest of the run (audit.h).
  struct Quality {
    double residual = 0.0;     // of the laws, of the load
    double penetration = 0.0;  // m or rad, before it is closed
    double creep = 0.0;        // m/s, of contacts that stick
    double restored = 0.0;     // J, the sum of what restore_energy() changed
    void add(const Quality& other);
  };
  const Quality& quality() const { return quality_; }
  void set_quality(const Quality& quality) { quality_ = quality; }
  // Since when nothing has touched, left or been divided (s).
  double calm_since() const { return calm_since_; }
  void set_calm_since(double t) { calm_since_ = t; }

 private:
  struct Item {
    enum class Kind { equal, motion, stiff, friction, stop, contact };
    Kind kind;
    int which;  // constraint of the set; freedom; stop
    int row;    // in the constraints
    int sense;  // −1: an upper stop
    int first;  // unknown
  };
  void begin() override;
  void advance(double limit) override;
  void interpolate_inside(double t, Eigen::VectorXd& y) override;

  // ---- What takes part, and its problem (time_stepping_rows.cpp). ----
  void start_from_here();
  void choose_stiff();
  void find_touching();
  void update_shapes();
  bool shorten_for_shapes(double& part);
  void use_rows();
  void add_item(Item::Kind kind, int which, int row, int sense, ConeProblem::Block block);
  void list_equalities();
  void list_items(bool impact);
  // ---- One part of a step (time_stepping.cpp). ----
  void move(double h);
  void find_slopes(double h, const Eigen::VectorXd& guess);
  void take_forces(double h);
  void assemble(double h, const Eigen::VectorXd& acceleration, const Eigen::VectorXd& guess);
  void solve_items();
  void put_rows();
  void book(double h);
  bool book_or_shorten(double& part, bool may_shorten);
  void halve(double& part);
  void accept(double h);
  void close_step();
  void take_servo(const Item& item, double h, double u_mean);
  bool restores_energy() const;
  void restore_energy();
  double energy_here();
  // ---- Impacts and positions (time_stepping_impacts.cpp). ----
  struct Passage {
    double part = 1.0;  // of the step, where the first is met
    bool any = false;
  };
  double least_gap(const State& state, bool mark);
  void let_go();
  Passage first_passage(double h);
  void strike();
  bool collide(double least, bool bounces, bool may_refuse);
  bool correct();
  double contact_gap(int contact);
  double stop_gap(const StopsAndFriction::Stop& stop, int side, const State& state) const;
  void note_cost();
  void note_residual(const std::string& what);
  void note_penetration();

  Equations& equations_;
  StopsAndFriction& stops_;
  const Mechanism& mechanism_;
  IntegratorSettings settings_;
  std::unique_ptr<ConstrainedAccelerations> own_;  // where the equations have no constraints
  ConstrainedAccelerations* constrained_;
  ConstraintSet& set_;
  struct Resistance {
    double damping = 0.0, stiffness = 0.0;
    double implicit(double h) const { return 0.5 * h * (damping + 0.5 * h * stiffness); }
  };
  std::vector<Resistance> joint_, controlled_;  // by freedom
  std::vector<std::uint8_t> stiff_, row_wanted_;
  std::vector<int> contacts_;              // first those of the settings, then of shapes
  std::size_t own_contacts_ = 0;           // of the settings
  std::unique_ptr<ShapeContacts> shapes_;  // none: they do not collide

  // Where it is.
  State state_;
  bool fresh_ = true;
  double start_ = 0.0;
  std::int64_t count_ = 0;
  Eigen::VectorXd before_last_, before_that_;          // accelerations before the last
  int smooth_ = 0;                                     // whole steps since the last impact
  Eigen::VectorXd acceleration_;                       // of the last part of a step
  std::vector<std::uint8_t> touches_;                  // by contact, in the order of contacts_
  std::vector<std::uint8_t> stop_lower_, stop_upper_;  // by stop: touches
  struct Touching {
    std::vector<std::uint8_t> contacts, lower, upper;
  };
  std::optional<Touching> met_before_;  // what touched before those were met that end a part
  // Forces of the last part, to begin with: by constraint of the set, by freedom, by stop.
  std::vector<Eigen::Vector3d> contact_force_;
  std::vector<double> friction_force_, lower_force_, upper_force_;

  // One part of a step.
  bool formed_ = false;  // J M⁻¹ Jᵀ of the rows in use is at hand, of a position within the step
  State end_;
  std::vector<Item> items_;
  ConeProblem problem_;
  ConeSolution solution_;
  std::vector<int> row_of_, sense_of_;  // by unknown
  Eigen::VectorXd guess_, u0_, u1_, row_impulse_, target_;
  Eigen::VectorXd slope_;                      // c of stiff freedoms
  Eigen::VectorXd effort_before_, v1_before_;  // of the last round
  Instant middle_;
  Evaluation found_;
  Eigen::VectorXd y_middle_, dy_;
  StepForces forces_;
  FreeFlight flight_;
  Eigen::VectorXd applied_;  // with the efforts of flight_
  EnergyMeter meter_;
  std::optional<double> energy_;  // of state_, if it is known
  double owed_ = 0.0;             // energy that is still to be restored
  Energy end_energy_;             // at the end of the part that is booked
  double missed_ = 0.0;           // energy that the part has more than its work says
  Quality quality_;
  std::vector<RunEvent> log_;
  double calm_since_ = 0.0;
  int divisions_ = 0, shape_divisions_ = 0;
  // Of shapes, more than at the beginning of the step (m): here, and at the end of the part.
  double overlap_ = 0.0, overlap_at_end_ = 0.0;
  std::int64_t noted_ = 0;
  bool cost_told_ = false;
};

}  // namespace catena
