// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/nonsmooth/events.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// A least distance between two looks is looked at if it may be below zero within this fraction of
// the fall towards it.
constexpr double kGuess = 0.1;
// Two looks at a function tell what it does between them if its rates there amount to no more than
// so many times what it is there: else it may turn round in between. So often looks go closer in
// one step.
constexpr double kSteep = 1.5;
constexpr int kCloserLooks = 40;
constexpr int kMostRootSteps = 200;
// A freedom of a loop that leaves its limit faster than this (rad/s, m/s) is not carried by others.
constexpr double kOwnSpeed = 1e-7;

}  // namespace

EventWatch::EventWatch(Equations& equations, StopsAndFriction& stops, Switching& switching,
                       const ActionSettings& actions)
    : equations_(equations), stops_(stops), switching_(switching), settings_(actions.events) {
  for (const EventSettings& event : settings_) {
    if (event.name.empty()) throw Error("an event needs a name");
    functions_.emplace_back(event.signal, equations.mechanism(), "event '" + event.name + "'",
                            false);
  }
  function_value_.resize(functions_.size());
  coordinate_rate_.resize(index(equations.mechanism().coordinates()));
  switch_argument_.resize(index(equations.signals().switches()));
}

void EventWatch::add(Watch::Kind kind, int which, int sign) {
  watches_.push_back({kind, which, sign});
}

void EventWatch::start(double t, const Eigen::VectorXd& y) {
  using Kind = Watch::Kind;
  watches_.clear();
  all_armed_ = false;
  needs_forces_ = false;
  const auto& modes = equations_.modes();
  const bool steps = equations_.steps();  // then stops and friction are no events
  for (std::size_t s = 0; s < stops_.stops().size() && !steps; ++s) {
    const StopsAndFriction::Stop& stop = stops_.stops()[s];
    if (modes[index(stop.freedom)].stop != 0) {
      add(Kind::push, stop.freedom);
      needs_forces_ = true;
    } else if (modes[index(stop.freedom)].friction != FreedomMode::Friction::stuck) {
      if (std::isfinite(stop.lower)) add(Kind::lower, static_cast<int>(s));
      if (std::isfinite(stop.upper)) add(Kind::upper, static_cast<int>(s));
    }
  }
  for (std::size_t i = 0; i < modes.size() && !steps; ++i) {
    if (modes[i].stop != 0) continue;
    if (modes[i].friction == FreedomMode::Friction::sliding) add(Kind::slide, static_cast<int>(i));
    if (modes[i].friction == FreedomMode::Friction::stuck) {
      add(Kind::stick, static_cast<int>(i));
      needs_forces_ = true;
    }
  }
  switch_side_ = equations_.signals().switch_sides();
  for (int k = 0; k < equations_.signals().switches(); ++k) add(Kind::jump, k);
  for (std::size_t k = 0; k < functions_.size(); ++k)
    add(Kind::function, static_cast<int>(k), -settings_[k].direction);
  equations_.at(t, y, instant_);
  switching_.start(instant_);
  for (int k = 0; k < switching_.watches(); ++k) add(Kind::switching, k);
  needs_forces_ = needs_forces_ || switching_.needs_forces();
  before_.assign(watches_.size(), 0.0);
  after_ = rate_before_ = slope_before_ = bend_before_ = before_;
  if (watches_.empty()) return;
  follows_ = true;
  evaluate(instant_, y);
  follows_ = std::any_of(watches_.begin(), watches_.end(),
                         [](const Watch& watch) { return !std::isnan(watch.slope); });
  // What has just changed, or rests on its limit, is at its zero: it counts as off it, so that it
  // is found again also if it comes back before the next look.
  const bool closed = !equations_.mechanism().loops().empty();
  for (Watch& watch : watches_) {
    double off = 0.0;
    switch (watch.kind) {
      case Kind::lower:
      case Kind::upper:
        if (stops_.stops()[index(watch.which)].outside == (watch.kind == Kind::lower ? -1 : 1))
          continue;
        off = closed && !(watch.rate > kOwnSpeed) ? kCarried : kJustLeft;
        break;
      case Kind::slide:
        off = closed ? kCarried : kJustLeft;
        break;
      case Kind::jump:
        off = kJustLeft;
        break;
      case Kind::push:
      case Kind::stick:
        off = kWatchedForceRounding * std::max(found_.reaction.lpNorm<Eigen::Infinity>(),
                                               found_.applied.lpNorm<Eigen::Infinity>()) +
              std::numeric_limits<double>::min();
        break;
      case Kind::function:
      case Kind::switching:
        continue;
    }
    if (watch.value > off) continue;
    watch.offset = off - watch.value;
    watch.value = off;
  }
  arm();
}

void EventWatch::evaluate(LastStep& step, double t) {
  step.interpolate(t, y_);
  step.at(t, y_, instant_);
  evaluate(instant_, y_);
}

void EventWatch::evaluate(const Instant& instant, const Eigen::VectorXd& y) {
  if (needs_forces_)
    equations_.evaluate(instant, y, found_);
  else
    found_.instant = instant;
  const State& state = found_.state();
  const double t = instant.time;
  if (!switch_argument_.empty()) equations_.signals().switch_arguments(t, state, switch_argument_);
  for (std::size_t k = 0; k < functions_.size(); ++k)
    function_value_[k] = functions_[k].guard(t, state);
  if (follows_) {
    const auto coordinates = equations_.mechanism().coordinate_of_freedom();
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      if (coordinates[i] >= 0)
        coordinate_rate_[index(coordinates[i])] = state.v[static_cast<Eigen::Index>(i)];
  }
  for (Watch& watch : watches_) {
    if (follows_) find_slope(watch);
    if (watch.kind == Watch::Kind::lower || watch.kind == Watch::Kind::upper) {
      const StopsAndFriction::Stop& stop = stops_.stops()[index(watch.which)];
      const bool lower = watch.kind == Watch::Kind::lower;
      const double q = state.q[stop.coordinate], v = state.v[stop.freedom];
      watch.value = (lower ? q - stop.lower : stop.upper - q) + watch.offset;
      watch.rate = lower ? v : -v;
    } else {
      watch.value = plain_value(watch) + watch.offset;
      watch.rate = std::numeric_limits<double>::infinity();
    }
  }
}

void EventWatch::find_slope(Watch& watch) const {
  Jet jet = Jet::without_rates(0.0);
  if (watch.kind == Watch::Kind::switching)
    jet = switching_.slope(watch.which, found_.instant, coordinate_rate_);
  else if (watch.kind == Watch::Kind::function &&
           settings_[index(watch.which)].action == EventSettings::Action::stop)
    jet = functions_[index(watch.which)].guard_jet(found_.instant.time, found_.state(),
                                                   coordinate_rate_);
  watch.slope = std::abs(jet.rate);
  watch.bend = std::abs(jet.acceleration);
}

bool EventWatch::hides(double time) const {
  for (std::size_t k = 0; k < watches_.size(); ++k) {
    const Watch& watch = watches_[k];
    const double most = 0.5 * time * (slope_before_[k] + watch.slope) +
                        time * time / 12.0 * (bend_before_[k] + watch.bend);
    if (most > kSteep * (std::abs(before_[k]) + std::abs(watch.value))) return true;
  }
  return false;
}

double EventWatch::plain_value(const Watch& watch) const {
  const State& state = found_.state();
  switch (watch.kind) {
    case Watch::Kind::lower:  // in evaluate()
    case Watch::Kind::upper:
      return 0.0;
    case Watch::Kind::push:
      return -equations_.modes()[index(watch.which)].stop * found_.reaction[watch.which];
    case Watch::Kind::slide:
      return equations_.modes()[index(watch.which)].direction * state.v[watch.which];
    case Watch::Kind::stick:
      return breakaway_level(
                 equations_.mechanism().freedom_settings()[index(watch.which)].friction) -
             std::abs(found_.reaction[watch.which]);
    case Watch::Kind::jump:
      return switch_side_[index(watch.which)] != 0 ? switch_argument_[index(watch.which)]
                                                   : -switch_argument_[index(watch.which)];
    case Watch::Kind::function:
      return watch.sign == 0 ? 0.0 : watch.sign * function_value_[index(watch.which)];
    case Watch::Kind::switching:
      return switching_.value(watch.which, found_);
  }
  return 0.0;
}

void EventWatch::arm() {
  if (all_armed_) return;
  all_armed_ = true;
  for (Watch& watch : watches_) {
    if (watch.kind == Watch::Kind::function && watch.sign == 0 &&
        function_value_[index(watch.which)] != 0.0) {
      watch.sign = function_value_[index(watch.which)] > 0.0 ? 1 : -1;
      watch.value = plain_value(watch);
    }
    // Off its zero by itself, and by more than rounding.
    if (watch.offset > 0.0 && watch.value > 2.0 * watch.offset) {
      watch.value -= watch.offset;
      watch.offset = 0.0;
    }
    watch.armed = watch.armed || watch.value > 0.0;
    all_armed_ = all_armed_ && watch.armed && watch.offset == 0.0;
    if (!(watch.value > 0.0)) continue;
    const int beyond = watch.kind == Watch::Kind::lower   ? -1
                       : watch.kind == Watch::Kind::upper ? 1
                                                          : 0;
    if (beyond != 0 && stops_.stops()[index(watch.which)].outside == beyond)
      stops_.came_inside(watch.which);
  }
}

std::optional<double> EventWatch::first_event(LastStep& step) {
  if (watches_.empty()) return std::nullopt;
  const double from = step.start();
  const double to = step.end();
  double low = from;
  for (std::size_t k = 0; k < watches_.size(); ++k) {
    before_[k] = watches_[k].value;
    rate_before_[k] = watches_[k].rate;
    slope_before_[k] = watches_[k].slope;
    bend_before_[k] = watches_[k].bend;
  }
  evaluate(step, to);
  bool far = true;
  for (std::size_t k = 0; k < watches_.size(); ++k)
    far = far && std::min(before_[k], watches_[k].value) >
                     (to - from) * (std::abs(rate_before_[k]) + std::abs(watches_[k].rate));
  if (far) {
    arm();
    switching_.mark(found_);
    return std::nullopt;
  }
  bool dipped = false;  // since the last sample
  int closer = kCloserLooks;
  double width = to - from;  // of a look that was close enough
  const double shortest = kTimeRounding * std::max(std::abs(from), std::abs(to));
  for (int sample = 1; sample <= kSamples;) {
    const double next = sample == kSamples ? to : from + (to - from) * sample / kSamples;
    double high = std::min(next, low + 2.0 * width);
    evaluate(step, high);
    for (; follows_ && closer > 0 && 0.5 * (high - low) > shortest && hides(high - low); --closer) {
      high = low + 0.5 * (high - low);
      evaluate(step, high);
    }
    width = std::max(high - low, shortest);
    std::optional<double> nearest;
    for (std::size_t k = 0; !dipped && k < watches_.size(); ++k)
      if (const auto at =
              dip(low, high, {before_[k], watches_[k].value}, {rate_before_[k], watches_[k].rate});
          at && (!nearest || *at < *nearest))
        nearest = at;
    dipped = nearest.has_value();
    if (nearest) {
      high = *nearest;
      evaluate(step, high);
    } else if (high == next) {
      ++sample;
    }
    std::optional<double> first;
    for (std::size_t k = 0; k < watches_.size(); ++k) after_[k] = watches_[k].value;
    for (std::size_t k = 0; k < watches_.size(); ++k) {
      if (!watches_[k].armed || after_[k] > 0.0) continue;
      double root = locate(step, k, low, high, before_[k], after_[k]);
      if (watches_[k].offset > 0.0) root = without_offset(step, k, from, root);
      if (!first || root < *first) first = root;
    }
    if (first) return first;
    arm();
    switching_.mark(found_);
    for (std::size_t k = 0; k < watches_.size(); ++k) {
      before_[k] = watches_[k].value;
      rate_before_[k] = watches_[k].rate;
      slope_before_[k] = watches_[k].slope;
      bend_before_[k] = watches_[k].bend;
    }
    low = high;
  }
  return std::nullopt;
}

std::optional<double> EventWatch::dip(double low, double high, const double (&value)[2],
                                      const double (&rate)[2]) {
  if (!(rate[0] < 0.0 && rate[1] > 0.0 && value[0] > 0.0 && value[1] > 0.0) ||
      !std::isfinite(rate[1]))
    return std::nullopt;
  // Where the rate would be zero if it were linear; the cubic through both ends there.
  const double part = rate[0] / (rate[0] - rate[1]);
  const double width = high - low;
  const double a = part * part * (3.0 - 2.0 * part);
  const double least = (1.0 - a) * value[0] + a * value[1] +
                       width * part * (1.0 - part) * ((1.0 - part) * rate[0] - part * rate[1]);
  // It is only a guess, off by a part of how far the value falls.
  if (least > kGuess * (std::min(value[0], value[1]) - least)) return std::nullopt;
  const double at = low + part * width;
  if (!(at > low && at < high)) return std::nullopt;
  return at;
}

// Illinois' variant of the false position, with bisection where that is slow.
double EventWatch::locate(LastStep& step, std::size_t which, double low, double high, double at_low,
                          double at_high) {
  if (!(at_low > 0.0)) return high;  // armed just there
  double width = high - low;
  int side = 0;
  for (int k = 0; k < kMostRootSteps; ++k) {
    if (high - low <= kTimeRounding * std::max(std::abs(low), std::abs(high))) break;
    double middle = (at_low * high - at_high * low) / (at_low - at_high);
    const bool slow = k % 4 == 3 && high - low > 0.25 * width;
    if (k % 4 == 3) width = high - low;
    if (slow || !(middle > low && middle < high)) middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) break;
    evaluate(step, middle);
    const double g = watches_[which].value;
    if (g > 0.0) {
      low = middle;
      at_low = g;
      if (side == 1) at_high *= 0.5;
      side = 1;
    } else {
      high = middle;
      at_high = g;
      if (g == 0.0) break;
      if (side == -1) at_low *= 0.5;
      side = -1;
    }
  }
  return high;
}

// A freedom that left its limit and is back before the next look was found behind it, by the
// offset: that fall would give it more speed than it left with. Goes back to where it returned,
// from where it was farthest away: its bounce may be much shorter than the fall.
double EventWatch::without_offset(LastStep& step, std::size_t which, double low, double high) {
  Watch& watch = watches_[which];
  if (watch.kind != Watch::Kind::lower && watch.kind != Watch::Kind::upper) return high;
  const auto look = [&](double t) { evaluate(step, t); };
  const double offset = watch.offset;
  watch.offset = 0.0;
  look(low);
  if (watch.value > 0.0 && !(watch.rate > 0.0))  // on its way back
    return locate(step, which, low, high, watch.value, -offset);
  watch.offset = std::max(0.0, -watch.value);  // it returns to where it was
  double top = low;
  for (int sample = 0; sample < kSamples && !(watch.rate > 0.0); ++sample) {
    top = low + (high - low) * sample / kSamples;
    look(top);
  }
  if (watch.rate > 0.0) {
    double far = high;
    for (int k = 0; k < kMostRootSteps; ++k) {
      const double middle = top + 0.5 * (far - top);
      if (!(middle > top && middle < far)) break;
      look(middle);
      (watch.rate > 0.0 ? top : far) = middle;
    }
    look(top);
    if (watch.value > 0.0)
      return locate(step, which, top, high, watch.value, watch.offset - offset);
  }
  watch.offset = offset;
  return high;
}

EventWatch::Hits EventWatch::hits(LastStep& step, double t, const Eigen::VectorXd& y) {
  Hits hits;
  step.at(t, y, instant_);
  evaluate(instant_, y);
  for (const Watch& watch : watches_) {
    if (!watch.armed || watch.value > 0.0) continue;
    switch (watch.kind) {
      case Watch::Kind::lower:
      case Watch::Kind::upper:
        hits.impacts.push_back(stops_.stops()[index(watch.which)].freedom);
        break;
      case Watch::Kind::slide:
        hits.ended.push_back(watch.which);
        break;
      case Watch::Kind::push:
      case Watch::Kind::stick:
        hits.released.push_back(watch.which);
        break;
      case Watch::Kind::jump:
        hits.switches.push_back(watch.which);
        break;
      case Watch::Kind::function:
        hits.functions.push_back(watch.which);
        break;
      case Watch::Kind::switching:
        hits.switching.push_back(watch.which);
        break;
    }
  }
  return hits;
}

}  // namespace catena
