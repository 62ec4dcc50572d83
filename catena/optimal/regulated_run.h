// SPDX-License-Identifier: BSD-3-Clause
// Simulates a motion under disturbances, with its regulator or without. The law
//
//   effort = clip(u*(t) − K(t) (x − x*(t)))
//
// is an input of an ordinary simulation; run, audit and report are the usual ones. Beside the
// columns of the simulation the run has nominal.q.*, nominal.v.* (the motion that is followed),
// nominal.effort.NAME and actuator.NAME (of each actuator: as in the motion, and as it is), and
// deviation.q.NAME, deviation.v.NAME (x of the regulator).
//
// Gains are interpolated and the feedback acts all the time; the design holds it over each sampling
// interval. With intervals much shorter than the motion's own times that is the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "catena/optimal/regulator.h"
#include "catena/simulation/simulate.h"

namespace catena {

struct Disturbance {
  // Of the state at the start, by state of the regulator ("q.elbow", "v.elbow").
  std::map<std::string, double> offsets{};
  // A random offset on top: normally distributed, with this standard deviation in units of the
  // allowed one (regulator.h; plain units for states without weight). The same on every machine.
  double random = 0.0;
  std::uint64_t seed = 1;
  // Efforts at freedoms, added to those of the actuators.
  std::vector<InputSettings> efforts{};
  // Factors on mass and inertia of bodies; the regulator is designed without them.
  std::map<std::string, double> masses{};
};

struct RegulatedSettings {
  bool feedback = true;
  Disturbance disturbance{};
  // Of actuators, by freedom name; others have none.
  std::map<std::string, double> effort_limits{};
  // Settings of the simulation. The duration is that of the motion; inputs are added.
  SimulationSettings simulation{};
};

// By state of the regulator and by actuator, over the rows of the run.
struct RegulatedResult {
  SimulationResult run;
  bool departed = false;  // the run was ended: a deviation was 10,000 times the allowed one
  Eigen::VectorXd first_deviation, final_deviation, largest_deviation;
  double first_distance = 0.0, final_distance = 0.0, largest_distance = 0.0;  // regulator.h
  Eigen::VectorXd largest_effort, rms_effort;
  Eigen::VectorXd rms_feedback;  // of the efforts added to those of the motion
  Eigen::VectorXd saturated;     // fraction of the rows with the effort at its limit
};

// The mechanism with the masses of the disturbance. NameError for an unknown body.
Mechanism disturbed(const Mechanism& mechanism, const std::map<std::string, double>& masses);

// The start of the motion with the offsets of the disturbance; loops stay closed.
State disturbed_start(const Mechanism& mechanism, const RecordedMotion& motion,
                      const Regulator& regulator, const Disturbance& disturbance);

// Throws as simulate() does; the recorder then has everything until there.
RegulatedResult simulate_regulated(const Mechanism& mechanism, const RecordedMotion& motion,
                                   const Regulator& regulator, const RegulatedSettings& settings,
                                   Recorder& recorder);

}  // namespace catena
