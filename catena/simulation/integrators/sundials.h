// SUNDIALS' integrators behind our interface: CVODE (Adams, BDF) and ARKODE (explicit, order 8).
//
// Tolerances are weights of our own, so that entries outside error control do not count. A rate
// that cannot be computed (NumericalError) makes the step smaller; any other exception goes
// through. Quaternions are not projected inside (that would void the history): their rates do not
// depend on their length, which is mended wherever they are read. What is on constraints by
// multipliers `projects`: BDF by CVODE's projection, ARKODE after each step; Adams cannot.
#pragma once

#include <memory>

#include "catena/simulation/integrators/integrator.h"

namespace catena {

std::unique_ptr<Integrator> make_cvode(Ode& ode, const IntegratorSettings& settings,
                                       bool projects = false);
std::unique_ptr<Integrator> make_arkode(Ode& ode, const IntegratorSettings& settings,
                                        bool projects = false);

}  // namespace catena
