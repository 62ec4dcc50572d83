// SPDX-License-Identifier: BSD-3-Clause
// The settings of a simulation as YAML, and as the JSON that a run file keeps (which is YAML too,
// so that one reader serves both). docs/simulation.md is the reference.
//
//   duration: 5
//   method: dop853
//   inputs: {elbow: 2*sin(t), wrist: {table: torque.csv, interpolation: spline}}
//   controllers: {shoulder: {kp: 200, kd: 20, target: 0.5}}
//   motions: {crank: 2*pi*t}
//   state: {q: {elbow: 0.3}}            # state_file.h
#pragma once

#include <string>

#include "catena/simulation/simulate.h"
#include "catena/simulation/state_file.h"

namespace catena {

// Settings that the file does not have keep their values. Efforts and wrenches of the state act all
// the time. Throws ModelError with every mistake, each with its line.
void read_settings_file(const std::string& path, const Mechanism& mechanism, StateInput& input,
                        SimulationSettings& settings);
void read_settings_text(const std::string& text, const std::string& file_name,
                        const Mechanism& mechanism, StateInput& input,
                        SimulationSettings& settings);

// Adds the constant efforts and wrenches that come with a state.
void add_actions(const StateInput& input, const Mechanism& mechanism, ActionSettings& actions);

// All settings as JSON. Functions given by code are left out.
std::string settings_json(const SimulationSettings& settings, const Mechanism& mechanism);

}  // namespace catena
