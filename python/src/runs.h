// What the bindings of simulations and of runs share.
#pragma once

#include "arguments.h"

#include "catena/simulation/simulate.h"

namespace catena::python {

struct NamedResult {
  MechanismPointer mechanism;
  SimulationResult result;
};

}  // namespace catena::python
