#include "catena/simulation/contacts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/text.h"
#include "catena/closure/chart.h"

namespace catena {
namespace {

// Impacts at one instant: so many as they are, then some more without restitution, which end.
constexpr int kElasticRounds = 20;
constexpr int kMostRounds = 100;

// A freedom that an impact throws off its limit by less (rad/s, m/s), and nothing pulls away,
// stays.
constexpr double kSlowest = 1e-6;
// So many impacts within so short a time (s) are a crowd.
constexpr double kCrowdTime = 1e-3;
constexpr int kCrowd = 300;
// Velocities of a prescribed motion that differ by less are the same.
constexpr double kSameSpeed = 1e-9;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

double checked_restitution(double e, const std::string& what) {
  if (e >= 0.0 && e <= 1.0) return e;
  throw Error(what + ": the restitution is " + number(e) + "; it must be from 0 to 1");
}

}  // namespace

Contacts::Contacts(Equations& equations, const ActionSettings& actions)
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

const Contacts::Stop* Contacts::stop_of(int freedom) const {
  const int k = stop_index_[index(freedom)];
  return k < 0 ? nullptr : &stops_[index(k)];
}

// The velocities after `freedom` is brought to `target`. Freedoms with a prescribed motion keep
// theirs; those that rest against a stop stay, unless the stop would have to pull.
ImpulseResult Contacts::jump(const Eigen::VectorXd& y, int freedom, double target) {
  const Mechanism& m = equations_.mechanism();
  State state = equations_.state();
  equations_.coordinates().unpack({y.data(), index(equations_.coordinates().size())}, state);
  ImpulseInput input;
  input.locked.assign(index(m.freedoms()), 0);
  input.target = state.v;
  for (int i = 0; i < m.freedoms(); ++i)
    if (equations_.prescribed(i) || equations_.modes()[index(i)].stop != 0)
      input.locked[index(i)] = 1;
  input.locked[index(freedom)] = 1;
  input.target[freedom] = target;
  return resolve(state, std::move(input), freedom);
}

// The impulse that brings locked freedoms to their targets; stops cannot pull. `struck` is kept,
// −1: none.
ImpulseResult Contacts::resolve(const State& state, ImpulseInput input, int struck) {
  const Mechanism& m = equations_.mechanism();
  ImpulseResult result;
  while (true) {
    if (equations_.constraints() != nullptr)
      result = equations_.impulse(state, input);
    else
      apply_impulse(m, state, input, workspace_, result);
    int pulled = -1;
    for (int i = 0; i < m.freedoms(); ++i) {
      const int stop = equations_.modes()[index(i)].stop;
      if (i != struck && input.locked[index(i)] != 0 && stop != 0 && result.impulse[i] * stop > 0.0)
        pulled = i;
    }
    if (pulled < 0) return result;
    input.locked[index(pulled)] = 0;
  }
}

void Contacts::strike(double t, Eigen::VectorXd& y, int freedom, std::vector<RunEvent>& log,
                      bool inelastic) {
  const Mechanism& m = equations_.mechanism();
  const Stop& stop = *stop_of(freedom);
  State state = equations_.state();
  const auto unpack = [&] {
    equations_.coordinates().unpack({y.data(), index(equations_.coordinates().size())}, state);
  };
  unpack();
  const bool low =
      state.q[stop.coordinate] < 0.5 * (stop.lower + stop.upper) || !std::isfinite(stop.upper);
  const bool at_lower = std::isfinite(stop.lower) && low;
  const int side = at_lower ? -1 : 1;
  const double before = state.v[freedom];
  state.q[stop.coordinate] = at_lower ? stop.lower : stop.upper;
  equations_.set_state(state, y);
  if (before * side <= 0.0) return;  // it leaves already

  const auto apply = [&](double target) {
    const ImpulseResult result = jump(y, freedom, target);
    unpack();
    state.v = result.velocity;
    state.v[freedom] = target;
    for (int i = 0; i < m.freedoms(); ++i) {
      FreedomMode& mode = equations_.modes()[index(i)];
      if (mode.stop != 0 && std::abs(result.jump[i]) > 0.0) {
        log.push_back(
            {t, "release", m.velocity_names()[index(i)],
             fmt::format("thrown off its {} limit by the impact of '{}'",
                         mode.stop < 0 ? "lower" : "upper", m.velocity_names()[index(freedom)])});
        thrown_.emplace_back(i, mode.stop);
        mode.stop = 0;
      }
      if (mode.stop != 0) state.v[i] = 0.0;
    }
    slide_what_moves(state);
    equations_.set_state(state, y);
    equations_.add_impact_work(freedom, result.energy_change, y);
    return result;
  };
  const double target = inelastic || stop.restitution == 0.0 ? 0.0 : -stop.restitution * before;
  const ImpulseResult result = apply(target);
  const std::string& name = m.velocity_names()[index(freedom)];
  log.push_back({t, "limit", name,
                 fmt::format("{} limit {:.6g}: velocity {:.6g} to {:.6g}, impulse {:.6g}, energy "
                             "{:.6g} J",
                             at_lower ? "lower" : "upper", at_lower ? stop.lower : stop.upper,
                             before, target, result.impulse[freedom], result.energy_change)});
  if (target == 0.0) {
    equations_.modes()[index(freedom)].stop = side;
    return;
  }
  // How long would it be away?
  equations_.evaluate(t, y);
  const double back = equations_.acceleration()[freedom] * side;
  if (back > 0.0 && 2.0 * std::abs(target) / back < kShortestBounce) {
    apply(0.0);
    equations_.modes()[index(freedom)].stop = side;
    log.push_back({t, "zeno", name,
                   fmt::format("bounces shorter than {:.6g} s would accumulate here; it rests "
                               "against its {} limit from now on",
                               kShortestBounce, at_lower ? "lower" : "upper")});
  }
}

void Contacts::slide_what_moves(const State& state) {
  for (int i = 0; i < equations_.mechanism().freedoms(); ++i) {
    FreedomMode& mode = equations_.modes()[index(i)];
    if (mode.friction == FreedomMode::Friction::none || state.v[i] == 0.0) continue;
    mode.friction = FreedomMode::Friction::sliding;
    mode.direction = state.v[i] > 0.0 ? 1 : -1;
  }
}

bool Contacts::jump_motions(double t, const State& before, Eigen::VectorXd& y,
                            std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  equations_.look(t, y);
  State after = equations_.state();
  ImpulseInput input;
  input.locked.assign(index(m.freedoms()), 0);
  input.target = before.v;
  bool any = false;
  for (int i = 0; i < m.freedoms(); ++i) {
    if (equations_.modes()[index(i)].stop != 0) input.locked[index(i)] = 1;
    if (!equations_.prescribed(i)) continue;
    const std::string& name = m.velocity_names()[index(i)];
    const int c = m.coordinate_of_freedom()[index(i)];
    if (c >= 0 && std::abs(after.q[c] - before.q[c]) > kAtLimit * (1.0 + std::abs(before.q[c])))
      throw NumericalError("the prescribed motion of '" + name + "' jumps from " +
                           number(before.q[c]) + " to " + number(after.q[c]) + " at " + number(t) +
                           " s; a position cannot jump: give it a way in between");
    input.locked[index(i)] = 1;
    input.target[i] = after.v[i];
    any = any || std::abs(after.v[i] - before.v[i]) > kSameSpeed * (1.0 + std::abs(before.v[i]));
  }
  if (!any) return false;
  const ImpulseResult result = resolve(before, input, -1);
  for (int i = 0; i < m.freedoms(); ++i) {
    if (!equations_.prescribed(i)) continue;
    const double work = 0.5 * result.impulse[i] * (before.v[i] + after.v[i]);
    equations_.add_motion_work(i, work, y);
    log.push_back({t, "motion", m.velocity_names()[index(i)],
                   fmt::format("its velocity jumps from {:.6g} to {:.6g}: impulse {:.6g}, energy "
                               "{:.6g} J",
                               before.v[i], after.v[i], result.impulse[i], work)});
  }
  after.v = result.velocity;
  slide_what_moves(after);
  equations_.set_state(after, y);
  return true;
}

void Contacts::begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  equations_.evaluate(t, y);
  const State state = equations_.state();
  std::vector<int> impacts;
  slide_what_moves(state);
  for (const Stop& stop : stops_) {
    const double q = state.q[stop.coordinate];
    const double v = state.v[stop.freedom];
    const int side = stop.side(q);
    if (side == 0 && (q < stop.lower || q > stop.upper)) {
      log.push_back({t, "limit", m.velocity_names()[index(stop.freedom)],
                     fmt::format("starts at {:.6g}, outside its limits {:.6g} to {:.6g}, which act "
                                 "only once it is inside",
                                 q, stop.lower, stop.upper)});
    } else if (v * side > 0.0) {
      impacts.push_back(stop.freedom);
    } else if (v == 0.0 && side != 0) {
      equations_.modes()[index(stop.freedom)].stop = side;
    }
  }
  hold_independent_only(state);
  settle(t, y, {.impacts = impacts}, log);
}

void Contacts::hold_independent_only(const State& state) {
  const Mechanism& m = equations_.mechanism();
  if (equations_.coordinates().chart() == nullptr) return;
  std::vector<std::uint8_t> mask(index(m.freedoms()), 0);
  for (int i = 0; i < m.freedoms(); ++i)
    if (equations_.prescribed(i)) mask[index(i)] = 1;
  for (int i = 0; i < m.freedoms(); ++i) {
    FreedomMode& mode = equations_.modes()[index(i)];
    if (mode.stop == 0 || mask[index(i)] != 0) continue;
    mask[index(i)] = 1;
    try {
      choose_chart(m, state.q, {.pinned = mask});
    } catch (const NumericalError&) {
      mask[index(i)] = 0;
      mode.stop = 0;
    }
  }
}

void Contacts::settle(double t, Eigen::VectorXd& y, const Happened& happened,
                      std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  const std::vector<int>& impacts = happened.impacts;
  const std::vector<int>& ended = happened.ended;
  if (!happened.released.empty()) equations_.evaluate(t, y);
  for (const int i : happened.released) release(t, i, log);
  if (!ended.empty()) {
    State state = equations_.state();
    equations_.coordinates().unpack({y.data(), index(equations_.coordinates().size())}, state);
    for (const int i : ended) {
      state.v[i] = 0.0;
      equations_.modes()[index(i)].friction = FreedomMode::Friction::stuck;
      equations_.modes()[index(i)].direction = 0;
    }
    equations_.set_state(state, y);
  }
  thrown_.clear();
  if (!impacts.empty()) {
    if (t - crowd_start_ > kCrowdTime || t < crowd_start_) {
      crowd_start_ = t;
      crowd_ = 0;
    }
    ++crowd_;
  }
  for (const int i : impacts) strike(t, y, i, log, crowd_ > kCrowd);
  // An impact may throw another freedom that is at its limit against it.
  for (int round = 0; !impacts.empty() && round < kMostRounds; ++round) {
    State state = equations_.state();
    equations_.coordinates().unpack({y.data(), index(equations_.coordinates().size())}, state);
    bool again = false;
    for (const Stop& stop : stops_) {
      const double q = state.q[stop.coordinate];
      const double v = state.v[stop.freedom];
      if (!(v * stop.side(q) > 0.0)) continue;
      strike(t, y, stop.freedom, log, round >= kElasticRounds || crowd_ > kCrowd);
      again = true;
      break;
    }
    if (!again) break;
  }
  keep_short_flights(t, y, log);
  release_until_consistent(t, y, log);
  for (const int i : ended)
    if (equations_.modes()[index(i)].friction == FreedomMode::Friction::stuck)
      log.push_back({t, "stick", m.velocity_names()[index(i)],
                     fmt::format("held by {:.6g}, breakaway at {:.6g}", equations_.friction()[i],
                                 breakaway_level(m.freedom_settings()[index(i)].friction))});
}

void Contacts::keep_short_flights(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  if (thrown_.empty()) return;
  const Mechanism& m = equations_.mechanism();
  equations_.evaluate(t, y);
  State state = equations_.state();
  ImpulseInput input;
  input.locked.assign(index(m.freedoms()), 0);
  input.target = state.v;
  for (int i = 0; i < m.freedoms(); ++i)
    if (equations_.prescribed(i) || equations_.modes()[index(i)].stop != 0)
      input.locked[index(i)] = 1;
  bool any = false;
  for (const auto& [i, side] : thrown_) {
    const double back = equations_.acceleration()[i] * side;
    const double speed = std::abs(state.v[i]);
    const double more = crowd_ > kCrowd ? 100.0 : 1.0;
    const bool kept =
        back >= 0.0 && (2.0 * speed < more * kShortestBounce * back || speed < more * kSlowest);
    if (equations_.modes()[index(i)].stop != 0 || !kept) continue;
    input.locked[index(i)] = 1;
    input.target[i] = 0.0;
    equations_.modes()[index(i)].stop = side;
    any = true;
    log.push_back({t, "zeno", m.velocity_names()[index(i)],
                   fmt::format("would be back at its {} limit within {:.6g} s; it rests there",
                               side < 0 ? "lower" : "upper", kShortestBounce)});
  }
  if (!any) return;
  ImpulseResult result;
  if (equations_.constraints() != nullptr)
    result = equations_.impulse(state, input);
  else
    apply_impulse(m, state, input, workspace_, result);
  state.v = result.velocity;
  for (int i = 0; i < m.freedoms(); ++i)
    if (equations_.modes()[index(i)].stop != 0) state.v[i] = 0.0;
  equations_.set_state(state, y);
  equations_.add_impact_work(thrown_.front().first, result.energy_change, y);
}

// Lets a held freedom go; after an evaluation that says what held it.
void Contacts::release(double t, int freedom, std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  FreedomMode& mode = equations_.modes()[index(freedom)];
  const std::string& name = m.velocity_names()[index(freedom)];
  const double reaction = equations_.reaction()[freedom];
  if (mode.stop != 0) {
    log.push_back({t, "release", name,
                   fmt::format("leaves its {} limit", mode.stop < 0 ? "lower" : "upper")});
    mode.stop = 0;
    if (mode.friction != FreedomMode::Friction::none) mode.friction = FreedomMode::Friction::stuck;
  } else {
    mode.friction = FreedomMode::Friction::sliding;
    mode.direction = reaction > 0.0 ? -1 : 1;
    log.push_back(
        {t, "slip", name,
         fmt::format("{:.6g} is needed to hold it, breakaway at {:.6g}", std::abs(reaction),
                     breakaway_level(m.freedom_settings()[index(freedom)].friction))});
  }
}

void Contacts::release_until_consistent(double t, const Eigen::VectorXd& y,
                                        std::vector<RunEvent>& log) {
  const Mechanism& m = equations_.mechanism();
  const int rounds = 2 * m.freedoms() + 1;  // a freedom can be released by its stop, then slip
  for (int round = 0; round <= rounds; ++round) {
    equations_.evaluate(t, y);
    int worst = -1;
    double most = 0.0;
    for (int i = 0; i < m.freedoms(); ++i) {
      const FreedomMode& mode = equations_.modes()[index(i)];
      if (!mode.held()) continue;
      const double reaction = equations_.reaction()[i];
      const double excess =
          mode.stop != 0
              ? reaction * mode.stop
              : std::abs(reaction) - breakaway_level(m.freedom_settings()[index(i)].friction);
      if (excess > most) {
        most = excess;
        worst = i;
      }
    }
    if (worst < 0) return;
    release(t, worst, log);
  }
  throw NumericalError("no consistent choice of sticking and resting hinges at time " + number(t) +
                       " s; give one of them a smooth friction law");
}

}  // namespace catena
