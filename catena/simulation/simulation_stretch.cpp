// SPDX-License-Identifier: BSD-3-Clause
// Stretches by time-stepping in a run by events (simulation.h): where events of contacts, stops or
// dry friction accumulate, chatter or have no solution, the run continues with fixed steps
// (nonsmooth/time_stepping.h) from the last state, and returns to events when impacts have ceased.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/simulation.h"

namespace catena {
namespace {

// The step (s) of a stretch, unless the user's is shorter.
constexpr double kStretchStep = 5e-4;
// A stretch lasts at least this long (s) and ends after as long a time without impacts. If events
// fail again soon (within kSoon times its length), the next one lasts twice as long.
constexpr double kStretchTime = 0.02;
constexpr double kMostStretchTime = 1e3;
constexpr double kSoon = 20.0;
// Chatter: within so many events, or steps with at least kFewEvents among them, the time (s) has
// not gone on by this much.
constexpr std::int64_t kWindowEvents = 300;
constexpr std::int64_t kWindowSteps = 4000;
constexpr std::int64_t kFewEvents = 30;
constexpr double kWindowTime = 3e-3;
// A step collapses by events if one was so shortly (s) before.
constexpr double kEventBefore = 1e-2;
// Joints rattle: so many events of stops and dry friction within this time (s), of at least so many
// joints. One impact throws others off their stops, which come back and throw others off, with
// less and less speed. Such a stretch ends as soon as it has been calm for kRattleCalm, or twice as
// long as the last one if that was so shortly ago. As many within kChatterWithin chatter, whatever
// joints they are of. Tolerances below kExact ask for every one of the impacts.
constexpr std::size_t kRattleEvents = 6;
constexpr double kRattleTime = 2e-3;
constexpr std::size_t kRattleJoints = 3;
constexpr double kRattleCalm = 2e-3;
constexpr double kChatterWithin = 1e-6;
constexpr double kExact = 1e-10;
// Number of stretches that are reported; the others are similar.
constexpr int kStretchesTold = 20;

double stretch_step(const IntegratorSettings& settings) {
  return has_fixed_step(settings.method) ? std::min(settings.step, kStretchStep) : kStretchStep;
}

}  // namespace

bool Simulation::is_nonsmooth(const StepCollapse& collapse) {
  const std::string& kind = last_event_.kind;
  if (kind == "user" || kind == "switch" || kind == "constraint") return false;
  if (!latest_.empty() && collapse.time - latest_.back() <= kEventBefore) return true;
  if (equations_.constraints() == nullptr) return false;
  for (int i = 0; i < equations_.constraints()->count(); ++i)
    if (equations_.constraints()->kind(i) == ConstraintSet::Kind::contact &&
        equations_.constraints()->closed(i))
      return true;
  return false;
}

void Simulation::watch_for_chatter() {
  if (stepping_ != nullptr) return;
  ++window_steps_;
  const bool full = window_events_ >= kWindowEvents ||
                    (window_steps_ >= kWindowSteps && window_events_ >= kFewEvents);
  const bool slow = t_ - window_start_ < kWindowTime;
  const std::string& kind = last_event_.kind;
  if (full && slow && kind != "user" && kind != "switch" && kind != "constraint")
    throw NonsmoothError(fmt::format(
        "{} events and {} steps between {} and {} s: they chatter; the last was '{}' of '{}'",
        window_events_, window_steps_, number(window_start_), number(t_), last_event_.kind,
        last_event_.name));
  if (!full && window_steps_ < kWindowSteps && slow) return;
  window_start_ = t_;
  window_steps_ = window_events_ = 0;
}

void Simulation::watch_for_rattle() {
  const std::string& kind = last_event_.kind;
  if (kind != "limit" && kind != "release" && kind != "stick" && kind != "slip" && kind != "turn" &&
      kind != "zeno")
    return;
  if (settings_.integrator.relative_tolerance <= kExact) return;
  rattle_.push_back({t_, last_event_.name, kind == "limit"});
  if (rattle_.size() > kRattleEvents) rattle_.pop_front();
  if (rattle_.size() < kRattleEvents || t_ - rattle_.front().time > kRattleTime) return;
  const auto told = [&](const char* what) {
    return fmt::format(
        "{} events of stops and dry friction between {} and {} s: they {}; the last was '{}' of "
        "'{}'",
        rattle_.size(), number(rattle_.front().time), number(t_), what, kind, last_event_.name);
  };
  std::set<std::string> joints;
  bool impacts = false;
  for (const At& event : rattle_) {
    joints.insert(event.name);
    impacts = impacts || event.impact;
  }
  if (joints.size() >= kRattleJoints) throw RattleError(told("rattle"));
  if (!impacts && t_ - rattle_.front().time <= kChatterWithin)
    throw NonsmoothError(told("chatter"));
}

void Simulation::make_stretch() {
  IntegratorSettings settings = settings_.integrator;
  settings.method = Method::time_stepping;
  settings.step = stretch_step(settings_.integrator);
  stretch_ = std::make_unique<TimeStepping>(equations_, stops_, settings_.actions, settings);
  if (earlier_quality_) stretch_->set_quality(*earlier_quality_);
  earlier_quality_.reset();
}

void Simulation::use_stretch() {
  now_ = stepping_ = stretch_.get();
  step_.use(*now_);
  stretch_->take_over();
}

bool Simulation::begin_stretch(const std::string& why, bool rattle) {
  if (stepping_ != nullptr ||
      !(switching_.has_contacts() || !stops_.stops().empty() || stops_.has_friction()))
    return false;
  write_log();
  const bool soon = t_ - stretch_end_ < kSoon * stretch_time_;
  if (rattle)
    stretch_time_ = t_ - stretch_end_ < 2.0 * stretch_time_ ? 2.0 * stretch_time_ : kRattleCalm;
  else
    stretch_time_ =
        soon ? std::clamp(2.0 * stretch_time_, kStretchTime, kMostStretchTime) : kStretchTime;
  rattle_.clear();
  if (!stretch_) make_stretch();
  if (++stretches_ <= kStretchesTold)
    log_.push_back(
        {t_, "stepping", mechanism_.name(),
         fmt::format("{}; continues by time-stepping with steps of {:.6g} s{}", why,
                     stretch_step(settings_.integrator),
                     stretches_ == kStretchesTold ? " (no further ones are reported)" : "")});
  stretch_->set_statistics(now_->statistics());
  use_stretch();
  stretch_start_ = t_;
  equations_.at(t_, y_, here_);
  write_log();
  restart();
  return true;
}

void Simulation::end_stretch_if_calm() {
  if (t_ - stretch_start_ < stretch_time_ || t_ - stretch_->calm_since() < stretch_time_) return;
  const Eigen::VectorXd y = y_;
  stretch_->hand_back();
  stepping_ = nullptr;
  std::vector<RunEvent> log;
  try {
    stops_.forget_modes(y_);
    switching_.resolve(t_, y_, log);
    stops_.begin_again(t_, y_, log);
    integrator_->set_statistics(stretch_->statistics());
    now_ = integrator_.get();
    step_.use(*now_);
    equations_.at(t_, y_, here_);
    accept();
    restart();
  } catch (const NumericalError&) {
    // Events fail here too.
    y_ = y;
    use_stretch();
    stretch_start_ = t_;
    stretch_time_ = std::min(2.0 * stretch_time_, kMostStretchTime);
    equations_.at(t_, y_, here_);
    restart();
    return;
  }
  stretch_end_ = t_;
  window_start_ = t_;
  window_steps_ = window_events_ = 0;
  if (stretches_ <= kStretchesTold)
    log_.push_back({t_, "stepping", mechanism_.name(), "calm: continues by events"});
  for (RunEvent& event : log) log_.push_back(std::move(event));
  write_log();
}

}  // namespace catena
