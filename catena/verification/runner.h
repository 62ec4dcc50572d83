// SPDX-License-Identifier: BSD-3-Clause
// Verification: compares results with published and independently computed numbers.
//
// A case is a folder with a case.yaml: the quantities, the source of their references and the
// reason of the tolerance (docs/command-line.md). A reference never comes from Catena. Vectors and
// matrices are compared entry by entry, relative to the largest entry of the reference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/base/error.h"

namespace catena {

struct VerificationResult {
  std::string name;  // of the case: its folder
  std::string title;
  std::string source;
  std::string quantity;  // with the hinge or body, if there is one: "hinge_wrench of elbow"
  Eigen::MatrixXd reference;
  Eigen::MatrixXd value;             // the same size; empty after a failure
  std::vector<std::string> entries;  // names of the rows of a vector or matrix; may be empty
  double error = 0.0;
  Eigen::Index worst_row = 0;  // the entry with the largest error
  Eigen::Index worst_column = 0;
  double tolerance = 0.0;
  bool pass = false;
  std::string message;  // why it could not be computed
};

struct VerificationSettings {
  bool all = false;         // the slow cases too
  std::string filter = {};  // run the cases whose name contains this
  // Called before each check and during simulations; false: stop, with a NumericalError.
  std::function<bool()> goes_on = {};
};

struct VerificationReport {
  std::vector<VerificationResult> results;
  std::vector<Diagnostic> problems;        // of case files, models and states
  std::vector<VerificationResult> unread;  // cases that could not be read: name and message
  int cases = 0;                           // that were run
  int skipped = 0;                         // because they are slow

  bool passed() const;
};

// `path` is a case.yaml, a folder with one, or a folder of cases (searched to any depth). Throws
// Error when it does not exist.
VerificationReport run_verification(const std::string& path,
                                    const VerificationSettings& settings = {});

}  // namespace catena
