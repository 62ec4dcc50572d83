// SPDX-License-Identifier: BSD-3-Clause
// Models to simulate and how accurately, and what is said of a simulation that cannot be done.
#pragma once

#include <string>

#include "catena/io/load.h"
#include "catena/io/models/yaml.h"
#include "catena/model/builder.h"
#include "catena/simulation/simulate.h"

namespace catena::test {

inline Mechanism model(const std::string& name) {
  return load(std::string(CATENA_SOURCE_DIR "/models/") + name + ".yaml");
}

// The rest of a YAML model after its first line.
inline Mechanism from_yaml(const std::string& text) {
  return MechanismBuilder(read_yaml_text("catena: 1\n" + text, "test.yaml").description).finish();
}

inline SimulationSettings settings_of(double duration, double interval, double rtol) {
  SimulationSettings settings;
  settings.duration = duration;
  settings.output_interval = interval;
  settings.integrator.relative_tolerance = rtol;
  settings.integrator.absolute_tolerance = 0.01 * rtol;
  return settings;
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
