// SPDX-License-Identifier: BSD-3-Clause
// Stops and dry friction: which freedoms stick, slide, rest against a limit or bounce off it.
//
// What happens at an instant is decided for all freedoms together, by two small problems with
// bounds (constraints/bounded_problem.h) whose matrix is M⁻¹ seen by the freedoms concerned:
//
//   impacts   a freedom that is at a limit and approaches it with velocity v leaves it with −e v or
//             more (Newton's restitution e), those that rest there do not enter it; impulses push.
//             Each impulse does the work ½ p (v⁻ + v⁺) ≤ 0, so no impact adds energy. Freedoms that
//             an impact throws against their limits collide in turn. Dry friction has no time to
//             act.
//   modes     the freedoms at their limits and those with dry friction that hardly move are carried
//             on for half of kShortestBounce: stops push, friction is within its breakaway level.
//             Those that come to rest meanwhile are held, and their velocity ends at once: bounces
//             shorter than kShortestBounce would accumulate (Zeno). With velocities at zero this is
//             the choice by accelerations, at which no stop pulls and no friction is above its
//             level.
//
// Of freedoms in one loop only so many are held as move independently; others may be carried by
// them.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "catena/constraints/bounded_problem.h"
#include "catena/dynamics/impulses.h"
#include "catena/io/runs/run_file.h"
#include "catena/simulation/equations.h"

namespace catena {

class StopsAndFriction {
 public:
  StopsAndFriction(Equations& equations, const ActionSettings& actions);

  struct Stop {
    int freedom;
    int coordinate;
    double lower, upper;
    double restitution;
    int outside = 0;  // −1, +1: it started beyond that limit, which acts only once it is inside
  };
  const std::vector<Stop>& stops() const { return stops_; }
  void came_inside(int stop) { stops_[static_cast<std::size_t>(stop)].outside = 0; }
  bool has_friction() const { return has_friction_; }

  // Modes of the first instant. Appends what is worth knowing to `log`.
  void begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  // Forgets all modes and chooses those of this instant, after time-stepping.
  void begin_again(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  void forget_modes(const Eigen::VectorXd& y);
  // What happened at t, by freedom.
  struct Happened {
    std::vector<int> impacts = {};   // reached a limit
    std::vector<int> ended = {};     // sliding came to an end
    std::vector<int> released = {};  // held by just as much as can hold it
  };
  // Impacts, then the modes of all freedoms at rest.
  void settle(double t, Eigen::VectorXd& y, const Happened& happened, std::vector<RunEvent>& log);
  // Signals have passed a corner at t: prescribed motions whose velocity jumps there drive the rest
  // by an impulse. `before`: the state until then. True: there were such. Throws NumericalError if
  // a position jumps.
  bool jump_motions(double t, const State& before, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  // In loops the errors of steps move what is held; brings it back if it is too far off. True: it
  // was, and y is another.
  bool hold(const Instant& here, Eigen::VectorXd& y);
  // No freedom may be beyond a limit that acts: throws NumericalError.
  void check(const Instant& here) const;

  std::vector<double> save() const;
  void restore(std::span<const double> saved);
  std::size_t saved() const { return 2 + stops_.size(); }

 private:
  // A freedom that is at a limit, or has dry friction and hardly moves.
  struct Candidate {
    int freedom;
    int side = 0;                                    // −1, +1: at its lower or upper limit
    double level = 0.0;                              // of friction
    int sense() const { return side > 0 ? -1 : 1; }  // away from the limit
  };
  const Stop& stop_of(int freedom) const {
    return stops_[static_cast<std::size_t>(stop_index_[static_cast<std::size_t>(freedom)])];
  }
  State state_of(const Eigen::VectorXd& y);
  int side(const Stop& stop, const State& state) const;
  std::vector<Candidate> at_limits(const State& state) const;
  std::vector<Candidate> candidates(const State& state, std::span<const int> ended) const;
  // Lets go of all that is held, and takes friction off candidates.
  void set_free(std::span<const Candidate> at);
  // [freedom, k] jump of all velocities by a unit impulse at candidate k. `free`: with constraints,
  // an evaluation of this state with all freedoms free.
  Eigen::MatrixXd responses(const State& state, std::span<const Candidate> at,
                            const Evaluation& free);
  Eigen::MatrixXd responses_with_constraints(std::span<const Candidate> at, const Evaluation& free);
  // The evaluation that responses() wants with constraints; modes stay what they are.
  const Evaluation& evaluate_free(double t, const Eigen::VectorXd& y);
  BoundedProblem problem_of(std::span<const Candidate> at, const Eigen::MatrixXd& response,
                            const Eigen::VectorXd& motion) const;
  Eigen::VectorXd push(std::span<const Candidate> at, const Eigen::MatrixXd& response,
                       const BoundedSolution& solution, const Eigen::VectorXd& target, State& state,
                       Eigen::VectorXd& y);
  void collide(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  // Leaves the evaluation with the modes that were chosen in found_.
  void choose_modes(double t, Eigen::VectorXd& y, const Happened& happened);
  void take_modes(double t, std::span<const Candidate> at, BoundedProblem problem);
  bool end_slow_motion(std::span<const Candidate> at, const Eigen::MatrixXd& response, State& state,
                       Eigen::VectorXd& y);
  void hold_independent_only(const State& state);
  // How far a candidate is from its limit.
  double beyond_limit(const Candidate& c, const State& state) const;
  void bring_to_limits(std::span<const Candidate> at, State& state, Eigen::VectorXd& y);
  // Moves the mechanism so that candidates which are off by so much are there.
  void move_back(std::span<const Candidate> at, const Eigen::MatrixXd& response,
                 const Eigen::VectorXd& off, State& state, Eigen::VectorXd& y);
  void slide_what_moves(const State& state);
  void log_changes(const Evaluation& found, const std::vector<FreedomMode>& before,
                   std::vector<RunEvent>& log) const;

  Equations& equations_;
  Workspace workspace_;
  std::vector<Stop> stops_;
  std::vector<int> stop_index_;  // by freedom, −1: none
  bool has_friction_ = false;
  std::vector<std::uint8_t> struck_, slowed_;  // by freedom: at this instant
  double speed_ = 0.0;                         // the largest before this instant
  // Impacts within a short time: many of them lose their bounce, so that they end.
  double crowd_start_ = 0.0;
  int crowd_ = 0;
  // Scratch.
  Instant instant_;
  Evaluation found_;
};

}  // namespace catena
