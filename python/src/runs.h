// What the bindings of simulations and of runs share.
#pragma once

#include "arguments.h"

#include "catena/io/run_file.h"
#include "catena/simulation/simulate.h"

namespace catena::python {

struct NamedResult {
  MechanismPointer mechanism;
  SimulationResult result;
};

// The file of a run: HDF5 with this header and the model, or a table if its name ends in .csv;
// null: no name.
std::unique_ptr<Recorder> file_recorder(const std::string& output, const Mechanism& mechanism,
                                        RunHeader header, bool overwrite);

}  // namespace catena::python
