// SPDX-License-Identifier: BSD-3-Clause
// The components that simulation settings name directly: inputs and PID controllers.
#pragma once

#include <memory>
#include <vector>

#include "catena/simulation/actions.h"
#include "catena/simulation/component.h"

namespace catena {

// Inputs, controllers, then the components of makers, in the order of the settings.
std::vector<std::unique_ptr<Component>> make_components(const Mechanism& mechanism,
                                                        const ActionSettings& actions);

}  // namespace catena
