// SPDX-License-Identifier: BSD-3-Clause
// Motion problems as YAML files. docs/optimize.md is the reference.
//
//   model: acrobot.yaml
//   start: {q: {shoulder: -1}}
//   duration: 3                            # or {guess: 2, between: [0.5, 5]}
//   controls:
//     elbow: {type: motion, coefficients: 12, guess: 0}
//   final: {q: {elbow: 0, shoulder: pi/2}, v: {elbow: 0, shoulder: 0}}
//   cost: {effort: {elbow: 1}}
//   bounds: {q: {elbow: [-2.5, 2.5]}}
#pragma once

#include <memory>
#include <string>

#include "catena/optimal/solve.h"

namespace catena {

struct ProblemFile {
  std::unique_ptr<Mechanism> mechanism;
  std::string model_path;
  MotionProblem problem;
  SolverSettings solver;
};

// Throws ModelError with every mistake of the file, each with its line, and those of the model.
ProblemFile read_problem_file(const std::string& path);
ProblemFile read_problem_text(const std::string& text, const std::string& file_name);

// A result: cost and its parts, how the search ended, the coefficients of every control, the final
// state, the minima that several starts found.
std::string result_json(const MotionProblem& problem, const OptimalMotion& motion);

// Begins the search where the result (result_json, or a run of `catena optimize`) ended. Controls
// of the same shape take its coefficients; others follow its splines; those that it does not have
// keep their guess.
void warm_start(const std::string& path, MotionProblem& problem);

}  // namespace catena
