// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: motions that are simulated, and read back.
#pragma once

#include "catena/io/load.h"
#include "catena/simulation/recording/recorded_motion.h"
#include "catena/simulation/simulate.h"

namespace catena::test {

inline Mechanism model(const std::string& file) {
  return load(std::string(CATENA_SOURCE_DIR) + "/" + file);
}

inline RecordedMotion motion_of(const Mechanism& m, const State& start, double duration,
                                std::vector<InputSettings> inputs, double interval = 0.005) {
  SimulationSettings settings{.duration = duration, .output_interval = interval};
  settings.integrator.relative_tolerance = 1e-11;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.actions.inputs = std::move(inputs);
  MemoryRecorder memory;
  simulate(m, start, settings, memory);
  const auto columns = memory.columns();
  const RunRows rows = Eigen::Map<const RunRows>(memory.values().data(), memory.rows(),
                                                 static_cast<Eigen::Index>(columns.size()));
  return recorded_motion(columns, rows, m, Efforts::required, "memory");
}

// Two unit rods near upright that the elbow swings about; left alone they fall.
inline RecordedMotion acrobot_motion(const Mechanism& acrobot, double duration = 2.0) {
  State start = acrobot.default_state();
  start.q << 1.6, -0.1;
  start.v << 0.1, 0.2;
  return motion_of(acrobot, start, duration, {{"elbow", "3*sin(4*t) - 1"}}, 0.001);
}

}  // namespace catena::test
