// SPDX-License-Identifier: BSD-3-Clause
// Simulation: integrates the motion of a mechanism from an initial state, with inputs, controllers,
// contacts and events, an audit of energy and momentum, and a record.
//
//   MemoryRecorder record;
//   const SimulationResult result = simulate(mechanism, mechanism.default_state(),
//                                            {.duration = 5.0}, record);
//   result.audit, result.state, record.rows()
//
// Trees are integrated in (q, v), closed mechanisms in independent coordinates or with multipliers
// and projection (LoopRoute): neither drifts. Joint limits (stops), dry friction, contacts and
// switches are events (zero crossings), located on the dense output of a step. The default method
// is an explicit Runge-Kutta formula of order 8 with error control (integrators/integrator.h).
//
// Rows are written at multiples of the output interval and at the end; the first row is the initial
// state. At planned checkpoints the integrator restarts without history, so that a run resumed
// there has the same bits as one that was never interrupted. docs/simulation.md is the guide.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catena/simulation/actions.h"
#include "catena/simulation/integrators/integrator.h"
#include "catena/simulation/recording/audit.h"
#include "catena/simulation/recording/outputs.h"
#include "catena/simulation/recording/recorder.h"

namespace catena {

struct SimulationSettings {
  double duration = 10.0;                          // s
  std::optional<double> output_interval = {};      // s; none: a round number, about 1000 rows
  std::optional<double> checkpoint_interval = {};  // s; none: a tenth of the duration
  std::vector<std::string> outputs = {};           // outputs.h; empty: q, v, effort and energy
  std::vector<ExtraOutput> extra_outputs = {};
  IntegratorSettings integrator = {};
  ActionSettings actions = {};
  // Called after each step with the time reached; false ends the run there.
  std::function<bool(double t)> progress = {};
};

struct SimulationResult {
  Audit audit;
  StepStatistics steps;
  std::int64_t events = 0;
  std::int64_t rows = 0;
  double simulated_time = 0.0;  // s
  double wall_time = 0.0;       // s
  double processor_time = 0.0;  // s
  bool complete = false;        // the whole duration, or until an event that ends the run
  std::string end;              // in words, if it is not the duration
  State state;                  // the last one
};

// Throws Error for settings that make no sense and NumericalError, naming the time, the state and
// the suspected cause, when the motion cannot be computed any further; the recorder then has
// everything until there.
SimulationResult simulate(const Mechanism& mechanism, const State& initial,
                          const SimulationSettings& settings, Recorder& recorder);

// Goes on from a checkpoint of a run of the same mechanism with the same settings (the duration may
// be longer or shorter). The recorder must have the rows and events of that checkpoint.
SimulationResult resume_simulation(const Mechanism& mechanism, const RunCheckpoint& from,
                                   const SimulationSettings& settings, Recorder& recorder);

// With every default filled in, as simulate() uses them.
SimulationSettings completed(SimulationSettings settings);

// The same for a mechanism: a stiff method where flexible bodies need one. `note` says so.
SimulationSettings completed_for(const Mechanism& mechanism, SimulationSettings settings,
                                 std::string* note = nullptr);

// The result for machines.
std::string to_json(const SimulationResult& result);

}  // namespace catena
