#include "catena/simulation/switching.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/text.h"
#include "catena/simulation/contacts.h"

namespace catena {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// A contact is closed when its gap is this small, in metres.
constexpr double kTouching = 1e-9;
// One that opens counts as open when it is this far below its plane; it is found again there.
constexpr double kJustOpened = 1e-13;

std::string together(const ConstraintSet& set, const std::vector<int>& list) {
  std::vector<std::string> names;
  for (const int i : list) names.push_back(set.name(i));
  return listed(names);
}

}  // namespace

Switching::Switching(Equations& equations, const ActionSettings& actions)
    : equations_(equations), set_(equations.constraints()) {
  if (set_ == nullptr) {
    if (!actions.switches.empty())
      throw Error("switch '" + actions.switches.front().name +
                  "': there are no constraints that could be switched");
    return;
  }
  counts_.resize(index(set_->count()));
  for (std::size_t k = 0; k < actions.constraints.size(); ++k) {
    const int i = static_cast<int>(k);
    if (set_->kind(i) == ConstraintSet::Kind::contact)
      contacts_.push_back(i);
    else if (actions.constraints[k].active)
      from_start_.push_back(i);
  }
  for (const SwitchSettings& s : actions.switches) {
    if (s.name.empty()) throw Error("a switch needs a name");
    const bool by_time = std::isfinite(s.time);
    const bool by_function =
        !s.when.expression.empty() || !s.when.table.empty() || s.when.function != nullptr;
    if (by_time == by_function)
      throw Error("switch '" + s.name + "' needs either a time or a function of the state");
    if (s.activate.empty() && s.release.empty())
      throw Error("switch '" + s.name + "' switches nothing");
    Change change{s,
                  {},
                  {},
                  Signal(by_function ? s.when : SignalSettings{.expression = "1"},
                         equations.mechanism(), "switch '" + s.name + "'", false),
                  by_time,
                  false};
    const auto find = [&](const std::vector<std::string>& names, std::vector<int>& to) {
      for (const std::string& name : names) {
        to.push_back(set_->find(name));
        if (set_->kind(to.back()) == ConstraintSet::Kind::contact)
          throw Error("switch '" + s.name + "': contact '" + name + "' opens and closes by itself");
      }
    };
    find(s.activate, change.on);
    find(s.release, change.off);
    changes_.push_back(std::move(change));
  }
}

State Switching::state_at(double t, const Eigen::VectorXd& y) {
  equations_.look(t, y);
  return equations_.state();
}

void Switching::begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  if (idle()) return;
  State state = state_at(t, y);
  for (Change& change : changes_) change.when.start(t, state);
  for (const int i : from_start_) set_->activate(i, state);
  equations_.project(t, y);  // sets the targets, and closes
  state = equations_.state();
  const double gap = set_->gap(state);
  if (!(gap <= kAttachTolerance))
    throw NumericalError("the constraints that are active from the start are open by " +
                         number(gap) + " m or rad and cannot be closed from the initial state");
  for (const int i : contacts_) {
    set_->look(state);
    const double open = set_->contact_gap(i);
    if (open < -kAttachTolerance)
      throw NumericalError("contact '" + set_->name(i) + "' starts " + number(-open) +
                           " m below its plane; raise it");
    if (open > kTouching) continue;
    if (set_->approach_speed(i) < -kSlowSlip) {
      touch_down(t, y, i, log);
      state = state_at(t, y);
    } else if (set_->approach_speed(i) <= kSlowSlip) {
      const Vec3d slip = set_->slip(i);
      const double speed = norm(slip);
      const bool slides = set_->contact(i).friction == 0.0 || speed > kSlowSlip;
      set_->set_mode(i, slides ? ContactMode::sliding : ContactMode::sticking,
                     speed > kSlowSlip ? (1.0 / speed) * slip : Vec3d::zero());
    }
  }
  resolve(t, y, log);
}

void Switching::start(double t) {
  using Kind = Watch::Kind;
  watches_.clear();
  if (idle()) return;
  for (std::size_t k = 0; k < changes_.size(); ++k) {
    const Change& change = changes_[k];
    const int which = static_cast<int>(k);
    if (change.by_time) {
      if (!change.done) watches_.push_back({Kind::time, which});
      continue;
    }
    int sign = -change.settings.direction;
    if (sign == 0) {
      const double value = change.when.value(t, equations_.state());
      sign = value >= 0.0 ? 1 : -1;
    }
    watches_.push_back({Kind::function, which, sign});
  }
  for (const int i : contacts_) {
    switch (set_->mode(i)) {
      case ContactMode::apart: {
        // One that has just left its plane is watched from the first instant, or the whole bounce
        // could fall between two looks.
        set_->look(equations_.state());
        const double open = set_->contact_gap(i);
        Watch watch{Kind::gap, i};
        if (open <= kJustOpened && set_->approach_speed(i) >= 0.0)
          watch.offset = std::max(0.0, kJustOpened - open);
        watches_.push_back(watch);
        break;
      }
      case ContactMode::sliding:
        watches_.push_back({Kind::push, i});
        if (set_->contact(i).friction > 0.0) watches_.push_back({Kind::slip, i});
        break;
      case ContactMode::sticking:
        watches_.push_back({Kind::push, i});
        watches_.push_back({Kind::cone, i});
        break;
    }
  }
}

bool Switching::needs_forces() const {
  for (const Watch& watch : watches_)
    if (watch.kind == Watch::Kind::push || watch.kind == Watch::Kind::cone) return true;
  return false;
}

double Switching::value(int k, double t) {
  const Watch& watch = watches_[index(k)];
  const State& state = equations_.state();
  switch (watch.kind) {
    case Watch::Kind::time:
      return changes_[index(watch.which)].settings.time - t;
    case Watch::Kind::function:
      return watch.sign * changes_[index(watch.which)].when.value(t, state);
    case Watch::Kind::gap:
      set_->look(state);
      return set_->contact_gap(watch.which) + watch.offset;
    case Watch::Kind::push:
      return set_->contact_force(watch.which).normal;
    case Watch::Kind::cone: {
      const ConstraintSet::ContactForce force = set_->contact_force(watch.which);
      return set_->contact(watch.which).friction * force.normal - norm(force.friction);
    }
    case Watch::Kind::slip:
      set_->look(state);
      return norm(set_->slip(watch.which)) - kSlowSlip;
  }
  return 1.0;
}

void Switching::count(double t, int constraint) {
  Count& c = counts_[index(constraint)];
  if (!(t - c.since <= kChatterTime) || c.since < 0.0) c = {t, 0};
  if (++c.times <= kMostSwitchings) return;
  throw NumericalError(fmt::format(
      "constraint '{}' chatters: it was switched {} times between {} and {} s; give its switch a "
      "dead band, or let it stay",
      set_->name(constraint), c.times, number(c.since), number(t)));
}

void Switching::apply(double t, Eigen::VectorXd& y, Change& change, std::vector<RunEvent>& log) {
  if (change.by_time) change.done = true;
  State state = state_at(t, y);
  std::string text;
  for (const int i : change.off) {
    if (!set_->active(i)) continue;
    set_->release(i);
    count(t, i);
  }
  bool any = false;
  for (const int i : change.on) {
    if (set_->active(i)) continue;
    set_->activate(i, state);
    count(t, i);
    any = true;
  }
  if (!change.off.empty()) text = "off: " + together(*set_, change.off);
  if (!change.on.empty()) text += (text.empty() ? "on: " : "; on: ") + together(*set_, change.on);
  if (any) {
    const double gap = set_->gap(state);
    if (!(gap <= kAttachTolerance))
      throw NumericalError("switch '" + change.settings.name + "': the frames of " +
                           together(*set_, change.on) + " are apart by " + number(gap) +
                           " m or rad when they are attached; bring them together first, or attach "
                           "them as they are (as_it_is)");
    const ConstraintSet::Jump jump = set_->impulse(state);
    text += fmt::format("; velocities jump by {:.6g}, energy {:.6g} J",
                        (jump.velocity - state.v).lpNorm<Eigen::Infinity>(), jump.energy_change);
    state.v = jump.velocity;
    equations_.set_state(state, y);
    equations_.add_switching_work(jump.energy_change, y);
  }
  log.push_back({t, "constraint", change.settings.name, text});
}

void Switching::touch_down(double t, Eigen::VectorXd& y, int contact, std::vector<RunEvent>& log) {
  State state = state_at(t, y);
  set_->look(state);
  const double before = set_->approach_speed(contact);
  double e = set_->contact(contact).restitution;
  ConstraintSet::Jump jump = set_->touch_down(contact, state, e);
  std::string note;
  if (jump.energy_change > 0.0 && e > 0.0) {
    // Newton's restitution with friction may create energy; then it does not bounce.
    e = 0.0;
    jump = set_->touch_down(contact, state, 0.0);
    note = "; its restitution would create energy and is left out";
  }
  state.v = jump.velocity;
  equations_.set_state(state, y);
  equations_.add_constraint_work(contact, jump.energy_change, y);
  set_->look(state);
  const double after = set_->approach_speed(contact);
  log.push_back({t, "touch", set_->name(contact),
                 fmt::format("normal velocity {:.6g} to {:.6g}, energy {:.6g} J{}", before, after,
                             jump.energy_change, note)});
  count(t, contact);
  if (e == 0.0) return;
  // How long would it be away?
  const ContactMode mode = set_->mode(contact);
  set_->set_mode(contact, ContactMode::apart);
  equations_.evaluate(t, y);
  const double h = 1e-6;  // a difference of the approach speed along the motion
  State later = equations_.state();
  later.v += h * equations_.acceleration();
  set_->look(later);
  const double pull = (set_->approach_speed(contact) - after) / h;
  if (pull < 0.0 && 2.0 * after / -pull < kShortestBounce) {
    set_->set_mode(contact, mode);
    const ConstraintSet::Jump rest = set_->touch_down(contact, state, 0.0);
    state.v = rest.velocity;
    equations_.set_state(state, y);
    equations_.add_constraint_work(contact, rest.energy_change, y);
    log.push_back({t, "zeno", set_->name(contact),
                   fmt::format("bounces shorter than {:.6g} s would accumulate here; it stays "
                               "closed from now on",
                               kShortestBounce)});
  }
}

void Switching::settle(double t, Eigen::VectorXd& y, std::span<const int> hits,
                       std::vector<RunEvent>& log) {
  for (const int k : hits) {
    const Watch watch = watches_[index(k)];
    switch (watch.kind) {
      case Watch::Kind::time:
      case Watch::Kind::function:
        apply(t, y, changes_[index(watch.which)], log);
        break;
      case Watch::Kind::gap:
        if (set_->mode(watch.which) == ContactMode::apart) {
          const State state = state_at(t, y);
          set_->look(state);
          if (set_->approach_speed(watch.which) < 0.0) touch_down(t, y, watch.which, log);
        }
        break;
      case Watch::Kind::slip: {
        set_->set_mode(watch.which, ContactMode::sticking);
        State state = state_at(t, y);
        const ConstraintSet::Jump jump = set_->impulse(state);
        state.v = jump.velocity;
        equations_.set_state(state, y);
        equations_.add_constraint_work(watch.which, jump.energy_change, y);
        log.push_back({t, "stick", set_->name(watch.which), "its slip has come to rest"});
        count(t, watch.which);
        break;
      }
      case Watch::Kind::push:
        set_->release(watch.which);
        log.push_back({t, "lift", set_->name(watch.which), "nothing presses it down any more"});
        count(t, watch.which);
        break;
      case Watch::Kind::cone: {
        equations_.evaluate(t, y);
        const Vec3d needed = set_->contact_force(watch.which).friction;
        set_->set_mode(watch.which, ContactMode::sliding,
                       norm(needed) > 0.0 ? (-1.0 / norm(needed)) * needed : Vec3d::zero());
        log.push_back({t, "slip", set_->name(watch.which), "friction cannot hold it"});
        count(t, watch.which);
        break;
      }
    }
  }
  resolve(t, y, log);
}

// Closed contacts that would pull are opened, those that friction cannot hold slide: the most
// violated first.
void Switching::resolve(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  if (idle() || contacts_.empty()) return;
  const int rounds = 2 * static_cast<int>(contacts_.size()) + 1;
  for (int round = 0; round <= rounds; ++round) {
    equations_.evaluate(t, y);
    int worst = -1;
    double most = 0.0;
    bool opens = false;
    for (const int i : contacts_) {
      if (set_->mode(i) == ContactMode::apart) continue;
      const ConstraintSet::ContactForce force = set_->contact_force(i);
      const double slips = set_->mode(i) == ContactMode::sticking
                               ? norm(force.friction) - set_->contact(i).friction * force.normal
                               : 0.0;
      for (const bool open : {true, false}) {
        const double excess = open ? -force.normal : slips;
        if (excess > most) {
          most = excess;
          worst = i;
          opens = open;
        }
      }
    }
    if (worst < 0) return;
    const Vec3d needed = set_->contact_force(worst).friction;
    if (opens) {
      set_->release(worst);
      log.push_back({t, "lift", set_->name(worst), "nothing presses it down"});
    } else {
      set_->set_mode(worst, ContactMode::sliding,
                     norm(needed) > 0.0 ? (-1.0 / norm(needed)) * needed : Vec3d::zero());
      log.push_back({t, "slip", set_->name(worst), "friction cannot hold it"});
    }
    count(t, worst);
  }
  throw NumericalError("no consistent choice of sticking, sliding and open contacts at time " +
                       number(t) + " s");
}

std::size_t Switching::saved() const {
  return idle() ? 0 : changes_.size() + index(set_->count()) * ConstraintSet::kSavedEach;
}

std::vector<double> Switching::save() const {
  if (idle()) return {};
  std::vector<double> s = set_->save();
  for (const Change& change : changes_) s.push_back(change.done ? 1.0 : 0.0);
  return s;
}

void Switching::restore(std::span<const double> s) {
  if (idle()) return;
  const std::size_t of_set = index(set_->count()) * ConstraintSet::kSavedEach;
  set_->restore(s.first(of_set));
  for (std::size_t k = 0; k < changes_.size(); ++k) {
    changes_[k].done = s[of_set + k] != 0.0;
    changes_[k].when.start(0.0, equations_.state());
  }
}

}  // namespace catena
