// SPDX-License-Identifier: BSD-3-Clause
// Controllers in files: a linear system (linear/files/system_file.h) and how it runs.
//
//   linear system: 1
//   A: ...                                # u = u0 + C x + D δy, inputs q.NAME, outputs freedoms
//   controller:                           # may be left out
//     period: 0.01                        # s: discretized by Tustin's rule (of a continuous one)
//     delay: 0.002                        # s: computation time of a sampled controller
//     offset: 0                           # s: of the first sample
//     lower: [-20]                        # limits of u, one for each output, N or N m
//     upper: [20]
//
//   SimulationSettings settings;
//   settings.actions.controller_files = {{.file = "K.yaml", .limits = {{"crank", 20.0}}}};
//   connect_controllers(settings.actions);
//   simulate(mechanism, state, settings, record);
//
// HDF5 files hold the system alone.
#pragma once

#include <string>

#include "catena/components/linear_controller.h"

namespace catena {

// Throws ModelError with file and line of every mistake.
LinearControllerSettings load_controller(const std::string& path);
LinearControllerSettings controller_from_yaml(const std::string& text,
                                              const std::string& file_name);
// Numbers read back as the same doubles. For HDF5, throws an Error if there is more to write than
// the system.
std::string controller_to_yaml(const LinearControllerSettings& controller);
void save_controller(const LinearControllerSettings& controller, const std::string& path);

// Reads the files of `controller_files` that have no maker yet, applies period, delay and limits,
// and fills in `system` (the text that a run keeps) and `make`. Two controllers of one name get
// NAME and NAME_2. Throws ModelError or Error naming file and remedy.
void connect_controllers(ActionSettings& actions);

// u = K y of a design as a controller that runs: it reads the plant's outputs, acts at the plant's
// inputs, and carries the operating point with the efforts that hold it.
StateSpace controller_for(const StateSpace& plant, StateSpace controller);

// The same controller sampled every `period` seconds (Tustin's rule; dt of a sampled one must
// agree). Throws Error.
StateSpace sampled(const StateSpace& controller, double period);

}  // namespace catena
