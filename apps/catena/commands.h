// The subcommands of `catena`: each adds itself to the command line and runs from a callback.
//
// A callback returns normally when all went well. It throws catena::Error (exit 1) when the job
// failed and UsageError (exit 2) when it was asked for in a wrong way; main() prints both.
#pragma once

#include <CLI/CLI.hpp>

#include "catena/base/error.h"

namespace catena::app {

class UsageError : public Error {
 public:
  using Error::Error;
};

// The job failed and everything about it has been said.
class Failed : public Error {
 public:
  Failed() : Error("") {}
};

void add_assemble(CLI::App& app);
void add_batch(CLI::App& app);
void add_ik(CLI::App& app);
void add_info(CLI::App& app);
void add_check(CLI::App& app);
void add_convert(CLI::App& app);
void add_dynamics(CLI::App& app);
void add_linearize(CLI::App& app);
void add_modes(CLI::App& app);
void add_equilibrium(CLI::App& app);
void add_check_derivatives(CLI::App& app);
void add_lyapunov(CLI::App& app);
void add_simulate(CLI::App& app);
void add_lqr(CLI::App& app);
void add_verify(CLI::App& app);
void add_report(CLI::App& app);
void add_view(CLI::App& app);
void add_optimize(CLI::App& app);
void add_plot(CLI::App& app);
void add_compare(CLI::App& app);
void add_events(CLI::App& app);

}  // namespace catena::app
