// SPDX-License-Identifier: BSD-3-Clause
// SUNDIALS' integrators behind our interface: CVODE (Adams, BDF) and ARKODE (explicit, order 8).
//
// Tolerances are weights of our own, so that entries outside error control do not count. A rate
// that cannot be computed (NumericalError) makes the step smaller; any other exception goes
// through. Quaternions are not projected inside (that would void the history): their rates do not
// depend on their length, which is restored wherever they are read. Equations on constraints by
// multipliers (`projects`) are projected: BDF by CVODE's projection, ARKODE after each step; Adams
// cannot.
#pragma once

#include <memory>

#include "catena/simulation/integrators/integrator.h"

namespace catena {

// ---- Common to all of SUNDIALS' integrators (ida.cpp too). ----
inline constexpr double kUncontrolledWeight = 1e-100;  // of entries outside error control
inline constexpr long kNoLimitOfSteps = -1;
// A handler that ignores messages: errors are returned as codes.
inline void silent(int, const char*, const char*, char*, void*) {}

std::unique_ptr<Integrator> make_cvode(Ode& ode, const IntegratorSettings& settings,
                                       bool projects = false);
std::unique_ptr<Integrator> make_arkode(Ode& ode, const IntegratorSettings& settings,
                                        bool projects = false);

}  // namespace catena
