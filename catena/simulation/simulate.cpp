#include "catena/simulation/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <deque>
#include <numeric>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/mobility.h"
#include "catena/model/configuration.h"
#include "catena/simulation/integrators/ida.h"
#include "catena/simulation/integrators/midpoint.h"
#include "catena/simulation/integrators/sundials.h"
#include "catena/simulation/nonsmooth/events.h"
#include "catena/simulation/nonsmooth/stops_and_friction.h"
#include "catena/simulation/nonsmooth/switching.h"
#include "catena/simulation/recording/outputs.h"

namespace catena {
namespace {

// A time of the output grid this close to another, in intervals, is the same.
constexpr double kSameTime = 1e-6;
// Times this close, relative to the time, are the same.
constexpr double kSameInstant = 1e-13;
// So many events within so short a time do not end by themselves (Zeno).
constexpr int kManyEvents = 1000;
constexpr double kShortTime = 1e-6;
// So many in so short a time before a step that is too short are its cause.
constexpr std::size_t kCollapsing = 10;
constexpr double kCollapseTime = 1e-5;
// Of a step whose end is nowhere, how much is tried next.
constexpr double kShorten = 0.25;
// Of mechanisms larger than this the loops are not looked at for what may be wrong with them.
constexpr int kMostFreedomsToLookAt = 300;
// The first number of a checkpoint.
constexpr double kCheckpointFormat = 3.0;

// By freedom.
std::vector<std::uint8_t> prescribed_freedoms(const Mechanism& mechanism,
                                              const ActionSettings& actions) {
  std::vector<std::uint8_t> mask(index(mechanism.freedoms()), 0);
  for (const MotionSettings& motion : actions.motions)
    mask[index(freedom_index(mechanism, motion.freedom))] = 1;
  return mask;
}

// Methods that move the state back onto constraints after each step.
bool projects(Method method) {
  return method == Method::dop853 || method == Method::ida || method == Method::bdf ||
         method == Method::arkode || has_fixed_step(method);
}

std::unique_ptr<Integrator> integrator_for(Equations& equations,
                                           const IntegratorSettings& settings) {
  if (equations.constraints() != nullptr && !projects(settings.method))
    throw Error("method '" + std::string(to_string(settings.method)) +
                "' cannot keep a motion on constraints that are switched, or on loops by "
                "multipliers; use dop853, arkode, bdf or ida, or rk4, euler, ab2, ab3, ab4, am4 "
                "with a step");
  // Only what is on constraints needs to be moved back.
  if (equations.constraints() != nullptr && settings.method == Method::bdf)
    return make_cvode(equations, settings, true);
  if (equations.constraints() != nullptr && settings.method == Method::arkode)
    return make_arkode(equations, settings, true);
  if (settings.method == Method::midpoint) return std::make_unique<Midpoint>(equations, settings);
  if (settings.method == Method::ida) return make_ida(equations, settings);
  return make_integrator(equations, settings);
}

[[noreturn]] void throw_foreign_checkpoint() {
  throw Error(
      "the checkpoint does not fit this mechanism and these settings; resume with those the run "
      "was started with");
}

// Position and velocity that a checkpoint holds, behind its header and y.
constexpr std::size_t kCheckpointHeader = 7;
State state_at(const Mechanism& mechanism, const RunCheckpoint& from) {
  const std::vector<double>& s = from.state;
  const auto n = static_cast<std::size_t>(mechanism.coordinates() + mechanism.freedoms());
  if (s.size() < kCheckpointHeader || s[0] != kCheckpointFormat || !(s[1] >= 0.0) ||
      s[1] > static_cast<double>(s.size()))
    throw_foreign_checkpoint();
  const std::size_t first = kCheckpointHeader + static_cast<std::size_t>(s[1]);
  if (s.size() < first + n) throw_foreign_checkpoint();
  const double* q = s.data() + first;
  return {Eigen::Map<const Eigen::VectorXd>(q, mechanism.coordinates()),
          Eigen::Map<const Eigen::VectorXd>(q + mechanism.coordinates(), mechanism.freedoms())};
}

class Simulation {
 public:
  Simulation(const Mechanism& mechanism, const State& at, const SimulationSettings& settings,
             Recorder& recorder)
      : mechanism_(mechanism),
        settings_(completed(settings)),
        recorder_(recorder),
        coordinates_(make_coordinates(mechanism, at,
                                      prescribed_freedoms(mechanism, settings_.actions),
                                      uses_multipliers(mechanism, settings_.actions))),
        equations_(mechanism, *coordinates_, settings_.actions),
        contacts_(equations_, settings_.actions),
        switching_(equations_, settings_.actions),
        watch_(equations_, contacts_, switching_, settings_.actions),
        auditor_(equations_),
        outputs_(equations_, settings_.outputs, settings_.extra_outputs),
        integrator_(integrator_for(equations_, settings_.integrator)) {}

  void start(const State& initial) {
    State state = initial;
    normalize_quaternions(mechanism_, state.q);
    coordinates_->begin(state);
    recorder_.begin(outputs_.columns());
    y_ = equations_.start(state);
    equations_.start_signals(0.0, state);
    equations_.impose_motions(0.0, y_);
    log_ = equations_.notes();
    try {
      note_rigid_loops(state);
      switching_.begin(0.0, y_, log_);
      contacts_.begin(0.0, y_, log_);
      y_.tail(equations_.elements()).setZero();  // the audit begins after impacts at the start
      write_log();
      equations_.look(0.0, y_);
      auditor_.start(0.0, equations_.state());
      write_row(0.0, y_);
      next_output_ = 1;
      next_checkpoint_ = 1;
      restart();
    } catch (const NumericalError& e) {
      throw NumericalError(std::string("at time 0 s: ") + e.what());
    }
  }

  // Loops that stand still, or move less than is likely meant, should say why.
  void note_rigid_loops(const State& state) {
    if (mechanism_.freedoms() > kMostFreedomsToLookAt) return;
    for (const LoopMobility& loop : analyse_mobility(mechanism_, state.q).loops)
      if (!loop.trouble.empty()) log_.push_back({0.0, "loop", mechanism_.name(), loop.trouble});
  }

  void resume(const RunCheckpoint& from) {
    load(from);
    restart();
  }

  SimulationResult run();

 private:
  double output_time(std::int64_t k) const {
    const double t = static_cast<double>(k) * settings_.output_interval;
    return std::abs(t - settings_.duration) < kSameTime * settings_.output_interval
               ? settings_.duration
               : t;
  }
  double checkpoint_time() const {
    return static_cast<double>(next_checkpoint_) * settings_.checkpoint_interval;
  }
  // Where a step must end for a checkpoint; one that is overdue is made at the end of any.
  double next_stop() const {
    return checkpoint_time() > t_ ? checkpoint_time() : settings_.duration;
  }

  // The integrator, from y_ at t_.
  void restart() {
    integrator_->restart(t_, y_);
    watch_.start(t_, y_);
  }

  void go_on() {
    integrator_->go_on(y_);
    watch_.start(t_, y_);
  }

  void write_row(double t, const Eigen::VectorXd& y) {
    equations_.evaluate(t, y);
    auditor_.measure(equations_.state(), y);
    recorder_.append(outputs_.row(t, equations_, auditor_, y));
    ++rows_;
    last_row_ = t;
  }

  void write_log() {
    for (const RunEvent& event : log_) recorder_.add_event(event);
    events_ += static_cast<std::int64_t>(log_.size());
    if (!log_.empty()) last_event_ = log_.back();
    log_.clear();
  }

  void step(double limit);
  bool accept();
  void advance();
  void write_rows_until(double t);
  bool pass_corner(double t);
  void happen(double t, const EventWatch::Hits& hits);
  void watch_for_zeno();
  bool make_checkpoint();
  void load(const RunCheckpoint& from);
  SimulationResult result(double wall, double processor) const;
  std::string describe(const StepCollapse& collapse);

  const Mechanism& mechanism_;
  SimulationSettings settings_;
  Recorder& recorder_;
  std::unique_ptr<Coordinates> coordinates_;
  Equations equations_;
  Contacts contacts_;
  Switching switching_;
  EventWatch watch_;
  Auditor auditor_;
  Outputs outputs_;
  std::unique_ptr<Integrator> integrator_;

  double t_ = 0.0;
  Eigen::VectorXd y_;
  Eigen::VectorXd y_output_;
  std::int64_t next_output_ = 0;
  std::int64_t next_checkpoint_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t events_ = 0;
  double last_row_ = 0.0;
  std::vector<RunEvent> log_;
  RunEvent last_event_;
  bool looks_inside_ = false;  // the last step
  int recent_events_ = 0;      // since recent_start_
  double recent_start_ = 0.0;
  std::deque<double> latest_;  // times of the last kCollapsing events
  std::string end_;
  bool interrupted_ = false;
};

// The rows up to t, where y_ is the state after a step or at an event; with any of them the audit
// looks at y_.
void Simulation::write_rows_until(double t) {
  if (output_time(next_output_) > t) return;
  while (output_time(next_output_) <= t) {
    const double at = output_time(next_output_++);
    integrator_->interpolate(at, y_output_);
    // Steps end on the constraints; what is interpolated between them is near.
    // (The differential-algebraic form is a check of its own.)
    const Method method = settings_.integrator.method;
    if (at < t && method != Method::ida && method != Method::midpoint)
      equations_.close_row(at, y_output_);
    write_row(at, y_output_);
  }
  const bool measured = y_output_ == y_;  // the last row is at the end of a step
  equations_.look(t, y_);
  if (measured)
    auditor_.observe_measured(t, equations_.state(), y_);
  else
    auditor_.observe(t, equations_.state(), y_);
}

// A step of the integrator to a place that there is, and between places that there are if anybody
// looks inside. Not every method looks at its end by itself.
void Simulation::step(double limit) {
  const double from = t_;
  while (true) {
    integrator_->step(limit);
    try {
      looks_inside_ = !watch_.idle() || output_time(next_output_) < integrator_->time();
      equations_.stepped(from, y_, integrator_->time(), integrator_->state(), looks_inside_);
      if (looks_inside_) integrator_->interpolate(0.5 * (from + integrator_->time()), y_output_);
      return;
    } catch (const NumericalError&) {
      const double h = kShorten * (integrator_->time() - from);
      if (has_fixed_step(settings_.integrator.method) ||
          h <= kSameInstant * std::max(1.0, std::abs(from)))
        throw;
      equations_.leave_step();
      integrator_->restart(from, y_);
      limit = from + h;
    }
  }
}

// The coordinates go on from the state that was looked at last, y_ at t_. True: y_ is another.
bool Simulation::accept() {
  equations_.leave_step();
  if (!coordinates_->accepted(equations_.state())) return false;
  equations_.use_chart();
  equations_.set_state(equations_.state(), y_);
  if (const std::string change = coordinates_->change(); !change.empty()) {
    log_.push_back({t_, "chart", mechanism_.name(), change});
    write_log();
  }
  return true;
}

// One step, and what comes with it.
void Simulation::advance() {
  const double corner = equations_.next_corner();
  const double limit = std::min({settings_.duration, next_stop(), corner});
  // An event may have come to within rounding of the limit.
  if (limit - t_ > kSameInstant * std::max(1.0, std::abs(t_))) {
    step(limit);
    if (const auto event = watch_.first_event(*integrator_)) {
      integrator_->interpolate(*event, y_);
      t_ = *event;
      write_rows_until(t_);
      const EventWatch::Hits hits = watch_.hits(t_, y_);  // inside the step, where it was found
      equations_.look(t_, y_);
      accept();  // what follows starts here, not where the step did
      happen(t_, hits);
      return;
    }
    t_ = integrator_->time();
    y_ = integrator_->state();
    write_rows_until(t_);
    if (looks_inside_) equations_.look(t_, y_);
    switching_.check(t_);
    contacts_.check(t_);
  } else {
    t_ = limit;
    equations_.look(t_, y_);
  }
  bool anew = t_ != integrator_->time();
  if (t_ >= corner && t_ < settings_.duration) {
    anew |= equations_.jumps_at(corner);
    anew |= pass_corner(t_);
  }
  anew |= contacts_.hold(t_, y_);
  const bool other = accept();
  anew |= other && !coordinates_->counts_anew();
  if (t_ >= checkpoint_time() && t_ < settings_.duration) anew |= make_checkpoint();
  if (anew)
    restart();
  else if (other)
    go_on();
}

// Signals go on behind a jump or a corner at t, where y_ is. True: velocities have jumped.
bool Simulation::pass_corner(double t) {
  equations_.look(t, y_);
  const State before = equations_.state();
  equations_.start_signals(t, before);
  if (settings_.actions.motions.empty() || !contacts_.jump_motions(t, before, y_, log_))
    return false;
  contacts_.settle(t, y_, {}, log_);
  write_log();
  return true;
}

// An event at t_, where y_ is.
void Simulation::happen(double t, const EventWatch::Hits& hits) {
  for (const int k : hits.functions) {
    const EventSettings& event = settings_.actions.events[index(k)];
    log_.push_back({t, "user", event.name, ""});
    if (event.respond) {
      equations_.look(t, y_);
      State state = equations_.state();
      const double before = energy(mechanism_, state).total();
      event.respond(t, state);
      equations_.set_state(state, y_);
      equations_.add_response_work(energy(mechanism_, state).total() - before, y_);
    }
    if (event.action == EventSettings::Action::stop) end_ = "event '" + event.name + "'";
  }
  if (!hits.switches.empty()) {
    pass_corner(t);
    for (const int k : hits.switches) log_.push_back({t, "switch", equations_.switch_name(k), ""});
  }
  if (!hits.switching.empty()) switching_.settle(t, y_, hits.switching, log_);
  contacts_.settle(t, y_, {hits.impacts, hits.ended, hits.released}, log_);
  if (!hits.impacts.empty()) switching_.resolve(t, y_, log_);
  write_log();
  watch_for_zeno();
  restart();
}

void Simulation::watch_for_zeno() {
  latest_.push_back(t_);
  if (latest_.size() > kCollapsing) latest_.pop_front();
  if (t_ - recent_start_ > kShortTime * std::max(1.0, std::abs(t_))) {
    recent_start_ = t_;
    recent_events_ = 0;
  }
  if (++recent_events_ < kManyEvents) return;
  throw NumericalError(fmt::format(
      "{} events between {} and {} s (Zeno): they do not end, so time cannot go on; the last was "
      "'{}' of '{}'",
      recent_events_, number(recent_start_), number(t_), last_event_.kind, last_event_.name));
}

// False: not here, beside a singular position, from where nothing could start.
bool Simulation::make_checkpoint() {
  equations_.look(t_, y_);
  if (!coordinates_->sides().empty()) return false;
  ++next_checkpoint_;
  recent_events_ = 0;
  recent_start_ = t_;
  const State state = equations_.state();
  coordinates_->begin(state);
  equations_.use_chart();
  equations_.set_state(state, y_);
  std::vector<double> s{kCheckpointFormat,
                        static_cast<double>(equations_.size()),
                        static_cast<double>(mechanism_.freedoms()),
                        static_cast<double>(equations_.switches()),
                        static_cast<double>(next_output_),
                        static_cast<double>(next_checkpoint_),
                        last_row_};
  const auto append = [&](const auto& values) {
    for (const auto x : values) s.push_back(static_cast<double>(x));
  };
  append(y_);
  append(state.q);
  append(state.v);
  for (const FreedomMode& mode : equations_.modes()) {
    s.push_back(static_cast<double>(mode.friction));
    s.push_back(mode.direction);
    s.push_back(mode.stop);
  }
  append(equations_.switch_sides());
  append(switching_.save());
  append(contacts_.save());
  append(auditor_.save());
  const StepStatistics& n = integrator_->statistics();
  s.insert(s.end(), {static_cast<double>(n.steps), static_cast<double>(n.rejected),
                     static_cast<double>(n.evaluations), static_cast<double>(n.restarts),
                     n.smallest_step, n.largest_step, n.stiff_since});
  recorder_.checkpoint({t_, rows_, events_, std::move(s)});
  return true;
}

void Simulation::load(const RunCheckpoint& from) {
  const std::vector<double>& s = from.state;
  const std::size_t n = index(mechanism_.freedoms());
  const std::size_t needed =
      kCheckpointHeader + index(equations_.size()) + index(mechanism_.coordinates()) + n + 3 * n +
      index(equations_.switches()) + switching_.saved() + contacts_.saved() + Auditor::kSaved + 7;
  if (s.size() != needed || s[0] != kCheckpointFormat ||
      s[1] != static_cast<double>(equations_.size()))
    throw_foreign_checkpoint();
  std::size_t at = 4;
  next_output_ = static_cast<std::int64_t>(s[at++]);
  next_checkpoint_ = static_cast<std::int64_t>(s[at++]);
  last_row_ = s[at++];
  t_ = recent_start_ = from.time;
  rows_ = from.rows;
  events_ = from.events;
  y_ = Eigen::VectorXd::Zero(equations_.size());
  for (double& x : y_) x = s[at++];
  State state = mechanism_.default_state();
  for (double& x : state.q) x = s[at++];
  for (double& x : state.v) x = s[at++];
  coordinates_->begin(state);
  equations_.use_chart();
  for (FreedomMode& mode : equations_.modes()) {
    mode.friction = static_cast<FreedomMode::Friction>(static_cast<int>(s[at++]));
    mode.direction = static_cast<int>(s[at++]);
    mode.stop = static_cast<int>(s[at++]);
  }
  equations_.start_signals(t_, state);
  std::vector<std::uint8_t> sides(index(equations_.switches()));
  for (std::uint8_t& side : sides) side = static_cast<std::uint8_t>(s[at++]);
  equations_.set_switch_sides(sides);
  switching_.restore({s.data() + at, switching_.saved()});
  at += switching_.saved();
  contacts_.restore({s.data() + at, contacts_.saved()});
  at += contacts_.saved();
  auditor_.restore({s.data() + at, Auditor::kSaved});
  at += Auditor::kSaved;
  StepStatistics steps;
  for (std::int64_t* value : {&steps.steps, &steps.rejected, &steps.evaluations, &steps.restarts})
    *value = static_cast<std::int64_t>(s[at++]);
  steps.smallest_step = s[at++];
  steps.largest_step = s[at++];
  steps.stiff_since = s[at++];
  integrator_->set_statistics(steps);
}

std::string Simulation::describe(const StepCollapse& collapse) {
  std::string cause = collapse.cause;
  const int worst = collapse.worst;
  if (cause.empty() && worst >= 0 && worst < coordinates_->size())
    cause = "the error is largest in " + coordinates_->name(worst) +
            "; a singular position, a force without bound or a tolerance below rounding may be "
            "the cause";
  // Events that follow each other faster and faster leave no time for a step.
  if (latest_.size() == kCollapsing && collapse.time - latest_.front() <= kCollapseTime)
    cause = fmt::format(
        "{} events between {} and {} s (Zeno): they accumulate, so time cannot go on; the last was "
        "'{}' of '{}'",
        latest_.size(), number(latest_.front()), number(latest_.back()), last_event_.kind,
        last_event_.name);
  // The state, the fastest freedoms first; the last one looked at, if it cannot be found any more.
  try {
    if (const std::string jam = switching_.near_jam(integrator_->time(), integrator_->state());
        !jam.empty())
      cause = jam;
    equations_.look(integrator_->time(), integrator_->state());
  } catch (const NumericalError&) {
  }
  const State& state = equations_.state();
  std::vector<int> order(index(mechanism_.freedoms()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(state.v[a]) > std::abs(state.v[b]); });
  std::string text;
  constexpr std::size_t kShown = 4;
  for (std::size_t k = 0; k < std::min(kShown, order.size()); ++k) {
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

SimulationResult Simulation::result(double wall, double processor) const {
  SimulationResult r;
  r.audit = auditor_.report(y_);
  r.steps = integrator_->statistics();
  r.events = events_;
  r.rows = rows_;
  r.simulated_time = t_;
  r.wall_time = wall;
  r.processor_time = processor;
  r.complete = !interrupted_;
  r.end = end_;
  r.state = equations_.state();
  return r;
}

SimulationResult Simulation::run() {
  const auto wall_start = std::chrono::steady_clock::now();
  const std::clock_t processor_start = std::clock();
  const auto wall = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  };
  const auto processor = [&] {
    return static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC;
  };
  try {
    while (t_ < settings_.duration && end_.empty()) {
      advance();
      if (settings_.progress && !settings_.progress(t_) && t_ < settings_.duration &&
          end_.empty()) {
        interrupted_ = true;
        end_ = "interrupted";
      }
    }
    if (last_row_ < t_) write_row(t_, y_);
    equations_.evaluate(t_, y_);
    auditor_.observe(t_, equations_.state(), y_);
  } catch (const StepCollapse& collapse) {
    interrupted_ = true;
    end_ = describe(collapse);
    recorder_.finish(to_json(result(wall(), processor())), false);
    throw NumericalError(end_);
  } catch (const NumericalError& e) {
    interrupted_ = true;
    end_ = fmt::format("at time {} s: {}", number(t_), e.what());
    if (has_fixed_step(settings_.integrator.method))
      end_ += fmt::format(" (with a fixed step of {} s; a shorter one may help)",
                          number(settings_.integrator.step));
    recorder_.finish(to_json(result(wall(), processor())), false);
    throw NumericalError(end_);
  }
  SimulationResult done = result(wall(), processor());
  recorder_.finish(to_json(done), done.complete);
  return done;
}

}  // namespace

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
