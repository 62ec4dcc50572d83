// SPDX-License-Identifier: BSD-3-Clause
// Records an optimal motion as a run: the mechanism is simulated with the optimal splines by the
// simulator's own integrator, an independent check of the transcription.
// The motion of the guess stands beside it in columns guess.q.NAME, guess.v.NAME and
// guess.effort.NAME.
#pragma once

#include "catena/optimal/solve.h"
#include "catena/simulation/simulate.h"

namespace catena {

// The motions and inputs of these variables.
SimulationSettings replay_settings(const MotionProblem& problem, const Eigen::VectorXd& variables);

struct Replay {
  SimulationResult result;
  // Largest difference of a final coordinate or velocity from the transcription's.
  double difference = 0.0;
  bool with_guess = false;  // false: no motion could be computed from the guess
};
Replay record_motion(const MotionProblem& problem, const OptimalMotion& motion, Recorder& recorder);

}  // namespace catena
