// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `catena`: each adds itself to the command line and runs from a callback.
//
// A callback returns normally on success. It throws catena::Error (exit 1) if the job failed and
// UsageError (exit 2) for wrong usage; main() prints both.
#pragma once

#include "apps/catena/command_line.h"
#include "catena/base/error.h"

namespace catena::app {

class UsageError : public Error {
 public:
  using Error::Error;
};

// The job failed, and its messages have been printed.
class Failed : public Error {
 public:
  Failed() : Error("") {}
};

void add_assemble(CommandLine& line);
void add_batch(CommandLine& line);
void add_ik(CommandLine& line);
void add_info(CommandLine& line);
void add_check(CommandLine& line);
void add_convert(CommandLine& line);
void add_control(CommandLine& line);
void add_dynamics(CommandLine& line);
void add_linearize(CommandLine& line);
void add_modes(CommandLine& line);
void add_equilibrium(CommandLine& line);
void add_check_derivatives(CommandLine& line);
void add_lyapunov(CommandLine& line);
void add_simulate(CommandLine& line);
void add_lqr(CommandLine& line);
void add_verify(CommandLine& line);
void add_report(CommandLine& line);
void add_view(CommandLine& line);
void add_optimize(CommandLine& line);
void add_plot(CommandLine& line);
void add_compare(CommandLine& line);
void add_events(CommandLine& line);

}  // namespace catena::app
