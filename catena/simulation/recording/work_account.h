// SPDX-License-Identifier: BSD-3-Clause
// The account of work: every element that does work on a mechanism, its power at an instant, and
// the place of its work in the vector y that is integrated. So the energy balance E(t) = E(0) + Σ
// work is integrated with the motion. The work is outside error control, so the audit does not
// change the motion.
//
// Elements: components and prescribed motions, dampers and dry friction of freedoms, wrenches on
// bodies, dampers of springs, contacts and servos. Impacts at stops, responses to events and
// switching of constraints do work only at events, where it is booked.
#pragma once

#include <string>
#include <vector>

#include "catena/constraints/constraint_set.h"
#include "catena/dynamics/workspace.h"
#include "catena/simulation/evaluation.h"

namespace catena {

class WorkAccount {
 public:
  // Mechanism and forces must outlive it. `set`: null if there are no constraints.
  WorkAccount(const Mechanism& mechanism, const ActionSettings& actions,
              const AppliedForces& forces, const ConstraintSet* set);
  // The entry in y of the first element.
  void set_first_entry(int entry) { first_ = entry; }

  int elements() const { return static_cast<int>(elements_.size()); }
  const std::string& name(int k) const { return elements_[static_cast<std::size_t>(k)].name; }
  double work(int k, const Eigen::VectorXd& y) const { return y[first_ + k]; }
  double total(const Eigen::VectorXd& y) const { return y.tail(elements()).sum(); }
  void clear(Eigen::VectorXd& y) const { y.tail(elements()).setZero(); }

  // The powers at an instant, into the entries of dy.
  void rates(const Evaluation& found, Eigen::VectorXd& dy);

  // ---- Work of impulses, added to y. ----
  void add_impact(int freedom, double work, Eigen::VectorXd& y) const;
  void add_friction(int freedom, double work, Eigen::VectorXd& y) const;
  // Of a prescribed motion whose velocity jumps.
  void add_motion(int freedom, double work, Eigen::VectorXd& y) const;
  void add_response(double work, Eigen::VectorXd& y) const;
  void add_constraint(int constraint, double work, Eigen::VectorXd& y) const;
  void add_switching(double work, Eigen::VectorXd& y) const;
  // Of positions that are moved out of planes and limits; where there is no element for it, of the
  // first contact or stop.
  void add_correction(double work, Eigen::VectorXd& y) const;

  // True if all that touches the ground does so through free bodies, undisturbed: then momentum
  // changes by gravity alone.
  bool floats_freely() const { return floats_freely_; }

 private:
  enum class Kind {
    component,
    collisions,
    motion,
    damping,
    friction,
    external,
    spring,
    elastic,  // damping of a flexible body
    contact,
    servo,
    // Only at events:
    impact,
    response,
    switching,
    correction
  };
  struct Element {
    Kind kind;
    std::string name;
    int of;  // component, freedom, wrench, spring or constraint
  };

  void add(Kind kind, std::string name, int of);
  int find(Kind kind, int of) const;  // −1: there is none
  double power(const Element& element, const Evaluation& found) const;
  double power_of_wrench(const ExternalWrench& wrench) const;
  double power_of_damper(const SpringPlace& spring) const;
  bool find_if_floating(const ActionSettings& actions) const;

  const Mechanism& mechanism_;
  const AppliedForces& forces_;
  std::vector<Element> elements_;
  int first_ = 0;
  bool needs_kinematics_ = false;  // some element's power needs the velocities of points
  bool floats_freely_ = false;
  Workspace workspace_;
};

}  // namespace catena
