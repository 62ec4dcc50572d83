// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/switching.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/configuration.h"
#include "catena/simulation/nonsmooth/stops_and_friction.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// The shortest bounce that is followed doubles after so many switchings within kChatterTime.
constexpr double kOften = 20.0;
// The time (s) over which a difference of approach speeds along the motion is taken.
constexpr double kAheadOfContact = 1e-6;
// Of slide_margin(): closer than this the force of a contact grows fast.
constexpr double kNearJam = 0.05;
// An impulse must change a slip by more than this part of it, or by so little where sliding has no
// force at all; so often at one instant.
constexpr double kTurned = 0.01;
constexpr double kNeeded = 1e-9;
// Slip (m/s) that is at an end but for rounding.
constexpr double kHardlySlips = 2.0 * kSlowSlip;
constexpr int kMostJams = 10;

std::string together(const ConstraintSet& set, const std::vector<int>& list) {
  std::vector<std::string> names;
  names.reserve(list.size());
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
    const bool by_time = s.time.has_value();
    if (by_time == s.when.has_value())
      throw Error("switch '" + s.name + "' needs either a time or a function of the state");
    if (s.activate.empty() && s.release.empty())
      throw Error("switch '" + s.name + "' switches nothing");
    Change change{
        s,
        {},
        {},
        Signal(s.when.value_or("1"), equations.mechanism(), "switch '" + s.name + "'", false),
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
  equations_.at(t, y, instant_);
  return instant_.state;
}

void Switching::begin(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  if (idle()) return;
  State state = state_at(t, y);
  for (const int i : from_start_) set_->activate(i, state);
  equations_.set_targets(t, state);
  set_->use_ideal_servos(true);
  set_->refuse_open(state, kAttachTolerance);
  equations_.project(t, y);
  set_->use_ideal_servos(false);
  const State asked = state;
  state = state_at(t, y);
  const double moved =
      difference(equations_.mechanism(), asked.q, state.q).lpNorm<Eigen::Infinity>();
  if (moved > kAttachTolerance)
    log.push_back({t, "constraint", "start",
                   fmt::format("the constraints do not hold in the state that was given: positions "
                               "were moved by up to {:.3g} rad or m",
                               moved)});
  set_->look(state);
  for (const int i : contacts_)
    if (const double open = set_->contact_gap(i); open < -kAttachTolerance && !equations_.steps())
      throw NonsmoothError("contact '" + set_->name(i) + "' starts " + number(-open) +
                           " m below its plane");
  resolve(t, y, log);
}

void Switching::start(const Instant& here) {
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
    // One that would change nothing need not be found: its function may be fast.
    const auto is_on = [&](int i) { return set_->active(i); };
    if (std::all_of(change.on.begin(), change.on.end(), is_on) &&
        std::none_of(change.off.begin(), change.off.end(), is_on))
      continue;
    int sign = -change.settings.direction;
    if (sign == 0) {
      const double value = change.when.guard(here.time, here.state);
      sign = value >= 0.0 ? 1 : -1;
    }
    watches_.push_back({Kind::function, which, sign});
  }
  for (const int i : contacts_) {
    if (equations_.steps()) break;
    switch (set_->mode(i)) {
      case ContactMode::apart:
      case ContactMode::carried: {
        // One that has just left its plane is watched from the first instant, or the whole bounce
        // could fall between two looks.
        set_->look(here.state);
        const double open = set_->contact_gap(i);
        const double least = set_->mode(i) == ContactMode::apart ? kJustLeft : kCarried;
        Watch watch{Kind::gap, i};
        watch.offset = std::max(0.0, least - open);
        watches_.push_back(watch);
        break;
      }
      case ContactMode::sliding:
        watches_.push_back({Kind::push, i});
        if (set_->contact(i).friction > 0.0) {
          watches_.push_back({Kind::slip, i});
          watches_.back().direction = set_->slip_direction(i);
        }
        if (set_->contact(i).friction > 0.0 && set_->slips(i)) watches_.push_back({Kind::jam, i});
        break;
      case ContactMode::sticking:
        watches_.push_back({Kind::push, i});
        watches_.push_back({Kind::cone, i});
        break;
    }
  }
  follow_slip(here.state);
}

// Slip that turns round between two looks has come to rest on the way, how small it ever was seen:
// the errors of steps may carry it past zero.
void Switching::follow_slip(const State& state) {
  for (Watch& watch : watches_) {
    if (watch.kind != Watch::Kind::slip) continue;
    set_->look(state);
    const Vec3d slip = set_->slip(watch.which);
    const double speed = norm(slip);
    if (speed > kSlowSlip) watch.direction = (1.0 / speed) * slip;
  }
}

void Switching::mark(const Evaluation& found) {
  follow_slip(found.state());
  for (Watch& watch : watches_) {
    if (watch.kind != Watch::Kind::jam || watch.renewed) continue;
    watch.near = watch.near || found.contacts[index(watch.which)].slide_margin < kNearJam;
    if (!watch.near) continue;
    set_->renew_margin(watch.which, found.state());
    watch.renewed = true;
  }
}

bool Switching::needs_forces() const {
  for (const Watch& watch : watches_)
    if (watch.kind == Watch::Kind::push || watch.kind == Watch::Kind::cone) return true;
  return false;
}

double Switching::contact_load(const Evaluation& found) const {
  double sum = 0.0;
  for (const int i : contacts_) sum += std::abs(found.contacts[index(i)].force.normal);
  return sum;
}

// Forces that are just enough when a mode begins are watched from there on.
double Switching::value(int k, const Evaluation& found) {
  Watch& watch = watches_[index(k)];
  const double raw = raw_value(watch, found);
  if (!watch.started && (watch.kind == Watch::Kind::push || watch.kind == Watch::Kind::cone))
    watch.offset = std::max(0.0, kForceRounding * contact_load(found) - raw);
  watch.started = true;
  return raw + watch.offset;
}

double Switching::raw_value(const Watch& watch, const Evaluation& found) {
  const State& state = found.state();
  const double t = found.instant.time;
  switch (watch.kind) {
    case Watch::Kind::time:
      return *changes_[index(watch.which)].settings.time - t;
    case Watch::Kind::function:
      return watch.sign * changes_[index(watch.which)].when.guard(t, state);
    case Watch::Kind::gap:
      set_->look(state);
      return set_->contact_gap(watch.which);
    case Watch::Kind::push:
      return found.contacts[index(watch.which)].force.normal;
    case Watch::Kind::cone: {
      const ConstraintSet::ContactForce& force = found.contacts[index(watch.which)].force;
      return set_->contact(watch.which).friction * force.normal - norm(force.friction);
    }
    case Watch::Kind::slip:
      set_->look(state);
      return dot(set_->slip(watch.which), watch.direction) - kSlowSlip;
    case Watch::Kind::jam:
      return found.contacts[index(watch.which)].slide_margin - kJammed;
  }
  return 1.0;
}

Jet Switching::slope(int k, const Instant& here, std::span<const double> rates) const {
  const Watch& watch = watches_[index(k)];
  if (watch.kind != Watch::Kind::function) return Jet::without_rates(0.0);
  return changes_[index(watch.which)].when.guard_jet(here.time, here.state, rates);
}

void Switching::count(double t, int constraint) {
  Count& c = counts_[index(constraint)];
  if (!(t - c.since <= kChatterTime) || c.since < 0.0) c = {t, 0};
  if (++c.times <= kMostSwitchings) return;
  const std::string text = fmt::format(
      "constraint '{}' chatters: it was switched {} times between {} and {} s; give its switch a "
      "dead band, or let it stay",
      set_->name(constraint), c.times, number(c.since), number(t));
  if (set_->kind(constraint) == ConstraintSet::Kind::contact) throw NonsmoothError(text);
  throw NumericalError(text);
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
    equations_.work().add_switching(jump.energy_change, y);
  }
  log.push_back({t, "constraint", change.settings.name, text});
}

std::vector<int> Switching::touching(const State& state) {
  set_->look(state);
  std::vector<int> found;
  for (const int i : contacts_)
    if (set_->closed(i) || set_->contact_gap(i) <= kTouching) found.push_back(i);
  return found;
}

std::vector<int> Switching::resting(const State& state, std::span<const int> contacts) {
  set_->look(state);
  std::vector<int> found;
  for (const int i : contacts)
    if (std::abs(set_->approach_speed(i)) <= kSlowSlip) found.push_back(i);
  return found;
}

std::vector<int> Switching::back_at_once(double t, const Eigen::VectorXd& y,
                                         std::span<const int> contacts, std::vector<int>& rest,
                                         Evaluation& found) {
  std::vector<int> back;
  while (true) {
    equations_.evaluate_contacts(t, y, rest, found);
    const State& state = found.state();
    const State later{state.q, state.v + kAheadOfContact * found.acceleration};
    const std::size_t before = back.size();
    for (const int i : contacts) {
      if (std::find(rest.begin(), rest.end(), i) != rest.end()) continue;
      set_->look(state);
      const double speed = set_->approach_speed(i);
      set_->look(later);
      const double pull = (set_->approach_speed(i) - speed) / kAheadOfContact;
      const Count& c = counts_[index(i)];
      const double often = t - c.since <= kChatterTime ? c.times : 0.0;
      if (!(pull < 0.0) || 2.0 * speed > -pull * kShortestBounce * std::exp2(often / kOften))
        continue;
      back.push_back(i);
    }
    if (back.size() == before) return back;
    rest.insert(rest.end(), back.begin() + static_cast<std::ptrdiff_t>(before), back.end());
  }
}

std::vector<int> Switching::impact(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  State state = state_at(t, y);
  const std::vector<int> contacts = touching(state);
  std::vector<double> before, restitution;
  std::vector<int> hits;
  for (const int i : contacts) {
    before.push_back(set_->approach_speed(i));
    const bool approaches = before.back() < -kSlowSlip;
    if (approaches) hits.push_back(i);
    restitution.push_back(approaches ? set_->contact(i).restitution : 0.0);
  }
  if (hits.empty()) return hits;
  std::string note;
  ConstraintSet::Jump jump;
  const bool bounces =
      std::any_of(restitution.begin(), restitution.end(), [](double e) { return e > 0.0; });
  try {
    jump = set_->collide(state, contacts, restitution);
  } catch (const NumericalError&) {
    // What one bounces by may drive another into its plane. At rest on all of them is possible.
    if (!bounces) throw;
    note = "; others do not let it bounce";
  }
  double sum = 0.0, size = 0.0;
  for (const double work : jump.contact_work) {
    sum += work;
    size += std::abs(work);
  }
  // Newton's restitution with friction may create energy; then nothing bounces.
  if (sum > kCreatesEnergy * size) note = "; its restitution would create energy and is left out";
  if (!note.empty()) {
    std::fill(restitution.begin(), restitution.end(), 0.0);
    jump = set_->collide(state, contacts, restitution);
  }
  state.v = jump.velocity;
  equations_.set_state(state, y);
  set_->look(state);
  double rest = jump.energy_change;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const int i = contacts[k];
    equations_.work().add_constraint(i, jump.contact_work[k], y);
    rest -= jump.contact_work[k];
    if (before[k] >= -kSlowSlip) continue;
    log.push_back({t, "touch", set_->name(i),
                   fmt::format("normal velocity {:.6g} to {:.6g}, energy {:.6g} J{}", before[k],
                               set_->approach_speed(i), jump.contact_work[k], note)});
    count(t, i);
  }
  // What moving servos and prescribed motions did goes with the contact that made them.
  equations_.work().add_constraint(hits.front(), rest, y);
  return hits;
}

bool Switching::jammed(const Evaluation& found) {
  set_->look(found.state());
  for (const int i : contacts_) {
    if (!set_->slips(i) || norm(set_->slip(i)) <= kHardlySlips) continue;
    const ContactAction& contact = found.contacts[index(i)];
    if (contact.slide_margin > 0.0 && contact.slide_margin < kJammed && contact.force.normal > 0.0)
      return true;
  }
  return false;
}

bool Switching::jam(double t, Eigen::VectorXd& y, const Eigen::VectorXd& applied,
                    std::span<const int> contacts, double least, std::vector<RunEvent>& log) {
  State state = state_at(t, y);
  set_->look(state);
  std::vector<Vec3d> before;
  before.reserve(contacts.size());
  for (const int i : contacts) before.push_back(set_->slip(i));
  ConstraintSet::Jump jump;
  try {
    jump = set_->jam(state, applied, equations_.forces().external(), contacts);
  } catch (const UnsolvedContacts&) {
    return false;
  }
  state.v = jump.velocity;
  set_->look(state);
  bool any = false;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const int i = contacts[k];
    const double speed = norm(before[k]);
    const Vec3d slip = set_->slip(i);
    if (speed <= kSlowSlip || norm(slip - before[k]) < least * speed) continue;
    any = true;
    if (speed <= kHardlySlips) continue;
    log.push_back(
        {t, "jam", set_->name(i),
         fmt::format("its friction of {:.6g} presses it into its plane, and no finite "
                     "force lets it slide on (Painlevé): an impulse takes its slip from "
                     "{:.6g} to {:.3g} m/s, energy {:.6g} J",
                     set_->contact(i).friction, speed, norm(slip), jump.contact_work[k])});
    count(t, i);
  }
  if (!any) return false;
  equations_.set_state(state, y);
  double rest = jump.energy_change;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    equations_.work().add_constraint(contacts[k], jump.contact_work[k], y);
    rest -= jump.contact_work[k];
  }
  equations_.work().add_constraint(contacts.front(), rest, y);
  return true;
}

void Switching::settle(double t, Eigen::VectorXd& y, std::span<const int> hits,
                       std::vector<RunEvent>& log) {
  equations_.set_targets(t, state_at(t, y));
  bool jams = false;
  for (const int k : hits) {
    const Watch& watch = watches_[index(k)];
    if (watch.kind == Watch::Kind::time || watch.kind == Watch::Kind::function)
      apply(t, y, changes_[index(watch.which)], log);
    jams = jams || watch.kind == Watch::Kind::jam;
  }
  if (jams) {
    // Where it still presses.
    equations_.evaluate(t, y, found_);
    const State state = found_.state();
    const std::vector<int> contacts = touching(state);
    if (contact_load(found_) > 0.0)
      jam(t, y, found_.applied, resting(state, contacts), kTurned, log);
  }
  resolve(t, y, log);
}

void Switching::resolve(double t, Eigen::VectorXd& y, std::vector<RunEvent>& log) {
  if (idle() || contacts_.empty() || equations_.steps()) return;
  equations_.set_targets(t, state_at(t, y));
  struct Before {
    ContactMode mode;
    bool slips;
  };
  std::vector<Before> before;
  before.reserve(contacts_.size());
  for (const int i : contacts_) before.push_back({set_->mode(i), set_->slips(i)});
  const std::vector<int> hits = impact(t, y, log);
  State state = state_at(t, y);
  std::vector<int> held;
  for (int tries = 0;; ++tries) {
    const std::vector<int> all = touching(state);
    std::vector<int> rest = resting(state, all);
    try {
      held = back_at_once(t, y, all, rest, found_);
      if (tries == kMostJams || !jammed(found_) ||
          !jam(t, y, found_.applied, resting(state, all), kTurned, log))
        break;
    } catch (const UnsolvedContacts&) {
      if (tries == kMostJams || !jam(t, y, found_.applied, resting(state, all), kNeeded, log))
        throw;
    }
    impact(t, y, log);  // of others that it drives into their planes
    state = state_at(t, y);
  }
  int first = -1;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const int i = contacts_[k];
    if (set_->closed(i) && first < 0) first = i;
    const ContactMode mode = set_->mode(i);
    const bool touched = before[k].mode != ContactMode::apart;
    const bool touches = mode != ContactMode::apart;
    const bool hit = std::find(hits.begin(), hits.end(), i) != hits.end();
    const bool stayed = touched && touches && mode != ContactMode::carried &&
                        before[k].mode != ContactMode::carried;
    if (hit && std::find(held.begin(), held.end(), i) != held.end() && touches)
      log.push_back({t, "zeno", set_->name(i),
                     "bounces as short as this one would accumulate here; it stays closed"});
    std::string_view kind, text;
    if (touches && !touched && !hit) {
      kind = "touch";
      text = "rests on its plane";
    } else if (!touches && touched) {
      kind = "lift";
      text = "nothing presses it down";
    } else if (stayed && before[k].slips && !set_->slips(i)) {
      kind = "stick";
      text = "its slip has come to rest";
    } else if (stayed && !before[k].slips && set_->slips(i)) {
      kind = "slip";
      text = "friction cannot hold it";
    } else {
      continue;
    }
    log.push_back({t, std::string(kind), set_->name(i), std::string(text)});
    count(t, i);
  }
  if (first < 0) return;
  // What is slow comes to rest.
  state = found_.state();
  const ConstraintSet::Jump slow = set_->settle(state);
  state.v = slow.velocity;
  equations_.set_state(state, y);
  equations_.work().add_constraint(first, slow.energy_change, y);
}

void Switching::check(const Instant& here) {
  if (idle() || equations_.steps()) return;
  if (!(equations_.closure_residual(here.time, here.state) <= kAttachTolerance))
    set_->refuse_open(here.state, kAttachTolerance);
  if (contacts_.empty()) return;
  set_->look(here.state);
  for (const int i : contacts_)
    if (const double open = set_->contact_gap(i); open < -kDeepest)
      throw NonsmoothError("contact '" + set_->name(i) + "' is " + number(-open) +
                           " m below its plane: its passage was not found; a shorter longest "
                           "step (max_step) may help");
}

std::string Switching::near_jam(double t, const Eigen::VectorXd& y) {
  if (idle()) return {};
  equations_.evaluate(t, y, found_);
  for (const int i : contacts_)
    if (set_->slips(i) && std::abs(found_.contacts[index(i)].slide_margin) < kNearJam)
      return set_->describe_contact(i) +
             ": its friction is about to press it into its plane, with a normal force that grows "
             "without bound (Painlevé); lower the friction";
  return {};
}

std::size_t Switching::saved() const {
  return idle() ? 0 : changes_.size() + index(set_->count()) * (ConstraintSet::kSavedEach + 2);
}

std::vector<double> Switching::save() const {
  if (idle()) return {};
  std::vector<double> s = set_->save();
  for (const Change& change : changes_) s.push_back(change.done ? 1.0 : 0.0);
  for (const Count& c : counts_) {
    s.push_back(c.since);
    s.push_back(c.times);
  }
  return s;
}

void Switching::restore(std::span<const double> s) {
  if (idle()) return;
  const std::size_t of_set = index(set_->count()) * ConstraintSet::kSavedEach;
  set_->restore(s.first(of_set));
  for (std::size_t k = 0; k < changes_.size(); ++k) changes_[k].done = s[of_set + k] != 0.0;
  std::size_t at = of_set + changes_.size();
  for (Count& c : counts_) {
    c.since = s[at++];
    c.times = static_cast<int>(s[at++]);
  }
}

}  // namespace catena
