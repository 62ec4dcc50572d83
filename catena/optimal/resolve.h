// SPDX-License-Identifier: BSD-3-Clause
// Resolves the names of a motion problem; shared by its inspection and its transcription.
#pragma once

#include <string>
#include <vector>

#include "catena/optimal/problem.h"
#include "catena/simulation/freedom_index.h"

namespace catena {

const char* word(MotionQuantity quantity);
// −1: there is no such freedom.
int freedom_or(const Mechanism& mechanism, const std::string& name);
// The bounds of the problem and those by the model's limits.
std::vector<PathBound> all_bounds(const MotionProblem& problem);
// The spline of a control, its ends held as start and final conditions say.
SplineControl control_of(const MotionProblem& problem, const ControlSettings& control, int freedom);
std::vector<SplineControl> controls_of(const MotionProblem& problem);
// The free coefficients of a control at which the search begins.
Eigen::VectorXd guess_of(const MotionProblem& problem, const SplineControls& splines, int control);

}  // namespace catena
