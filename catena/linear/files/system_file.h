// SPDX-License-Identifier: BSD-3-Clause
// Linear systems in files: YAML to read and write by hand, HDF5 for large ones.
//
//   save_system(plant, "plant.yaml");
//   const StateSpace plant = load_system("plant.h5");
//
//   linear system: 1            # version of the format
//   dt: 0                       # s; 0: continuous
//   A: [[0, 1], [-4, -0.4]]
//   B: [[0], [1]]
//   C: [[1, 0]]
//   D: [[0]]                    # may be left out: zero
//   states: [angle, rate]       # names and units may be left out
//   input_delay: [0.01]         # s
//   operating point: {mechanism: arm, q: [0.1], v: [0], u0: [2]}
//
// HDF5 has the same names: datasets A, B, C, D, E, dt, input_delay, output_delay and q, v, x0, u0,
// y0 at the root, and lists of names as attributes of the root. h5py reads both; Octave's `load`
// reads the datasets, with rows and columns exchanged (A.' is A), because HDF5 stores rows first.
//
// Mistakes throw a ModelError with file and line.
#pragma once

#include <string>

#include "catena/linear/state_space.h"

namespace catena {

// By the ending: .yaml or .yml, .h5 or .hdf5.
StateSpace load_system(const std::string& path);
void save_system(const StateSpace& system, const std::string& path);

StateSpace system_from_yaml(const std::string& text, const std::string& file_name);
// Numbers read back as the same doubles.
std::string system_to_yaml(const StateSpace& system);

}  // namespace catena
