// SPDX-License-Identifier: BSD-3-Clause
// MotionProblem: trajectory optimization, the motion of a mechanism of least cost, stated by names
// of joints and frames [Sohl & Bobrow 2001].
//
//   MotionProblem problem(mechanism);
//   problem.start.q[0] = -1.0;
//   problem.duration = {3.0};
//   problem.controls.push_back({.freedom = "elbow", .motion = true, .coefficients = 12});
//   problem.final_position("elbow", 0.0);
//   problem.final_velocity("elbow", 0.0);
//   problem.effort_cost("elbow");
//   problem.final_cost("shoulder", MotionQuantity::position, pi / 2, 1000.0);
//   const OptimalMotion best = solve(problem);                          // solve.h
//
// Some freedoms have controls: their motion, or the effort at them, is a B-spline whose
// coefficients are sought (trajectory/controls.h). Freedoms without one move as the dynamics says,
// with no effort of an actuator at them. The cost is
//
//   J = ∫ ½ Σ w r² dt + Σ w (x(T) − x*)² + w T
//
// with r an effort, an acceleration, the rate of a control, or the distance to a reference. All
// are sums of squares but the last.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "catena/simulation/signals/signal_settings.h"
#include "catena/trajectory/problem.h"
#include "catena/trajectory/rollout.h"

namespace catena {

enum class MotionQuantity { position, velocity, effort, acceleration };

// Fixed if lower == upper.
struct DurationSettings {
  // A number is a duration: problem.duration = 3.0.
  // NOLINTNEXTLINE(google-explicit-constructor)
  DurationSettings(double fixed = 1.0) : guess(fixed), lower(fixed), upper(fixed) {}
  DurationSettings(double first_guess, double least, double greatest)
      : guess(first_guess), lower(least), upper(greatest) {}
  double guess, lower, upper;
  bool free() const { return lower < upper; }
};

// Where the search begins: a function of time, which the coefficients take at their places between
// the ends, or the free coefficients themselves. Nothing: a straight line between the ends of a
// motion, no effort.
struct GuessSettings {
  std::optional<SignalSettings> signal = {};
  std::vector<double> coefficients = {};
  bool warm = false;  // of another optimum: it may leave the bounds a little between their points
};

struct ControlSettings {
  std::string freedom;
  bool motion = false;  // else the effort is the spline
  int degree = 3;
  int coefficients = 10;
  GuessSettings guess = {};
};

// x(T) between lower and upper, of a freedom.
struct FinalBound {
  std::string freedom;
  MotionQuantity quantity = MotionQuantity::position;
  double lower = 0.0, upper = 0.0;
};
// weight (x(T) − target)².
struct FinalCost {
  std::string freedom;
  MotionQuantity quantity = MotionQuantity::position;
  double target = 0.0, weight = 1.0;
};
// The point of a frame of interest, or of a body, at the end: exactly there, or by a cost weight
// |p(T) − position|².
struct FinalPoint {
  std::string frame;  // or body
  Vec3d position = {};
  double weight = 0.0;                      // 0: exactly
  bool coordinate[3] = {true, true, true};  // which of x, y, z are meant
};

// ½ weight ∫ (x − reference)² dt; the reference is a function of time alone, zero if not given.
struct RunningCost {
  std::string freedom;
  MotionQuantity quantity = MotionQuantity::effort;
  double weight = 1.0;
  std::optional<SignalSettings> reference = {};
};
// ½ weight ∫ (du/dt)² dt, of a control: the rate of an effort, the jerk of a motion.
struct RateCost {
  std::string freedom;
  double weight = 1.0;
};
// ½ ∫ r² dt with r and its gradient in code: by all freedoms, in the vectors of CostGradient.
struct CustomCost {
  std::string name;
  std::function<double(const CostPoint&, CostGradient*)> residual;
};

// A bound at all times.
struct PathBound {
  std::string freedom;
  MotionQuantity quantity = MotionQuantity::position;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

struct MotionProblem {
  explicit MotionProblem(const Mechanism& m) : mechanism(&m), start(m.default_state()) {}

  const Mechanism* mechanism;  // must outlive it
  State start;                 // closed; where and how fast the motion begins
  DurationSettings duration;
  std::vector<ControlSettings> controls;
  std::vector<FinalBound> final_bounds;
  std::vector<FinalCost> final_costs;
  std::vector<FinalPoint> final_points;
  std::vector<RunningCost> running_costs;
  std::vector<RateCost> rate_costs;
  std::vector<CustomCost> custom_costs;
  double time_weight = 0.0;
  std::vector<PathBound> bounds;
  bool model_limits = true;  // limits of position, velocity and effort of the model are bounds too
  MotionGrid grid;

  // Short forms.
  void final_position(const std::string& freedom, double value);
  void final_velocity(const std::string& freedom, double value);
  void final_cost(const std::string& freedom, MotionQuantity quantity, double target,
                  double weight);
  void effort_cost(const std::string& freedom, double weight = 1.0);
};

// Mistakes of a problem that are found without computing a motion, one sentence each: names that do
// not exist (with the nearest), bounds that exclude each other or the start, a guess outside them,
// conditions that contradict each other, nothing to minimize.
std::vector<std::string> mistakes(const MotionProblem& problem);

}  // namespace catena
