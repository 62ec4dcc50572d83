// SPDX-License-Identifier: BSD-3-Clause
// One run of a simulation, step by step (simulate.h is the public face):
//
//   prepare   start() or resume(): modes and contacts of the first instant, the first row
//   advance   1. the integrator makes a step, up to the next corner of a signal, checkpoint or end
//             2. events inside it are located (nonsmooth/events.h)
//             3. rows up to there are written, the audit measures
//             4. at an event: its effects are applied, and the integrator restarts;
//                else: corners of signals, freedoms that are held, other independent coordinates,
//                a checkpoint
//   finish    the last row, the audit's report
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catena/simulation/last_step.h"
#include "catena/simulation/nonsmooth/events.h"
#include "catena/simulation/nonsmooth/time_stepping.h"
#include "catena/simulation/recording/flexible_watch.h"
#include "catena/simulation/recording/output_columns.h"
#include "catena/simulation/signals/signal_resolution.h"
#include "catena/simulation/simulate.h"

namespace catena {

// Joints rattle at their stops (simulation_stretch.cpp).
class RattleError : public NonsmoothError {
 public:
  explicit RattleError(const std::string& what) : NonsmoothError(what) {}
};

class Simulation {
 public:
  // `at`: initial state of the coordinates, closed.
  Simulation(const Mechanism& mechanism, const State& at, const SimulationSettings& settings,
             Recorder& recorder);

  void start(const State& initial);
  void resume(const RunCheckpoint& from);
  SimulationResult run();

 private:
  // ---- One step and its events (simulate.cpp). ----
  void advance();
  // Advances one step; retries with a shorter one if its end state cannot be closed.
  void make_step(double limit);
  void watch_flexible();
  void go_to_event(double t);
  void go_to_end_of_step();
  void apply(const EventWatch::Hits& hits);
  void respond(const EventSettings& event);
  // Continues signals after a jump or a corner. True: velocities have jumped.
  bool pass_corner();
  // Makes here_ the anchor of the coordinates.
  Coordinates::Accepted accept();
  // The integrator and the watch start from y_ at t_.
  void restart();
  // The integrator, if it makes steps with contacts (nonsmooth/time_stepping.h).
  TimeStepping* stepping() { return stepping_; }

  // ---- Where events fail (simulation_stretch.cpp). ---- Continues by time-stepping for a while.
  // False: it cannot.
  bool begin_stretch(const std::string& why, bool rattle = false);
  void make_stretch();
  void use_stretch();
  // Returns to events after long enough without impacts.
  void end_stretch_if_calm();
  std::optional<TimeStepping::Quality> stepping_quality() const;
  bool in_stretch() const { return stretch_ != nullptr && stepping_ == stretch_.get(); }
  // Throws NonsmoothError where events and short steps take too long.
  void watch_for_chatter();
  // Throws RattleError where stops and dry friction of several joints rattle.
  void watch_for_rattle();

  // ---- Recording. ----
  double output_time(std::int64_t k) const;
  double checkpoint_time() const;
  // Time at which a step must end for a checkpoint; an overdue one is made at the end of any step.
  double next_stop() const;
  // The rows up to t_; at each of them the audit measures.
  void write_rows();
  void write_row(const Instant& instant, const Eigen::VectorXd& y);
  void write_log();
  bool is_told(RunEvent& event);
  // Reports the number of events left out, and resets the count.
  void tell_skipped();
  void note_rigid_loops(const State& state);
  std::string moved_by_motions(const State& state) const;

  // ---- Checkpoints (simulation_checkpoints.cpp). ----
  bool checkpoint_due() const;
  // False: not here, beside a singular position, from which no run could start.
  bool make_checkpoint();
  void load(const RunCheckpoint& from);

  // ---- How it ends (simulation_end.cpp). ----
  void watch_for_zeno();
  void advance_or_step();
  bool is_nonsmooth(const StepCollapse& collapse);
  std::string describe(const StepCollapse& collapse);
  SimulationResult result() const;
  [[noreturn]] void fail(const std::string& why);

  const Mechanism& mechanism_;
  std::string method_note_;  // why not the usual method; before settings_
  SimulationSettings settings_;
  Recorder& recorder_;
  std::unique_ptr<Coordinates> coordinates_;
  Equations equations_;
  StopsAndFriction stops_;
  Switching switching_;
  EventWatch watch_;
  Auditor auditor_;
  FlexibleWatch flexible_;
  OutputColumns outputs_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<TimeStepping> stretch_;                 // null: never needed
  Integrator* now_;                                       // that makes the steps now
  TimeStepping* stepping_ = nullptr;                      // the same, if it steps contacts
  std::optional<TimeStepping::Quality> earlier_quality_;  // of a run that was resumed
  LastStep step_;
  std::optional<SignalResolution> resolution_;             // none: steps are limited otherwise
  double stretch_start_ = 0.0, stretch_end_ = -kInfinity;  // of the last one
  double stretch_time_ = 0.0;                              // least length of the next (s)
  int stretches_ = 0;
  // Window in which chatter is detected.
  double window_start_ = 0.0;
  std::int64_t window_steps_ = 0, window_events_ = 0;

  // Present time and y, and their instant.
  double t_ = 0.0;
  Eigen::VectorXd y_;
  Instant here_;

  std::int64_t next_output_ = 0;
  std::int64_t next_checkpoint_ = 0;
  std::int64_t checkpoint_evaluations_ = 0;  // at the last one
  bool has_checkpoint_ = false;
  std::int64_t rows_ = 0;
  std::int64_t events_ = 0;
  double last_row_ = 0.0;
  Auditor::Measured measured_;  // at the last row
  std::vector<RunEvent> log_;
  RunEvent last_event_;
  struct Told {
    std::int64_t skipped = 0;  // since the last that was told
    double last = -kInfinity;  // time of that
  };
  std::map<std::pair<std::string, std::string>, Told> told_;  // by kind and name
  int recent_events_ = 0;                                     // since recent_start_
  double recent_start_ = 0.0;
  std::deque<double> latest_;  // times of the last events
  struct At {
    double time = 0.0;
    std::string name;
    bool impact = false;
  };
  std::deque<At> rattle_;  // the last events of stops and dry friction
  std::string end_;
  bool interrupted_ = false;
  double wall_start_ = 0.0, processor_start_ = 0.0;  // s

  // Scratch of rows.
  Eigen::VectorXd y_row_;
  Instant row_;
  Evaluation found_;
};

// Position and velocity in a checkpoint.
State state_at(const Mechanism& mechanism, const RunCheckpoint& from);

}  // namespace catena
