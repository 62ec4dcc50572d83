// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `catena control`, one function for each group.
#pragma once

#include "apps/catena/commands.h"

namespace catena::app {

void add_control_info(Command& control);
void add_control_responses(Command& control);   // bode, nyquist, sigma, step, margins
void add_control_feedback(Command& control);    // place, lqr, lqg, ltr
void add_control_robust(Command& control);      // h2, hinf, mixsyn, ncf
void add_control_robustness(Command& control);  // robust
void add_control_reduce(Command& control);      // reduce, discretize
void add_control_verify(Command& control);

}  // namespace catena::app
