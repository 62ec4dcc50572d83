// SPDX-License-Identifier: BSD-3-Clause
// The loop over a run, and how it ends: complete, at an event, interrupted, or with an error that
// says where and why (simulation.h).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/nonsmooth/time_stepping.h"
#include "catena/simulation/simulation.h"

namespace catena {
namespace {

// This many events within this time (s) count as endless (Zeno).
constexpr int kManyEvents = 1000;
constexpr double kShortTime = 1e-6;
// This many within this time (s) before a step that is too short count as its cause.
constexpr std::size_t kCollapsing = 10;
constexpr double kCollapseTime = 1e-5;
// In messages about a state: number of freedoms, the fastest ones.
constexpr std::size_t kFreedomsShown = 4;

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_clock() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

SimulationResult Simulation::run() {
  wall_start_ = wall_clock();
  processor_start_ = processor_clock();
  try {
    while (t_ < settings_.duration && end_.empty()) {
      advance_or_step();
      if (settings_.progress && !settings_.progress(t_) && t_ < settings_.duration &&
          end_.empty()) {
        interrupted_ = true;
        end_ = "interrupted";
      }
    }
    // Where there is none yet: from an earlier one the run resumes to the same bits.
    if (interrupted_ && !has_checkpoint_ && t_ > 0.0) make_checkpoint();
    equations_.at(t_, y_, here_);
    if (last_row_ < t_) write_row(here_, y_);
    auditor_.observe(here_, y_);
    tell_skipped();
  } catch (const StepCollapse& collapse) {
    fail(describe(collapse));
  } catch (const NumericalError& e) {
    fail(fmt::format("at time {} s: {}", number(t_), e.what()) +
         (has_fixed_step(settings_.integrator.method)
              ? fmt::format(" (with a fixed step of {} s; a shorter one may help)",
                            number(settings_.integrator.step))
              : ""));
  }
  SimulationResult done = result();
  recorder_.finish(to_json(done), done.complete);
  return done;
}

void Simulation::fail(const std::string& why) {
  interrupted_ = true;
  end_ = why;
  recorder_.finish(to_json(result()), false);
  throw NumericalError(why);
}

// One step; by time-stepping where events of contacts, stops or friction fail.
void Simulation::advance_or_step() {
  try {
    advance();
    watch_for_chatter();
  } catch (const RattleError& e) {
    if (!begin_stretch(e.what(), true)) throw;
  } catch (const NonsmoothError& e) {
    if (!begin_stretch(e.what())) throw;
  } catch (const StepCollapse& collapse) {
    if (!is_nonsmooth(collapse) || !begin_stretch(describe(collapse))) throw;
  }
  if (in_stretch()) end_stretch_if_calm();
}

void Simulation::watch_for_zeno() {
  if (last_event_.kind != "limit") ++window_events_;  // bounces at stops end by themselves
  latest_.push_back(t_);
  if (latest_.size() > kCollapsing) latest_.pop_front();
  if (t_ - recent_start_ > kShortTime * std::max(1.0, std::abs(t_))) {
    recent_start_ = t_;
    recent_events_ = 0;
  }
  if (++recent_events_ < kManyEvents) return watch_for_rattle();
  const std::string text = fmt::format(
      "{} events between {} and {} s (Zeno): they do not end, so time cannot go on; the last was "
      "'{}' of '{}'",
      recent_events_, number(recent_start_), number(t_), last_event_.kind, last_event_.name);
  // An error of a user's function ends the run.
  const std::string& kind = last_event_.kind;
  if (kind == "user" || kind == "switch" || kind == "constraint") throw NumericalError(text);
  throw NonsmoothError(text);
}

std::string Simulation::describe(const StepCollapse& collapse) {
  std::string cause = collapse.cause;
  const int worst = collapse.worst;
  if (cause.empty() && worst >= 0 && worst < coordinates_->size())
    cause = "the error is largest in " + coordinates_->name(worst) +
            "; a singular position, a force without bound or a tolerance below rounding may be "
            "the cause";
  // Events that accumulate leave no time for a step.
  if (latest_.size() == kCollapsing && collapse.time - latest_.front() <= kCollapseTime)
    cause = fmt::format(
        "{} events between {} and {} s (Zeno): they accumulate, so time cannot go on; the last was "
        "'{}' of '{}'",
        latest_.size(), number(latest_.front()), number(latest_.back()), last_event_.kind,
        last_event_.name);
  // The state, the fastest freedoms first; the last accepted one, if it cannot be found any more.
  try {
    if (const std::string jam = switching_.near_jam(now_->time(), now_->state()); !jam.empty())
      cause = jam;
    equations_.at(now_->time(), now_->state(), here_);
  } catch (const NumericalError&) {
  }
  const State& state = here_.state;
  std::vector<int> order(index(mechanism_.freedoms()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(state.v[a]) > std::abs(state.v[b]); });
  std::string text;
  for (std::size_t k = 0; k < std::min(kFreedomsShown, order.size()); ++k) {
    const int i = order[k];
    const int coordinate = mechanism_.coordinate_of_freedom()[index(i)];
    if (coordinate >= 0)
      text += fmt::format(" q.{} = {:.6g},", mechanism_.position_names()[index(coordinate)],
                          state.q[coordinate]);
    text += fmt::format(" v.{} = {:.6g},", mechanism_.velocity_names()[index(i)], state.v[i]);
  }
  if (!text.empty()) text.back() = '.';
  return fmt::format("the step size fell to {} s at time {} s: {}. State:{}", number(collapse.step),
                     number(collapse.time), cause, text);
}

// Of the whole run, also before it was resumed; none: without time-stepping.
std::optional<TimeStepping::Quality> Simulation::stepping_quality() const {
  std::optional<TimeStepping::Quality> all = earlier_quality_;
  const auto add = [&](const TimeStepping* stepping) {
    if (stepping == nullptr) return;
    if (!all) all.emplace();
    all->add(stepping->quality());
  };
  add(stretch_.get());
  if (stepping_ != stretch_.get()) add(stepping_);
  return all;
}

SimulationResult Simulation::result() const {
  SimulationResult r;
  r.audit = auditor_.report(y_);
  r.audit.flexible = flexible_.report();
  if (const std::optional<TimeStepping::Quality> q = stepping_quality())
    r.audit.contact = Audit::Contact{q->residual, q->penetration, q->creep, q->restored};
  r.steps = now_->statistics();
  r.events = events_;
  r.rows = rows_;
  r.simulated_time = t_;
  r.wall_time = wall_clock() - wall_start_;
  r.processor_time = processor_clock() - processor_start_;
  r.complete = !interrupted_;
  r.end = end_;
  r.state = here_.state;
  return r;
}

}  // namespace catena
