// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/stops_and_friction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/chart.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// Impacts at one instant: so many rounds as they are, then one without restitution, which ends
// them.
constexpr int kElasticRounds = 20;
// Choices of modes at one instant, each after the velocities that the last one ended.
constexpr int kMostChoices = 20;
// How long freedoms are carried on to see which of them come to rest (s): a bounce lasts twice the
// time of its way up.
constexpr double kHorizon = 0.5 * kShortestBounce;
// A freedom with dry friction that moves slower (rad/s, m/s) may come to rest.
constexpr double kSlow = 1e-2;
// Speeds below this fraction of the largest one before the instant are rounding.
constexpr double kSpeedRounding = 1e-12;
// So many impacts within so short a time (s) are a crowd.
constexpr double kCrowdTime = 1e-3;
constexpr int kCrowd = 300;

const char* side_name(int side) { return side < 0 ? "lower" : "upper"; }

double checked_restitution(double e, const std::string& what) {
  if (e >= 0.0 && e <= 1.0) return e;
  throw Error(what + ": the restitution is " + number(e) + "; it must be from 0 to 1");
}

}  // namespace

StopsAndFriction::StopsAndFriction(Equations& equations, const ActionSettings& actions)
    : equations_(equations), workspace_(equations.mechanism()) {
  const Mechanism& m = equations.mechanism();
  stop_index_.assign(index(m.freedoms()), -1);
  const auto settings = m.freedom_settings();
  for (int i = 0; i < m.freedoms(); ++i) {
    const FreedomSettings& f = settings[index(i)];
    if (equations.modes()[index(i)].friction != FreedomMode::Friction::none) has_friction_ = true;
    const int coordinate = m.coordinate_of_freedom()[index(i)];
    const bool limited = std::isfinite(f.lower) || std::isfinite(f.upper);
    if (!actions.stops || !limited || coordinate < 0 || equations.prescribed(i)) continue;
    stop_index_[index(i)] = static_cast<int>(stops_.size());
    stops_.push_back(
        {i, coordinate, f.lower, f.upper, checked_restitution(actions.restitution, "stops")});
  }
  for (const StopSettings& stop : actions.stop_settings) {
    const int i = freedom_index(m, stop.freedom);
    if (stop_index_[index(i)] < 0)
      throw Error("stop '" + stop.freedom +
                  "': this freedom has no limits in the model, or its "
                  "motion is prescribed");
    stops_[index(stop_index_[index(i)])].restitution =
        checked_restitution(stop.restitution, "stop '" + stop.freedom + "'");
  }
}

State StopsAndFriction::state_of(const Eigen::VectorXd& y) {
  equations_.coordinates().at({y.data(), index(equations_.coordinates().size())}, instant_);
  return instant_.state;
}

int StopsAndFriction::side(const Stop& stop, const State& state) const {
  const int held = equations_.modes()[index(stop.freedom)].stop;
  if (held != 0) return held;
  const double q = state.q[stop.coordinate];
  if (stop.outside >= 0 && q <= stop.lower + kTouching) return -1;
  if (stop.outside <= 0 && q >= stop.upper - kTouching) return 1;
  return 0;
}

std::vector<StopsAndFriction::Candidate> StopsAndFriction::at_limits(const State& state) const {
  std::vector<Candidate> at;
  for (const Stop& stop : stops_)
    if (const int where = side(stop, state); where != 0) at.push_back({stop.freedom, where});
  return at;
}

// Also of those that may come to rest by friction, which keep their modes until they are chosen.
std::vector<StopsAndFriction::Candidate> StopsAndFriction::candidates(
    const State& state, std::span<const int> ended) const {
  std::vector<Candidate> at = at_limits(state);
  const auto settings = equations_.mechanism().freedom_settings();
  const auto level = [&](int i) {
    const Friction& friction = settings[index(i)].friction;
    const bool rests = state.v[i] == 0.0 || std::find(ended.begin(), ended.end(), i) != ended.end();
    return rests ? breakaway_level(friction) : sliding_level(friction, state.v[i]);
  };
  std::vector<std::uint8_t> has(settings.size(), 0);
  for (Candidate& c : at) {
    has[index(c.freedom)] = 1;
    if (equations_.modes()[index(c.freedom)].friction != FreedomMode::Friction::none)
      c.level = level(c.freedom);
  }
  for (int i = 0; i < equations_.mechanism().freedoms(); ++i) {
    const FreedomMode& mode = equations_.modes()[index(i)];
    if (has[index(i)] == 0 && mode.friction != FreedomMode::Friction::none &&
        std::abs(state.v[i]) < kSlow)
      at.push_back({i, 0, level(i)});
  }
  return at;
}

void StopsAndFriction::set_free(std::span<const Candidate> at) {
  const auto no_friction = [](FreedomMode& mode) {
    if (mode.friction == FreedomMode::Friction::none) return;
    mode.friction = FreedomMode::Friction::sliding;
    mode.direction = 0;
  };
  for (FreedomMode& mode : equations_.modes()) {
    if (mode.held()) no_friction(mode);
    mode.stop = 0;
  }
  for (const Candidate& c : at) no_friction(equations_.modes()[index(c.freedom)]);
}

// By forces in place of impulses, large enough to be seen beside the others.
Eigen::MatrixXd StopsAndFriction::responses_with_constraints(std::span<const Candidate> at,
                                                             const Evaluation& free) {
  const auto count = static_cast<Eigen::Index>(at.size());
  Eigen::MatrixXd response(equations_.mechanism().freedoms(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const int i = at[index(k)].freedom;
    double size = 1.0;
    for (int pass = 0; pass < 2; ++pass) {
      Eigen::VectorXd more = free.applied;
      more[i] += size;
      response.col(k) =
          (equations_.constraints()->forward(free.state(), more, equations_.forces().external()) -
           free.acceleration) /
          size;
      const double answer = response.col(k).lpNorm<Eigen::Infinity>();
      if (answer > 0.0) size = std::max(1.0, free.acceleration.lpNorm<Eigen::Infinity>()) / answer;
    }
  }
  return response;
}

Eigen::MatrixXd StopsAndFriction::responses(const State& state, std::span<const Candidate> at,
                                            const Evaluation& free) {
  if (equations_.constraints() != nullptr) return responses_with_constraints(at, free);
  const Mechanism& m = equations_.mechanism();
  const auto count = static_cast<Eigen::Index>(at.size());
  Eigen::MatrixXd response(m.freedoms(), count);
  ImpulseInput input;
  input.locked.assign(index(m.freedoms()), 0);
  for (int i = 0; i < m.freedoms(); ++i)
    if (equations_.prescribed(i)) input.locked[index(i)] = 1;
  input.target = state.v;
  ImpulseResult result;
  for (Eigen::Index k = 0; k < count; ++k) {
    input.impulse = Eigen::VectorXd::Unit(m.freedoms(), at[index(k)].freedom);
    apply_impulse(m, state, input, workspace_, result);
    response.col(k) = result.jump;
  }
  return response;
}

const Evaluation& StopsAndFriction::evaluate_free(double t, const Eigen::VectorXd& y) {
  if (equations_.constraints() == nullptr) return found_;  // not used then
  const std::vector<FreedomMode> modes = equations_.modes();
  set_free({});
  equations_.evaluate(t, y, found_);
  equations_.modes() = modes;
  return found_;
}

// The problem of these candidates, in the sense away from their limits.
BoundedProblem StopsAndFriction::problem_of(std::span<const Candidate> at,
                                            const Eigen::MatrixXd& response,
                                            const Eigen::VectorXd& motion) const {
  const auto count = static_cast<Eigen::Index>(at.size());
  BoundedProblem problem;
  problem.w.resize(count, count);
  problem.b.resize(count);
  problem.least = Eigen::VectorXd::Zero(count);
  problem.most = Eigen::VectorXd::Constant(count, kInfinity);
  for (Eigen::Index r = 0; r < count; ++r) {
    const Candidate& row = at[index(r)];
    problem.b[r] = row.sense() * motion[row.freedom];
    for (Eigen::Index c = 0; c < count; ++c)
      problem.w(r, c) = row.sense() * at[index(c)].sense() * response(row.freedom, c);
  }
  return problem;
}

// Applies the impulses of a solution (in the sense away from limits): the freedoms that it holds
// end at `target`. Returns the work at each and books it.
Eigen::VectorXd StopsAndFriction::push(std::span<const Candidate> at,
                                       const Eigen::MatrixXd& response,
                                       const BoundedSolution& solution,
                                       const Eigen::VectorXd& target, State& state,
                                       Eigen::VectorXd& y) {
  const auto count = static_cast<Eigen::Index>(at.size());
  Eigen::VectorXd impulse = solution.push;
  for (Eigen::Index k = 0; k < count; ++k) impulse[k] *= at[index(k)].sense();
  const Eigen::VectorXd before = state.v;
  double others = 0.0;  // work of contacts that are closed
  if (equations_.constraints() != nullptr) {
    ImpulseInput input;
    input.locked.assign(index(equations_.mechanism().freedoms()), 0);
    input.target = state.v;
    for (int i = 0; i < equations_.mechanism().freedoms(); ++i)
      if (equations_.prescribed(i)) input.locked[index(i)] = 1;
    for (Eigen::Index k = 0; k < count; ++k) {
      const Candidate& c = at[index(k)];
      if (solution.between[index(k)] == 0) continue;
      input.locked[index(c.freedom)] = 1;
      input.target[c.freedom] = c.sense() * target[k];
    }
    const ImpulseResult result = equations_.impulse(state, input);
    state.v = result.velocity;
    others = result.energy_change;
    for (Eigen::Index k = 0; k < count; ++k)
      impulse[k] = solution.between[index(k)] == 0 ? 0.0 : result.impulse[at[index(k)].freedom];
  } else {
    state.v += response * impulse;
  }
  Eigen::VectorXd work(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Candidate& c = at[index(k)];
    if (solution.between[index(k)] != 0) state.v[c.freedom] = c.sense() * target[k];
    work[k] = 0.5 * impulse[k] * (before[c.freedom] + state.v[c.freedom]);
  }
  if (equations_.constraints() != nullptr && count > 0) work[0] += others - work.sum();
  equations_.set_state(state, y);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Candidate& c = at[index(k)];
    if (c.side != 0)
      equations_.work().add_impact(c.freedom, work[k], y);
    else
      equations_.work().add_friction(c.freedom, work[k], y);
  }
  return work;
}

void StopsAndFriction::collide(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  State state = state_of(y);
  const std::vector<Candidate> all = at_limits(state);
  Eigen::MatrixXd all_responses;
  for (int round = 0; round <= kElasticRounds; ++round) {
    const bool last = round == kElasticRounds;
    const double rounding = kSpeedRounding * speed_;
    std::vector<Candidate> at;
    std::vector<Eigen::Index> columns;
    bool any = false;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double away = all[k].sense() * state.v[all[k].freedom];
      any = any || away < -rounding;
      if (!last && away > rounding) continue;
      at.push_back(all[k]);
      columns.push_back(static_cast<Eigen::Index>(k));
    }
    if (!any) return;
    if (round == 0) {
      if (t - crowd_start_ > kCrowdTime || t < crowd_start_) {
        crowd_start_ = t;
        crowd_ = 0;
      }
      ++crowd_;
      all_responses = responses(state, all, evaluate_free(t, y));
    }
    const Eigen::MatrixXd response = all_responses(Eigen::all, columns);
    BoundedProblem problem = problem_of(at, response, state.v);
    const Eigen::VectorXd before = problem.b;
    Eigen::VectorXd target = Eigen::VectorXd::Zero(before.size());
    for (Eigen::Index k = 0; k < target.size(); ++k) {
      const Stop& stop = stop_of(at[index(k)].freedom);
      const bool bounces = !last && (crowd_ <= kCrowd || stop.restitution == 1.0);
      if (before[k] >= -rounding) problem.b[k] = std::max(0.0, before[k]);
      if (before[k] < -rounding && bounces && stop.restitution > 0.0)
        target[k] = -stop.restitution * before[k];
    }
    problem.b -= target;
    const BoundedSolution solution = solve(problem);
    const Eigen::VectorXd work = push(at, response, solution, target, state, y);
    for (Eigen::Index k = 0; k < target.size(); ++k) {
      const Candidate& c = at[index(k)];
      const Stop& stop = stop_of(c.freedom);
      if (before[k] >= -rounding || solution.between[index(k)] == 0) continue;
      struck_[index(c.freedom)] = 1;
      const std::string& name = m.velocity_names()[index(c.freedom)];
      log.push_back({t, "limit", name,
                     fmt::format("{} limit {:.6g}: velocity {:.6g} to {:.6g}, impulse {:.6g}, "
                                 "energy {:.6g} J",
                                 side_name(c.side), c.side < 0 ? stop.lower : stop.upper,
                                 c.sense() * before[k], c.sense() * target[k],
                                 c.sense() * solution.push[k], work[k])});
      if (target[k] == 0.0 && stop.restitution > 0.0)
        log.push_back({t, "zeno", name,
                       last
                           ? fmt::format("more than {} impacts at one instant; it does not bounce",
                                         kElasticRounds)
                           : fmt::format("more than {} impacts within {:.6g} s; it does not bounce",
                                         kCrowd, kCrowdTime)});
    }
    slide_what_moves(state);
  }
}

void StopsAndFriction::slide_what_moves(const State& state) {
  for (int i = 0; i < equations_.mechanism().freedoms(); ++i) {
    FreedomMode& mode = equations_.modes()[index(i)];
    if (mode.friction == FreedomMode::Friction::none || state.v[i] == 0.0) continue;
    mode.friction = FreedomMode::Friction::sliding;
    mode.direction = state.v[i] > 0.0 ? 1 : -1;
  }
}

void StopsAndFriction::choose_modes(double t, Eigen::VectorXd& y, const Happened& happened) {
  State state = state_of(y);
  for (int choice = 0; choice < kMostChoices; ++choice) {
    const std::vector<Candidate> at = candidates(state, happened.ended);
    if (at.empty()) break;
    set_free(at);
    equations_.evaluate(t, y, found_);
    const Eigen::VectorXd a = found_.acceleration;
    const Eigen::MatrixXd response = responses(state, at, found_);
    const auto moves = [&](int i) { return std::abs(state.v[i]) > kSpeedRounding * speed_; };
    Eigen::VectorXd later = kHorizon * a;
    for (const Candidate& c : at)
      if (moves(c.freedom)) later[c.freedom] += state.v[c.freedom];
    BoundedProblem problem = problem_of(at, response, later);
    // What could as well be held is, but for what is let go just now.
    const double rounding = kForceRounding * kHorizon * a.lpNorm<Eigen::Infinity>();
    for (Eigen::Index k = 0; k < problem.b.size(); ++k) {
      const Candidate& c = at[index(k)];
      const bool released = std::find(happened.released.begin(), happened.released.end(),
                                      c.freedom) != happened.released.end();
      if (c.side != 0 && !moves(c.freedom)) {
        if (released) problem.b[k] += rounding;
        if (happened.released.empty()) problem.b[k] -= rounding;
      }
      const double level = kHorizon * c.level * (released ? 1.0 - kForceRounding : 1.0);
      problem.least[k] = -level;
      if (c.side == 0) problem.most[k] = level;
    }
    take_modes(t, at, std::move(problem));
    hold_independent_only(state);
    if (!end_slow_motion(at, response, state, y)) break;
  }
  std::vector<Candidate> resting;
  for (const Stop& stop : stops_)
    if (const int held = equations_.modes()[index(stop.freedom)].stop; held != 0)
      resting.push_back({stop.freedom, held});
  bring_to_limits(resting, state, y);
  for (int i = 0; i < equations_.mechanism().freedoms(); ++i)
    if (equations_.modes()[index(i)].held()) state.v[i] = 0.0;
  equations_.set_state(state, y);
  equations_.evaluate(t, y, found_);
}

// Which candidates are held, and where the others slide.
void StopsAndFriction::take_modes(double t, std::span<const Candidate> at, BoundedProblem problem) {
  const auto settings = equations_.mechanism().freedom_settings();
  BoundedSolution solution;
  // What breaks away slides against less; that may take others with it.
  for (std::size_t pass = 0; pass <= at.size(); ++pass) {
    solution = solve(problem);
    bool less = false;
    for (Eigen::Index k = 0; k < problem.b.size(); ++k) {
      const Candidate& c = at[index(k)];
      if (c.level == 0.0 || solution.between[index(k)] != 0) continue;
      const double sliding = kHorizon * sliding_level(settings[index(c.freedom)].friction, 0.0);
      if (problem.least[k] >= -sliding) continue;
      problem.least[k] = -sliding;
      if (c.side == 0) problem.most[k] = sliding;
      less = true;
    }
    if (!less) break;
  }
  if (!solution.solved)
    throw NonsmoothError("no consistent choice of sticking and resting hinges at time " +
                         number(t) + " s; give one of them a smooth friction law");
  for (Eigen::Index k = 0; k < problem.b.size(); ++k) {
    const Candidate& c = at[index(k)];
    FreedomMode& mode = equations_.modes()[index(c.freedom)];
    const double p = solution.push[k];
    const bool between =
        solution.between[index(k)] != 0 || (p > problem.least[k] && p < problem.most[k]);
    const bool dry = mode.friction != FreedomMode::Friction::none;
    if (between && c.side != 0 && (p > 0.0 || !dry)) mode.stop = c.side;
    if (!dry) continue;
    mode.friction = between ? FreedomMode::Friction::stuck : FreedomMode::Friction::sliding;
    mode.direction = between ? 0 : p <= problem.least[k] ? c.sense() : -c.sense();
  }
}

// Brings what is held to rest, and what moves against the direction in which it is to slide. False:
// that is so already.
bool StopsAndFriction::end_slow_motion(std::span<const Candidate> at,
                                       const Eigen::MatrixXd& response, State& state,
                                       Eigen::VectorXd& y) {
  const double rounding = kSpeedRounding * speed_;
  BoundedProblem problem = problem_of(at, response, state.v);
  bool any = false;
  for (Eigen::Index k = 0; k < problem.b.size(); ++k) {
    const Candidate& c = at[index(k)];
    const FreedomMode& mode = equations_.modes()[index(c.freedom)];
    const double v = state.v[c.freedom];
    if (mode.held() || mode.direction * v < 0.0) {
      problem.least[k] = -kInfinity;
      any = any || std::abs(v) > rounding;
      if (std::abs(v) > rounding) slowed_[index(c.freedom)] = 1;
    } else if (c.side == 0) {
      problem.most[k] = 0.0;
    }
  }
  if (!any) return false;
  push(at, response, solve(problem), Eigen::VectorXd::Zero(problem.b.size()), state, y);
  return true;
}

// Of freedoms in one loop only so many can be held as move independently; the others follow them.
void StopsAndFriction::hold_independent_only(const State& state) {
  const Mechanism& m = equations_.mechanism();
  if (equations_.coordinates().chart() == nullptr) return;
  std::vector<std::uint8_t> mask(index(m.freedoms()), 0);
  for (int i = 0; i < m.freedoms(); ++i)
    if (equations_.prescribed(i)) mask[index(i)] = 1;
  for (int i = 0; i < m.freedoms(); ++i) {
    FreedomMode& mode = equations_.modes()[index(i)];
    if (!mode.held() || mask[index(i)] != 0) continue;
    mask[index(i)] = 1;
    try {
      choose_chart(m, state.q, {.pinned = mask});
    } catch (const NumericalError&) {
      mask[index(i)] = 0;
      mode.stop = 0;
      mode.direction = 0;
      if (mode.friction != FreedomMode::Friction::none)
        mode.friction = FreedomMode::Friction::sliding;
    }
  }
}

void StopsAndFriction::settle(double t, Eigen::VectorXd& y, const Happened& happened,
                              std::vector<RunEvent>& log) {
  if (equations_.steps()) return;
  const std::vector<FreedomMode> before = equations_.modes();
  struck_.assign(before.size(), 0);
  slowed_.assign(before.size(), 0);
  State state = state_of(y);
  speed_ = state.v.lpNorm<Eigen::Infinity>();
  if (!happened.impacts.empty()) {
    std::vector<Candidate> at;
    for (const int i : happened.impacts)
      if (const int where = side(stop_of(i), state); where != 0) at.push_back({i, where});
    bring_to_limits(at, state, y);
  }
  collide(t, y, log);
  choose_modes(t, y, happened);
  log_changes(found_, before, log);
}

void StopsAndFriction::log_changes(const Evaluation& found, const std::vector<FreedomMode>& before,
                                   std::vector<RunEvent>& log) const {
  using Law = FreedomMode::Friction;
  const Mechanism& m = equations_.mechanism();
  const State& state = found.state();
  const double t = found.instant.time;
  const bool thrown = std::find(struck_.begin(), struck_.end(), 1) != struck_.end();
  for (int i = 0; i < m.freedoms(); ++i) {
    const FreedomMode& now = equations_.modes()[index(i)];
    const FreedomMode& then = before[index(i)];
    const std::string& name = m.velocity_names()[index(i)];
    const double level = breakaway_level(m.freedom_settings()[index(i)].friction);
    if (then.stop != 0 && now.stop == 0)
      log.push_back({t, "release", name,
                     fmt::format("{} its {} limit{}", state.v[i] == 0.0 ? "leaves" : "thrown off",
                                 side_name(then.stop),
                                 state.v[i] == 0.0 ? "" : " by the impact of another")});
    // With friction the last bounce may end where it turns round.
    const bool at_its_top = then.friction == Law::sliding && struck_[index(i)] == 0;
    if (then.stop == 0 && now.stop != 0 &&
        (slowed_[index(i)] != 0 || (at_its_top && stop_of(i).restitution > 0.0)))
      log.push_back({t, "zeno", name,
                     fmt::format("bounces shorter than {:.6g} s would accumulate here; it rests "
                                 "against its {} limit from now on",
                                 kShortestBounce, side_name(now.stop))});
    if (now.stop != 0) continue;
    if (now.friction == Law::stuck && then.friction == Law::sliding)
      log.push_back({t, "stick", name,
                     fmt::format("held by {:.6g}, breakaway at {:.6g}", found.friction[i], level)});
    // What leaves a stop, or is thrown, has been told.
    if (now.friction != Law::sliding || thrown || then.stop != 0) continue;
    if (then.friction != Law::sliding)
      log.push_back(
          {t, "slip", name, fmt::format("friction cannot hold it, breakaway at {:.6g}", level)});
    else if (now.direction * then.direction < 0)
      log.push_back(
          {t, "turn", name,
           fmt::format("slides the other way: friction cannot hold it, breakaway at {:.6g}",
                       level)});
  }
}

void StopsAndFriction::begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  const State state = state_of(y);
  slide_what_moves(state);
  for (Stop& stop : stops_) {
    const double q = state.q[stop.coordinate];
    stop.outside = q < stop.lower - kTouching ? -1 : q > stop.upper + kTouching ? 1 : 0;
    if (stop.outside != 0)
      log.push_back({t, "limit", m.velocity_names()[index(stop.freedom)],
                     fmt::format("starts at {:.6g}, outside its limits {:.6g} to {:.6g}, which act "
                                 "only once it is inside",
                                 q, stop.lower, stop.upper)});
  }
  settle(t, y, {}, log);
}

void StopsAndFriction::forget_modes(const Eigen::VectorXd& y) {
  const State state = state_of(y);
  for (int i = 0; i < equations_.mechanism().freedoms(); ++i) {
    FreedomMode& mode = equations_.modes()[index(i)];
    mode.stop = 0;
    if (mode.friction == FreedomMode::Friction::none) continue;
    mode.friction = FreedomMode::Friction::sliding;
    mode.direction = state.v[i] > 0.0 ? 1 : state.v[i] < 0.0 ? -1 : 0;
  }
}

void StopsAndFriction::begin_again(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  forget_modes(y);
  settle(t, y, {}, log);
}

std::vector<double> StopsAndFriction::save() const {
  std::vector<double> saved{crowd_start_, static_cast<double>(crowd_)};
  for (const Stop& stop : stops_) saved.push_back(stop.outside);
  return saved;
}

void StopsAndFriction::restore(std::span<const double> saved) {
  crowd_start_ = saved[0];
  crowd_ = static_cast<int>(saved[1]);
  for (std::size_t k = 0; k < stops_.size(); ++k)
    stops_[k].outside = static_cast<int>(saved[2 + k]);
}

}  // namespace catena
