// SPDX-License-Identifier: BSD-3-Clause
// Constraints that come and go while a mechanism moves: switches by time or by a function, and
// contacts that touch down, slide, stick and lift off (constraints/constraint_set.h).
//
// Events, all found by root finding (events.h):
//
//   a switch            its time, or its function
//   a contact apart     its gap
//   one that is closed  its normal force (it cannot pull)
//   one that sticks     what is left to the friction cone
//   one that slides     its slip in the direction it had when it was last looked at, less
//   kSlowSlip,
//                       and how far it is from jamming
//
// At a switch the velocities jump by the impulse of what is switched on; at a touch-down by an
// impact of all contacts that touch then. Both are booked as work in the audit. Whatever happens to
// a contact, the modes of all that touch are then found together (constraint_set.h). Where friction
// leaves sliding no finite force (Painlevé), an impulse ends the slip first. A contact that
// leaves and would be back within kShortestBounce (later the more often it was switched lately)
// stays closed: its bounces would accumulate (Zeno), also where contacts throw each other off in
// turn. A constraint that is switched more than kMostSwitchings times within kChatterTime chatters:
// the run ends and names it. So it does when a contact is more than kDeepest below its plane.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/io/runs/run_file.h"
#include "catena/simulation/equations.h"

namespace catena {

inline constexpr int kMostSwitchings = 200;
inline constexpr double kChatterTime = 1e-3;  // s
// Frames that are attached must be this close, in metres and radians.
inline constexpr double kAttachTolerance = 1e-6;

class Switching {
 public:
  Switching(Equations& equations, const ActionSettings& actions);

  bool idle() const { return equations_.constraints() == nullptr; }
  bool has_contacts() const { return !contacts_.empty(); }
  int contacts() const { return static_cast<int>(contacts_.size()); }
  // Switches on what is active from the start, and finds the modes of contacts.
  void begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);

  // What must be watched with the present modes.
  void start(const Instant& here);
  int watches() const { return static_cast<int>(watches_.size()); }
  bool needs_forces() const;
  // Of watch k (only the instant of `found` is needed unless needs_forces()). An event is where it
  // falls to zero.
  double value(int k, const Evaluation& found);
  // Nothing has happened until here.
  void mark(const Evaluation& found);
  // The rates of a switch's function, NaN of everything else.
  Jet slope(int k, const Instant& here, std::span<const double> rates) const;

  // What happens when these watches reach zero.
  void settle(double t, Eigen::VectorXd& y, std::span<const int> hits, std::vector<RunEvent>& log);
  // Impacts and modes of the contacts that touch; also after something else changed velocities.
  void resolve(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  // A contact that is close to jamming, in words, or "": why steps get too short.
  std::string near_jam(double t, const Eigen::VectorXd& y);
  // No contact may be below its plane, and no constraints may contradict each other: throws
  // NumericalError.
  void check(const Instant& here);

  std::vector<double> save() const;
  void restore(std::span<const double> saved);
  std::size_t saved() const;

 private:
  struct Watch {
    enum class Kind { time, function, gap, push, cone, slip, jam };
    Kind kind;
    int which;  // switch or constraint
    int sign = 1;
    double offset = 0.0;  // what makes it positive at the start, if it is rounding there
    bool started = false;
    Vec3d direction{};  // of slip
    bool near = false;  // to a jam; and measured by what it is there
    bool renewed = false;
  };
  struct Change {
    SwitchSettings settings;
    std::vector<int> on, off;
    Signal when;
    bool by_time = false;
    bool done = false;
  };
  void apply(double t, Eigen::VectorXd& y, Change& change, std::vector<RunEvent>& log);
  // All contacts that touch at a state, and among those the ones that neither approach nor leave.
  std::vector<int> touching(const State& state);
  std::vector<int> resting(const State& state, std::span<const int> contacts);
  // Returns the contacts that hit their planes.
  std::vector<int> impact(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  // Modes, with those among the contacts that leave and would be back at once added to those that
  // rest; returns these. `found`: the evaluation with these modes.
  std::vector<int> back_at_once(double t, const Eigen::VectorXd& y, std::span<const int> contacts,
                                std::vector<int>& rest, Evaluation& found);
  // Whether something slides that has next to no finite force left; and the impulse that ends or
  // turns such a slip, by `least` of it at least. False: none would do that.
  bool jammed(const Evaluation& found);
  bool jam(double t, Eigen::VectorXd& y, const Eigen::VectorXd& applied,
           std::span<const int> contacts, double least, std::vector<RunEvent>& log);
  double raw_value(const Watch& watch, const Evaluation& found);
  double contact_load(const Evaluation& found) const;
  void follow_slip(const State& state);
  void count(double t, int constraint);
  State state_at(double t, const Eigen::VectorXd& y);

  Equations& equations_;
  ConstraintSet* set_;
  std::vector<int> contacts_;
  std::vector<int> from_start_;
  std::vector<Change> changes_;
  std::vector<Watch> watches_;
  struct Count {
    double since = -1.0;
    int times = 0;
  };
  std::vector<Count> counts_;
  // Scratch: no answer depends on what it holds.
  Instant instant_;
  Evaluation found_;
};

}  // namespace catena
