// Models to simulate, and what is said of a simulation that cannot be done.
#pragma once

#include <string>

#include "catena/io/load.h"
#include "catena/simulation/simulate.h"

namespace catena::test {

inline Mechanism model(const std::string& name) {
  return load(std::string(CATENA_SOURCE_DIR "/models/") + name + ".yaml");
}

inline std::string problem(const Mechanism& m, const SimulationSettings& settings) {
  MemoryRecorder record;
  try {
    simulate(m, m.default_state(), settings, record);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace catena::test
