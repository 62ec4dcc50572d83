// SPDX-License-Identifier: BSD-3-Clause
// case.yaml, read: the checks of one verification case, with the mechanism and state of each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catena/simulation/simulate.h"
#include "catena/verification/control_case.h"
#include "catena/verification/lq_case.h"
#include "catena/verification/quantities.h"

namespace catena {

struct VerificationCheck {
  const Quantity* quantity = nullptr;
  const LqQuantity* lq_quantity = nullptr;  // in place of it, of a case with an LQ problem
  std::size_t stage = 0;
  const ControlQuantity* control_quantity = nullptr;  // in place of it, of a case of linear systems
  ControlProblem problem;
  std::string source;
  std::string of;
  std::string other;  // the second of two
  std::string axes = "body";
  double tolerance = 0.0;
  StateInput input;
  std::optional<SimulationSettings> after;  // the quantity is that of the state after this motion
  // Identifies the motion: equal for checks with the same `after` and state of the file.
  std::pair<const void*, const void*> run;
  Eigen::MatrixXd reference;
  std::vector<int> rows;  // which entries of the quantity the reference has; empty: all
  std::vector<std::string> entries;
  int line = 0;
};

struct VerificationCase {
  std::string name;
  std::string title;
  bool slow = false;
  std::unique_ptr<Mechanism> mechanism;
  std::optional<LqSolution> lq;  // of a case with an LQ problem, which has no mechanism
  std::vector<VerificationCheck> checks;
};

// Whether the case is slow is found without reading its model. Nothing, and diagnostics, after a
// mistake.
std::optional<VerificationCase> read_case(const std::string& path, bool skip_slow,
                                          std::vector<Diagnostic>& problems);

}  // namespace catena
