// SPDX-License-Identifier: BSD-3-Clause
// The model file and the options that change how it is read, the same in every subcommand.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/commands.h"
#include "catena/io/load.h"
#include "catena/simulation/state_file.h"

namespace catena::app {

// Names in a command's options. A hinge at which a loop is cut gets coordinates if it is among them
// (simulation/used_hinges.h).
struct NamedHinges {
  std::vector<std::string> freedoms = {};  // or hinges
  std::vector<std::string> signals = {};   // q.NAME, effort.NAME, ...
  std::string state_file = {};             // none if empty
};

class ModelOptions {
 public:
  // `required`: the file must be given. Returns the option of the file.
  Option add(Command& command, bool required = true);

  const std::string& file() const { return file_; }
  // How the file is read. Throws UsageError if it does not exist.
  LoadSettings settings() const;
  // The parsed file, parameters changed as asked.
  Reading read() const;

  // Throws ModelError; warnings are part of the mechanism.
  Mechanism load(const NamedHinges& named = {}) const;
  // As load(), but hinges without inertia are warnings, not errors.
  Mechanism load_to_describe() const;

 private:
  std::string file_;
  std::string base_;
  std::vector<double> gravity_;
  std::vector<std::string> changes_;  // NAME=VALUE
  bool strict_ = false;
};

// Warnings of a mechanism on stderr.
void print_warnings(const Mechanism& mechanism);
// Closes the loops; a warning on stderr if given values had to move.
void close_loops_and_say(const Mechanism& mechanism, StateInput& input);
// Warnings about loops that cannot move, or move less than probably intended, near a closed q.
void print_loop_warnings(const Mechanism& mechanism, const Eigen::VectorXd& q);

}  // namespace catena::app
