// Stops and dry friction: which freedoms stick, slide, rest against a limit or bounce off it.
//
// A freedom that reaches a limit with velocity v leaves it with −e v (Newton's restitution e), by
// an impulse at that freedom; all others jump with it (impulses.h). With e = 0, or when its bounces
// become shorter than kShortestBounce (they would accumulate: Zeno), it rests there, held by the
// stop, which can only push. A freedom with dry friction that comes to rest is held as long as what
// holds it is within the breakaway level.
//
// Which of the freedoms at rest are held is found by releasing the most violated one until none is
// (an active set; it ends, for each release makes the held set smaller).
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "catena/dynamics/impulses.h"
#include "catena/io/run_file.h"
#include "catena/simulation/equations.h"

namespace catena {

// A bounce shorter than this, in seconds, is not followed any more.
inline constexpr double kShortestBounce = 1e-6;

// A freedom this close to its limit, on either side, is at it (rad, m).
inline constexpr double kAtLimit = 1e-10;

class Contacts {
 public:
  Contacts(Equations& equations, const ActionSettings& actions);

  struct Stop {
    int freedom;
    int coordinate;
    double lower, upper;
    double restitution;
    // −1: at its lower limit, +1: at its upper one.
    int side(double q) const {
      return std::abs(q - lower) <= kAtLimit ? -1 : std::abs(q - upper) <= kAtLimit ? 1 : 0;
    }
  };
  const std::vector<Stop>& stops() const { return stops_; }
  bool has_friction() const { return has_friction_; }

  // Modes of the first instant. Appends what is worth knowing to `log`.
  void begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
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

 private:
  const Stop* stop_of(int freedom) const;
  void strike(double t, Eigen::VectorXd& y, int freedom, std::vector<RunEvent>& log,
              bool inelastic);
  void release(double t, int freedom, std::vector<RunEvent>& log);
  void release_until_consistent(double t, const Eigen::VectorXd& y, std::vector<RunEvent>& log);
  // Of freedoms in one loop only so many can be held as move independently; the others follow them.
  void hold_independent_only(const State& state);
  ImpulseResult resolve(const State& state, ImpulseInput input, int struck);
  // Freedoms that impacts threw off their limits for less than the shortest bounce stay there.
  void keep_short_flights(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log);
  void slide_what_moves(const State& state);
  ImpulseResult jump(const Eigen::VectorXd& y, int freedom, double target);

  Equations& equations_;
  Workspace workspace_;
  std::vector<Stop> stops_;
  std::vector<int> stop_index_;              // by freedom, −1: none
  std::vector<std::pair<int, int>> thrown_;  // off their limits by impacts at this instant; sides
  bool has_friction_ = false;
  // Impacts within a short time: many of them lose their bounce, so that they end.
  double crowd_start_ = 0.0;
  int crowd_ = 0;
};

}  // namespace catena
