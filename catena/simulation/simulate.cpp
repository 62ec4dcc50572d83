// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/simulate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/mobility.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/model/configuration.h"
#include "catena/simulation/integrators/ida.h"
#include "catena/simulation/integrators/midpoint.h"
#include "catena/simulation/integrators/sundials.h"
#include "catena/simulation/nonsmooth/time_stepping.h"
#include "catena/simulation/simulation.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// A time of the output grid this close to another, in intervals, is the same.
constexpr double kSameRow = 1e-6;
// From this number on contacts are reported: a step may take long.
constexpr int kManyContacts = 500;
// See is_told().
constexpr std::int64_t kAllTold = 1000;
constexpr double kToldEvery = 0.1;  // s
// The mobility of loops is not analysed in mechanisms with more freedoms than this.
constexpr int kMostFreedomsToAnalyse = 300;

// By freedom.
std::vector<std::uint8_t> prescribed_freedoms(const Mechanism& mechanism,
                                              const ActionSettings& actions) {
  std::vector<std::uint8_t> mask(to_size(mechanism.freedoms()), 0);
  for (const MotionSettings& motion : actions.motions)
    mask[index(freedom_index(mechanism, motion.freedom))] = 1;
  return mask;
}

// Methods that move the state back onto constraints after each step.
bool projects(Method method) {
  return method == Method::dop853 || method == Method::ida || method == Method::bdf ||
         method == Method::arkode || has_fixed_step(method);  // time-stepping too
}

std::unique_ptr<Integrator> integrator_for(Equations& equations, StopsAndFriction& stops,
                                           const ActionSettings& actions,
                                           const IntegratorSettings& settings) {
  if (settings.method == Method::time_stepping) {
    auto stepping = std::make_unique<TimeStepping>(equations, stops, actions, settings);
    stepping->take_over();
    return stepping;
  }
  if (equations.constraints() != nullptr && !projects(settings.method))
    throw Error("method '" + std::string(to_string(settings.method)) +
                "' cannot keep a motion on constraints that are switched, or on loops by "
                "multipliers; use dop853, arkode, bdf or ida, or rk4, euler, ab2, ab3, ab4, am4 "
                "with a step");
  if (settings.method == Method::midpoint || settings.method == Method::ida)
    refuse_flexible(equations.mechanism(), "method 'midpoint' or 'ida'");
  // Only freedoms on constraints need to be moved back.
  if (equations.constraints() != nullptr && settings.method == Method::bdf)
    return make_cvode(equations, settings, true);
  if (equations.constraints() != nullptr && settings.method == Method::arkode)
    return make_arkode(equations, settings, true);
  if (settings.method == Method::midpoint) return std::make_unique<Midpoint>(equations, settings);
  if (settings.method == Method::ida) return make_ida(equations, settings);
  return make_integrator(equations, settings);
}

}  // namespace

Simulation::Simulation(const Mechanism& mechanism, const State& at,
                       const SimulationSettings& settings, Recorder& recorder)
    : mechanism_(mechanism),
      settings_(completed_for(mechanism, settings, &method_note_)),
      recorder_(recorder),
      coordinates_(make_coordinates(mechanism, at,
                                    prescribed_freedoms(mechanism, settings_.actions),
                                    uses_multipliers(mechanism, settings_.actions))),
      equations_(mechanism, *coordinates_, settings_.actions),
      stops_(equations_, settings_.actions),
      switching_(equations_, settings_.actions),
      watch_(equations_, stops_, switching_, settings_.actions),
      auditor_(equations_),
      flexible_(mechanism, *settings_.output_interval),
      outputs_(equations_, settings_.outputs, settings_.extra_outputs),
      integrator_(integrator_for(equations_, stops_, settings_.actions, settings_.integrator)),
      now_(integrator_.get()),
      stepping_(dynamic_cast<TimeStepping*>(now_)),
      step_(equations_, *now_) {
  const IntegratorSettings& integrator = settings_.integrator;
  if (!has_fixed_step(integrator.method) && !std::isfinite(integrator.maximum_step))
    resolution_.emplace(equations_.signals(), *settings_.output_interval,
                        integrator.relative_tolerance);
}

// ---- Prepare. ----

void Simulation::start(const State& initial) {
  State state = initial;
  normalize_quaternions(mechanism_, state.q);
  coordinates_->begin(state);
  recorder_.begin(outputs_.columns());
  y_ = equations_.start(state);
  equations_.signals().start(0.0, state);
  equations_.impose_motions(0.0, y_);
  log_ = equations_.friction().notes();
  const std::string moved = moved_by_motions(state);
  if (!moved.empty()) log_.push_back({0.0, "start", mechanism_.name(), moved});
  if (!method_note_.empty()) log_.push_back({0.0, "method", mechanism_.name(), method_note_});
  if (switching_.contacts() >= kManyContacts)
    log_.push_back({0.0, "cost", mechanism_.name(),
                    fmt::format("{} contacts: every step checks all of them, and the time for "
                                "those that touch grows with the cube of their number",
                                switching_.contacts())});
  try {
    note_rigid_loops(state);
    try {
      switching_.begin(0.0, y_, log_);
      stops_.begin(0.0, y_, log_);
    } catch (const NonsmoothError& e) {
      if (!begin_stretch(e.what())) throw;
      stops_.begin(0.0, y_, log_);  // which of them start outside their limits
    }
    equations_.work().clear(y_);  // the audit begins after impacts at the start
    write_log();
    equations_.at(0.0, y_, here_);
    equations_.run_ticks(here_, y_);
    auditor_.start(here_);
    if (stepping_ != nullptr) stepping_->look_ahead(0.0, y_);
    write_row(here_, y_);
    watch_flexible();
    next_output_ = 1;
    next_checkpoint_ = 1;
    restart();
  } catch (const NumericalError& e) {
    throw NumericalError(std::string("at time 0 s: ") + e.what() +
                         (moved.empty() ? "" : "; " + moved));
  }
}

// The freedoms whose prescribed motion does not begin where the state is; empty: none.
std::string Simulation::moved_by_motions(const State& state) const {
  constexpr double kSamePosition = 1e-9;
  std::vector<std::string> moved;
  for (const AppliedForces::Motion& motion : equations_.forces().motions()) {
    const int q = mechanism_.coordinate_of_freedom()[index(motion.freedom)];
    if (q < 0) continue;
    const double wanted = motion.at(0.0).position;
    if (std::abs(wanted - state.q[q]) > kSamePosition * std::max(1.0, std::abs(wanted)))
      moved.push_back(fmt::format("{} begins at {}, the state has {}",
                                  mechanism_.velocity_names()[index(motion.freedom)],
                                  short_number(wanted, 6), short_number(state.q[q], 6)));
  }
  return moved.empty() ? "" : "prescribed motions move the mechanism: " + listed(moved);
}

// Reports loops that cannot move, or move less than probably intended.
void Simulation::note_rigid_loops(const State& state) {
  if (mechanism_.freedoms() > kMostFreedomsToAnalyse) return;
  for (const LoopMobility& loop : analyse_mobility(mechanism_, state.q).loops)
    if (!loop.trouble.empty()) log_.push_back({0.0, "loop", mechanism_.name(), loop.trouble});
}

void Simulation::resume(const RunCheckpoint& from) {
  load(from);
  restart();
  if (in_stretch()) end_stretch_if_calm();  // as after the step that made the checkpoint
}

void Simulation::restart() {
  now_->restart(t_, y_);
  watch_.start(t_, y_);
  if (resolution_) resolution_->restart();
}

// ---- Advance. ----

void Simulation::advance() {
  const double corner =
      std::min(equations_.signals().next_corner(), equations_.sampled().next_time());
  double limit = std::min({settings_.duration, next_stop(), corner});
  if (resolution_ && stepping_ == nullptr)
    limit = resolution_->step_end(t_, now_->proposed_step(), limit, here_.state);
  // An event may have come to within rounding of the limit.
  if (limit - t_ > kSameInstant * std::max(1.0, std::abs(t_))) {
    make_step(limit);
    if (const auto event = watch_.first_event(step_)) return go_to_event(*event);
    go_to_end_of_step();
  } else {
    t_ = limit;
    equations_.at(t_, y_, here_);
  }
  bool must_restart = t_ != now_->time();
  if (t_ >= corner && t_ < settings_.duration) {
    must_restart |= equations_.signals().jumps_at(corner);
    must_restart |= pass_corner();
    equations_.at(t_, y_, here_);
    must_restart |= equations_.run_ticks(here_, y_);
  }
  if (stops_.hold(here_, y_)) {
    must_restart = true;
    equations_.at(t_, y_, here_);
  }
  const Coordinates::Accepted accepted = accept();
  must_restart |= accepted.changed && !accepted.recounted;
  if (checkpoint_due() && t_ < settings_.duration) must_restart |= make_checkpoint();
  if (must_restart) {
    restart();
  } else if (accepted.changed) {
    now_->go_on(y_);
    watch_.start(t_, y_);
  }
}

void Simulation::make_step(double limit) {
  const double from = t_;
  while (true) {
    now_->step(limit);
    try {
      step_.take(y_, !watch_.idle() || output_time(next_output_) < now_->time());
      return;
    } catch (const NumericalError&) {
      const double h = kFailedStepFactor * (now_->time() - from);
      if (has_fixed_step(settings_.integrator.method) || stepping_ != nullptr ||
          h <= kSameInstant * std::max(1.0, std::abs(from)))
        throw;
      now_->restart(from, y_);
      limit = from + h;
    }
  }
}

void Simulation::go_to_end_of_step() {
  t_ = step_.end();
  y_ = step_.y_end();
  here_ = step_.last();
  write_rows();
  watch_flexible();
  if (stepping_ != nullptr) {
    for (RunEvent& event : stepping_->take_log()) log_.push_back(std::move(event));
    write_log();
  }
  switching_.check(here_);
  stops_.check(here_);
}

void Simulation::watch_flexible() {
  flexible_.look(t_, here_.state, log_);
  if (!log_.empty()) write_log();
}

void Simulation::go_to_event(double t) {
  const Eigen::VectorXd y_start = y_;
  step_.interpolate(t, y_);
  const EventWatch::Hits hits = watch_.hits(step_, t, y_);
  // A step with contacts is straight inside, and would miss energy: it is made again, up to here.
  if (stepping_ != nullptr && t - t_ > kSameInstant * std::max(1.0, std::abs(t))) {
    y_ = y_start;
    stepping_->take_log();
    now_->restart(t_, y_);
    make_step(t);
    y_ = step_.y_end();
    for (RunEvent& event : stepping_->take_log()) log_.push_back(std::move(event));
  }
  t_ = t;
  step_.at(t_, y_, here_);
  write_rows();
  accept();  // the next step starts here, not at the start of this one
  apply(hits);
}

Coordinates::Accepted Simulation::accept() {
  const Coordinates::Accepted accepted = coordinates_->accept(here_);
  if (!accepted.changed) return accepted;
  equations_.use_chart();
  equations_.set_state(here_.state, y_);
  if (!accepted.change.empty()) {
    log_.push_back({t_, "chart", mechanism_.name(), accepted.change});
    write_log();
  }
  return accepted;
}

bool Simulation::pass_corner() {
  const State before = equations_.at(t_, y_).state;
  equations_.signals().start(t_, before);
  if (settings_.actions.motions.empty() || !stops_.jump_motions(t_, before, y_, log_)) return false;
  stops_.settle(t_, y_, {}, log_);
  write_log();
  return true;
}

void Simulation::apply(const EventWatch::Hits& hits) {
  for (const int k : hits.functions) respond(settings_.actions.events[index(k)]);
  if (!hits.switches.empty()) {
    pass_corner();
    for (const int k : hits.switches)
      log_.push_back({t_, "switch", equations_.signals().switch_name(k), ""});
  }
  if (!hits.switching.empty()) switching_.settle(t_, y_, hits.switching, log_);
  stops_.settle(t_, y_, {hits.impacts, hits.ended, hits.released}, log_);
  if (!hits.impacts.empty()) switching_.resolve(t_, y_, log_);
  write_log();
  watch_for_zeno();
  restart();
}

void Simulation::respond(const EventSettings& event) {
  log_.push_back({t_, "user", event.name, ""});
  if (event.respond) {
    State state = equations_.at(t_, y_).state;
    const double before = energy(mechanism_, state).total();
    event.respond(t_, state);
    equations_.set_state(state, y_);
    equations_.work().add_response(energy(mechanism_, state).total() - before, y_);
  }
  if (event.action == EventSettings::Action::stop) end_ = "event '" + event.name + "'";
}

// ---- Recording. ----

double Simulation::output_time(std::int64_t k) const {
  const double t = static_cast<double>(k) * *settings_.output_interval;
  return std::abs(t - settings_.duration) < kSameRow * *settings_.output_interval
             ? settings_.duration
             : t;
}

double Simulation::checkpoint_time() const {
  return static_cast<double>(next_checkpoint_) * *settings_.checkpoint_interval;
}

double Simulation::next_stop() const {
  return checkpoint_time() > t_ ? checkpoint_time() : settings_.duration;
}

void Simulation::write_rows() {
  if (output_time(next_output_) > t_) return;
  while (output_time(next_output_) <= t_) {
    const double at = output_time(next_output_++);
    step_.interpolate(at, y_row_);
    // Steps end on the constraints; interpolated states between them are near. (The
    // differential-algebraic form is a check of its own.)
    const Method method = settings_.integrator.method;
    if (at < t_ && method != Method::ida && method != Method::midpoint && !equations_.steps())
      step_.close_row(at, y_row_);
    step_.at(at, y_row_, row_);
    write_row(row_, y_row_);
  }
  if (y_row_ == y_)  // the last row is here
    auditor_.judge(here_, measured_, y_);
  else
    auditor_.observe(here_, y_);
}

void Simulation::write_row(const Instant& instant, const Eigen::VectorXd& y) {
  equations_.evaluate(instant, y, found_);
  measured_ = auditor_.measure(found_.state(), y);
  recorder_.append(outputs_.row(equations_, found_, measured_, y));
  ++rows_;
  last_row_ = instant.time;
}

// The first kAllTold events of a run, then of each kind and name one in kToldEvery s: chatter must
// not fill the log. All events of the user are reported.
bool Simulation::is_told(RunEvent& event) {
  if (event.kind == "user" || event.kind == "switch" || event.kind == "constraint") return true;
  Told& told = told_[{event.kind, event.name}];
  if (events_ >= kAllTold && event.time - told.last < kToldEvery) {
    ++told.skipped;
    return false;
  }
  if (told.skipped > 0)
    event.detail += fmt::format("{}{} more of these since {:.6g} s",
                                event.detail.empty() ? "" : "; ", told.skipped, told.last);
  told.last = event.time;
  told.skipped = 0;
  return true;
}

void Simulation::tell_skipped() {
  for (const auto& [key, told] : told_) {
    if (told.skipped == 0) continue;
    recorder_.add_event({t_, key.first, key.second,
                         fmt::format("{} more of these since {:.6g} s", told.skipped, told.last)});
    ++events_;
  }
  told_.clear();
}

void Simulation::write_log() {
  for (RunEvent& event : log_) {
    last_event_ = event;
    if (!is_told(event)) continue;
    recorder_.add_event(event);
    ++events_;
  }
  log_.clear();
}

SimulationResult simulate(const Mechanism& mechanism, const State& initial,
                          const SimulationSettings& settings, Recorder& recorder) {
  Simulation simulation(mechanism, initial, settings, recorder);
  simulation.start(initial);
  return simulation.run();
}

SimulationResult resume_simulation(const Mechanism& mechanism, const RunCheckpoint& from,
                                   const SimulationSettings& settings, Recorder& recorder) {
  Simulation simulation(mechanism, state_at(mechanism, from), settings, recorder);
  simulation.resume(from);
  return simulation.run();
}

}  // namespace catena
