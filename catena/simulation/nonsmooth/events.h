// SPDX-License-Identifier: BSD-3-Clause
// Event detection (zero crossings, witness functions) by root finding: functions g of time and
// state that are watched while an integrator steps.
// An event happens where a watched g, once positive, falls to zero or below.
//
//   a freedom inside its limits     distance to the limit
//   one that rests against a limit  the force with which the stop pushes
//   one that slides by dry friction its velocity in the direction of sliding
//   one that sticks                 what is left to the breakaway level
//   a jump of an input              its argument (expression.h)
//   a function of the user          its value, with the sign it has
//   switches and contacts           see switching.h
//
// The dense output of a step is looked at kSamples times, so that g may dip below zero and return
// within a step (only at its end when g is so far from zero that it cannot get there), and once
// more where a distance to a limit is least in between; the root is then bracketed and found to the
// resolution of the time. Where a switch or an event that stops the run depends on a function that
// changes faster than the looks tell, they go closer until its first passage through zero is
// found: switches that chatter are seen (switching.h). The event's time is the far end of the
// bracket: there g has changed its sign.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catena/simulation/last_step.h"
#include "catena/simulation/nonsmooth/stops_and_friction.h"
#include "catena/simulation/nonsmooth/switching.h"

namespace catena {

inline constexpr int kSamples = 8;

class EventWatch {
 public:
  EventWatch(Equations& equations, StopsAndFriction& stops, Switching& switching,
             const ActionSettings& actions);

  // Watches what the present modes ask for, from here on.
  void start(double t, const Eigen::VectorXd& y);
  bool idle() const { return watches_.empty(); }

  // The time of the first event in a step.
  std::optional<double> first_event(LastStep& step);

  // What happens at an event.
  struct Hits {
    std::vector<int> impacts;  // freedoms that reach a limit
    std::vector<int> ended;    // freedoms whose sliding ends
    std::vector<int> switches;
    std::vector<int> functions;  // of the user
    std::vector<int> released;   // freedoms that a stop or friction lets go
    std::vector<int> switching;  // watches of switching.h
  };
  Hits hits(LastStep& step, double t, const Eigen::VectorXd& y);

 private:
  struct Watch {
    enum class Kind { lower, upper, push, slide, stick, jump, function, switching };
    Kind kind;
    int which;  // freedom, stop, switch or function
    int sign;   // of a user's function: the side it is on, 0: not known yet
    bool armed = false;
    double value = 0.0;
    double offset = 0.0;  // added to the value until that is as much by itself
    double rate = 0.0;    // dg/dt where that is known without effort, else infinite
    // Sizes of dg/dt and d²g/dt² of functions that must be followed closely, else NaN.
    double slope = 0.0, bend = 0.0;
  };
  void add(Watch::Kind kind, int which, int sign = 1);
  // The values of all watches at an instant of y, into watches_.
  void evaluate(const Instant& instant, const Eigen::VectorXd& y);
  void evaluate(LastStep& step, double t);
  double plain_value(const Watch& watch) const;
  void find_slope(Watch& watch) const;
  void arm();
  double locate(LastStep& step, std::size_t which, double low, double high, double at_low,
                double at_high);
  // The time between two looks at which a distance with these values and rates is least, if it may
  // be zero there.
  static std::optional<double> dip(double low, double high, const double (&value)[2],
                                   const double (&rate)[2]);
  // Whether functions do more between two looks than these tell.
  bool hides(double time) const;
  double without_offset(LastStep& step, std::size_t which, double low, double high);

  Equations& equations_;
  StopsAndFriction& stops_;
  Switching& switching_;
  std::vector<EventSettings> settings_;
  std::vector<Signal> functions_;
  std::vector<double> function_value_;
  std::vector<double> switch_argument_;
  std::vector<std::uint8_t> switch_side_;
  std::vector<Watch> watches_;
  std::vector<double> before_;
  std::vector<double> rate_before_;
  std::vector<double> slope_before_;
  std::vector<double> bend_before_;
  std::vector<double> coordinate_rate_;
  bool follows_ = false;  // some watch has a slope
  std::vector<double> after_;
  // Scratch: dense output, and what was found there.
  Eigen::VectorXd y_;
  Instant instant_;
  Evaluation found_;
  bool needs_forces_ = false;
  bool all_armed_ = false;  // and none has an offset: arm() has nothing to do any more
};

}  // namespace catena
